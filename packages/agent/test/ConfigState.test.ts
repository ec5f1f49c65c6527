import * as AgentConfig from "@effect-agentenv/agent/AgentConfig"
import * as ConfigState from "@effect-agentenv/agent/ConfigState"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"

class Kiln extends AgentConfig.extend<Kiln>("Kiln")({
  model: AgentConfig.field(Schema.String, { default: () => "kestrel-1" }),
  apiKey: AgentConfig.field(Schema.String, { default: () => "", alias: "api-key" }),
  token: AgentConfig.writeOnly(Schema.String, { default: () => "" }),
  runtime: AgentConfig.field(Schema.Struct({ flags: Schema.Array(Schema.String) }), { default: () => ({ flags: [] }) }),
  heat: AgentConfig.field(Schema.Int, { default: () => 1200 })
}) {}

const provide = Effect.provide(ConfigState.layer(Kiln))

const state = ConfigState.ConfigState

const set = (update: Readonly<Record<string, unknown>>) => Effect.flatMap(state, (state) => state.set(update))

const readback = Effect.flatMap(state, (state) => state.readback)

const current = Effect.flatMap(state, (state) => state.current) as Effect.Effect<Kiln, never, ConfigState.ConfigState>

const loc = (message: string) =>
  (JSON.parse(message) as ReadonlyArray<{ readonly loc: ReadonlyArray<string> }>).map(({ loc }) => loc.join("."))

