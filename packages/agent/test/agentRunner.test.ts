import { TaskFailure } from "@effect-agentenv/agent/TaskFailure"
import * as TaskResult from "@effect-agentenv/agent/TaskResult"
import { expect, it } from "@effect/vitest"
import { Data, Deferred, Effect, Exit, Fiber, Ref } from "effect"
import { data, type KilnRun, runnerOf, startOf, unexpected } from "./runnerSupport.ts"

class Cold extends Data.TaggedError("Cold")<{ readonly message: string }> {}

it.scoped("B-TASK-6: result parts, then the structured answer, then usage as far as it was said", () =>
  Effect.gen(function*() {
    const { drive } = yield* runnerOf(() =>
      Effect.succeed(
        TaskResult.text("ok").pipe(
          TaskResult.withUsage({ toolCallCount: 1, costUsd: 0.5, inputTokens: undefined, providerDetails: {} }),
          TaskResult.withStructuredOutput({ answer: 42 }),
          TaskResult.withMetadata({ run: 7 }),
          TaskResult.withMessageMetadata({ sure: true })
        )
      )
    )
    expect(yield* drive()).toEqual({
      state: "completed",
      parts: [
        { kind: "text", text: "ok" },
        data({ structured_output: { answer: 42 } }),
        data({ usage: { tool_call_count: 1, cost_usd: 0.5 } })
      ],
      metadata: { run: 7 },
      messageMetadata: { sure: true }
    })
  }))

it.scoped("B-TASK-6: every count has its name on the wire, and usage that says nothing is not sent", () =>
  Effect.gen(function*() {
    const usage = yield* Ref.make<TaskResult.Usage>({
      toolCallCount: 0,
      inputTokens: 1,
      outputTokens: 2,
      totalTokens: 3,
      costUsd: 4,
      providerDetails: { model: "kestrel-1" }
    })
    const { drive } = yield* runnerOf(() =>
      Effect.map(Ref.get(usage), (usage) => TaskResult.withUsage(TaskResult.data(1), usage))
    )
    expect((yield* drive()).parts).toEqual([
      { kind: "data", data: 1 },
      data({
        usage: {
          tool_call_count: 0,
          input_tokens: 1,
          output_tokens: 2,
          total_tokens: 3,
          cost_usd: 4,
          provider_details: { model: "kestrel-1" }
        }
      })
    ])
    yield* Ref.set(usage, {})
    expect((yield* drive()).parts).toEqual([{ kind: "data", data: 1 }])
  }))

it.scoped("B-TASK-7: a declared failure is the author's parts, then the error with the usage in one data part", () =>
  Effect.gen(function*() {
    const { drive, logged, told } = yield* runnerOf(() =>
      new TaskFailure({
        code: "kiln.cold",
        message: "The kiln is cold.",
        errorType: "infra_error",
        parts: [{ kind: "data", data: { heat: 3 } }],
        usage: { outputTokens: 5 },
        sessionRef: "ref-1",
        trajectory: { format: "kiln/1", payload: ["a"] }
      })
    )
    expect(yield* drive()).toEqual({
      state: "failed",
      parts: [
        data({ heat: 3 }),
        data({
          usage: { output_tokens: 5 },
          error_type: "infra_error",
          error_code: "kiln.cold",
          error_message: "The kiln is cold."
        })
      ]
    })
    expect(told).toContain("session of c1 is ref-1")
    expect(told).toContain("t1 failed {\"format\":\"kiln/1\",\"payload\":[\"a\"],\"version\":1}")
    expect(logged).toEqual([])
  }))

it.scoped("B-TASK-7: without parts the message is a text, and the agent is who failed", () =>
  Effect.gen(function*() {
    const { drive } = yield* runnerOf(() =>
      // siblings that were interrupted for it don't hide it
      Effect.all([new TaskFailure({ code: "kiln.cold", message: "Cold." }), Effect.never], { concurrency: 2 })
    )
    expect((yield* drive()).parts).toEqual([
      { kind: "text", text: "Cold." },
      data({ error_type: "agent_error", error_code: "kiln.cold", error_message: "Cold." })
    ])
    const { drive: none } = yield* runnerOf(() => new TaskFailure({ code: "kiln.cold", message: "Cold.", parts: [] }))
    expect((yield* none()).parts).toHaveLength(1)
  }))

