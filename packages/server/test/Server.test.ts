import * as Body from "@effect-agentenv/server/Body"
import * as Calls from "@effect-agentenv/server/Calls"
import type * as EventStream from "@effect-agentenv/server/EventStream"
import * as Health from "@effect-agentenv/server/Health"
import * as Route from "@effect-agentenv/server/Route"
import * as Server from "@effect-agentenv/server/Server"
import { HttpLayerRouter, HttpServer, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Context, Deferred, Effect, Exit, Layer, Logger, Ref, Scope } from "effect"
import { createServer } from "node:http"
import { echo, options, request, start, startLayer, text, wire } from "./support.ts"

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
const liveMillis = Clock.make().currentTimeMillis

const pass = HttpLayerRouter.middleware((app) => app, { global: true })

/** A route whose call never ends by itself, with latches to follow it. */
const endless = Effect.gen(function*() {
  const started = yield* Effect.makeLatch()
  const finalized = yield* Effect.makeLatch()
  const exits: Array<boolean> = []
  const routes = Effect.gen(function*() {
    const calls = yield* Calls.make()
    return [
      Route.make("GET", "/", (exchange) =>
        calls.run(
          exchange,
          Effect.ensuring(Effect.zipRight(started.open, Effect.never), finalized.open),
          calls.runtime,
          (exit) => {
            exits.push(Exit.isInterrupted(exit))
            text(exchange, "closing", 503)
          }
        ))
    ]
  })
  return { started, finalized, exits, layer: Route.layer(routes) }
})

const events = (use: (stream: EventStream.EventStream) => void) =>
  Route.layer(Effect.map(Calls.make(), (calls) => [
    Route.make("GET", "/events", (exchange) => use(calls.stream(exchange, 200, [])))
  ]))

describe("a client that leaves", () => {
  it.scoped("interrupts its call, which runs its finalizers", () =>
    Effect.gen(function*() {
      const call = yield* endless
      for (const global of [Layer.empty, pass]) {
        const socket = yield* wire(yield* startLayer(Layer.merge(Layer.fresh(call.layer), global)))
        socket.send(get)
        yield* call.started.await
        socket.destroy()
        yield* call.finalized.await
        yield* call.started.close
        yield* call.finalized.close
      }
      expect(call.exits).toEqual([true, true])
    }))

  it.scoped("in the middle of its body leaves the next request served (E-1)", () =>
    Effect.gen(function*() {
      const tags: Array<string> = []
      const aborted = yield* Effect.makeLatch()
      const reading = yield* Effect.makeLatch()
      const route = Route.make("POST", "/", (exchange) => {
        exchange.body(1_000, (body) => {
          tags.push(body._tag)
          if (body._tag === "Aborted") aborted.unsafeOpen()
          else text(exchange, "whole")
        })
        reading.unsafeOpen()
      })
      const port = yield* start([route])
      const socket = yield* wire(port)
      socket.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")
      yield* reading.await
      socket.destroy()
      yield* aborted.await
      expect((yield* request(port, "/", { method: "POST", body: "x" })).text).toBe("whole")
      expect(tags).toEqual(["Aborted", "Text"])
    }))

  it.scoped("is heard of on its event stream", () =>
    Effect.gen(function*() {
      const left = yield* Effect.makeLatch()
      const socket = yield* wire(yield* startLayer(events((stream) => stream.onClose(() => left.unsafeOpen()))))
      socket.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
      // The head is there before any event is.
      expect(yield* socket.until((text) => text.includes("\r\n\r\n"))).toContain("content-type: text/event-stream")
      socket.destroy()
      yield* left.await
    }))

  for (const [way, middleware] of [["the front", Layer.empty], ["the router", pass]] as const) {
    it.scoped(`without reading its event stream is dropped at maxBuffered, through ${way}`, () =>
      Effect.gen(function*() {
        const opened = yield* Deferred.make<EventStream.EventStream>()
        const left = yield* Effect.makeLatch()
        const routes = events((stream) => {
          stream.onClose(() => left.unsafeOpen())
          Deferred.unsafeDone(opened, Exit.succeed(stream))
        })
        const port = yield* startLayer(Layer.merge(routes, middleware), { limits: { maxBuffered: 100_000 } })
        const socket = yield* wire(port)
        socket.pause()
        socket.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        const stream = yield* Deferred.await(opened)
        // What the kernel takes is not ours to bound; 10 kB a turn fits the bound until it takes no more.
        let sent = 0
        yield* Effect.repeat(
          Effect.async<void>((resume) => {
            stream.send("x".repeat(10_000))
            sent++
            setImmediate(() => resume(Effect.void))
          }),
          { until: () => stream.done, times: 5_000 }
        )
        yield* left.await
        expect([stream.done, sent > 20]).toEqual([true, true])
        socket.destroy()
      }))
  }

  it.scoped("or sends far past a 413 is cut off in the end", () =>
    Effect.gen(function*() {
      const socket = yield* wire(yield* start([echo("/", 10)]))
      socket.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      const chunk = `100000\r\n${"x".repeat(0x100000)}\r\n`
      socket.send(chunk)
      expect(yield* socket.until((text) => text.includes("too large"))).toContain("HTTP/1.1 413")
      for (let sent = 0; sent <= Body.drainLimit; sent += 0x100000) socket.send(chunk)
      yield* socket.closed
    }))
})

