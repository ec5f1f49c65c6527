import * as BodyReader from "@effect-agentenv/server/BodyReader"
import * as BodyWriter from "@effect-agentenv/server/BodyWriter"
import * as Calls from "@effect-agentenv/server/Calls"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import * as InProcess from "@effect-agentenv/server/InProcess"
import * as Route from "@effect-agentenv/server/Route"
import { HttpClientRequest, HttpLayerRouter, HttpServerRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer, Ref, Stream } from "effect"
import * as Http from "node:http"
import { request, startLayer, text, wire } from "./support.ts"

const pass = HttpLayerRouter.middleware((app) => app, { global: true })
const ways = [["the front", Layer.empty], ["the router", pass]] as const

const MiB = 1024 * 1024

/** A route whose effect answers; a failure that was not answered is a 500 with its message. */
const route = (
  handle: (exchange: Exchange.Exchange) => Effect.Effect<void, BodyReader.BodyAborted>,
  onExit: (exit: Exit.Exit<void, BodyReader.BodyAborted>) => void = () => {}
) =>
  Effect.map(Calls.make(), (calls): ReadonlyArray<Route.Route> => {
    const listener: Exchange.Listener = (exchange) =>
      calls.run(exchange, handle(exchange), calls.runtime, (exit) => {
        if (Exit.isFailure(exit)) text(exchange, String(exit.cause), 500)
        onExit(exit)
      })
    return [{ path: "/body/*", methods: { GET: listener, PUT: listener } }]
  })

/** Answers with what it reads, once it is read. */
const mirror = (exchange: Exchange.Exchange) =>
  Effect.flatMap(Stream.runCollect(BodyReader.toStream(exchange.read())), (chunks) => {
    const bytes = Buffer.concat([...chunks])
    return BodyWriter.send(exchange, 200, ["x-a", "b"], bytes.length, Stream.make(bytes, new Uint8Array(0)))
  })

const refuse = (exchange: Exchange.Exchange) =>
  Effect.sync(() => {
    const reader = exchange.read()
    reader.cancel()
    reader.cancel()
    text(exchange, "no", 413)
  })

const pieces = (count: number, pulled: Ref.Ref<number>) =>
  Stream.repeatEffect(Effect.as(Ref.update(pulled, (n) => n + 1), new Uint8Array(MiB))).pipe(Stream.take(count))

