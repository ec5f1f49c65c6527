/**
 * What a turn changed in the world state that agents share (`worldstate-delta-v1`), and how such changes are applied.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Carrying, Lenient } from "./Carrying.ts"
import * as ExtensionUri from "./ExtensionUri.ts"
import * as applying from "./internal/apply.ts"
import * as Extension from "./internal/extension.ts"
import type { JsonObject } from "./internal/json.ts"
import type * as Part from "./Part.ts"
import type * as Read from "./Read.ts"

const place = { domain: Schema.String, path: Schema.String }

/**
 * One change at `path` of a domain, whose keys are separated by dots: `set` puts a value there, `inc` adds a number, `push` appends
 * to a list.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Delta = Schema.Union(
  Schema.Struct({ ...place, op: Schema.Literal("set"), value: Schema.Unknown }),
  Schema.Struct({ ...place, op: Schema.Literal("inc"), value: Schema.Finite }),
  Schema.Struct({ ...place, op: Schema.Literal("push"), value: Schema.Unknown })
)

/**
 * The value of a `Delta`.
 *
 * @since 0.1.0
 * @category models
 */
export type Delta = typeof Delta.Type

/**
 * The payload of `worldstate-delta-v1`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const WorldstateDelta = Schema.Struct({ deltas: Schema.Array(Delta) })

/**
 * The value of a `WorldstateDelta`.
 *
 * @since 0.1.0
 * @category models
 */
export interface WorldstateDelta extends Schema.Schema.Type<typeof WorldstateDelta> {}

/**
 * The URI of the extension.
 *
 * @since 0.1.0
 * @category constructors
 */
export const uri: string = ExtensionUri.worldstateDelta

const extension = Extension.make<WorldstateDelta>({
  concept: "worldstate-delta-v1",
  uri,
  mime: "application/vnd.protolabs.worldstate-delta-v1+json",
  olderUris: ["https://protolabs.ai/a2a/ext/worldstate-delta-v1"],
  olderMimes: ["application/vnd.protolabs.worldstate-delta+json"],
  schema: WorldstateDelta,
  normalize: (payload) => payload
})

/**
 * Makes the payload for some deltas; fails when one isn't a delta.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (deltas: Iterable<Delta>): Effect.Effect<WorldstateDelta, Read.Malformed> =>
  extension.decode({ deltas: [...deltas] })

/**
 * Puts a value at a place, and makes the objects on the way to it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const set = (domain: string, path: string, value: unknown): Delta => ({ domain, path, op: "set", value })

/**
 * Adds to the number at a place; one that isn't there yet counts as 0.
 *
 * @since 0.1.0
 * @category constructors
 */
export const inc = (domain: string, path: string, value = 1): Delta => ({ domain, path, op: "inc", value })

/**
 * Appends to the list at a place.
 *
 * @since 0.1.0
 * @category constructors
 */
export const push = (domain: string, path: string, value: unknown): Delta => ({ domain, path, op: "push", value })

/**
 * The MIME type of a data part that carries deltas.
 *
 * @since 0.1.0
 * @category constructors
 */
export const mime = "application/vnd.protolabs.worldstate-delta-v1+json"

/**
 * Makes a data part that carries deltas, for peers on `protolabs-a2a` 0.2 or the TypeScript layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toPart: (value: WorldstateDelta) => Part.DataPart<WorldstateDelta> = extension.toPart

/**
 * Makes the metadata that carries deltas, for peers on `protolabs-a2a` 0.3: one key, the extension's URI.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toMetadata: (value: WorldstateDelta) => { readonly [uri: string]: WorldstateDelta } = extension.toMetadata

/**
 * Reads deltas from one part of any envelope. Unknown keys of the payload stay.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromPart: (part: unknown) => Read.Read<WorldstateDelta> = extension.fromPart

/**
 * Reads deltas from a `metadata` map.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromMetadata: (metadata: unknown) => Read.Read<WorldstateDelta> = extension.fromMetadata

/**
 * Reads the first set of deltas of a list of parts, a message, an artifact, a task or an event of either A2A wire, whichever carrier brings
 * it. Of a task, its status message comes first, then its artifacts, then its own metadata. A holder whose carriers differ is
 * malformed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const find: (source: unknown) => Read.Read<WorldstateDelta> = extension.find

/**
 * Reads every set of deltas where `find` looks, and in a task's history, oldest first.
 *
 * @since 0.1.0
 * @category combinators
 */
export const findAll: (source: unknown) => ReadonlyArray<Read.Malformed | Read.Present<WorldstateDelta>> =
  extension.findAll

