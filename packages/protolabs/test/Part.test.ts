import { Part, Read } from "@effect-agentenv/protolabs"
import { expect, it } from "@effect/vitest"
import { FastCheck, Option } from "effect"

const flat = { data: { pier: 7 }, metadata: { mimeType: "application/x-demo" }, mediaType: "application/json" }

it("writes flat parts", () => {
  expect(Part.text("")).toEqual({ text: "" })
  expect(Part.data({ pier: 7 }, "application/x-demo")).toEqual(flat)
  expect(Part.data(null)).toEqual({ data: null, mediaType: "application/json" })
})

it("keeps the order of the wire's keys", () => {
  const file = { mediaType: "image/png", filename: "a.png", metadata: { a: 1 }, url: "https://example.test/a" }
  expect(Object.keys(Part.toFlat(file))).toEqual(["url", "metadata", "filename", "mediaType"])
  expect(Object.keys(Part.toCase(flat))).toEqual(["content", "metadata", "filename", "mediaType"])
})

it("rewrites files of A2A 0.3", () => {
  const file = { bytes: "AA==", name: "a.png", mimeType: "image/png" }
  expect(Part.toFlat({ kind: "file", file })).toEqual({ raw: "AA==", filename: "a.png", mediaType: "image/png" })
  expect(Part.toFlat({ kind: "file", file: { uri: "file:///a" } })).toEqual({ url: "file:///a" })
})

it.prop(
  "flat parts survive the other envelope",
  [FastCheck.jsonValue(), FastCheck.string()],
  ([payload, mimeType]) => {
    const part = Part.data(payload, mimeType)
    expect(Part.toFlat(Part.toCase(part))).toEqual(part)
  }
)

it("reads text in all envelopes, the empty one too", () => {
  for (const text of ["ahoy", ""]) {
    for (const part of [{ text }, { kind: "text", text }, { content: { $case: "text", value: text } }]) {
      expect(Part.readText(part)).toEqual(Read.present(text, "dataPart"))
    }
  }
  expect(Part.readText({ data: 1 })).toBe(Read.absent)
})

it("says where a text is no text", () => {
  expect(Part.readText({ content: { $case: "text", value: 12 }, text: "spare" })).toMatchObject({
    _tag: "Malformed",
    path: ["content", "value"]
  })
  expect(Part.readText({ text: 12 })).toMatchObject({ _tag: "Malformed", path: ["text"] })
  expect(Part.readText(null)).toMatchObject({ _tag: "Malformed", path: [] })
})

it("reads data in all envelopes, content.$case before the rest", () => {
  const read = (part: unknown) => Read.toOption(Part.readData(part))
  const expected = Option.some({ mimeType: "application/x-demo", payload: { pier: 7 } })
  expect(read(flat)).toEqual(expected)
  expect(read({ ...flat, kind: "data" })).toEqual(expected)
  expect(read({ ...flat, content: { $case: "data", value: { pier: 7 } }, data: 2 })).toEqual(expected)
  expect(read({ data: null })).toEqual(Option.some({ mimeType: undefined, payload: null }))
  expect(Part.readData({ data: 1, metadata: { mimeType: 7 } })).toMatchObject({ path: ["metadata", "mimeType"] })
})

it("reads nothing inherited", () => {
  const part = JSON.parse(
    "{\"__proto__\": {\"text\": \"x\", \"data\": 1}, \"metadata\": {\"__proto__\": {\"mimeType\": \"m\"}}}"
  )
  expect(Part.readText(part)).toBe(Read.absent)
  expect(Part.readData(part)).toBe(Read.absent)
  expect(Part.mime(part)).toEqual(Option.none())
})

it("puts texts together", () => {
  expect(Part.toText([Part.text("a"), Part.data({ text: "no" }), null, { kind: "text", text: "b" }])).toBe("ab")
})
