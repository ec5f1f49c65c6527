import { ReadObject, WriteNamespaceGrant, WriteObject } from "@effect-agentenv/protocol/Grant"
import * as ObjectStore from "@effect-agentenv/testing/ObjectStore"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Redacted, Schema, TestClock } from "effect"
import { request, type RequestOptions } from "node:https"

interface Answer {
  readonly status: number
  readonly body: string
}

const send = (
  ca: string,
  url: Redacted.Redacted,
  options: RequestOptions,
  chunks: ReadonlyArray<string | Uint8Array> = []
) =>
  Effect.async<Answer, Error>((resume) => {
    const sent = request(Redacted.value(url), { ...options, ca, agent: false }, (response) => {
      let body = ""
      response.setEncoding("latin1").on("data", (chunk: string) => {
        body += chunk
      })
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, body })))
      response.on("error", (error) => resume(Effect.fail(error)))
    })
    sent.on("error", (error) => resume(Effect.fail(error)))
    for (const chunk of chunks) sent.write(chunk)
    sent.end()
  })

const put = { method: "PUT", headers: { "content-type": "text/plain", "content-length": 1 } }

const form = (parts: ReadonlyArray<readonly [name: string, value: string]>) => {
  const body =
    parts.map(([name, value]) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"${
        name === "file" ? "; filename=\"x\"" : ""
      }\r\n\r\n${value}\r\n`
    ).join("") + "--b--\r\n"
  const headers = { "content-type": "multipart/form-data; boundary=b", "content-length": Buffer.byteLength(body) }
  return [{ method: "POST", headers }, [body]] as const
}

describe("ObjectStore", () => {
  it.scoped("issues all six shapes, which go over the wire and back", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.make
      const options = { headers: { "x-a": "b" } }
      const roundTrip = <A, I>(schema: Schema.Schema<A, I>, value: A) =>
        Effect.flatMap(Schema.encode(schema)(value), Schema.decodeUnknown(schema))
      const read = yield* roundTrip(ReadObject, yield* store.readObject("a", { ...options, sizeBytes: 1 }))
      const write = yield* roundTrip(WriteObject, yield* store.writeObject("a", options))
      const namespace = yield* roundTrip(WriteNamespaceGrant, yield* store.writeNamespace("n", options))
      expect([read.read.kind, write.write.kind, namespace.write.kind]).toEqual(
        ["http-get", "http-put", "http-post-policy"]
      )
      expect((yield* store.httpGet("a")).kind).toBe("http-get")
      expect((yield* store.httpPut("a")).kind).toBe("http-put")
      expect((yield* store.httpPostPolicy("n")).kind).toBe("http-post-policy")
    }))

  it.scoped("takes what was granted and nothing else: signature, method, key, headers, time, length", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.make
      const { write } = yield* store.writeObject("a", { mediaType: "text/plain", lifetime: "1 minute" })
      const url = Redacted.value(write.url)
      const status = (url: string, options: RequestOptions = put, chunks: ReadonlyArray<string> = ["x"]) =>
        Effect.map(send(store.ca, Redacted.make(url), options, chunks), ({ status }) => status)
      expect(yield* status(url)).toBe(200)
      expect(yield* store.get("a").pipe(Effect.map(Option.map((bytes) => bytes.length)))).toEqual(Option.some(1))
      expect(yield* status(url.replace("/a?", "/b?"))).toBe(403)
      expect(yield* status(url.slice(0, -1))).toBe(403)
      expect(yield* status(url, { method: "GET" }, [])).toBe(403)
      expect(yield* status(url, { ...put, headers: { ...put.headers, "content-type": "text/html" } })).toBe(403)
      expect(yield* status(url, { ...put, headers: { ...put.headers, "x-more": "1" } })).toBe(403)
      expect(yield* status(url, { method: "PUT", headers: { "content-type": "text/plain" } }, ["x", "y"])).toBe(411)
      yield* TestClock.adjust("1 minute")
      expect(yield* status(url)).toBe(403)
      expect(yield* store.keys).toEqual(["a"])
    }))

  it.scoped("takes a form whose key comes before its file, below its root, up to its size", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.make
      const grant = yield* store.httpPostPolicy("root", { maxObjectBytes: 3 })
      const fields = Object.entries(Redacted.value(grant.fields))
      const post = (parts: ReadonlyArray<readonly [string, string]>) =>
        Effect.map(send(store.ca, grant.url, ...form(parts)), ({ status }) => status)
      expect(yield* post([...fields, ["key", "root/a"], ["file", "abc"], ["ignored", "x"]])).toBe(204)
      expect(yield* post([...fields, ["file", "abc"], ["key", "root/b"]])).toBe(400)
      expect(yield* post([...fields, ["key", "elsewhere/b"], ["file", "abc"]])).toBe(403)
      expect(yield* post([...fields, ["key", "root/b"], ["file", "abcd"]])).toBe(400)
      expect(yield* post([["policy", "{}"], ["key", "root/b"], ["file", "abc"]])).toBe(403)
      expect(yield* store.keys).toEqual(["root/a"])
      expect((yield* store.requests)[0]?.fields).toEqual(["policy", "x-signature", "key", "file"])
    }))

  it.scoped("does what is injected, in order, once or as often as told", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.make
      yield* store.put("a", "0123456789")
      const { url } = yield* store.httpGet("a")
      const get = Effect.map(Effect.either(send(store.ca, url, {})), (result) =>
        result._tag === "Right" ? [result.right.status, result.right.body.slice(0, 10)] : "broken")
      yield* store.inject({ name: "unavailable", retryAfter: "1" }, 2)
      yield* store.inject("none")
      yield* store.inject("truncated")
      yield* store.inject("reset")
      yield* store.inject("cut")
      yield* store.inject("wrong-length")
      const answers = yield* Effect.all(Array.from({ length: 8 }, () =>
        get))
      const [first, second, ...rest] = answers
      expect([first?.[0], second?.[0]]).toEqual([503, 503])
      expect(rest).toEqual([
        [200, "0123456789"],
        "broken",
        "broken",
        [200, "01234"],
        [200, "123456789"],
        [200, "0123456789"]
      ])
    }))
})
