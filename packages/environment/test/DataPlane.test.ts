import { Environment, Tool } from "@effect-agentenv/environment"
import { AgentEnvError, DataObjects, type Part } from "@effect-agentenv/protocol"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, FastCheck, Fiber, Logger, Random, Ref, Schema, TestClock } from "effect"
import { KilnError, wire } from "./support.ts"

const Shelve = Tool.make("shelve", { description: "Shelves a parcel.", parameters: { label: Schema.String } })
const Slow = Tool.make("slow", { description: "Takes its time, then shelves.", parameters: { seconds: Schema.Number } })
const Draw = Tool.make("draw", { description: "Draws a number.", success: Schema.Int })

const Desk = Environment.make("desk", { tools: [Shelve, Slow, Draw] })

const desk = (hooks: { readonly onSlow?: Effect.Effect<void>; readonly onGet?: Effect.Effect<void> } = {}) =>
  Desk.toLayer(Effect.gen(function*() {
    const shelf = yield* Ref.make<ReadonlyArray<string>>([])
    const push = (label: string) => Ref.update(shelf, (all) => [...all, label])
    return {
      reset: Ref.set(shelf, []),
      add: (parts) =>
        Effect.forEach(parts, (part) => push(part.kind === "data" ? String(part.data["label"]) : part.kind), {
          discard: true
        }),
      get: Effect.zipRight(
        hooks.onGet ?? Effect.void,
        Effect.map(Ref.get(shelf), (labels): ReadonlyArray<Part.Part> => [{ kind: "data", data: { labels } }])
      ),
      tools: {
        shelve: ({ label }) => push(label),
        slow: ({ seconds }) =>
          Effect.zipRight(hooks.onSlow ?? Effect.void, Effect.sleep(`${seconds} seconds`)).pipe(
            Effect.zipRight(push("late"))
          ),
        draw: () => Random.nextIntBetween(0, 1_000_000)
      }
    }
  }))

const labels = (answer: any) => answer.result.parts[0].data.labels
const data = (label: string) => ({ parts: [{ kind: "data", data: { label } }] })

