import { maxDepth } from "@effect-agentenv/server/Json"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** A value that JSON can't say. Tells what it is, never the value. */
export class NoJson extends Data.TaggedError("NoJson")<{ readonly message: string }> {}

const refuse = (message: string): never => {
  throw new NoJson({ message })
}

const object = (value: object, above: Set<object>): unknown => {
  if ("toJSON" in value && typeof value.toJSON === "function") return walk(value.toJSON(), above)
  if (Array.isArray(value)) return Array.from(value, (each) => each === undefined ? null : walk(each, above))
  if (value instanceof Map || value instanceof Set) return refuse("holds a Map or a Set, which JSON can't say")
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const each = (value as Readonly<Record<string, unknown>>)[key]
    if (each === undefined) continue
    const copied = walk(each, above)
    // assigned, `__proto__` would be no key
    if (key === "__proto__") Object.defineProperty(out, key, { value: copied, enumerable: true })
    else out[key] = copied
  }
  return out
}

const walk = (value: unknown, above: Set<object>): unknown => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      return Number.isFinite(value) ? value : refuse("holds a number that JSON can't say")
    case "object":
      break
    default:
      return refuse(`holds a value of type ${typeof value}, which JSON can't say`)
  }
  if (value === null) return null
  if (above.has(value)) return refuse("refers to itself")
  if (above.size >= maxDepth) return refuse(`nests deeper than ${maxDepth} levels`)
  above.add(value)
  const copied = object(value, above)
  above.delete(value)
  return copied
}

/**
 * A copy that shares nothing with a JSON value, or throws `NoJson`. As on the wire, properties without a value are left out, and what
 * has a `toJSON` is what that says.
 */
export const unsafeCopy = <A>(value: A): A => {
  try {
    return walk(value, new Set()) as A
  } catch (error) {
    throw error instanceof NoJson ? error : new NoJson({ message: "can't be read as JSON" })
  }
}

/** What is made of copies, with the refusal of one as a failure. */
export const attempt = <A>(make: () => A): Effect.Effect<A, NoJson> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(make())
    } catch (error) {
      return error instanceof NoJson ? Effect.fail(error) : Effect.die(error)
    }
  })

/** `unsafeCopy` with its refusal as a failure. */
export const copy = <A>(value: A): Effect.Effect<A, NoJson> => attempt(() => unsafeCopy(value))

/** Whether a value is an object with keys. */
export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
