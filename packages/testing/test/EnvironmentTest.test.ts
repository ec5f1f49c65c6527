import { EnvironmentClient, ExtensionClient, ToolClient } from "@effect-agentenv/client"
import { Environment, Seed, Tool, ToolCall } from "@effect-agentenv/environment"
import { Extension, Operation, Part } from "@effect-agentenv/protocol"
import { EnvironmentTest } from "@effect-agentenv/testing"
import { HttpClientRequest } from "@effect/platform"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Random, Ref, Schema, TestClock } from "effect"

const Caller = Schema.Struct({ role: Schema.NullOr(Schema.String), session: Schema.NullOr(Schema.String) })

const Note = Tool.make("{environment_name}_note", {
  description: "Write a note after a while.",
  parameters: { text: Schema.String, after: Schema.optionalWith(Schema.DurationFromMillis, { exact: true }) },
  success: Schema.String
})

const Draw = Tool.make("{environment_name}_draw", { description: "Draw a number.", success: Schema.Int })

const Who = Tool.make("{environment_name}_who", { description: "Say who calls.", success: Caller })

const Whoami = Extension.single("urn:notes:whoami/v1", "whoami", Operation.get({ response: Caller }))

const Notes = Environment.make("notes", { tools: [Note, Draw, Who], extensions: [Whoami] })

/** What a test waits for: that a slow note is being written. */
class Started extends Context.Tag("Started")<Started, Deferred.Deferred<void>>() {
  static readonly layer = Layer.effect(Started, Deferred.make<void>())
}

const who = Effect.map(
  ToolCall.ToolCall,
  ({ role, session }) => ({ role: role ?? null, session: session ?? null })
)

const NotesLive = Notes.toLayer(Effect.gen(function*() {
  const started = yield* Started
  const notes = yield* Ref.make<ReadonlyArray<string>>([])
  const draw = Random.nextIntBetween(0, 1_000_000_000)
  const first = yield* Ref.make(yield* draw)
  return {
    reset: Effect.zipRight(Ref.set(notes, []), Effect.flatMap(draw, (number) => Ref.set(first, number))),
    add: Seed.load(
      Schema.Struct({ notes: Schema.Array(Schema.String) }),
      (seed) => Ref.update(notes, (all) => [...all, ...seed.notes])
    ),
    get: Effect.map(Effect.all({ notes, first }), (data) => [Part.DataPart.make({ data })]),
    tools: {
      "{environment_name}_note": ({ after, text }) =>
        Effect.gen(function*() {
          yield* Deferred.succeed(started, undefined)
          yield* Effect.flatMap(ToolCall.ToolCall, ({ progress }) => progress(0.5))
          if (after !== undefined) yield* Effect.sleep(after)
          yield* Ref.update(notes, (all) => [...all, text])
          return `noted ${text}`
        }),
      "{environment_name}_draw": () => draw,
      "{environment_name}_who": () => who
    },
    extensions: { "urn:notes:whoami/v1": { whoami: () => who } }
  }
}))

const served = (options?: EnvironmentTest.Options) =>
  EnvironmentTest.layer(Notes, options).pipe(Layer.provide(NotesLive), Layer.provideMerge(Started.layer))

const Served = served()

const hour = { after: 60 * 60 * 1000 }

const exported = Effect.flatMap(EnvironmentClient.EnvironmentClient, (environment) => environment.get()).pipe(
  Effect.map(([part]) => part?.kind === "data" ? part.data : {})
)

const reset = (options?: { readonly seed: number }) =>
  Effect.flatMap(EnvironmentClient.EnvironmentClient, (environment) => environment.reset(options))

const call = (tool: string, args?: Readonly<Record<string, unknown>>) =>
  Effect.flatMap(ToolClient.ToolClient, (tools) => tools.callTool(`notes_${tool}`, args))

const drawn = Effect.map(call("draw"), ({ structuredContent }) => structuredContent?.["result"])

const drawnAfterReset = (seed: number) =>
  Effect.gen(function*() {
    yield* reset({ seed })
    return { export: yield* exported, drawn: [yield* drawn, yield* drawn] }
  })

const rollout = (n: number) =>
  Effect.gen(function*() {
    yield* reset()
    yield* call("note", { text: `${n}` })
    yield* Effect.yieldNow()
    return (yield* exported)["notes"]
  }).pipe(Effect.provide(Served))

