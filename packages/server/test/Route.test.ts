import * as Calls from "@effect-agentenv/server/Calls"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Exchange from "@effect-agentenv/server/Exchange"
import * as Health from "@effect-agentenv/server/Health"
import * as Route from "@effect-agentenv/server/Route"
import { HttpLayerRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Layer, Ref, Scope } from "effect"
import { echo, request, start, startLayer, text, wire } from "./support.ts"

const hello = Route.make("GET", "/hello", (exchange) => text(exchange, `hello ${exchange.query}`))
const broken = Route.make("GET", "/broken", () => {
  throw new Error("the secret")
})
const brokenBody = Route.make("POST", "/broken", (exchange) =>
  exchange.body(100, () => {
    throw new Error("the secret")
  }))
const deny = <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    request.headers["x-pass"] === undefined
      ? Effect.succeed(HttpServerResponse.text(`denied ${request.url}`, { status: 403 }))
      : app)
const Deny = HttpLayerRouter.middleware(deny)
const pass = HttpLayerRouter.middleware((app) => app, { global: true })

describe("a route", () => {
  // Once through the front and once behind the router: the same listeners must answer alike.
  for (const [way, middleware] of [["the front", Layer.empty], ["the router", pass]] as const) {
    describe(`through ${way}`, () => {
      const routes = [hello, echo("/echo", 1_000), {
        path: "/none",
        methods: { GET: hello.methods["GET"]! },
        head: false
      }]
      const serve = Effect.suspend(() => startLayer(Layer.merge(Route.layer(routes), middleware)))

      it.scoped("gets path and query", () =>
        Effect.gen(function*() {
          const port = yield* serve
          expect(yield* request(port, "/hello?a=1&b=%20")).toMatchObject({ status: 200, text: "hello a=1&b=%20" })
          expect(yield* request(port, "/hello")).toMatchObject({ status: 200, text: "hello " })
        }))

      it.scoped("answers 405 with Allow to other verbs, and HEAD as GET without a body", () =>
        Effect.gen(function*() {
          const port = yield* serve
          for (const method of ["POST", "DELETE", "OPTIONS", "PATCH"]) {
            const answer = yield* request(port, "/hello", { method })
            expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"])
          }
          const head = yield* request(port, "/hello?x", { method: "HEAD" })
          expect([head.status, head.text, head.headers.get("content-length")]).toEqual([200, "", "7"])
          const refused = yield* request(port, "/none", { method: "HEAD" })
          expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET"])
        }))

      it.scoped("serves what begins with a prefix and has no route of its own, the longest prefix first", () =>
        Effect.gen(function*() {
          const named = (name: string, path: string) =>
            Route.make("GET", path, (exchange) => text(exchange, `${name} ${exchange.path}?${exchange.query}`))
          const port = yield* startLayer(Layer.merge(
            Route.layer([
              named("all", "/files/*"),
              named("deep", "/files/deep/*"),
              named("exact", "/files/exact"),
              named("dots", "/dots/*")
            ]),
            middleware
          ))
          const get = (path: string) => Effect.map(request(port, path), ({ status, text }) => [status, text])
          expect(yield* get("/files/a/b%2Fc?x=/files/deep/")).toEqual([200, "all /files/a/b%2Fc?x=/files/deep/"])
          expect(yield* get("/files/")).toEqual([200, "all /files/?"])
          expect(yield* get("/files/deep/x")).toEqual([200, "deep /files/deep/x?"])
          expect(yield* get("/files/exact")).toEqual([200, "exact /files/exact?"])
          expect(yield* get("/files/exact/x")).toEqual([200, "all /files/exact/x?"])
          expect((yield* get("/files"))[0]).toBe(404)
          const refused = yield* request(port, "/files/a", { method: "POST" })
          expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"])
          const socket = yield* wire(port)
          socket.send("GET /dots/%2e%2e/../x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          expect(yield* socket.closed).toContain("dots /dots/%2e%2e/../x?")
        }))

      it.scoped("answers 404 as JSON to an unknown path", () =>
        Effect.gen(function*() {
          const answer = yield* request(yield* serve, "/hello/there")
          expect([answer.status, answer.text]).toEqual([404, "{\"detail\":\"Not Found\"}"])
          expect(answer.headers.get("content-type")).toBe("application/json")
        }))

      it.scoped("reads a body of any form up to the limit and answers 413 past it", () =>
        Effect.gen(function*() {
          const port = yield* serve
          const post = (body: string) => request(port, "/echo", { method: "POST", body })
          expect((yield* post("")).text).toBe("Text:0:")
          expect((yield* post("grüße")).text).toBe("Text:7:grüße")
          expect((yield* post("x".repeat(1_000))).text).toContain("Text:1000:")
          expect((yield* post("x".repeat(1_001))).status).toBe(413)
        }))

      it.scoped("answers 413 to a declared size before the body and keeps the connection", () =>
        Effect.gen(function*() {
          const socket = yield* wire(yield* serve)
          socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n")
          expect(yield* socket.until((text) => text.includes("too large"))).toContain("HTTP/1.1 413")
          socket.send("x".repeat(5_000))
          socket.send("GET /hello?next HTTP/1.1\r\nHost: a\r\n\r\n")
          yield* socket.until((text) => text.includes("hello next"))
          socket.destroy()
        }))

      it.scoped("answers 413 to a chunked body by its counted size, to a client that is still sending", () =>
        Effect.gen(function*() {
          const socket = yield* wire(yield* serve)
          socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
          socket.send(`258\r\n${"x".repeat(600)}\r\n`)
          socket.send(`258\r\n${"x".repeat(600)}\r\n`)
          expect(yield* socket.until((text) => text.includes("too large"))).toContain("HTTP/1.1 413")
          socket.send(`258\r\n${"x".repeat(600)}\r\n0\r\n\r\n`)
          socket.send("GET /hello?next HTTP/1.1\r\nHost: a\r\n\r\n")
          yield* socket.until((text) => text.includes("hello next"))
          socket.destroy()
        }))
    })
  }

  it.scoped("that throws answers a correlation id and never the message (B-HTTP-3)", () =>
    Effect.gen(function*() {
      const both = { path: "/broken", methods: { ...broken.methods, ...brokenBody.methods } }
      const own = HttpLayerRouter.add("GET", "/defect", Effect.die("the secret"))
      for (const middleware of [Layer.empty, pass]) {
        const port = yield* startLayer(Layer.mergeAll(Route.layer([both]), own, middleware))
        const answers = [
          yield* request(port, "/broken"),
          yield* request(port, "/broken", { method: "POST", body: "x" }),
          yield* request(port, "/defect")
        ]
        for (const answer of answers) {
          expect(answer.status).toBe(500)
          expect(answer.text).toMatch(/^An unexpected framework error occurred\. Correlation ID: [0-9a-f]{32}$/)
        }
      }
    }))

  it.scoped("on a path that is taken is a RouteCollision that names it", () =>
    Effect.gen(function*() {
      const twice = yield* Effect.flip(start([hello, Health.route, hello]))
      expect(twice).toEqual(new Route.RouteCollision({ path: "/hello" }))
      const other = yield* Effect.flip(startLayer(Layer.merge(Health.layer, Layer.fresh(Health.layer))))
      expect(other.message).toBe("The path /health already belongs to another route")
    }))

  it.scoped("may be made by an effect, whose scope is the server's", () =>
    Effect.gen(function*() {
      const open = yield* Ref.make(false)
      const routes = Effect.as(Effect.acquireRelease(Ref.set(open, true), () => Ref.set(open, false)), [hello])
      const scope = yield* Scope.make()
      const port = yield* Scope.extend(startLayer(Route.layer(routes)), scope)
      expect([(yield* request(port, "/hello")).status, yield* open]).toEqual([200, true])
      yield* Scope.close(scope, Exit.void)
      expect(yield* open).toBe(false)
    }))
})

describe("middleware is never skipped", () => {
  it.scoped("when it is global, whether installed before or after the routes", () =>
    Effect.gen(function*() {
      const Global = HttpLayerRouter.middleware(deny, { global: true })
      for (const routes of [Layer.provideMerge(Health.layer, Global), Layer.provideMerge(Global, Health.layer)]) {
        const answer = yield* request(yield* startLayer(routes), "/health")
        expect([answer.status, answer.text]).toEqual([403, "denied /health"])
      }
    }))

  it.scoped("when it is a route's own, and other routes do without", () =>
    Effect.gen(function*() {
      const port = yield* startLayer(Layer.merge(Route.layer([hello]).pipe(Layer.provide(Deny.layer)), Health.layer))
      expect((yield* request(port, "/hello?x")).text).toBe("denied /hello?x")
      expect((yield* request(port, "/health")).status).toBe(200)
    }))

  it.scoped("when a middleware provides another through combine", () =>
    Effect.gen(function*() {
      const combined = HttpLayerRouter.middleware((app) => app).combine(Deny)
      const port = yield* startLayer(Route.layer([hello]).pipe(Layer.provide(combined.layer)))
      expect((yield* request(port, "/hello")).status).toBe(403)
    }))

  it.scoped("when the router is prefixed: the route lives under the prefix alone", () =>
    Effect.gen(function*() {
      const Prefixed = Layer.effect(
        HttpLayerRouter.HttpRouter,
        Effect.map(HttpLayerRouter.HttpRouter, (router) => router.prefixed("/env"))
      )
      const port = yield* startLayer(Layer.fresh(Health.layer).pipe(Layer.provide(Prefixed)))
      expect((yield* request(port, "/env/health")).status).toBe(200)
      expect((yield* request(port, "/health")).status).toBe(404)
    }))

  it.scoped("and its response headers reach plain answers and event streams", () =>
    Effect.gen(function*() {
      const events = Route.make("GET", "/events", (exchange) => {
        const stream = exchange.stream(200, ["x-own", "1"])
        stream.send("one")
        stream.end()
      })
      const port = yield* startLayer(
        Layer.mergeAll(
          Health.layer,
          Route.layer([events]),
          HttpLayerRouter.cors({ allowedOrigins: ["https://a.example"] })
        )
      )
      const init = { headers: { origin: "https://a.example" } }
      const plain = yield* request(port, "/health", init)
      expect(plain.headers.get("access-control-allow-origin")).toBe("https://a.example")
      const stream = yield* request(port, "/events", init)
      expect(stream.headers.get("access-control-allow-origin")).toBe("https://a.example")
      expect(stream.headers.get("x-own")).toBe("1")
      expect(stream.text).toBe(": open\n\nevent: message\ndata: one\n\n")
      expect((yield* request(port, "/health", { ...init, method: "OPTIONS" })).status).toBe(204)
    }))

  it.scoped("and may read the body before the listener does", () =>
    Effect.gen(function*() {
      const seen = yield* Ref.make("")
      const Reading = HttpLayerRouter.middleware((app) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          request.text.pipe(
            Effect.orDie,
            Effect.flatMap((body) => Ref.set(seen, body)),
            Effect.zipRight(app)
          )), { global: true })
      const port = yield* startLayer(Layer.merge(Route.layer([echo("/echo", 3)]), Reading))
      expect((yield* request(port, "/echo", { method: "POST", body: "abc" })).text).toBe("Text:3:abc")
      expect(yield* seen).toBe("abc")
      expect((yield* request(port, "/echo", { method: "POST", body: "abcd" })).status).toBe(413)
    }))
})

