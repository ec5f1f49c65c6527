import { ObjectStore } from "@effect-agentenv/testing"
import { Source, TransferError, Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Clock, DateTime, Effect, FastCheck, Fiber, TestClock, TestContext } from "effect"
import { Failed } from "../src/internal/failures.ts"
import { retryAfter, retrying } from "../src/internal/retry.ts"
import { advancing, directory, Env, transfersWith } from "./support.ts"

const both = Effect.all([ObjectStore.ObjectStore, Transfers.Transfers])

const unavailable = new TransferError.TransferUnavailable({ message: "busy" })

/** Runs attempts that fail as told, and gives what came out with when each began. */
const attempts = (failures: ReadonlyArray<Failed>, lifetime: number) =>
  Effect.gen(function*() {
    const began: Array<number> = []
    const left = [...failures]
    const fiber = yield* Effect.fork(Effect.either(retrying(DateTime.unsafeMake(lifetime), (number) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        began.push(now)
        const failed = left.shift()
        return failed === undefined ? Effect.succeed(number) : Effect.fail(failed)
      }))))
    yield* Effect.repeatN(TestClock.adjust("1 second"), 70)
    return { began, result: yield* Fiber.join(fiber) }
  })

describe("attempts", () => {
  it.effect("B-OBJ-4: the pauses are half to the whole of 1 s and 2 s, at random", () =>
    Effect.gen(function*() {
      const { began, result } = yield* attempts([new Failed(unavailable), new Failed(unavailable)], 3_600_000)
      expect(result).toMatchObject({ right: 3 })
      const [first = NaN, second = NaN, third = NaN] = began
      expect(first).toBe(0)
      expect(second).toBeGreaterThanOrEqual(500)
      expect(second).toBeLessThanOrEqual(1000)
      expect(third - second).toBeGreaterThanOrEqual(1000)
      expect(third - second).toBeLessThanOrEqual(2000)
    }))

  it.effect("B-OBJ-10: three failures end with the last", () =>
    Effect.gen(function*() {
      const last = new TransferError.TransferTimeout({ message: "slow" })
      const { began, result } = yield* attempts(
        [new Failed(unavailable), new Failed(unavailable), new Failed(last)],
        3_600_000
      )
      expect(began.length).toBe(3)
      expect(result).toMatchObject({ left: last })
    }))

  it.effect("B-OBJ-3: an error that was made not retryable is not tried again", () =>
    Effect.gen(function*() {
      const error = new TransferError.TransferUnavailable({ message: "gone for good", retryable: false })
      const { began } = yield* attempts([new Failed(error)], 3_600_000)
      expect(began.length).toBe(1)
    }))

  it.effect("B-OBJ-11: a grant that ends during the pause is not used again", () =>
    Effect.gen(function*() {
      const { began, result } = yield* attempts([new Failed(unavailable)], 400)
      expect(began).toEqual([0])
      expect(result).toMatchObject({ left: { code: "grant_expired" } })
    }))

  it.effect("T-11: Retry-After is obeyed, and capped at a minute", () =>
    Effect.gen(function*() {
      const { began } = yield* attempts([new Failed(unavailable, 5000), new Failed(unavailable, 999_000)], 3_600_000)
      expect(began).toEqual([0, 5000, 65_000])
    }))

  it.effect("T-11: a Retry-After beyond the grant's life ends it at once, without another request", () =>
    Effect.gen(function*() {
      const { began, result } = yield* attempts([new Failed(unavailable, 5000)], 5000)
      expect(began).toEqual([0])
      expect(result).toMatchObject({ left: unavailable })
    }))

  it("T-11: Retry-After is seconds or a date; nonsense is nothing", () => {
    expect(retryAfter("2", 0)).toBe(2000)
    expect(retryAfter("Thu, 01 Jan 1970 00:00:09 GMT", 4000)).toBe(5000)
    expect(retryAfter("Thu, 01 Jan 1970 00:00:01 GMT", 4000)).toBe(0)
    expect(retryAfter("soon", 0)).toBe(undefined)
    expect(retryAfter(undefined, 0)).toBe(undefined)
  })

  it.effect.prop(
    "B-OBJ-11: whatever the grant's life and the store's patience, no attempt begins after the grant's end",
    { lifetime: FastCheck.integer({ min: 0, max: 5000 }), patience: FastCheck.integer({ min: 0, max: 5000 }) },
    ({ lifetime, patience }) =>
      Effect.gen(function*() {
        const failed = new Failed(unavailable, patience)
        const { began } = yield* attempts([failed, failed, failed], lifetime)
        expect(began.every((at) => at < lifetime)).toBe(true)
      }).pipe(Effect.provide(TestContext.TestContext)),
    { fastCheck: { numRuns: 30 } }
  )
})