describe("closing a server", () => {
  it.effect("answers running calls, awaits finalizers, ends open streams, within a second (E-2, E-4)", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const call = yield* endless
      const open = yield* Ref.make(true)
      const Resource = Layer.scopedDiscard(
        Effect.addFinalizer(() =>
          Effect.flatMap(Effect.sync(() => call.exits.length), (exits) => Ref.set(open, exits === 0))
        )
      )
      const own = yield* Effect.makeLatch()
      const Own = HttpLayerRouter.add("GET", "/own", Effect.zipRight(own.open, Effect.never))
      const routes = Layer.mergeAll(call.layer, events(() => {}), Health.layer, Own).pipe(Layer.provide(Resource))
      const port = yield* Scope.extend(startLayer(routes), scope)
      const running = yield* wire(port)
      running.send(get)
      const platform = yield* wire(port)
      platform.send("GET /own HTTP/1.1\r\nHost: a\r\n\r\n")
      const idle = yield* wire(port)
      idle.send("GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
      yield* idle.until((text) => text.includes("ok"))
      const streams = yield* Effect.replicateEffect(wire(port), 3)
      for (const stream of streams) stream.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
      for (const stream of streams) yield* stream.until((text) => text.includes("\r\n\r\n"))
      yield* call.started.await
      yield* own.await

      const before = yield* liveMillis
      yield* Scope.close(scope, Exit.void)
      expect((yield* liveMillis) - before).toBeLessThan(1_000)

      expect(yield* running.closed).toContain("HTTP/1.1 503 Service Unavailable")
      expect(yield* platform.closed).toContain("HTTP/1.1 503 Service Unavailable")
      // A chunk of length zero: the stream ended in good order.
      for (const stream of streams) expect(yield* stream.closed).toMatch(/\r\n0\r\n\r\n$/)
      yield* idle.closed
      expect([call.exits, yield* open]).toEqual([[true], false])
    }))

  it.effect("lets a call behind the router give its own last answer (E-2)", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const call = yield* endless
      const port = yield* Scope.extend(startLayer(Layer.merge(call.layer, pass)), scope)
      const running = yield* wire(port)
      running.send(get)
      yield* call.started.await
      yield* Scope.close(scope, Exit.void)
      expect(yield* running.closed).toMatch(/^HTTP\/1\.1 503 [^]*\r\n\r\nclosing$/)
    }))

  it.effect("is bounded by the grace when a client neither reads nor leaves (E-1)", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const port = yield* Scope.extend(start([echo("/", 1_000)], { gracePeriod: "100 millis" }), scope)
      const stuck = yield* wire(port)
      stuck.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")
      const other = yield* wire(port)
      other.send("GET /none HTTP/1.1\r\nHost: a\r\n\r\n")
      yield* other.until((text) => text.includes("404"))
      const before = yield* liveMillis
      yield* Scope.close(scope, Exit.void)
      expect((yield* liveMillis) - before).toBeLessThan(1_000)
      yield* stuck.closed
    }))

  it.effect("frees the port for the next server", () =>
    Effect.gen(function*() {
      const first = yield* Scope.make()
      const port = yield* Scope.extend(start([Health.route]), first)
      yield* request(port, "/health")
      yield* Scope.close(first, Exit.void)
      yield* Effect.scoped(Effect.gen(function*() {
        expect(yield* start([Health.route], { port })).toBe(port)
        expect((yield* request(port, "/health")).status).toBe(200)
      }))
    }))
})

