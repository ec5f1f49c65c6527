// Compares an answer with a recorded one, in which `null` is no value and `{ "$any": "string" }` is any string.

/** How an answer looks as JSON: what is undefined is left out, or no value. */
export const asJson = (value) => value === undefined ? null : JSON.parse(JSON.stringify(value))

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value)

export const matches = (expected, actual) => {
  if (isObject(expected)) {
    if (expected.$any === "string") return typeof actual === "string"
    if (!isObject(actual)) return false
    const keys = Object.keys(expected)
    return keys.length === Object.keys(actual).length &&
      keys.every((key) => Object.hasOwn(actual, key) && matches(expected[key], actual[key]))
  }
  if (Array.isArray(expected)) {
    return Array.isArray(actual) && actual.length === expected.length &&
      expected.every((each, index) => matches(each, actual[index]))
  }
  return expected === actual
}
