import * as Json from "@effect-agentenv/server/Json"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"

const bytes = (text: string) => new TextEncoder().encode(text)
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

describe("Json.parse", () => {
  it.prop("gives back any JSON value, from text and from bytes", [FastCheck.jsonValue()], ([value]) => {
    const text = JSON.stringify(value)
    expect(Json.parse(text)).toEqual({ ok: true, value: JSON.parse(text) })
    expect(Json.parse(bytes(text))).toEqual({ ok: true, value: JSON.parse(text) })
  })

  it("refuses what is not JSON", () => {
    for (const text of ["", "{", "nul", "{\"a\":1,}", "[1]x", "\ufeff{}", "NaN"]) {
      expect(Json.parse(text)).toEqual({ ok: false, reason: "malformed" })
    }
  })

  it("refuses bytes that are not UTF-8", () => {
    expect(Json.parse(Uint8Array.of(0x22, 0xff, 0x22))).toEqual({ ok: false, reason: "utf8" })
    // half a surrogate pair, encoded raw
    expect(Json.parse(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))).toEqual({ ok: false, reason: "utf8" })
  })

  it("nests to the limit and no further", () => {
    expect(Json.parse(nested(Json.maxDepth)).ok).toBe(true)
    expect(Json.parse(nested(Json.maxDepth + 1))).toEqual({ ok: false, reason: "too-deep" })
    expect(Json.parse("{\"a\":".repeat(100_000) + "1" + "}".repeat(100_000))).toEqual({ ok: false, reason: "too-deep" })
  })

  it("does not count brackets inside strings, whatever is escaped there", () => {
    const value = {
      text: "[".repeat(5_000),
      quoted: "\\\"[".repeat(2_000),
      wide: Array.from({ length: 2_000 }, () => [])
    }
    expect(Json.parse(JSON.stringify(value))).toEqual({ ok: true, value })
    expect(Json.parse(`"${"[".repeat(5_000)}`)).toEqual({ ok: false, reason: "malformed" })
  })

  it("names the place of half a surrogate pair, in values and in keys", () => {
    expect(Json.parse("\"\\ud800\"")).toEqual({ ok: false, reason: "surrogate", path: "" })
    expect(Json.parse("{\"params\":{\"items\":[1,{\"name\":\"a\\uDC00\"}]}}"))
      .toEqual({ ok: false, reason: "surrogate", path: "params.items[1].name" })
    expect(Json.parse("{\"a\":{\"k\\ud83d\":1}}")).toEqual({ ok: false, reason: "surrogate", path: "a.k\uFFFD" })
  })

  it("accepts whole pairs and escaped escapes", () => {
    expect(Json.parse("\"\\ud83d\\ude00\"")).toEqual({ ok: true, value: "😀" })
    expect(Json.parse("\"\\\\ud800\"")).toEqual({ ok: true, value: "\\ud800" })
  })
})
