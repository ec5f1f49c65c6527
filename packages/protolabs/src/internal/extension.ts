import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Carrying } from "../Carrying.ts"
import * as Part from "../Part.ts"
import * as Read from "../Read.ts"
import { type Holder, holders } from "./holders.ts"
import { found } from "./issues.ts"
import { isObject, type JsonObject, own, sameJson } from "./json.ts"
import { nothing, payloadOf, payloadPath } from "./payload.ts"
import { type Sighting, sightings, unrepeated } from "./sightings.ts"

/** @internal */
export interface Definition<A extends object> {
  readonly concept: string
  readonly uri: string
  readonly mime: string
  /** Spellings of older peers, read and never written. */
  readonly olderUris?: ReadonlyArray<string>
  readonly olderMimes?: ReadonlyArray<string>
  readonly schema: Schema.Schema<A>
  /** Brings an older or looser payload into the schema's form; answers the payload itself when there is nothing to do. */
  readonly normalize: (payload: JsonObject) => JsonObject
}

/** @internal */
export interface Extension<A extends object> {
  readonly decode: (payload: unknown) => Effect.Effect<A, Read.Malformed>
  readonly toPart: (value: A) => Part.DataPart<A>
  readonly toMetadata: (value: A) => { readonly [uri: string]: A }
  readonly fromPart: (part: unknown) => Read.Read<A>
  readonly fromMetadata: (metadata: unknown) => Read.Read<A>
  readonly find: (source: unknown) => Read.Read<A>
  readonly findAll: (source: unknown) => ReadonlyArray<Read.Malformed | Read.Present<A>>
  readonly attach: <T extends object>(target: T, value: A, carrier: Read.Carrier) => T & Carrying
  readonly sightings: <E, R>(events: Stream.Stream<unknown, E, R>) => Stream.Stream<Sighting<A>, E, R>
  readonly readEvents: <E, R>(
    events: Stream.Stream<unknown, E, R>
  ) => Stream.Stream<Read.Malformed | Read.Present<A>, E, R>
  readonly fromEvents: <E, R>(events: Stream.Stream<unknown, E, R>) => Stream.Stream<A, E | Read.Malformed, R>
  readonly lenient: {
    readonly toPart: (payload: object) => Part.DataPart<object>
    readonly toMetadata: (payload: object) => { readonly [uri: string]: object }
    readonly fromPart: (part: unknown) => Option.Option<JsonObject>
    readonly fromMetadata: (metadata: unknown) => Option.Option<JsonObject>
    readonly find: (source: unknown) => Option.Option<JsonObject>
  }
}

/** Drops keys that hold `null` or `undefined`, as peers write what they don't know. @internal */
export const withoutNulls = (payload: JsonObject, keys: ReadonlyArray<string>): JsonObject => {
  const dropped = keys.filter((key) => Object.hasOwn(payload, key) && (payload[key] ?? undefined) === undefined)
  if (dropped.length === 0) return payload
  // entries are defined, not assigned: a key `__proto__` stays a key
  return Object.fromEntries(Object.entries(payload).filter(([key]) => !dropped.includes(key)))
}

/** Leaves out what isn't given. @internal */
export const given = (payload: object): JsonObject => withoutNulls(payload as JsonObject, Object.keys(payload))

const settled = <A>(read: Read.Malformed | Read.Present<A>): Effect.Effect<A, Read.Malformed> =>
  Read.isMalformed(read) ? Effect.fail(read) : Effect.succeed(read.value)

