import { ObjectStore } from "@effect-agentenv/testing"
import { Loopback, Source, Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option, Redacted } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Env } from "./support.ts"

/** A staging store that answers a status to whatever it is asked. */
const staging = (status: number) =>
  Effect.gen(function*() {
    const paths: Array<string> = []
    const server = createServer((request, response) => {
      paths.push(`${request.method} ${request.url}`)
      request.resume()
      response.writeHead(status, { "content-length": 0 }).end()
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    return { paths, port: (server.address() as AddressInfo).port }
  })

const path = "/ext/staging/0123456789012345678901/a"

const granted = Effect.gen(function*() {
  const store = yield* ObjectStore.ObjectStore
  const object = yield* store.writeObject(path.slice(1), { headers: { "AgentEnv-Staging-Path": path } })
  return { store, object, query: new URL(Redacted.value(object.write.url)).search }
})

const environment = (port: string | undefined) =>
  Layer.setConfigProvider(ConfigProvider.fromMap(new Map(port === undefined ? [] : [["A2A_PORT", port]])))

const url = (headers: Record<string, string> | undefined, of = `https://store.example${path}?a=1`) =>
  Loopback.loopbackUrl(Redacted.make(of), headers === undefined ? undefined : Redacted.make(headers)).pipe(
    Effect.map(Option.map(Redacted.value))
  )

describe("Loopback", () => {
  it.effect("B-XFER-4: loopbackUrl gives the short way, query and all", () =>
    Effect.gen(function*() {
      expect(yield* url({ "agentenv-STAGING-path": path })).toEqual(Option.some(`http://127.0.0.1:8000${path}?a=1`))
      expect(yield* url({ "AgentEnv-Staging-Path": path }, `https://store.example/front${path}`)).toEqual(
        Option.some(`http://127.0.0.1:8000${path}`)
      )
    }).pipe(Loopback.servingOn(8000)))

  it.effect("B-XFER-1: without the header, or with a path that isn't absolute or doesn't end the URL's, there is none", () =>
    Effect.gen(function*() {
      expect(yield* url(undefined)).toEqual(Option.none())
      expect(yield* url({ other: path })).toEqual(Option.none())
      expect(yield* url({ "AgentEnv-Staging-Path": path.slice(1) })).toEqual(Option.none())
      expect(yield* url({ "AgentEnv-Staging-Path": "/elsewhere" })).toEqual(Option.none())
    }).pipe(Loopback.servingOn(8000)))

  it.effect("B-XFER-2: outside of requests it is A2A_PORT, if that is a port", () =>
    Effect.gen(function*() {
      for (const port of [undefined, "", "0", "65536", "80a", "-1"]) {
        expect(yield* Effect.provide(url({ "AgentEnv-Staging-Path": path }), environment(port))).toEqual(Option.none())
      }
      expect(yield* Effect.provide(url({ "AgentEnv-Staging-Path": path }), environment("65535"))).toEqual(
        Option.some(`http://127.0.0.1:65535${path}?a=1`)
      )
    }))

  it.scoped("B-OBJ-18, B-XFER-1: a staged object goes to the port that is being served, whatever A2A_PORT says", () =>
    Effect.gen(function*() {
      const { object, query, store } = yield* granted
      const transfers = yield* Transfers.Transfers
      const { paths, port } = yield* staging(201)
      yield* transfers.upload(object, Source.bytes("x")).pipe(
        Loopback.servingOn(port),
        Effect.provide(environment("1"))
      )
      expect(paths).toEqual([`PUT ${path}${query}`])
      expect(yield* store.requests).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("B-XFER-3: where nobody listens the grant's own URL is used, in the same attempt", () =>
    Effect.gen(function*() {
      const { object, store } = yield* granted
      const transfers = yield* Transfers.Transfers
      yield* transfers.upload(object, Source.bytes("x")).pipe(Loopback.servingOn(1))
      expect((yield* store.requests).map(({ status }) => status)).toEqual([200])
    }).pipe(Effect.provide(Env)))

  it.scoped("B-XFER-3: an HTTP error from loopback is the answer", () =>
    Effect.gen(function*() {
      const { object, store } = yield* granted
      const transfers = yield* Transfers.Transfers
      const { port } = yield* staging(404)
      const error = yield* Effect.flip(transfers.upload(object, Source.bytes("x")).pipe(Loopback.servingOn(port)))
      expect(error.message).toBe("The object store rejected the transfer (HTTP 404).")
      expect(yield* store.requests).toEqual([])
    }).pipe(Effect.provide(Env)))
})
