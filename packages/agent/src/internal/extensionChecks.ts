import * as Contract from "@effect-agentenv/protocol/Contract"
import * as Extension from "@effect-agentenv/protocol/Extension"
import type * as Operation from "@effect-agentenv/protocol/Operation"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { answersNothing } from "./extensionAnswer.ts"
import { takesNothing } from "./extensionRequest.ts"

/** What is wrong, and what to do about it. */
export interface Problem {
  readonly problem: string
  readonly mend: string
}

const none = undefined

/** Whether a URI is in the library's namespace; schemes and namespaces of URNs know no case. */
const isReserved = (uri: string): boolean => uri.toLowerCase().startsWith("urn:agentenv:")

/** What is wrong with an extension as such. */
export const extensionProblem = (extension: Extension.Any): Problem | undefined => {
  if (isReserved(extension.uri) && !Extension.isStandard(extension)) {
    return {
      problem: "only the library defines extensions of the namespace urn:agentenv",
      mend: "list the library's own definition, or give yours another URI"
    }
  }
  if (extension.description !== undefined && extension.description.trim() === "") {
    return { problem: "its description is blank", mend: "describe it, or leave the description out" }
  }
  return none
}

/** A path that the server's table and a browser's URL read alike. */
const isPath = (path: string): boolean =>
  /^(?:\/[\w.~!$&'+,;=@-]+)+$/.test(path) && !path.split("/").some((segment) => segment === "." || segment === "..")

/** What is wrong with the path of an operation. */
export const pathProblem = (path: string): Problem | undefined =>
  isPath(path) ? none : {
    problem: `its path ${JSON.stringify(path.slice(0, 200))} can't be served`,
    mend: "give it a path of plain segments, such as /ext/echo/v1"
  }

const requestProblem = (schema: Schema.Schema.All, what: string): Problem | undefined =>
  Contract.isClosed(schema) ? none : {
    problem: `${what} is not an object of named fields and no others`,
    mend: "make it a Schema.Struct without an index signature; alternatives are variants"
  }

const isClosedAnswer = (schema: Schema.Schema.Any): boolean =>
  AST.isUnion(schema.ast)
    ? schema.ast.types.every((ast) => Contract.isClosed({ ast } as Schema.Schema.Any))
    : Contract.isClosed(schema)

/** What is wrong with an operation's schemas. The library's own definitions are what the contract says (B-REG-23). */
export const operationProblem = (operation: Operation.Any): Problem | undefined => {
  const variants = Object.entries(operation.variants)
  if (variants.length > 0 && !takesNothing(operation.request)) {
    return { problem: "it has a request and variants too", mend: "leave its request out" }
  }
  for (const [name, { request }] of variants) {
    const problem = requestProblem(request, `the request of its variant '${name}'`)
    if (problem !== undefined) return problem
  }
  if (variants.length === 0 && !takesNothing(operation.request)) {
    const problem = requestProblem(operation.request, "its request")
    if (problem !== undefined) return problem
  }
  return answersNothing(operation.response) || isClosedAnswer(operation.response) ? none : {
    problem: "its response is not an object of named fields and no others",
    mend: "make it a Schema.Struct without an index signature, or leave it out"
  }
}

const misconfigured = (problem: string): Problem => ({
  problem,
  mend: "list it as X.configure({ … }) with what it takes"
})

/** Checks an extension's configuration, and gives what it puts on the card (B-REG-21). */
export const cardParams = (
  extension: Extension.Any
): Effect.Effect<Readonly<Record<string, unknown>>, Problem> => {
  const { configurable, configuration } = extension
  if (configurable === undefined) {
    return configuration === undefined ? Effect.succeed({}) : Effect.fail({
      problem: "it takes no configuration",
      mend: "list it without configure"
    })
  }
  const validate = ParseResult.validate(configurable.schema as Schema.Schema<unknown>, {
    onExcessProperty: "error",
    errors: "all"
  })
  return Effect.flatMap(
    Effect.mapError(
      validate(configuration ?? {}),
      (issue) =>
        misconfigured(
          `its configuration does not fit (${
            WireSchema.formatIssues(ParseResult.parseError(issue)).replaceAll("\n", "; ")
          })`
        )
    ),
    (valid) =>
      Effect.try({
        try: () => configurable.cardParams?.(valid) ?? {},
        catch: () => misconfigured("its card can't be written from its configuration")
      })
  )
}

/** The path of an extension that says none: its URI as one, version and all, so that versions stand side by side (B-REG-18). */
export const endpointOf = (extension: Extension.Any): string =>
  extension.endpoint ?? `/ext/${extension.uri.replace(/^urn:/i, "").replaceAll(":", "/")}`