for (const [way, middleware] of ways) {
  describe(`a streamed body through ${way}`, () => {
    const serve = (
      handle: (exchange: Exchange.Exchange) => Effect.Effect<void, BodyReader.BodyAborted>,
      onExit?: (exit: Exit.Exit<void, BodyReader.BodyAborted>) => void
    ) => startLayer(Layer.merge(Route.layer(route(handle, onExit)), middleware))

    it.scoped("is read and written whole, whatever its size", () =>
      Effect.gen(function*() {
        const port = yield* serve(mirror)
        for (const size of [0, 1, 100_000, 3 * MiB]) {
          const body = "x".repeat(size)
          const answer = yield* request(port, "/body/a", { method: "PUT", body })
          expect([answer.status, answer.text === body]).toEqual([200, true])
          expect([answer.headers.get("content-length"), answer.headers.get("x-a")]).toEqual([`${size}`, "b"])
        }
        const empty = yield* request(port, "/body/a")
        expect([empty.status, empty.text]).toEqual([200, ""])
      }))

    it.scoped("that is refused is thrown away, and the connection stays", () =>
      Effect.gen(function*() {
        const socket = yield* wire(yield* serve(refuse))
        socket.send("PUT /body/a HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
        yield* socket.until((text) => text.includes("no"))
        socket.send("x".repeat(900_000))
        socket.send("GET /body/next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        expect((yield* socket.closed).match(/HTTP\/1.1 413/g)).toHaveLength(2)
      }))

    it.scoped("waits with the client while nobody reads it", () =>
      Effect.gen(function*() {
        const first = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        const port = yield* serve((exchange) =>
          Effect.gen(function*() {
            const size = yield* Stream.runFoldEffect(BodyReader.toStream(exchange.read()), 0, (size, chunk) =>
              Deferred.succeed(first, undefined).pipe(
                Effect.zipRight(Deferred.await(go)),
                Effect.as(size + chunk.byteLength)
              ))
            text(exchange, `${size}`)
          })
        )
        const answer = yield* Deferred.make<string>()
        const client = Http.request({ port, host: "127.0.0.1", method: "PUT", path: "/body/a" }, (response) => {
          response.on("data", (chunk: Buffer) => Deferred.unsafeDone(answer, Exit.succeed(chunk.toString())))
        })
        yield* Effect.addFinalizer(() => Effect.sync(() => client.destroy()))
        const chunk = Buffer.alloc(MiB)
        for (let i = 0; i < 64; i++) client.write(chunk)
        yield* Deferred.await(first)
        // the system's buffers of both sides take a few MiB, the server no more than some chunks
        expect(client.writableLength).toBeGreaterThan(32 * MiB)
        yield* Deferred.succeed(go, undefined)
        client.end()
        expect(yield* Deferred.await(answer)).toBe(`${64 * MiB}`)
      }))

    it.scoped("of a client that leaves ends as aborted", () =>
      Effect.gen(function*() {
        const reading = yield* Deferred.make<void>()
        const ended = yield* Deferred.make<string>()
        const port = yield* serve((exchange) => {
          const reader = exchange.read()
          reader.next((read) => {
            expect(read._tag).toBe("Chunks")
            reader.next((read) => Deferred.unsafeDone(ended, Exit.succeed(read._tag)))
            Deferred.unsafeDone(reading, Exit.void)
          })
          return Effect.never
        })
        const socket = yield* wire(port)
        socket.send("PUT /body/a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
        yield* Deferred.await(reading)
        socket.destroy()
        expect(yield* Deferred.await(ended)).toBe("Aborted")
      }))

    it.scoped("is written at the pace of its reader, and its stream ends when that one leaves", () =>
      Effect.gen(function*() {
        const pulled = yield* Ref.make(0)
        const ended = yield* Deferred.make<number>()
        const port = yield* serve(
          (exchange) => BodyWriter.send(exchange, 200, [], 512 * MiB, pieces(512, pulled)),
          () => Deferred.unsafeDone(ended, Effect.runSyncExit(Ref.get(pulled)))
        )
        const socket = yield* wire(port)
        socket.pause()
        socket.send("GET /body/a HTTP/1.1\r\nHost: a\r\n\r\n")
        while ((yield* Ref.get(pulled)) < 2) yield* Effect.promise(() => new Promise(setImmediate))
        socket.destroy()
        expect(yield* Deferred.await(ended)).toBeLessThan(64)
      }))

    it.scoped("of another length than the head says cuts the connection", () =>
      Effect.gen(function*() {
        const port = yield* serve((exchange) =>
          BodyWriter.send(exchange, 200, [], exchange.path === "/body/short" ? 5 : 1, Stream.make(Buffer.from("abc")))
        )
        const short = yield* wire(port)
        short.send("GET /body/short HTTP/1.1\r\nHost: a\r\n\r\n")
        expect((yield* short.closed).split("\r\n\r\n")[1] ?? "").not.toHaveLength(5)
        const long = yield* wire(port)
        long.send("GET /body/long HTTP/1.1\r\nHost: a\r\n\r\n")
        expect(yield* long.closed).not.toContain("abc")
      }))

    it.scoped("answers HEAD with its length and without reading its stream", () =>
      Effect.gen(function*() {
        const pulled = yield* Ref.make(0)
        const port = yield* serve((exchange) => BodyWriter.send(exchange, 200, [], 5 * MiB, pieces(5, pulled)))
        const answer = yield* request(port, "/body/a", { method: "HEAD" })
        expect([answer.status, answer.headers.get("content-length"), yield* Ref.get(pulled)])
          .toEqual([200, `${5 * MiB}`, 0])
      }))
  })
}

describe("a streamed body in process", () => {
  const client = (handle: (exchange: Exchange.Exchange) => Effect.Effect<void, BodyReader.BodyAborted>) =>
    Effect.map(route(handle), (routes) => InProcess.httpClient(routes))
  const put = (stream: Stream.Stream<Uint8Array>) =>
    HttpClientRequest.put("/body/a").pipe(HttpClientRequest.bodyStream(stream))

  it.scoped("is read and written whole", () =>
    Effect.gen(function*() {
      const http = yield* client(mirror)
      const answer = yield* http.execute(put(Stream.make(Buffer.from("ab"), Buffer.from("c"))))
      expect([answer.status, answer.headers["content-length"], yield* answer.text]).toEqual([200, "3", "abc"])
      expect((yield* http.get("/body/")).status).toBe(200)
      const large = yield* http.execute(put(Stream.range(1, 40).pipe(Stream.map(() => new Uint8Array(100_000)))))
      expect((yield* large.arrayBuffer).byteLength).toBe(4_000_000)
    }))

  it.scoped("can be refused", () =>
    Effect.gen(function*() {
      const http = yield* client(refuse)
      expect((yield* http.execute(put(Stream.never))).status).toBe(413)
      expect((yield* http.get("/body/a")).status).toBe(413)
    }))

  it.scoped("is written at the pace of its reader, whose leaving interrupts it", () =>
    Effect.gen(function*() {
      const pulled = yield* Ref.make(0)
      const ended = yield* Deferred.make<void>()
      const http = yield* client((exchange) =>
        BodyWriter.send(exchange, 200, [], 512 * MiB, pieces(512, pulled)).pipe(
          Effect.ensuring(Deferred.succeed(ended, undefined))
        )
      )
      const answer = yield* http.get("/body/a")
      expect((yield* Stream.runCollect(Stream.take(answer.stream, 1))).length).toBe(1)
      yield* Deferred.await(ended)
      expect(yield* Ref.get(pulled)).toBeLessThan(8)
    }))

  it.scoped("that fails breaks the answer", () =>
    Effect.gen(function*() {
      const http = yield* client((exchange) => BodyWriter.send(exchange, 200, [], 5, Stream.make(Buffer.from("abc"))))
      const answer = yield* http.get("/body/a")
      expect(Exit.isFailure(yield* Effect.exit(answer.text))).toBe(true)
    }))
})

describe("a body that a middleware has read", () => {
  it.scoped("is read again", () =>
    Effect.gen(function*() {
      const Reading = HttpLayerRouter.middleware((app) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.zipRight(Effect.orDie(request.text), app)), { global: true })
      const port = yield* startLayer(Layer.merge(Route.layer(route(mirror)), Reading))
      expect((yield* request(port, "/body/a", { method: "PUT", body: "abc" })).text).toBe("abc")
      expect((yield* request(port, "/body/a", { method: "PUT", body: "" })).text).toBe("")
    }))
})

describe("the platform's own web handler", () => {
  it.effect("streams bodies through the same listeners", () =>
    Effect.gen(function*() {
      const web = HttpLayerRouter.toWebHandler(Route.layer(route(mirror)), { disableLogger: true })
      const call = (init: RequestInit) => Effect.promise(() => web.handler(new Request("http://h/body/a", init)))
      const answer = yield* call({ method: "PUT", body: "abc" })
      expect(yield* Effect.promise(() => answer.text())).toBe("abc")
      const head = yield* call({ method: "GET" })
      expect(head.headers.get("content-length")).toBe("0")
      yield* Effect.promise(web.dispose)
    }))
})