/** @internal */
export const make = <A extends object>(definition: Definition<A>): Extension<A> => {
  const { concept, mime, normalize, schema, uri } = definition
  const uris = [uri, ...(definition.olderUris ?? [])]
  const olderMimes = definition.olderMimes ?? []
  const validate = ParseResult.validateEither(schema, { onExcessProperty: "preserve" })

  const malformed = (path: Read.Path, reason: string) => new Read.Malformed({ concept, path, reason })

  /** The payload itself is the answer: unknown keys stay, and nothing is copied. */
  const read = (payload: unknown, path: () => Read.Path, carrier: Read.Carrier): Read.Malformed | Read.Present<A> => {
    if (!isObject(payload)) return malformed(path(), "expected an object")
    const normal = normalize(payload)
    const result = validate(normal)
    if (result._tag === "Right") return Read.present(normal as A, carrier)
    const [first] = found(result.left)
    return malformed([...path(), ...first?.path ?? []], first?.reason ?? "is not valid")
  }

  const isOurs = (part: JsonObject): boolean => {
    const metadata = part["metadata"]
    if (!isObject(metadata)) return false
    const type = metadata[Part.mimeKey]
    return type === mime || typeof type === "string" && olderMimes.includes(type)
  }

  const readPart = (part: JsonObject, path: () => Read.Path): Read.Malformed | Read.Present<A> => {
    const payload = payloadOf(part)
    return payload === nothing
      ? malformed(path(), "expected a data part")
      : read(payload, () => [...path(), ...payloadPath(part)], "dataPart")
  }

  const readMetadata = (metadata: unknown, path: Read.Path): Read.Read<A> => {
    if (!isObject(metadata)) return Read.absent
    const key = uris.find((uri) => Object.hasOwn(metadata, uri))
    return key === undefined ? Read.absent : read(metadata[key], () => [...path, key], "metadata")
  }

  const disagree = (holder: Holder) => malformed(holder.metadataPath, "differs from the data part of the same holder")

  /** What a holder carries, in the order of its parts; what both carriers say alike is said once. */
  const readHolder = function*(holder: Holder): Generator<Read.Malformed | Read.Present<A>> {
    const inMap = readMetadata(holder.metadata, holder.metadataPath)
    let pending = inMap
    for (let index = 0; index < holder.parts.length; index++) {
      const part = holder.parts[index]
      if (!isObject(part) || !isOurs(part)) continue
      const inPart = readPart(part, () => [...holder.partsPath, index])
      if (pending._tag === "Absent") {
        yield inPart
        continue
      }
      const agreed = Read.isMalformed(pending) || Read.isMalformed(inPart) || sameJson(pending.value, inPart.value)
      yield Read.isMalformed(pending)
        ? pending
        : Read.isMalformed(inPart)
        ? inPart
        : agreed
        ? pending
        : disagree(holder)
      pending = Read.absent
    }
    if (pending._tag !== "Absent") yield pending
  }

  const find = (source: unknown): Read.Read<A> => {
    for (const holder of holders(source, false)) {
      for (const read of readHolder(holder)) return read
    }
    return Read.absent
  }

  const findAll = (source: unknown) =>
    holders(source, true).flatMap((holder) => unrepeated(holder, [...readHolder(holder)], readHolder))

  const see = <E, R>(events: Stream.Stream<unknown, E, R>) =>
    Stream.suspend(() => {
      const sight = sightings(readHolder)
      return Stream.mapConcat(events, sight)
    })

  const readEvents = <E, R>(events: Stream.Stream<unknown, E, R>) => Stream.map(see(events), ({ read }) => read)

  const lenientPart = (part: unknown): Option.Option<JsonObject> => {
    if (!isObject(part) || !isObject(part["metadata"]) || part["metadata"][Part.mimeKey] !== mime) return Option.none()
    return Option.liftPredicate(payloadOf(part), isObject)
  }

  const lenientMetadata = (metadata: unknown): Option.Option<JsonObject> =>
    isObject(metadata) ? Option.liftPredicate(own(metadata, uri), isObject) : Option.none()

  return {
    decode: (payload) => Effect.suspend(() => settled(read(payload, () => [], "metadata"))),
    toPart: (value) => Part.data(value, mime),
    toMetadata: (value) => ({ [uri]: value }),
    fromPart: (part) => {
      if (!isObject(part)) return malformed([], "expected an object")
      return isOurs(part) ? readPart(part, () => []) : Read.absent
    },
    fromMetadata: (metadata) => readMetadata(metadata, []),
    find,
    findAll,
    attach: (target, value, carrier) => {
      const { metadata, parts } = target as JsonObject
      return carrier === "metadata"
        ? { ...target, metadata: { ...(isObject(metadata) ? metadata : {}), [uri]: value } }
        : { ...target, parts: [...(Array.isArray(parts) ? parts : []), Part.data(value, mime)] }
    },
    sightings: see,
    readEvents,
    fromEvents: (events) => Stream.mapEffect(readEvents(events), settled),
    lenient: {
      toPart: (payload) => Part.data(payload, mime),
      toMetadata: (payload) => ({ [uri]: payload }),
      fromPart: lenientPart,
      fromMetadata: lenientMetadata,
      find: (source) => {
        for (const holder of holders(source, false)) {
          const inMap = lenientMetadata(holder.metadata)
          if (Option.isSome(inMap)) return inMap
          for (const part of holder.parts) {
            const inPart = lenientPart(part)
            if (Option.isSome(inPart)) return inPart
          }
        }
        return Option.none()
      }
    }
  }
}