describe("EnvironmentTest", () => {
  it.effect("reaches card, data plane, tools and extensions of the implementation without a port", () =>
    Effect.gen(function*() {
      const environment = yield* EnvironmentClient.EnvironmentClient
      const { capabilities, name } = yield* environment.card
      expect(name).toBe("notes")
      expect(capabilities.operations).toEqual(["data/reset", "data/add", "data/get"])
      yield* environment.reset()
      yield* environment.add([{ kind: "data", data: { notes: ["one"] } }])
      expect((yield* call("note", { text: "two" })).text).toBe("noted two")
      expect(yield* exported).toMatchObject({ notes: ["one", "two"] })
      const whoami = yield* ExtensionClient.make(Whoami)
      expect(yield* whoami.whoami()).toEqual({ role: null, session: null })
    }).pipe(Effect.provide(Served)))

  it.effect("lets a tool sleep for an hour of the test's clock", () =>
    Effect.gen(function*() {
      const slow = yield* Effect.fork(call("note", { text: "late", ...hour }))
      yield* Effect.flatMap(Started, Deferred.await)
      yield* TestClock.adjust("59 minutes")
      expect(Option.isNone(yield* Fiber.poll(slow))).toBe(true)
      yield* TestClock.adjust("1 minute")
      expect((yield* Fiber.join(slow)).text).toBe("noted late")
    }).pipe(Effect.provide(served({ mcp: { json: true } }))))

  it.effect("interrupts the tool when the test interrupts its call", () =>
    Effect.gen(function*() {
      const slow = yield* Effect.fork(call("note", { text: "never", ...hour }))
      yield* Effect.flatMap(Started, Deferred.await)
      yield* Fiber.interrupt(slow)
      yield* TestClock.adjust("2 hours")
      expect(yield* exported).toMatchObject({ notes: [] })
    }).pipe(Effect.provide(Served)))

  it.effect("asCaller runs tools and extensions as somebody, and nobody else's calls (B-CTX-3, B-CTX-8)", () =>
    Effect.gen(function*() {
      const both = Effect.gen(function*() {
        const { structuredContent } = yield* call("who")
        const { whoami } = yield* ExtensionClient.make(Whoami)
        return { tool: structuredContent, extension: yield* whoami() }
      })
      const boss = { role: "boss", session: "s-1" }
      expect(yield* EnvironmentTest.asCaller(boss)(both)).toEqual({ tool: boss, extension: boss })
      expect(yield* both).toMatchObject({ tool: { role: null }, extension: { role: null, session: null } })
      const nobody = yield* both.pipe(EnvironmentTest.asCaller({}))
      expect(nobody).toEqual({ tool: { role: null, session: null }, extension: { role: null, session: null } })
    }).pipe(Effect.provide(Served)))

  it.effect("has the wire itself for what clients hide", () =>
    Effect.gen(function*() {
      const wire = yield* EnvironmentTest.Wire
      const answer = yield* wire.execute(
        HttpClientRequest.post("/agentenv").pipe(HttpClientRequest.bodyText("{", "application/json"))
      )
      expect(answer.status).toBe(200)
      expect(yield* answer.json).toMatchObject({ error: { code: -32700 } })
    }).pipe(Effect.scoped, Effect.provide(Served)))

  it.effect("takes the server's options, such as another name", () =>
    Effect.gen(function*() {
      const { name } = yield* Effect.flatMap(EnvironmentClient.EnvironmentClient, ({ card }) => card)
      expect(name).toBe("diary")
      const tools = yield* Effect.flatMap(ToolClient.ToolClient, ({ listTools }) => listTools)
      expect(tools.map(({ name }) => name)).toEqual(["diary_note", "diary_draw", "diary_who"])
    }).pipe(Effect.provide(served({ name: "diary" }))))

  it.effect("hands on what a tool says during its call", () =>
    Effect.gen(function*() {
      const heard = yield* Ref.make<ReadonlyArray<number>>([])
      const tools = yield* ToolClient.ToolClient
      yield* tools.callTool("notes_note", { text: "x" }, {
        onProgress: ({ progress }) => Ref.update(heard, (all) => [...all, progress])
      })
      expect(yield* Ref.get(heard)).toEqual([0.5])
    }).pipe(Effect.provide(Served)))

  it.effect("ends what still runs when the test ends", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const Wait = Tool.make("wait", { description: "Wait for good." })
      const Waiting = Environment.make("waiting", { tools: [Wait] })
      const entered = yield* Deferred.make<void>()
      const WaitingLive = Waiting.toLayer(Effect.succeed({
        tools: {
          wait: () =>
            Effect.zipRight(Deferred.succeed(entered, undefined), Effect.never).pipe(
              Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
            )
        }
      }))
      yield* Effect.gen(function*() {
        yield* Effect.forkScoped(Effect.flatMap(ToolClient.ToolClient, (tools) => tools.callTool("wait")))
        yield* Deferred.await(entered)
      }).pipe(Effect.scoped, Effect.provide(EnvironmentTest.layer(Waiting).pipe(Layer.provide(WaitingLive))))
      yield* Deferred.await(interrupted)
    }))

  describe("episodes", () => {
    it.effect("reset with a seed restarts the environment's randomness, tools' draws included (V-1)", () =>
      Effect.gen(function*() {
        const first = yield* drawnAfterReset(1)
        expect(yield* drawnAfterReset(1)).toEqual(first)
        expect(yield* drawnAfterReset(2)).not.toEqual(first)
      }).pipe(Effect.provide(Served)))

    it.effect("two environments of one definition never disturb each other's draws (V-2)", () =>
      Effect.gen(function*() {
        const one = yield* Layer.build(Served)
        const two = yield* Layer.build(Served)
        const inOne = Effect.provide(one)
        const inTwo = Effect.provide(two)
        const solo = yield* Effect.all([reset({ seed: 3 }), drawn, drawn, drawn]).pipe(inOne)
        const interleaved = yield* Effect.all([
          inOne(reset({ seed: 3 })),
          inOne(drawn).pipe(Effect.zipLeft(inTwo(reset()))),
          inOne(drawn).pipe(Effect.zipLeft(inTwo(drawn))),
          inOne(drawn).pipe(Effect.zipLeft(inTwo(reset({ seed: 9 }))))
        ])
        expect(interleaved).toEqual(solo)
      }).pipe(Effect.scoped))

    it.effect("five rollouts at once each read what they wrote alone (V-6)", () =>
      Effect.gen(function*() {
        const notes = yield* Effect.all([0, 1, 2, 3, 4].map(rollout), { concurrency: "unbounded" })
        expect(notes).toEqual([["0"], ["1"], ["2"], ["3"], ["4"]])
      }))

    it.effect("reset fences a running tool: it is told so, and writes nothing into the next episode (V-7)", () =>
      Effect.gen(function*() {
        const slow = yield* Effect.fork(call("note", { text: "stale", after: 200 }))
        yield* Effect.flatMap(Started, Deferred.await)
        yield* TestClock.adjust("100 millis")
        yield* reset()
        const result = yield* Fiber.join(slow)
        expect(Option.getOrThrow(ToolClient.failure(result))).toMatchObject({
          code: "episode_reset",
          applied: "unknown"
        })
        yield* TestClock.adjust("1 second")
        expect(yield* exported).toMatchObject({ notes: [] })
        expect((yield* call("note", { text: "new" })).isError).toBe(false)
      }).pipe(Effect.provide(Served)))
  })

  describe("types", () => {
    it("asks for the implementation and nothing else", () => {
      expectTypeOf<Layer.Layer.Context<ReturnType<typeof EnvironmentTest.layer<typeof Notes>>>>()
        .toEqualTypeOf<Environment.Handlers<"notes">>()
      expectTypeOf(EnvironmentTest.asCaller({ role: "boss" })(Effect.as(ExtensionClient.Transport, 1)))
        .toEqualTypeOf<Effect.Effect<number, never, ToolClient.ToolClient | EnvironmentTest.Wire>>()
      const Other = EnvironmentTest.layer(Environment.make("other")).pipe(Layer.provide(NotesLive))
      expectTypeOf<Layer.Layer.Context<typeof Other>>().toEqualTypeOf<Environment.Handlers<"other"> | Started>()
    })

    it.effect("builds with any implementation of the definition", () =>
      Effect.gen(function*() {
        const Empty = Environment.make("empty")
        const exit = yield* Effect.exit(
          Layer.build(EnvironmentTest.layer(Empty).pipe(Layer.provide(Empty.toLayer(Effect.succeed({})))))
        )
        expect(Exit.isSuccess(exit)).toBe(true)
      }).pipe(Effect.scoped))
  })
})
