/**
 * How sure an agent is of its answer (`confidence-v1`).
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { Carrying, Lenient } from "./Carrying.ts"
import * as ExtensionUri from "./ExtensionUri.ts"
import * as Extension from "./internal/extension.ts"
import type { JsonObject } from "./internal/json.ts"
import type * as Part from "./Part.ts"
import type * as Read from "./Read.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/**
 * The payload of `confidence-v1`: `confidence` from 0 to 1.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Confidence = Schema.Struct({
  confidence: Schema.Number.pipe(Schema.between(0, 1)),
  explanation: optional(Schema.String),
  success: optional(Schema.Boolean)
})

/**
 * The value of a `Confidence`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Confidence extends Schema.Schema.Type<typeof Confidence> {}

/**
 * What a confidence is made from. An empty `explanation` is left out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fields {
  readonly confidence: number
  readonly explanation?: string | undefined
  readonly success?: boolean | undefined
}

/** Older hubs said `confidenceExplanation`. */
const normalize = (payload: JsonObject): JsonObject => {
  const plain = Extension.withoutNulls(payload, ["explanation", "success"])
  const older = plain["confidenceExplanation"]
  if (typeof older !== "string" || Object.hasOwn(plain, "explanation")) return plain
  const { confidenceExplanation: _, ...rest } = plain
  return { ...rest, explanation: older }
}

/**
 * The URI of the extension.
 *
 * @since 0.1.0
 * @category constructors
 */
export const uri: string = ExtensionUri.confidence

const extension = Extension.make<Confidence>({
  concept: "confidence-v1",
  uri,
  mime: "application/vnd.protolabs.confidence-v1+json",
  olderUris: [
    "https://protolabs.ai/a2a/ext/confidence-v1",
    "https://proto-labs.ai/a2a/ext/x-protolabs/confidence-v1",
    "https://protolabs.ai/a2a/ext/x-protolabs/confidence-v1"
  ],
  schema: Confidence,
  normalize
})

const ordered = (fields: object): JsonObject => {
  const { confidence, explanation, success } = fields as JsonObject
  return Extension.given({ confidence, explanation: explanation === "" ? undefined : explanation, success })
}

/**
 * Makes a confidence; fails when it isn't a number from 0 to 1. `clamp` brings a number there.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (fields: Fields): Effect.Effect<Confidence, Read.Malformed> => extension.decode(ordered(fields))

/**
 * The nearest number from 0 to 1; `NaN` stays what it is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const clamp = (confidence: number): number => Math.min(1, Math.max(0, confidence))

/**
 * The MIME type of a data part that carries a confidence.
 *
 * @since 0.1.0
 * @category constructors
 */
export const mime = "application/vnd.protolabs.confidence-v1+json"

/**
 * Makes a data part that carries a confidence, for peers on `protolabs-a2a` 0.2 or the TypeScript layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toPart: (value: Confidence) => Part.DataPart<Confidence> = extension.toPart

/**
 * Makes the metadata that carries a confidence, for peers on `protolabs-a2a` 0.3: one key, the extension's URI.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toMetadata: (value: Confidence) => { readonly [uri: string]: Confidence } = extension.toMetadata

/**
 * Reads a confidence from one part of any envelope. Unknown keys of the payload stay.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromPart: (part: unknown) => Read.Read<Confidence> = extension.fromPart

/**
 * Reads a confidence from a `metadata` map.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromMetadata: (metadata: unknown) => Read.Read<Confidence> = extension.fromMetadata

/**
 * Reads the first confidence of a list of parts, a message, an artifact, a task or an event of either A2A wire, whichever carrier brings
 * it. Of a task, its status message comes first, then its artifacts, then its own metadata. A holder whose carriers differ is
 * malformed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const find: (source: unknown) => Read.Read<Confidence> = extension.find

/**
 * Reads every confidence where `find` looks, and in a task's history, oldest first.
 *
 * @since 0.1.0
 * @category combinators
 */
export const findAll: (source: unknown) => ReadonlyArray<Read.Malformed | Read.Present<Confidence>> = extension.findAll

/**
 * Puts a confidence on a message or an artifact, in its metadata unless `carrier` says otherwise. The target itself is left as it is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const attach = <T extends object>(
  target: T,
  value: Confidence,
  options?: { readonly carrier?: Read.Carrier | undefined }
): T & Carrying => extension.attach(target, value, options?.carrier ?? "metadata")

/**
 * Reads every confidence in an agent's events, malformed ones among them. What a later snapshot of the task repeats is left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const readEvents: <E, R>(
  events: Stream.Stream<unknown, E, R>
) => Stream.Stream<Read.Malformed | Read.Present<Confidence>, E, R> = extension.readEvents

/**
 * Every confidence in an agent's events, each once; fails at a malformed one.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromEvents: <E, R>(
  events: Stream.Stream<unknown, E, R>
) => Stream.Stream<Confidence, E | Read.Malformed, R> = extension.fromEvents

/**
 * Reads and writes as the older packages do: any object passes unchecked, older spellings don't, and of two carriers in disagreement
 * the metadata is believed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const lenient: Lenient<Fields | object> = { ...extension.lenient, make: ordered }
