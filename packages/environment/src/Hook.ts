/**
 * What an interceptor of tool calls decides: `Environment.intercept` takes one.
 *
 * @since 0.1.0
 */
import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ToolCall } from "./ToolCall.ts"

/**
 * Lets a call go on: to the next interceptor, or to the tool (B-HOOK-1).
 *
 * @since 0.1.0
 * @category models
 */
export interface Proceed {
  readonly _tag: "Proceed"
}

/**
 * Answers a call in its tool's place; the result is sent as it is (B-HOOK-2).
 *
 * @since 0.1.0
 * @category models
 */
export interface Answer {
  readonly _tag: "Answer"
  readonly result: Mcp.CallToolResult
}

/**
 * @since 0.1.0
 * @category models
 */
export type Decision = Proceed | Answer

/**
 * An interceptor: it sees the call as its tool will, its arguments as they were sent, and decides before they are decoded. A failure
 * is the call's error result (B-HOOK-4).
 *
 * @since 0.1.0
 * @category models
 */
export type Hook<R = never> = (call: Context.Tag.Service<typeof ToolCall>) => Effect.Effect<Decision, Error, R>

/**
 * The call goes on.
 *
 * @since 0.1.0
 * @category constructors
 */
export const proceed: Proceed = { _tag: "Proceed" }

/**
 * The call ends with this result; with `isError: true` it is a refusal.
 *
 * @since 0.1.0
 * @category constructors
 */
export const answer = (result: Mcp.CallToolResult): Answer => ({ _tag: "Answer", result })