describe("the data plane", () => {
  it.scoped("resets, adds and answers (B-ENV-3, B-ENV-4, B-ENV-17)", () =>
    Effect.gen(function*() {
      const { card, rpc } = yield* wire(Desk)
      expect((yield* card).capabilities.operations).toEqual(["data/reset", "data/add", "data/get"])
      expect(yield* rpc("data/add", data("a"))).toEqual({ jsonrpc: "2.0", id: 1, result: {} })
      yield* rpc("data/add", data("b"))
      expect(labels(yield* rpc("data/get"))).toEqual(["a", "b"])
      expect(yield* rpc("data/reset", { unknown: true })).toEqual({ jsonrpc: "2.0", id: 1, result: {} })
      expect(labels(yield* rpc("data/get", {}))).toEqual([])
    }).pipe(Effect.provide(desk())))

  it.scoped("names the field of what it cannot read, and answers the next request", () =>
    Effect.gen(function*() {
      const { rpc, send } = yield* wire(Desk, { limits: { dataPlane: 2_000_000 } })
      const error = (body: string | object | Uint8Array) =>
        Effect.map(send("POST", "/agentenv", body), ({ json, status }) => ({ status, ...json.error, id: json.id }))
      expect(yield* error("{")).toMatchObject({ status: 200, code: -32700, id: null })
      expect(yield* error("")).toMatchObject({ status: 200, code: -32700 })
      expect(yield* error("[".repeat(100_000) + "]".repeat(100_000))).toMatchObject({ code: -32700 })
      expect(yield* error(new Uint8Array([0x22, 0xff, 0x22]))).toMatchObject({ code: -32700 })
      expect(yield* error([])).toMatchObject({ code: -32600 })
      expect(yield* error({ jsonrpc: "1.0", id: 7, method: "data/get" })).toMatchObject({ code: -32600, id: 7 })
      expect(yield* error({ jsonrpc: "2.0", id: 0, method: "data/burn" })).toMatchObject({ code: -32601, id: 0 })
      expect(yield* error({ jsonrpc: "2.0", id: 1 })).toMatchObject({ code: -32600, id: 1 })
      expect(yield* error({ jsonrpc: "2.0", id: 1, method: 7 })).toMatchObject({ code: -32601, id: 1 })
      expect(yield* error({ jsonrpc: "2.0", id: 1, method: "data/add", params: [1] })).toMatchObject({
        code: -32602,
        data: { detail: expect.stringContaining("object") }
      })
      const detail = (params: object, method = "data/add") =>
        Effect.map(rpc(method, params), (answer) => [answer.error.code, answer.error.data.detail])
      expect(yield* detail({})).toEqual([-32602, expect.stringContaining("parts")])
      expect(yield* detail({ parts: [] })).toEqual([-32602, expect.stringContaining("parts")])
      expect(yield* detail({ parts: [{ kind: "smoke" }] })).toEqual([-32602, expect.stringContaining("parts")])
      expect(yield* detail({ seed: "seven" }, "data/reset")).toEqual([-32602, expect.stringContaining("seed")])
      const lone =
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"data/add\",\"params\":{\"parts\":[{\"kind\":\"text\",\"text\":\"\\ud800\"}]}}"
      const half = yield* error(lone)
      expect(half).toMatchObject({ code: -32602, id: 9 })
      expect(half.data.detail).toContain("params.parts[0].text")
      expect(yield* error("x".repeat(2_000_001))).toMatchObject({ status: 413, code: -32600 })
      expect((yield* send("GET", "/agentenv")).status).toBe(405)
      expect(labels(yield* rpc("data/get"))).toEqual([])
    }).pipe(Effect.provide(desk())))

  it.scoped("answers failures by message, AgentEnvErrors with their fields, defects with a correlation id alone", () => {
    const Odd = Environment.make("odd")
    const live = Odd.toLayer(Effect.succeed({
      reset: Effect.fail(new KilnError("kiln door stuck")),
      add: () => Effect.fail(new AgentEnvError.AgentEnvError({ code: "busy", message: "come back", retryable: true })),
      get: Effect.die(new Error("private detail"))
    }))
    return Effect.gen(function*() {
      const { rpc } = yield* wire(Odd)
      expect((yield* rpc("data/reset")).error).toEqual({
        code: -32000,
        message: "kiln door stuck",
        data: { code: "reset_failed" }
      })
      expect((yield* rpc("data/add", data("a"))).error).toEqual({
        code: -32000,
        message: "come back",
        data: {
          code: "add_failed",
          error: { code: "busy", message: "come back", retryable: true, applied: "no" }
        }
      })
      const { code, data: extra, message } = (yield* rpc("data/get")).error
      expect([code, extra.code]).toEqual([-32000, "get_failed"])
      expect(message).toMatch(/Correlation ID: [0-9a-f]{32}$/)
    }).pipe(Effect.provide(live), Logger.withMinimumLogLevel({ _tag: "None" } as never))
  })

  it.scoped("ignores what a reset, and a data/get that takes no grant, is sent (B-DOBJ-2)", () =>
    Effect.gen(function*() {
      const { rpc } = yield* wire(Desk)
      const unread = ["text", [1], 0, false, { write_namespace: { root_path: "../up" } }]
      for (const params of unread) {
        yield* rpc("data/add", data("a"))
        expect(labels(yield* rpc("data/get", params as object))).toEqual(["a"])
        expect((yield* rpc("data/reset", params as object)).result).toEqual({})
      }
    }).pipe(Effect.provide(desk())))

  it.scoped("hands a grant on, and never its secrets (B-DOBJ-1, B-DOBJ-2, B-DOBJ-3)", () => {
    const Exporting = Environment.make("exporting")
    const live = Exporting.toLayer(Effect.succeed({
      get: ({ writeNamespace }: Environment.GetRequest) =>
        Effect.succeed<ReadonlyArray<Part.Part>>(
          writeNamespace === undefined
            ? [{ kind: "data", data: { granted: false } }]
            : [DataObjects.uploadedPart("export/state.json")]
        )
    }))
    const grant = {
      root_path: "runs/7",
      expires_at: "2099-01-01T00:00:00Z",
      max_objects: 1,
      max_object_bytes: 1,
      max_total_bytes: 1,
      write: {
        kind: "http-post-policy",
        url: "https://store.example/canary-url",
        fields: { policy: "canary-policy" },
        path_field: "key",
        file_field: "file"
      }
    }
    return Effect.gen(function*() {
      const { card, rpc } = yield* wire(Exporting)
      expect((yield* card).capabilities.extensions).toMatchObject([{ uri: DataObjects.URI, params: null }])
      expect((yield* rpc("data/get")).result.parts).toEqual([{ kind: "data", data: { granted: false } }])
      expect((yield* rpc("data/get", { write_namespace: grant })).result.parts[0].metadata[DataObjects.URI])
        .toEqual({ path: "export/state.json" })
      const bad = yield* rpc("data/get", { write_namespace: { ...grant, root_path: "../up" } })
      expect(bad.error.data.detail).toContain("root_path")
      const worse = yield* rpc("data/get", { write_namespace: { ...grant, write: { ...grant.write, extra: 1 } } })
      expect(JSON.stringify([bad, worse])).not.toContain("canary")
      for (const positional of [[], [grant], "grant"]) {
        expect((yield* rpc("data/get", positional as object)).error.code).toBe(-32602)
      }
    }).pipe(Effect.provide(live))
  })
})

