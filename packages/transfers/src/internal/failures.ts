import {
  GrantExpired,
  IntegrityMismatch,
  InvalidTransfer,
  type TransferError,
  TransferRejected,
  TransferTimeout,
  TransferTooLarge,
  TransferUnavailable
} from "../TransferError.ts"

/** The system's name for what went wrong (`ENOENT`), the only thing of a system error that names neither path nor host. */
export const codeOf = (error: unknown): string | undefined => {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined
  return typeof code === "string" && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : undefined
}

const withCode = (text: string, error: unknown): string => {
  const code = codeOf(error)
  return code === undefined ? `${text}.` : `${text} (${code}).`
}

export const changed = (): InvalidTransfer =>
  new InvalidTransfer({ message: "The source changed while it was uploaded." })

export const expired = (): GrantExpired => new GrantExpired({ message: "The grant has expired." })

export const tooLarge = (bytes: number): TransferTooLarge =>
  new TransferTooLarge({ message: `The object is larger than the ${bytes} bytes that its grant allows.` })

export const namespaceFull = (limit: string): TransferTooLarge =>
  new TransferTooLarge({ message: `The namespace would exceed its ${limit}.` })

export const mismatch = (what: string): IntegrityMismatch =>
  new IntegrityMismatch({ message: `The object has not the ${what} that was promised.` })

export const rejected = (status: number): TransferRejected =>
  new TransferRejected({
    message: status >= 300 && status < 400
      ? `The object store answered with a redirect (HTTP ${status}), which is not followed.`
      : `The object store rejected the transfer (HTTP ${status}).`
  })

export const busy = (status: number): TransferUnavailable =>
  new TransferUnavailable({ message: `The object store is temporarily unavailable (HTTP ${status}).` })

export const unreachable = (error: unknown): TransferUnavailable =>
  new TransferUnavailable({ message: withCode("The connection to the object store failed", error) })

export const cutOff = (): TransferUnavailable =>
  new TransferUnavailable({ message: "The object store broke off before the end of the object." })

export const lengthless = (): TransferRejected =>
  new TransferRejected({ message: "The object store does not say how long the object is." })

export const silent = (phase: string, seconds: number): TransferTimeout =>
  new TransferTimeout({ message: `The object store was silent for ${seconds} s (${phase}).` })

export const attemptTooLong = (seconds: number): TransferTimeout =>
  new TransferTimeout({ message: `The attempt took longer than ${seconds} s.` })

export const unwritable = (error: unknown): InvalidTransfer =>
  new InvalidTransfer({ message: withCode("The target can't be written", error) })

export const malformed = (): InvalidTransfer =>
  new InvalidTransfer({ message: "The grant's URL or headers can't be sent." })

/** A failed attempt, and how long the store asks to be left alone, in milliseconds. */
export class Failed {
  readonly error: TransferError
  readonly retryAfter: number | undefined

  constructor(error: TransferError, retryAfter?: number) {
    this.error = error
    this.retryAfter = retryAfter
  }
}
