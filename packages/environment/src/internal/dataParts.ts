const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Whether these are data parts of plain objects and nothing else: encoding would change nothing about them, and copy the state of an
 * environment key by key.
 */
export const areEncoded = (parts: unknown): boolean =>
  Array.isArray(parts) &&
  parts.every((part: unknown) =>
    isPlain(part) && part["kind"] === "data" && isPlain(part["data"]) && Object.keys(part).length === 2
  )
