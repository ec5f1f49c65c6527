import { Environment, Hook, Tool, ToolCall, Tools } from "@effect-agentenv/environment"
import { AgentEnvError, Extension, type Mcp, Operation } from "@effect-agentenv/protocol"
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Logger, Ref, Schema } from "effect"
import { KilnError, wire } from "./support.ts"

const Ring = Tool.make("ring", {
  description: "Rings for a parcel.",
  parameters: { label: Schema.String, times: Schema.optionalWith(Schema.Int, { default: () => 1 }) },
  success: Schema.String
})
const Seen = Extension.single("urn:desk:seen/v1", "seen", Operation.get())
const Desk = Environment.make("desk", { tools: [Ring], extensions: [Seen] })

/** The `ToolCall`s that were seen, by whom. */
class Log extends Context.Tag("test/Log")<Log, Ref.Ref<ReadonlyArray<readonly [string, Call]>>>() {
  static readonly layer = Layer.effect(Log, Ref.make<ReadonlyArray<readonly [string, Call]>>([]))
}
type Call = Context.Tag.Service<typeof ToolCall.ToolCall>

const note = (who: string) =>
  Effect.gen(function*() {
    const call = yield* ToolCall.ToolCall
    yield* Ref.update(yield* Log, (all) => [...all, [who, call] as const])
  })

const DeskLive = Desk.toLayer(Effect.succeed({
  tools: { ring: ({ label, times }) => Effect.as(note("tool"), `rang ${label} ${times}`) },
  extensions: { "urn:desk:seen/v1": { seen: () => note("extension") } }
}))

const text = (text: string): Mcp.CallToolResult => ({ content: [{ type: "text", text }] })

/** A desk behind a hook, and who saw what. */
const hooked = <R>(hook: Hook.Hook<R>) => Layer.provide(Environment.intercept(Desk, hook), DeskLive)

const seen = Effect.flatMap(Log, (log) => Effect.map(Ref.get(log), (all) => all.map(([who]) => who)))

