/**
 * The card of an agent as it is at this moment.
 *
 * @since 0.1.0
 */
import type * as Card from "@effect-agentenv/protocol/AgentCard"
import * as Context from "effect/Context"

/**
 * A card as it is sent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Written {
  readonly text: string
  /** Quoted, as the header has it; another whenever the text is another. */
  readonly etag: string
}

/**
 * The card of an agent that is served: one for 0.3 and 1.0, derived from the definition, what is served of it, the configured name and
 * description and the installed skills (B-CARD-5, B-CARD-12). Its URLs are absolute, for whoever found the agent at `baseUrl` (without
 * a slash at its end).
 *
 * @since 0.1.0
 * @category tags
 */
export class AgentCard extends Context.Tag("@effect-agentenv/agent/AgentCard")<AgentCard, {
  readonly card: (baseUrl: string) => Card.AgentCard
  readonly written: (baseUrl: string) => Written
}>() {}
