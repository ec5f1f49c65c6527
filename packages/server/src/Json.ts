/**
 * Reading JSON off the wire: strict about what would break a peer further on, nearly free for a small good body.
 *
 * @since 0.1.0
 */
import { isUtf8 } from "node:buffer"

/**
 * What came of parsing. `malformed` is not JSON; `utf8` is not valid UTF-8; `too-deep` nests more than `maxDepth` arrays
 * and objects; `surrogate` holds half a surrogate pair (an escape such as `\ud800` alone), which no UTF-8 text can carry
 * on, at `path` (`params.items[2].name`; `""` is the root).
 *
 * @since 0.1.0
 * @category models
 */
export type Result =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: "malformed" | "utf8" | "too-deep" }
  | { readonly ok: false; readonly reason: "surrogate"; readonly path: string }

/**
 * How deep arrays and objects may nest: 512, far from where recursive decoders overflow the stack.
 *
 * @since 0.1.0
 * @category constructors
 */
export const maxDepth: number = 512

const malformed: Result = { ok: false, reason: "malformed" }
const invalidUtf8: Result = { ok: false, reason: "utf8" }
const tooDeep: Result = { ok: false, reason: "too-deep" }

const surrogateEscape = /\\u[dD][89a-fA-F]/
const loneSurrogate = /[\uD800-\uDFFF]/u
const loneSurrogates = /[\uD800-\uDFFF]/gu

/**
 * Parses a body: its bytes, which must be valid UTF-8, or a text.
 *
 * @since 0.1.0
 * @category combinators
 */
export const parse = (input: string | Uint8Array): Result => {
  let text: string
  if (typeof input === "string") {
    text = input
  } else {
    if (!isUtf8(input)) return invalidUtf8
    text = Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString()
  }
  // A short text can't both be valid and nest deeper than the limit: each level takes two characters.
  if (text.length > 2 * maxDepth && isTooDeep(text)) return tooDeep
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return malformed
  }
  if (surrogateEscape.test(text)) {
    const path = findLoneSurrogate(value, "")
    if (path !== undefined) return { ok: false, reason: "surrogate", path }
  }
  return { ok: true, value }
}

const quote = 0x22
const backslash = 0x5c

// Counts brackets outside of strings; strings are skipped from quote to quote.
const isTooDeep = (text: string): boolean => {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) {
      i = endOfString(text, i)
      if (i < 0) return false
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) return true
    } else if (code === 0x5d || code === 0x7d) {
      depth--
    }
  }
  return false
}

// The index of the quote that closes the string opened at `start`; negative when none does.
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf("\"", start + 1)
  while (end > 0) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return end
    end = text.indexOf("\"", end + 1)
  }
  return -1
}

const findLoneSurrogate = (value: unknown, path: string): string | undefined => {
  if (typeof value === "string") return loneSurrogate.test(value) ? path : undefined
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = findLoneSurrogate(value[i], `${path}[${i}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, child] of Object.entries(value)) {
    const at = path === "" ? key : `${path}.${key}`
    // The path travels in an error message, so the broken key is shown with a replacement character.
    if (loneSurrogate.test(key)) return at.replace(loneSurrogates, "\uFFFD")
    const found = findLoneSurrogate(child, at)
    if (found !== undefined) return found
  }
  return undefined
}
