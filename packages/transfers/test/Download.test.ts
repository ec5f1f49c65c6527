import { ObjectStore } from "@effect-agentenv/testing"
import { TransferError, Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as FileSystem from "node:fs/promises"
import { gunzipSync } from "node:zlib"
import { advancing, directory, Env, list, progressOf, read, sha256, transfersWith, write } from "./support.ts"

const both = Effect.all([ObjectStore.ObjectStore, Transfers.Transfers])

const content = "the quick brown fox ".repeat(20_000)
const promised = { sizeBytes: content.length, sha256: sha256(content) }

describe("download", () => {
  it.scoped("B-OBJ-13: asks for identity, makes the directories, writes the raw bytes and leaves no part behind", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const root = yield* directory
      yield* store.put("a/b c", content)
      const { onProgress, seen } = progressOf()
      const downloaded = yield* transfers.download(
        yield* store.readObject("a/b c", promised),
        `${root}/new/deep/fox.txt`,
        { onProgress }
      )
      expect(downloaded).toEqual({ size_bytes: content.length, sha256: sha256(content) })
      expect(yield* read(`${root}/new/deep/fox.txt`)).toBe(content)
      expect(yield* list(`${root}/new/deep`)).toEqual(["fox.txt"])
      const [request] = yield* store.requests
      expect(request?.headers["accept-encoding"]).toBe("identity")
      expect(seen.at(-1)).toEqual({ attempt: 1, bytes: content.length, total: content.length })
    }).pipe(Effect.provide(Env)))

  it.scoped("an empty object is an empty file", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const target = `${yield* directory}/empty`
      yield* store.put("empty", "")
      yield* transfers.download(yield* store.readObject("empty", { sizeBytes: 0 }), target)
      expect(yield* read(target)).toBe("")
    }).pipe(Effect.provide(Env)))

  it.scoped("T-17, B-OBJ-13: compressed against our wish, the bytes are stored as they came and held against the promise", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const target = `${yield* directory}/raw`
      yield* store.put("zipped", content)
      yield* store.inject("gzip", 2)
      yield* transfers.download(yield* store.readObject("zipped"), target)
      const raw = yield* Effect.promise(() => FileSystem.readFile(target))
      expect(gunzipSync(raw).toString()).toBe(content)
      const error = yield* Effect.flip(transfers.download(yield* store.readObject("zipped", promised), target))
      expect(error).toBeInstanceOf(TransferError.IntegrityMismatch)
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-13: a wrong size or digest is IntegrityMismatch, too many bytes TransferTooLarge; the target keeps what it had", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const root = yield* directory
      const target = `${root}/kept`
      yield* write(target, "old")
      yield* store.put("fox", content)
      const cases = [
        ["wrong-length", promised, "integrity_mismatch"],
        ["corrupt", promised, "integrity_mismatch"],
        ["corrupt", { sha256: promised.sha256 }, "integrity_mismatch"],
        ["none", { maxBytes: 10 }, "transfer_too_large"],
        ["cut", { ...promised, sha256: undefined }, "integrity_mismatch"]
      ] as const
      for (const [fault, options, code] of cases) {
        yield* store.inject(fault)
        const error = yield* Effect.flip(transfers.download(yield* store.readObject("fox", options), target))
        expect([fault, error.code, error.retryable]).toEqual([fault, code, false])
      }
      expect(yield* read(target)).toBe("old")
      expect(yield* list(root)).toEqual(["kept"])
    }).pipe(Effect.provide(Env)))

  it.scoped("T-19: a body that breaks off is never a short success, with a length and without", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const root = yield* directory
      yield* store.put("fox", content)
      for (const fault of ["truncated", "reset"] as const) {
        yield* store.inject(fault, 3)
        const object = yield* store.readObject("fox")
        const error = yield* advancing(Effect.flip(transfers.download(object, `${root}/fox`)))
        expect([fault, error.code]).toEqual([fault, "transfer_unavailable"])
      }
      yield* store.inject("cut")
      const error = yield* Effect.flip(transfers.download(yield* store.readObject("fox"), `${root}/fox`))
      expect(error.message).toBe("The object store does not say how long the object is.")
      expect(yield* list(root)).toEqual([])
      expect((yield* store.requests).length).toBe(7)
    }).pipe(Effect.provide(Env)))

  it.scoped("B-OBJ-13: an interrupted body starts again from scratch", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const root = yield* directory
      yield* store.put("fox", content)
      yield* store.inject("truncated")
      const object = yield* store.readObject("fox", promised)
      yield* advancing(transfers.download(object, `${root}/fox`))
      expect(yield* read(`${root}/fox`)).toBe(content)
      expect(yield* list(root)).toEqual(["fox"])
    }).pipe(Effect.provide(Env)))

  it.scoped("an object that isn't there is TransferRejected", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const root = yield* directory
      const error = yield* Effect.flip(transfers.download(yield* store.readObject("none"), `${root}/none`))
      expect(error.message).toBe("The object store rejected the transfer (HTTP 404).")
      expect(yield* list(root)).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("a target that can't be written is InvalidTransfer, without a request", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const root = yield* directory
      yield* write(`${root}/file`, "")
      const error = yield* Effect.flip(transfers.download(yield* store.readObject("x"), `${root}/file/below`))
      expect(error.code).toBe("invalid_transfer")
      expect(error.message).not.toContain(root)
      expect(yield* store.requests).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("a store whose authority is unknown is not talked to", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const object = yield* store.readObject("fox")
      const root = yield* directory
      const error = yield* advancing(Effect.flip(transfers.download(object, `${root}/fox`)))
      expect(error.message).toBe("The connection to the object store failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE).")
      expect(yield* store.requests).toEqual([])
    }).pipe(Effect.provide(transfersWith({ ca: [] }))))

  it.scoped("interrupting a download removes its part", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const root = yield* directory
      yield* store.put("fox", content)
      yield* store.inject("stall")
      const object = yield* store.readObject("fox")
      yield* Effect.raceFirst(transfers.download(object, `${root}/fox`), store.arrived(1))
      expect(yield* list(root)).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("two downloads to one target end with one whole file", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const root = yield* directory
      yield* store.put("one", "1".repeat(100_000))
      yield* store.put("two", "2".repeat(100_000))
      const objects = yield* Effect.all([store.readObject("one"), store.readObject("two")])
      yield* Effect.forEach(objects, (object) => transfers.download(object, `${root}/same`), { concurrency: 2 })
      expect(["1", "2"].map((digit) => digit.repeat(100_000))).toContain(yield* read(`${root}/same`))
      expect(yield* list(root)).toEqual(["same"])
    }).pipe(Effect.provide(Env)))
})