describe("the platform's own web handler", () => {
  it.effect("runs the same listeners, with bodies, streams and interruption by the signal (E-7)", () =>
    Effect.gen(function*() {
      const state = yield* Ref.make("idle")
      const running = yield* Effect.makeLatch()
      const stopped = yield* Effect.makeLatch()
      const slow = Effect.gen(function*() {
        const calls = yield* Calls.make()
        return [Route.make("POST", "/slow", (exchange) => {
          calls.run(
            exchange,
            running.open.pipe(
              Effect.zipRight(Effect.never),
              Effect.onInterrupt(() => Ref.set(state, "interrupted").pipe(Effect.zipRight(stopped.open)))
            ),
            calls.runtime,
            () => {}
          )
        })]
      })
      const events = Route.make("GET", "/events", (exchange) => {
        const stream = exchange.stream(200, [])
        stream.send("one")
        stream.end()
      })
      const web = HttpLayerRouter.toWebHandler(
        Layer.mergeAll(Route.layer(slow), Route.layer([echo("/echo", 3), events]), HttpLayerRouter.cors()),
        { disableLogger: true }
      )
      const call = (path: string, init?: RequestInit) =>
        Effect.promise(() => web.handler(new Request(`http://h${path}`, init)))
      const answer = yield* call("/echo", { method: "POST", body: "abc" })
      expect(yield* Effect.promise(() => answer.text())).toBe("Text:3:abc")
      expect(answer.headers.get("access-control-allow-origin")).toBe("*")
      expect((yield* call("/echo", { method: "POST", body: "abcd" })).status).toBe(413)
      expect(yield* Effect.promise(() => web.handler(new Request("http://h/events")).then((_) => _.text())))
        .toBe(": open\n\nevent: message\ndata: one\n\n")
      const controller = new AbortController()
      const pending = yield* Effect.fork(call("/slow", { method: "POST", signal: controller.signal }))
      yield* running.await
      controller.abort()
      yield* stopped.await
      expect(yield* state).toBe("interrupted")
      expect((yield* pending.await)._tag).toBe("Success")
      yield* Effect.promise(web.dispose)
    }))
})

describe("Exchange.json and Correlation.sentence", () => {
  it.scoped("answer with headers of the caller's and the contract's wording", () =>
    Effect.gen(function*() {
      const route = Route.make("GET", "/json", (exchange) => Exchange.json(exchange, 201, { a: 1 }, ["x-a", "b"]))
      const answer = yield* request(yield* start([route]), "/json")
      expect([answer.status, answer.headers.get("x-a"), answer.text]).toEqual([201, "b", "{\"a\":1}"])
      expect(Correlation.sentence("0f")).toBe("An unexpected framework error occurred. Correlation ID: 0f")
    }))
})
