import * as Calls from "@effect-agentenv/server/Calls"
import * as Correlation from "@effect-agentenv/server/Correlation"
import type * as EventStream from "@effect-agentenv/server/EventStream"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import * as Ids from "@effect-agentenv/server/Ids"
import * as InProcess from "@effect-agentenv/server/InProcess"
import * as Route from "@effect-agentenv/server/Route"
import { HttpClient, HttpClientRequest, HttpLayerRouter } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import {
  Cause,
  Chunk,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Option,
  Ref,
  Runtime,
  Scope,
  Stream,
  TestClock,
  Tracer
} from "effect"
import { request, startLayer, text } from "./support.ts"

/** Answers `ok <value>`, or 503 when the layer ends and 500 otherwise. */
const answer = (calls: Calls.Calls<never>, exchange: Exchange.Exchange) => (exit: Exit.Exit<unknown, unknown>) => {
  if (Exit.isSuccess(exit)) text(exchange, `ok ${String(exit.value)}`)
  else text(exchange, calls.closing ? "closing" : "failed", calls.closing ? 503 : 500)
}

const get = (client: HttpClient.HttpClient, path: string) =>
  Effect.flatMap(client.get(path), (response) => Effect.map(response.text, (text) => [response.status, text] as const))

/** A client of one route whose calls run `effect`. */
const client = (
  calls: Calls.Calls<never>,
  effect: Effect.Effect<unknown>,
  options?: Calls.RunOptions<unknown, never>
) =>
  InProcess.httpClient([
    Route.make("GET", "/", (exchange) => calls.run(exchange, effect, calls.runtime, answer(calls, exchange), options))
  ])

// The native tracer's spans, kept; being another tracer object is what counts as installed.
const recording = Effect.map(Effect.tracer, (native) => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (...args) => {
      const span = native.span(...args)
      spans.push(span)
      return span
    },
    context: (f, fiber) => native.context(f, fiber)
  })
  return { spans, tracer }
})

