/**
 * Effect schemas as the JSON Schemas that each place on the wire wants, and decoding errors as sentences without secrets.
 *
 * Every schema here is the encoded side's, in the common subset of draft-07 and 2020-12: an object at the root, no `$schema`,
 * everything inlined but recursion.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { coercer } from "./internal/coerce.ts"
import * as errors from "./internal/issues.ts"
import { generate, type Generated, type Json } from "./internal/jsonSchema.ts"

/**
 * Tells that a schema has no JSON Schema of the wanted form. Callers add which tool or operation it belongs to.
 *
 * @since 0.1.0
 * @category errors
 */
export class WireSchemaError extends Schema.TaggedError<WireSchemaError>(
  "@effect-agentenv/protocol/WireSchemaError"
)("WireSchemaError", { message: Schema.String }) {}

/**
 * The JSON Schema of an object.
 *
 * @since 0.1.0
 * @category models
 */
export interface ObjectSchema {
  readonly type: "object"
  readonly properties: Readonly<Record<string, unknown>>
  readonly required?: ReadonlyArray<string>
  readonly [key: string]: unknown
}

/**
 * How a schema is written: `strict` refuses unknown properties at every depth (off), `defaults` says what absent
 * properties decode to (on).
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly strict?: boolean | undefined
  readonly defaults?: boolean | undefined
}

const refuse = (message: string): WireSchemaError => new WireSchemaError({ message })

const generated = (
  ast: AST.AST,
  options?: Options & { readonly output?: boolean } | undefined
): Effect.Effect<Generated, WireSchemaError> =>
  Effect.try({
    try: () =>
      generate(ast, {
        strict: options?.strict ?? false,
        defaults: options?.defaults ?? true,
        output: options?.output ?? false
      }),
    catch: (error) =>
      refuse(
        error instanceof RangeError
          ? "the schema refers to itself without end: keep what Schema.suspend returns in a constant"
          : error instanceof Error
          ? error.message
          : "the schema can't be written as JSON Schema"
      )
  })

const isObjectSchema = (schema: Json): boolean => schema["type"] === "object"

const objectSchema = (schema: Json, definitions: Readonly<Record<string, Json>>): ObjectSchema => ({
  ...schema,
  type: "object",
  properties: (schema["properties"] ?? {}) as Readonly<Record<string, unknown>>,
  ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions })
})

const rooted = (
  schema: Schema.Schema.Any,
  options?: Options | undefined
): Effect.Effect<ObjectSchema, WireSchemaError> =>
  Effect.flatMap(generated(schema.ast, options), ({ definitions, root }) => {
    if (isObjectSchema(root)) return Effect.succeed(objectSchema(root, definitions))
    return Effect.fail(refuse(
      "anyOf" in root || "oneOf" in root
        ? "a union can't be the whole of it: clients drop what isn't one object, so put the union under a property"
        : "it must be an object: put the value under a property"
    ))
  })

/**
 * Writes the schema of a tool's arguments, for `tools/list` and the card alike (`B-ENV-15`). It stays open, as the decoder
 * ignores what it doesn't know, unless `strict`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toolInput = (
  schema: Schema.Schema.Any,
  options?: Options
): Effect.Effect<ObjectSchema, WireSchemaError> => rooted(schema, options)

/**
 * The schema of a tool's structured result; `wrapped` says that the value travels as `{ result: value }` (`B-TOOL-4`).
 *
 * @since 0.1.0
 * @category models
 */
export interface Output {
  readonly schema: ObjectSchema
  readonly wrapped: boolean
}

const agentEnvError: Json = {
  type: "object",
  properties: {
    code: { type: "string" },
    message: { type: "string" },
    retryable: { type: "boolean" },
    applied: { type: "string", enum: ["yes", "no", "unknown"] },
    hint: { type: "string" }
  },
  required: ["code", "message", "retryable", "applied"]
}

/** The failures that can travel as structured content: objects, and unions of nothing but objects. */
const failures = (root: Json): ReadonlyArray<Json> => {
  const members = root["anyOf"]
  if (!Array.isArray(members)) return isObjectSchema(root) ? [root] : []
  return (members as ReadonlyArray<Json>).every(isObjectSchema) ? members : []
}

const isClosedSet = (schema: Json): boolean => !("additionalProperties" in schema || "patternProperties" in schema)

const propertiesOf = (schema: Json): Readonly<Record<string, unknown>> =>
  (schema["properties"] ?? {}) as Readonly<Record<string, unknown>>

/** The success's properties at the root too, where clients look, unless an error could carry one of them as something else. */
const shared = (success: Json, others: ReadonlyArray<Json>): Readonly<Record<string, unknown>> =>
  others.every(isClosedSet)
    ? Object.fromEntries(
      Object.entries(propertiesOf(success)).filter(([name]) =>
        others.every((other) => !Object.hasOwn(propertiesOf(other), name))
      )
    )
    : {}

