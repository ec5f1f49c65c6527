/**
 * About how many bytes a JSON value takes in memory. Without recursion, as the value may be of any depth.
 */
export const sizeOf = (value: unknown): number => {
  let size = 0
  const rest: Array<unknown> = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (typeof next === "string") size += 16 + next.length
    else if (typeof next === "object" && next !== null) {
      size += 24
      if (Array.isArray(next)) {
        for (const item of next) {
          size += 8
          rest.push(item)
        }
      } else {
        const fields = next as Readonly<Record<string, unknown>>
        for (const key of Object.keys(fields)) {
          const field = fields[key]
          size += 8 + key.length
          if (typeof field === "string") size += 16 + field.length
          else if (typeof field === "object") rest.push(field)
        }
      }
    }
  }
  return size
}
