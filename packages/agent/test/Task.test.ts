import * as Agent from "@effect-agentenv/agent/Agent"
import * as Task from "@effect-agentenv/agent/Task"
import { TaskFailure } from "@effect-agentenv/agent/TaskFailure"
import * as TaskResult from "@effect-agentenv/agent/TaskResult"
import type * as A2a from "@effect-agentenv/protocol/A2a"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule, Stream, TestClock } from "effect"
import { data, type Event, Kiln, runnerOf, unexpected } from "./runnerSupport.ts"

it.scoped("B-TASK-3: progress carries its parts and metadata, as they were when they were said", () =>
  Effect.gen(function*() {
    const list = [1]
    const { drive, events } = yield* runnerOf(() =>
      Effect.gen(function*() {
        yield* Task.progress("thinking", { metadata: { step: 1 } })
        yield* Task.progress({ kind: "data", data: list })
        list.push(2)
        yield* Task.progress([{ kind: "text", text: "a" }, { kind: "text", text: "b" }])
        return TaskResult.text("done")
      })
    )
    expect((yield* drive()).state).toBe("completed")
    expect(events).toEqual([
      { kind: "status", value: [{ kind: "text", text: "thinking" }], options: { metadata: { step: 1 } } },
      { kind: "status", value: [{ kind: "data", data: [1] }], options: {} },
      { kind: "status", value: [{ kind: "text", text: "a" }, { kind: "text", text: "b" }], options: {} }
    ])
  }))

it.scoped("progress says of its event and of its message, each as it was when it was said", () =>
  Effect.gen(function*() {
    const steps: Array<number> = [1]
    const { drive, events } = yield* runnerOf(() =>
      Effect.gen(function*() {
        yield* Task.progress("a", { metadata: { steps }, messageMetadata: { steps } })
        steps.push(2)
        yield* Task.progress("b", { messageMetadata: JSON.parse(`{"__proto__":1}`) })
        return TaskResult.text("done")
      })
    )
    expect((yield* drive()).state).toBe("completed")
    expect(events.map(({ options }) => JSON.stringify(options))).toEqual([
      `{"metadata":{"steps":[1]},"messageMetadata":{"steps":[1]}}`,
      `{"messageMetadata":{"__proto__":1}}`
    ])
  }))

it.scoped("B-TASK-5: metadata that can't be said fails the task, wherever it stands", () =>
  Effect.gen(function*() {
    for (const wrong of [{ at: 1n }, { at: Number.NaN }, [] as never, "a" as never, null as never]) {
      const said: ReadonlyArray<Effect.Effect<unknown, never, Task.Context | Task.Streaming>> = [
        Task.progress("a", { metadata: wrong }),
        Task.progress("a", { messageMetadata: wrong }),
        Task.artifact("a", { metadata: wrong }),
        Task.artifact("a", { eventMetadata: wrong })
      ]
      for (const say of said) {
        const { drive, events } = yield* runnerOf(() => Effect.as(say, TaskResult.text("done")))
        expect(yield* drive()).toEqual(unexpected)
        expect(events).toEqual([])
      }
    }
  }))

it.scoped("B-TASK-5: what can't be said fails the task, whatever its result", () =>
  Effect.gen(function*() {
    for (const content of [[], [{ kind: "smoke" }], { kind: "data", data: 1n }]) {
      const said: ReadonlyArray<Effect.Effect<unknown, never, Task.Context | Task.Streaming>> = [
        Task.progress(content as never),
        Task.artifact(content as never)
      ]
      for (const say of said) {
        const { drive, events } = yield* runnerOf(() => Effect.as(say, TaskResult.text("done")))
        expect(yield* drive()).toEqual(unexpected)
        expect(events).toEqual([])
      }
    }
  }))

it.scoped("the run of an agent that does not stream has no progress", () =>
  Effect.gen(function*() {
    const agent = Agent.make("kiln", { description: "Fires.", version: "1.0.0", config: Kiln })
    const { drive } = yield* runnerOf(() => Effect.as(Task.progress("a"), TaskResult.text("done")), { agent })
    expect(yield* drive()).toEqual(unexpected)
  }))