/**
 * Puts deltas on a message or an artifact, in its metadata unless `carrier` says otherwise. The target itself is left as it is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const attach = <T extends object>(
  target: T,
  value: WorldstateDelta,
  options?: { readonly carrier?: Read.Carrier | undefined }
): T & Carrying => extension.attach(target, value, options?.carrier ?? "metadata")

/**
 * Reads every set of deltas in an agent's events, malformed ones among them. What a later snapshot of the task repeats is left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const readEvents: <E, R>(
  events: Stream.Stream<unknown, E, R>
) => Stream.Stream<Read.Malformed | Read.Present<WorldstateDelta>, E, R> = extension.readEvents

/**
 * Every set of deltas in an agent's events, each once; fails at a malformed one.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromEvents: <E, R>(
  events: Stream.Stream<unknown, E, R>
) => Stream.Stream<WorldstateDelta, E | Read.Malformed, R> = extension.fromEvents

/**
 * Reads and writes as the older packages do: any object passes unchecked, older spellings don't, and of two carriers in disagreement
 * the metadata is believed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const lenient: Lenient<Iterable<unknown>> = { ...extension.lenient, make: (deltas) => ({ deltas: [...deltas] }) }

/**
 * Every single delta in an agent's events, in order; fails at a malformed payload.
 *
 * @since 0.1.0
 * @category combinators
 */
export const deltas = <E, R>(events: Stream.Stream<unknown, E, R>): Stream.Stream<Delta, E | Read.Malformed, R> =>
  Stream.mapConcat(fromEvents(events), ({ deltas }) => deltas)

/**
 * The world: a record by domain. Plain JSON, never changed in place.
 *
 * @since 0.1.0
 * @category models
 */
export interface World {
  readonly [domain: string]: unknown
}

/**
 * Why a delta wasn't applied: `notADelta` is ill-typed; `unknownDomain`, `missing`: nothing is there; `emptyPath`, `unsafePath`
 * (`__proto__`, `constructor`, `prototype`), `tooDeep` (over 256 keys): the path can't be used; `notANumber`, `notAList`,
 * `notAnObject`: something else is there; `noSuchIndex`: a list's index that is neither there nor next; `overflow`: the sum isn't
 * finite.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Reason = Schema.Literal(
  "notADelta",
  "unknownDomain",
  "emptyPath",
  "unsafePath",
  "tooDeep",
  "missing",
  "notANumber",
  "notAList",
  "notAnObject",
  "noSuchIndex",
  "overflow"
)

/**
 * The value of a `Reason`.
 *
 * @since 0.1.0
 * @category models
 */
export type Reason = typeof Reason.Type

/**
 * Says which delta wasn't applied, and why; its value is left out.
 *
 * @since 0.1.0
 * @category errors
 */
export class DeltaRejected extends Schema.TaggedError<DeltaRejected>("@effect-agentenv/protolabs/DeltaRejected")(
  "DeltaRejected",
  {
    /** Its place among the deltas that were given. */
    index: Schema.Number,
    reason: Reason,
    domain: Schema.optional(Schema.String),
    path: Schema.optional(Schema.String)
  }
) {
  /** @since 0.1.0 */
  override get message(): string {
    const where = this.path === undefined ? "" : ` at ${JSON.stringify(this.path.slice(0, 200))}`
    return `the delta ${this.index}${where} was not applied: ${this.reason}`
  }
}

/**
 * The world after some deltas, those that made it, and those that couldn't.
 *
 * @since 0.1.0
 * @category models
 */
export interface Applied {
  readonly world: World
  readonly applied: ReadonlyArray<Delta>
  readonly rejected: ReadonlyArray<DeltaRejected>
}

const isDelta = Schema.is(Delta)

const textOrNothing = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/**
 * Applies deltas in order. The given world is left as it is, and what no delta touches is shared with the result. One that can't be
 * applied doesn't stop the others and undoes none; without any that can, the given world itself is the result.
 *
 * Keys are those between dots; empty ones are dropped. `set` makes the objects on its way, also in place of scalars; `inc` and `push`
 * need theirs to be there.
 *
 * @since 0.1.0
 * @category combinators
 */
export const apply = (world: World, deltas: Iterable<unknown>): Applied => {
  const draft = applying.draft(world)
  const applied: Array<Delta> = []
  const rejected: Array<DeltaRejected> = []
  let index = 0
  for (const delta of deltas) {
    const reason = isDelta(delta) ? draft.apply(delta) : "notADelta"
    if (reason === undefined) applied.push(delta as Delta)
    else {
      const { domain, path } = (typeof delta === "object" && delta !== null ? delta : {}) as JsonObject
      rejected.push(new DeltaRejected({ index, reason, domain: textOrNothing(domain), path: textOrNothing(path) }))
    }
    index++
  }
  return { world: draft.result(), applied, rejected }
}
