/**
 * Reads quantifiers.
 *
 * @since 0.1.0
 */
import { invalid, unsupported } from "./refusal.ts"
import type { Source } from "./source.ts"

/** How often something may come. */
export interface Counts {
  readonly min: number
  readonly max: number
}

/** Python's own limit of a count. */
const unlimited = 2 ** 32 - 1

const isDigit = (char: string): boolean => /^[0-9]$/.test(char)

const braces = (source: Source): Counts | undefined => {
  const position = source.position
  const first = source.getWhile(isDigit)
  const comma = source.match(",")
  const second = comma ? source.getWhile(isDigit) : first
  if ((!comma && first === "") || !source.match("}")) {
    source.position = position
    return undefined
  }
  const min = Number(first)
  const max = second === "" ? Infinity : Number(second)
  if (min >= unlimited || (max !== Infinity && max >= unlimited) || second.length > 300) {
    throw invalid("repeat count too big", position)
  }
  if (min > max) throw invalid("min repeat greater than max repeat", position)
  return { min, max }
}

/** What begins like a fuzzy constraint: an error's letter, whatever follows, or a cost. */
const fuzzy = /^(?:[deis]|\d*[dis][+<]|\d+<=?[deis])/

/** The counts that `char` begins, if it begins any: a brace that does not is a literal one. */
export const parseQuantifier = (source: Source, char: string): Counts | undefined => {
  switch (char) {
    case "?":
      return { min: 0, max: 1 }
    case "*":
      return { min: 0, max: Infinity }
    case "+":
      return { min: 1, max: Infinity }
    case "{": {
      const position = source.position
      const counts = braces(source)
      if (counts === undefined) {
        const ahead = source.getWhile(isDigit) + source.get() + source.get() + source.get()
        source.position = position
        if (fuzzy.test(ahead)) throw unsupported("a fuzzy constraint", position - 1)
      }
      return counts
    }
    default:
      return undefined
  }
}