it.scoped("an artifact is whole, or grows", () =>
  Effect.gen(function*() {
    const { drive, events } = yield* runnerOf(() =>
      Effect.gen(function*() {
        const { contextId, taskId } = yield* Task.Context
        const id = yield* Task.artifact("a", {
          name: "log",
          description: "A log.",
          metadata: { b: 1 },
          eventMetadata: { c: 2 }
        })
        yield* Task.artifact("b", { id: "part", last: false })
        yield* Task.artifact({ kind: "data", data: 1 }, { append: true, id: "part" })
        yield* Task.artifact("c", { append: true, id: "part", last: true, metadata: { d: 3 } })
        return TaskResult.data({ id, contextId, taskId })
      })
    )
    const { parts } = yield* drive()
    const artifactId = expect.stringMatching(/^[0-9a-f-]{36}$/)
    expect(parts).toEqual([data({ id: artifactId, contextId: "c1", taskId: "t1" })])
    const text = (text: string) => [{ kind: "text", text }]
    expect(events.map(({ options, value }) => [value, options])).toEqual([
      [
        { artifactId, parts: text("a"), name: "log", description: "A log.", metadata: { b: 1 } },
        { append: false, lastChunk: true, metadata: { c: 2 } }
      ],
      [{ artifactId: "part", parts: text("b") }, { append: false, lastChunk: false }],
      [{ artifactId: "part", parts: [{ kind: "data", data: 1 }] }, { append: true, lastChunk: false }],
      [{ artifactId: "part", parts: text("c"), metadata: { d: 3 } }, { append: true, lastChunk: true }]
    ])
  }))

const texts = (events: ReadonlyArray<Event>) =>
  events.map(({ value }) => {
    const [part] = (value as A2a.Artifact).parts
    return part?.kind === "text" ? part.text : ""
  })

it.scoped("a stream becomes one artifact, in pieces of bounded length that are whole characters", () =>
  Effect.gen(function*() {
    const long = "🏺".repeat(20_000)
    const halves = [..."a🏺b"].flatMap((each) => each.split(""))
    const { drive, events } = yield* runnerOf(() =>
      Effect.map(
        Task.streamArtifact(Stream.make(...halves, `a${long}`, "\ud83c"), { name: "pots", id: "pots" }),
        TaskResult.text
      )
    )
    expect((yield* drive()).parts).toEqual([{ kind: "text", text: "pots" }])
    const pieces = texts(events)
    expect(pieces.join("")).toBe(`a🏺ba${long}\ufffd`)
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(16_384)
    expect(pieces.every((piece) => !/\p{Surrogate}/u.test(piece))).toBe(true)
    expect(events.map(({ options }) => options)).toEqual([
      { append: false, lastChunk: false },
      ...Array.from({ length: events.length - 2 }, () => ({ append: true, lastChunk: false })),
      { append: true, lastChunk: true }
    ])
    expect(events[0]?.value).toMatchObject({ artifactId: "pots", name: "pots" })
  }))

it.scoped("a streamed artifact has its metadata from its first piece on, and each event its own", () =>
  Effect.gen(function*() {
    const { drive, events } = yield* runnerOf(() =>
      Effect.map(
        Task.streamArtifact(Stream.make("a".repeat(20_000)), { metadata: { m: 1 }, eventMetadata: { e: 2 } }),
        TaskResult.text
      )
    )
    expect((yield* drive()).state).toBe("completed")
    expect(events.map(({ value }) => (value as A2a.Artifact).metadata)).toEqual([{ m: 1 }, undefined, undefined])
    expect(events.map(({ options }) => options)).toMatchObject(events.map(() => ({ metadata: { e: 2 } })))
  }))

it.scoped("texts that come close together travel together", () =>
  Effect.gen(function*() {
    const { drive, events } = yield* runnerOf(() =>
      Stream.range(1, 20).pipe(
        Stream.map(String),
        Stream.schedule(Schedule.spaced("10 millis")),
        Task.streamArtifact,
        Effect.map(TaskResult.text)
      )
    )
    const fiber = yield* Effect.fork(drive())
    yield* TestClock.adjust("1 second")
    expect((yield* Fiber.join(fiber)).state).toBe("completed")
    expect(texts(events).join("")).toBe("1234567891011121314151617181920")
    expect(events.length).toBeGreaterThan(2)
    expect(events.length).toBeLessThan(10)
  }))

it.scoped("a stream of nothing is an empty artifact, one that fails is left open and fails the run", () =>
  Effect.gen(function*() {
    const empty = yield* runnerOf(() => Effect.map(Task.streamArtifact(Stream.empty), TaskResult.text))
    expect((yield* empty.drive()).state).toBe("completed")
    expect(texts(empty.events)).toEqual([""])
    expect(empty.events[0]?.options).toEqual({ append: false, lastChunk: true })
    const failing = yield* runnerOf(() =>
      Effect.map(
        Task.streamArtifact(Stream.fail(new TaskFailure({ code: "kiln.cold", message: "Cold." }))),
        TaskResult.text
      )
    )
    expect((yield* failing.drive()).state).toBe("failed")
    expect(failing.events).toEqual([])
  }))
