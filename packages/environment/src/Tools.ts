/**
 * @since 0.1.0
 */
import type { EnvironmentCard } from "@effect-agentenv/protocol/EnvironmentCard"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * A tool that the server does not serve, by a name that somebody thought it did (B-TOOL-9).
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownTool extends Schema.TaggedError<UnknownTool>("@effect-agentenv/environment/UnknownTool")(
  "UnknownTool",
  { tool: Schema.String }
) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `no tool '${this.tool}' is served`
  }
}

/**
 * A tool as it is served at this moment.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServedTool {
  readonly name: string
  readonly description: string
}

/**
 * The tools of the server that answers the call, and its card: what is served can be asked and re-described while it runs. Every
 * handler may use it; like `ToolCall` it is no requirement of an implementation (B-TOOL-8, B-TOOL-9).
 *
 * @since 0.1.0
 * @category tags
 */
export class Tools extends Context.Tag("@effect-agentenv/environment/Tools")<Tools, {
  /**
   * Gives a tool another description: card and `tools/list` agree from then on, and open sessions hear of it. The name is the served
   * one or, with its `{environment_name}`, the definition's.
   */
  readonly update: (name: string, changes: { readonly description: string }) => Effect.Effect<void, UnknownTool>
  /** What is served now, in its order. */
  readonly served: Effect.Effect<ReadonlyArray<ServedTool>>
  /** The card as it is served now. */
  readonly card: Effect.Effect<EnvironmentCard>
}>() {}