describe("Calls.run", () => {
  it.scoped("handles an effect that ends at once before it returns, and starts nothing", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      const events: Array<string> = []
      const route = Route.make("GET", "/", (exchange) => {
        calls.run(exchange, Effect.succeed(1), calls.runtime, () => events.push("exit"), {
          onStart: () => events.push("start")
        })
        events.push("returned")
        text(exchange, "done")
      })
      yield* get(InProcess.httpClient([route]), "/")
      expect(events).toEqual(["exit", "returned"])
    }))

  it.scoped("hands out the fiber of a call that takes longer, and an interruption still answers", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      const started = yield* Deferred.make<Fiber.RuntimeFiber<unknown>>()
      const http = client(calls, Effect.never, {
        onStart: (fiber) => Deferred.unsafeDone(started, Exit.succeed(fiber))
      })
      const pending = yield* Effect.fork(get(http, "/"))
      yield* Fiber.interrupt(yield* Deferred.await(started))
      expect(yield* Fiber.join(pending)).toEqual([500, "failed"])
    }))

  it.scoped("is interrupted, finalizers and all, when the client leaves before the answer", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      const running = yield* Effect.makeLatch()
      const finalized = yield* Effect.makeLatch()
      const http = client(calls, Effect.ensuring(Effect.zipRight(running.open, Effect.never), finalized.open))
      const pending = yield* Effect.fork(get(http, "/"))
      yield* running.await
      yield* Fiber.interrupt(pending)
      yield* finalized.await
    }))

  it.scoped("runs on after the client left when told so", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      const running = yield* Effect.makeLatch()
      const go = yield* Effect.makeLatch()
      const done = yield* Effect.makeLatch()
      const work = running.open.pipe(Effect.zipRight(go.await), Effect.zipRight(done.open))
      const pending = yield* Effect.fork(get(client(calls, work, { interruptOnClose: false }), "/"))
      yield* running.await
      yield* Fiber.interrupt(pending)
      yield* go.open
      yield* done.await
    }))

  it.effect("interrupts, awaits and answers what runs when the layer closes, then refuses", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const calls = yield* Scope.extend(Calls.make(), scope)
      const running = yield* Effect.makeLatch()
      const release = yield* Effect.makeLatch()
      const log = yield* Ref.make<ReadonlyArray<string>>([])
      const note = (entry: string) => Ref.update(log, (log) => [...log, entry])
      const http = client(
        calls,
        Effect.zipRight(running.open, Effect.never).pipe(
          Effect.onInterrupt(() =>
            note("interrupted").pipe(Effect.zipRight(release.await), Effect.zipRight(note("finalized")))
          )
        )
      )
      const pending = yield* Effect.fork(get(http, "/"))
      yield* running.await
      const closing = yield* Effect.fork(Effect.zipRight(Scope.close(scope, Exit.void), note("closed")))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => calls.closing })
      expect(yield* get(http, "/")).toEqual([503, "{\"detail\":\"Server is shutting down\"}"])
      yield* release.open
      yield* Fiber.join(closing)
      expect(yield* Fiber.join(pending)).toEqual([503, "closing"])
      expect(yield* log).toEqual(["interrupted", "finalized", "closed"])
    }))

  it.effect("refuses with the caller's own answer", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const calls = yield* Scope.extend(Calls.make(), scope)
      yield* Scope.close(scope, Exit.void)
      const route = Route.make("GET", "/", (exchange) =>
        calls.run(exchange, Effect.void, calls.runtime, () =>
          text(exchange, "ran"), {
          onRefused: () =>
            text(exchange, "no more", 503)
        }))
      expect(yield* get(InProcess.httpClient([route]), "/")).toEqual([503, "no more"])
    }))

  it.scoped("does not run a call whose client has left already, and still gives its exit", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      const ran = yield* Ref.make(false)
      const exits: Array<boolean> = []
      const handler = InProcess.fetch([
        Route.make(
          "GET",
          "/",
          (exchange) =>
            calls.run(exchange, Ref.set(ran, true), calls.runtime, (exit) => exits.push(Exit.isInterrupted(exit)))
        )
      ])
      yield* Effect.promise(() => handler(new Request("http://h/", { signal: AbortSignal.abort() })))
      expect([exits, yield* ran]).toEqual([[true], false])
    }))

  it.scoped("answers 500 with a correlation id when the handling of its exit throws (B-HTTP-3)", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      for (const effect of [Effect.void, Effect.yieldNow()]) {
        const route = Route.make("GET", "/", (exchange) =>
          calls.run(exchange, effect, calls.runtime, () => {
            throw new Error("the secret")
          }))
        expect(yield* get(InProcess.httpClient([route]), "/")).toEqual([500, Correlation.sentence("f".repeat(32))])
      }
    }).pipe(
      Effect.provideService(Ids.Ids, { uuid: () => "", hex: () => "f".repeat(32) }),
      Effect.provide(Logger.remove(Logger.defaultLogger))
    ))

  it.scoped("runs on a runtime with one more service", () =>
    Effect.gen(function*() {
      class Name extends Context.Tag("Name")<Name, string>() {}
      const calls = yield* Calls.make()
      const runtime = Calls.withService(calls.runtime, Name, "ann")
      expect(Runtime.runSync(runtime)(Name)).toBe("ann")
      const route = Route.make("GET", "/", (exchange) => calls.run(exchange, Name, runtime, answer(calls, exchange)))
      expect(yield* get(InProcess.httpClient([route]), "/")).toEqual([200, "ok ann"])
    }))
})

