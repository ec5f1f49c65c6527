import * as JSONSchema from "effect/JSONSchema"
import type * as AST from "effect/SchemaAST"
import { encodedAst } from "./encoded.ts"

/** @internal */
export type Json = { readonly [key: string]: unknown }

/** @internal */
export interface Generated {
  readonly root: Json
  readonly definitions: Readonly<Record<string, Json>>
}

/**
 * How to write: for `output`, a value that is `undefined` has to validate though JSON leaves its key out.
 *
 * @internal
 */
export interface Options {
  readonly strict: boolean
  readonly defaults: boolean
  readonly output: boolean
}

/**
 * The JSON Schema of a schema's encoded side in the common subset of draft-07 and 2020-12: no `$schema`, no `$id`, everything
 * inlined but recursion. Throws where nothing can be said.
 *
 * @internal
 */
export const generate = (ast: AST.AST, options: Options): Generated => {
  const definitions: Record<string, JSONSchema.JsonSchema7> = {}
  const root = JSONSchema.fromAST(encodedAst(ast), {
    definitions,
    target: "jsonSchema7",
    topLevelReferenceStrategy: "skip",
    additionalPropertiesStrategy: options.strict ? "strict" : "allow"
  })
  const tidy = clean(options)
  const tidied: Record<string, Json> = {}
  for (const [name, schema] of Object.entries(definitions)) tidied[name] = tidy(schema)
  const cleaned = resolve(tidy(root), tidied)
  return { root: cleaned, definitions: tidied }
}

const resolve = (schema: Json, definitions: Readonly<Record<string, Json>>): Json => {
  const ref = schema["$ref"]
  const target = typeof ref === "string" ? definitions[ref.replace("#/$defs/", "")] : undefined
  return target ?? schema
}

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const single = new Set(["items", "additionalProperties", "not", "propertyNames", "contains", "if", "then", "else"])
const lists = new Set(["anyOf", "oneOf", "allOf"])
const maps = new Set(["properties", "patternProperties", "$defs"])

const closed = (strict: boolean): Json => (strict ? { additionalProperties: false } : {})

/** The library names its keywords with `$id`s that clash in one document, and with titles that say nothing. */
const marker = (schema: Json, strict: boolean): Json => {
  const { $comment: _comment, $id, ...rest } = schema
  if (typeof $id !== "string" || !$id.startsWith("/schemas/")) return $id === undefined ? rest : { ...rest, $id }
  const name = $id.slice("/schemas/".length)
  const { anyOf, description, title, ...own } = rest
  const said = {
    ...own,
    ...(title === undefined || title === name ? {} : { title }),
    ...(description === undefined || name === "object" && String(description).startsWith("an object in the TypeScript")
      ? {}
      : { description })
  }
  if (name === "%7B%7D") return { type: "object", properties: {}, ...said, ...closed(strict) }
  return anyOf === undefined ? said : { anyOf, ...said }
}

/** `u` or not is a validator's choice, so a pattern has to be one in both. */
const isPattern = (source: string): boolean => {
  try {
    return ["", "u"].every((flags) => new RegExp(source, flags).source !== "")
  } catch {
    return false
  }
}

/** No form of positional items is read alike by draft-07 and 2020-12, so positions are given up and lengths kept. */
const tuple = (schema: Json): Json => {
  const { additionalItems, items, ...rest } = schema
  if (!Array.isArray(items)) return schema
  const elements: Array<unknown> = isJson(additionalItems) ? [...items, additionalItems] : items
  const distinct = [...new Map(elements.map((each) => [JSON.stringify(each), each])).values()]
  return {
    ...rest,
    ...(additionalItems === false ? { maxItems: items.length } : {}),
    items: distinct.length === 1 ? distinct[0] : { anyOf: distinct }
  }
}

/** A pattern that names keys holds for those keys alone, and never for declared ones. */
const keyed = (schema: Json, strict: boolean): Json => {
  const { patternProperties, propertyNames, ...rest } = schema
  if (!isJson(patternProperties) || !("" in patternProperties) || !isJson(propertyNames)) return schema
  const value = patternProperties[""]
  const pattern = propertyNames["pattern"]
  return typeof pattern === "string" && isPattern(pattern)
    ? { ...rest, patternProperties: { [pattern]: value }, ...closed(strict) }
    : { ...rest, additionalProperties: value }
}

/** Members that each allow some values of one type are one list of values. */
const values = (schema: Json): Json => {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length === 0) return schema
  const [first] = anyOf as ReadonlyArray<unknown>
  const alike = anyOf.every((each) =>
    isJson(each) && isJson(first) && Array.isArray(each["enum"]) && each["type"] === first["type"] &&
    each["description"] === undefined
  )
  return alike && isJson(first)
    ? { type: first["type"], enum: anyOf.flatMap((each: Json) => each["enum"]), ...rest }
    : schema
}

/** Titles that the library gives its own filters; they tell a reader nothing that the keywords don't. */
const builtIn =
  /^(?:int|finite|nonNaN|positive|negative|nonNegative|nonPositive|nonEmptyString|validDate|trimmed|\w+\(.*\))$/s

const docs = new Set(["title", "description", "default", "examples"])

/** Any value is allowed, `undefined` among them. */
const allowsAll = (schema: unknown): boolean => isJson(schema) && Object.keys(schema).every((key) => docs.has(key))

const clean = ({ defaults, output, strict }: Options) => {
  const each = (value: unknown): unknown => (isJson(value) ? go(value) : value)

  const go = (node: object): Json => {
    const out: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(values(keyed(marker(node as Json, strict), strict)))) {
      if (key === "default" && !defaults || key === "title" && typeof value === "string" && builtIn.test(value)) {
        continue
      }
      if (key === "required" && Array.isArray(value) && value.length === 0) continue
      if (key === "additionalProperties" && value === true) continue
      if (key === "pattern" && typeof value === "string" && !isPattern(value)) continue
      if (key === "$ref" && typeof value === "string" && !value.startsWith("#/$defs/")) {
        throw new Error(`a reference must point into #/$defs, not to ${JSON.stringify(value)}`)
      }
      if (single.has(key)) out[key] = Array.isArray(value) ? value.map(each) : each(value)
      else if (lists.has(key) && Array.isArray(value)) out[key] = value.map(each)
      else if (maps.has(key) && isJson(value)) {
        out[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, each(inner)]))
      } else out[key] = value
    }
    const { properties, required } = out
    if (output && Array.isArray(required) && isJson(properties)) {
      const needed = required.filter((name: string) => !allowsAll(properties[name]))
      if (needed.length === 0) delete out["required"]
      else out["required"] = needed
    }
    if (out["type"] === "number" && Array.isArray(out["enum"]) && out["enum"].every(Number.isInteger)) {
      out["type"] = "integer"
    }
    return tuple(out)
  }

  return go
}
