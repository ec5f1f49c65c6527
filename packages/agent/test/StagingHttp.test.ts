import { Staging, StagingHttp } from "@effect-agentenv/agent"
import { InProcess } from "@effect-agentenv/server"
import { HttpClientRequest, HttpLayerRouter } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Layer, Logger, Scope, Stream, Tracer } from "effect"
import * as Net from "node:net"
import { bytes, filesBelow, id, open, raw, request, serve } from "./support.ts"

const pass = HttpLayerRouter.middleware((app) => app, { global: true })

const detail = ({ body }: { readonly body: string }) => (JSON.parse(body) as { readonly detail: unknown }).detail

for (const [way, middleware] of [["the front", Layer.empty], ["the router", pass]] as const) {
  describe(`a staging route through ${way}`, () => {
    const start = (maxBytes: number) => serve(maxBytes, middleware)

    it.scoped("stores, gives, lists and removes (B-STG-5, 6, 8, 9)", () =>
      Effect.gen(function*() {
        const { port } = yield* start(100)
        const put = yield* request(port, "PUT", `${id}/in/a`, { body: "clay" })
        const { etag, ...stored } = JSON.parse(put.body) as Staging.StagedObject
        expect([put.status, stored.path, stored.size_bytes, stored.sha256.length]).toEqual([201, `${id}/in/a`, 4, 64])
        const get = yield* request(port, "GET", `${id}/in/a`)
        expect([get.status, get.body]).toEqual([200, "clay"])
        expect(get.headers.toLowerCase()).toContain("content-type: application/octet-stream")
        expect(get.headers.toLowerCase()).toContain("content-length: 4")
        expect(get.headers).toContain(etag)
        const list = yield* request(port, "GET", `${id}/`)
        expect(JSON.parse(list.body)).toEqual({ objects: [{ path: "in/a", size_bytes: 4, etag }] })
        const changed = yield* request(port, "DELETE", `${id}/in/a`, { headers: { "If-Match": "\"0-0\"" } })
        expect([changed.status, detail(changed)]).toEqual([412, expect.any(String)])
        expect((yield* request(port, "DELETE", `${id}/in/a`, { headers: { "If-Match": etag } })).status).toBe(204)
        expect((yield* request(port, "DELETE", `${id}/in/a`)).status).toBe(404)
        expect((yield* request(port, "DELETE", `${id}/`)).status).toBe(204)
        expect(JSON.parse((yield* request(port, "GET", `${id}/`)).body)).toEqual({ objects: [] })
      }))

    it.scoped("HEAD tells what GET would, and removes nothing (B-STG-6)", () =>
      Effect.gen(function*() {
        const { port } = yield* start(100)
        yield* request(port, "PUT", `${id}/a`, { body: "clay" })
        for (let i = 0; i < 2; i++) {
          const head = yield* request(port, "HEAD", `${id}/a`)
          expect([head.status, head.body]).toEqual([200, ""])
          expect(head.headers.toLowerCase()).toContain("content-length: 4")
        }
      }))

    it.scoped("refuses what a path must not be (B-STG-4)", () =>
      Effect.gen(function*() {
        const { directory, port } = yield* start(1000)
        const paths = [
          "%2e%2e/x",
          "a/../b",
          "./a",
          "a/%2E",
          "/a",
          "a//b",
          "a%5Cb",
          "a\\b",
          "a%00",
          "a%2f..%2fb",
          "a%2f%2fb",
          "x".repeat(1000)
        ]
        for (const path of paths) {
          for (const method of ["PUT", "GET", "DELETE"]) {
            const answer = yield* request(port, method, `${id}/${path}`, method === "PUT" ? { body: "x" } : {})
            expect([path, method, answer.status, typeof detail(answer)]).toEqual([path, method, 400, "string"])
          }
        }
        expect((yield* request(port, "GET", "")).status).toBe(400)
        expect((yield* request(port, "GET", `${id}/a//`)).status).toBe(400)
        expect(yield* filesBelow(directory)).toEqual([])
        // percent signs that are a name's own are no escape (encoded twice)
        expect(JSON.parse((yield* request(port, "PUT", `${id}/%252e%252e/x`, { body: "x" })).body))
          .toMatchObject({ path: `${id}/%2e%2e/x` })
        expect((yield* request(port, "PUT", `${id}/${"d/".repeat(495)}e`, { body: "x" })).status).toBe(201)
      }))

    it.scoped("hides what is below a short first segment as if it were absent (B-STG-4, B-STG-15)", () =>
      Effect.gen(function*() {
        const { port } = yield* start(100)
        const absent = yield* request(port, "GET", `${id}/none`)
        for (
          const [method, path] of [["GET", "x"], ["PUT", "q/a"], ["DELETE", "q/"], ["POST", "q"], [
            "GET",
            "q/"
          ]] as const
        ) {
          const answer = yield* request(port, method, path, { body: "x" })
          expect([answer.status, answer.body]).toEqual([404, absent.body])
        }
        expect((yield* request(port, "PUT", "q".repeat(21), { body: "x" })).status).toBe(404)
        expect((yield* request(port, "PUT", "q".repeat(22), { body: "x" })).status).toBe(201)
      }))

    it.scoped("refuses other verbs, and bodies for a prefix (B-STG-10, B-STG-12)", () =>
      Effect.gen(function*() {
        const { port } = yield* start(100)
        for (
          const [method, path] of [["PUT", `${id}/`], ["POST", `${id}/`], ["PATCH", `${id}/`], ["PATCH", `${id}/a`]]
        ) {
          const answer = yield* request(port, method!, path!, { body: "x" })
          expect([answer.status, typeof detail(answer)]).toEqual([405, "string"])
        }
      }))

    it.scoped("keeps within its room, by the declared and by the counted size (B-STG-11)", () =>
      Effect.gen(function*() {
        const { directory, port } = yield* start(10)
        const chunked = { "Transfer-Encoding": "chunked" }
        expect((yield* request(port, "PUT", `${id}/a`, { body: "x".repeat(11) })).status).toBe(413)
        const counted = yield* request(port, "PUT", `${id}/a`, {
          body: `b\r\n${"x".repeat(11)}\r\n0\r\n\r\n`,
          headers: chunked
        })
        expect([counted.status, typeof detail(counted)]).toEqual([413, "string"])
        expect(yield* filesBelow(directory)).toEqual([])
        expect(
          (yield* request(port, "PUT", `${id}/a`, { body: `a\r\n${"x".repeat(10)}\r\n0\r\n\r\n`, headers: chunked }))
            .status
        )
          .toBe(201)
      }))

    it.scoped("answers 400 to a body that ends early or runs over, and keeps nothing of it (B-STG-5, B-STG-12)", () =>
      Effect.gen(function*() {
        const { directory, port } = yield* start(100)
        const head = `PUT /ext/staging/${id}/a HTTP/1.1\r\nHost: a\r\n`
        expect(yield* raw(port, `${head}Content-Length: 5\r\n\r\nab`, { end: true })).toMatch(/^HTTP\/1.1 400 /)
        while ((yield* filesBelow(directory)).length > 0) yield* Effect.promise(() => new Promise(setImmediate))
        // what runs over is the next request to HTTP
        const over = yield* raw(port, `${head}Content-Length: 2\r\n\r\nabc d\r\n\r\n`)
        expect(over).toContain("HTTP/1.1 400 ")
      }))

    it.scoped("drops what a client that leaves has sent (B-STG-12)", () =>
      Effect.gen(function*() {
        const { directory, port, staging } = yield* start(100)
        const socket = Net.connect(port, "127.0.0.1")
        socket.on("error", () => {})
        socket.write(`PUT /ext/staging/${id}/a HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\nabc`)
        while ((yield* filesBelow(directory)).length === 0) yield* Effect.promise(() => new Promise(setImmediate))
        socket.destroy()
        while ((yield* filesBelow(directory)).length > 0) yield* Effect.promise(() => new Promise(setImmediate))
        // its room as well
        yield* staging.put(`${id}/b`, bytes("x".repeat(100)), { size: 100 })
      }))

    it.scoped("takes a form (B-STG-10)", () =>
      Effect.gen(function*() {
        const { port } = yield* start(100)
        const form = new FormData()
        form.set("key", "000001.tar")
        form.set("file", new Blob(["tar"]), "f")
        const answer = yield* Effect.promise(() =>
          fetch(`http://127.0.0.1:${port}/ext/staging/${id}/log`, { method: "POST", body: form })
        )
        expect([answer.status, yield* Effect.promise(() => answer.json())])
          .toEqual([201, expect.objectContaining({ path: `${id}/log/000001.tar`, size_bytes: 3 })])
        const refused = yield* request(port, "POST", `${id}/log`, {
          body: "x",
          headers: { "Content-Type": "text/plain" }
        })
        expect([refused.status, typeof detail(refused)]).toEqual([400, "string"])
      }))

    it.scoped("is not there when the store is off (B-STG-2)", () =>
      Effect.gen(function*() {
        const { port } = yield* start(0)
        for (const method of ["GET", "PUT", "POST", "DELETE"]) {
          expect((yield* request(port, method, `${id}/a`, { body: "x" })).status).toBe(404)
        }
      }))
  })
}

