import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, FastCheck, Fiber } from "effect"
import { Lock } from "../src/internal/lock.ts"

/** A fiber that has come as far as it can. */
const started = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.tap(Effect.fork(effect), Effect.yieldNow().pipe(Effect.repeatN(3)))

describe("Lock", () => {
  it("is had at once by whoever finds it free", () => {
    const lock = new Lock()
    expect(Effect.runSyncExit(lock.hold(Effect.succeed(1)))).toEqual(Exit.succeed(1))
    expect(Effect.runSyncExit(lock.within(Effect.fail("no")))).toEqual(Exit.fail("no"))
    expect(Effect.runSyncExit(lock.within(Effect.dieMessage("broken")))).toMatchObject({ _tag: "Failure" })
    expect(Effect.runSyncExit(lock.hold(Effect.succeed(2)))).toEqual(Exit.succeed(2))
  })

  it.effect("is given on in the order in which it was asked for, and past those who were interrupted", () =>
    Effect.gen(function*() {
      const lock = new Lock()
      const open = yield* Deferred.make<void>()
      const seen: Array<string> = []
      const say = (name: string) => Effect.sync(() => void seen.push(name))
      const turn = (name: string) => lock.within(say(name))
      const first = yield* started(lock.within(Effect.zipRight(Deferred.await(open), say("first"))))
      const second = yield* started(turn("second"))
      const third = yield* started(turn("third"))
      const fourth = yield* started(turn("fourth"))
      yield* Fiber.interrupt(third)
      expect(seen).toEqual([])
      yield* Deferred.succeed(open, undefined)
      yield* Fiber.joinAll([first, second, fourth])
      expect(seen).toEqual(["first", "second", "fourth"])
      yield* turn("fifth")
      expect(seen.at(-1)).toBe("fifth")
    }))

  it.effect("is given on by a holder that is interrupted", () =>
    Effect.gen(function*() {
      const lock = new Lock()
      const holder = yield* started(lock.within(Effect.never))
      const next = yield* started(lock.within(Effect.succeed("mine")))
      yield* Fiber.interrupt(holder)
      expect(yield* Fiber.join(next)).toBe("mine")
    }))

  it.effect("what is held is not interrupted", () =>
    Effect.gen(function*() {
      const lock = new Lock()
      const open = yield* Deferred.make<void>()
      let done = false
      const held = Effect.zipRight(Deferred.await(open), Effect.sync(() => done = true))
      const holder = yield* started(lock.hold(held))
      const interrupting = yield* started(Fiber.interrupt(holder))
      yield* Deferred.succeed(open, undefined)
      yield* Fiber.join(interrupting)
      expect(done).toBe(true)
    }))

  it.effect.prop(
    "whoever is interrupted whenever, nobody is in together with another and everybody else gets in",
    [FastCheck.array(
      FastCheck.record({ steps: FastCheck.nat(3), interruptAfter: FastCheck.option(FastCheck.nat(12)) }),
      {
        minLength: 2,
        maxLength: 8
      }
    )],
    ([users]) =>
      Effect.gen(function*() {
        const lock = new Lock()
        let inside = 0
        const use = (steps: number) =>
          lock.within(Effect.acquireUseRelease(
            Effect.sync(() => expect(++inside).toBe(1)),
            () => Effect.repeatN(Effect.yieldNow(), steps),
            () => Effect.sync(() => inside--)
          ))
        const fibers = yield* Effect.forEach(users, ({ interruptAfter, steps }) =>
          Effect.gen(function*() {
            const fiber = yield* Effect.fork(use(steps))
            if (interruptAfter === null) return fiber
            yield* Effect.fork(
              Effect.zipRight(Effect.repeatN(Effect.yieldNow(), interruptAfter), Fiber.interrupt(fiber))
            )
            return fiber
          }))
        const exits = yield* Effect.forEach(fibers, Fiber.await)
        for (const [index, exit] of exits.entries()) {
          if (users[index]?.interruptAfter === null) expect(Exit.isSuccess(exit)).toBe(true)
        }
        yield* use(0)
      })
  )
})
