import { Task as AgentTask, TaskFailure, TaskResult } from "@effect-agentenv/agent"
import { Confidence, Cost, ExtensionUri, Read, ToolCall, WorldstateDelta } from "@effect-agentenv/protolabs"
import * as Task from "@effect-agentenv/protolabs/Task"
import { describe, expect, it } from "@effect/vitest"
import { Chunk, Data, Effect, Option, Stream, Struct } from "effect"
import { serving } from "./agentSupport.ts"

const usage = { input_tokens: 100, output_tokens: 20 }

class TideError extends Data.TaggedError("TideError")<{ readonly message: string }> {}

const collect = <A>(read: (events: Stream.Stream<unknown>) => Stream.Stream<A, unknown>, events: Iterable<unknown>) =>
  Effect.map(Stream.runCollect(read(Stream.fromIterable(events))), Chunk.toReadonlyArray)

const idOf = (events: ReadonlyArray<unknown>) => (events[0] as { readonly task: { readonly id: string } }).task.id

const guide = (carrier: Read.Carrier) =>
  Effect.gen(function*() {
    yield* Task.cost({ usage, durationMs: 40 }, { carrier })
    yield* Task.toolCall({ toolCallId: "k", name: "tide_table", phase: "started", args: { port: "A" } }, { carrier })
    yield* Task.toolCall({ toolCallId: "k", name: "tide_table", phase: "completed", result: 3 }, { carrier })
    yield* Task.worldstateDelta([WorldstateDelta.inc("dock", "ships", 1)], { carrier })
    yield* Task.confidence({ confidence: 0.5 }, { carrier })
    return yield* Task.withCost(TaskResult.text("berth 3"), { usage, costUsd: 0.01 }, { carrier }).pipe(
      Effect.flatMap(Task.withConfidence({ confidence: 0.9, explanation: "seen" }, { carrier })),
      Effect.flatMap(Task.withWorldstateDelta([WorldstateDelta.set("dock", "last", "Aster")], { carrier }))
    )
  })

for (const carrier of ["metadata", "dataPart"] as const) {
  for (const wire of ["1.0", "0.3"] as const) {
    it.scoped(`what a task says in ${carrier} is read from its events on the wire of ${wire}, in order and once`, () =>
      Effect.gen(function*() {
        const { events } = yield* serving(() => guide(carrier))
        const all = yield* events("Aster", wire)
        expect(yield* collect(Cost.fromEvents, all)).toEqual([{ usage, durationMs: 40 }, { usage, costUsd: 0.01 }])
        expect(yield* Cost.total(Stream.fromIterable(all))).toMatchObject({ usage: { input_tokens: 200 } })
        expect((yield* collect(ToolCall.fromEvents, all)).map(({ phase }) => phase)).toEqual(["started", "completed"])
        expect((yield* collect(Confidence.fromEvents, all)).map(({ confidence }) => confidence)).toEqual([0.5, 0.9])
        expect(yield* collect(WorldstateDelta.deltas, all)).toEqual([
          WorldstateDelta.inc("dock", "ships", 1),
          WorldstateDelta.set("dock", "last", "Aster")
        ])
      }))
  }
}

it.scoped("a later look at the task adds nothing to the bill, whichever carrier brought it", () =>
  Effect.gen(function*() {
    for (const carrier of ["metadata", "dataPart"] as const) {
      const { events, get } = yield* serving(() => guide(carrier))
      const all = yield* events("Aster")
      const twice = [...all, yield* get(idOf(all))]
      expect(yield* collect(Cost.fromEvents, twice)).toHaveLength(2)
      expect(yield* collect(ToolCall.fromEvents, twice)).toHaveLength(2)
    }
  }))

it.scoped("a task that is read later has all that was said, whichever carrier brought it", () =>
  Effect.gen(function*() {
    for (const carrier of ["metadata", "dataPart"] as const) {
      const { events, get } = yield* serving(() => guide(carrier))
      const later = yield* get(idOf(yield* events("Aster")))
      expect(Cost.findAll(later)).toMatchObject([
        { value: { usage, durationMs: 40 }, carrier },
        { value: { usage, costUsd: 0.01 }, carrier }
      ])
      expect(ToolCall.findAll(later)).toHaveLength(2)
      expect(Option.getOrThrow(Read.toOption(Confidence.find(later))).confidence).toBe(0.9)
    }
  }))

