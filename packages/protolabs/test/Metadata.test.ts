import { Artifact, Cost, ExtensionUri, Metadata, Part, Read, TaskState } from "@effect-agentenv/protolabs"
import { expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Option } from "effect"

it("merges fragments, the last value whole", () => {
  expect(Metadata.merge()).toEqual({})
  expect(Metadata.merge({ a: { x: 1 }, b: 1 }, { a: { y: 2 } })).toEqual({ a: { y: 2 }, b: 1 })
})

it("pollutes nothing by a key __proto__", () => {
  const merged = Metadata.merge(JSON.parse("{\"__proto__\":{\"polluted\":1}}"), {})
  expect(Reflect.get(merged, "polluted")).toBe(undefined)
  expect(Object.keys(merged)).toEqual(["__proto__"])
})

it.effect("carries the current span's trace to a peer and continues it there", () =>
  Effect.gen(function*() {
    expect(yield* Metadata.currentTrace).toEqual({})
    const metadata = yield* Effect.withSpan(Metadata.currentTrace, "caller")
    const read = Metadata.readTrace(metadata)
    const parent = yield* Metadata.continueTrace(Effect.option(Effect.currentParentSpan), metadata)
    expect(Option.map(parent, ({ spanId, traceId }) => ({ traceId, spanId }))).toEqual(Read.toOption(read))
  }))

it.effect("goes on without a trace that can't be read", () =>
  Effect.gen(function*() {
    for (const trace of [undefined, null, 7, {}, { traceId: "" }, { traceId: 1, spanId: 2 }]) {
      expect(yield* Metadata.continueTrace(Effect.succeed(1), { "a2a.trace": trace })).toBe(1)
    }
    expect(Metadata.readTrace({ "a2a.trace": { traceId: 1 } })).toMatchObject({ path: ["a2a.trace", "traceId"] })
    expect(Metadata.readTrace(null)).toBe(Read.absent)
  }))

it("describes exactly the four extensions", () => {
  expect(Object.keys(ExtensionUri.descriptions)).toEqual(ExtensionUri.all)
  for (const uri of [...ExtensionUri.all, ...Object.values(ExtensionUri.reserved)]) {
    expect(uri.startsWith(ExtensionUri.base)).toBe(true)
  }
})

it.effect("answers in three ways", () =>
  Effect.gen(function*() {
    const cost = Cost.fromPart(Cost.toPart(Cost.empty))
    const malformed = Cost.fromPart(Part.data({}, Cost.mime))
    const cases = { onAbsent: () => 0, onMalformed: () => 1, onPresent: () => 2 }
    expect([Read.absent, malformed, cost].map((read) => Read.match(read, cases))).toEqual([0, 1, 2])
    expect(Read.map(cost, ({ usage }) => usage.input_tokens)).toEqual(Read.present(0, "dataPart"))
    expect(Read.map(malformed, () => 1)).toBe(malformed)
    expect(yield* Read.toEffect(Read.absent)).toEqual(Option.none())
    expect(yield* Read.toEffect(cost)).toEqual(Option.some(Cost.empty))
    const exit = yield* Effect.exit(Read.toEffect(malformed))
    expect(Exit.isFailure(exit) && Cause.isFailType(exit.cause)).toBe(true)
  }))

it("keeps messages of errors on one line and short, whatever the keys", () => {
  const path = Array.from({ length: 100 }, () => "a\n".repeat(1_000))
  const { message } = new Read.Malformed({ concept: "c", path, reason: "r" })
  expect(message).not.toContain("\n")
  expect(message.length).toBeLessThan(2_000)
})

it("names states of both wires", () => {
  expect(["TASK_STATE_INPUT_REQUIRED", "input-required", "TASK_STATE_X", "toString", 7, null].map(TaskState.make))
    .toEqual([
      "input-required",
      "input-required",
      "unknown",
      "unknown",
      "unknown",
      "unknown"
    ])
  expect(["completed", "failed", "canceled", "rejected"].map((state) => TaskState.isTerminal(TaskState.make(state))))
    .toEqual([true, true, true, true])
  expect(TaskState.isTerminal("working")).toBe(false)
  expect(TaskState.isError("canceled")).toBe(false)
})

it("makes artifacts of texts and of parts in any envelope", () => {
  expect(Artifact.text("ahoy", { artifactId: "a" })).toEqual({
    artifactId: "a",
    name: "answer",
    parts: [{ text: "ahoy", mediaType: "text/plain" }]
  })
  expect(Artifact.data([{ content: { $case: "data", value: 1 } }], { artifactId: "a" }).parts).toEqual([{ data: 1 }])
  expect(Artifact.data([], { artifactId: "a", name: "n" })).toEqual({ artifactId: "a", name: "n" })
})
