/** Counters add up; something else wins over a counter, and a later one over an earlier one. This is associative. */
const add = (a: unknown, b: unknown): unknown => typeof b === "number" ? typeof a === "number" ? a + b : a : b

/**
 * Adds the counters of two usages, those of a peer's own too.
 *
 * @internal
 */
export const addUsage = <U extends object>(self: U, that: U): U => {
  // a spread defines keys, so that an own `__proto__` stays a key; so does the definition below
  const sum = { ...self } as Record<string, unknown>
  for (const [key, value] of Object.entries(that)) {
    const total = Object.hasOwn(sum, key) ? add(sum[key], value) : value
    if (key === "__proto__") {
      Object.defineProperty(sum, key, { value: total, enumerable: true, configurable: true, writable: true })
    } else sum[key] = total
  }
  return sum as U
}
