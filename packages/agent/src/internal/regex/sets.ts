/**
 * Sets of characters as JavaScript writes them.
 *
 * @since 0.1.0
 */
import { missingFromProperty, missingFromRange } from "./casing.ts"
import type { Property } from "./properties.ts"
import type { CharSet } from "./tree.ts"

/** What a set is made of. */
export type Member =
  | { readonly _tag: "Range"; readonly first: number; readonly last: number }
  | { readonly _tag: "Property"; readonly property: Property; readonly negated: boolean }

/** How a set is read: with every case variant of what it has, with ASCII alone for properties and variants. */
export interface Reading {
  readonly ignoreCase: boolean
  readonly ascii: boolean
}

/** A character, in a class and outside. */
export const escape = (code: number): string =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x20
    ? String.fromCharCode(code)
    : `\\u{${code.toString(16)}}`

const always = () => true

const fixed = (source: string): CharSet => ({ _tag: "Set", source, closed: always, negated: false, ignoreCase: false })

/** Any character. */
export const anything: CharSet = fixed("[^]")

/** Any character but the end of a line. */
export const notNewline: CharSet = fixed("[^\\n]")

/** No character at all. */
export const nothing: CharSet = fixed("[]")

const inAscii = new Map<string, string>()

/** A property where only ASCII counts: every other character is taken for one that Unicode has not assigned. */
const asciiOf = (inner: string): string => {
  let found = inAscii.get(inner)
  if (found === undefined) {
    const has = new RegExp(`[${inner}]`, "u")
    found = has.test("\u0378") ? "\\x80-\\u{10ffff}" : ""
    for (let code = 0; code < 128; code++) if (has.test(String.fromCharCode(code))) found += escape(code)
    inAscii.set(inner, found)
  }
  return found
}

const innerOf = (member: Member, ascii: boolean): string => {
  if (member._tag === "Range") {
    const first = escape(member.first)
    return member.first === member.last ? first : `${first}-${escape(member.last)}`
  }
  return ascii ? asciiOf(member.property.inner) : member.property.inner
}

const variantsOf = (member: Member, inner: string, ascii: boolean): ReadonlyArray<number> =>
  member._tag === "Range" ? missingFromRange(member.first, member.last, ascii) : missingFromProperty(inner, ascii)

const outsideOf = (part: string): string => part.startsWith("[^") ? `[${part.slice(2)}` : `[^${part.slice(1)}`

/** Joins classes that may overlap so that a character is matched in one way only: two ways double the work at every turn of a loop. */
const union = (parts: ReadonlyArray<string>): string =>
  `(?:${parts.map((part, i) => i === 0 ? part : `(?!${parts.slice(0, i).join("|")})${part}`).join("|")})`

/**
 * The set of those members, or what is outside of it; nothing where Python cannot tell what is outside of a property and its complement.
 * A negative member has what no variant of a character is in.
 */
export const make = (members: ReadonlyArray<Member>, negated: boolean, reading: Reading): CharSet | undefined => {
  const { ascii, ignoreCase } = reading
  const ranges: Array<string> = []
  const inside = new Map<string, string>()
  const outside = new Map<string, string>()
  for (const member of members) {
    const inner = innerOf(member, ascii)
    const whole = ignoreCase ? inner + variantsOf(member, inner, ascii).map(escape).join("") : inner
    if (member._tag === "Range") ranges.push(whole)
    else (member.negated ? outside : inside).set(inner, whole)
  }
  for (const inner of outside.keys()) if (inside.has(inner)) return negated ? undefined : anything
  const [property, another] = [...inside.keys(), ...outside.keys()]
  const alone = property !== undefined && another === undefined && ranges.length === 0 ? property : undefined
  const positive = [...ranges, ...inside.values()]
  const parts = [
    ...(positive.length === 0 ? [] : [`[${alone ?? positive.join("")}]`]),
    // a property that stands alone has no variants
    ...[...outside.values()].map((whole) => `[^${alone ?? whole}]`)
  ]
  const all = () => members.every((member) => variantsOf(member, innerOf(member, ascii), false).length === 0)
  return {
    _tag: "Set",
    source: parts.length === 1
      ? negated ? outsideOf(parts[0]!) : parts[0]!
      : negated
      ? `(?:(?!${parts.join("|")})[^])`
      : union(parts),
    closed: ignoreCase && !ascii && alone === undefined ? always : all,
    negated: negated || outside.size > 0,
    ignoreCase
  }
}

/** One character. */
export const character = (code: number, { ascii, ignoreCase }: Reading): CharSet => {
  const source = escape(code)
  const variants = ignoreCase ? missingFromRange(code, code, ascii) : []
  return {
    _tag: "Set",
    source: variants.length === 0 ? source : `[${source}${variants.map(escape).join("")}]`,
    closed: ignoreCase && !ascii ? always : () => missingFromRange(code, code, false).length === 0,
    negated: false,
    ignoreCase
  }
}

/** One of several sets. */
export const either = (sets: ReadonlyArray<CharSet>): CharSet => {
  const sources = [...new Set(sets.map(({ source }) => source))]
  if (sources.length === 1) return sets[0]!
  const classes = sources.every((source) => !source.startsWith("(?:") && !source.startsWith("[^"))
  return fixed(
    classes
      ? `[${sources.map((source) => source.startsWith("[") ? source.slice(1, -1) : source).join("")}]`
      : union(sources)
  )
}
