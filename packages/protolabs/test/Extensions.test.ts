import { type Carrying, Confidence, Cost, Part, Read, ToolCall, WorldstateDelta } from "@effect-agentenv/protolabs"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Option } from "effect"
import { confidence, cost, delta, nested, toolCall } from "./arbitraries.ts"

interface Module<A> {
  readonly uri: string
  readonly mime: string
  readonly toPart: (value: A) => Part.DataPart<A>
  readonly toMetadata: (value: A) => { readonly [uri: string]: A }
  readonly fromPart: (part: unknown) => Read.Read<A>
  readonly fromMetadata: (metadata: unknown) => Read.Read<A>
  readonly find: (source: unknown) => Read.Read<A>
  readonly attach: <T extends object>(
    target: T,
    value: A,
    options?: { readonly carrier?: Read.Carrier }
  ) => T & Carrying.Carrying
}

const carried = <A>(name: string, module: Module<A>, arbitrary: FastCheck.Arbitrary<A>) =>
  describe(name, () => {
    it.prop("round trips on both carriers, in every envelope", [arbitrary], ([value]) => {
      const part = module.toPart(value)
      const metadata = module.toMetadata(value)
      for (const each of [part, Part.toCase(part), { kind: "data", ...part }, JSON.parse(JSON.stringify(part))]) {
        expect(module.fromPart(each)).toEqual(Read.present(value, "dataPart"))
      }
      expect(module.fromMetadata(metadata)).toEqual(Read.present(value, "metadata"))
      expect(module.fromMetadata(JSON.parse(JSON.stringify(metadata)))).toEqual(Read.present(value, "metadata"))
    })

    it.prop("is found wherever it was put, on both wires", [arbitrary], ([value]) => {
      for (const carrier of ["metadata", "dataPart"] as const) {
        const message = module.attach({ messageId: "m", role: "agent", parts: [Part.text("x")] }, value, { carrier })
        const artifact = module.attach({ artifactId: "a", parts: [Part.text("x")] }, value, { carrier })
        const task = { id: "t", contextId: "c", status: { state: "completed" }, artifacts: [artifact] }
        const sources = [
          message,
          { kind: "message", ...message },
          artifact,
          { message },
          { payload: { $case: "message", value: message } },
          { artifactUpdate: { taskId: "t", artifact } },
          { kind: "artifact-update", taskId: "t", artifact },
          { statusUpdate: { taskId: "t", status: { state: "TASK_STATE_WORKING", message } } },
          { kind: "status-update", taskId: "t", status: { state: "working", message } },
          task,
          { task },
          { ...task, artifacts: [], status: { state: "completed", message } },
          { kind: "task", ...task }
        ]
        for (const source of sources) expect(module.find(source)).toEqual(Read.present(value, carrier))
      }
      expect(module.find([Part.text("x"), module.toPart(value)])).toEqual(Read.present(value, "dataPart"))
      expect(module.find(module.toPart(value))).toEqual(Read.present(value, "dataPart"))
    })

    it("is absent from what carries something else", () => {
      const other = Part.data({ a: 1 }, "application/vnd.protolabs.other-v1+json")
      const sources = [{}, [], [null, 1, "x"], other, { parts: [other], metadata: { "urn:x": 1 } }, null, 7, "x"]
      for (const source of sources) expect(module.find(source)).toBe(Read.absent)
      expect(module.fromPart(other)).toBe(Read.absent)
      expect(module.fromPart({ ...other, mediaType: module.mime })).toBe(Read.absent)
      for (const metadata of [null, [], "x", {}, { [module.mime]: {} }]) {
        expect(module.fromMetadata(metadata)).toBe(Read.absent)
      }
    })

    it("is malformed when its payload is no object, with the path", () => {
      for (const payload of [null, [], "x", 0, false]) {
        expect(module.fromPart(Part.data(payload, module.mime))).toMatchObject({ _tag: "Malformed", path: ["data"] })
        expect(module.fromMetadata({ [module.uri]: payload })).toMatchObject({ _tag: "Malformed", path: [module.uri] })
      }
      expect(module.fromPart({ text: "x", metadata: { mimeType: module.mime } })).toMatchObject({ _tag: "Malformed" })
      for (const part of [null, [], "x", undefined]) {
        expect(module.fromPart(part)).toMatchObject({ _tag: "Malformed", path: [] })
      }
    })

    it("never overflows on deep values, and keeps them", () => {
      const deep = { deep: nested(10_000) }
      for (const payload of [deep, deep.deep, { usage: deep, deltas: deep, confidence: deep, toolCallId: deep }]) {
        const source = {
          parts: [Part.data(payload, module.mime)],
          metadata: { [module.uri]: { deep: nested(10_000) } }
        }
        expect(module.find(source)._tag).toBe("Malformed")
        expect(module.find(deep)).toBe(Read.absent)
      }
    })
  })

