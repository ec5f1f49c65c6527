import * as Sdk from "@a2a-js/sdk"
import * as A2a from "@effect-agentenv/protocol/A2a"
import * as A2aV1 from "@effect-agentenv/protocol/A2aV1"
import type * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Effect } from "effect"
import { models, nested, partOfV1, states, travelled } from "./a2aModels.ts"

const runs = { fastCheck: { numRuns: 40 } }
const wire: A2aWire.Wire = A2aV1
const { event, send, task } = models(partOfV1)
const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "go" }] }

const sent = (more: object) =>
  Effect.map(A2aV1.decodeSend({ message: { ...message, ...more } }), ({ message }) => message)
const why = (params: unknown) => Effect.map(Effect.flip(A2aV1.decodeSend(params)), (error) => error.message)
const whyParts = (parts: unknown) => why({ message: { ...message, parts } })

/** The 1.0 wire does not say which event is the last. */
const settled = (event: A2a.StreamEvent): A2a.StreamEvent =>
  event._tag === "StatusUpdate" ? { ...event, final: A2a.isSettled(event.status.state) } : event

describe("A2aV1", () => {
  it.effect.prop("reads back every task that it writes", [task], ([task]) =>
    Effect.gen(function*() {
      expect(yield* wire.decodeTask(travelled(wire.encodeTask(task)))).toEqual(task)
    }), runs)

  it.effect.prop("reads back every event that it writes", [event], ([event]) =>
    Effect.gen(function*() {
      expect(yield* wire.decodeEvent(travelled(wire.encodeEvent(event)))).toEqual(settled(event))
    }), runs)

  it.effect.prop("reads back every message that it sends", [send], ([send]) =>
    Effect.gen(function*() {
      expect(yield* wire.decodeSend(travelled(wire.encodeSend(send)))).toEqual(send)
    }), runs)

  it.effect("reads ProtoJSON's other spellings: snake_case, numbers for enums, text for integers", () =>
    Effect.gen(function*() {
      const read = yield* A2aV1.decodeSend({
        message: {
          message_id: "m",
          context_id: "c",
          task_id: "t",
          role: 2,
          parts: [{ text: "a", media_type: "text/plain" }, { raw: "AA==", media_type: "x/y", filename: "f" }],
          reference_task_ids: ["r"]
        },
        configuration: { return_immediately: true, history_length: "2", accepted_output_modes: ["text"] },
        metadata: { snake_case: 1 }
      })
      expect(read).toStrictEqual({
        message: {
          messageId: "m",
          contextId: "c",
          taskId: "t",
          role: "agent",
          parts: [
            { kind: "text", text: "a", mediaType: "text/plain" },
            { kind: "file", file: { bytes: "AA==", name: "f", mimeType: "x/y" } }
          ],
          referenceTaskIds: ["r"]
        },
        blocking: false,
        historyLength: 2,
        acceptedOutputModes: ["text"],
        metadata: { snake_case: 1 }
      })
      expect(yield* A2aV1.decodeListParams({ context_id: "c", status: 3, page_size: "5", include_artifacts: true }))
        .toEqual({ contextId: "c", state: "completed", pageSize: 5, includeArtifacts: true })
      expect(yield* A2aV1.decodeEvent({ status_update: { task_id: "t", context_id: "c", status: { state: 6 } } }))
        .toEqual({
          _tag: "StatusUpdate",
          taskId: "t",
          contextId: "c",
          status: { state: "input-required" },
          final: true
        })
    }))

  it.effect("takes null, defaults that are left out and empty texts for absent", () =>
    Effect.gen(function*() {
      const read = yield* A2aV1.decodeSend({
        message: { ...message, contextId: "", taskId: null, metadata: null, parts: [{ text: "a", filename: "" }] },
        configuration: null,
        tenant: "somebody's"
      })
      expect(read).toStrictEqual({
        message: { messageId: "m", role: "user", parts: [{ kind: "text", text: "a" }] }
      })
      expect(yield* A2aV1.decodeTask({ id: "t", status: {} })).toStrictEqual({
        id: "t",
        contextId: "",
        status: { state: "unknown" },
        history: [],
        artifacts: []
      })
    }))

  it.effect("B-TASK-10: refuses what 0.3 refuses, and names it", () =>
    Effect.gen(function*() {
      expect(yield* whyParts([{ text: "a" }, { text: "" }])).toBe(
        "message.parts[1].text: TextPart content cannot be empty"
      )
      for (const parts of [[], null, undefined]) {
        expect(yield* whyParts(parts)).toBe("message.parts: Field must contain at least one element.")
      }
      expect(yield* whyParts([{}])).toBe("message.parts[0]: expected one of text, raw, url and data")
      expect(yield* whyParts([{ text: "a", url: "b" }])).toBe(
        "message.parts[0]: expected one of text, raw, url and data"
      )
      expect(yield* why({ message: { ...message, messageId: "" } })).toBe("message.messageId: Field is required.")
    }))

  it.effect("names the field that is wrong, and never its value", () =>
    Effect.gen(function*() {
      const canary = "canary-4711"
      expect(yield* why(canary)).toBe("expected object")
      expect(yield* why({})).toBe("message: is missing")
      expect(yield* whyParts([{ text: [canary] }])).toMatch(/^message\.parts\[0\]\.text: expected string/)
      for (const role of [canary, "user", 0, 3, null]) {
        expect(yield* why({ message: { ...message, role } })).toBe("message.role: expected ROLE_USER or ROLE_AGENT")
      }
      for (const historyLength of [canary, 1.5, "", "1.5", true]) {
        expect(yield* why({ message, configuration: { historyLength } })).toMatch(
          /^configuration\.historyLength: expected integer/
        )
      }
      expect(yield* why({ message, configuration: { historyLength: -1 } })).toMatch(/history length must be non-neg/)
      expect((yield* Effect.flip(A2aV1.decodeTaskParams({}))).message).toBe("id: Field is required.")
      expect((yield* Effect.flip(A2aV1.decodeTask({ id: "t", status: { state: canary } }))).message).toBe(
        "status.state: expected a TASK_STATE"
      )
      for (
        const [params, said] of [
          [{ pageSize: 0 }, "pageSize: minimum page size is 1"],
          [{ pageSize: 101 }, "pageSize: maximum page size is 100"],
          [{ statusTimestampAfter: canary }, "statusTimestampAfter: expected a time"],
          [{ historyLength: -1 }, "historyLength: history length must be non-negative"]
        ] as const
      ) {
        expect((yield* Effect.flip(A2aV1.decodeListParams(params))).message).toBe(said)
      }
    }))

  it.effect("keeps any JSON of a data part, null too, and the base64 text of a file in either alphabet", () =>
    Effect.gen(function*() {
      const parts = [{ data: null }, { data: [1] }, { data: "" }, { raw: "-_8" }, { raw: "+/8=" }, { raw: "" }, {
        url: ""
      }]
      const read = yield* sent({ parts: [...parts, { text: "a", data: null }] })
      expect(travelled(A2aV1.encodeMessage(read))).toMatchObject({ parts: [...parts, { text: "a" }] })
    }))

  it.effect("keeps a key __proto__ of metadata and data a key", () =>
    Effect.gen(function*() {
      const text = `{"__proto__":{"polluted":true},"a_b":1}`
      const value: unknown = JSON.parse(text)
      const read = yield* sent({ metadata: value, parts: [{ data: value, metadata: value }] })
      expect(JSON.stringify(A2aV1.encodeMessage(read)).split(text).length).toBe(4)
      // an own __proto__ of the message itself is a field that nobody knows
      const odd: unknown = JSON.parse(
        `{"__proto__":{"contextId":"x"},"message_id":"m","role":1,"parts":[{"text":"a"}]}`
      )
      expect((yield* A2aV1.decodeSend({ message: odd })).message.contextId).toBe(undefined)
    }))

  it.effect("reads what nests 10,000 deep without overflowing", () =>
    Effect.gen(function*() {
      const deep = nested(10_000)
      const read = yield* sent({ metadata: { deep }, parts: [{ data: deep }] })
      expect(read.parts[0]).toEqual(expect.objectContaining({ kind: "data" }))
      expect(yield* whyParts(deep)).toMatch(/^message\.parts\[0\]: expected object/)
    }))

  it.effect("wants one kind of event in a frame, and says which there are", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(A2aV1.decodeEvent({ other: 1 }))).message).toBe(
        "expected one of task, message, statusUpdate and artifactUpdate"
      )
      expect((yield* Effect.flip(A2aV1.decodeReply({}))).message).toBe("expected one of task and message")
    }))

  it.effect("takes a part without content for data in an answer, since a2a-js leaves `data: null` out", () =>
    Effect.gen(function*() {
      const { artifacts } = yield* A2aV1.decodeTask({ id: "t", status: {}, artifacts: [{ parts: [{}] }] })
      expect(artifacts[0]?.parts).toStrictEqual([{ kind: "data", data: null }])
    }))

  it.effect("sends each method the fields that it has, since peers refuse others", () =>
    Effect.sync(() => {
      const params = { id: "t", historyLength: 1, metadata: { a: 1 } }
      expect(A2aV1.encodeTaskParams("get", params)).toEqual({ id: "t", historyLength: 1 })
      expect(A2aV1.encodeTaskParams("cancel", params)).toEqual({ id: "t", metadata: { a: 1 } })
      expect(A2aV1.encodeTaskParams("resubscribe", params)).toEqual({ id: "t" })
    }))

  it.effect.prop("reads back pages and what asks for them", [task], ([task]) =>
    Effect.gen(function*() {
      const page = { tasks: [task], nextPageToken: "n", pageSize: 1, totalSize: 2 }
      expect(yield* A2aV1.decodePage(travelled(A2aV1.encodePage(page)))).toEqual(page)
      const params = {
        contextId: "c",
        state: "failed",
        pageSize: 3,
        pageToken: "p",
        historyLength: 0,
        since: 5
      } as const
      expect(yield* A2aV1.decodeListParams(travelled(A2aV1.encodeListParams(params)))).toEqual(params)
    }), runs)

  it.effect.prop("is read and written alike by a2a-js 1.0", [task], ([task]) =>
    Effect.gen(function*() {
      const ours = travelled(A2aV1.encodeTask(task))
      const theirs = yield* A2aV1.decodeTask(travelled(Sdk.Task.toJSON(Sdk.Task.fromJSON(ours))))
      // their codec writes base64 anew, and drops empty lists and `data: null`
      const comparable = (task: A2a.Task) =>
        JSON.parse(
          JSON.stringify({ id: task.id, contextId: task.contextId, status: task.status.state, at: task.status.at })
        )
      expect(comparable(theirs)).toEqual(comparable(task))
      expect([theirs.history.length, theirs.artifacts.length]).toEqual([task.history.length, task.artifacts.length])
    }), runs)

  it("uses the vocabulary of a2a-js 1.0", () => {
    type Names<A extends object> = keyof A
    expectTypeOf<Names<A2a.Message>>().toEqualTypeOf<keyof Sdk.Message>()
    expectTypeOf<Names<A2a.Artifact>>().toEqualTypeOf<keyof Sdk.Artifact>()
    expectTypeOf<Names<A2a.Task>>().toEqualTypeOf<keyof Sdk.Task>()
    expectTypeOf<Exclude<Names<A2a.StatusUpdate>, "_tag" | "final">>().toEqualTypeOf<keyof Sdk.TaskStatusUpdateEvent>()
    expectTypeOf<Exclude<Names<A2a.ArtifactUpdate>, "_tag">>().toEqualTypeOf<keyof Sdk.TaskArtifactUpdateEvent>()
    expectTypeOf<keyof A2aWire.Page>().toEqualTypeOf<keyof Sdk.ListTasksResponse>()
    for (const state of states) {
      const { status } = Sdk.Task.fromJSON(A2aV1.encodeTask({
        id: "t",
        contextId: "c",
        status: { state },
        history: [],
        artifacts: []
      }))
      expect(status?.state).not.toBe(Sdk.TaskState.UNRECOGNIZED)
    }
    for (const role of ["user", "agent"] as const) {
      const message = Sdk.Message.fromJSON(A2aV1.encodeMessage({ messageId: "m", role, parts: [] }))
      expect(message.role).toBe(role === "user" ? Sdk.Role.ROLE_USER : Sdk.Role.ROLE_AGENT)
    }
  })
})