it.scoped("metadata stands on messages and artifacts alone, where peers look", () =>
  Effect.gen(function*() {
    const chart = { confidence: 0.25 }
    for (const wire of ["1.0", "0.3"] as const) {
      const { events, get } = yield* serving(() =>
        Effect.zipRight(
          AgentTask.artifact("a chart", { metadata: Confidence.toMetadata(chart) }),
          guide("metadata")
        )
      )
      const all = yield* events("Aster", wire)
      const id = wire === "1.0" ? idOf(all) : (all[0] as { readonly id: string }).id
      const holders: Array<string> = []
      for (const event of [...all, yield* get(id)]) {
        JSON.stringify(event, function(key, value) {
          if (key === "metadata" && JSON.stringify(value).includes(ExtensionUri.base)) {
            holders.push("messageId" in this ? "message" : "artifactId" in this ? "artifact" : JSON.stringify(this))
          }
          return value
        })
      }
      expect(new Set(holders)).toEqual(new Set(["artifact", "message"]))
      expect((yield* collect(Confidence.fromEvents, all)).map(({ confidence }) => confidence)).toEqual([0.25, 0.5, 0.9])
    }
  }))

it.scoped("what an author says of an event and of its message is counted once", () =>
  Effect.gen(function*() {
    const both = (input: number) => {
      const metadata = Cost.toMetadata({ usage: { ...usage, input_tokens: input } })
      return { metadata, messageMetadata: metadata }
    }
    const { events, get } = yield* serving(() =>
      AgentTask.progress("first", both(1)).pipe(
        Effect.zipRight(AgentTask.progress("second", both(2))),
        Effect.as(TaskResult.make({ parts: [{ kind: "text", text: "done" }], ...both(4) }))
      )
    )
    const all = yield* events("x")
    const later = yield* get(idOf(all))
    for (const seen of [all, [...all, later], [later], [later, later]]) {
      expect((yield* collect(Cost.fromEvents, seen)).map((cost) => cost.usage.input_tokens)).toEqual([1, 2, 4])
    }
    expect(Cost.findAll(later)).toHaveLength(3)
  }))

it.scoped("people read a short sentence beside metadata, or what the author says", () =>
  Effect.gen(function*() {
    const { events } = yield* serving(() =>
      Effect.gen(function*() {
        yield* Task.cost({ usage })
        yield* Task.confidence({ confidence: 0.5 }, { text: "half sure" })
        yield* Task.confidence({ confidence: 0.5 }, { text: "half sure", carrier: "dataPart" })
        return TaskResult.text("done")
      })
    )
    const texts = (yield* events("x")).map((event) => JSON.stringify(event)).join("\n")
    expect(texts).toContain("100 tokens read, 20 written")
    expect(texts.match(/half sure/g)).toHaveLength(2)
  }))

describe("a payload that is none", () => {
  it.scoped("fails with its path before anything is said", () =>
    Effect.gen(function*() {
      const errors: Array<Read.Malformed> = []
      const { events } = yield* serving(() =>
        Effect.gen(function*() {
          const attempts = [
            Task.cost({ usage: { input_tokens: -1, output_tokens: 0 } }),
            Task.confidence({ confidence: Number.NaN }),
            Task.toolCall({ toolCallId: "k", name: "tide", phase: "begun" as "started" }),
            Task.worldstateDelta([{ domain: "dock", path: "n", op: "inc", value: Infinity }]),
            Task.withCost(TaskResult.text("x"), { usage, costUsd: Number.NaN }),
            Task.withConfidence(TaskResult.text("x"), { confidence: 2 }, { carrier: "dataPart" })
          ]
          for (const attempt of attempts) {
            yield* Effect.matchEffect(Effect.asVoid(attempt), {
              onFailure: (error) => Effect.sync(() => void errors.push(error)),
              onSuccess: () => Effect.dieMessage("it was taken")
            })
          }
          return TaskResult.text("done")
        })
      )
      const all = yield* events("x")
      expect(errors.map(({ path }) => path.join("."))).toEqual([
        "usage.input_tokens",
        "confidence",
        "phase",
        "deltas.0.value",
        "costUsd",
        "confidence"
      ])
      expect(JSON.stringify(all)).not.toContain(ExtensionUri.base)
    }))
})