describe("a staging route", () => {
  const client = (staging: Staging.Staging["Type"]) =>
    Effect.map(
      Effect.provideService(StagingHttp.make, Staging.Staging, staging),
      (routes) => InProcess.httpClient(routes)
    )

  it.scoped("works in process, and checks Content-Length itself there (B-STG-5)", () =>
    Effect.gen(function*() {
      const { staging } = yield* open(100)
      const http = yield* client(staging)
      const put = (length: string) =>
        http.execute(
          HttpClientRequest.put(`/ext/staging/${id}/a`).pipe(
            HttpClientRequest.bodyStream(bytes("clay")),
            HttpClientRequest.setHeader("content-length", length)
          )
        )
      expect([(yield* put("4")).status, (yield* put("3")).status, (yield* put("5")).status]).toEqual([201, 400, 400])
      expect(yield* (yield* http.get(`/ext/staging/${id}/a`)).text).toBe("clay")
    }))

  it.scoped("streams a large object both ways", () =>
    Effect.gen(function*() {
      const { staging } = yield* open(1e9)
      const http = yield* client(staging)
      const pieces = Stream.map(Stream.range(0, 199), (i) => new Uint8Array(100_000).fill(i))
      const put = yield* http.execute(
        HttpClientRequest.put(`/ext/staging/${id}/a`).pipe(HttpClientRequest.bodyStream(pieces))
      )
      expect(yield* put.json).toMatchObject({ size_bytes: 20_000_000 })
      const { length, sum } = yield* Stream.runFold(
        (yield* http.get(`/ext/staging/${id}/a`)).stream,
        { length: 0, sum: 0 },
        ({ length, sum }, chunk) => ({ length: length + chunk.length, sum: chunk.reduce((a, b) => a + b, sum) })
      )
      expect([length, sum]).toEqual([20_000_000, 199 * 100 * 100_000])
    }))

  it.scoped("answers 503 to an upload that the server's end interrupts", () =>
    Effect.gen(function*() {
      const { directory, staging } = yield* open(100)
      const scope = yield* Scope.make()
      const http = yield* Scope.extend(client(staging), scope)
      const begun = yield* Deferred.make<void>()
      const content = Stream.concat(bytes("abc"), Stream.drain(Stream.fromEffect(Deferred.succeed(begun, undefined))))
      const answer = yield* Effect.fork(http.execute(
        HttpClientRequest.put(`/ext/staging/${id}/a`).pipe(
          HttpClientRequest.bodyStream(Stream.concat(content, Stream.never))
        )
      ))
      yield* Deferred.await(begun)
      yield* Scope.close(scope, Exit.void)
      expect((yield* answer).status).toBe(503)
      expect(yield* filesBelow(directory)).toEqual([])
    }))

  it.scoped("tells no path in spans and logs, nor in the answer to what fails inside (B-STG-15)", () =>
    Effect.gen(function*() {
      const native = yield* Effect.tracer
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (...args) => {
          const span = native.span(...args)
          spans.push(span)
          return span
        },
        context: (f, fiber) => native.context(f, fiber)
      })
      const logs: Array<string> = []
      const logger = Logger.make(({ cause, message }) =>
        void logs.push(String(message), Cause.pretty(cause, { renderErrorCause: true }))
      )
      yield* Effect.gen(function*() {
        const { directory, staging } = yield* open(100)
        const http = yield* client(staging)
        // the store's folder is taken away from under it
        yield* Effect.promise(() => import("node:fs/promises").then((fs) => fs.rm(directory, { recursive: true })))
        const answer = yield* http.execute(
          HttpClientRequest.put(`/ext/staging/${id}/a`).pipe(HttpClientRequest.bodyText("x"))
        )
        expect(answer.status).toBe(500)
        expect(yield* answer.text).not.toContain(id)
        yield* Effect.yieldNow()
      }).pipe(
        Effect.withTracer(tracer),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      // the client's own span is the client's affair
      const ours = spans.filter(({ kind }) => kind === "server")
      expect(ours.map(({ name }) => name)).toEqual(["staging.put"])
      expect(JSON.stringify(ours.map(({ attributes }) => [...attributes]))).not.toContain(id)
      expect(logs.join("\n")).toContain("ENOENT")
      expect(logs.join("\n")).not.toContain(id)
    }))

  it.scoped("serves any store that implements the port", () =>
    Effect.gen(function*() {
      const never = Effect.never
      const http = yield* client(Context.get(
        Context.make(Staging.Staging, {
          maxBytes: 1,
          put: () => never,
          get: () => Effect.succeed({ size_bytes: 2, etag: "\"a\"", content: bytes("ab") }),
          list: () => never,
          remove: () => Effect.dieMessage("the secret"),
          clear: () => never
        }),
        Staging.Staging
      ))
      expect(yield* (yield* http.get("/ext/staging/short")).text).toBe("ab")
      const answer = yield* http.del(`/ext/staging/${id}`)
      expect([answer.status, yield* answer.text]).toEqual([500, expect.not.stringContaining("secret")])
    }))
})