const isNothing = (ast: AST.AST): boolean =>
  AST.isVoidKeyword(ast) || AST.isUndefinedKeyword(ast) || AST.isNeverKeyword(ast)

const prefixed = (schema: Json, taken: Readonly<Record<string, Json>>, own: Readonly<Record<string, Json>>): Json => {
  const clashing = Object.keys(own).filter((name) => Object.hasOwn(taken, name))
  return clashing.length === 0 ? schema : JSON.parse(clashing.reduce(
    (text, name) => text.replaceAll(`"$ref":"#/$defs/${name}"`, `"$ref":"#/$defs/Failure.${name}"`),
    JSON.stringify(schema)
  ))
}

/**
 * Writes the schema of a tool's structured result: an object's own, any other value's under `result`, and none for a tool that
 * answers nothing (`B-TOOL-4`).
 *
 * A validating client checks a failed call's `structuredContent` too, so the schema also admits an `AgentEnvError` and the
 * encoding of the declared `failure`, if that is an object or a union of objects (`B-ERR-4`).
 *
 * @since 0.1.0
 * @category constructors
 */
export const toolOutput = (
  success: Schema.Schema.Any,
  failure?: Schema.Schema.All | undefined
): Effect.Effect<Output | undefined, WireSchemaError> =>
  Effect.gen(function*() {
    if (isNothing(AST.encodedAST(success.ast))) return undefined
    const answer = yield* generated(success.ast, { output: true })
    const wrapped = !isObjectSchema(answer.root)
    const object: Json = wrapped
      ? { type: "object", properties: { result: answer.root }, required: ["result"] }
      : answer.root
    const refusal = failure === undefined || isNothing(failure.ast)
      ? { root: {}, definitions: {} }
      : yield* generated(failure.ast, { output: true })
    const rename = (schema: Json): Json => prefixed(schema, answer.definitions, refusal.definitions)
    const definitions = Object.fromEntries([
      ...Object.entries(refusal.definitions).map(([name, schema]) => [
        Object.hasOwn(answer.definitions, name) ? `Failure.${name}` : name,
        rename(schema)
      ]),
      ...Object.entries(answer.definitions)
    ])
    const others = [agentEnvError, ...failures(refusal.root).map(rename)]
    return {
      schema: objectSchema({ properties: shared(object, others), anyOf: [object, ...others] }, definitions),
      wrapped
    }
  })

const withoutNull = (schema: unknown): unknown => {
  const { anyOf, ...rest } = schema as Json
  if (!Array.isArray(anyOf)) return schema
  const members = (anyOf as ReadonlyArray<Json>).filter((member) => member["type"] !== "null")
  if (members.length === anyOf.length) return schema
  return { ...(members.length === 1 ? members[0] : { anyOf: members }), default: null, ...rest }
}

/**
 * Writes the request contract of an environment's extension (`B-ENV-6`, `B-ENV-7`): optional values that may be `null` are
 * shown without it, with `default: null`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const request = (schema: Schema.Schema.Any): Effect.Effect<ObjectSchema, WireSchemaError> =>
  Effect.map(rooted(schema), (root) => ({
    ...root,
    properties: Object.fromEntries(
      Object.entries(root.properties).map((
        [name, property]
      ) => [name, root.required?.includes(name) === true ? property : withoutNull(property)])
    )
  }))

/**
 * The parameters of a query string, with every value of a repeated key.
 *
 * @since 0.1.0
 * @category models
 */
export type Query = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/**
 * Compiles the reading of query strings for a request: numbers, booleans (`true/1/yes/on`, `false/0/no/off`), literals of one
 * type, and lists from repeated keys become the JSON values that the schema decodes (`B-ENV-8`).
 *
 * What can't be read as its type stays text, and fails to decode.
 *
 * @since 0.1.0
 * @category constructors
 */
export const query = (schema: Schema.Schema.Any): (query: Query) => Readonly<Record<string, unknown>> =>
  coercer(schema.ast)

/**
 * Where a value did not decode and why. The path is `""` for the whole value.
 *
 * @since 0.1.0
 * @category models
 */
export interface Issue {
  readonly path: string
  readonly message: string
}

/**
 * Lists why a value did not decode, never the value itself, so that it may be answered and logged.
 *
 * A schema's own `message` is used, but is handed a stand-in for the value.
 *
 * @since 0.1.0
 * @category combinators
 */
export const issues = (error: ParseResult.ParseError): ReadonlyArray<Issue> => errors.fromIssue(error.issue)

/**
 * Says why a value did not decode, one `path: reason` a line, such as `label: is missing` or `count: expected number`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const formatIssues = (error: ParseResult.ParseError): string => errors.format(issues(error))
