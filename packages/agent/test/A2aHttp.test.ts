import * as A2a from "@effect-agentenv/agent/A2a"
import * as A2aHttp from "@effect-agentenv/agent/A2aHttp"
import * as TaskEngine from "@effect-agentenv/agent/TaskEngine"
import { InProcess, Route, Server } from "@effect-agentenv/server"
import { HttpLayerRouter, HttpServer } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Logger, LogLevel, Scope, TestClock } from "effect"
import * as Net from "node:net"
import { askJson, frames, Gate, type Json, layer, message, message1, rpc } from "./a2aAgent.ts"

/** A middleware, behind which every request takes the way through the platform's router. */
const pass = HttpLayerRouter.middleware((app) => app, { global: true })

/** Serves the scripted agent in the scope and answers the port. */
const serve = (
  options?: A2aHttp.Options,
  more: Layer.Layer<never, never, HttpLayerRouter.HttpRouter> = Layer.empty
) =>
  Effect.gen(function*() {
    const a2a = yield* A2a.A2a
    const routes = Route.layer(Effect.provideService(A2aHttp.make("/a2a", options), A2a.A2a, a2a))
    const context = yield* Layer.build(
      Server.serve(Layer.merge(routes, more), { port: 0, host: "127.0.0.1" }).pipe(
        Layer.provide(Logger.minimumLogLevel(LogLevel.None))
      )
    )
    return (Context.get(context, HttpServer.HttpServer).address as HttpServer.TcpAddress).port
  })

const post = (port: number, body: unknown, path = "/a2a", headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async (signal) => {
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const init = { method: "POST", body: text, signal, redirect: "manual" as const, headers: { ...headers } }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
  })

const postJson = (port: number, body: unknown) => Effect.map(post(port, body), ({ text }) => JSON.parse(text) as Json)

interface Connection {
  readonly socket: Net.Socket
  readonly received: () => string
  /** Waits until what was received, the last 64 kB of it, satisfies the predicate. */
  readonly until: (found: (text: string) => boolean) => Effect.Effect<void>
}

