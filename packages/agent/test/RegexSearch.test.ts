import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { Refusal } from "../src/internal/regex/refusal.ts"
import { search, sight } from "../src/internal/regex/search.ts"
import { translate } from "../src/internal/regex/translate.ts"

const patternOf = (pattern: string) => {
  const translation = translate(pattern)
  if (translation instanceof Refusal) return expect.fail(`${pattern}: ${translation.what}`)
  const { written } = translation
  return { written, standing: new Map<number, number>() }
}

/** The answer, and whether it was found without the pattern for any text. */
const ask = (source: string, text: string): readonly [found: boolean, short: boolean] => {
  const pattern: Parameters<typeof search>[0] = patternOf(source)
  const found = search(pattern, sight(text))
  return [found, pattern.full === undefined]
}

const piece = FastCheck.constantFrom(
  "order",
  "is",
  "\\b",
  "\\b",
  "\\B",
  "\\m",
  "\\M",
  "\\w+",
  "\\w*?",
  "\\d{2}",
  "\\s+",
  "\\W",
  "[\\w.+-]+",
  "@",
  "[^\\s/]+",
  "[a-z]+",
  ".*",
  "(?:or)?der",
  "(?:no|is|12)",
  "(\\w)(?:\\1)",
  "(?>or|o)",
  "\\w++",
  "[$€£]",
  "(?=o)",
  "(?<!r)",
  "^",
  "$",
  "é",
  "(?i:S)",
  "\\p{L}"
)
const pattern = FastCheck.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""))
const word = FastCheck.constantFrom(
  "order",
  "is",
  "12",
  "a@b.c",
  " ",
  "\n",
  "é",
  "ſ",
  "€",
  "’",
  "\u{1f600}",
  "\ud83d",
  "٣"
)
const text = FastCheck.array(word, { maxLength: 8 }).map((words) => words.join(""))

describe("a search", () => {
  it.prop("answers alike by whatever way", [pattern, text], ([pattern, text]) => {
    const translation = translate(pattern)
    if (translation instanceof Refusal) return
    const { written } = translation
    const any = new RegExp(written.source, written.flags).test(text)
    expect(search({ written, standing: new Map() }, sight(text))).toBe(any)
    expect(search({ written: { ...written, leaps: false }, standing: new Map() }, sight(text))).toBe(any)
  }, { fastCheck: { numRuns: 1_000 } })

  it("takes other characters for those of ASCII that the pattern does not tell them from", () => {
    expect(ask("\\b\\d{2}\\b", "naïve — 12 \u{1f600}")).toEqual([true, true])
    expect(ask("\\b\\d{2}\\b", "naïve — é12 \u{1f600}")).toEqual([false, true])
    expect(ask("\\d\\w\\d", "1é1")).toEqual([true, true])
    expect(ask("\\d\\w\\d", "1\u{1f600}1")).toEqual([false, true])
    expect(ask("\\s\\d", "\u00a01")).toEqual([true, true])
  })

  it("looks at the text itself where the pattern tells a character from all of ASCII", () => {
    expect(ask("\\w[é-ë]", "naïveté")).toEqual([true, false])
    expect(ask("\\d\\p{Greek}", "1é")).toEqual([false, true])
    expect(ask("\\d\\p{Greek}", "1α")).toEqual([true, false])
  })

  it("believes a reference only when nothing is found: two letters may have one in their place", () => {
    expect(ask("(\\w) \\1", "é é")).toEqual([true, false])
    expect(ask("(\\w) \\1", "é è")).toEqual([false, false])
    expect(ask("(\\w) \\1", "é-é")).toEqual([false, true])
  })

  it("ends early where what every match has is missing, in a text of any characters", () => {
    const [found] = ask("\\w+@\\w+", "é".repeat(300))
    expect(found).toBe(false)
    expect(patternOf("\\w+@\\w+").written.ascii.needle).toBe("\\x40")
    expect(patternOf("(?:\\d|x)+ refund").written.ascii.needle).toBe(" refund")
    // `ſ` is an `s`
    expect(patternOf("(?i)\\d+ is").written.ascii.needle).toBeUndefined()
  })

  it("reads a text with very many other characters as it is", () => {
    const many = Array.from({ length: 300 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("")
    expect(ask("\\w\\d", `${many}1`)).toEqual([true, false])
  })

  it("keeps only what decides whether there is a match", () => {
    const source = (pattern: string) => patternOf(pattern).written.ascii.source
    expect(source("[ab]+@.*")).toBe("[ab]\\x40")
    expect(source("(?:a*b)+c{2,}")).toBe("bc{2}")
    expect(source("a++b")).toContain("+")
    expect(source("x?y|z*")).toBe("")
  })
})
