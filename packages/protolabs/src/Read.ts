/**
 * What reading an extension answers: that it isn't there, that it is there and wrong, or its value. Plain values, so that reading
 * allocates nothing for what doesn't match; `toEffect` and `toOption` lead into the rest of Effect.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * How an extension's payload travels: in a `metadata` map under the extension's URI, as `protolabs-a2a` 0.3 writes it, or as a data
 * part of its own with a MIME type, as 0.2 and the TypeScript layer do.
 *
 * @since 0.1.0
 * @category models
 */
export type Carrier = "metadata" | "dataPart"

/**
 * The place of something wrong: keys and indices, from what was read down.
 *
 * @since 0.1.0
 * @category models
 */
export type Path = ReadonlyArray<string | number>

/** Keys come from a peer: bounded, and on one line. */
const label = (path: Path): string => {
  const shown = path.slice(0, 16).map((key) => JSON.stringify(String(key).slice(0, 80)).slice(1, -1))
  return shown.length === 0 ? "<root>" : shown.join("/")
}

/**
 * Says that an extension is there but isn't what its schema asks for, and where. It never repeats the value.
 *
 * @since 0.1.0
 * @category errors
 */
export class Malformed extends Schema.TaggedError<Malformed>("@effect-agentenv/protolabs/Malformed")("Malformed", {
  /** What was read, such as `cost-v1`. */
  concept: Schema.String,
  path: Schema.Array(Schema.Union(Schema.String, Schema.Number)),
  reason: Schema.String
}) {
  /** @since 0.1.0 */
  override get message(): string {
    return `${this.concept}: ${label(this.path)}: ${this.reason}`
  }
}

/**
 * Says that what was read doesn't carry the extension.
 *
 * @since 0.1.0
 * @category models
 */
export interface Absent {
  readonly _tag: "Absent"
}

/**
 * Holds an extension's value, and the carrier that brought it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Present<out A> {
  readonly _tag: "Present"
  readonly value: A
  readonly carrier: Carrier
}

/**
 * The answer of every reader of this package.
 *
 * @since 0.1.0
 * @category models
 */
export type Read<A> = Absent | Malformed | Present<A>

/**
 * The one `Absent`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const absent: Absent = { _tag: "Absent" }

/**
 * Makes a `Present`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const present = <A>(value: A, carrier: Carrier): Present<A> => ({ _tag: "Present", value, carrier })

/**
 * Tells whether a value was read.
 *
 * @since 0.1.0
 * @category guards
 */
export const isPresent = <A>(read: Read<A>): read is Present<A> => read._tag === "Present"

/**
 * Tells whether there is something that can't be read.
 *
 * @since 0.1.0
 * @category guards
 */
export const isMalformed = <A>(read: Read<A>): read is Malformed => read._tag === "Malformed"

/**
 * Changes the value of a `Present`, and leaves the other answers.
 *
 * @since 0.1.0
 * @category combinators
 */
export const map = <A, B>(read: Read<A>, f: (value: A) => B): Read<B> =>
  isPresent(read) ? present(f(read.value), read.carrier) : read

/**
 * Handles all three answers.
 *
 * @since 0.1.0
 * @category combinators
 */
export const match = <A, B, C, D>(read: Read<A>, cases: {
  readonly onAbsent: () => B
  readonly onMalformed: (error: Malformed) => C
  readonly onPresent: (value: A, carrier: Carrier) => D
}): B | C | D => {
  switch (read._tag) {
    case "Absent":
      return cases.onAbsent()
    case "Malformed":
      return cases.onMalformed(read)
    case "Present":
      return cases.onPresent(read.value, read.carrier)
  }
}

/**
 * Takes what is wrong for what isn't there, as the originals do.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toOption = <A>(read: Read<A>): Option.Option<A> =>
  isPresent(read) ? Option.some(read.value) : Option.none()

/**
 * Fails on what is wrong; what isn't there is `none`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toEffect = <A>(read: Read<A>): Effect.Effect<Option.Option<A>, Malformed> =>
  isMalformed(read) ? Effect.fail(read) : Effect.succeed(toOption(read))