describe("withToolCall", () => {
  it.scoped("says that a call started and how it ended, with what the author shows of it", () =>
    Effect.gen(function*() {
      const { events } = yield* serving(() =>
        Effect.gen(function*() {
          yield* Effect.succeed({ metres: 3, secret: "s" }).pipe(
            Task.withToolCall({ name: "tide", args: { port: "A" }, result: ({ metres }) => metres })
          )
          yield* Effect.ignore(
            Task.withToolCall(new TideError({ message: "no tide today" }), { name: "tide", toolCallId: "second" })
          )
          yield* Effect.ignore(
            Task.withToolCall(new TideError({ message: "hidden" }), { name: "tide", error: ({ _tag }) => _tag })
          )
          yield* Effect.ignore(Effect.sandbox(Task.withToolCall(Effect.die("secret"), { name: "tide" })))
          yield* Effect.ignore(Effect.sandbox(Task.withToolCall(Effect.interrupt, { name: "tide" })))
          return TaskResult.text("done")
        })
      )
      const all = yield* events("x")
      const calls = yield* collect(ToolCall.fromEvents, all)
      expect(calls.map((call) => Struct.omit(call, "toolCallId"))).toEqual([
        { name: "tide", phase: "started", args: { port: "A" } },
        { name: "tide", phase: "completed", result: 3 },
        { name: "tide", phase: "started" },
        { name: "tide", phase: "failed", error: "no tide today" },
        { name: "tide", phase: "started" },
        { name: "tide", phase: "failed", error: "TideError" },
        { name: "tide", phase: "started" },
        { name: "tide", phase: "failed", error: "failed unexpectedly" },
        { name: "tide", phase: "started" },
        { name: "tide", phase: "failed", error: "interrupted" }
      ])
      expect(new Set(calls.map(({ toolCallId }) => toolCallId)).size).toBe(5)
      expect(calls[2]?.toolCallId).toBe("second")
      expect(JSON.stringify(all)).not.toContain("secret")
      const transitions = yield* collect((events) => ToolCall.transitions(ToolCall.fromEvents(events)), all)
      expect(transitions.every(ToolCall.isState)).toBe(true)
    }))

  it.effect("leaves the effect's value and failure as they are", () =>
    Effect.gen(function*() {
      const said: Array<string> = []
      const silent = Effect.provideService(AgentTask.Streaming, {
        progress: ([part]) => Effect.sync(() => void said.push(part.kind === "text" ? part.text : part.kind))
      })
      expect(yield* silent(Task.withToolCall(Effect.succeed(7), { name: "tide" }))).toBe(7)
      const error = new TideError({ message: "ebb" })
      expect(yield* Effect.flip(silent(Task.withToolCall(error, { name: "tide", carrier: "dataPart" })))).toBe(error)
      expect(said).toEqual(["tide: started", "tide: completed", "data", "data"])
    }))
})

describe("what ends a run", () => {
  it.scoped("a failure says its cost too", () =>
    Effect.gen(function*() {
      for (const carrier of ["metadata", "dataPart"] as const) {
        const { events } = yield* serving(() =>
          Effect.flatten(Task.withCost(
            new TaskFailure.TaskFailure({ code: "aground", message: "the Aster is aground" }),
            { usage, success: false },
            { carrier }
          ))
        )
        const all = yield* events("x")
        expect(yield* collect(Cost.fromEvents, all)).toEqual([{ usage, success: false }])
        const last = JSON.stringify(all.at(-1))
        expect(last).toContain("TASK_STATE_FAILED")
        expect(last).toContain("\"text\":\"the Aster is aground\"")
      }
    }))

  it.effect("keeps what a result had, and leaves the result itself as it was", () =>
    Effect.gen(function*() {
      const before = TaskResult.text("x").pipe(
        TaskResult.withMetadata({ of: "event" }),
        TaskResult.withMessageMetadata({ own: 1 }),
        TaskResult.withUsage({ inputTokens: 1 }),
        TaskResult.withSessionRef("s")
      )
      const after = yield* Task.withCost(before, { usage })
      expect(after).toMatchObject({ usage: { inputTokens: 1 }, sessionRef: "s", parts: before.parts })
      expect(after.messageMetadata).toEqual({ own: 1, [Cost.uri]: { usage } })
      expect(after.metadata).toEqual({ of: "event" })
      expect(before.messageMetadata).toEqual({ own: 1 })
    }))

  it.effect("keeps what a failure had, in either carrier", () =>
    Effect.gen(function*() {
      const before = new TaskFailure.TaskFailure({
        code: "aground",
        message: "the Aster is aground",
        metadata: { of: "event" },
        messageMetadata: { own: 1 },
        parts: [{ kind: "text", text: "stuck" }],
        sessionRef: "s"
      })
      const kept = { code: "aground", metadata: { of: "event" }, sessionRef: "s" }
      const inMetadata = yield* Task.withCost(before, { usage })
      expect(inMetadata).toMatchObject({ ...kept, parts: before.parts })
      expect(inMetadata.messageMetadata).toEqual({ own: 1, [Cost.uri]: { usage } })
      const inPart = yield* Task.withCost(before, { usage }, { carrier: "dataPart" })
      expect(inPart).toMatchObject({ ...kept, messageMetadata: { own: 1 } })
      expect(inPart.parts).toMatchObject([{ text: "stuck" }, { kind: "data", data: { usage } }])
    }))
})
