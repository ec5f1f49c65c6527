import * as Contract from "@effect-agentenv/protocol/Contract"
import type * as Operation from "@effect-agentenv/protocol/Operation"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as issueList from "./issueList.ts"

/** @internal */
export type Sent = Readonly<Record<string, unknown>>

/** @internal */
export type Handler = (request?: unknown) => Effect.Effect<unknown, unknown, unknown>

/**
 * Chooses the handler of a request and decodes it: the call that is ready to be made.
 *
 * @internal
 */
export type Reader = (sent: Sent) => Effect.Effect<Effect.Effect<unknown, unknown, unknown>, issueList.Refused, unknown>

/** @internal */
export const takesNothing = (schema: Schema.Schema.All): boolean => AST.isNeverKeyword(schema.ast)

const refuse = (issues: ReadonlyArray<issueList.Issue>): Effect.Effect<never, issueList.Refused> =>
  Effect.fail(new issueList.Refused({ issues }))

const invoke = (handler: Handler, what: string, request?: unknown): Effect.Effect<unknown, unknown, unknown> =>
  Effect.suspend(() => {
    const effect: unknown = handler(request)
    return Effect.isEffect(effect)
      ? effect as Effect.Effect<unknown, unknown, unknown>
      : Effect.dieMessage(`the handler of ${what} did not return an Effect`)
  })

/** What came of decoding a request: the call that is ready to be made, or what is wrong with it, which nobody may ask for. */
type Read = Either.Either<Effect.Effect<unknown, unknown, unknown>, () => ReadonlyArray<issueList.Issue>>

/** Decodes a request for one handler: closed, with every field that does not fit named (B-HTTP-1). */
const decoder = (
  verb: Operation.Method,
  schema: Schema.Schema.All,
  handler: Handler,
  what: string
): (sent: Sent) => Effect.Effect<Read, never, unknown> => {
  if (takesNothing(schema)) {
    return (sent) => {
      const unknown = Object.keys(sent)
      return Effect.succeed(
        unknown.length === 0
          ? Either.right(invoke(handler, what))
          : Either.left(() => unknown.map(issueList.unexpected))
      )
    }
  }
  const decode = ParseResult.decodeUnknown(schema as Schema.Schema<unknown, unknown, unknown>, {
    onExcessProperty: "error",
    errors: "all"
  })
  const read = verb === "GET" ? WireSchema.query(schema as Schema.Schema.Any) : (sent: Sent) => sent
  return (sent) =>
    Effect.match(decode(read(sent as WireSchema.Query)), {
      onFailure: (issue): Read => Either.left(() => issueList.fromParseIssue(issue)),
      onSuccess: (request): Read => Either.right(invoke(handler, what, request))
    })
}

interface Form {
  readonly name: string
  readonly fields: Contract.Fields
  /** The only fields that it can have, where that is sure: a request with any other need not be held against it. */
  readonly known: ReadonlySet<string> | undefined
  readonly read: (sent: Sent) => Effect.Effect<Read, never, unknown>
}

const namesOf = (fields: ReadonlyArray<Contract.Fields>): ReadonlySet<string> =>
  new Set(fields.flatMap(({ optional = [], required = [] }) => [...required, ...optional]))

/** Why no form fits: the reasons of the one that was meant, as far as the fields tell, else of all. */
const noFit = (
  forms: ReadonlyArray<Form>,
  results: ReadonlyArray<Read>,
  sent: Sent
): ReadonlyArray<issueList.Issue> => {
  const names = Object.keys(sent)
  const reasons = results.map((result) => Either.isLeft(result) ? result.left() : [])
  const meant = forms.flatMap(({ fields }, index) => Contract.accepts(fields, names) ? [reasons[index] ?? []] : [])
  const [only] = meant
  if (only !== undefined && meant.length === 1) return only
  return forms.flatMap(({ name }, index) =>
    (reasons[index] ?? []).map(({ loc, msg, type }) => issueList.issue(type, loc, `${msg} (as '${name}')`))
  )
}

/**
 * Of several ways to write a request exactly one must fit (B-REG-27): first no field may belong to nothing but forms that are not
 * served, then what every form requires must be there, then one form must decode and no other.
 */
const choose = (
  variants: Operation.Variants,
  handlers: ReadonlyMap<string, Handler>,
  verb: Operation.Method,
  what: string
): Reader => {
  const fields = new Map(Object.entries(variants).map(([name, { request }]) => [name, Contract.fields(request) ?? {}]))
  const forms = Object.entries(variants).flatMap(([name, { request }]): ReadonlyArray<Form> => {
    const handler = handlers.get(name)
    if (handler === undefined) return []
    const own = fields.get(name) ?? {}
    // a query is read by its schema, whatever its fields are called
    const known = verb !== "GET" && Contract.isClosed(request) ? namesOf([own]) : undefined
    return [{ name, fields: own, known, read: decoder(verb, request, handler, `${what} (${name})`) }]
  })
  const served = namesOf(forms.map((form) => form.fields))
  const unserved = new Set(Array.from(namesOf(Array.from(fields.values()))).filter((name) => !served.has(name)))
  const required = Contract.oneOf(forms.map((form) => form.fields)).required ?? []
  return (sent) => {
    const strange = Object.keys(sent).filter((name) => unserved.has(name))
    if (strange.length > 0) {
      return refuse(
        strange.map((name) =>
          issueList.issue("extra_forbidden", [name], "belongs to a form of the request that this agent does not take")
        )
      )
    }
    const absent = required.filter((name) => !Object.hasOwn(sent, name))
    if (absent.length > 0) return refuse(absent.map(issueList.missing))
    const names = Object.keys(sent)
    const likely = forms.filter(({ known }) => known === undefined || names.every((name) => known.has(name)))
    const [first] = likely
    const read = first !== undefined && likely.length === 1
      ? Effect.map(first.read(sent), Array.of<Read>)
      : Effect.forEach(likely, (form) => form.read(sent))
    return Effect.flatMap(read, (results) => {
      const fitting = results.filter(Either.isRight)
      const [only] = fitting
      if (only !== undefined && fitting.length === 1) return Effect.succeed(only.right)
      return only === undefined
        ? Effect.flatMap(
          Effect.forEach(forms, (form) => form.read(sent)),
          (results) => refuse(noFit(forms, results, sent))
        )
        : refuse([issueList.issue("value_error", [], "fits several forms of the request")])
    })
  }
}

/**
 * Compiles the reading of an operation's requests, with the handlers of its variants or its only one, under `""`.
 *
 * @internal
 */
export const reader = (operation: Operation.Any, handlers: ReadonlyMap<string, Handler>, what: string): Reader => {
  const only = handlers.get("")
  if (only === undefined) return choose(operation.variants, handlers, operation.method, what)
  const read = decoder(operation.method, operation.request, only, what)
  return (sent) =>
    Effect.flatMap(
      read(sent),
      (result) => Either.isRight(result) ? Effect.succeed(result.right) : refuse(result.left())
    )
}
