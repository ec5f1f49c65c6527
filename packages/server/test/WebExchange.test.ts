import * as EventStream from "@effect-agentenv/server/EventStream"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import * as Health from "@effect-agentenv/server/Health"
import * as InProcess from "@effect-agentenv/server/InProcess"
import * as Route from "@effect-agentenv/server/Route"
import * as WebExchange from "@effect-agentenv/server/WebExchange"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { echo, text } from "./support.ts"

const respond = (request: Request, listener: Exchange.Listener, options?: { readonly maxBuffered: number }) =>
  Effect.promise(() => WebExchange.respond(request, listener, options))

const read = (response: { readonly text: Effect.Effect<string, unknown> }) => response.text
const chunks = (...texts: ReadonlyArray<string>) =>
  HttpClientRequest.bodyStream(Stream.encodeText(Stream.fromIterable(texts)))

describe("a web exchange", () => {
  it.effect("shows the request as it is", () =>
    Effect.gen(function*() {
      const request = new Request("http://h:1/a%20b/c?x=1&y#frag", { method: "PUT", headers: { "X-One": "1" } })
      const response = yield* respond(request, (exchange) => {
        const { method, path, query } = exchange
        const headers = ["x-one", "host", "x-two"].map(exchange.header.bind(exchange))
        text(exchange, JSON.stringify({ method, path, query, headers }))
      })
      expect(JSON.parse(yield* Effect.promise(() => response.text())))
        .toEqual({ method: "PUT", path: "/a%20b/c", query: "x=1&y", headers: ["1", "h:1", null] })
    }))

  it.effect("takes the first answer alone", () =>
    Effect.gen(function*() {
      let exchange!: Exchange.Exchange
      const response = yield* respond(new Request("http://h/"), (given) => {
        exchange = given
        text(given, "one", 201)
        text(given, "two")
        given.stream(200, []).send("three")
      })
      expect([response.status, yield* Effect.promise(() => response.text())]).toEqual([201, "one"])
      expect([exchange.answered, exchange.closed]).toEqual([true, false])
    }))

  it.effect("hears of the client's leaving through the signal, once, before the answer only", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const controller = new AbortController()
      const pending = yield* Effect.fork(
        respond(new Request("http://h/", { signal: controller.signal }), (exchange) => {
          exchange.onClose(() => heard.push("left"))
          exchange.onClose(() => exchange.onClose(() => heard.push("late")))
        })
      )
      yield* Effect.yieldNow()
      controller.abort()
      expect((yield* Fiber.join(pending)).status).toBe(499)
      expect(heard).toEqual(["left", "late"])

      const after = new AbortController()
      yield* respond(new Request("http://h/", { signal: after.signal }), (exchange) => {
        exchange.onClose(() => heard.push("never"))
        text(exchange, "done")
      })
      after.abort()
      expect(heard).toEqual(["left", "late"])
    }))

  it.effect("hears of a reader that cancels an event stream", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      let stream!: EventStream.EventStream
      const response = yield* respond(new Request("http://h/"), (exchange) => {
        stream = exchange.stream(200, [])
        stream.onClose(() => heard.push("left"))
        stream.send("one")
      })
      yield* Effect.promise(() => response.body!.cancel())
      stream.send("into the void")
      stream.end()
      expect([heard, stream.done]).toEqual([["left"], true])
    }))

  it.effect("drops a reader that leaves more than maxBuffered unread", () =>
    Effect.gen(function*() {
      let stream!: EventStream.EventStream
      let left = false
      const response = yield* respond(new Request("http://h/"), (exchange) => {
        stream = exchange.stream(200, [])
        stream.onClose(() => void (left = true))
      }, { maxBuffered: 1_000 })
      stream.send("x".repeat(800))
      expect(left).toBe(false)
      stream.send("x".repeat(800))
      expect(left).toBe(true)
      expect(yield* Effect.promise(() => response.text().catch((error: Error) => error.name))).toBe("AbortError")
    }))

  it.effect("keeps a reader that is waited for, however large a write is", () =>
    Effect.gen(function*() {
      let stream!: EventStream.EventStream
      const response = yield* respond(new Request("http://h/"), (exchange) => {
        stream = exchange.stream(200, [])
      }, { maxBuffered: 1_000 })
      const reader = response.body!.getReader()
      const sizes: Array<number> = []
      for (let n = 0; n < 3; n++) {
        stream.write("x".repeat(5_000))
        expect(stream.full).toBe(true)
        const drained = yield* Effect.fork(Effect.async<void>((resume) => stream.onDrain(() => resume(Effect.void))))
        yield* Effect.yieldNow()
        sizes.push((yield* Effect.promise(() => reader.read())).value!.byteLength)
        yield* Fiber.join(drained)
      }
      expect([sizes, stream.full, stream.done]).toEqual([[5_000, 5_000, 5_000], false, false])
      let told = false
      stream.onDrain(() => void (told = true))
      expect(told).toBe(true)
    }))

  it.effect("aborts the reading of a body with its signal", () =>
    Effect.gen(function*() {
      const controller = new AbortController()
      const body = new ReadableStream({ start: (sink) => sink.enqueue(new Uint8Array(3)) })
      const init: RequestInit & { readonly duplex: "half" } = {
        method: "POST",
        body,
        duplex: "half",
        signal: controller.signal
      }
      const tags: Array<string> = []
      const read = yield* Effect.makeLatch()
      const pending = yield* Effect.fork(respond(new Request("http://h/", init), (exchange) =>
        exchange.body(10, (body) => {
          tags.push(body._tag)
          read.unsafeOpen()
        })))
      yield* Effect.yieldNow()
      controller.abort()
      yield* read.await
      yield* Fiber.join(pending)
      expect(tags).toEqual(["Aborted"])
    }))
})

