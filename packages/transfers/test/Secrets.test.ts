import { ObjectStore } from "@effect-agentenv/testing"
import { NamespaceUploader, Source, TransferError, Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Redacted, Schema } from "effect"
import { inspect } from "node:util"
import { listening } from "./listening.ts"
import { advancing, directory, Env } from "./support.ts"

const secrets = ["X-Signature", "X-Expires", "s3cret", "https:", "127.0.0.1", "bucket", "policy", "<Code>", "Resource"]

describe("secrets", () => {
  it.scoped(
    "B-OBJ-16, T-22: no URL, query, header, field or body is in a message, cause, span, log or JSON",
    () =>
      Effect.gen(function*() {
        const { layer, said, spans } = listening()
        const store = yield* ObjectStore.ObjectStore
        const transfers = yield* Transfers.Transfers
        const root = yield* directory
        yield* store.put("bucket/s3cret", "content")
        const faults = [
          "early-403",
          "late-403",
          "expired",
          "not-implemented",
          "request-timeout",
          "unavailable",
          "reset",
          "truncated",
          "cut",
          "corrupt",
          "gzip",
          { name: "redirect", location: "https://s3cret.example/" }
        ] as const
        const options = { headers: { "x-amz-s3cret": "s3cret" }, sizeBytes: 7, sha256: "0".repeat(64) }
        const collect = <A>(transfer: Effect.Effect<A, TransferError.TransferError>) =>
          Effect.gen(function*() {
            const exit = yield* advancing(Effect.exit(transfer))
            if (Exit.isSuccess(exit)) return
            const error = Cause.squash(exit.cause) as TransferError.TransferError
            said.push(
              error.message,
              String(error),
              String(error.stack).replaceAll(/\n {4}at .*/g, ""),
              JSON.stringify(error),
              // @effect-diagnostics-next-line schemaSyncInEffect:off
              JSON.stringify(Schema.encodeSync(TransferError.TransferError)(error)),
              inspect({ ...error, cause: error.cause }, { depth: 10 }),
              Cause.pretty(exit.cause).replaceAll(/\n {4}at .*/g, ""),
              JSON.stringify(exit)
            )
          })
        yield* Effect.gen(function*() {
          for (const fault of faults) {
            yield* store.inject(fault, 3)
            yield* collect(
              Effect.flatMap(store.writeObject("bucket/s3cret", options), (object) =>
                transfers.upload(object, Source.bytes("content s3cret")))
            )
            yield* store.inject("none", 3)
            yield* store.inject(fault, 3)
            yield* collect(
              Effect.flatMap(store.readObject("bucket/s3cret", options), (object) =>
                transfers.download(object, `${root}/target`))
            )
            const uploader = yield* NamespaceUploader.make(yield* store.writeNamespace("bucket/s3cret", options))
            yield* collect(uploader.upload("a", Source.bytes("content s3cret")))
          }
          const object = yield* store.readObject("bucket/s3cret", options)
          const read = { ...object.read, url: Redacted.make("https://127.0.0.1:1/bucket?X-Signature=s3cret") }
          yield* collect(transfers.download({ ...object, read }, `${root}/target`))
          const malformed = { ...object.read, headers: Redacted.make({ "x-s3cret": "s3cret\n" }) }
          yield* collect(transfers.download({ ...object, read: malformed }, `${root}/target`))
        }).pipe(Effect.provide(layer))
        expect(said.length).toBeGreaterThan(100)
        expect(spans.map(({ name }) =>
          name
        )).toContain("NamespaceUploader.upload")
        for (const secret of secrets) {
          expect(said.filter((line) =>
            line.includes(secret)
          )).toEqual([])
        }
      }).pipe(Effect.provide(Env)),
    60_000
  )
})

describe("TransferError", () => {
  const table = [
    [TransferError.InvalidTransfer, "invalid_transfer", 400, false],
    [TransferError.GrantExpired, "grant_expired", 410, false],
    [TransferError.TransferTooLarge, "transfer_too_large", 413, false],
    [TransferError.IntegrityMismatch, "integrity_mismatch", 422, false],
    [TransferError.TransferRejected, "transfer_rejected", 502, false],
    [TransferError.TransferUnavailable, "transfer_unavailable", 502, true],
    [TransferError.TransferTimeout, "transfer_timeout", 504, true]
  ] as const

  it.each(table)(
    "B-OBJ-3: $1 is HTTP $2, retryable $3 unless it says otherwise",
    (Failure, code, status, retryable) => {
      const error = new Failure({ message: "why" })
      expect([error.code, error.status, error.retryable]).toEqual([code, status, retryable])
      expect(JSON.parse(JSON.stringify(error))).toEqual({ error: { code, message: "why", retryable } })
      expect(new Failure({ message: "why", retryable: !retryable }).retryable).toBe(!retryable)
      const encoded = Schema.encodeSync(TransferError.TransferError)(error)
      expect(Schema.decodeSync(TransferError.TransferError)(encoded)).toEqual(error)
      expect(TransferError.isTransferError(error)).toBe(true)
    }
  )
})
