import * as RegexEngine from "@effect-agentenv/agent/RegexEngine"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Worker } from "node:worker_threads"

const regex = (pattern: string) => ({ _tag: "Regex" as const, pattern })

const endless = regex("^(a|aa)+$")
const trap = `${"a".repeat(60)}b`
const long = `${"x".repeat(3_000)}y`

/** An engine and its first thread. */
const made = Effect.gen(function*() {
  const threads: Array<Worker> = []
  const listen = (thread: Worker) => threads.push(thread)
  process.on("worker", listen)
  yield* Effect.addFinalizer(() => Effect.sync(() => process.off("worker", listen)))
  const engine = yield* RegexEngine.make({ budget: "1 minute" })
  expect(yield* engine.decide(long, [regex("[xz]y$")])).toEqual([true])
  return { engine, threads }
})

describe.sequential("the thread of patterns", () => {
  it.scoped("one that dies in a decision fails it, and the next decision has another", () =>
    Effect.gen(function*() {
      const { engine, threads } = yield* made
      const deciding = yield* Effect.fork(Effect.flip(engine.decide(trap, [endless])))
      yield* Effect.yieldNow()
      yield* Effect.promise(() => threads[0]!.terminate())
      const error = yield* Fiber.join(deciding)
      expect(error._tag).toBe("RegexEngineError")
      expect(error.message).toContain("its worker died")
      expect(yield* engine.decide(long, [regex("[xz]y$"), regex("[xz]z$")])).toEqual([true, false])
      expect(threads).toHaveLength(2)
    }))

  it.scoped("one that died while nothing was asked is replaced", () =>
    Effect.gen(function*() {
      const { engine, threads } = yield* made
      yield* Effect.promise(() => threads[0]!.terminate())
      expect(yield* engine.decide(long, [regex("[xz]y$")])).toEqual([true])
      expect(threads).toHaveLength(2)
    }))

  it.scoped("one whose memory is used up fails its decision by that name, and the next decision has another", () =>
    Effect.gen(function*() {
      const { engine, threads } = yield* made
      const deciding = yield* Effect.fork(Effect.flip(engine.decide(trap, [endless])))
      yield* Effect.yieldNow()
      // what node tells of a thread that it ends for that
      threads[0]!.emit("error", Object.assign(new RangeError(), { code: "ERR_WORKER_OUT_OF_MEMORY" }))
      yield* Effect.promise(() => threads[0]!.terminate())
      const error = yield* Fiber.join(deciding)
      expect(error._tag).toBe("RegexEngineError")
      expect(error.message).toContain("out of memory")
      expect(yield* engine.decide(long, [regex("[xz]y$")])).toEqual([true])
      expect(threads).toHaveLength(2)
    }))

  it.scoped("more patterns than a thread keeps are all answered, again and again", () =>
    Effect.gen(function*() {
      const { engine } = yield* made
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < 1_200; i += 200) {
          const rules = Array.from({ length: 200 }, (_, j) => regex(`[xz]{${i + j + 1}}y`))
          expect(yield* engine.decide(`${"-".repeat(3_000)}${"x".repeat(i + 100)}y`, rules)).toEqual(
            rules.map((_, j) => j < 100)
          )
        }
      }
    }))
})
