import type * as Operation from "@effect-agentenv/protocol/Operation"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { Written } from "./jsonText.ts"

/** An answer of a handler that its definition doesn't allow: a mistake of the author's, for the log alone (B-HTTP-5). */
class WrongAnswer extends Data.TaggedError("WrongAnswer")<{ readonly message: string }> {}

type Omit = (value: unknown) => unknown

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const asIs: Omit = (value) => value

/** Takes the nulls out of optional fields (B-HTTP-6). What a schema says nothing of stays as it is. */
const omitter = (root: AST.AST): Omit => {
  const suspended = new Map<AST.AST, Omit>()

  const object = (ast: AST.TypeLiteral): Omit => {
    const rules = new Map(
      ast.propertySignatures.map(({ isOptional, name, type }) => [name, { isOptional, omit: go(type) }])
    )
    const [index] = ast.indexSignatures
    const others = index === undefined ? asIs : go(index.type)
    if (others === asIs && Array.from(rules.values()).every(({ isOptional, omit }) => !isOptional && omit === asIs)) {
      return asIs
    }
    return (value) =>
      isRecord(value)
        ? Object.fromEntries(
          Object.entries(value).flatMap(([name, field]) => {
            const rule = rules.get(name)
            if (rule === undefined) return [[name, others(field)]]
            return rule.isOptional && field === null ? [] : [[name, rule.omit(field)]]
          })
        )
        : value
  }

  const go = (ast: AST.AST): Omit => {
    switch (ast._tag) {
      case "TypeLiteral":
        return object(ast)
      case "TupleType": {
        const [rest] = ast.rest
        const element = rest === undefined || ast.elements.length > 0 ? asIs : go(rest.type)
        return element === asIs ? asIs : (value) => Array.isArray(value) ? value.map(element) : value
      }
      case "Union": {
        const members = ast.types.filter((type) => !AST.isUndefinedKeyword(type) && type !== AST.null)
        const [only] = members
        return only !== undefined && members.length === 1 ? go(only) : asIs
      }
      case "Suspend": {
        const known = suspended.get(ast)
        if (known !== undefined) return known
        let omit: Omit | undefined
        const later: Omit = (value) => (omit ??= go(ast.f()))(value)
        suspended.set(ast, later)
        return later
      }
      default:
        return asIs
    }
  }

  return go(AST.encodedAST(root))
}

/** @internal */
export const answersNothing = ({ ast }: Schema.Schema.Any): boolean =>
  AST.isVoidKeyword(ast) || AST.isUndefinedKeyword(ast) || AST.isNeverKeyword(ast)

/**
 * Compiles the writing of an operation's answer: closed, as JSON text. What does not fit is a defect, whose text has no value of it
 * (B-HTTP-5).
 *
 * @internal
 */
export const writer = (
  operation: Operation.Any,
  what: string
): (value: unknown) => Effect.Effect<string, never, unknown> => {
  if (answersNothing(operation.response)) return () => Effect.succeed("{}")
  const encode = ParseResult.encodeUnknown(operation.response as Schema.Schema<unknown, unknown, unknown>, {
    onExcessProperty: "error",
    errors: "all"
  })
  const omit = omitter(operation.response.ast)
  const text = (encoded: unknown): Effect.Effect<string> =>
    Effect.orDie(Effect.try({
      try: () => JSON.stringify(omit(encoded)),
      catch: () => new WrongAnswer({ message: `${what} can't be written as JSON` })
    }))
  return (value) =>
    value instanceof Written
      ? Effect.succeed(value.text)
      : Effect.matchEffect(encode(value ?? {}), {
        onFailure: (issue) =>
          Effect.die(
            new WrongAnswer({
              message: `${what} does not fit its schema: ${WireSchema.formatIssues(ParseResult.parseError(issue))}`
            })
          ),
        onSuccess: text
      })
}
