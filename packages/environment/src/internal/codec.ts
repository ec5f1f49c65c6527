import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"

/**
 * A decoder that is compiled once. It ends outside of any fiber where the schema allows: an `Either` then, an effect where a
 * transformation of the schema is one.
 */
export type Decoder = (
  input: unknown
) => Either.Either<unknown, ParseResult.ParseIssue> | Effect.Effect<unknown, ParseResult.ParseIssue>

/** Why a value was refused, by field and never with the value itself. */
export const reasons = (issue: ParseResult.ParseIssue): string => WireSchema.formatIssues(ParseResult.parseError(issue))

export const decoder = (schema: Schema.Schema.All, onExcessProperty: "ignore" | "error"): Decoder =>
  // what the schema needs is in the context that handlers run in
  ParseResult.decodeUnknown(schema as Schema.Schema<unknown, unknown>, { onExcessProperty, errors: "all" }) as Decoder

/** An encoder of what handlers answer: a value that does not fit its schema is a mistake of the handler's, not of the caller's. */
export const encoder = (schema: Schema.Schema.All, what: string): (value: unknown) => Effect.Effect<unknown> => {
  const encode = ParseResult.encodeUnknown(schema as Schema.Schema<unknown, unknown>, {
    onExcessProperty: "ignore",
    errors: "all"
  })
  const mistake = (issue: ParseResult.ParseIssue): Effect.Effect<never> =>
    Effect.die(new Error(`${what} does not fit its schema: ${reasons(issue)}`))
  return (value) => {
    const encoded = encode(value) as ReturnType<Decoder>
    if (!Either.isEither(encoded)) return Effect.catchAll(encoded, mistake)
    return Either.isRight(encoded) ? encoded as Either.Either<unknown> : mistake(encoded.left)
  }
}
