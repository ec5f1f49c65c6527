/**
 * Searches a text for a pattern by the shortest way that it and the text allow.
 *
 * @since 0.1.0
 */
import type { Ascii } from "./ascii.ts"

/** A pattern in JavaScript: for any text, and for those of ASCII's characters. `leaps`: it is found as fast in any text. */
export interface Written {
  readonly source: string
  readonly flags: "u" | "iu"
  readonly leaps: boolean
  readonly ascii: Ascii
}

/** A pattern, and what was compiled of it; `standing`: by character, the one that stands for it, or -1. */
export interface Pattern {
  readonly written: Written
  full?: RegExp
  short?: RegExp
  needle?: RegExp
  wide?: ReadonlyArray<RegExp>
  readonly standing: Map<number, number>
}

/**
 * A text that is searched for several patterns, and what is known of it: whether it has ASCII's characters alone; else a byte for each of
 * its characters, which at `places` is a number of `others`, unless these are too many; and the texts that were made of it, by the
 * characters that stand for the others.
 */
export interface Sight {
  readonly text: string
  ascii?: boolean
  bytes?: Uint8Array | undefined
  readonly others: Array<number>
  readonly places: Array<number>
  readonly made: Map<string, string>
}

/** A text to search. */
export const sight = (text: string): Sight => ({ text, others: [], places: [], made: new Map() })

/**
 * Whether a pattern is found. `Buffer` makes strings of one byte a character, which V8 searches fastest. A worker runs this from its source
 * text: it must not refer to anything outside of it but globals, nor define functions of its own.
 */
export const search = (pattern: Pattern, sight: Sight): boolean => {
  const { ascii, flags, leaps, source } = pattern.written
  const { others, places, text } = sight
  if (ascii.needle !== undefined && !(pattern.needle ??= new RegExp(ascii.needle)).test(text)) return false
  if (leaps && sight.ascii !== true) return (pattern.full ??= new RegExp(source, flags)).test(text)
  let searched: string | undefined
  if (sight.ascii === undefined) sight.ascii = !/[^\0-\x7f]/.test(text)
  if (sight.ascii) searched = text
  else if (ascii.folding !== "not") {
    if (!("bytes" in sight)) {
      const numbers = new Map<number, number>()
      const bytes = Buffer.from(text, "latin1")
      const other = /[^\0-\x7f]/g
      let length = 0
      let at = 0
      while (at < text.length && others.length <= 128) {
        // where others are few, one leaps to the next, and where they are many it is not far
        const near = Math.min(at + 16, text.length)
        let end = at
        while (end < near && text.charCodeAt(end) < 128) end++
        if (end === near) {
          other.lastIndex = end
          end = other.test(text) ? other.lastIndex - 1 : text.length
        }
        if (length < at) bytes.copyWithin(length, at, end)
        length += end - at
        at = end
        if (at < text.length) {
          const code = text.codePointAt(at)!
          let number = numbers.get(code)
          if (number === undefined) {
            number = others.length
            numbers.set(code, number)
            others.push(code)
          }
          places.push(length)
          bytes[length++] = number
          at += code > 0xffff ? 2 : 1
        }
      }
      sight.bytes = others.length > 128 ? undefined : bytes.subarray(0, length)
    }
    const { bytes } = sight
    if (bytes !== undefined) {
      let key = ""
      for (let at = 0; at < others.length; at++) {
        let stands = pattern.standing.get(others[at]!)
        if (stands === undefined) {
          if (pattern.wide === undefined) {
            const wide: Array<RegExp> = []
            for (let i = 0; i < ascii.wide.length; i++) wide.push(new RegExp(ascii.wide[i]!, "u"))
            pattern.wide = wide
          }
          const char = String.fromCodePoint(others[at]!)
          let signature = ""
          for (let i = 0; i < pattern.wide.length; i++) signature += pattern.wide[i]!.test(char) ? "1" : "0"
          stands = ascii.stands.get(signature) ?? -1
          if (pattern.standing.size >= 1_024) pattern.standing.clear()
          pattern.standing.set(others[at]!, stands)
        }
        if (stands === -1) break
        key += String.fromCharCode(stands)
      }
      if (key.length === others.length) {
        searched = sight.made.get(key)
        if (searched === undefined) {
          const written = Buffer.from(bytes)
          for (let i = 0; i < places.length; i++) {
            const at = places[i]!
            written[at] = key.charCodeAt(bytes[at]!)
          }
          const made = written.toString("latin1")
          if (sight.made.size >= 16) sight.made.clear()
          sight.made.set(key, made)
          searched = made
        }
      }
    }
  }
  if (searched !== undefined) {
    const found = (pattern.short ??= new RegExp(ascii.source, ascii.flags)).test(searched)
    if (!found || sight.ascii || ascii.folding === "alike") return found
  }
  return (pattern.full ??= new RegExp(source, flags)).test(text)
}

/** Compiles all ways to search, or throws. A worker runs this, too. */
export const compileAll = ({ written: { ascii, flags, source } }: Pattern): void => {
  new RegExp(source, flags).test("")
  new RegExp(ascii.source, ascii.flags).test("")
}