it.scoped("a declared failure says of its event and of its message", () =>
  Effect.gen(function*() {
    const failure = { code: "kiln.cold", message: "Cold." }
    const both = yield* runnerOf(() =>
      new TaskFailure({ ...failure, metadata: { run: 7 }, messageMetadata: { sure: false } })
    )
    expect(yield* both.drive()).toMatchObject({ metadata: { run: 7 }, messageMetadata: { sure: false } })
    const neither = yield* runnerOf(() => new TaskFailure(failure))
    expect(Object.keys(yield* neither.drive())).toEqual(["state", "parts"])
    const wrong = yield* runnerOf(() => new TaskFailure({ ...failure, messageMetadata: { at: Number.NaN } }))
    expect(yield* wrong.drive()).toEqual(unexpected)
  }))

it.scoped("B-TASK-8: a defect, an undeclared failure and a throw fail the task under an id, their detail in the log alone", () =>
  Effect.gen(function*() {
    const runs: ReadonlyArray<() => KilnRun> = [
      () => Effect.die(new Error("kiln-private-detail")),
      () => Effect.fail(new Cold({ message: "kiln-private-detail" })),
      () => Effect.fail("kiln-private-detail"),
      () => {
        throw new Error("kiln-private-detail")
      },
      () =>
        Effect.as(
          Effect.addFinalizer(() => Effect.die(new Error("kiln-private-detail"))),
          TaskResult.text("done")
        )
    ]
    for (const run of runs) {
      const { drive, logged, told } = yield* runnerOf(run)
      const outcome = yield* drive()
      expect(outcome).toEqual(unexpected)
      expect(JSON.stringify(outcome)).not.toContain("kiln-private-detail")
      expect(told.at(-1)).toBe("t1 failed")
      const [text] = outcome.parts
      const id = text?.kind === "text" ? text.text.slice(-32) : "none"
      expect(logged.filter((line) => line.includes(id))).toHaveLength(1)
      expect(logged.join()).toContain("\"task_id\",\"t1\"")
    }
  }))

it.scoped("B-TASK-8: what is no result, and what the wire can't say, fails the task under an id", () =>
  Effect.gen(function*() {
    const circle: Record<string, unknown> = {}
    circle["self"] = circle
    const deep = JSON.parse("[".repeat(10_000) + "]".repeat(10_000))
    const results: ReadonlyArray<unknown> = [
      undefined,
      null,
      "done",
      {},
      { ...TaskResult.text("a"), parts: [] },
      { ...TaskResult.text("a"), parts: "a" },
      { ...TaskResult.text("a"), state: "working" },
      { ...TaskResult.text("a"), parts: [{ kind: "smoke" }] },
      { ...TaskResult.text("a"), parts: [{ kind: "text", text: 1 }] },
      { ...TaskResult.text("a"), parts: [{ kind: "file", file: {} }] },
      { ...TaskResult.text("a"), parts: [{ kind: "file", file: { bytes: "", uri: "" } }] },
      { ...TaskResult.text("a"), sessionRef: 1 },
      TaskResult.data(Number.NaN),
      TaskResult.data({ big: 1n }),
      TaskResult.data(undefined),
      TaskResult.data(circle),
      TaskResult.data(deep),
      TaskResult.data(new Map()),
      TaskResult.withMetadata(TaskResult.text("a"), { at: () => 1 }),
      TaskResult.withMessageMetadata(TaskResult.text("a"), { at: () => 1 }),
      TaskResult.withMessageMetadata(TaskResult.text("a"), [] as never),
      TaskResult.withTrajectory(TaskResult.text("a"), { format: "kiln/1", payload: 1, version: 0 }),
      TaskResult.withTrajectory(TaskResult.text("a"), { format: 1 as never, payload: 1 }),
      ...[-1, 1.5, Number.NaN, true, "1", Number.POSITIVE_INFINITY].flatMap((count) => [
        TaskResult.withUsage(TaskResult.text("a"), { toolCallCount: count as never }),
        TaskResult.withUsage(TaskResult.text("a"), { totalTokens: count as never })
      ]),
      ...[-0.1, Number.NaN, true, "1"].map((costUsd) =>
        TaskResult.withUsage(TaskResult.text("a"), { costUsd: costUsd as never })
      ),
      TaskResult.withUsage(TaskResult.text("a"), { providerDetails: [] as never })
    ]
    for (const result of results) {
      const { drive, told } = yield* runnerOf(() => Effect.succeed(result))
      expect(yield* drive()).toEqual(unexpected)
      expect(told.filter((line) => line.startsWith("session of"))).toEqual([])
      expect(told.at(-1)).toBe("t1 failed")
    }
    const { drive } = yield* runnerOf(() => new TaskFailure({ code: "a", message: "b", usage: { totalTokens: -1 } }))
    expect(yield* drive()).toEqual(unexpected)
  }))

