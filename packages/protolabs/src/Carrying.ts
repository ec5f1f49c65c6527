/**
 * What all extensions have in common: what carries them, and the lenient way to read and write them.
 *
 * @since 0.1.0
 */
import type * as Option from "effect/Option"
import type * as Part from "./Part.ts"

/**
 * Something that carries extensions: a message or an artifact.
 *
 * @since 0.1.0
 * @category models
 */
export interface Carrying {
  readonly parts?: ReadonlyArray<unknown> | null | undefined
  readonly metadata?: { readonly [key: string]: unknown } | null | undefined
}

/**
 * A payload that nobody has checked.
 *
 * @since 0.1.0
 * @category models
 */
export interface Unchecked {
  readonly [key: string]: unknown
}

/**
 * An extension as the older packages treat it: any object is a payload.
 *
 * @since 0.1.0
 * @category models
 */
export interface Lenient<in Fields> {
  /** Leaves out what isn't given, and checks nothing. */
  readonly make: (fields: Fields) => Unchecked
  readonly toPart: (payload: object) => Part.DataPart<object>
  readonly toMetadata: (payload: object) => { readonly [uri: string]: object }
  /** Reads flat parts and `content.$case`, told by the exact MIME type. */
  readonly fromPart: (part: unknown) => Option.Option<Unchecked>
  /** Reads by the exact URI. */
  readonly fromMetadata: (metadata: unknown) => Option.Option<Unchecked>
  readonly find: (source: unknown) => Option.Option<Unchecked>
}