describe("InProcess.httpClient", () => {
  const client = InProcess.httpClient([Health.route, echo("/echo", 5)], { hosts: ["localhost:*"] })
  const post = (body: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest) =>
    client.execute(body(HttpClientRequest.post("/echo")))

  it.effect("serves relative and absolute URLs, 404, 405 and the host check as a server does", () =>
    Effect.gen(function*() {
      const seen = yield* Effect.forEach([
        "/health",
        "/health/",
        "http://localhost:1/health",
        "/none",
        "http://evil/health"
      ], (url) => Effect.map(client.get(url), (response) => response.status))
      expect(seen).toEqual([200, 200, 200, 404, 421])
      expect((yield* client.post("/health")).headers).toMatchObject({ allow: "GET, HEAD" })
      expect((yield* client.head("/health")).headers["content-length"]).toBe("15")
    }))

  it.effect("sends texts, bytes and streams, and is told 413", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flatMap(post(HttpClientRequest.bodyText("abc")), read)).toBe("Text:3:abc")
      expect(yield* Effect.flatMap(post(HttpClientRequest.bodyUint8Array(new Uint8Array(5))), read)).toContain(
        "Text:5:"
      )
      expect(yield* Effect.flatMap(post(chunks("ab", "cd")), read)).toBe("Text:4:abcd")
      expect((yield* post(chunks("abc", "def"))).status).toBe(413)
    }))

  it.effect("is a layer too, and refuses two routes of one path", () =>
    Effect.gen(function*() {
      expect((yield* HttpClient.get("/health")).status).toBe(200)
      expect(() => InProcess.httpClient([Health.route, Health.route]))
        .toThrow(new Route.RouteCollision({ path: "/health" }))
    }).pipe(Effect.provide(InProcess.layer([Health.route]))))
})

describe("EventStream", () => {
  it("keeps line breaks inside one event", () => {
    expect(EventStream.message("a\nb\r\nc\rd")).toBe("event: message\ndata: a\ndata: b\ndata: c\ndata: d\n\n")
    expect(EventStream.commentFrame("a\nb")).toBe(": a\n: b\n\n")
  })
})
