/**
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * Says whether a failed call took effect, so that a caller knows whether repeating it is safe (B-ERR-8).
 *
 * @since 0.1.0
 * @category models
 */
export type Applied = "yes" | "no" | "unknown"

/**
 * @since 0.1.0
 * @category schemas
 */
export const Applied: Schema.Literal<["yes", "no", "unknown"]> = Schema.Literal("yes", "no", "unknown")

const AgentEnvErrorId = "@effect-agentenv/protocol/AgentEnvError"

/**
 * The failure that every tool, extension and data operation may answer with undeclared: its fields travel to the caller
 * (B-ERR-1, B-ERR-4). `status` is the HTTP status of an extension's answer, 400 unless said, and never part of a body. A caller
 * may repeat the call by itself only for `retryable: true` with `applied: "no"` (B-ERR-8).
 *
 * @since 0.1.0
 * @category errors
 */
export class AgentEnvError extends Schema.TaggedError<AgentEnvError>(AgentEnvErrorId)("AgentEnvError", {
  code: Schema.String,
  message: Schema.String,
  retryable: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  applied: Schema.optionalWith(Applied, { default: () => "no" as const }),
  hint: Schema.optionalWith(Schema.String, { exact: true }),
  status: Schema.optionalWith(Schema.Int.pipe(Schema.between(400, 599)), { default: () => 400 }),
  cause: Schema.optionalWith(Schema.Defect, { exact: true })
}) {}

/**
 * The fields of an `AgentEnvError` that travel, as the body's `error` of an extension and as a tool's structured content.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fields {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  readonly applied: Applied
  readonly hint?: string | undefined
}

/**
 * The schema of `Fields`, for clients that read them from a peer's answer (B-CLIENT-1): unknown keys are ignored.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Fields: Schema.Schema<Fields> = Schema.Struct({
  code: Schema.String,
  message: Schema.String,
  retryable: Schema.Boolean,
  applied: Applied,
  hint: Schema.optional(Schema.String)
})

/**
 * What of an error goes on the wire; `hint` is absent when none was given (B-ERR-1).
 *
 * @since 0.1.0
 * @category combinators
 */
export const fields = (error: AgentEnvError): Fields => ({
  code: error.code,
  message: error.message,
  retryable: error.retryable,
  applied: error.applied,
  ...(error.hint === undefined ? {} : { hint: error.hint })
})

/**
 * @since 0.1.0
 * @category guards
 */
export const isAgentEnvError = (u: unknown): u is AgentEnvError => u instanceof AgentEnvError

/**
 * Finds an `AgentEnvError` in a failure or along its chain of `cause`s, nearest first: what a tool's failure counts as (B-ERR-6).
 * Cycles and chains longer than 32 end the search.
 *
 * @since 0.1.0
 * @category combinators
 */
export const find = (failure: unknown): Option.Option<AgentEnvError> => {
  let current = failure
  for (let depth = 0; depth < 32 && typeof current === "object" && current !== null; depth++) {
    if (isAgentEnvError(current)) return Option.some(current)
    current = (current as { readonly cause?: unknown }).cause
  }
  return Option.none()
}

/**
 * Whether a caller may repeat the call by itself: only what is retryable and surely had no effect (B-ERR-8).
 *
 * @since 0.1.0
 * @category guards
 */
export const mayRetry = (error: { readonly retryable: boolean; readonly applied: Applied }): boolean =>
  error.retryable && error.applied === "no"
