/**
 * A pattern for texts of ASCII's characters alone, where V8 knows the classes and boundaries that Unicode's are there, and needs no flag `u`.
 * Other texts become such texts, where each character has one in ASCII that no set of the pattern tells from it.
 *
 * @since 0.1.0
 */
import { shorten } from "./boundaries.ts"
import { asciiSource, inAscii, isNarrow, ranges } from "./characters.ts"
import { type Dialect, emit } from "./emit.ts"
import { unicodeWord } from "./properties.ts"
import { anchored, type CharSet, children, type Node } from "./tree.ts"

/**
 * - `needle`: what every match has somewhere behind its beginning, in any text: it is found, or found missing, faster than a match.
 * - `wide`: the sets that have other characters than ASCII's.
 * - `stands`: by the sets in `wide` that have a character, `1` or `0` each, the character of ASCII that stands for it.
 * - `folding`: whether a text with such characters in the place of others is answered alike, or if it is only sure where nothing is found
 *   (two characters of one text may have the same), or neither.
 */
export interface Ascii {
  readonly source: string
  readonly flags: "" | "i"
  readonly needle: string | undefined
  readonly wide: ReadonlyArray<string>
  readonly stands: ReadonlyMap<string, number>
  readonly folding: "alike" | "unless found" | "not"
}

/** The most sets that are asked about each character of a text. */
const mostWide = 32

const boundaries = { b: "\\b", B: "\\B", m: "\\b(?=\\w)", M: "\\b(?!\\w)" } as const

const dialect: Dialect = {
  set: ({ source }) => asciiSource(source),
  assert: ({ boundary, source }) =>
    boundary === undefined ? source.replaceAll(unicodeWord, "\\w") : boundaries[boundary.letter]
}

const collect = (node: Node, sets: Set<string>): Set<string> => {
  if (node._tag === "Set") sets.add(node.source)
  if (node._tag === "Assert" && node.boundary !== undefined) sets.add(node.boundary.word)
  for (const child of children(node)) collect(child, sets)
  return sets
}

/** Letters and signs that patterns name seldom come first: one of them stands for most characters. */
const candidates = [..."_0z\x7f\x01~\x1f\t "].map((char) => char.charCodeAt(0))
const preferred = [...new Set([...candidates, ...Array.from({ length: 128 }, (_, code) => code)])]

const standsOf = (wide: ReadonlyArray<string>, narrow: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const has = wide.map(inAscii)
  const taken = narrow.map(inAscii)
  const found = new Map<string, number>()
  for (const code of preferred) {
    // the end of a line is told from all others by anchors
    if (code === 10 || taken.some((set) => set[code])) continue
    const signature = has.map((set) => set[code] ? "1" : "0").join("")
    if (!found.has(signature)) found.set(signature, code)
  }
  return found
}

/** Whether a reference is where the first way that is found is the only one that counts, or none may be. */
const committed = (node: Node, inside: boolean): boolean => {
  const within = inside || node._tag === "Look" || node._tag === "Atomic" ||
    (node._tag === "Repeat" && node.mode === "possessive")
  return (within && node._tag === "Ref") || children(node).some((child) => committed(child, within))
}

const hasRef = (node: Node): boolean => node._tag === "Ref" || children(node).some(hasRef)

const foldingOf = (tree: Node, ignoreCase: boolean): Ascii["folding"] => {
  if (ignoreCase) return "not"
  if (!hasRef(tree)) return "alike"
  return committed(tree, false) ? "not" : "unless found"
}

/** The sets that stand side by side in every match, with nothing where something else is between them. */
const required = (node: Node): ReadonlyArray<CharSet | undefined> => {
  switch (node._tag) {
    case "Set":
      return [node]
    case "Seq":
      return node.items.flatMap(required)
    case "Group":
    case "Atomic":
      return required(node.node)
    case "Repeat":
      return node.node._tag === "Set" && node.min === node.max && node.min <= 8
        ? Array.from({ length: node.min }, () => node.node as CharSet)
        : [undefined]
    case "Assert":
    case "Look":
      return []
    default:
      return [undefined]
  }
}

/** A character of ASCII, or a letter in both cases. */
const isSingle = ({ source }: CharSet): boolean => isNarrow(source) && inAscii(source).filter((has) => has).length <= 2

const isRare = ({ source }: CharSet): boolean =>
  !inAscii(source).some((has, code) => has && /[\w\s]/.test(String.fromCharCode(code)))

/**
 * The longest row of single characters, or a sign, if it is not where the pattern begins: V8 looks for that by itself. Shorter words are
 * in most texts.
 */
const needleOf = (row: ReadonlyArray<CharSet | undefined>): string | undefined => {
  let best: ReadonlyArray<CharSet> = []
  let from = 0
  for (let at = 0; at <= row.length; at++) {
    const node = row[at]
    if (node !== undefined && isSingle(node)) continue
    const some = row.slice(from, at) as ReadonlyArray<CharSet>
    if (from > 0 && some.length > best.length && (some.length >= 3 || some.some(isRare))) best = some
    from = at + 1
  }
  return best.length === 0 ? undefined : best.map(({ source }) => asciiSource(source)).join("")
}

/** The most characters of a set that V8 leaps to. */
const few = 4

const hasFew = ({ source }: CharSet): boolean =>
  (ranges(source)?.reduce((sum, [first, last]) => sum + last - first + 1, 0) ?? Infinity) <= few

/** How many characters in a row a match begins with that are in few variants. */
const beginning = (node: Node): number => {
  switch (node._tag) {
    case "Alt":
      return Math.min(...node.branches.map(beginning))
    case "Group":
    case "Atomic":
      return beginning(node.node)
    case "Seq": {
      const first = node.items.find((item) => item._tag !== "Assert" && item._tag !== "Look")
      if (first !== undefined && first._tag !== "Set") return beginning(first)
    }
  }
  const row = required(node)
  const end = row.findIndex((set) => set === undefined || !hasFew(set))
  return end < 0 ? row.length : end
}

/** Whether a match begins where the text does, or with what is so rare that V8 leaps from one such place to the next, in whatever text. */
export const beginsRarely = (tree: Node): boolean => {
  if (anchored(tree) || beginning(tree) >= 3) return true
  const [first] = required(tree)
  return first !== undefined && hasFew(first) && isRare(first)
}

/** Writes a tree for texts of ASCII's characters. */
export const toAscii = (tree: Node, groups: ReadonlySet<number>, ignoreCase: boolean): Ascii => {
  const sets = [...collect(tree, new Set())]
  const narrow = sets.filter(isNarrow)
  const wide = sets.filter((source) => !isNarrow(source))
  const folding = wide.length > mostWide ? "not" : foldingOf(tree, ignoreCase)
  return {
    source: emit(shorten(tree), groups, dialect),
    flags: ignoreCase ? "i" : "",
    // where case is ignored, sets have fewer characters than they match
    needle: ignoreCase ? undefined : needleOf(required(tree)),
    wide: folding === "not" ? [] : wide,
    stands: folding === "not" ? new Map() : standsOf(wide, narrow),
    folding
  }
}