describe("Server.serve", () => {
  it.scoped("takes 512 connections at once (V-12)", () =>
    Effect.gen(function*() {
      const port = yield* start([Health.route])
      const statuses = yield* Effect.forEach(Array.from({ length: 512 }), () =>
        Effect.gen(function*() {
          const socket = yield* wire(port)
          socket.send("GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          return (yield* socket.closed).slice(9, 12)
        }), { concurrency: "unbounded" })
      expect(new Set(statuses)).toEqual(new Set(["200"]))
    }))

  it.scoped("fails with the host and the port when it cannot listen", () =>
    Effect.gen(function*() {
      const port = yield* start([Health.route])
      const messages = yield* Effect.forEach([
        { port },
        { port: 70_000 },
        { host: "192.0.2.1" }
      ], (more) => Effect.map(Effect.flip(start([Health.route], more)), (error) => [error._tag, error.message]))
      expect(messages.slice(0, 2)).toEqual([
        ["ServeError", `Cannot listen on 127.0.0.1:${port}: the port is in use`],
        ["ServeError", "Cannot listen on 127.0.0.1:70000: not a port number"]
      ])
      expect(messages[2]![1]).toContain("Cannot listen on 192.0.2.1:0: the host is not an address of this machine")
    }))

  it.scoped("says where it listens, and warns when anyone may call it", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ logLevel, message }) => {
          lines.push(`${logLevel.label} ${String(message)}`)
        })
      )
      const serve = (more: Partial<Server.Options>) =>
        Effect.map(
          Layer.build(Layer.provide(Server.serve(Layer.fresh(Health.layer), { ...options, ...more }), logger)),
          (context) => (Context.get(context, HttpServer.HttpServer).address as HttpServer.TcpAddress).port
        )
      const first = yield* serve({})
      const second = yield* serve({ host: "0.0.0.0" })
      const third = yield* serve({ host: "0.0.0.0", hosts: ["localhost:*"] })
      expect(lines).toEqual([
        `INFO Listening on http://127.0.0.1:${first}`,
        `INFO Listening on http://0.0.0.0:${second}`,
        expect.stringMatching(/^WARN Bound to 0\.0\.0\.0 without a list of allowed hosts/),
        `INFO Listening on http://0.0.0.0:${third}`
      ])
    }))

  it.scoped("builds what is inside its routes for itself: two servers in one program share nothing", () =>
    Effect.gen(function*() {
      const made = yield* Ref.make(0)
      const Routes = Layer.merge(Health.layer, Layer.scopedDiscard(Ref.update(made, (n) => n + 1)))
      const [one, two] = yield* Effect.all([startLayer(Routes), startLayer(Routes)])
      expect((yield* request(one, "/health")).status).toBe(200)
      expect((yield* request(two, "/health")).status).toBe(200)
      expect(yield* made).toBe(2)
    }))

  it.scoped("keeps the way of long path parameters and the case of paths", () =>
    Effect.gen(function*() {
      const own = HttpLayerRouter.add(
        "GET",
        "/items/:id",
        Effect.map(HttpLayerRouter.params, (params) => HttpServerResponse.text(`${params["id"]?.length}`))
      )
      const port = yield* startLayer(Layer.merge(Health.layer, own))
      expect((yield* request(port, `/items/${"x".repeat(900)}`)).text).toBe("900")
      expect((yield* request(port, "/Health")).status).toBe(404)
      expect((yield* request(port, "/health/")).status).toBe(200)
    }))
})

describe("Server.layer", () => {
  it.scoped("serves the same routes on an HttpServer in context, with its checks", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(
        Server.layer(Layer.fresh(Layer.merge(Health.layer, Route.layer([echo("/echo", 3)]))), {
          origins: ["https://a.example"]
        }).pipe(
          Layer.provideMerge(NodeHttpServer.layerServer(createServer, { port: 0, host: "127.0.0.1" }))
        )
      )
      const { port } = Context.get(context, HttpServer.HttpServer).address as HttpServer.TcpAddress
      expect((yield* request(port, "/health")).text).toBe("{\"status\":\"ok\"}")
      expect((yield* request(port, "/echo", { method: "POST", body: "abcd" })).status).toBe(413)
      expect((yield* request(port, "/none")).text).toBe("{\"detail\":\"Not Found\"}")
      expect((yield* request(port, "/health", { headers: { origin: "https://b.example" } })).status).toBe(403)
    }))
})
