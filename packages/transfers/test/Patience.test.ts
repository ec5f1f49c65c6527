import { ObjectStore } from "@effect-agentenv/testing"
import { Loopback, Source, TransferError, Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Schedule, Stream } from "effect"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, createServer, type Server } from "node:net"
import { advancing, directory, transfersWith } from "./support.ts"

const listening = <S extends Server>(server: S) =>
  Effect.acquireRelease(
    Effect.async<number>((resume) =>
      void server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    ),
    () => Effect.sync(() => void server.close())
  )

const both = Effect.all([ObjectStore.ObjectStore, Transfers.Transfers])

const hour = "1 hour"

describe("patience", () => {
  it.scoped("B-OBJ-4: a connection that doesn't come about in 30 s fails the attempt, and its request is never sent", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      let connections = 0
      const port = yield* listening(createServer((socket) => {
        connections += 1
        socket.on("error", () => {}).resume()
      }))
      const object = yield* store.readObject("x")
      const read = { ...object.read, url: Redacted.make(`https://127.0.0.1:${port}/x`) }
      const target = `${yield* directory}/x`
      const error = yield* advancing(Effect.flip(transfers.download({ ...object, read }, target)), "31 seconds")
      expect(error).toEqual(
        new TransferError.TransferTimeout({ message: "The object store was silent for 30 s (connect)." })
      )
      expect(connections).toBeLessThanOrEqual(3)
    }).pipe(Effect.provide(transfersWith())))

  it.scoped("B-OBJ-4: a store that takes no byte for 60 s fails the attempt", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      let arrived = () => {}
      const path = "/ext/staging/0123456789012345678901/large"
      const port = yield* listening(createHttpServer((request) => {
        request.pause().on("error", () => {})
        arrived()
      }))
      const object = yield* store.writeObject(path.slice(1), { headers: { "AgentEnv-Staging-Path": path } })
      const fiber = yield* transfers.upload(object, Source.bytes(new Uint8Array(64 * 1024 * 1024))).pipe(
        Effect.flip,
        Loopback.servingOn(port),
        Effect.fork
      )
      yield* Effect.async<void>((resume) => {
        arrived = () => resume(Effect.void)
      })
      const error = yield* advancing(Fiber.join(fiber), "61 seconds")
      expect(error).toEqual(
        new TransferError.TransferTimeout({ message: "The object store was silent for 60 s (write)." })
      )
      expect(yield* store.requests).toEqual([])
    }).pipe(Effect.provide(transfersWith({ connectTimeout: hour, readTimeout: hour }))))

  it.scoped("a source that takes its time is not the store's silence", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const slow = Stream.fromSchedule(Schedule.spaced("5 minutes")).pipe(
        Stream.map(() => new Uint8Array(1)),
        Stream.take(3)
      )
      const object = yield* store.writeObject("slow")
      const fiber = yield* Effect.fork(transfers.upload(object, Source.stream(slow, { size: 3 })))
      yield* advancing(Fiber.join(fiber), "5 minutes")
      expect(yield* store.keys).toEqual(["slow"])
      expect((yield* store.requests).length).toBe(1)
    }).pipe(Effect.provide(transfersWith({ connectTimeout: hour, readTimeout: hour }))))
})
