/**
 * What the card of an agent says of an operation's request and answer: the names of their fields, and nothing of their types
 * (B-CARD-7 to B-CARD-10). Written by those who serve an operation, read by those who call it.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type * as Operation from "./Operation.ts"

/**
 * The fields of an object; a list without names is left out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fields {
  readonly required?: ReadonlyArray<string>
  readonly optional?: ReadonlyArray<string>
}

/**
 * A request: the fields that it always has, and where there are several ways to write it what each of them adds (B-CARD-8).
 *
 * @since 0.1.0
 * @category models
 */
export interface Request extends Fields {
  readonly oneOf?: ReadonlyArray<Fields>
}

/**
 * The request of `agent-config` `set`: the wire names of what may be set, and the JSON Schema of the whole (B-CARD-10).
 *
 * @since 0.1.0
 * @category models
 */
export interface ConfigRequest {
  readonly supported: ReadonlyArray<string>
  readonly schema?: unknown
}

/**
 * An operation on a card. `endpoint` is there when it isn't its extension's, `request` when it takes something, `response` when it says
 * what it answers (B-CARD-7, B-CARD-9).
 *
 * @since 0.1.0
 * @category models
 */
export interface Method {
  readonly method: Operation.Method
  readonly endpoint?: string
  readonly request?: Request | ConfigRequest
  readonly response?: Fields
}

const UnlistedId: unique symbol = Symbol.for("@effect-agentenv/protocol/Contract/unlisted")

/**
 * For the annotations of an answer's schema: cards don't tell its fields.
 *
 * @since 0.1.0
 * @category combinators
 */
export const unlisted: Schema.Annotations.Schema<any> = { [UnlistedId]: true }

const fieldsOf = (required: ReadonlyArray<string>, optional: ReadonlyArray<string>): Fields => ({
  ...(required.length === 0 ? {} : { required }),
  ...(optional.length === 0 ? {} : { optional })
})

/** The object that a schema is on the wire, `undefined` when it is anything else. */
const objectOf = (schema: Schema.Schema.All): AST.TypeLiteral | undefined => {
  let ast = AST.encodedAST(schema.ast)
  while (AST.isSuspend(ast)) ast = AST.encodedAST(ast.f())
  return AST.isTypeLiteral(ast) ? ast : undefined
}

/**
 * Reads the fields of an object off its schema, in the order of their declaration; `undefined` when the schema is no object on the
 * wire.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fields = (schema: Schema.Schema.All): Fields | undefined => {
  const object = objectOf(schema)
  if (object === undefined) return undefined
  const names = (optional: boolean) =>
    object.propertySignatures.flatMap(({ isOptional, name }) => isOptional === optional ? [String(name)] : [])
  return fieldsOf(names(false), names(true))
}

/**
 * Whether a schema is an object of these fields and no others. One that isn't would let anything through.
 *
 * @since 0.1.0
 * @category guards
 */
export const isClosed = (schema: Schema.Schema.All): boolean =>
  objectOf(schema)?.indexSignatures.length === 0 && !isLenient(schema.ast)

/** Whether a schema has it written on itself that unknown fields do no harm. */
const isLenient = (ast: AST.AST): boolean => {
  const { onExcessProperty } = (ast.annotations[AST.ParseOptionsAnnotationId] ?? {}) as AST.ParseOptions
  if (onExcessProperty !== undefined) return onExcessProperty !== "error"
  if (AST.isTransformation(ast)) return isLenient(ast.from) || isLenient(ast.to)
  return AST.isRefinement(ast) && isLenient(ast.from)
}

const common = (all: ReadonlyArray<Fields>, list: "required" | "optional"): ReadonlyArray<string> =>
  (all[0]?.[list] ?? []).filter((name) => all.every((each) => each[list]?.includes(name)))

const without = (names: ReadonlyArray<string> | undefined, hoisted: ReadonlySet<string>): ReadonlyArray<string> =>
  (names ?? []).filter((name) => !hoisted.has(name))

/**
 * Writes the contract of a request that has several forms: what is required, or optional, in all of them stands above them, and a form
 * that adds nothing is `{}` (B-CARD-8). A single form is its own contract.
 *
 * @since 0.1.0
 * @category constructors
 */
