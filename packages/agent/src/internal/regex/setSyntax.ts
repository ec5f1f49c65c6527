/**
 * Reads sets: `[…]`.
 *
 * @since 0.1.0
 */
import { parsePropertyName, parseSetEscape, property } from "./escapes.ts"
import { invalid, unsupported } from "./refusal.ts"
import { make, type Member } from "./sets.ts"
import { reading, type State } from "./state.ts"
import type { CharSet } from "./tree.ts"

const literal = (char: string): Member => {
  const code = char.codePointAt(0)!
  return { _tag: "Range", first: code, last: code }
}

const posixClass = (state: State): Member | undefined => {
  const { source } = state
  const position = source.position
  if (!source.match("[:")) return undefined
  const negated = source.match("^")
  const names = parsePropertyName(state)
  if (source.match(":]")) return { _tag: "Property", property: property(state, names, true, position), negated }
  source.position = position
  return undefined
}

const parseItem = (state: State): Member => {
  const { source } = state
  const position = source.position
  if (source.match("\\")) return parseSetEscape(state, position)
  const posix = posixClass(state)
  if (posix !== undefined) return posix
  const char = source.get()
  if (char === "") throw invalid("unterminated character set", source.position)
  return literal(char)
}

const parseMember = (state: State): ReadonlyArray<Member> => {
  const { source } = state
  const start = parseItem(state)
  if (start._tag === "Property" || !source.match("-")) return [start]
  const position = source.position
  if (source.match("]")) {
    source.position = position
    return [start, literal("-")]
  }
  const end = parseItem(state)
  if (end._tag === "Property") return [start, literal("-"), end]
  if (start.first > end.first) throw invalid("bad character range", source.position)
  return [{ _tag: "Range", first: start.first, last: end.first }]
}

/** A set, behind its bracket. */
export const parseSet = (state: State): CharSet => {
  const { source } = state
  const { ignoreBlanks } = source
  const start = source.position - 1
  source.ignoreBlanks = false
  const negated = source.match("^")
  const members = [...parseMember(state)]
  while (!source.match("]")) members.push(...parseMember(state))
  source.ignoreBlanks = ignoreBlanks
  const found = make(members, negated, reading(state))
  if (found === undefined) throw unsupported("a set without a property and its complement", start)
  return found
}
