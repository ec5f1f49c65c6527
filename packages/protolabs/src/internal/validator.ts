import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv"
import { Ajv2019 } from "ajv/dist/2019.js"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import type * as Read from "../Read.ts"
import type { JsonObject } from "./json.ts"

interface Violation {
  readonly path: Read.Path
  readonly message: string
}

/** @internal */
export type Validator =
  | { readonly _tag: "Valid"; readonly validate: (value: unknown) => ReadonlyArray<Violation> }
  | { readonly _tag: "Invalid"; readonly message: string }

const options: Options = {
  allErrors: true,
  strict: false,
  // `format` is an annotation in these dialects
  validateFormats: false,
  logger: false,
  // a schema's `$id` is its own affair: two schemas may share one
  addUsedSchema: false
}

type Compiler = Pick<Ajv, "compile" | "removeSchema">

const lazily = (make: () => Compiler): () => Compiler => {
  let made: Compiler | undefined
  return () => made ??= make()
}

const newest = lazily(() => new Ajv2020(options))
const draft2019 = lazily(() => new Ajv2019(options))
const draft07 = lazily(() => new Ajv(options))

const dialects: ReadonlyArray<readonly [RegExp, () => Compiler]> = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, newest],
  [/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, draft2019],
  [/^https?:\/\/json-schema\.org\/draft-0[3-7]\/schema#?$/, draft07]
]

/** The dialect that a schema names; the newest when it names none that is known. */
const dialectOf = (schema: JsonObject): readonly [() => Compiler, JsonObject] => {
  const { $schema, ...rest } = schema
  const named = typeof $schema === "string" ? dialects.find(([pattern]) => pattern.test($schema)) : undefined
  return [named?.[1] ?? newest, rest]
}

/** A pointer's keys; those of lists are indices. */
const segments = (pointer: string, root: unknown): Read.Path => {
  if (pointer === "") return []
  let here = root
  return pointer.slice(1).split("/").map((escaped) => {
    const key = escaped.replaceAll("~1", "/").replaceAll("~0", "~")
    const index = Array.isArray(here) ? Number(key) : undefined
    here = typeof here === "object" && here !== null ? (here as JsonObject)[key] : undefined
    return index ?? key
  })
}

const repeating = new Set(["additionalProperties", "unevaluatedProperties", "unevaluatedItems"])
const wrapping = new Set(["if", "propertyNames"])
const deciding = new Set(["anyOf", "oneOf", "not", "contains"])

/** Indices come in the order of numbers, as they do in the originals; properties named by digits don't. */
const byKey: Order.Order<string | number> = (a, b) =>
  typeof a === "number" && typeof b === "number" ? Order.number(a, b) : Order.string(String(a), String(b))

const byPath = Order.mapInput(Order.array(byKey), ({ path }: Violation) => path)

/**
 * One violation for each rule that is broken: neither one for each branch of an `anyOf`, nor one for each extra property, nor the
 * rules that only pass on what another one says.
 */
const violations = (errors: ReadonlyArray<ErrorObject>, root: unknown): ReadonlyArray<Violation> => {
  // as many as the schema has such rules, however many values break them
  const decided = [
    ...new Set(errors.filter(({ keyword }) => deciding.has(keyword)).map(({ schemaPath }) => `${schemaPath}/`))
  ]
  const said = new Set<string>()
  const all: Array<Violation> = []
  for (const { instancePath, keyword, message = "is not valid", schemaPath } of errors) {
    if (wrapping.has(keyword) || decided.some((rule) => schemaPath.startsWith(rule))) continue
    if (repeating.has(keyword)) {
      const rule = `${instancePath} ${schemaPath}`
      if (said.has(rule)) continue
      said.add(rule)
    }
    all.push({ path: segments(instancePath, root), message })
  }
  return Arr.sort(all, byPath)
}

const tooDeep = "is nested too deeply"

const reasonOf = (error: unknown): string =>
  error instanceof RangeError ? tooDeep : error instanceof Error ? error.message : "can't be used"

const validating = (compiled: ValidateFunction) => (value: unknown): ReadonlyArray<Violation> => {
  try {
    return compiled(value) === true ? [] : violations(compiled.errors ?? [], value)
  } catch (error) {
    return [{ path: [], message: reasonOf(error) }]
  }
}

const compile = (schema: JsonObject): Validator => {
  const [dialect, plain] = dialectOf(schema)
  const compiler = dialect()
  try {
    return { _tag: "Valid", validate: validating(compiler.compile(plain)) }
  } catch (error) {
    return { _tag: "Invalid", message: reasonOf(error) }
  } finally {
    compiler.removeSchema(plain)
  }
}

const kept = new WeakMap<object, Validator>()

/** The validator of a schema, compiled when it is first asked for and kept as long as the schema is. @internal */
export const validatorOf = (schema: JsonObject): Validator => {
  const known = kept.get(schema)
  if (known !== undefined) return known
  const made = compile(schema)
  kept.set(schema, made)
  return made
}
