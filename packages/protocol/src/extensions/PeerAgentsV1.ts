/**
 * The other agents that an agent may delegate to.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Contract from "../Contract.ts"
import type { Extension } from "../Extension.ts"
import { closed, JsonObject } from "../internal/json.ts"
import * as standard from "../internal/standard.ts"
import * as Operation from "../Operation.ts"

/**
 * Another agent: where it is, and what is known of it; `card` is its whole card (B-PEER-3).
 *
 * @since 0.1.0
 * @category schemas
 */
export const PeerAgent = Schema.Struct({
  name: Schema.String,
  url: Schema.String,
  card: Schema.optional(JsonObject),
  description: Schema.optionalWith(Schema.String, { nullable: true })
}).annotations(closed)

/**
 * Another agent.
 *
 * @since 0.1.0
 * @category models
 */
export interface PeerAgent extends Schema.Schema.Type<typeof PeerAgent> {}

/**
 * What `set` takes: all peers there are from now on, maybe none (B-PEER-1).
 *
 * @since 0.1.0
 * @category schemas
 */
export const SetRequest = Schema.Struct({ peers: Schema.Array(PeerAgent) }).annotations(closed)

/**
 * What `set` takes.
 *
 * @since 0.1.0
 * @category models
 */
export interface SetRequest extends Schema.Schema.Type<typeof SetRequest> {}

/**
 * What `set` answers (B-PEER-1). It may have more to say; the card doesn't say it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SetResponse = Schema.Struct(
  { status: Schema.Literal("updated") },
  { key: Schema.String, value: Schema.Unknown }
).annotations(Contract.unlisted)

/**
 * What `set` answers.
 *
 * @since 0.1.0
 * @category models
 */
export type SetResponse = typeof SetResponse.Type

/**
 * What `list` answers (B-PEER-2).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListResponse = Schema.Struct({ peers: Schema.Array(PeerAgent) }).annotations(closed)

/**
 * What `list` answers.
 *
 * @since 0.1.0
 * @category models
 */
export interface ListResponse extends Schema.Schema.Type<typeof ListResponse> {}

const operations = {
  set: Operation.post({ request: SetRequest, response: SetResponse }),
  list: Operation.get({ response: ListResponse })
} as const

/**
 * The other agents that an agent may delegate to. The author keeps the list, and answers both operations (B-PEER-4).
 *
 * @since 0.1.0
 * @category constructors
 */
export const PeerAgentsV1: Extension<"urn:agentenv:peer-agents/v1", typeof operations, {}, never, "standard"> = standard
  .make("urn:agentenv:peer-agents/v1", {
    description: "Says which other agents this agent may delegate to.",
    endpoint: "/ext/peer-agents",
    operations
  })
