/**
 * How calls of a peer fail, shared by all clients. Nothing here holds a request: what a caller sent (grants, headers, arguments)
 * stays out of errors.
 *
 * @since 0.1.0
 */
import * as AgentEnvError from "@effect-agentenv/protocol/AgentEnvError"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * Tells that no answer came over the network. `refused` says that the peer took no connection, so surely nothing ran; it was
 * tried again for about a second before this error. Otherwise nobody knows what ran.
 *
 * @since 0.1.0
 * @category errors
 */
export class Unreachable extends Schema.TaggedError<Unreachable>("@effect-agentenv/client/Unreachable")("Unreachable", {
  operation: Schema.String,
  reason: Schema.String,
  refused: Schema.Boolean
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.operation}: the peer can't be reached: ${this.reason}`
  }
}

/**
 * Tells that no answer came within the call's timeout (B-TCL-2, B-TSESS-5); whether it ran is unknown.
 *
 * @since 0.1.0
 * @category errors
 */
export class Timeout extends Schema.TaggedError<Timeout>("@effect-agentenv/client/Timeout")("Timeout", {
  operation: Schema.String,
  after: Schema.DurationFromSelf
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.operation}: no answer within ${Duration.toSeconds(this.after)} s`
  }
}

/**
 * Tells that the peer answered an HTTP status that isn't a success; `body` holds at most 1000 characters (B-TCL-6).
 *
 * @since 0.1.0
 * @category errors
 */
export class BadStatus extends Schema.TaggedError<BadStatus>("@effect-agentenv/client/BadStatus")("BadStatus", {
  operation: Schema.String,
  url: Schema.String,
  status: Schema.Int,
  body: Schema.String
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.operation}: HTTP ${this.status} from ${this.url}${this.body === "" ? "" : `: ${this.body}`}`
  }
}

/**
 * Tells that the peer's answer isn't what the protocol promises. `issues` names places and reasons, never values.
 *
 * @since 0.1.0
 * @category errors
 */
export class Unreadable extends Schema.TaggedError<Unreadable>("@effect-agentenv/client/Unreadable")("Unreadable", {
  operation: Schema.String,
  what: Schema.String,
  issues: Schema.String
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.operation}: ${this.what} can't be read: ${this.issues}`
  }
}

/**
 * Reads the `data` of a JSON-RPC error: a code and details where the peer gave them, beside whatever else it said (B-ENV-3).
 *
 * @since 0.1.0
 * @category schemas
 */
export const RpcErrorData = Schema.Struct(
  { code: Schema.optional(Schema.String), detail: Schema.optional(Schema.Unknown) },
  Schema.Record({ key: Schema.String, value: Schema.Unknown })
)

/**
 * The `data` of a JSON-RPC error.
 *
 * @since 0.1.0
 * @category models
 */
export type RpcErrorData = typeof RpcErrorData.Type

/**
 * Tells that the peer answered with a JSON-RPC error (B-ENV-3, B-TCL-6). `data` that is no object stands under `detail`.
 *
 * @since 0.1.0
 * @category errors
 */
