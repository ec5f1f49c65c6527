import * as Sse from "@effect-agentenv/client/Sse"
import { describe, expect, it } from "@effect/vitest"
import { Array, FastCheck, Order } from "effect"

const encoder = new TextEncoder()

const parse = (...chunks: ReadonlyArray<string | Uint8Array>): ReadonlyArray<Sse.Event> => {
  const parser = Sse.make()
  return chunks.flatMap((chunk) => parser.push(typeof chunk === "string" ? encoder.encode(chunk) : chunk))
}

const data = (...texts: ReadonlyArray<string>) => texts.map((data) => ({ event: "message", data }))

const piece = FastCheck.oneof(
  FastCheck.constantFrom(
    "data: a",
    "data:b",
    "data",
    ": a comment",
    "event: other",
    "id: 7",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "data: é🙂漢"
  ),
  FastCheck.string({ unit: "binary", maxLength: 4 })
)

const stream = FastCheck.array(piece, { maxLength: 40 }).map((pieces) => encoder.encode(pieces.join("")))

const cut = (bytes: Uint8Array, cuts: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const at = Array.sort(new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length]), Order.number)
  return at.slice(1).map((end, index) => bytes.slice(at[index], end))
}

describe("the event stream parser (B-TCL-4)", () => {
  it.prop(
    "reads the same events however the bytes are cut, even within characters and line ends",
    [stream, FastCheck.array(FastCheck.nat())],
    ([bytes, cuts]) => {
      const whole = parse(bytes)
      expect(parse(...cut(bytes, cuts))).toEqual(whole)
      expect(parse(...cut(bytes, Array.range(0, bytes.length)))).toEqual(whole)
    }
  )

  it.prop(
    "gives back any data, written line by line with any line end",
    [
      FastCheck.array(FastCheck.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\r\n]/g, "")), {
        minLength: 1
      }),
      FastCheck.constantFrom("\n", "\r\n", "\r")
    ],
    ([lines, end]) => {
      const written = lines.map((line) => `data: ${line}${end}`).join("") + end
      expect(parse(written)).toEqual(data(lines.join("\n")))
    }
  )

  it("skips comments, empty events and unknown fields", () => {
    expect(parse(": ping\n\n\n\nretry: 5\n\nevent: x\n\ndata: a\n\n")).toEqual(data("a"))
  })

  it("tells the id of an event, which holds until another one comes; an empty one is none, one with a NUL is skipped", () => {
    expect(parse("id: 3\n\ndata: a\n\nid:4\ndata: b\n\nid: \0\ndata: c\n\nid\ndata: d\n\n")).toEqual([
      { event: "message", data: "a", id: "3" },
      { event: "message", data: "b", id: "4" },
      { event: "message", data: "c", id: "4" },
      { event: "message", data: "d" }
    ])
  })

  it("joins the lines of an event and takes one space off each", () => {
    expect(parse("data: a\r\ndata:  b\rdata\ndata:c\n\n")).toEqual(data("a\n b\n\nc"))
  })

  it("names an event for itself alone", () => {
    expect(parse("event: other\ndata: a\n\ndata: b\n\n")).toEqual([{ event: "other", data: "a" }, ...data("b")])
  })

  it("drops an event that the end of the stream cuts", () => {
    expect(parse("data: a\n\ndata: b\n")).toEqual(data("a"))
  })

  it("ignores a byte order mark", () => {
    expect(parse(new Uint8Array([0xef, 0xbb]), new Uint8Array([0xbf]), "data: a\n\n")).toEqual(data("a"))
  })
})