describe("ConfigState", () => {
  it.effect("B-CFG-2, B-CFG-9: nothing is set at first, and what is not set has its default", () =>
    Effect.gen(function*() {
      expect(yield* readback).toEqual({})
      expect(yield* current).toMatchObject({
        name: null,
        description: null,
        role: null,
        timeoutSeconds: 600,
        model: "kestrel-1"
      })
    }).pipe(provide))

  it.effect("B-CFG-7, B-CFG-9: updates merge, and only what was set reads back", () =>
    Effect.gen(function*() {
      yield* set({ model: "kestrel-2" })
      yield* set({ heat: 900 })
      expect(yield* readback).toEqual({ model: "kestrel-2", heat: 900 })
      expect(yield* current).toMatchObject({ model: "kestrel-2", heat: 900, timeoutSeconds: 600 })
    }).pipe(provide))

  it.effect("B-CFG-7: unknown keys and wrong types are 400, name the field, and change nothing", () =>
    Effect.gen(function*() {
      yield* set({ model: "kestrel-2" })
      for (
        const key of ["metadata", "task_id", "model_params", "project_id", "unknown", "timeoutSeconds", "__proto__"]
      ) {
        const update = JSON.parse(`{"model":"kestrel-3","${key}":1}`)
        const error = yield* Effect.flip(set(update))
        expect(error.status).toBe(400)
        expect(error.message).toContain(key)
      }
      const error = yield* Effect.flip(set({ model: "kestrel-3", heat: "s3cret-heat" }))
      expect(loc(error.message)).toEqual(["heat"])
      expect(error.message).not.toContain("s3cret-heat")
      expect(yield* readback).toEqual({ model: "kestrel-2" })
    }).pipe(provide))

  it.effect("B-HTTP-2: a refusal is a list of objects without the input, and not longer than anybody reads", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(set({ heat: null, model: 7 }))
      const issues: ReadonlyArray<object> = JSON.parse(error.message)
      expect(issues).toHaveLength(2)
      for (const issue of issues) expect(Object.keys(issue)).toEqual(["type", "loc", "msg"])
      const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key-${index}`, 1]))
      expect(JSON.parse((yield* Effect.flip(set(many))).message)).toHaveLength(100)
    }).pipe(provide))

  it.effect("B-CFG-8: a name or description that is null, empty or blank is 400, and the card keeps what it had", () =>
    Effect.gen(function*() {
      const config = yield* state
      yield* set({ name: "Kestrel", description: "fires" })
      for (const field of ["name", "description"]) {
        for (const value of [null, "", " \n"]) {
          const error = yield* Effect.flip(set({ [field]: value, model: "lost" }))
          expect(error.status).toBe(400)
          expect(loc(error.message)).toEqual([field])
        }
      }
      expect(config.card()).toEqual({ name: "Kestrel", description: "fires" })
      expect(yield* readback).toEqual({ name: "Kestrel", description: "fires" })
    }).pipe(provide))

  it.effect("B-CFG-8: other fields may be null where their schema says so", () =>
    Effect.gen(function*() {
      yield* set({ role: "lead" })
      yield* set({ role: null })
      expect(yield* readback).toEqual({ role: null })
    }).pipe(provide))

  it.effect("the seconds of a task are understood as the reference does, and read back as they are understood", () =>
    Effect.gen(function*() {
      for (const [written, understood] of [["2", 2], [" 3.0 ", 3], [true, 1], [7, 7]] as const) {
        yield* set({ timeout_seconds: written })
        expect(yield* readback).toEqual({ timeout_seconds: understood })
        expect((yield* current).timeoutSeconds).toBe(understood)
      }
      for (const wrong of ["", "two", 1.5, null]) {
        expect(loc((yield* Effect.flip(set({ timeout_seconds: wrong }))).message)).toEqual(["timeout_seconds"])
      }
    }).pipe(provide))

  it.effect("B-CFG-4: a field is set and read back under its alias alone", () =>
    Effect.gen(function*() {
      yield* set({ "api-key": "k-11", timeout_seconds: 30 })
      expect((yield* Effect.flip(set({ apiKey: "k-12" }))).status).toBe(400)
      expect(yield* readback).toEqual({ "api-key": "k-11", timeout_seconds: 30 })
      expect(yield* current).toMatchObject({ apiKey: "k-11", timeoutSeconds: 30 })
    }).pipe(provide))

  it.effect("B-CFG-6: a secret reads back as stars, once it is set, and tasks get it", () =>
    Effect.gen(function*() {
      expect(yield* readback).not.toHaveProperty("token")
      yield* set({ token: "tok-5150" })
      expect(yield* readback).toEqual({ token: "***" })
      const config = yield* current
      expect(Redacted.value(config.token)).toBe("tok-5150")
      expect(JSON.stringify(config) + String(config.token)).not.toContain("tok-5150")
      yield* set({ model: "kestrel-2" })
      expect(Redacted.value((yield* current).token)).toBe("tok-5150")
    }).pipe(provide))

  it.effect("B-CFG-6: a secret of the wrong type is not echoed", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(set({ token: ["tok-5150"], "tok-5151": 1 }))
      expect(error.message).not.toContain("tok-5150")
    }).pipe(provide))

  it.effect("B-CFG-11: what one caller does to its copy shows to no other, nor does what the sender does afterwards", () =>
    Effect.gen(function*() {
      const flags = ["a"]
      yield* set({ runtime: { flags } })
      flags.push("by the sender")
      const first = yield* current
      ;(first.runtime.flags as Array<string>).push("by a task")
      const read = (yield* readback) as { runtime: { flags: Array<string> } }
      read.runtime.flags.push("by a reader")
      expect((yield* current).runtime).toEqual({ flags: ["a"] })
      expect(yield* readback).toEqual({ runtime: { flags: ["a"] } })
    }).pipe(provide))

  it.effect("B-CARD-12: the card has what was set of name and description, and whoever listens is told of every update", () =>
    Effect.gen(function*() {
      const config = yield* state
      const seen: Array<unknown> = []
      config.onChange(() => seen.push(config.card().name))
      expect(config.card()).toEqual({ name: undefined, description: undefined })
      yield* set({ name: "Kestrel" })
      yield* set({ model: "kestrel-2" })
      yield* Effect.flip(set({ name: "" }))
      expect(config.card()).toEqual({ name: "Kestrel", description: undefined })
      expect(seen).toEqual(["Kestrel", "Kestrel"])
    }).pipe(provide))

  it.effect("B-CFG-7: updates at the same time lose nothing of each other", () => {
    class Slow extends AgentConfig.extend<Slow>("Slow")({
      a: AgentConfig.field(Schema.Int, { default: () => 0 }),
      b: AgentConfig.field(
        Schema.transformOrFail(Schema.Int, Schema.Int, {
          strict: true,
          decode: (value) => Effect.as(Effect.yieldNow(), value),
          encode: (value) => Effect.succeed(value)
        }),
        { default: () => 0 }
      )
    }) {}
    return Effect.gen(function*() {
      yield* Effect.all([set({ a: 1 }), set({ b: 2 }), set({ role: "lead" })], { concurrency: "unbounded" })
      expect(yield* readback).toEqual({ a: 1, b: 2, role: "lead" })
    }).pipe(Effect.provide(ConfigState.layer(Slow)))
  })

  it.effect("hostile values are refused and nothing breaks", () =>
    Effect.gen(function*() {
      const deep: unknown = JSON.parse(`${"[".repeat(10_000)}${"]".repeat(10_000)}`)
      const loop: Record<string, unknown> = {}
      loop["loop"] = loop
      for (const value of [deep, loop, Number.NaN, () => 1, new Map()]) {
        expect((yield* Effect.flip(set({ runtime: value }))).status).toBe(400)
      }
      expect(yield* readback).toEqual({})
    }).pipe(provide))
})