describe("an episode", () => {
  it.scoped("restarts its randomness from a seed (V-1)", () =>
    Effect.gen(function*() {
      const { rpc, tool } = yield* wire(Desk)
      const draws = (seed: number) =>
        Effect.zipRight(
          rpc("data/reset", { seed }),
          Effect.all([tool("draw"), tool("draw"), tool("draw")]).pipe(
            Effect.map((results) => results.map((result) => result.structuredContent.result))
          )
        )
      const first = yield* draws(7)
      expect(yield* draws(7)).toEqual(first)
      expect(yield* draws(8)).not.toEqual(first)
    }).pipe(Effect.provide(desk())))

  it.scoped("reset interrupts a running call, whose late write never happens (V-7)", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const { rpc, tool } = yield* wire(Desk)
        const running = yield* Effect.fork(tool("slow", { seconds: 200 }))
        yield* Deferred.await(started)
        expect((yield* rpc("data/reset")).result).toEqual({})
        expect(yield* Fiber.join(running)).toMatchObject({
          isError: true,
          structuredContent: { code: "episode_reset", applied: "unknown", retryable: false }
        })
        yield* TestClock.adjust("300 seconds")
        expect(labels(yield* rpc("data/get"))).toEqual([])
      }).pipe(Effect.provide(desk({ onSlow: Effect.asVoid(Deferred.succeed(started, undefined)) })))
    }))

  it.scoped("reset fails naming a call that does not end within 10 seconds", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const stuck = Effect.uninterruptible(
        Effect.zipRight(Deferred.succeed(started, undefined), Effect.sleep("60 seconds"))
      )
      yield* Effect.gen(function*() {
        const { rpc, tool } = yield* wire(Desk)
        yield* Effect.fork(tool("slow", { seconds: 1 }))
        yield* Deferred.await(started)
        const reset = yield* Effect.fork(rpc("data/reset"))
        yield* TestClock.adjust("10 seconds")
        const { error } = yield* Fiber.join(reset)
        expect(error).toMatchObject({ code: -32000, data: { code: "reset_failed" } })
        expect(error.message).toContain("'slow'")
        yield* TestClock.adjust("60 seconds")
        expect((yield* rpc("data/reset")).result).toEqual({})
      }).pipe(Effect.provide(desk({ onSlow: stuck })))
    }))

  it.scoped("get waits for running calls, and past 10 seconds goes ahead with a warning", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const warnings: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => {
        if (logLevel._tag === "Warning") warnings.push(message)
      })
      yield* Effect.gen(function*() {
        const { rpc, tool } = yield* wire(Desk)
        yield* Effect.fork(tool("slow", { seconds: 30 }))
        yield* Deferred.await(started)
        const get = yield* Effect.fork(rpc("data/get"))
        yield* TestClock.adjust("9 seconds")
        expect(yield* Fiber.poll(get)).toMatchObject({ _tag: "None" })
        yield* TestClock.adjust("1 second")
        expect(labels(yield* Fiber.join(get))).toEqual([])
        expect(String(warnings)).toContain("'slow'")
      }).pipe(
        Effect.provide([
          desk({ onSlow: Effect.asVoid(Deferred.succeed(started, undefined)) }),
          Logger.replace(Logger.defaultLogger, logger)
        ])
      )
    }))

  it.scoped("new calls wait behind a data operation, in order of arrival", () =>
    Effect.gen(function*() {
      const reading = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const onGet = Effect.zipRight(Deferred.succeed(reading, undefined), Deferred.await(go))
      yield* Effect.gen(function*() {
        const { rpc, tool } = yield* wire(Desk)
        const get = yield* Effect.fork(rpc("data/get"))
        yield* Deferred.await(reading)
        const call = yield* Effect.fork(tool("shelve", { label: "after" }))
        yield* Effect.yieldNow()
        yield* Deferred.succeed(go, undefined)
        expect(labels(yield* Fiber.join(get))).toEqual([])
        yield* Fiber.join(call)
        expect(labels(yield* rpc("data/get"))).toEqual(["after"])
      }).pipe(Effect.provide(desk({ onGet })))
    }))

  it.scoped("runs data/add once under an Idempotency-Key, and never by JSON-RPC id (V-9)", () =>
    Effect.gen(function*() {
      const { rpc } = yield* wire(Desk)
      yield* rpc("data/add", data("a"), { "idempotency-key": "k" })
      yield* rpc("data/add", data("a"), { "idempotency-key": "k" })
      expect(labels(yield* rpc("data/get"))).toEqual(["a"])
      expect((yield* rpc("data/add", data("b"), { "idempotency-key": "k" })).error.data.error.code)
        .toBe("idempotency_key_reused")
      yield* rpc("data/add", data("c"))
      yield* rpc("data/add", data("c"))
      expect(labels(yield* rpc("data/get"))).toEqual(["a", "c", "c"])
      yield* rpc("data/reset")
      yield* rpc("data/add", data("a"), { "idempotency-key": "k" })
      expect(labels(yield* rpc("data/get"))).toEqual(["a"])
    }).pipe(Effect.provide(desk())))

  it.scoped("cuts what has a timeout, saying that nobody knows whether it was applied", () => {
    const Timed = Environment.make("timed", {
      tools: [Tool.make("nap", { description: "Naps.", timeout: "2 seconds" })],
      episode: { timeouts: { get: "3 seconds" } }
    })
    const live = Timed.toLayer(Effect.succeed({ get: Effect.never, tools: { nap: () => Effect.never } }))
    return Effect.gen(function*() {
      const { rpc, tool } = yield* wire(Timed)
      const nap = yield* Effect.fork(tool("nap"))
      yield* TestClock.adjust("2 seconds")
      expect((yield* Fiber.join(nap)).structuredContent).toMatchObject({ code: "timeout", applied: "unknown" })
      const get = yield* Effect.fork(rpc("data/get"))
      yield* TestClock.adjust("3 seconds")
      expect((yield* Fiber.join(get)).error.data).toMatchObject({
        code: "get_failed",
        error: { code: "timeout", applied: "unknown" }
      })
    }).pipe(Effect.provide(live))
  })

  it.scoped("lets data/get run beside calls when it says so", () => {
    const Open = Environment.make("open", { tools: [Slow], episode: { data: "concurrent" } })
    const live = Open.toLayer(Effect.succeed({
      get: Effect.succeed<ReadonlyArray<Part.Part>>([]),
      tools: { slow: () => Effect.never }
    }))
    return Effect.gen(function*() {
      const { rpc, tool } = yield* wire(Open)
      yield* Effect.fork(tool("slow", { seconds: 1 }))
      yield* Effect.yieldNow()
      expect((yield* rpc("data/get")).result.parts).toEqual([])
    }).pipe(Effect.provide(live))
  })

  it.scoped("two environments in one process share neither state nor randomness (V-2)", () =>
    Effect.gen(function*() {
      const live = desk()
      const one = yield* wire(Desk).pipe(Effect.provide(live))
      const two = yield* wire(Desk).pipe(Effect.provide(live))
      const draw = (at: typeof one) => Effect.map(at.tool("draw"), (result) => result.structuredContent.result)
      yield* one.rpc("data/reset", { seed: 1 })
      const alone = [yield* draw(one), yield* draw(one)]
      yield* one.rpc("data/reset", { seed: 1 })
      const first = yield* draw(one)
      yield* two.rpc("data/reset", { seed: 2 })
      yield* two.tool("shelve", { label: "two" })
      yield* draw(two)
      expect([first, yield* draw(one)]).toEqual(alone)
      expect(labels(yield* one.rpc("data/get"))).toEqual([])
    }))

  it.scoped.prop(
    "after any calls, a seeded reset leaves nothing of them (V-4)",
    [FastCheck.array(FastCheck.constantFrom("shelve", "draw", "add", "reset"), { maxLength: 12 })],
    ([steps]) =>
      Effect.gen(function*() {
        const { rpc, tool } = yield* wire(Desk)
        const play = (step: string) =>
          step === "shelve"
            ? tool("shelve", { label: "x" })
            : step === "draw"
            ? tool("draw")
            : rpc(`data/${step}`, step === "add" ? data("y") : {}, { "idempotency-key": "k" })
        const probe = Effect.gen(function*() {
          yield* rpc("data/reset", { seed: 3 })
          yield* rpc("data/add", data("z"), { "idempotency-key": "k" })
          return [labels(yield* rpc("data/get")), (yield* tool("draw")).structuredContent]
        })
        const fresh = yield* probe
        yield* Effect.forEach(steps, play)
        expect(yield* probe).toEqual(fresh)
      }).pipe(Effect.provide(desk()))
  )

  it.effect("a failed start releases what it acquired (V-17)", () =>
    Effect.gen(function*() {
      const released: Array<string> = []
      const Failing = Environment.make("failing", {
        tools: [Tool.make("odd", { description: "Odd.", parameters: { when: Schema.DateFromSelf } })]
      })
      const live = Failing.toLayer(Effect.gen(function*() {
        yield* Effect.acquireRelease(Effect.void, () => Effect.sync(() => released.push("folder")))
        return { tools: { odd: () => Effect.void } }
      }))
      const exit = yield* wire(Failing).pipe(Effect.provide(live), Effect.scoped, Effect.exit)
      expect(Exit.isFailure(exit) && String(exit.cause)).toContain("tool 'odd'")
      expect(released).toEqual(["folder"])
    }))
})