describe("a hook", () => {
  it.scoped("that proceeds lets the tool run, with the very ToolCall that it saw (B-HOOK-1, B-HOOK-7)", () =>
    Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      expect((yield* tool("ring", { label: "b2" }, { "agentenv-role": "clerk" })).content[0].text).toBe("rang b2 1")
      const [[, first] = [], [, second] = []] = yield* Ref.get(yield* Log)
      expect(first).toBe(second)
      expect(first?.role).toBe("clerk")
      expect(yield* seen).toEqual(["hook", "tool"])
    }).pipe(
      Effect.provide(Layer.provideMerge(hooked(() => Effect.as(note("hook"), Hook.proceed)), Log.layer))
    ))

  it.scoped("that answers is sent as it is, and the tool does not run (B-HOOK-2)", () => {
    const picture: Mcp.CallToolResult = {
      content: [{ type: "image", data: "aGk=", mimeType: "image/png" }],
      structuredContent: { not: "of the tool's schema" },
      _meta: { "desk.io/cached": true }
    }
    return Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      expect(yield* tool("ring", { label: "b2" })).toEqual(picture)
      expect(yield* tool("ring", { label: "no" })).toEqual({ ...text("the door stays shut"), isError: true })
      expect(yield* seen).toEqual([])
    }).pipe(
      Effect.provide(Layer.provideMerge(
        hooked(({ arguments: args }) =>
          Effect.succeed(Hook.answer(
            (args as { readonly label: string }).label === "no"
              ? { ...text("the door stays shut"), isError: true }
              : picture
          ))
        ),
        Log.layer
      ))
    )
  })

  it.scoped("that answers anything else is an error result, and the tool does not run (B-HOOK-3)", () => {
    const answers: Array<unknown> = ["not a result", undefined, null, text("bare"), { _tag: "Later" }]
    const count = answers.length
    return Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      for (let index = 0; index < count; index++) {
        const result = yield* tool("ring", { label: "b2" })
        expect(result).toEqual({ isError: true, content: [{ type: "text", text: expect.stringContaining("Hook.") }] })
      }
      expect(yield* seen).toEqual([])
    }).pipe(
      // as one without types would write it
      Effect.provide(Layer.provideMerge(hooked(() => Effect.sync(() => answers.shift() as Hook.Decision)), Log.layer))
    )
  })

  it.scoped("that fails is an error result: by its text, its code, or the code of a cause (B-HOOK-4, B-ERR-4, B-ERR-5, B-ERR-6)", () => {
    const coded = new AgentEnvError.AgentEnvError({ code: "hook_refused", message: "not this one", hint: "ask" })
    const failures: Record<string, Error> = {
      boom: new KilnError("hook failure"),
      coded,
      chained: new Error("outer", { cause: coded })
    }
    return Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      expect(yield* tool("ring", { label: "boom" })).toEqual({ ...text("hook failure"), isError: true })
      const refusal = {
        ...text("hook_refused: not this one"),
        structuredContent: {
          code: "hook_refused",
          message: "not this one",
          retryable: false,
          applied: "no",
          hint: "ask"
        },
        isError: true
      }
      expect(yield* tool("ring", { label: "coded" })).toEqual(refusal)
      expect(yield* tool("ring", { label: "chained" })).toEqual(refusal)
      expect(yield* seen).toEqual([])
    }).pipe(
      Effect.provide(Layer.provideMerge(
        hooked(({ arguments: args }) =>
          Effect.fail(failures[(args as { readonly label: string }).label] ?? new KilnError("?"))
        ),
        Log.layer
      ))
    )
  })

  it.scoped("that dies answers a correlation id and no more", () =>
    Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      const result = yield* tool("ring", { label: "b2" })
      expect(result.isError).toBe(true)
      expect(result.content[0].text).not.toContain("secret")
    }).pipe(
      Effect.provide(Layer.provideMerge(
        hooked(() => Effect.die(new Error("secret"))),
        Layer.merge(Log.layer, Logger.remove(Logger.defaultLogger))
      ))
    ))

  it.scoped("is not called for unknown tools nor for extensions (B-HOOK-5)", () =>
    Effect.gen(function*() {
      const { send, tool } = yield* wire(Desk)
      expect((yield* tool("ghost")).isError).toBe(true)
      expect((yield* send("GET", "/agentenv/ext/seen")).status).toBe(200)
      expect(yield* seen).toEqual(["extension"])
    }).pipe(
      Effect.provide(Layer.provideMerge(hooked(() => Effect.as(note("hook"), Hook.proceed)), Log.layer))
    ))

  it.scoped("sees arguments as they were sent, before they are refused (B-HOOK-6)", () => {
    const sent: Array<unknown> = []
    return Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      const refused = yield* tool("ring", { label: 7, more: true })
      expect(refused.isError).toBe(true)
      expect(refused.content[0].text).toContain("label")
      yield* tool("ring", { label: "b2" })
      expect(sent).toEqual([{ label: 7, more: true }, { label: "b2" }])
    }).pipe(
      Effect.provide(Layer.provideMerge(
        hooked(({ arguments: args }) => {
          sent.push(args)
          return Effect.succeed(Hook.proceed)
        }),
        Log.layer
      ))
    )
  })

  it.scoped("on another hook decides first, and keeps the inner one from deciding", () => {
    const Inner = hooked(() => Effect.as(note("inner"), Hook.proceed))
    const Outer = Layer.provide(
      Environment.intercept(
        Desk,
        ({ role }) => Effect.as(note("outer"), role === "barred" ? Hook.answer(text("shut")) : Hook.proceed)
      ),
      Inner
    )
    return Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      yield* tool("ring", { label: "b2" })
      expect(yield* tool("ring", { label: "b2" }, { "agentenv-role": "barred" })).toEqual(text("shut"))
      expect(yield* seen).toEqual(["outer", "inner", "tool", "outer"])
    }).pipe(Effect.provide(Layer.provideMerge(Outer, Log.layer)))
  })

  it.scoped("holds what it acquires until the call has ended, and may use the server's tools", () => {
    const order: Array<string> = []
    const Live = Layer.provide(
      Environment.intercept(Desk, () =>
        Effect.gen(function*() {
          const { served } = yield* Tools.Tools
          order.push((yield* served).map(({ name }) => name).join())
          yield* Effect.addFinalizer(() => Effect.sync(() => order.push("released")))
          return Hook.proceed
        })),
      Desk.toLayer(Effect.succeed({
        tools: { ring: () => Effect.sync(() => `${order.push("tool")}`) },
        extensions: { "urn:desk:seen/v1": { seen: () => Effect.void } }
      }))
    )
    return Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      yield* tool("ring", { label: "b2" })
      expect(order).toEqual(["ring", "tool", "released"])
    }).pipe(Effect.provide(Live))
  })

  it.scoped("runs inside the episode: a reset interrupts it", () => {
    const Episodic = Environment.make("desk", { tools: [Ring] })
    return Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const Live = Layer.provide(
        Environment.intercept(Episodic, () => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)),
        Episodic.toLayer(Effect.succeed({
          reset: Effect.void,
          tools: { ring: () => Effect.succeed("") }
        }))
      )
      const { rpc, tool } = yield* Effect.provide(wire(Episodic), Live)
      const call = yield* Effect.fork(tool("ring", { label: "b2" }))
      yield* Deferred.await(started)
      yield* rpc("data/reset")
      expect((yield* Fiber.join(call)).structuredContent.code).toBe("episode_reset")
    })
  })
})
