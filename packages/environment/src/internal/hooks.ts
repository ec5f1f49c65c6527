import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type * as Hook from "../Hook.ts"
import { ToolCall } from "../ToolCall.ts"
import { Tools } from "../Tools.ts"
import { scoped } from "./callScope.ts"
import * as outcome from "./outcome.ts"
import type * as Surface from "./surface.ts"

// What belongs to a call, whatever a layer had under these tags.
const perCall: ReadonlySet<string> = new Set([ToolCall.key, Tools.key, Scope.Scope.key])

/** A hook that has the services that were there when its layer was built; those of the call win over them. */
export const bind = <R>(hook: Hook.Hook<R>, context: Context.Context<never>): Hook.Hook<ToolCall> => {
  const services = Array.from(context.unsafeMap).filter(([key]) => !perCall.has(key))
  const bound: Context.Context<never> = Context.unsafeMake(new Map(services))
  return (call) =>
    // the type of `intercept` says that what `R` has beside the call's services is in its context
    Effect.mapInputContext(hook(call) as Effect.Effect<Hook.Decision, Error, ToolCall>, (outer) =>
      Context.merge(outer, bound))
}

/** The outer hook decides first; the inner one where that lets the call go on. */
export const compose = (outer: Hook.Hook<ToolCall>, inner: Hook.Hook<ToolCall> | undefined): Hook.Hook<ToolCall> =>
  inner === undefined
    ? outer
    : (call) => Effect.flatMap(outer(call), (decision) => isProceed(decision) ? inner(call) : Effect.succeed(decision))

// Decisions come from authors, of whom not all are under a compiler.
const isProceed = (decision: unknown): decision is Hook.Proceed => tagOf(decision) === "Proceed"
const isAnswer = (decision: unknown): decision is Hook.Answer => tagOf(decision) === "Answer"

const tagOf = (decision: unknown): unknown =>
  typeof decision === "object" && decision !== null && "_tag" in decision ? decision._tag : undefined

const undecided: Mcp.CallToolResult = outcome.textError(
  "the call was stopped: its interceptor answered neither Hook.proceed nor Hook.answer"
)

/** A tool behind a hook, which runs first and in the scope of the call. */
export const behind = (hook: Hook.Hook<ToolCall>, tool: Surface.SurfaceTool): Surface.SurfaceTool => ({
  ...tool,
  prepare: (args) => {
    const go = Effect.suspend((): Effect.Effect<Mcp.CallToolResult, unknown, ToolCall> => {
      const prepared = tool.prepare(args)
      return prepared._tag === "Refused" ? Effect.succeed(prepared.result) : prepared.effect
    })
    const decided = Effect.flatMap(
      Effect.flatMap(ToolCall, hook),
      (decision): Effect.Effect<Mcp.CallToolResult, unknown, ToolCall> => {
        if (isProceed(decision)) return go
        return Effect.succeed(isAnswer(decision) ? decision.result : undecided)
      }
    )
    return { _tag: "Ready", effect: scoped(decided) }
  }
})
