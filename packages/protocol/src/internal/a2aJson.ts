import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../A2a.ts"
import { A2aWireError } from "../A2aWire.ts"
import { fromIssue } from "./issues.ts"

/** @internal */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * An object that is taken as it is: a `Record` would copy it, and a key `__proto__` would become the copy's prototype.
 *
 * @internal
 */
export const JsonObjectFromSelf = Schema.declare(isJsonObject, { identifier: "object" })

/**
 * A field that may be absent, and is when it is `null`, as peers in Python send it.
 *
 * @internal
 */
export const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { nullable: true })

/**
 * The members of a union are spellings of one thing, so a mistake is told as one.
 *
 * @internal
 */
export const told = (message: string) => ({ message: () => ({ message, override: true }) })

/**
 * An integer, which ProtoJSON and pydantic take as text too.
 *
 * @internal
 */
export const Int = Schema.Union(Schema.Int, Schema.NumberFromString.pipe(Schema.int()))
  .annotations(told("expected integer"))

/** @internal */
export const strings = Schema.Array(Schema.String)

/** @internal */
export interface Respelled<To extends Schema.Schema.Any> extends Schema.transform<typeof JsonObjectFromSelf, To> {}

/**
 * An object read by a schema after it was spelled in the one way that the schema knows.
 *
 * @internal
 */
export const respelled = <To extends Schema.Schema.Any>(
  to: To,
  respell: (object: JsonObject) => JsonObject
): Respelled<To> =>
  Schema.transform(JsonObjectFromSelf, to, {
    strict: false,
    decode: respell,
    encode: (encoded) => encoded
  })

/** @internal */
export type Decoded<A> = Either.Either<A, A2aWireError>

/** @internal */
export const decoder = <A, I>(schema: Schema.Schema<A, I>): (input: unknown) => Decoded<A> => {
  const decode = ParseResult.decodeUnknownEither(schema)
  return (input) => Either.mapLeft(decode(input), (issue) => new A2aWireError({ issues: fromIssue(issue) }))
}

/** @internal */
export const refuse = (path: string, message: string): Decoded<never> =>
  Either.left(new A2aWireError({ issues: [{ path, message }] }))

/**
 * A refusal whose sentence is the answer.
 *
 * @internal
 */
export const refuseStating = (path: string, message: string): Decoded<never> =>
  Either.left(new A2aWireError({ issues: [{ path, message }], stated: true }))

/** @internal */
export const noParts = "Message parts cannot be empty"

/** @internal */
export const emptyText = "TextPart content cannot be empty"

/** @internal */
export const findEmptyText = (parts: ReadonlyArray<{ readonly kind: string; readonly text?: string }>): number =>
  parts.findIndex((part) => part.kind === "text" && part.text === "")

/**
 * A text that is there: on the wire `""` says no more than absence.
 *
 * @internal
 */
export const nonEmpty = (text: string | undefined): string | undefined => text === "" ? undefined : text

/** @internal */
export const timestampOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d/

/**
 * The milliseconds of a time, which is left out when it can't be read: nothing depends on it.
 *
 * @internal
 */
export const atOf = (timestamp: string | undefined): number | undefined => {
  const at = timestamp !== undefined && time.test(timestamp) ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

/**
 * The object without its keys that are `undefined`, so that what was read holds only what was said. For objects that were just made.
 *
 * @internal
 */
export const compact = <A extends object>(object: A): A => {
  for (const key in object) if (object[key] === undefined) delete object[key]
  return object
}
