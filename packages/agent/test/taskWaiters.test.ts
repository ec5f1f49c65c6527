import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { Waiters } from "../src/internal/taskWaiters.ts"

it.effect("A-21: no wake-up is lost that comes between looking and waiting", () =>
  Effect.gen(function*() {
    const waiters = new Waiters()
    let happened = false
    const waiting = yield* Effect.fork(Effect.timeoutOption(
      waiters.until(() => {
        const seen = happened
        // It happens as soon as somebody has looked.
        happened = true
        waiters.wake()
        return seen
      }),
      "1 second"
    ))
    yield* TestClock.adjust("1 second")
    expect(Option.isSome(yield* Fiber.join(waiting))).toBe(true)
  }))

it.effect("those who were interrupted while they waited don't pile up, and those who were not are woken", () =>
  Effect.gen(function*() {
    const waiters = new Waiters()
    let happened = false
    const waiting = yield* Effect.fork(waiters.until(() => happened))
    for (let i = 0; i < 1_000; i++) {
      const leaving = yield* Effect.fork(waiters.until(() => happened))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(leaving)
    }
    expect(waiters.size).toBeLessThan(40)
    happened = true
    waiters.wake()
    yield* Fiber.join(waiting)
    expect(waiters.size).toBe(0)
  }))
