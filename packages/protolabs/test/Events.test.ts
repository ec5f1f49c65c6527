import { Confidence, Cost, Part, ToolCall, WorldstateDelta } from "@effect-agentenv/protolabs"
import { expect, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck, Stream } from "effect"

const tokens = (input: number): Cost.Cost => ({ usage: { input_tokens: input, output_tokens: 0 } })

const artifact = (artifactId: string, input: number, carrier: "metadata" | "dataPart" = "metadata") =>
  Cost.attach({ artifactId, parts: [Part.text("x")] }, tokens(input), { carrier })

const update = (artifactId: string, input: number, rest: { append?: boolean; carrier?: "dataPart" } = {}) => ({
  artifactUpdate: { taskId: "t", artifact: artifact(artifactId, input, rest.carrier), append: rest.append ?? false }
})

const snapshot = (...artifacts: ReadonlyArray<object>) => ({
  task: { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" }, artifacts }
})

const bill = (...events: ReadonlyArray<unknown>) =>
  Effect.map(
    Stream.runCollect(Cost.running(Stream.fromIterable(events))),
    (costs) => Chunk.toReadonlyArray(costs).map(({ usage }) => usage.input_tokens)
  )

it.effect("runs a bill over messages and artifacts", () =>
  Effect.gen(function*() {
    const message = Cost.attach({ messageId: "m", parts: [] }, tokens(4))
    expect(yield* bill(update("a", 1), { message }, update("b", 2), {}, null)).toEqual([1, 5, 7])
  }))

it.effect("counts an artifact that is replaced once, with its last cost", () =>
  Effect.map(bill(update("a", 1), update("b", 10), update("a", 2), update("a", 3)), (totals) => {
    expect(totals).toEqual([1, 11, 12, 13])
  }))

it.effect.prop(
  "is the sum of the last costs, however often and in which order artifacts change",
  [FastCheck.array(FastCheck.tuple(FastCheck.nat(20), FastCheck.nat(1_000)))],
  ([changes]) =>
    Effect.map(bill(...changes.map(([id, input]) => update(`a${id}`, input))), (totals) => {
      const last = new Map<number, number>()
      expect(totals).toEqual(changes.map(([id, input]) => {
        last.set(id, input)
        return [...last.values()].reduce((sum, each) => sum + each, 0)
      }))
    })
)

it.effect("adds parts that are appended, and replaces metadata", () =>
  Effect.gen(function*() {
    const append = { append: true }
    const parts = { carrier: "dataPart", append: true } as const
    expect(yield* bill(update("a", 1), update("a", 2, append))).toEqual([1, 2])
    expect(yield* bill(update("a", 1, parts), update("a", 2, parts))).toEqual([1, 3])
  }))

it.effect("leaves out what a task's snapshot repeats, and takes what it changes", () =>
  Effect.gen(function*() {
    expect(yield* bill(update("a", 1), update("b", 2), snapshot(artifact("a", 1), artifact("b", 2)))).toEqual([1, 3])
    expect(yield* bill(snapshot(artifact("a", 1)), snapshot(artifact("a", 5)), snapshot(artifact("a", 5)))).toEqual([
      1,
      5
    ])
  }))

it.effect("counts a message once that comes again", () =>
  Effect.gen(function*() {
    const message = Cost.attach({ messageId: "m", parts: [] }, tokens(4))
    const status = { taskId: "t", status: { state: "working", message } }
    const task = { id: "t", history: [message], status: { state: "completed", message } }
    expect(yield* bill({ statusUpdate: status }, { kind: "status-update", ...status }, task)).toEqual([4])
  }))

it.effect("counts once what an event or a task repeats of what it stands around, and all else", () =>
  Effect.gen(function*() {
    const message = Cost.attach({ messageId: "m", parts: [] }, tokens(4))
    const own = (input: number) => ({ metadata: Cost.toMetadata(tokens(input)) })
    const inPart = Cost.attach({ messageId: "n", parts: [] }, tokens(5), { carrier: "dataPart" })
    const said = (message: object, input: number) => ({
      statusUpdate: { taskId: "t", status: { message }, ...own(input) }
    })
    const task = (...history: ReadonlyArray<object>) => ({ task: { id: "t", status: {}, history, ...own(5) } })
    expect(yield* bill(said(message, 4), said(inPart, 5))).toEqual([4, 9])
    expect(yield* bill(said(message, 4), said(inPart, 5), task(message, inPart), task())).toEqual([4, 9])
    expect(yield* bill(task(message, inPart))).toEqual([4, 9])
    expect(yield* bill(task(message))).toEqual([4, 9])
    expect(yield* bill(said(message, 3))).toEqual([4, 7])
    const made = { taskId: "t", artifact: artifact("a", 1) }
    expect(yield* bill({ artifactUpdate: { ...made, ...own(1) } })).toEqual([1])
    expect(yield* bill({ artifactUpdate: { ...made, ...own(2) } })).toEqual([1, 3])
  }))

it.effect("gives each stream its own memory", () =>
  Effect.gen(function*() {
    const events = Stream.make({ message: Cost.attach({ messageId: "m", parts: [] }, tokens(4)) })
    const total = Cost.total(events)
    expect(yield* total).toEqual(tokens(4))
    expect(yield* total).toEqual(tokens(4))
  }))

it.effect("fails at a malformed payload, or tells of it", () =>
  Effect.gen(function*() {
    const events = Stream.make(
      { metadata: { [Confidence.uri]: { confidence: 0.5 } } },
      { metadata: { [Confidence.uri]: { confidence: 2 } } },
      { metadata: { [Confidence.uri]: { confidence: 0.75 } } }
    )
    const failure = yield* Effect.flip(Stream.runDrain(Confidence.fromEvents(events)))
    expect(failure).toMatchObject({ _tag: "Malformed", path: ["metadata", Confidence.uri, "confidence"] })
    const tags = yield* Stream.runCollect(Stream.map(Confidence.readEvents(events), ({ _tag }) => _tag))
    expect(Chunk.toReadonlyArray(tags)).toEqual(["Present", "Malformed", "Present"])
  }))

it.effect("turns events into deltas and tool calls", () =>
  Effect.gen(function*() {
    const deltas = [WorldstateDelta.inc("dock", "data.n"), WorldstateDelta.set("dock", "data.flag", "green")]
    const started: ToolCall.ToolCall = { toolCallId: "k", name: "tide", phase: "started" }
    const events = Stream.make(
      {
        statusUpdate: { taskId: "t", status: { message: { messageId: "1", metadata: ToolCall.toMetadata(started) } } }
      },
      {
        artifactUpdate: { taskId: "t", artifact: { artifactId: "a", metadata: WorldstateDelta.toMetadata({ deltas }) } }
      }
    )
    expect(Chunk.toReadonlyArray(yield* Stream.runCollect(WorldstateDelta.deltas(events)))).toEqual(deltas)
    expect(Chunk.toReadonlyArray(yield* Stream.runCollect(ToolCall.fromEvents(events)))).toEqual([started])
  }))

it.effect("meets envelopes within envelopes without end", () =>
  Effect.gen(function*() {
    let event: unknown = { message: Cost.attach({ messageId: "m" }, tokens(1)) }
    for (let depth = 0; depth < 10_000; depth++) event = { task: event }
    expect(yield* bill(event)).toEqual([])
  }))