it.scoped("B-TASK-9: a failure while the task is prepared ends it the same way, and run is not called", () =>
  Effect.gen(function*() {
    let called = false
    const { drive, told } = yield* runnerOf(() => {
      called = true
      return Effect.succeed(TaskResult.text("done"))
    }, { set: { extras: 1 } })
    expect(yield* drive()).toEqual(unexpected)
    expect(told.at(-1)).toBe("t1 failed")
    const deep = JSON.parse("[".repeat(10_000) + "]".repeat(10_000))
    const { drive: hostile } = yield* runnerOf(() => {
      called = true
      return Effect.succeed(TaskResult.text("done"))
    })
    expect(yield* hostile(startOf({ parts: [{ kind: "data", data: deep }] }))).toEqual(unexpected)
    expect(called).toBe(false)
  }))

it.scoped("B-TRAJ-12: the session is kept and the trajectory sealed before the outcome is answered", () =>
  Effect.gen(function*() {
    const { drive, runner, told } = yield* runnerOf(() =>
      Effect.succeed(
        TaskResult.text("done").pipe(
          TaskResult.withSessionRef("ref-1"),
          TaskResult.withTrajectory({ format: "kiln/1", payload: [], version: 2 })
        )
      )
    )
    yield* runner.submitted?.(startOf()) ?? Effect.void
    yield* drive()
    expect(told).toEqual([
      "t1 of c1 submitted",
      "t1 started",
      "session read of c1",
      "session of c1 is ref-1",
      "t1 completed {\"format\":\"kiln/1\",\"payload\":[],\"version\":2}"
    ])
  }))

it.scoped("B-TRAJ-16: an interrupted run is canceled, its scope closed", () =>
  Effect.gen(function*() {
    const begun = yield* Deferred.make<void>()
    const closed = yield* Ref.make(false)
    const { emit, logged, logging, runner, told } = yield* runnerOf(() =>
      Effect.gen(function*() {
        yield* Effect.addFinalizer(() => Ref.set(closed, true))
        yield* Deferred.succeed(begun, undefined)
        return yield* Effect.never
      })
    )
    const fiber = yield* Effect.fork(runner.run(startOf(), emit))
    yield* Deferred.await(begun)
    const exit = yield* Fiber.interrupt(fiber)
    expect(Exit.isInterrupted(exit)).toBe(true)
    expect(yield* logging(runner.settle(startOf(), exit))).toEqual({ state: "canceled", parts: [] })
    expect(yield* Ref.get(closed)).toBe(true)
    expect(told.at(-1)).toBe("t1 canceled")
    expect(logged).toEqual([])
  }))

it.scoped("a run that interrupts itself was not canceled: it failed", () =>
  Effect.gen(function*() {
    const { drive, told } = yield* runnerOf(() =>
      Effect.gen(function*() {
        const child = yield* Effect.fork(Effect.never)
        yield* Fiber.interrupt(child)
        return yield* Fiber.join(child)
      })
    )
    expect(yield* drive()).toEqual(unexpected)
    expect(told.at(-1)).toBe("t1 failed")
  }))

it.scoped("a question ends the run and not the task", () =>
  Effect.gen(function*() {
    const { drive, told } = yield* runnerOf(() => Effect.succeed(TaskResult.inputRequired("Which glaze?")))
    expect(yield* drive()).toEqual({ state: "input-required", parts: [{ kind: "text", text: "Which glaze?" }] })
    expect(told.at(-1)).toBe("t1 input-required")
  }))
