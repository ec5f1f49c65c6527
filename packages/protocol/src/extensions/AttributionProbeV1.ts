/**
 * What an agent last said of itself to a model.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Extension } from "../Extension.ts"
import { closed } from "../internal/json.ts"
import * as standard from "../internal/standard.ts"
import * as Operation from "../Operation.ts"

/**
 * What `probe` answers: the dimensions that went with the last request to a model, none before the first, and when that was, as an RFC
 * 3339 timestamp in UTC (B-ATTR-2).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ProbeResponse = Schema.Struct({
  last_seen_attribution: Schema.Record({ key: Schema.String, value: Schema.String }),
  last_seen_at_utc: Schema.optional(Schema.NullOr(Schema.String))
}).annotations(closed)

/**
 * What `probe` answers.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProbeResponse extends Schema.Schema.Type<typeof ProbeResponse> {}

const operations = { probe: Operation.post({ response: ProbeResponse }) } as const

/**
 * What an agent last said of itself to a model: whether what the platform attributes a task to gets there. The author answers it, and
 * the card shows it only where they do (B-ATTR-1).
 *
 * @since 0.1.0
 * @category constructors
 */
export const AttributionProbeV1: Extension<
  "urn:agentenv:attribution-probe/v1",
  typeof operations,
  {},
  never,
  "standard"
> = standard.make("urn:agentenv:attribution-probe/v1", {
  description: "Tells the attribution that the agent last sent along with a request to a model.",
  endpoint: "/ext/attribution-probe",
  operations
})
