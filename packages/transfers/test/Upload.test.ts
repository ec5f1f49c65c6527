import { ObjectStore } from "@effect-agentenv/testing"
import { Progress, Source, TransferError, Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Redacted, Stream, TestClock } from "effect"
import * as FileSystem from "node:fs/promises"
import { advancing, countingStream, directory, Env, progressOf, sha256, transfersWith, write } from "./support.ts"

const text = (content: Option.Option<Uint8Array>) => Option.map(content, (bytes) => new TextDecoder().decode(bytes))

const both = Effect.all([ObjectStore.ObjectStore, Transfers.Transfers])

const turns = async (left: number): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve))
  if (left > 1) await turns(left - 1)
}

describe("upload", () => {
  it.scoped("B-OBJ-5, T-1, T-4: PUTs a file with its exact length, the object's type and no header beyond the grant's", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const path = `${yield* directory}/report.json`
      yield* write(path, "{\"a\":1}")
      const object = yield* store.writeObject("runs/report.json", {
        mediaType: "application/json",
        headers: { "x-amz-meta-run": "7" }
      })
      const uploaded = yield* transfers.upload(object, Source.file(path))
      expect(uploaded).toEqual({ size_bytes: 7, sha256: sha256("{\"a\":1}") })
      expect(text(yield* store.get("runs/report.json"))).toEqual(Option.some("{\"a\":1}"))
      const [request] = yield* store.requests
      expect(request?.headers).toMatchObject({ "content-length": "7", "content-type": "application/json" })
      expect(new Set(Object.keys(request?.headers ?? {}))).toEqual(
        new Set(["connection", "content-length", "content-type", "host", "x-amz-meta-run"])
      )
    }).pipe(Effect.provide(Env)))

  it.scoped("T-2: an empty file and no bytes at all go with Content-Length: 0", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const path = `${yield* directory}/empty`
      yield* write(path, "")
      for (const source of [Source.file(path), Source.bytes("")]) {
        expect(yield* transfers.upload(yield* store.writeObject("empty"), source)).toEqual(
          { size_bytes: 0, sha256: sha256("") }
        )
      }
      const requests = yield* store.requests
      expect(requests.map(({ headers, status }) => [headers["content-length"], headers["transfer-encoding"], status]))
        .toEqual([["0", undefined, 200], ["0", undefined, 200]])
    }).pipe(Effect.provide(Env)))

  it.scoped("the grant's own Content-Type and Host win over ours", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const write = yield* store.httpPut("typed", {
        headers: { "content-type": "text/x-own", "Host": "bucket.example" }
      })
      yield* transfers.upload({ media_type: "text/plain", max_bytes: 10, write }, Source.bytes("x"))
      expect((yield* store.requests)[0]?.headers).toMatchObject(
        { "content-type": "text/x-own", "host": "bucket.example" }
      )
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-6: a source above max_bytes is refused before any request", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const path = `${yield* directory}/large`
      yield* write(path, "12345")
      const object = yield* store.writeObject("large", { maxBytes: 4 })
      for (const source of [Source.file(path), Source.bytes("12345"), Source.stream(Stream.never, { size: 5 })]) {
        const error = yield* Effect.flip(transfers.upload(object, source))
        expect(error).toBeInstanceOf(TransferError.TransferTooLarge)
        expect(error.status).toBe(413)
      }
      expect(yield* store.requests).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-7: a source that is longer or shorter than it was, or rewritten, fails, and the store keeps nothing", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const path = `${yield* directory}/moving`
      yield* write(path, "12345")
      const file = Source.file(path)
      // Too large to wait for its end before it is sent.
      const large = `${path}-large`
      yield* write(large, "x".repeat(100_000))
      const rewritten: Source.Source = {
        size: Source.file(large).size,
        open: Effect.map(Source.file(large).open, async function*(chunks) {
          for await (const chunk of chunks) {
            yield chunk
            await FileSystem.utimes(large, 1, 1)
            // Time enough for a store that had the last byte already to keep the object.
            await turns(300)
          }
        })
      }
      const sources = [
        { ...file, size: Effect.succeed(4) },
        { ...file, size: Effect.succeed(6) },
        Source.stream(Stream.make(new Uint8Array(3)), { size: 4 }),
        Source.stream(Stream.repeatValue(new Uint8Array(3)), { size: 4 }),
        rewritten
      ]
      for (const source of sources) {
        const error = yield* Effect.flip(transfers.upload(yield* store.writeObject("moving"), source))
        expect(error).toEqual(
          new TransferError.InvalidTransfer({ message: "The source changed while it was uploaded." })
        )
      }
      expect(yield* store.keys).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("a source that is missing, no file or fails is InvalidTransfer", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const path = yield* directory
      const sources = [
        Source.file(`${path}/missing`),
        Source.file(path),
        Source.stream(Stream.fail("secret reason"), { size: 1 })
      ]
      const messages = yield* Effect.forEach(sources, (source) =>
        Effect.flatMap(store.writeObject("bad"), (object) =>
          Effect.map(Effect.flip(transfers.upload(object, source)), ({ code, message }) => [code, message])))
      expect(messages).toEqual([
        ["invalid_transfer", "The source can't be read (ENOENT)."],
        ["invalid_transfer", "The source is not a regular file."],
        ["invalid_transfer", "The source failed while it was read."]
      ])
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-8: 503, 429, 408, a stalled 400, a reset and a refused connection are tried again, the source opened anew", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      for (
        const fault of [
          "unavailable",
          { name: "status", status: 429 },
          { name: "status", status: 408 },
          { name: "status", status: 500 },
          "request-timeout",
          "reset"
        ] as const
      ) {
        const before = (yield* store.requests).length
        const opened = { count: 0 }
        yield* store.inject(fault)
        const source = countingStream("once more", opened)
        const uploaded = yield* advancing(
          Effect.flatMap(store.writeObject("again"), (object) => transfers.upload(object, source))
        )
        expect(uploaded.sha256).toBe(sha256("once more"))
        expect([opened.count, (yield* store.requests).length - before]).toEqual([2, 2])
      }
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-8, B-OBJ-10: nobody listens: three attempts, then TransferUnavailable, the source never read", () =>
    Effect.gen(function*() {
      const transfers = yield* Transfers.Transfers
      const store = yield* ObjectStore.ObjectStore
      const object = yield* store.writeObject("nobody")
      const write = { ...object.write, url: Redacted.make("https://127.0.0.1:1/nobody") }
      const opened = { count: 0 }
      const error = yield* advancing(
        Effect.flip(transfers.upload({ ...object, write }, countingStream("nobody", opened)))
      )
      expect(error).toEqual(
        new TransferError.TransferUnavailable({ message: "The connection to the object store failed (ECONNREFUSED)." })
      )
      expect(opened.count).toBe(0)
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-9, T-9: 400 and 403 are TransferRejected after one request", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      for (const status of [400, 403, 404, 411]) {
        yield* store.inject({ name: "status", status })
        const error = yield* Effect.flip(transfers.upload(yield* store.writeObject("no"), Source.bytes("x")))
        expect([error.code, error.status, error.retryable]).toEqual(["transfer_rejected", 502, false])
      }
      expect((yield* store.requests).length).toBe(4)
    }).pipe(Effect.provide(Env)))

  it.scoped("T-7: 501 is TransferRejected after one request", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      yield* store.inject("not-implemented")
      const error = yield* Effect.flip(transfers.upload(yield* store.writeObject("no"), Source.bytes("x")))
      expect(error.message).toBe("The object store rejected the transfer (HTTP 501).")
      expect((yield* store.requests).length).toBe(1)
    }).pipe(Effect.provide(Env)))

  it.scoped("a refusal of an upload that is still being sent is heard", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      yield* store.inject("early-403")
      const error = yield* Effect.flip(
        transfers.upload(yield* store.writeObject("large"), Source.bytes(new Uint8Array(20_000_000)))
      )
      expect(error.code).toBe("transfer_rejected")
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-12, T-21: a redirect is refused, and its target sees nothing", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const other = yield* ObjectStore.make
      yield* store.inject({ name: "redirect", location: `${other.url}/inner-secret` }, 2)
      const up = yield* Effect.flip(transfers.upload(yield* store.writeObject("away"), Source.bytes("x")))
      const down = yield* Effect.flip(
        transfers.download(yield* store.readObject("away"), `${yield* directory}/away`)
      )
      const message = "The object store answered with a redirect (HTTP 307), which is not followed."
      expect([up, down]).toEqual([
        new TransferError.TransferRejected({ message }),
        new TransferError.TransferRejected({ message })
      ])
      expect(yield* other.requests).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-4: a store that is silent for the read timeout fails the attempt, three times over", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      yield* store.inject("stall", 3)
      const object = yield* store.writeObject("silent")
      const error = yield* advancing(
        Effect.flip(transfers.upload(object, Source.bytes("x"))).pipe(
          Effect.raceFirst(Effect.zipRight(store.arrived(4), Effect.never))
        ),
        "61 seconds"
      )
      expect(error).toEqual(
        new TransferError.TransferTimeout({ message: "The object store was silent for 60 s (read)." })
      )
      expect([error.status, error.retryable]).toEqual([504, true])
    }).pipe(Effect.provide(transfersWith({ connectTimeout: "1 hour" }))))

  it.scoped("interrupting an upload drops its connection", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      yield* store.inject("stall")
      const object = yield* store.writeObject("stopped")
      yield* Effect.raceFirst(transfers.upload(object, Source.bytes("x")), store.arrived(1))
      yield* transfers.upload(object, Source.bytes("y"))
      expect((yield* store.requests).map(({ connection }) => connection)).toEqual([1, 2])
    }).pipe(Effect.provide(Env)))

  it.scoped("progress counts every MiB and the end, from zero in each attempt", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const size = 3 * 1024 * 1024 + 5
      yield* store.inject("reset")
      const { onProgress, seen } = progressOf()
      const object = yield* store.writeObject("counted")
      yield* advancing(transfers.upload(object, Source.bytes(new Uint8Array(size)), { onProgress }))
      const second = seen.filter(({ attempt }) => attempt === 2).map(({ bytes }) => bytes)
      expect(second.at(-1)).toBe(size)
      expect(second.length).toBe(4)
      expect(seen.every(({ total }) => total === size)).toBe(true)
      const counts = yield* Progress.stream((onProgress) =>
        transfers.upload(object, Source.bytes("abc"), { onProgress })
      )
        .pipe(Stream.runCollect)
      expect([...counts]).toEqual([{ attempt: 1, bytes: 3, total: 3 }])
    }).pipe(Effect.provide(Env)))

  it.scoped("a grant whose headers can't be sent is InvalidTransfer", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const object = yield* store.writeObject("odd")
      const write = { ...object.write, headers: Redacted.make({ "x-odd": "a\nb" }) }
      const error = yield* Effect.flip(transfers.upload({ ...object, write }, Source.bytes("x")))
      expect(error).toEqual(new TransferError.InvalidTransfer({ message: "The grant's URL or headers can't be sent." }))
      yield* TestClock.adjust("1 second")
    }).pipe(Effect.provide(Env)))
})