/** A request by hand, so that the reader can stop reading and leave. */
const connect = (port: number, body: unknown) =>
  Effect.acquireRelease(
    Effect.async<Connection>((resume) => {
      const socket = Net.connect(port, "127.0.0.1")
      const text = JSON.stringify(body)
      const chunks: Array<Buffer> = []
      const received = () => Buffer.concat(chunks).toString()
      let last = ""
      socket.on("data", (chunk: Buffer) => {
        chunks.push(chunk)
        last = (last + chunk.toString()).slice(-65_536)
      })
      socket.on("error", () => {})
      const until = (found: (text: string) => boolean) =>
        Effect.async<void>((resume) => {
          const check = () => {
            if (!found(last)) return
            socket.off("data", check)
            resume(Effect.void)
          }
          socket.on("data", check)
          check()
        })
      socket.once("connect", () => {
        socket.write(
          `POST /a2a HTTP/1.1\r\nHost: h\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
          () => resume(Effect.succeed({ socket, received, until }))
        )
      })
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

/** Lets the other side of a socket have its turns. */
const turns = (n: number) =>
  Effect.repeatN(Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void))), n)

const onlyTask = Effect.map(askJson(rpc("ListTasks", {})), ({ result }) => result.tasks[0])

describe("A2aHttp", () => {
  for (const [way, middleware] of [["the front", Layer.empty], ["the router", pass]] as const) {
    it.scoped(`A-24: serves its path with and without a slash, without a redirect, through ${way}`, () =>
      Effect.gen(function*() {
        const port = yield* serve({}, middleware)
        for (const path of ["/a2a", "/a2a/"]) {
          const { status, text, type } = yield* post(port, rpc("message/send", message("go")), path)
          expect([status, type]).toEqual([200, "application/json"])
          expect(JSON.parse(text).result.status.state).toBe("completed")
        }
        expect((yield* post(port, rpc("message/send", message("go")), "/a2a/b")).status).toBe(404)
      }).pipe(Effect.provide(layer())))

    it.scoped(`streams through ${way}`, () =>
      Effect.gen(function*() {
        const port = yield* serve({}, middleware)
        const { text, type } = yield* post(port, rpc("message/stream", message("say 2")))
        expect(type).toMatch(/^text\/event-stream/)
        expect(frames(text).map(({ data }) => data["result"].kind)).toEqual([
          "task",
          ...Array(4).fill("status-update")
        ])
        const [, second, ...rest] = frames(text)
        const id = frames(text)[0]!.data["result"].id
        const resumed = yield* post(port, rpc("tasks/resubscribe", { id }), "/a2a", { "last-event-id": second!.id! })
        expect(frames(resumed.text)).toEqual(rest)
      }).pipe(Effect.provide(layer())))

    it.scoped(
      `a reader that stalls costs nothing and gets everything later, through ${way}`,
      () =>
        Effect.gen(function*() {
          const a2a = yield* A2a.A2a
          let made = 0
          const counted = A2a.A2a.of({
            handle: (body, headers) =>
              Effect.map(a2a.handle(body, headers), (reply) =>
                reply._tag === "Json" ? reply : {
                  ...reply,
                  next: Effect.tap(reply.next, (frames) => Effect.sync(() => void (made += frames?.length ?? 0)))
                })
          })
          const port = yield* Effect.provideService(serve({}, middleware), A2a.A2a, counted)
          const reader = yield* connect(port, rpc("message/stream", message("flood 3000")))
          yield* reader.until((text) => text.includes("\"kind\":\"task\""))
          reader.socket.pause()
          // the task ends while nobody reads
          while ((yield* onlyTask).status.state !== "TASK_STATE_COMPLETED") yield* turns(10)
          yield* turns(200)
          // what the kernel takes is not ours to bound; of 30 MB much is still to be made
          expect(made).toBeLessThan(20_000_000)
          reader.socket.resume()
          yield* reader.until((text) => text.slice(-600).includes("\"final\":true"))
          const events = reader.received().match(/^data: .*$/gm)!.map((line) => JSON.parse(line.slice(6)).result)
          expect(events.length).toBe(3003)
          const numbers = events.slice(2, -1).map(({ status }) => Number.parseInt(status.message.parts[0].text))
          expect(numbers).toEqual(Array.from({ length: 3000 }, (_, n) => n))
          expect(events.filter(({ final }) => final === true).length).toBe(1)
        }).pipe(Effect.provide(layer())),
      30_000
    )
  }

  it.scoped("A-14: a body over the limit is a 413 with an error of JSON-RPC", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const { status, text, type } = yield* post(port, "x".repeat(50_000_000))
      expect([status, type]).toEqual([413, "application/json"])
      expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32600 } })
      const small = yield* serve({ bodyLimit: 100 })
      expect((yield* post(small, rpc("message/send", message("x".repeat(100))))).status).toBe(413)
      // files travel in messages, so what fits is taken
      const bytes = "A".repeat(12_000_000)
      const parts = [{ kind: "text", text: "echo" }, { kind: "file", file: { bytes } }]
      const { result } = yield* postJson(port, rpc("message/send", message("", { parts })))
      expect(result.status.message.parts[0].file.bytes === bytes).toBe(true)
    }).pipe(Effect.provide(layer())), 30_000)

  it.scoped("A-14: a stream with nothing to say is kept alive by comments", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const reader = yield* connect(port, rpc("message/stream", message("wait")))
      yield* reader.until((text) => text.includes("\"state\":\"working\""))
      for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
      yield* reader.until((text) => text.split(": keep-alive\n\n").length >= 4)
      yield* (yield* Gate).open
      yield* reader.until((text) => text.includes("\"final\":true"))
    }).pipe(Effect.provide(layer())))

  it.scoped("a frame larger than what may be left unread reaches its reader", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const text = "x".repeat(10_000_000)
      const answer = yield* post(port, rpc("message/stream", message(text)))
      expect(frames(answer.text)[0]?.data["result"].history[0].parts[0].text.length).toBe(text.length)
      expect(frames(answer.text).at(-1)?.data["result"].final).toBe(true)
    }).pipe(Effect.provide(layer())), 30_000)

  it.scoped("a client that leaves while it waits leaves the task running, and its result is kept", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const client = yield* connect(port, rpc("message/send", message("wait")))
      while ((yield* onlyTask)?.status.state !== "TASK_STATE_WORKING") yield* turns(1)
      client.socket.destroy()
      yield* turns(20)
      yield* (yield* Gate).open
      while ((yield* onlyTask).status.state === "TASK_STATE_WORKING") yield* turns(1)
      expect((yield* onlyTask).status).toMatchObject({
        state: "TASK_STATE_COMPLETED",
        message: { parts: [{ text: "ok" }] }
      })
    }).pipe(Effect.provide(layer())))

  it.scoped("a reader that leaves its stream stops the reading, not the task", () =>
    Effect.gen(function*() {
      const a2a = yield* A2a.A2a
      const stopped = yield* Deferred.make<void>()
      const watched = A2a.A2a.of({
        handle: (body, headers) =>
          Effect.map(a2a.handle(body, headers), (reply) =>
            reply._tag === "Json" ? reply : {
              ...reply,
              next: Effect.onInterrupt(reply.next, () => Deferred.succeed(stopped, undefined))
            })
      })
      const port = yield* Effect.provideService(serve(), A2a.A2a, watched)
      const reader = yield* connect(port, rpc("SendStreamingMessage", message1("wait")))
      yield* reader.until((text) => text.includes("TASK_STATE_WORKING"))
      reader.socket.destroy()
      yield* Deferred.await(stopped)
      yield* (yield* Gate).open
      while ((yield* onlyTask).status.state === "TASK_STATE_WORKING") yield* turns(1)
      expect((yield* onlyTask).status.state).toBe("TASK_STATE_COMPLETED")
    }).pipe(Effect.provide(layer())))

  it.effect("a server that closes answers who waits with a 503 and an error of JSON-RPC", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const port = yield* Scope.extend(serve(), scope)
      const waiting = yield* Effect.fork(post(port, rpc("message/send", message("wait"), "w7")))
      while ((yield* onlyTask)?.status.state !== "TASK_STATE_WORKING") yield* turns(1)
      yield* Scope.close(scope, Exit.void)
      const { status, text } = yield* Fiber.join(waiting)
      expect([status, JSON.parse(text).id, JSON.parse(text).error.code]).toEqual([503, "w7", -32603])
    }).pipe(Effect.provide(layer())))

  it.scoped("a draining engine's refusal is a 503 too", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      yield* (yield* TaskEngine.TaskEngine).drain
      const { status, text } = yield* post(port, rpc("message/stream", message("go")))
      expect([status, JSON.parse(text).id]).toEqual([503, "r1"])
    }).pipe(Effect.provide(layer())))

  it.scoped("other verbs are a 405, batches and what is no JSON an error of JSON-RPC", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/a2a`))
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"])
      expect((yield* postJson(port, [rpc("message/send", message("go"))])).error.code).toBe(-32600)
      expect((yield* postJson(port, "{")).error.code).toBe(-32700)
      expect((yield* postJson(port, "")).error.code).toBe(-32700)
    }).pipe(Effect.provide(layer())))

  it.scoped("is served without a server too, at the reader's pace", () =>
    Effect.gen(function*() {
      const fetch = InProcess.fetch(yield* A2aHttp.make("/a2a"))
      const body = JSON.stringify(rpc("message/stream", message("flood 2000")))
      const response = yield* Effect.promise(() => fetch(new Request("http://h/a2a/", { method: "POST", body })))
      // nobody reads yet, and 20 MB are more than what may be left unread
      while ((yield* onlyTask)?.status.state !== "TASK_STATE_COMPLETED") yield* turns(10)
      const text = yield* Effect.promise(() => response.text())
      expect(text.match(/^data: /gm)?.length).toBe(2003)
      expect(text.slice(-600)).toContain("\"final\":true")
    }).pipe(Effect.provide(layer())), 30_000)
})
