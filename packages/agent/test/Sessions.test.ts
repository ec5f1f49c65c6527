import * as Sessions from "@effect-agentenv/agent/Sessions"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"

describe("Sessions", () => {
  it.effect("B-TASK-12: a context's session is what its last run left, and no other context's", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions.Sessions
      yield* sessions.set("a", "one")
      yield* sessions.set("b", "two")
      yield* sessions.set("a", "three")
      expect(yield* sessions.get("a")).toBe("three")
      expect(yield* sessions.get("b")).toBe("two")
      expect(yield* sessions.get("c")).toBeUndefined()
    }).pipe(Effect.provide(Sessions.layer())))

  it.effect("B-TASK-12: beyond the capacity the least recently used context leaves, and reading is using", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions.Sessions
      yield* sessions.set("a", "1")
      yield* sessions.set("b", "2")
      yield* sessions.get("a")
      yield* sessions.set("c", "3")
      expect(yield* Effect.all(["a", "b", "c"].map(sessions.get))).toEqual(["1", undefined, "3"])
    }).pipe(Effect.provide(Sessions.layer({ capacity: 2 }))))

  it.effect("B-TASK-12: 1,024 contexts are remembered unless told otherwise", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions.Sessions
      for (let index = 0; index <= 1024; index++) yield* sessions.set(`c${index}`, `${index}`)
      expect(yield* sessions.get("c0")).toBeUndefined()
      expect(yield* sessions.get("c1")).toBe("1")
    }).pipe(Effect.provide(Sessions.layer())))

  it.effect("an empty session reference is one like any other", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions.Sessions
      yield* sessions.set("__proto__", "")
      expect(yield* sessions.get("__proto__")).toBe("")
    }).pipe(Effect.provide(Sessions.layer())))
})
