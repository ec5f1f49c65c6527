import * as Schema from "effect/Schema"
import type { JsonObject as Json } from "../A2a.ts"

/**
 * For annotations: unknown fields are refused, whoever decodes.
 *
 * @internal
 */
export const closed = { parseOptions: { onExcessProperty: "error" } } as const

/**
 * A JSON object as it came: a copy of it would lose a key like `__proto__`.
 *
 * @internal
 */
export const JsonObject: Schema.Schema<Json> = Schema.declare(
  (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value),
  { identifier: "JsonObject", title: "object", jsonSchema: { type: "object" } }
)