export const oneOf = (forms: ReadonlyArray<Fields>): Request => {
  const [only] = forms
  if (only === undefined) return {}
  if (forms.length === 1) return only
  const required = common(forms, "required")
  const optional = common(forms, "optional")
  const hoisted = new Set([...required, ...optional])
  return {
    ...fieldsOf(required, optional),
    oneOf: forms.map((form) => fieldsOf(without(form.required, hoisted), without(form.optional, hoisted)))
  }
}

/**
 * Writes the contract of an operation's request, of these variants where it has any: `undefined` for an operation that takes nothing
 * (B-CARD-8).
 *
 * @since 0.1.0
 * @category constructors
 */
export const request = (
  operation: Operation.Any,
  variants?: ReadonlyArray<string> | undefined
): Request | undefined => {
  const all = Object.entries(operation.variants)
  if (all.length === 0) return AST.isNeverKeyword(operation.request.ast) ? undefined : fields(operation.request)
  return oneOf(
    all.flatMap(([name, variant]) =>
      variants === undefined || variants.includes(name) ? [fields(variant.request) ?? {}] : []
    )
  )
}

/**
 * Writes the contract of an operation's answer: `undefined` for one that answers nothing, one of several things, or something that is
 * `unlisted` (B-CARD-9).
 *
 * @since 0.1.0
 * @category constructors
 */
export const response = (operation: Operation.Any): Fields | undefined =>
  operation.response.ast.annotations[UnlistedId] === true ? undefined : fields(operation.response)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const names = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((name) => typeof name === "string") : []

const read = (
  contract: unknown
): { readonly required: ReadonlyArray<string>; readonly known: ReadonlyArray<string> } => {
  const { optional, required, supported } = isRecord(contract) ? contract : {}
  return { required: names(required), known: [...names(required), ...names(optional), ...names(supported)] }
}

/**
 * Whether a request of exactly these fields fits a contract as it stands on a card: in some form of it nothing that is required is
 * missing, and everything is known (B-OBJ-17). A card that says nothing of a request takes no fields.
 *
 * @since 0.1.0
 * @category guards
 */
export const accepts = (contract: unknown, fields: Iterable<string>): boolean => {
  const sent = new Set(fields)
  const above = read(contract)
  const forms = isRecord(contract) && Array.isArray(contract["oneOf"]) && contract["oneOf"].length > 0
    ? contract["oneOf"]
    : [{}]
  return forms.some((form: unknown) => {
    const own = read(form)
    const known = new Set([...above.known, ...own.known])
    return [...above.required, ...own.required].every((name) => sent.has(name)) &&
      Array.from(sent).every((name) => known.has(name))
  })
}

/**
 * An operation as a caller finds it on a card: where to send what, and the contracts as they stand there, unread.
 *
 * @since 0.1.0
 * @category models
 */
export interface Found {
  readonly name: string
  /** The verb in upper case. */
  readonly verb: string
  readonly endpoint: string
  readonly request: unknown
  readonly response: unknown
}

/**
 * Finds the operations of an extension's entry on a card, whatever else stands there. An operation without an endpoint has its
 * extension's, and `config` is another spelling of `params` (B-CARD-7, P-AG-4); what can't be called is left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const methods = (entry: unknown): ReadonlyArray<Found> => {
  const { config, params } = isRecord(entry) ? entry : {}
  const { endpoint, methods } = isRecord(params) ? params : isRecord(config) ? config : {}
  if (!isRecord(methods)) return []
  return Object.entries(methods).flatMap(([name, method]) => {
    if (!isRecord(method)) return []
    const where = method["endpoint"] ?? endpoint
    const verb = method["method"]
    return typeof where === "string" && typeof verb === "string"
      ? [{ name, verb: verb.toUpperCase(), endpoint: where, request: method["request"], response: method["response"] }]
      : []
  })
}

/**
 * Finds an operation of an extension's entry by its name on the wire.
 *
 * @since 0.1.0
 * @category combinators
 */
export const method = (entry: unknown, name: string): Found | undefined =>
  methods(entry).find((each) => each.name === name)
