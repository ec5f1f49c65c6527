import * as AgentEnvError from "@effect-agentenv/protocol/AgentEnvError"
import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** How a handler ended, seen by those who have to answer: a typed failure, a defect, or an interruption and nothing else. */
export type Failed =
  | { readonly _tag: "Failure"; readonly failure: unknown }
  | { readonly _tag: "Interrupted" }
  | { readonly _tag: "Defect" }

const interrupted: Failed = { _tag: "Interrupted" }
const defect: Failed = { _tag: "Defect" }

export const classify = (cause: Cause.Cause<unknown>): Failed => {
  const failure = Cause.failureOption(cause)
  if (Option.isSome(failure)) return { _tag: "Failure", failure: failure.value }
  return Cause.isInterruptedOnly(cause) ? interrupted : defect
}

/** The sentence of a typed failure: its message, which its author chose to let travel (B-ERR-2, B-ERR-5). */
export const messageOf = (failure: unknown): string => {
  if (failure instanceof Error) return failure.message !== "" ? failure.message : failure.name
  return typeof failure === "string" ? failure : JSON.stringify(failure) ?? String(failure)
}

/** The answer of a call that `data/reset` interrupted. */
export const episodeReset = (name: string): AgentEnvError.AgentEnvError =>
  new AgentEnvError.AgentEnvError({
    code: "episode_reset",
    message: `the episode was reset while '${name}' ran`,
    applied: "unknown",
    status: 409
  })

/** The answer to a role that may not use a tool (B-ACC-4). */
export const denied = (name: string, role: string): AgentEnvError.AgentEnvError =>
  new AgentEnvError.AgentEnvError({
    code: "permission_denied",
    message: `the role '${role}' may not use '${name}'`,
    status: 403
  })

/** The answer of what a timeout cut. */
const timedOut = (name: string, after: Duration.DurationInput): AgentEnvError.AgentEnvError =>
  new AgentEnvError.AgentEnvError({
    code: "timeout",
    message: `'${name}' did not end within ${Duration.format(after)}`,
    applied: "unknown",
    status: 504
  })

/** Cuts an effect after its timeout, if it has one. */
export const within = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  name: string,
  timeout: Duration.DurationInput | undefined
): Effect.Effect<A, E | AgentEnvError.AgentEnvError, R> =>
  timeout === undefined
    ? effect
    : Effect.timeoutFail(effect, { duration: timeout, onTimeout: () => timedOut(name, timeout) })

/** A tool's error result with nothing but a text (B-ERR-5). */
export const textError = (text: string): Mcp.CallToolResult => ({ content: [{ type: "text", text }], isError: true })

/** A tool's error result with the fields of an `AgentEnvError` (B-ERR-4). */
export const codedError = (error: AgentEnvError.AgentEnvError): Mcp.CallToolResult => ({
  content: [{ type: "text", text: `${error.code}: ${error.message}` }],
  structuredContent: { ...AgentEnvError.fields(error) },
  isError: true
})
