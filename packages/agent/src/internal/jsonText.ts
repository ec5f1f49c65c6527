/** Deeper than anything that a peer's decoder takes, and far from where `JSON.stringify` overflows the stack. */
const maxDepth = 1000

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Whether a value is a JSON object as a literal writes one: no array, no `Map`, no instance of a class. */
export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && isPlain(value)

const foreign = "it holds an object that is no JSON object, such as a Set, a Map, a Date or an instance of a class"

/** Why a value would not come out of JSON as it went in; a property that is `undefined` counts as absent. */
const problemOf = (value: unknown, depth: number): string | undefined => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined
    case "number":
      return Number.isFinite(value) ? undefined : "it holds a number that JSON does not have"
    case "object":
      break
    default:
      return `it holds a value that JSON does not have (${typeof value})`
  }
  if (value === null) return undefined
  if (depth > maxDepth) return `it is nested deeper than ${maxDepth} levels`
  if (Array.isArray(value)) {
    // by index, so that a hole is seen
    for (let index = 0; index < value.length; index++) {
      const problem = problemOf(value[index], depth + 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  if (!isPlain(value)) return foreign
  for (const key of Object.keys(value)) {
    const child = (value as Readonly<Record<string, unknown>>)[key]
    const problem = child === undefined ? undefined : problemOf(child, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** A JSON text, or why there is none. */
export type Encoded =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string }

const failed = (problem: string): Encoded => ({ ok: false, problem })

const written = (value: unknown, replace?: (key: string, value: unknown) => unknown): Encoded => {
  const text = JSON.stringify(value, replace) as string | undefined
  return text === undefined ? failed("it is no JSON value") : { ok: true, text }
}

/** Writes a value that is JSON already, and refuses every other. */
export const encodeStrict = (value: unknown): Encoded => {
  try {
    const problem = problemOf(value, 1)
    return problem === undefined ? written(value) : failed(problem)
  } catch (error) {
    return failed(error instanceof RangeError ? "it is nested too deep" : "it can't be read")
  }
}

const lenient = (_key: string, value: unknown): unknown => typeof value === "bigint" ? value.toString() : value

/** Writes whatever JSON can be made of a value, as `JSON.stringify` would and big integers as text. */
export const encodeLenient = (value: unknown): Encoded => {
  try {
    return written(value, lenient)
  } catch (error) {
    return failed(error instanceof RangeError ? "it is nested too deep" : "it can't be written as JSON")
  }
}

/** An answer that is JSON text already, of the shape that its definition has: it is sent as it is. */
export class Written {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