describe("Calls.run and spans", () => {
  const spanOf = Effect.map(Effect.option(Effect.currentSpan), Option.getOrUndefined)
  const send = HttpClientRequest.get("/").pipe(
    HttpClientRequest.setHeader("traceparent", `00-${"a".repeat(32)}-${"b".repeat(16)}-01`)
  )

  it.scoped("makes none on the native tracer", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      expect(yield* get(client(calls, spanOf), "/")).toEqual([200, "ok undefined"])
    }))

  it.scoped("makes a server span below the caller's traceparent when a tracer is installed", () =>
    Effect.gen(function*() {
      const { spans, tracer } = yield* recording
      const calls = yield* Effect.withTracer(Calls.make(), tracer)
      // The calls' runtime carries the tracer; the client's own requests are not traced.
      const http = client(calls, Effect.void).pipe(HttpClient.withTracerDisabledWhen(() => true))
      yield* http.execute(send)
      expect(spans.map((span) => [span.name, span.kind])).toEqual([["http.server GET", "server"]])
      expect(Option.getOrThrow(spans[0]!.parent)).toMatchObject({
        traceId: "a".repeat(32),
        spanId: "b".repeat(16),
        sampled: true
      })
      expect(Object.fromEntries(spans[0]!.attributes)).toEqual({ "http.request.method": "GET", "url.path": "/" })
    }))
})

