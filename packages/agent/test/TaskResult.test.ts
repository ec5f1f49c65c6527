import { TaskFailure } from "@effect-agentenv/agent/TaskFailure"
import * as TaskResult from "@effect-agentenv/agent/TaskResult"
import { expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"

it("a result is a text, a value, a file or any parts", () => {
  expect(TaskResult.text("done", { metadata: { a: 1 } }).parts).toEqual([
    { kind: "text", text: "done", metadata: { a: 1 } }
  ])
  expect(TaskResult.data([1, null]).parts).toEqual([{ kind: "data", data: [1, null] }])
  expect(TaskResult.file({ bytes: new Uint8Array([0, 255, 16]), name: "pot.bin", mimeType: "a/b" }).parts).toEqual([
    { kind: "file", file: { bytes: "AP8Q", name: "pot.bin", mimeType: "a/b" } }
  ])
  expect(TaskResult.file({ bytes: "AP8Q" }).parts).toEqual([{ kind: "file", file: { bytes: "AP8Q" } }])
  expect(TaskResult.file({ uri: "https://pots.example/a" }).parts).toEqual([
    { kind: "file", file: { uri: "https://pots.example/a" } }
  ])
  expect(TaskResult.parts([{ kind: "text", text: "a" }, { kind: "data", data: {} }])).toMatchObject({
    _tag: "TaskResult",
    state: "completed",
    parts: [{ text: "a" }, { data: {} }]
  })
})

it("B-TASK-6: the structured answer is a part of the result, after what was there", () => {
  const result = TaskResult.text("ok").pipe(
    TaskResult.withUsage({ toolCallCount: 1 }),
    TaskResult.withStructuredOutput({ answer: 42 }),
    TaskResult.withSessionRef("ref-1"),
    TaskResult.withTrajectory({ format: "kiln/1", payload: [] }),
    TaskResult.withMetadata({ a: 1 }),
    TaskResult.withMessageMetadata({ b: 2 })
  )
  expect(result.parts).toEqual([
    { kind: "text", text: "ok" },
    { kind: "data", data: { structured_output: { answer: 42 } } }
  ])
  expect(result).toMatchObject({
    usage: { toolCallCount: 1 },
    sessionRef: "ref-1",
    trajectory: { format: "kiln/1", payload: [] },
    metadata: { a: 1 },
    messageMetadata: { b: 2 }
  })
})

it("combinators leave what they are given alone", () => {
  const result = TaskResult.text("ok")
  expect(TaskResult.withStructuredOutput(result, 1).parts).toHaveLength(2)
  expect(TaskResult.withUsage(result, {}).usage).toEqual({})
  expect(TaskResult.withMessageMetadata(result, { b: 2 })).toMatchObject({
    parts: result.parts,
    messageMetadata: { b: 2 }
  })
  expect(result.messageMetadata).toBeUndefined()
  expect(result.parts).toHaveLength(1)
  expect(result.usage).toBeUndefined()
})

it("a question ends a run without ending its task", () => {
  expect(TaskResult.inputRequired("Which glaze?")).toMatchObject({
    state: "input-required",
    parts: [{ kind: "text", text: "Which glaze?" }]
  })
  expect(TaskResult.inputRequired([{ kind: "data", data: {} }]).parts).toEqual([{ kind: "data", data: {} }])
})

it.effect("B-TASK-7: a failure of another type, or without a message, is none", () =>
  Effect.gen(function*() {
    const failure = new TaskFailure({ code: "kiln.cold", message: "The kiln is cold." })
    expect(failure).toMatchObject({ _tag: "TaskFailure", code: "kiln.cold", message: "The kiln is cold." })
    expect(failure).toBeInstanceOf(Error)
    const made = (options: object) => Effect.exit(Effect.try(() => new TaskFailure(options as never)))
    const exits = yield* Effect.all([
      made({ code: "a", message: "b", errorType: "infra_error" }),
      made({ code: "a", message: "b", errorType: "user_error" }),
      made({ code: "a" }),
      made({ code: "a", message: "b", parts: "c" }),
      made({ code: "a", message: "b", usage: 1 })
    ])
    expect(exits.map(Exit.isSuccess)).toEqual([true, false, false, false, false])
  }))
