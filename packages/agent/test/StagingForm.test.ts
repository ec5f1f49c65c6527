import { Staging, StagingError } from "@effect-agentenv/agent"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Effect, FastCheck, Order, Stream } from "effect"
import { filesBelow, id, open, read } from "./support.ts"

/** A body that arrives in pieces, cut at these places. */
const pieces = (body: Uint8Array, at: ReadonlyArray<number>) => {
  const cuts = Arr.sort(new Set([0, ...at.filter((at) => at < body.length), body.length]), Order.number)
  return Stream.fromIterable(cuts.slice(1).map((to, i) => body.subarray(cuts[i], to)))
}

interface Part {
  readonly head: string
  readonly value?: string
}

const field = (name: string, value: string, more = ""): Part => ({
  head: `Content-Disposition: form-data; name="${name}"${more}`,
  value
})
const key = field("key", "000001.tar")
const file = field("file", "tar\r\nbytes", "; filename=\"f\"")

const encode = (parts: ReadonlyArray<Part>, end = "--kiln--\r\n") =>
  Buffer.from(parts.map(({ head, value = "" }) => `--kiln\r\n${head}\r\n\r\n${value}\r\n`).join("") + end, "latin1")

const contentType = "multipart/form-data; boundary=kiln"

const post = (
  body: Uint8Array,
  options: { readonly contentType?: string | undefined; readonly cut?: ReadonlyArray<number> } = {}
) =>
  Effect.gen(function*() {
    const { directory, staging } = yield* open(1_000_000)
    const content = pieces(body, options.cut ?? [])
    const stored = yield* Staging.post(`${id}/log`, {
      content,
      contentType: "contentType" in options ? options.contentType : contentType
    }).pipe(
      Effect.provideService(Staging.Staging, staging),
      Effect.tapErrorCause(() => Effect.map(filesBelow(directory), (files) => expect(files).toEqual([])))
    )
    return [stored.path.slice(id.length + 1), yield* read((yield* staging.get(stored.path)).content)] as const
  })

const refused = (body: Uint8Array, options?: Parameters<typeof post>[1]) =>
  Effect.map(Effect.flip(post(body, options)), (error) => {
    expect(error).toBeInstanceOf(StagingError.StagingError)
    return `${error.status} ${error.reason}`
  })

