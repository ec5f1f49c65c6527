/**
 * What a turn cost: tokens, time and money (`cost-v1`). Costs add up, are priced by tables of the caller's, and describe spans.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Carrying, Lenient } from "./Carrying.ts"
import * as ExtensionUri from "./ExtensionUri.ts"
import * as Extension from "./internal/extension.ts"
import { isObject, type JsonObject } from "./internal/json.ts"
import * as Sum from "./internal/sum.ts"
import { addUsage } from "./internal/usage.ts"
import type * as Part from "./Part.ts"
import type * as Read from "./Read.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const Amount = Schema.NonNegative.pipe(Schema.finite())

/**
 * Counts a turn's tokens. A peer's own counters beside these stay.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Usage = Schema.Struct({
  input_tokens: Schema.NonNegativeInt,
  output_tokens: Schema.NonNegativeInt,
  cache_creation_input_tokens: optional(Schema.NonNegativeInt),
  cache_read_input_tokens: optional(Schema.NonNegativeInt)
})

/**
 * The value of a `Usage`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Usage extends Schema.Schema.Type<typeof Usage> {}

/**
 * The payload of `cost-v1`: an absent `costUsd` is unknown, not zero.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Cost = Schema.Struct({
  usage: Usage,
  durationMs: optional(Amount),
  costUsd: optional(Amount),
  success: optional(Schema.Boolean)
})

/**
 * The value of a `Cost`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Cost extends Schema.Schema.Type<typeof Cost> {}

/**
 * What a cost is made from.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fields {
  readonly usage: {
    readonly input_tokens: number
    readonly output_tokens: number
    readonly cache_creation_input_tokens?: number | undefined
    readonly cache_read_input_tokens?: number | undefined
  }
  readonly durationMs?: number | undefined
  readonly costUsd?: number | undefined
  readonly success?: boolean | undefined
}

const cacheKeys = ["cache_creation_input_tokens", "cache_read_input_tokens"]
const optionalKeys = ["durationMs", "costUsd", "success"]

const normalize = (payload: JsonObject): JsonObject => {
  const outer = Extension.withoutNulls(payload, optionalKeys)
  const usage = outer["usage"]
  if (!isObject(usage)) return outer
  const inner = Extension.withoutNulls(usage, cacheKeys)
  return inner === usage ? outer : { ...outer, usage: inner }
}

/**
 * The URI of the extension.
 *
 * @since 0.1.0
 * @category constructors
 */
export const uri: string = ExtensionUri.cost

const extension = Extension.make<Cost>({
  concept: "cost-v1",
  uri,
  mime: "application/vnd.protolabs.cost-v1+json",
  olderUris: ["https://protolabs.ai/a2a/ext/cost-v1"],
  schema: Cost,
  normalize
})

const ordered = (fields: object): JsonObject => {
  const { costUsd, durationMs, success, usage } = fields as JsonObject
  return Extension.given({ usage, durationMs, costUsd, success })
}

/**
 * Makes a cost; fails when a number is negative, not finite, or no count.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (fields: Fields): Effect.Effect<Cost, Read.Malformed> => extension.decode(ordered(fields))

/**
 * The MIME type of a data part that carries a cost.
 *
 * @since 0.1.0
 * @category constructors
 */
export const mime = "application/vnd.protolabs.cost-v1+json"

/**
 * Makes a data part that carries a cost, for peers on `protolabs-a2a` 0.2 or the TypeScript layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toPart: (value: Cost) => Part.DataPart<Cost> = extension.toPart

/**
 * Makes the metadata that carries a cost, for peers on `protolabs-a2a` 0.3: one key, the extension's URI.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toMetadata: (value: Cost) => { readonly [uri: string]: Cost } = extension.toMetadata

/**
 * Reads a cost from one part of any envelope. Unknown keys of the payload stay.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromPart: (part: unknown) => Read.Read<Cost> = extension.fromPart

/**
 * Reads a cost from a `metadata` map.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromMetadata: (metadata: unknown) => Read.Read<Cost> = extension.fromMetadata

/**
 * Reads the first cost of a list of parts, a message, an artifact, a task or an event of either A2A wire, whichever carrier brings
 * it. Of a task, its status message comes first, then its artifacts, then its own metadata. A holder whose carriers differ is
 * malformed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const find: (source: unknown) => Read.Read<Cost> = extension.find

/**
 * Reads every cost where `find` looks, and in a task's history, oldest first.
 *
 * @since 0.1.0
 * @category combinators
 */
export const findAll: (source: unknown) => ReadonlyArray<Read.Malformed | Read.Present<Cost>> = extension.findAll

