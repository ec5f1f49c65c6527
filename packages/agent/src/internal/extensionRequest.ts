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

/** Binds a request to one handler: closed, with every field that does not fit named (B-HTTP-1). */
const bind = (
  verb: Operation.Method,
  schema: Schema.Schema.All,
  handler: Handler,
  what: string
): Reader => {
  if (takesNothing(schema)) {
    return (sent) => {
      const unknown = Object.keys(sent)
      return unknown.length === 0
        ? Effect.succeed(invoke(handler, what))
        : refuse(unknown.map(issueList.unexpected))
    }
  }
  const decode = ParseResult.decodeUnknown(schema as Schema.Schema<unknown, unknown, unknown>, {
    onExcessProperty: "error",
    errors: "all"
  })
  const read = verb === "GET" ? WireSchema.query(schema as Schema.Schema.Any) : (sent: Sent) => sent
  return (sent) =>
    Effect.matchEffect(decode(read(sent as WireSchema.Query)), {
      onFailure: (issue) => refuse(issueList.fromParseIssue(issue)),
      onSuccess: (request) => Effect.succeed(invoke(handler, what, request))
    })
}

interface Form {
  readonly name: string
  readonly fields: Contract.Fields
  readonly read: Reader
}

const namesOf = (fields: ReadonlyArray<Contract.Fields>): ReadonlySet<string> =>
  new Set(fields.flatMap(({ optional = [], required = [] }) => [...required, ...optional]))

/** Why no form fits: the reasons of the one that was meant, as far as the fields tell, else of all. */
const noFit = (
  forms: ReadonlyArray<Form>,
  reasons: ReadonlyArray<ReadonlyArray<issueList.Issue>>,
  sent: Sent
): ReadonlyArray<issueList.Issue> => {
  const names = Object.keys(sent)
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
    return handler === undefined
      ? []
      : [{ name, fields: fields.get(name) ?? {}, read: bind(verb, request, handler, `${what} (${name})`) }]
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
    return Effect.flatMap(Effect.forEach(forms, (form) => Effect.either(form.read(sent))), (results) => {
      const fitting = results.filter(Either.isRight)
      const [only] = fitting
      if (only !== undefined && fitting.length === 1) return Effect.succeed(only.right)
      return refuse(
        only === undefined
          ? noFit(forms, results.map((result) => Either.isLeft(result) ? result.left.issues : []), sent)
          : [issueList.issue("value_error", [], "fits several forms of the request")]
      )
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
  return only === undefined
    ? choose(operation.variants, handlers, operation.method, what)
    : bind(operation.method, operation.request, only, what)
}
