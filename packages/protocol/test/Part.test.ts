import * as Part from "@effect-agentenv/protocol/Part"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

const decode = Schema.decodeUnknown(Part.Part)

describe("Part", () => {
  it("is a plain object, with or without make (B-ENV-5)", () => {
    const literal: Part.DataPart = { kind: "data", data: { a: 1 } }
    expect(Part.DataPart.make({ data: { a: 1 } })).toEqual(literal)
    expect(Part.TextPart.make({ text: "hi" })).toEqual({ kind: "text", text: "hi" })
    expect(Part.FilePart.make({ file: { uri: "a" } })).toEqual({ kind: "file", file: { uri: "a" } })
    expectTypeOf(literal).toExtend<Part.Part>()
  })

  it.effect("reads null as absent, and drops what it doesn't know (B-ENV-5)", () =>
    Effect.gen(function*() {
      const part = yield* decode({
        kind: "file",
        file: { uri: "u", bytes: null, mimeType: null, name: null, other: 1 },
        metadata: null,
        other: 1
      })
      expect(Object.keys(part)).toEqual(["kind", "file"])
      expect(part).toStrictEqual({ kind: "file", file: { uri: "u" } })
    }))

  it.effect("prefers the bytes of a file that has both (B-ENV-5)", () =>
    Effect.gen(function*() {
      expect(yield* decode({ kind: "file", file: { bytes: "eA==", uri: "u" } })).toStrictEqual({
        kind: "file",
        file: { bytes: "eA==" }
      })
    }))

  it.effect("encodes without absent fields (B-CLI-1)", () =>
    Effect.gen(function*() {
      const encoded = yield* Schema.encode(Part.Part)({ kind: "text", text: "a" })
      expect(Object.keys(encoded)).toEqual(["kind", "text"])
    }))

  it.effect.each([
    { text: "no kind" },
    { kind: "smoke" },
    { kind: "text", text: 1 },
    { kind: "text", text: "a", metadata: [] },
    { kind: "data", data: [1] },
    { kind: "data", data: null },
    { kind: "data", data: "x" },
    { kind: "file", file: {} },
    { kind: "file", file: { bytes: null, uri: null } }
  ])("refuses %j (B-ENV-4)", (value) =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(decode(value)))._tag).toBe("ParseError")
    }))

  it.prop("round-trips every part", [Part.TextPart, Part.FilePart], ([text, file]) => {
    const there = Schema.encodeSync(Part.Part)
    const back = Schema.decodeUnknownSync(Part.Part)
    return [text, file].every((part) =>
      JSON.stringify(there(back(JSON.parse(JSON.stringify(there(part)))))) === JSON.stringify(there(part))
    )
  }, { fastCheck: { numRuns: 50 } })

  it("has types that refuse what the wire refuses", () => {
    // @ts-expect-error a data part holds an object
    const list: Part.DataPart = { kind: "data", data: [1] }
    // @ts-expect-error a file has bytes or a uri
    const empty: Part.FilePart = { kind: "file", file: {} }
    expect([list, empty]).toHaveLength(2)
  })
})
