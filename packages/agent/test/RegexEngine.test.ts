import * as RegexEngine from "@effect-agentenv/agent/RegexEngine"
import { RegexBudgetExceeded } from "@effect-agentenv/agent/RegexError"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { spawnSync } from "node:child_process"
import * as path from "node:path"

const regex = (pattern: string) => ({ _tag: "Regex" as const, pattern })

const all = (...of: ReadonlyArray<RegexEngine.Expression>) => ({ _tag: "All" as const, of })

const any = (...of: ReadonlyArray<RegexEngine.Expression>) => ({ _tag: "Any" as const, of })

/** Burns any budget. */
const endless = regex("^(a|aa)+$")
const trap = `${"a".repeat(60)}b`

const wait = (millis: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, millis)))

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const begun = performance.now()
    return Effect.map(effect, (value) => [value, performance.now() - begun] as const)
  })

// what is measured is the time of the machine: these take their turns
describe.sequential("RegexEngine", () => {
  it.scoped("answers each expression in its order, and looks no further than it must", () =>
    Effect.gen(function*() {
      const { decide } = yield* RegexEngine.make({ budget: "2 seconds" })
      expect(
        yield* decide(trap, [
          true,
          regex("^a"),
          regex("^b"),
          any(true, endless),
          all(false, endless),
          all(regex("a"), any(regex("c"), regex("b$"))),
          all(),
          any(),
          any(all(regex("c"), endless), regex("b"))
        ])
      ).toEqual([true, true, false, true, false, true, true, false, true])
    }))

  it.scoped("expressions nested 10,000 deep are answered, in place and by the worker", () =>
    Effect.gen(function*() {
      const { decide } = yield* RegexEngine.make()
      let nested: RegexEngine.Expression = regex("b$")
      for (let i = 0; i < 10_000; i++) nested = i % 2 === 0 ? all(true, nested) : any(false, nested)
      expect(yield* decide("ab", [nested])).toEqual([true])
      expect(yield* decide(`${"a".repeat(100_000)}b`, [nested])).toEqual([true])
    }))

  for (
    const [id, pattern, text] of [
      ["B-TRIG-15", "^(a|aa)+$", `${"a".repeat(40)}b`],
      ["R-2", "^(a|aa)+$", trap],
      ["blanks", "[x\\s]\\s+$", `${" ".repeat(200_000)}x`],
      ["a window", "[abx][ab]*a[ab]{300}c", "ab".repeat(100_000)],
      ["many dots", ".*a.*a.*a.*a.*x$", "a".repeat(5_000)],
      ["overlap", "^(?:(?:a|b)|ab)*c", "ab".repeat(60)]
    ] as const
  ) {
    it.scoped(`${id}: ${pattern} stops within its budget, others go on meanwhile, and the next decision is answered at once`, () =>
      Effect.gen(function*() {
        const { decide } = yield* RegexEngine.make({ budget: "150 millis" })
        let ticks = 0
        const ticking = yield* Effect.fork(Effect.forever(Effect.andThen(wait(5), Effect.sync(() => ticks++))))
        const [error, took] = yield* timed(Effect.flip(decide(text, [true, regex(pattern), false])))
        yield* Fiber.interrupt(ticking)
        expect(error).toEqual(new RegexBudgetExceeded({ pattern, unevaluated: 2, budgetMillis: 150 }))
        expect(error.message).toContain("decision budget")
        expect(took).toBeGreaterThanOrEqual(150)
        expect(ticks).toBeGreaterThan(5)
        const [answers, next] = yield* timed(decide(`${"x".repeat(3_000)}hello`, [regex("(?i)HELLO$")]))
        expect(answers).toEqual([true])
        // 100 ms on a machine of its own
        expect(next).toBeLessThan(1_000)
      }))
  }

  it.scoped("R-1: a hostile shape that looks harmless is answered or stopped, while others go on", () =>
    Effect.gen(function*() {
      const { check, decide } = yield* RegexEngine.make({ budget: "150 millis" })
      const pattern = "\\W?(([ca]*?){0,3}|c{2,5}b{2,5}){0,3}$"
      yield* check(pattern)
      const [result, took] = yield* timed(
        Effect.either(Effect.all([decide("ca".repeat(25), [regex(pattern)]), wait(1)], { concurrency: 2 }))
      )
      if (result._tag === "Left") expect(result.left._tag).toBe("RegexBudgetExceeded")
      else expect(result.right[0]).toEqual([true])
      expect(took).toBeLessThan(1_500)
    }))

  it.scoped("R-6: many slow patterns share one budget, and the error names the first without an answer in 80 characters", () =>
    Effect.gen(function*() {
      const { decide } = yield* RegexEngine.make({ budget: "200 millis" })
      const rules = Array.from({ length: 256 }, (_, i) => regex(`[ab]a*${"(?:x|y|z)".repeat(20)}{${9 + i}}`))
      const error = yield* Effect.flip(decide("a".repeat(6_000), rules))
      if (error._tag !== "RegexBudgetExceeded") return expect.fail(error.message)
      expect(error.message).toContain("exhausted before evaluating")
      expect(error.pattern).toHaveLength(80)
      expect(error.unevaluated).toBeGreaterThan(0)
      expect(error.unevaluated).toBeLessThan(256)
    }))

  it.scoped("a decision that waits for others has its whole budget", () =>
    Effect.gen(function*() {
      const { decide } = yield* RegexEngine.make({ budget: "200 millis" })
      const slow = Effect.either(decide(trap, [endless]))
      const quick = Effect.either(decide("x".repeat(3_000), [regex("x$")]))
      const results = yield* Effect.all([slow, slow, slow, quick], { concurrency: "unbounded" })
      expect(results.map(({ _tag }) => _tag)).toEqual(["Left", "Left", "Left", "Right"])
    }))

  it.scoped("an interrupted decision gives up its worker, and the next one has another", () =>
    Effect.gen(function*() {
      const { decide } = yield* RegexEngine.make({ budget: "1 minute" })
      const fiber = yield* Effect.fork(decide(trap, [endless]))
      yield* wait(100)
      yield* Fiber.interrupt(fiber)
      expect(yield* decide("x".repeat(3_000), [regex("x$")])).toEqual([true])
    }))

  it.scoped("an empty text, all of Unicode's lone halves and 200,000 characters are searched", () =>
    Effect.gen(function*() {
      const { decide } = yield* RegexEngine.make()
      expect(yield* decide("", [regex("^$"), regex(".")])).toEqual([true, false])
      const long = "\ud83d".repeat(200_000)
      expect(yield* decide(long, [regex("^.+$"), regex("\\ud83d$"), regex("\u{1f600}")])).toEqual([true, true, false])
    }))

  it.scoped("a pattern that was never checked fails the decision that asks for it", () =>
    Effect.gen(function*() {
      const { decide } = yield* RegexEngine.make()
      const error = yield* Effect.flip(decide("a", [regex("(")]))
      expect(error).toMatchObject({ _tag: "RegexEngineError" })
    }))

  it.effect("a process with an engine ends by itself", () =>
    Effect.sync(() => {
      const program = `
        import * as RegexEngine from ${JSON.stringify(path.join(import.meta.dirname, "../src/RegexEngine.ts"))}
        import { Effect, Scope } from "effect"
        const program = Effect.gen(function*() {
          const scope = yield* Scope.make()
          const { decide } = yield* Scope.extend(RegexEngine.make(), scope)
          const text = "x".repeat(3000)
          console.log((yield* decide(text, [{ _tag: "Regex", pattern: "x$" }])).join())
        })
        Effect.runPromise(program)
      `
      const { stderr, stdout, status } = spawnSync(
        process.execPath,
        ["--conditions=@effect-agentenv/source", "--import", "tsx", "--input-type=module", "-e", program],
        { cwd: path.join(import.meta.dirname, ".."), encoding: "utf8", timeout: 25_000 }
      )
      expect({ stderr, stdout, status }).toEqual({ stderr: "", stdout: "true\n", status: 0 })
    }))
})
