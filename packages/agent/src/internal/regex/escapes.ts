/**
 * Reads escapes, inside of sets and outside.
 *
 * @since 0.1.0
 */
import { escapes, lookUp, type Property } from "./properties.ts"
import { invalid, Refusal, unsupported } from "./refusal.ts"
import { character, make, type Member } from "./sets.ts"
import { assertions, parseName, reading, reference, type State, wordAssertion } from "./state.ts"
import type { Node } from "./tree.ts"

const hexLengths = new Map([["x", 2], ["u", 4], ["U", 8]])

const controls = new Map([["a", 7], ["b", 8], ["f", 12], ["n", 10], ["r", 13], ["t", 9], ["v", 11]])

const range = (code: number): Member => ({ _tag: "Range", first: code, last: code })

const hex = ({ source }: State, letter: string, length: number): Member => {
  const position = source.position
  let digits = ""
  while (digits.length < length) {
    const char = source.get()
    if (!/^[0-9A-Fa-f]$/.test(char)) throw invalid(`incomplete escape \\${letter}`, position)
    digits += char
  }
  const code = Number.parseInt(digits, 16)
  if (code >= 0x110000) throw invalid(`bad hex escape \\${letter}`, position)
  return range(code)
}

const octal = ({ source }: State, first: string): Member => {
  let digits = first
  for (;;) {
    const position = source.position
    const char = source.get()
    if (digits.length >= 3 || !/^[0-7]$/.test(char)) {
      source.position = position
      break
    }
    digits += char
  }
  if (!/^[0-7]/.test(first)) throw invalid("bad escape", source.position)
  return range(Number.parseInt(digits, 8))
}

const propertyNamePart = (char: string): boolean => /^[0-9A-Za-z &_.-]$/.test(char)

/** A name, and what it is qualified by. */
export const parsePropertyName = (state: State): readonly [qualifier: string | undefined, name: string] => {
  const { source } = state
  const first = source.getWhile(propertyNamePart)
  const position = source.position
  const char = source.get()
  if (char === ":" || char === "=") {
    const second = source.getWhile((char) => /^[0-9A-Za-z &_./-]$/.test(char)).trim()
    if (second !== "") return [first, second]
  }
  source.position = position
  return [undefined, first]
}

/** The property of a name; one that is not known here may be known to Python. */
export const property = (
  { flags }: State,
  names: readonly [qualifier: string | undefined, name: string],
  posix: boolean,
  position: number
): Property => {
  const found = lookUp(names[0], names[1], posix)
  if (found === undefined) throw unsupported("a property of this name", position)
  // what it means depends on what else the pattern may begin with
  if (found.ofCase && flags.ignoreCase) throw unsupported("a property of case where case is ignored", position)
  return found
}

const parseProperty = (state: State, letter: string, start: number): Member => {
  const { source } = state
  const position = source.position
  const char = source.get()
  if (char === "{") {
    const negated = source.match("^")
    const names = parsePropertyName(state)
    if (source.match("}")) {
      return { _tag: "Property", property: property(state, names, false, start), negated: (letter === "P") !== negated }
    }
  } else if (/^[CLMNPSZ]$/.test(char)) {
    return { _tag: "Property", property: property(state, [undefined, char], false, start), negated: letter === "P" }
  }
  source.position = position
  return range(letter.codePointAt(0)!)
}

const namedCharacter = (state: State, start: number): Member => {
  const { source } = state
  const position = source.position
  if (source.match("{")) {
    while (/^[0-9A-Za-z -]$/.test(source.chars[source.position] ?? "")) source.position++
    if (source.match("}")) throw unsupported("a character by its name", start)
  }
  source.position = position
  return range(0x4e)
}

/** What stands for a character in a set and outside alike. */
const parseMember = (state: State, char: string, start: number): Member => {
  const length = hexLengths.get(char)
  if (length !== undefined) return hex(state, char, length)
  if (char === "N") return namedCharacter(state, start)
  if (char === "p" || char === "P") return parseProperty(state, char, start)
  if (/^[A-Za-z]$/.test(char)) {
    const known = escapes.get(char.toLowerCase())
    // there is no \H
    if (known !== undefined && char !== "H") return { _tag: "Property", property: known, negated: /[A-Z]/.test(char) }
    const control = controls.get(char)
    if (control === undefined) throw invalid(`bad escape \\${char}`, state.source.position)
    return range(control)
  }
  return /^[0-9]$/.test(char) ? octal(state, char) : range(char.codePointAt(0)!)
}

const next = ({ source }: State): string => {
  const { ignoreBlanks } = source
  source.ignoreBlanks = false
  const char = source.get()
  source.ignoreBlanks = ignoreBlanks
  if (char === "") throw invalid("bad escape (end of pattern)", source.position)
  return char
}

/** An escape in a set, behind its backslash. */
export const parseSetEscape = (state: State, start: number): Member => parseMember(state, next(state), start)

const one = (state: State, member: Member): Node =>
  member._tag === "Range" ? character(member.first, reading(state)) : make([member], false, reading(state))!

/** `\12` refers to a group and `\123` is a character. */
const numeric = (state: State, first: string): Node => {
  const { names, source } = state
  let digits = first
  let position = source.position
  let char = source.get()
  if (/^[0-9]$/.test(char)) {
    digits += char
    position = source.position
    char = source.get()
    if (/^[0-7]{2}$/.test(digits) && /^[0-7]$/.test(char)) {
      return character(Number.parseInt(digits + char, 8) & (state.flags.ascii ? 0xff : 0x1ff), reading(state))
    }
  }
  source.position = position
  if (names.isOpen(digits)) throw invalid("cannot refer to an open group", position)
  return reference(state, digits, position)
}

/** `\g` that refers to no group is a `g`. */
const groupReference = (state: State): Node => {
  const { names, source } = state
  const position = source.position
  try {
    if (source.match("<")) {
      const start = source.position
      const name = parseName(state, true)
      if (source.match(">") && !names.isOpen(name)) return reference(state, name, start)
    }
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === "unsupported") throw error
  }
  source.position = position
  return character(0x67, reading(state))
}

const asWritten = { ignoreCase: false, ascii: false }

const lineBreak: Node = {
  _tag: "Alt",
  branches: [
    { _tag: "Seq", items: [character(13, asWritten), character(10, asWritten)] },
    make(
      [{ _tag: "Range", first: 10, last: 13 }, range(0x85), { _tag: "Range", first: 0x2028, last: 0x2029 }],
      false,
      asWritten
    )!
  ]
}

/** An escape outside of sets, behind its backslash. */
export const parseEscape = (state: State, start: number): Node => {
  const char = next(state)
  switch (char) {
    case "g":
      return groupReference(state)
    case "A":
    case "G":
      return assertions.start
    case "Z":
    case "z":
      return assertions.end
    case "K":
      // Python's search goes wrong behind one that it takes back
      throw unsupported("\\K", start)
    case "b":
    case "B":
    case "m":
    case "M":
      return wordAssertion(char, state.flags.ascii)
    case "L":
      throw unsupported("a named list", start)
    case "X":
      throw unsupported("a grapheme (\\X)", start)
    case "R":
      return { _tag: "Atomic", node: lineBreak, position: start }
    default:
      return /^[1-9]$/.test(char) ? numeric(state, char) : one(state, parseMember(state, char, start))
  }
}
