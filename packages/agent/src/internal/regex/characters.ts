/**
 * Which characters sets have, found out from their sources.
 *
 * @since 0.1.0
 */
import { unicodeWord } from "./properties.ts"
import { escape } from "./sets.ts"

/** Remembers what it was asked last. */
const remembering = <A>(make: (source: string) => A): (source: string) => A => {
  const known = new Map<string, A>()
  return (source) => {
    const found = known.get(source)
    if (found !== undefined) return found
    const made = make(source)
    if (known.size >= 2_048) known.clear()
    // a set of very many characters is not worth its place
    if (source.length <= 1_024) known.set(source, made)
    return made
  }
}

const unit = "[0-9A-Za-z ]|\\\\u\\{[0-9a-f]+\\}"

const few = new RegExp(`^(?:(?:${unit})|\\[(?:(?:${unit})(?:-(?:${unit}))?)+\\])$`)

const range = new RegExp(`(${unit})(?:-(${unit}))?`, "g")

const codeOf = (written: string): number =>
  written.startsWith("\\") ? Number.parseInt(written.slice(3, -1), 16) : written.charCodeAt(0)

/** The ranges of a set that is written as characters and ranges, and nothing where it is written otherwise. */
export const ranges = (source: string): ReadonlyArray<readonly [first: number, last: number]> | undefined => {
  if (!few.test(source)) return undefined
  return Array.from(source.matchAll(range), ([, first, last]) => [codeOf(first!), codeOf(last ?? first!)] as const)
}

/** The most characters of a set that are looked at one by one. */
const most = 512

const isWord = new RegExp(unicodeWord, "u")

/** What all characters of a set are: of words, or not, or `undefined` where they are both or it is not known. */
export const wordness: (source: string) => boolean | undefined = (() => {
  const find = remembering((source: string): { readonly word: boolean | undefined } => {
    switch (source) {
      case unicodeWord:
      case "[\\p{Nd}]":
        return { word: true }
      case `[^${unicodeWord.slice(1)}`:
      case "[\\p{White_Space}]":
        return { word: false }
    }
    let all: boolean | undefined
    let left = most
    for (const [first, last] of ranges(source) ?? [[0, most]]) {
      left -= last - first + 1
      if (left < 0) return { word: undefined }
      for (let code = first; code <= last; code++) {
        const word = isWord.test(String.fromCodePoint(code))
        if (all !== undefined && word !== all) return { word: undefined }
        all = word
      }
    }
    return { word: all }
  })
  return (source) => find(source).word
})()

const allAscii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))

/** Which of ASCII's characters a set has. */
export const inAscii: (source: string) => ReadonlyArray<boolean> = remembering((source) => {
  const set = new RegExp(source, "u")
  return allAscii.map((char) => set.test(char))
})

/** Whether a set has ASCII's characters alone, as far as its source tells. */
export const isNarrow = (source: string): boolean => ranges(source)?.every(([, last]) => last < 128) ?? false

const hex = (code: number): string =>
  escape(code).length === 1 ? String.fromCharCode(code) : `\\x${code.toString(16).padStart(2, "0")}`

const runs = (wanted: boolean, has: ReadonlyArray<boolean>): string => {
  let written = ""
  for (let code = 0; code < 128; code++) {
    if (has[code] !== wanted) continue
    const first = code
    while (code < 127 && has[code + 1] === wanted) code++
    written += first === code ? hex(code) : `${hex(first)}${code === first + 1 ? "" : "-"}${hex(code)}`
  }
  return written
}

/** A set as it is written where a text has ASCII's characters alone: what it says of others does not count. */
export const asciiSource: (source: string) => string = remembering((source) => {
  const has = inAscii(source)
  const inside = runs(true, has)
  if (inside.length <= 1 || /^\\x..$/.test(inside)) return inside === "" ? "[]" : inside
  const outside = runs(false, has)
  return inside.length <= outside.length ? `[${inside}]` : `[^${outside}]`
})