export class RpcError extends Schema.TaggedError<RpcError>("@effect-agentenv/client/RpcError")("RpcError", {
  operation: Schema.String,
  code: Schema.Int,
  reason: Schema.String,
  data: RpcErrorData
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.operation}: ${this.reason} (${this.code})`
  }

  /**
   * The fields of the `AgentEnvError` that the peer failed with, if its `data.error` has them: they tell whether a repetition is safe (B-ERR-8).
   *
   * @since 0.1.0
   */
  get agentEnvError(): Option.Option<AgentEnvError.Fields> {
    return decodeFields(this.data["error"])
  }
}

/**
 * The names of the ways in which a peer's transfer fails (B-OBJ-3).
 *
 * @since 0.1.0
 * @category schemas
 */
export const TransferCode = Schema.Literal(
  "invalid_transfer",
  "grant_expired",
  "transfer_too_large",
  "integrity_mismatch",
  "transfer_rejected",
  "transfer_unavailable",
  "transfer_timeout"
)

/**
 * The name of a way in which a peer's transfer fails.
 *
 * @since 0.1.0
 * @category models
 */
export type TransferCode = typeof TransferCode.Type

/**
 * Tells that the peer refused or failed a call, with the fields of its error (B-CLIENT-1). Where it gave none, `code` and `hint`
 * are absent, `detail` is the status in words, and `applied` is `unknown` (B-CLIENT-2). An agent says in a plain text why, which is the
 * `detail` then, at most 1000 characters of it.
 *
 * @since 0.1.0
 * @category errors
 */
export class ExtensionCallError
  extends Schema.TaggedError<ExtensionCallError>("@effect-agentenv/client/ExtensionCallError")("ExtensionCallError", {
    uri: Schema.String,
    operation: Schema.String,
    status: Schema.Int,
    code: Schema.optional(Schema.String),
    detail: Schema.String,
    retryable: Schema.Boolean,
    applied: AgentEnvError.Applied,
    hint: Schema.optional(Schema.String)
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const code = this.code === undefined ? "" : ` ${this.code}`
    return `${this.uri} ${this.operation}: HTTP ${this.status}${code}: ${this.detail}`
  }

  /**
   * Which transfer failed how, where a transfer to or from a grant is what failed (B-HTTP-7).
   *
   * @since 0.1.0
   */
  get transfer(): Option.Option<TransferCode> {
    return decodeTransferCode(this.code)
  }

  /**
   * The id under which the peer logged what nobody expected (B-HTTP-3).
   *
   * @since 0.1.0
   */
  get correlationId(): Option.Option<string> {
    return Option.fromNullable(/Correlation ID: ([0-9a-f]{32})(?![0-9a-f])/.exec(this.detail)?.[1])
  }
}

/**
 * Tells, before any request, that the peer's card doesn't advertise an extension or an operation; `advertised` names those that
 * it does (B-CLI-5, B-CLIENT-3).
 *
 * @since 0.1.0
 * @category errors
 */
export class NotAdvertised
  extends Schema.TaggedError<NotAdvertised>("@effect-agentenv/client/NotAdvertised")("NotAdvertised", {
    uri: Schema.String,
    operation: Schema.optional(Schema.String),
    advertised: Schema.Array(Schema.String)
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const names = this.advertised.length === 0 ? "none" : this.advertised.join(", ")
    return this.operation === undefined
      ? `the peer doesn't advertise ${this.uri}; it advertises: ${names}`
      : `the peer's ${this.uri} has no operation ${this.operation}; it advertises: ${names}`
  }
}

/**
 * Tells, before any request, that the card doesn't accept a request of these fields for the operation, such as those of a form that
 * this agent doesn't take (B-OBJ-17).
 *
 * @since 0.1.0
 * @category errors
 */
export class NotAccepted extends Schema.TaggedError<NotAccepted>("@effect-agentenv/client/NotAccepted")("NotAccepted", {
  uri: Schema.String,
  operation: Schema.String,
  fields: Schema.Array(Schema.String)
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    const names = this.fields.length === 0 ? "no fields" : `the fields ${this.fields.join(", ")}`
    return `${this.uri} ${this.operation}: the card doesn't accept a request of ${names}`
  }
}

/**
 * Tells, before any request, that a request doesn't encode as its definition says. `issues` names places and reasons only.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidRequest
  extends Schema.TaggedError<InvalidRequest>("@effect-agentenv/client/InvalidRequest")("InvalidRequest", {
    uri: Schema.String,
    operation: Schema.String,
    issues: Schema.String
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.uri} ${this.operation}: the request can't be sent: ${this.issues}`
  }
}

/**
 * Tells that the server knows the session no longer: the request was refused unrun, and the environment's state may be gone
 * (B-TCL-6, M-31).
 *
 * @since 0.1.0
 * @category errors
 */
export class SessionLost extends Schema.TaggedError<SessionLost>("@effect-agentenv/client/SessionLost")("SessionLost", {
  operation: Schema.String
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.operation}: the server no longer knows this session, and the environment's state may be gone`
  }
}

const decodeTransferCode = Schema.decodeUnknownOption(TransferCode)
const decodeFields = Schema.decodeUnknownOption(AgentEnvError.Fields)