describe("a form (B-STG-10)", () => {
  const good: Record<string, readonly [ReadonlyArray<Part>, readonly [string, string]]> = {
    "stores its file under its key": [[key, file], ["log/000001.tar", "tar\r\nbytes"]],
    "needs no file name": [[key, field("file", "data")], ["log/000001.tar", "data"]],
    "may have an empty file": [[key, field("file", "", "; filename=\"f\"")], ["log/000001.tar", ""]],
    "takes the last of two keys": [[key, field("key", "b"), file], ["log/b", "tar\r\nbytes"]],
    "may have a key with folders": [[field("key", "a/b"), file], ["log/a/b", "tar\r\nbytes"]],
    "does not decode its key again": [[field("key", "%2e%2e"), file], ["log/%2e%2e", "tar\r\nbytes"]],
    "ignores fields of other names": [[field("policy", "x"), key, field("x", ""), file], [
      "log/000001.tar",
      "tar\r\nbytes"
    ]],
    "ignores what follows the file": [[key, file, field("file", "two"), { head: "nonsense" }], [
      "log/000001.tar",
      "tar\r\nbytes"
    ]],
    "may have 32 fields": [
      [...Array.from({ length: 31 }, (_, i) => field(`f${i}`, "")), key, file],
      ["log/000001.tar", "tar\r\nbytes"]
    ],
    "may have a field of 64 KiB": [[field("a", "x".repeat(65_536)), key, file], ["log/000001.tar", "tar\r\nbytes"]]
  }
  for (const [name, [parts, stored]] of Object.entries(good)) {
    it.scoped(name, () =>
      Effect.gen(function*() {
        expect(yield* post(encode(parts))).toEqual(stored)
      }))
  }

  const bad: Record<string, ReadonlyArray<Part>> = {
    "without a file": [key],
    "without a key": [file],
    "with its key after the file": [file, key],
    "with an unnamed field": [{ head: "Content-Disposition: form-data", value: "x" }, key, file],
    "with a field of an empty name": [field("", "x"), key, file],
    "with a part that says nothing of itself": [{ head: "Content-Type: text/plain", value: "x" }, key, file],
    "with more than 32 fields": [...Array.from({ length: 32 }, (_, i) => field(`f${i}`, "")), key, file],
    "with a field over 64 KiB": [field("a", "x".repeat(65_537)), key, file],
    "with headers over 16 KiB": [
      { head: `Content-Disposition: form-data; name="a"\r\nX: ${"y".repeat(17_000)}` },
      key,
      file
    ],
    "with a key that is not UTF-8": [field("key", "\xff"), file],
    "with a file name that is not decodable": [field("a", "x", "; filename*=utf-8''%ff"), key, file]
  }
  for (const [name, parts] of Object.entries(bad)) {
    it.scoped(`${name} is refused, and nothing stays`, () =>
      Effect.gen(function*() {
        expect(yield* refused(encode(parts))).toBe("400 InvalidForm")
      }))
  }

  for (const value of ["", "../x", "/x", "a//b", "a/", "a\\b", "a\0", "..", "k".repeat(1000)]) {
    it.scoped(`with the key ${JSON.stringify(value.slice(0, 10))} is refused`, () =>
      Effect.gen(function*() {
        expect(yield* refused(encode([field("key", value), file]))).toBe("400 InvalidPath")
      }))
  }

  for (
    const type of [
      undefined,
      "",
      "text/plain",
      "multipart/mixed; boundary=kiln",
      "multipart/form-data",
      "multipart/form-data; boundary=",
      "multipart/form-data; boundary=\"\"",
      `multipart/form-data; boundary=${"k".repeat(71)}`,
      "multipart/form-data; boundary=\"ki\\ln\""
    ]
  ) {
    it.scoped(`of the type ${type?.slice(0, 60)} is refused`, () =>
      Effect.gen(function*() {
        expect(yield* refused(encode([key, file]), { contentType: type })).toBe("400 InvalidForm")
      }))
  }

  it.scoped("may quote its boundary and write its type in capitals", () =>
    Effect.gen(function*() {
      const type = "Multipart/Form-Data; charset=utf-8; Boundary=\"kiln\""
      expect(yield* post(encode([key, file]), { contentType: type })).toEqual(["log/000001.tar", "tar\r\nbytes"])
    }))

  for (
    const [name, body] of Object.entries({
      "that is empty": Buffer.from(""),
      "that is garbage": Buffer.from("garbage"),
      "that has something before its first boundary": Buffer.concat([Buffer.from("junk\r\n"), encode([key, file])]),
      "that ends within its file": encode([key, file], "").subarray(0, -2),
      "that ends after its file without a boundary": encode([key, file], ""),
      "that ends within the boundary after its file": encode([key, file], "--kil")
    })
  ) {
    it.scoped(`${name} is refused`, () =>
      Effect.gen(function*() {
        expect(yield* refused(body)).toBe("400 InvalidForm")
      }))
  }

  it.scoped("is read alike wherever its bytes are cut", () =>
    Effect.gen(function*() {
      const body = encode([
        field("x", "\r\n--kil"),
        key,
        field("file", "-\r\n--kiln\r-\r\n--kil\r\n-", "; filename=\"f\"")
      ])
      // a boundary's beginning within the file is content
      const whole = Buffer.from(body.toString("latin1").replace("--kiln\r-", "--kilm\r-"), "latin1")
      const expected = yield* post(whole)
      for (let i = 1; i < whole.length; i++) expect(yield* post(whole, { cut: [i] })).toEqual(expected)
      const all = Array.from({ length: whole.length }, (_, i) => i)
      expect(yield* post(whole, { cut: all })).toEqual(expected)
    }))

  it.effect.prop(
    "keeps every byte of its file",
    [FastCheck.uint8Array({ maxLength: 300 }), FastCheck.array(FastCheck.nat(500), { maxLength: 8 })],
    ([content, cut]) =>
      Effect.scoped(Effect.gen(function*() {
        const value = Buffer.from(content).toString("latin1")
        const body = encode([key, field("file", value)])
        const { staging } = yield* open(1_000_000)
        const stored = yield* Effect.provideService(
          Staging.post(id, {
            contentType,
            content: pieces(body, cut)
          }),
          Staging.Staging,
          staging
        )
        const chunks = yield* Stream.runCollect((yield* staging.get(stored.path)).content)
        expect(Buffer.concat([...chunks]).equals(Buffer.from(content))).toBe(true)
      })),
    { fastCheck: { numRuns: 60 } }
  )
})
