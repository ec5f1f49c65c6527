import type * as Operation from "@effect-agentenv/protocol/Operation"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { Unreadable } from "../ClientError.ts"
import { decoder } from "./http.ts"
import { opened } from "./open.ts"

/** @internal */
export interface Codec {
  readonly takesNothing: boolean
  /** The request as JSON; fails with issues. */
  readonly encode: (request: unknown) => Effect.Effect<Readonly<Record<string, unknown>>, string, unknown>
  readonly decode: (answer: unknown, operation: string) => Effect.Effect<unknown, Unreadable, unknown>
}

const requestOf = (definition: Operation.Any): Schema.Schema<unknown, unknown, unknown> => {
  const variants = Object.values(definition.variants).map((variant) => variant.request)
  const schemas = variants.length === 0 ? [definition.request] : variants
  return Schema.make(AST.Union.make(schemas.map((schema) => schema.ast)))
}

/** @internal */
export const codec = (definition: Operation.Any): Codec => {
  const request = requestOf(definition)
  const encode = Schema.encodeUnknown(request)
  const takesNothing = AST.isNeverKeyword(request.ast)
  const answersNothing = AST.isVoidKeyword(definition.response.ast)
  const decode = decoder(Schema.make<unknown, unknown, unknown>(opened(definition.response.ast)))
  return {
    takesNothing,
    encode: (value) =>
      takesNothing
        ? Effect.succeed({})
        : encode(value).pipe(
          Effect.mapError(WireSchema.formatIssues),
          // requests are objects on the wire, whatever builds them
          Effect.map((encoded) => encoded as Readonly<Record<string, unknown>>)
        ),
    decode: (answer, operation) => answersNothing ? Effect.void : decode(answer, operation, "the answer")
  }
}
