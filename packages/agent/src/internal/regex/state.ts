/**
 * What the parts of the reader share: the flags, the names, and what anchors mean.
 *
 * @since 0.1.0
 */
import { checkName, type Names } from "./names.ts"
import { asciiWord, unicodeWord } from "./properties.ts"
import { invalid } from "./refusal.ts"
import type { Reading } from "./sets.ts"
import type { Source } from "./source.ts"
import type { Assert, Boundary } from "./tree.ts"

/** The flags that a part of a pattern is read with. */
export interface Flags {
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly dotAll: boolean
  readonly verbose: boolean
  readonly ascii: boolean
}

/** A reference that is resolved when all groups are known. */
export interface Pending {
  readonly _tag: "Ref"
  index: number
  readonly name: string
  readonly ignoreCase: boolean
  readonly position: number
}

/** What the parts of the reader share. */
export interface State {
  readonly source: Source
  readonly names: Names
  readonly pending: Array<Pending>
  flags: Flags
  depth: number
}

/** How the sets of this part of the pattern are read. */
export const reading = ({ flags }: State): Reading => flags

const assertion = (source: string, start = false): Assert => ({ _tag: "Assert", source, start })

/** What a position escape or an anchor asks for. */
export const assertions = {
  start: assertion("^", true),
  end: assertion("$"),
  endOrLastNewline: assertion("(?=\\n?$)"),
  lineStart: assertion("(?<![^\\n])"),
  lineEnd: assertion("(?![^\\n])")
}

const sourceOf = (letter: Boundary["letter"], word: string): string => {
  switch (letter) {
    case "b":
      return `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`
    case "B":
      return `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`
    case "m":
      return `(?<!${word})(?=${word})`
    case "M":
      return `(?<=${word})(?!${word})`
  }
}

/** The conditions on the words around a position, by the letter of their escape. */
export const wordAssertion = (letter: Boundary["letter"], ascii: boolean): Assert => {
  const word = ascii ? asciiWord : unicodeWord
  return { _tag: "Assert", source: sourceOf(letter, word), boundary: { letter, word }, start: false }
}

/** Passes the text, which must come next. */
export const expect = ({ source }: State, text: string): void => {
  if (!source.match(text)) throw invalid(`missing ${text}`, source.position)
}

/** A name up to a parenthesis or an angle bracket. */
export const parseName = ({ source }: State, numeric: boolean): string =>
  checkName(source.getWhile((char) => char !== ")" && char !== ">"), numeric, source.position)

/** A back-reference to what has that name or number. */
export const reference = (state: State, name: string, position: number): Pending => {
  const found: Pending = { _tag: "Ref", index: 0, name, ignoreCase: state.flags.ignoreCase, position }
  state.pending.push(found)
  return found
}