carried("Cost", Cost, cost)
carried("Confidence", Confidence, confidence)
carried("ToolCall", ToolCall, toolCall)
carried("WorldstateDelta", WorldstateDelta, FastCheck.array(delta).map((deltas) => ({ deltas })))

const some: Cost.Cost = { usage: { input_tokens: 1, output_tokens: 2 } }

it("reads a value once that both carriers say alike", () => {
  const both = Cost.attach(Cost.attach({ parts: [] }, some), structuredClone(some), { carrier: "dataPart" })
  expect(Cost.find(both)).toEqual(Read.present(some, "metadata"))
  expect(Cost.findAll(both)).toEqual([Read.present(some, "metadata")])
})

it("says that carriers differ; leniently, the metadata is believed", () => {
  const both = Cost.attach(Cost.attach({ parts: [] }, some), { ...some, costUsd: 1 }, { carrier: "dataPart" })
  expect(Cost.find(both)).toMatchObject({ _tag: "Malformed", path: ["metadata"] })
  expect(Cost.findAll(both)).toHaveLength(1)
  expect(Cost.lenient.find(both)).toEqual(Option.some(some))
})

it("compares deep carriers without recursion", () => {
  const call = (value: unknown): ToolCall.ToolCall => ({ toolCallId: "k", name: "n", phase: "started", args: value })
  const both = ToolCall.attach(
    ToolCall.attach({}, call(nested(10_000))),
    call(nested(10_000)),
    { carrier: "dataPart" }
  )
  expect(ToolCall.find(both)._tag).toBe("Present")
})

it("finds everything in a task, its history first, a repeated message once", () => {
  const said = (id: string, tokens: number) =>
    Cost.attach({ messageId: id, parts: [] }, { usage: { input_tokens: tokens, output_tokens: 0 } })
  const task = {
    id: "t",
    contextId: "c",
    history: [said("1", 1), null, said("2", 2)],
    status: { state: "TASK_STATE_COMPLETED", message: said("2", 2) },
    artifacts: [{ ...said("", 3), artifactId: "a" }],
    metadata: said("", 4).metadata
  }
  const tokens = Cost.findAll(task).map((read) => Read.isPresent(read) ? read.value.usage.input_tokens : read.message)
  expect(tokens).toEqual([1, 2, 3, 4])
  expect(Read.toOption(Cost.find(task))).toEqual(Option.some({ usage: { input_tokens: 2, output_tokens: 0 } }))
})

it("names the place of what is wrong, and never the value", () => {
  const wrong = {
    parts: [Part.text("x"), Part.data({ usage: { input_tokens: "s3cret", output_tokens: 1 } }, Cost.mime)]
  }
  const read = Cost.find(wrong)
  expect(read).toMatchObject({ _tag: "Malformed", path: ["parts", 1, "data", "usage", "input_tokens"] })
  expect(JSON.stringify(read)).not.toContain("s3cret")
  expect(Read.isMalformed(read) && read.message).toContain("cost-v1: parts/1/data/usage/input_tokens: expected")
})