/**
 * Puts a cost on a message or an artifact, in its metadata unless `carrier` says otherwise. The target itself is left as it is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const attach = <T extends object>(
  target: T,
  value: Cost,
  options?: { readonly carrier?: Read.Carrier | undefined }
): T & Carrying => extension.attach(target, value, options?.carrier ?? "metadata")

/**
 * Reads every cost in an agent's events, malformed ones among them. What a later snapshot of the task repeats is left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const readEvents: <E, R>(
  events: Stream.Stream<unknown, E, R>
) => Stream.Stream<Read.Malformed | Read.Present<Cost>, E, R> = extension.readEvents

/**
 * Every cost in an agent's events, each once; fails at a malformed one.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromEvents: <E, R>(
  events: Stream.Stream<unknown, E, R>
) => Stream.Stream<Cost, E | Read.Malformed, R> = extension.fromEvents

/**
 * Reads and writes as the older packages do: any object passes unchecked, older spellings don't, and of two carriers in disagreement
 * the metadata is believed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const lenient: Lenient<Fields | object> = { ...extension.lenient, make: ordered }

/**
 * The cost of nothing: no tokens, and time and money unknown. The identity of `combine`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const empty: Cost = { usage: { input_tokens: 0, output_tokens: 0 } }

type Known = { -readonly [K in keyof Cost]?: Cost[K] }

/** What both sides know of time, money and success, joined; what one of them knows is in the spread already. */
const joined = (self: Cost, that: Cost): Known => {
  const both: Known = {}
  if (self.durationMs !== undefined && that.durationMs !== undefined) {
    both.durationMs = self.durationMs + that.durationMs
  }
  if (self.costUsd !== undefined && that.costUsd !== undefined) both.costUsd = self.costUsd + that.costUsd
  if (self.success !== undefined && that.success !== undefined) both.success = self.success && that.success
  return both
}

/**
 * Adds two costs. Counters, time and money are sums; what only one side knows is taken from it, so that the money of a sum is what is
 * known to have been spent; `success` is that of both. Counters of a peer's own add up too, and of other unknown keys the later one
 * stays.
 *
 * @since 0.1.0
 * @category combinators
 */
export const combine = (self: Cost, that: Cost): Cost => ({
  ...self,
  ...that,
  ...joined(self, that),
  usage: addUsage(self.usage, that.usage)
})

/**
 * Adds all costs, from the first to the last.
 *
 * @since 0.1.0
 * @category combinators
 */
export const combineAll = (costs: Iterable<Cost>): Cost => {
  let total = empty
  for (const cost of costs) total = combine(total, cost)
  return total
}

/**
 * What a model's tokens cost, in US dollars a million. A rate of the cache that is left out is that of the input, as peers count
 * cached tokens beside the input's and not among them.
 *
 * @since 0.1.0
 * @category models
 */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheCreation?: number | undefined
  readonly cacheRead?: number | undefined
}

/**
 * Says that the price table has no such model.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownModel extends Schema.TaggedError<UnknownModel>("@effect-agentenv/protolabs/UnknownModel")(
  "UnknownModel",
  { model: Schema.String }
) {
  /** @since 0.1.0 */
  override get message(): string {
    return `no price for the model ${JSON.stringify(this.model)}`
  }
}

const perMillion = 1_000_000

/**
 * Prices a cost's tokens by the caller's table, in place of the `costUsd` that it had.
 *
 * @since 0.1.0
 * @category combinators
 */
export const priced = (
  cost: Cost,
  model: string,
  prices: { readonly [model: string]: Price }
): Effect.Effect<Cost, UnknownModel> => {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined
  if (price === undefined) return new UnknownModel({ model })
  const { cache_creation_input_tokens: created = 0, cache_read_input_tokens: read = 0, input_tokens, output_tokens } =
    cost.usage
  const total = input_tokens * price.input + output_tokens * price.output +
    created * (price.cacheCreation ?? price.input) + read * (price.cacheRead ?? price.input)
  return Effect.succeed({ ...cost, costUsd: total / perMillion })
}

/**
 * A cost as attributes of a span or a metric: OpenTelemetry's GenAI names for tokens, `protolabs.cost.*` for what they don't name.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toAttributes = (cost: Cost): { readonly [name: string]: number | boolean } => {
  const { usage } = cost
  return Extension.given({
    "gen_ai.usage.input_tokens": usage.input_tokens,
    "gen_ai.usage.output_tokens": usage.output_tokens,
    "gen_ai.usage.cache_creation.input_tokens": usage.cache_creation_input_tokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cache_read_input_tokens,
    "protolabs.cost.duration_ms": cost.durationMs,
    "protolabs.cost.usd": cost.costUsd,
    "protolabs.cost.success": cost.success
  }) as { readonly [name: string]: number | boolean }
}

/**
 * Describes the current span with a cost.
 *
 * @since 0.1.0
 * @category combinators
 */
export const annotateSpan = (cost: Cost): Effect.Effect<void> => Effect.annotateCurrentSpan(toAttributes(cost))

/**
 * The bill so far, after each cost in an agent's events. An artifact that is replaced counts once, with its last cost; what is
 * appended adds up; malformed costs are left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const running = <E, R>(events: Stream.Stream<unknown, E, R>): Stream.Stream<Cost, E, R> =>
  Stream.suspend(() => {
    const named = Sum.make(combine)
    let ofNamed = empty
    let unnamed = empty
    return Stream.mapConcat(extension.sightings(events), ({ read, slot }) => {
      if (read._tag === "Malformed") return []
      if (slot === undefined) unnamed = combine(unnamed, read.value)
      else ofNamed = named.put(slot, read.value)
      return [combine(unnamed, ofNamed)]
    })
  })

/**
 * The whole bill of an agent's events.
 *
 * @since 0.1.0
 * @category combinators
 */
export const total = <E, R>(events: Stream.Stream<unknown, E, R>): Effect.Effect<Cost, E, R> =>
  Stream.runFold(running(events), empty, (_, cost) => cost)
