import { ToolCall } from "@effect-agentenv/protolabs"
import { expect, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck, HashMap, Option, Stream } from "effect"
import { toolCall } from "./arbitraries.ts"

const call = (phase: ToolCall.Phase, rest: Partial<ToolCall.ToolCall> = {}): ToolCall.ToolCall => ({
  toolCallId: "k",
  name: "tide",
  phase,
  ...rest
})

const follow = (...calls: ReadonlyArray<ToolCall.ToolCall>) =>
  Effect.map(Stream.runCollect(ToolCall.transitions(Stream.fromIterable(calls))), Chunk.toReadonlyArray)

it.effect("follows a call to its end, with the arguments of its start", () =>
  Effect.gen(function*() {
    const args = { port: "Ems" }
    const state = { toolCallId: "k", name: "tide", args }
    expect(yield* follow(call("started", { args }), call("completed", { result: "2 m" }))).toEqual([
      { _tag: "Running", ...state },
      { _tag: "Completed", ...state, result: "2 m" }
    ])
    expect((yield* follow(call("started", { args }), call("failed", { error: "" })))[1]).toEqual({
      _tag: "Failed",
      ...state,
      error: ""
    })
  }))

it.effect("types phases that come twice or can't follow, and goes on", () =>
  Effect.gen(function*() {
    const tags = (...phases: ReadonlyArray<ToolCall.Phase>) =>
      Effect.map(follow(...phases.map((phase) => call(phase))), (all) => all.map(({ _tag }) => _tag))
    expect(yield* tags("completed", "started", "started", "completed", "completed", "failed", "started")).toEqual([
      "OutOfOrderPhase",
      "Running",
      "DuplicatePhase",
      "Completed",
      "DuplicatePhase",
      "OutOfOrderPhase",
      "OutOfOrderPhase"
    ])
  }))

it("says what came after what", () => {
  const [calls] = ToolCall.step(ToolCall.noCalls, call("started"))
  const [ended] = ToolCall.step(calls, call("failed"))
  expect(ToolCall.step(ended, call("completed"))[1]).toMatchObject({ phase: "completed", after: "failed" })
  expect(ToolCall.step(ToolCall.noCalls, call("failed"))[1]).toMatchObject({
    message: "the tool call \"k\" was failed before it was started"
  })
})

it.prop("changes a state only by a phase that can follow", [FastCheck.array(toolCall)], ([all]) => {
  let calls = ToolCall.noCalls
  for (const each of all) {
    const before = HashMap.get(calls, each.toolCallId)
    const [after, transition] = ToolCall.step(calls, each)
    const phase = Option.map(before, ToolCall.phaseOf)
    const follows = each.phase === "started"
      ? Option.isNone(phase)
      : Option.contains(phase, "started" as ToolCall.Phase)
    expect(ToolCall.isState(transition)).toBe(follows)
    if (!follows) expect(after).toBe(calls)
    calls = after
  }
})
