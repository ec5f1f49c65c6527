import type { Confidence, Cost, ToolCall, WorldstateDelta } from "@effect-agentenv/protolabs"
import { FastCheck } from "effect"

const given = <A>(arbitrary: FastCheck.Arbitrary<A>) => FastCheck.option(arbitrary, { nil: undefined })

const present = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T

/** Sums of these are exact, so that laws of addition hold to the bit. */
const amount = FastCheck.nat(1_000_000).map((n) => n / 8)
const tokens = FastCheck.nat(1_000_000)

export const cost: FastCheck.Arbitrary<Cost.Cost> = FastCheck.record({
  usage: FastCheck.record({
    input_tokens: tokens,
    output_tokens: tokens,
    cache_creation_input_tokens: given(tokens),
    cache_read_input_tokens: given(tokens),
    reasoning_tokens: given(FastCheck.oneof(tokens, FastCheck.string())),
    ["__proto__"]: given(tokens)
  }).map(present),
  durationMs: given(amount),
  costUsd: given(amount),
  success: given(FastCheck.boolean()),
  note: given(FastCheck.string())
}).map((fields) => present(fields) as Cost.Cost)

export const confidence: FastCheck.Arbitrary<Confidence.Confidence> = FastCheck.record({
  confidence: FastCheck.double({ min: 0, max: 1, noNaN: true }),
  explanation: given(FastCheck.string()),
  success: given(FastCheck.boolean())
}).map((fields) => present(fields) as Confidence.Confidence)

export const toolCall: FastCheck.Arbitrary<ToolCall.ToolCall> = FastCheck.record({
  toolCallId: FastCheck.constantFrom("a", "b", "c"),
  name: FastCheck.string(),
  phase: FastCheck.constantFrom("started" as const, "completed" as const, "failed" as const),
  args: given(FastCheck.jsonValue()),
  error: given(FastCheck.string())
}).map((fields) => present(fields) as ToolCall.ToolCall)

const place = {
  domain: FastCheck.constantFrom("dock", "log", "none"),
  path: FastCheck.array(FastCheck.constantFrom("a", "b", "list", "0", "1", "", "n"), { maxLength: 4 })
    .map((keys) => keys.join("."))
}

const value = FastCheck.oneof(
  FastCheck.integer({ min: -5, max: 5 }),
  FastCheck.constant(null),
  FastCheck.string({ maxLength: 2 }),
  FastCheck.constant([] as ReadonlyArray<number>),
  FastCheck.constant({ a: 1 }),
  FastCheck.constant({ list: ["x"], b: { n: 1 } })
)

export const delta: FastCheck.Arbitrary<WorldstateDelta.Delta> = FastCheck.oneof(
  FastCheck.record({ ...place, op: FastCheck.constant("set" as const), value }),
  FastCheck.record({ ...place, op: FastCheck.constant("inc" as const), value: FastCheck.integer({ min: -3, max: 3 }) }),
  FastCheck.record({ ...place, op: FastCheck.constant("push" as const), value })
)

/** A value nested as deep as it says. */
export const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value }
  return value
}