describe("the grant's life", () => {
  it.scoped("B-OBJ-11: an expired grant is refused up front", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      const up = yield* store.writeObject("late", { lifetime: "1 second" })
      const down = yield* store.readObject("late", { lifetime: "1 second" })
      yield* TestClock.adjust("1 second")
      const errors = yield* Effect.all([
        Effect.flip(transfers.upload(up, Source.bytes("x"))),
        Effect.flip(transfers.download(down, `${yield* directory}/late`))
      ])
      expect(errors.map(({ code, retryable, status }) => [code, status, retryable])).toEqual([
        ["grant_expired", 410, false],
        ["grant_expired", 410, false]
      ])
      expect(yield* store.requests).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("T-11: a store that asks for 2 s gets them", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      yield* store.inject({ name: "unavailable", retryAfter: "2" })
      yield* advancing(transfers.upload(yield* store.writeObject("patient"), Source.bytes("x")))
      expect(yield* Clock.currentTimeMillis).toBeGreaterThanOrEqual(2000)
    }).pipe(Effect.provide(Env)))

  it.scoped("T-12, T-16: a late 403 is grant_expired if our clock agrees, else transfer_rejected", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      yield* store.inject({ name: "late-403" })
      yield* store.inject("expired")
      for (const _ of [1, 2]) {
        const error = yield* Effect.flip(transfers.upload(yield* store.writeObject("late"), Source.bytes("x")))
        expect(error.code).toBe("transfer_rejected")
      }
      const object = yield* store.writeObject("late", { lifetime: "1 second" })
      yield* store.inject({ name: "late-403", delay: "2 seconds" })
      const error = yield* advancing(Effect.flip(transfers.upload(object, Source.bytes("x"))))
      expect(error.code).toBe("grant_expired")
    }).pipe(Effect.provide(Env)))

  it.scoped("T-14: an attempt is cut off at the grant's end, not at its own limit", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      yield* store.inject("stall")
      const object = yield* store.writeObject("short", { lifetime: "3 seconds" })
      const fiber = yield* Effect.fork(Effect.flip(transfers.upload(object, Source.bytes("x"))))
      yield* store.arrived(1)
      yield* TestClock.adjust("3 seconds")
      expect((yield* Fiber.join(fiber)).code).toBe("grant_expired")
      expect(yield* Clock.currentTimeMillis).toBe(3000)
    }).pipe(Effect.provide(Env)))

  it.scoped("an attempt that takes longer than its limit is TransferTimeout and tried again", () =>
    Effect.gen(function*() {
      const [store, transfers] = yield* both
      yield* store.inject("stall")
      const object = yield* store.writeObject("limited")
      const fiber = yield* Effect.fork(transfers.upload(object, Source.bytes("x")))
      yield* store.arrived(1)
      yield* TestClock.adjust("5 seconds")
      yield* advancing(Fiber.join(fiber), "1 second")
      expect((yield* store.requests).length).toBe(2)
    }).pipe(Effect.provide(transfersWith({ attemptTimeout: "5 seconds" }))))
})
