/**
 * From a pattern of Python's `regex` to one of JavaScript that finds the same.
 *
 * @since 0.1.0
 */
import { beginsRarely, toAscii } from "./ascii.ts"
import { shorten } from "./boundaries.ts"
import { emit, unicode } from "./emit.ts"
import { parse } from "./parse.ts"
import * as references from "./references.ts"
import { invalid, Refusal } from "./refusal.ts"
import type { Written } from "./search.ts"
import { simplify } from "./simplify.ts"
import { anchored, looks, type Node, nullable } from "./tree.ts"
import { trim } from "./trim.ts"

/** The characters that a pattern may have (B-TRIG-9). */
const maxLength = 4_096

/** What a pattern is in JavaScript, and the tree that it was written from. */
export interface Translation {
  readonly written: Written
  readonly tree: Node
}

/** V8 looks for what may be empty between the two halves of a character as well, where there is no place for it. */
const betweenCharacters = "(?:^|(?<=[^]))"

const length = (pattern: string): number => {
  let count = 0
  for (const _ of pattern) count++
  return count
}

const translatePattern = (pattern: string): Translation => {
  // a code point is two units at most, so that a longer text is not counted out
  if (pattern.length > maxLength * 2 || length(pattern) > maxLength) {
    throw invalid(`over ${maxLength} characters`, maxLength)
  }
  const parsed = parse(pattern)
  const groups = references.referenced(parsed.tree)
  const ignoreCase = references.check(parsed, groups)
  const simple = references.ordered(parsed.tree) ? parsed.tree : simplify(parsed.tree)
  const tree = trim(simple, groups)
  const guard = nullable(tree) && looks(tree) && !anchored(tree) ? betweenCharacters : ""
  const source = guard + emit(shorten(tree), groups, unicode)
  const ascii = toAscii(tree, groups, ignoreCase)
  return { written: { source, flags: ignoreCase ? "iu" : "u", leaps: beginsRarely(tree), ascii }, tree }
}

/** What a pattern is in JavaScript, or why it is refused. */
export const translate = (pattern: string): Translation | Refusal => {
  try {
    return translatePattern(pattern)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