describe("Calls.run behind a server", () => {
  it.scoped("puts a call's own spans below one HTTP span, through the front and through the router", () =>
    Effect.gen(function*() {
      const pass = HttpLayerRouter.middleware((app) => app, { global: true })
      for (const middleware of [Layer.empty, pass]) {
        const { spans, tracer } = yield* recording
        const routes = Route.layer(Effect.map(Calls.make(), (calls) => [
          Route.make(
            "GET",
            "/",
            (exchange) =>
              calls.run(exchange, Effect.withSpan(Effect.void, "tool"), calls.runtime, answer(calls, exchange))
          )
        ]))
        const port = yield* startLayer(
          Layer.merge(Layer.fresh(routes), middleware).pipe(Layer.provide(Layer.setTracer(tracer)))
        )
          .pipe(Effect.withTracer(tracer))
        const answered = yield* request(port, "/", {
          headers: { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` }
        })
        expect([answered.status, spans.map((span) => span.name)]).toEqual([200, ["http.server GET", "tool"]])
        const [http, tool] = spans
        expect(Option.getOrThrow(http!.parent).spanId).toBe("b".repeat(16))
        expect(Option.getOrThrow(tool!.parent).spanId).toBe(http!.spanId)
      }
    }))
})

describe("the pulse", () => {
  it.scoped("tells a call that was silent for 10 seconds, once, unless it was answered", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      let told = 0
      const run = yield* Effect.makeLatch()
      const started = yield* Effect.makeLatch()
      const http = client(calls, Effect.zipRight(started.open, run.await), { onSilent: () => void told++ })
      const pending = yield* Effect.fork(get(http, "/"))
      yield* started.await
      yield* TestClock.adjust("9 seconds")
      expect(told).toBe(0)
      yield* TestClock.adjust("1 second")
      expect(told).toBe(1)
      yield* TestClock.adjust("1 minute")
      expect(told).toBe(1)
      yield* run.open
      yield* Fiber.join(pending)
    }))

  it.scoped("does not call a call silent that has begun its event stream", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      let told = 0
      const http = InProcess.httpClient([
        Route.make("GET", "/", (exchange) => {
          calls.stream(exchange, 200, [])
          calls.run(exchange, Effect.never, calls.runtime, () => {}, { onSilent: () => void told++ })
        })
      ])
      yield* http.get("/")
      yield* TestClock.adjust("1 minute")
      expect(told).toBe(0)
    }))

  it.scoped("comments on an event stream that was idle for 14 seconds, and on no other", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      let stream: EventStream.EventStream | undefined
      const http = InProcess.httpClient([Route.make("GET", "/", (exchange) => {
        stream = calls.stream(exchange, 200, ["x-own", "1"])
        stream.send("first")
      })])
      const response = yield* http.get("/")
      expect(response.headers).toMatchObject({ "content-type": "text/event-stream", "x-own": "1" })
      const seen: Array<string> = []
      const reading = yield* Effect.fork(
        Stream.runForEach(Stream.decodeText(response.stream), (text) => Effect.sync(() => seen.push(text)))
      )
      yield* TestClock.adjust("14 seconds")
      expect(seen.join("")).toBe("event: message\ndata: first\n\n")
      yield* TestClock.adjust("1 second")
      expect(seen.join("")).toBe("event: message\ndata: first\n\n: keep-alive\n\n")
      yield* TestClock.adjust("10 seconds")
      stream!.send("second")
      yield* TestClock.adjust("14 seconds")
      expect(seen.join("")).toContain("data: second\n\n")
      expect(seen.join("").match(/keep-alive/g)).toHaveLength(1)
      yield* TestClock.adjust("1 second")
      expect(seen.join("").match(/keep-alive/g)).toHaveLength(2)
      stream!.end()
      yield* Fiber.join(reading)
      expect(stream!.done).toBe(true)
    }))

  it.scoped("comments on no event stream whose reader is behind", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      let stream: EventStream.EventStream | undefined
      const http = InProcess.httpClient([Route.make("GET", "/", (exchange) => {
        stream = calls.stream(exchange, 200, [])
        stream.write(`data: ${"x".repeat(100_000)}\n\n`)
      })])
      const response = yield* http.get("/")
      yield* TestClock.adjust("1 minute")
      expect([stream!.full, stream!.writes]).toEqual([true, 1])
      const reading = yield* Effect.fork(Stream.runDrain(response.stream))
      yield* Effect.yieldNow()
      yield* TestClock.adjust("1 minute")
      expect(stream!.writes).toBeGreaterThan(1)
      yield* Fiber.interrupt(reading)
    }), 5_000)

  it.effect("ends open event streams with the layer", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const calls = yield* Scope.extend(Calls.make(), scope)
      const http = InProcess.httpClient([Route.make("GET", "/", (exchange) => void calls.stream(exchange, 200, []))])
      const response = yield* http.get("/")
      const reading = yield* Effect.fork(Stream.runCollect(response.stream))
      yield* Scope.close(scope, Exit.void)
      expect(Chunk.size(yield* Fiber.join(reading))).toBe(0)
      // One that opens afterwards ends at once.
      expect(yield* Effect.flatMap(http.get("/"), (response) => response.text)).toBe("")
    }))

  it.scoped("counts the seconds of whoever is in, and survives one that throws", () =>
    Effect.gen(function*() {
      const calls = yield* Calls.make()
      const ticks: Array<number> = []
      const leave = calls.track({ tick: (seconds) => ticks.push(seconds) })
      calls.track({
        tick: () => {
          throw new Error("broken")
        }
      })
      yield* TestClock.adjust("3 seconds")
      expect(ticks).toEqual([1, 2, 3])
      leave()
      yield* TestClock.adjust("3 seconds")
      calls.track({ tick: (seconds) => ticks.push(seconds * 10) })
      yield* TestClock.adjust("1 second")
      expect(ticks).toEqual([1, 2, 3, 10])
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))
})

describe("Correlation", () => {
  it.scoped("logs the cause under the id and tells the peer nothing else (B-HTTP-3)", () =>
    Effect.gen(function*() {
      const logged: Array<readonly [string, unknown]> = []
      const logger = Logger.make<unknown, void>(({ annotations, cause }) => {
        logged.push([Cause.pretty(cause), [...annotations]])
      })
      const runtime = yield* Layer.toRuntime(Layer.merge(
        Logger.replace(Logger.defaultLogger, logger),
        Layer.succeed(Ids.Ids, { uuid: () => "", hex: () => "a".repeat(32) })
      ))
      const sentence = Correlation.report(Cause.die(new Error("the secret")), runtime)
      expect(sentence).toBe(`An unexpected framework error occurred. Correlation ID: ${"a".repeat(32)}`)
      const other = yield* Effect.provide(Correlation.reportEffect(Cause.fail("the other")), runtime)
      expect(other).toBe(sentence)
      expect(logged.map(([cause]) => cause.split("\n")[0])).toEqual(["Error: the secret", "Error: the other"])
      expect(logged[0]![1]).toEqual([["correlation_id", "a".repeat(32)]])
    }))

  it.effect("mints 32 hexadecimal digits and version 4 UUIDs by default", () =>
    Effect.gen(function*() {
      const ids = yield* Ids.Ids
      expect(ids.hex()).toMatch(/^[0-9a-f]{32}$/)
      expect(ids.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(ids.hex()).not.toBe(ids.hex())
    }))
})
