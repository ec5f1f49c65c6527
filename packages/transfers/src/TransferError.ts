/**
 * How transfers fail: seven classes, one per code of the contract (`B-OBJ-3`). None of them holds a URL, a header, a form field or a
 * body, be it in its message, its cause or its JSON: a grant is a credential.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * What an extension answers when a transfer fails in its handler (`B-HTTP-7`).
 *
 * @since 0.1.0
 * @category models
 */
export interface Body {
  readonly error: { readonly code: Code; readonly message: string; readonly retryable: boolean }
}

/**
 * The names that the contract gives to failures of transfers (`B-OBJ-3`).
 *
 * @since 0.1.0
 * @category models
 */
export type Code =
  | "invalid_transfer"
  | "grant_expired"
  | "transfer_too_large"
  | "integrity_mismatch"
  | "transfer_rejected"
  | "transfer_unavailable"
  | "transfer_timeout"

const id = (name: string): string => `@effect-agentenv/transfers/${name}`

const fields = (retryable: boolean) => ({
  message: Schema.String,
  retryable: Schema.optionalWith(Schema.Boolean, { default: () => retryable })
})

const body = (error: { readonly code: Code; readonly message: string; readonly retryable: boolean }): Body => ({
  error: { code: error.code, message: error.message, retryable: error.retryable }
})

/**
 * Tells that the transfer itself is wrong: a source that can't be read or changed while it was read, a target that can't be
 * written, a path that escapes. HTTP 400.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidTransfer
  extends Schema.TaggedError<InvalidTransfer>(id("InvalidTransfer"))("InvalidTransfer", fields(false))
{
  /**
   * @since 0.1.0
   */
  readonly code = "invalid_transfer"
  /**
   * @since 0.1.0
   */
  readonly status = 400
  /**
   * @since 0.1.0
   */
  override toJSON(): Body {
    return body(this)
  }
}

/**
 * Tells that the grant's life is over, so nothing was sent, or what was sent was cut off (`B-OBJ-11`). HTTP 410.
 *
 * @since 0.1.0
 * @category errors
 */
export class GrantExpired extends Schema.TaggedError<GrantExpired>(id("GrantExpired"))("GrantExpired", fields(false)) {
  /**
   * @since 0.1.0
   */
  readonly code = "grant_expired"
  /**
   * @since 0.1.0
   */
  readonly status = 410
  /**
   * @since 0.1.0
   */
  override toJSON(): Body {
    return body(this)
  }
}

/**
 * Tells that an object is larger than its grant allows, or a namespace full (`B-OBJ-6`, `B-OBJ-15`). HTTP 413.
 *
 * @since 0.1.0
 * @category errors
 */
export class TransferTooLarge
  extends Schema.TaggedError<TransferTooLarge>(id("TransferTooLarge"))("TransferTooLarge", fields(false))
{
  /**
   * @since 0.1.0
   */
  readonly code = "transfer_too_large"
  /**
   * @since 0.1.0
   */
  readonly status = 413
  /**
   * @since 0.1.0
   */
  override toJSON(): Body {
    return body(this)
  }
}

/**
 * Tells that what came has not the size or the digest that was promised (`B-OBJ-13`). HTTP 422.
 *
 * @since 0.1.0
 * @category errors
 */
export class IntegrityMismatch
  extends Schema.TaggedError<IntegrityMismatch>(id("IntegrityMismatch"))("IntegrityMismatch", fields(false))
{
  /**
   * @since 0.1.0
   */
  readonly code = "integrity_mismatch"
  /**
   * @since 0.1.0
   */
  readonly status = 422
  /**
   * @since 0.1.0
   */
  override toJSON(): Body {
    return body(this)
  }
}

/**
 * Tells that the store said no, in a way that another attempt won't change (`B-OBJ-9`, `B-OBJ-12`). HTTP 502.
 *
 * @since 0.1.0
 * @category errors
 */
export class TransferRejected
  extends Schema.TaggedError<TransferRejected>(id("TransferRejected"))("TransferRejected", fields(false))
{
  /**
   * @since 0.1.0
   */
  readonly code = "transfer_rejected"
  /**
   * @since 0.1.0
   */
  readonly status = 502
  /**
   * @since 0.1.0
   */
  override toJSON(): Body {
    return body(this)
  }
}

/**
 * Tells that the store could not be reached, was busy or broke off, in every attempt (`B-OBJ-8`, `B-OBJ-10`). HTTP 502.
 *
 * @since 0.1.0
 * @category errors
 */
export class TransferUnavailable
  extends Schema.TaggedError<TransferUnavailable>(id("TransferUnavailable"))("TransferUnavailable", fields(true))
{
  /**
   * @since 0.1.0
   */
  readonly code = "transfer_unavailable"
  /**
   * @since 0.1.0
   */
  readonly status = 502
  /**
   * @since 0.1.0
   */
  override toJSON(): Body {
    return body(this)
  }
}

/**
 * Tells that the store was silent for too long, in every attempt (`B-OBJ-4`). HTTP 504.
 *
 * @since 0.1.0
 * @category errors
 */
export class TransferTimeout
  extends Schema.TaggedError<TransferTimeout>(id("TransferTimeout"))("TransferTimeout", fields(true))
{
  /**
   * @since 0.1.0
   */
  readonly code = "transfer_timeout"
  /**
   * @since 0.1.0
   */
  readonly status = 504
  /**
   * @since 0.1.0
   */
  override toJSON(): Body {
    return body(this)
  }
}

/**
 * Carries the failure of a transfer over a wire of one's own.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TransferError = Schema.Union(
  InvalidTransfer,
  GrantExpired,
  TransferTooLarge,
  IntegrityMismatch,
  TransferRejected,
  TransferUnavailable,
  TransferTimeout
)

/**
 * Any failure of a transfer: `code`, `message`, the HTTP `status` that an extension answers, and whether the caller may try again
 * with the same grant (`retryable`).
 *
 * @since 0.1.0
 * @category errors
 */
export type TransferError = typeof TransferError.Type

/**
 * Tells a transfer's failure from others.
 *
 * @since 0.1.0
 * @category guards
 */
export const isTransferError: (u: unknown) => u is TransferError = Schema.is(TransferError)
