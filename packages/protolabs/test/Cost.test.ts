import { Cost } from "@effect-agentenv/protolabs"
import { expect, it } from "@effect/vitest"
import { Effect, FastCheck, Option } from "effect"
import { cost } from "./arbitraries.ts"

it.prop("is a monoid", [cost, cost, cost], ([a, b, c]) => {
  expect(Cost.combine(Cost.empty, a)).toEqual(a)
  expect(Cost.combine(a, Cost.empty)).toEqual(a)
  expect(Cost.combine(Cost.combine(a, b), c)).toEqual(Cost.combine(a, Cost.combine(b, c)))
})

it.prop("sums a list", [FastCheck.array(cost)], ([costs]) => {
  const total = Cost.combineAll(costs)
  expect(total.usage.input_tokens).toBe(costs.reduce((sum, { usage }) => sum + usage.input_tokens, 0))
  const known = costs.flatMap(({ costUsd }) => costUsd === undefined ? [] : [costUsd])
  expect(total.costUsd).toBe(known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0))
})

const usage = { input_tokens: 1_000_000, output_tokens: 500_000, cache_read_input_tokens: 100_000 }

it("succeeds only when both did, and adds a peer's own counters", () => {
  const of = (success: boolean) => ({ usage: { ...usage, reasoning_tokens: 4 }, success })
  expect(Cost.combine(of(true), of(false))).toMatchObject({ success: false, usage: { reasoning_tokens: 8 } })
  expect(Cost.combine(of(true), { usage })).toMatchObject({ success: true })
})

it("pollutes nothing when keys of peers are added", () => {
  const hostile: Cost.Cost = JSON.parse(
    "{\"usage\":{\"input_tokens\":1,\"output_tokens\":1,\"__proto__\":{\"polluted\":true}},\"__proto__\":{\"polluted\":true}}"
  )
  const sum = Cost.combine(hostile, hostile)
  expect(Reflect.get({}, "polluted")).toBe(undefined)
  expect(Reflect.get(sum, "polluted")).toBe(undefined)
  expect(Reflect.get(sum.usage, "polluted")).toBe(undefined)
})

it.effect("is priced by the caller's table, the cache like the input unless it has a rate", () =>
  Effect.gen(function*() {
    const prices = { small: { input: 2, output: 10 }, large: { input: 2, output: 10, cacheRead: 0.5 } }
    expect((yield* Cost.priced({ usage, costUsd: 99 }, "small", prices)).costUsd).toBeCloseTo(2 + 5 + 0.2)
    expect((yield* Cost.priced({ usage }, "large", prices)).costUsd).toBeCloseTo(2 + 5 + 0.05)
    for (const model of ["other", "toString", "__proto__"]) {
      expect(yield* Effect.flip(Cost.priced({ usage }, model, prices))).toMatchObject({ _tag: "UnknownModel", model })
    }
  }))

it.effect("describes a span by OpenTelemetry's names", () =>
  Effect.gen(function*() {
    const span = yield* Effect.currentSpan
    yield* Cost.annotateSpan({ usage, costUsd: 0.5, success: true })
    expect(Option.some(Object.fromEntries(span.attributes))).toEqual(Option.some({
      "gen_ai.usage.input_tokens": 1_000_000,
      "gen_ai.usage.output_tokens": 500_000,
      "gen_ai.usage.cache_read.input_tokens": 100_000,
      "protolabs.cost.usd": 0.5,
      "protolabs.cost.success": true
    }))
  }).pipe(Effect.withSpan("turn")))