it("reads older spellings", () => {
  const payload = { confidence: 0.5, confidenceExplanation: "why" }
  const expected = Read.present({ confidence: 0.5, explanation: "why" }, "metadata")
  expect(Confidence.fromMetadata({ [Confidence.uri]: payload })).toEqual(expected)
  expect(Confidence.fromMetadata({ "https://protolabs.ai/a2a/ext/confidence-v1": payload })).toEqual(expected)
  const mime = "application/vnd.protolabs.worldstate-delta+json"
  expect(WorldstateDelta.fromPart(Part.data({ deltas: [] }, mime))).toEqual(Read.present({ deltas: [] }, "dataPart"))
})

it("takes null for what a peer doesn't know", () => {
  const payload = { usage: { ...some.usage, cache_read_input_tokens: null }, costUsd: null, durationMs: 5 }
  expect(Cost.fromMetadata({ [Cost.uri]: payload })).toEqual(Read.present({ ...some, durationMs: 5 }, "metadata"))
})

it("believes no inherited key", () => {
  const payload = JSON.parse(
    "{\"usage\":{\"input_tokens\":1,\"output_tokens\":2},\"__proto__\":{\"costUsd\":1e9},\"success\":null}"
  )
  const read = Cost.fromMetadata({ [Cost.uri]: payload })
  expect(Read.isPresent(read) && read.value.costUsd).toBe(undefined)
})

it.effect("makes only what can be read", () =>
  Effect.gen(function*() {
    const failing = (effect: Effect.Effect<unknown, Read.Malformed>) =>
      Effect.map(Effect.flip(effect), ({ path }) => path)
    for (const tokens of [NaN, Infinity, -1, 1.5]) {
      const usage = { input_tokens: 1, output_tokens: tokens }
      expect(yield* failing(Cost.make({ usage }))).toEqual(["usage", "output_tokens"])
    }
    for (const amount of [NaN, Infinity, -1]) {
      expect(yield* failing(Cost.make({ ...some, costUsd: amount }))).toEqual(["costUsd"])
      expect(yield* failing(Cost.make({ ...some, durationMs: amount }))).toEqual(["durationMs"])
    }
    for (const value of [NaN, 1.1, -0.1, Infinity]) {
      expect(yield* failing(Confidence.make({ confidence: value }))).toEqual(["confidence"])
    }
    expect(yield* failing(WorldstateDelta.make([WorldstateDelta.inc("d", "p", NaN)]))).toEqual(["deltas", 0, "value"])
    expect(yield* Confidence.make({ confidence: Confidence.clamp(3.5), explanation: "" })).toEqual({ confidence: 1 })
    expect(yield* ToolCall.make({ toolCallId: "k", name: "n", phase: "failed", error: "" })).toEqual({
      toolCallId: "k",
      name: "n",
      phase: "failed",
      error: ""
    })
  }))

it("reads integral floats, as Python's JSON writes them", () => {
  expect(Cost.fromPart(Part.data(JSON.parse("{\"usage\":{\"input_tokens\":1500.0,\"output_tokens\":2.0}}"), Cost.mime)))
    .toMatchObject({ _tag: "Present", value: { usage: { input_tokens: 1500 } } })
})

it("keeps payloads by reference, unknown keys among them", () => {
  const payload = { ...some, parentToolCallId: "p" }
  const read = Cost.fromMetadata(Cost.lenient.toMetadata(payload))
  expect(Read.isPresent(read) && read.value).toBe(payload)
})

it("leaves the target of attach as it is", () => {
  const target = Object.freeze({ parts: Object.freeze([Part.text("x")]), metadata: Object.freeze({ a: 1 }) })
  expect(Cost.attach(target, some).metadata).toEqual({ a: 1, [Cost.uri]: some })
  expect(Cost.attach(target, some, { carrier: "dataPart" }).parts).toEqual([Part.text("x"), Cost.toPart(some)])
})
