import { ObjectStore } from "@effect-agentenv/testing"
import { NamespaceUploader, Source, Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { advancing, directory, Env, sha256, write } from "./support.ts"

const begin = (options?: ObjectStore.NamespaceOptions) =>
  Effect.gen(function*() {
    const store = yield* ObjectStore.ObjectStore
    const grant = yield* store.writeNamespace("runs/7", options)
    return { store, grant, uploader: yield* NamespaceUploader.make(grant) }
  })

const text = (content: Option.Option<Uint8Array>) => Option.map(content, (bytes) => new TextDecoder().decode(bytes))

describe("NamespaceUploader", () => {
  it.scoped("B-OBJ-14, T-1, T-6: a form of exact length: the grant's fields, the path, the type, the file last", () =>
    Effect.gen(function*() {
      const { store, uploader } = yield* begin()
      const path = `${yield* directory}/log`
      yield* write(path, "from a file")
      expect(yield* uploader.upload("logs/ü \"1\".txt", Source.file(path))).toEqual(
        { size_bytes: 11, sha256: sha256("from a file") }
      )
      yield* uploader.upload("empty", Source.bytes(""))
      expect(text(yield* store.get("runs/7/logs/ü \"1\".txt"))).toEqual(Option.some("from a file"))
      expect(text(yield* store.get("runs/7/empty"))).toEqual(Option.some(""))
      for (const { fields, headers } of yield* store.requests) {
        expect(fields).toEqual(["policy", "x-signature", "key", "Content-Type", "file"])
        expect(headers).toMatchObject({ "content-length": expect.stringMatching(/^\d+$/) })
        expect(headers["transfer-encoding"]).toBe(undefined)
      }
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-14: a Content-Type among the grant's fields stands, and a path field among them gives way", () =>
    Effect.gen(function*() {
      const { grant, store } = yield* begin()
      const fields = { ...Redacted.value(grant.write.fields), "content-type": "text/plain", key: "elsewhere" }
      const uploader = yield* NamespaceUploader.make(
        { ...grant, write: { ...grant.write, fields: Redacted.make(fields) } }
      )
      yield* uploader.upload("a", Source.bytes("a"))
      expect((yield* store.requests)[0]?.fields).toEqual(["policy", "x-signature", "content-type", "key", "file"])
      expect(yield* store.keys).toEqual(["runs/7/a"])
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-15: the object limit counts a path once, and holds before a request", () =>
    Effect.gen(function*() {
      const { store, uploader } = yield* begin({ maxObjects: 2 })
      for (const path of ["a", "b", "a"]) yield* uploader.upload(path, Source.bytes(path))
      const error = yield* Effect.flip(uploader.upload("c", Source.bytes("c")))
      expect([error.code, error.message]).toEqual(
        ["transfer_too_large", "The namespace would exceed its object limit."]
      )
      expect(yield* uploader.usage).toEqual({ objects: 2, bytes: 2 })
      expect((yield* store.requests).length).toBe(3)
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-15: the total-byte limit counts the last size of a path, the per-object limit each", () =>
    Effect.gen(function*() {
      const { store, uploader } = yield* begin({ maxTotalBytes: 10, maxObjectBytes: 8 })
      yield* uploader.upload("a", Source.bytes("12345678"))
      const full = yield* Effect.flip(uploader.upload("b", Source.bytes("123")))
      expect(full.message).toBe("The namespace would exceed its total-byte limit.")
      yield* uploader.upload("a", Source.bytes("1"))
      yield* uploader.upload("b", Source.bytes("123"))
      const large = yield* Effect.flip(uploader.upload("c", Source.bytes("123456789")))
      expect(large.code).toBe("transfer_too_large")
      expect(yield* uploader.usage).toEqual({ objects: 2, bytes: 4 })
      expect((yield* store.requests).length).toBe(3)
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-15: what failed is not counted", () =>
    Effect.gen(function*() {
      const { store, uploader } = yield* begin({ maxObjects: 1 })
      yield* store.inject("late-403")
      const error = yield* Effect.flip(uploader.upload("a", Source.bytes("a")))
      expect(error.code).toBe("transfer_rejected")
      yield* uploader.upload("b", Source.bytes("b"))
      expect(yield* store.keys).toEqual(["runs/7/b"])
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-15: paths that escape are InvalidTransfer, without a request", () =>
    Effect.gen(function*() {
      const { store, uploader } = yield* begin()
      for (const path of ["../a", "/a", "a/../b", "a//b", "", ".", "a\\b", "a\0b", "a/"]) {
        const error = yield* Effect.flip(uploader.upload(path, Source.bytes("x")))
        expect([path, error.code]).toEqual([path, "invalid_transfer"])
      }
      expect(yield* store.requests).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-15: uploads of one uploader go one after the other, over one connection", () =>
    Effect.gen(function*() {
      const { store, uploader } = yield* begin({ maxTotalBytes: 300 })
      const paths = Array.from({ length: 30 }, (_, index) => `object-${index}`)
      yield* Effect.forEach(paths, (path) => uploader.upload(path, Source.bytes("0123456789")), {
        concurrency: "unbounded"
      })
      const requests = yield* store.requests
      expect(requests.map(({ key }) => key)).toEqual(paths.map((path) => `runs/7/${path}`))
      expect(new Set(requests.map(({ connection }) => connection)).size).toBe(1)
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-8, B-OBJ-10: three attempts, each with the whole form", () =>
    Effect.gen(function*() {
      const { store, uploader } = yield* begin()
      yield* store.inject("unavailable", 2)
      yield* advancing(uploader.upload("a", Source.bytes("again")))
      expect(text(yield* store.get("runs/7/a"))).toEqual(Option.some("again"))
      yield* store.inject("unavailable", 3)
      const error = yield* advancing(Effect.flip(uploader.upload("b", Source.bytes("never"))))
      expect([error.code, error.retryable]).toEqual(["transfer_unavailable", true])
      expect((yield* store.requests).length).toBe(6)
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-11: a namespace that has expired is refused up front", () =>
    Effect.gen(function*() {
      const { store, uploader } = yield* begin({ lifetime: 0 })
      const error = yield* Effect.flip(uploader.upload("a", Source.bytes("a")))
      expect(error.code).toBe("grant_expired")
      expect(yield* store.requests).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.effect("needs nothing but Transfers", () =>
    Effect.gen(function*() {
      const store = yield* Effect.scoped(ObjectStore.make)
      const grant = yield* store.writeNamespace("x")
      const uploader = yield* NamespaceUploader.make(grant).pipe(Effect.provide(Transfers.layer()))
      expect(yield* uploader.usage).toEqual({ objects: 0, bytes: 0 })
    }))
})
