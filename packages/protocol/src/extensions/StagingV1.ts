/**
 * Objects that wait at an agent for it, or for the platform to fetch them (area STG of the contract).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Extension } from "../Extension.ts"
import * as standard from "../internal/standard.ts"

/**
 * What the card says of it: the path that all objects are below, and how many bytes there may be (B-STG-1).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Params = Schema.Struct({ endpoint: Schema.String, max_bytes: Schema.Int })

/**
 * What the card says of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}

/**
 * Objects that wait at an agent. It comes with every agent's server, and is never listed (B-CARD-6).
 *
 * @since 0.1.0
 * @category constructors
 */
export const StagingV1: Extension<"urn:agentenv:staging/v1", {}, {}, never, "standard"> = standard.make(
  "urn:agentenv:staging/v1",
  {
    description: "Objects that wait here for the agent, or for the platform to fetch them.",
    endpoint: "/ext/staging"
  }
)
