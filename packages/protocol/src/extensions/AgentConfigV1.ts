/**
 * The configuration of an agent: what the platform sets, and reads back.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { JsonObject } from "../A2a.ts"
import * as Contract from "../Contract.ts"
import type { Extension } from "../Extension.ts"
import * as json from "../internal/json.ts"
import * as standard from "../internal/standard.ts"
import * as Operation from "../Operation.ts"

/**
 * What `set` takes: any of the fields that the card lists as `supported`, by their wire names (B-CARD-10, B-CFG-7). The agent's own
 * configuration says which values they take.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SetRequest: Schema.Schema<JsonObject> = json.JsonObject

/**
 * What `set` takes.
 *
 * @since 0.1.0
 * @category models
 */
export type SetRequest = JsonObject

/**
 * What `set` answers. An override may add to it; the card doesn't say it (B-CFG-13).
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
 * What `get` answers: what was set, by wire names, with `"***"` for what is write-only (B-CFG-6, B-CFG-9).
 *
 * @since 0.1.0
 * @category schemas
 */
export const GetResponse = Schema.Struct(
  { config: json.JsonObject },
  { key: Schema.String, value: Schema.Unknown }
)

/**
 * What `get` answers.
 *
 * @since 0.1.0
 * @category models
 */
export type GetResponse = typeof GetResponse.Type

const operations = {
  set: Operation.post({ request: SetRequest, response: SetResponse, owner: "sdk" }),
  get: Operation.get({ response: GetResponse, owner: "sdk" })
} as const

/**
 * The configuration of an agent. It comes with the agent's `config` and is listed only to override it (B-REG-24).
 *
 * @since 0.1.0
 * @category constructors
 */
export const AgentConfigV1: Extension<"urn:agentenv:agent-config/v1", typeof operations, {}, never, "standard"> =
  standard.make("urn:agentenv:agent-config/v1", {
    description: "Sets the agent's configuration, and reads back what was set.",
    endpoint: "/ext/agent-config",
    operations
  })
