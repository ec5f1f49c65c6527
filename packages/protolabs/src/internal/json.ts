/** @internal */
export type JsonObject = { readonly [key: string]: unknown }

/** @internal */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What an object says of itself: an own `__proto__` counts, an inherited key doesn't. @internal */
export const own = (value: JsonObject, key: string): unknown => Object.hasOwn(value, key) ? value[key] : undefined

const sameShape = (a: object, b: object): boolean => Array.isArray(a) === Array.isArray(b)

/** Compares JSON values without recursion, as a peer decides how deep they are. @internal */
export const sameJson = (left: unknown, right: unknown): boolean => {
  const pending: Array<readonly [unknown, unknown]> = [[left, right]]
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = pair
    if (Object.is(a, b) || a === b) continue
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || !sameShape(a, b)) return false
    const keys = Object.keys(a)
    if (keys.length !== Object.keys(b).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false
      pending.push([(a as JsonObject)[key], (b as JsonObject)[key]])
    }
  }
  return true
}
