import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as A2aV03 from "@effect-agentenv/protocol/A2aV03"
import type * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import type * as Sdk from "a2a-sdk-03"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { models, nested, partOfV03, travelled } from "./a2aModels.ts"

const runs = { fastCheck: { numRuns: 40 } }
const wire: A2aWire.Wire = A2aV03
const { event, send, task } = models(partOfV03)
const message = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "go" }] }

const sent = (more: object, params: object = {}) =>
  Effect.map(A2aV03.decodeSend({ message: { ...message, ...more }, ...params }), ({ message }) => message)
const why = (params: unknown) => Effect.map(Effect.flip(A2aV03.decodeSend(params)), (error) => error.message)
const whyParts = (parts: unknown) => why({ message: { ...message, parts } })

describe("A2aV03", () => {
  it.effect.prop("reads back every task that it writes", [task], ([task]) =>
    Effect.gen(function*() {
      expect(yield* wire.decodeTask(travelled(wire.encodeTask(task)))).toEqual(task)
    }), runs)

  it.effect.prop("reads back every event that it writes", [event], ([event]) =>
    Effect.gen(function*() {
      expect(yield* wire.decodeEvent(travelled(wire.encodeEvent(event)))).toEqual(event)
    }), runs)

  it.effect.prop("reads back every message that it sends", [send], ([send]) =>
    Effect.gen(function*() {
      expect(yield* wire.decodeSend(travelled(wire.encodeSend(send)))).toEqual(send)
    }), runs)

  it.effect("B-TASK-10: refuses an empty text and a message without parts in the reference's words", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(A2aV03.decodeSend({
        message: { ...message, parts: [message.parts[0], { kind: "text", text: "" }] }
      }))
      expect([error.stated, error.issues]).toEqual([true, [
        { path: "message.parts[1].text", message: "TextPart content cannot be empty" }
      ]])
      expect(yield* whyParts([])).toBe("message.parts: Message parts cannot be empty")
    }))

  it.effect("reads numbers and truths as the reference does, and a message by its kind", () =>
    Effect.gen(function*() {
      const read = (configuration: object) =>
        Effect.map(
          A2aV03.decodeSend({ message, configuration }),
          ({ blocking, historyLength }) => [blocking, historyLength]
        )
      expect(yield* read({ blocking: 0, historyLength: "2" })).toEqual([false, 2])
      expect(yield* read({ blocking: "Yes", historyLength: true })).toEqual([true, 1])
      expect(yield* read({ blocking: null, historyLength: null })).toEqual([undefined, undefined])
      for (const configuration of [{ blocking: 2 }, { blocking: "" }, { historyLength: 1.5 }, { historyLength: "" }]) {
        expect((yield* Effect.flip(read(configuration))).message).toMatch(/: expected (boolean|integer)$/)
      }
      const { kind: _kind, ...unnamed } = message
      expect((yield* A2aV03.decodeSend({ message: unnamed })).message.messageId).toBe(message.messageId)
      for (const kind of [null, "task", 7]) {
        expect(yield* why({ message: { ...message, kind } })).toMatch(/^message\.kind: expected/)
      }
    }))

  it.effect("names the field that is wrong, and never its value", () =>
    Effect.gen(function*() {
      const canary = "canary-4711"
      expect(yield* why(canary)).toBe("expected object")
      expect(yield* why({})).toBe("message: is missing")
      expect(yield* whyParts(canary)).toBe("message.parts: expected array")
      expect(yield* whyParts([canary])).toBe("message.parts[0]: expected object")
      expect(yield* whyParts([{ kind: canary }])).toBe(
        "message.parts[0].kind: expected one of \"text\", \"file\", \"data\""
      )
      expect(yield* whyParts([{ kind: "text", text: [canary] }])).toBe("message.parts[0].text: expected string")
      expect(yield* whyParts([{ kind: "file" }])).toBe("message.parts[0].file: is missing")
      expect(yield* whyParts([{ kind: "file", file: { bytes: [canary] } }])).toMatch(
        /^message\.parts\[0\]\.file: bytes: expected string/
      )
      expect(yield* whyParts([{ kind: "data", data: [canary] }])).toBe("message.parts[0].data: expected object")
      for (const field of ["contextId", "taskId", "metadata", "extensions"]) {
        expect(yield* why({ message: { ...message, [field]: 7 } })).toMatch(new RegExp(`^message\\.${field}: expected`))
      }
      expect(yield* why({ message: { ...message, role: canary } })).toMatch(/^message\.role: expected one of/)
      expect(yield* why({ message, configuration: { historyLength: 1.5 } })).toMatch(/^configuration\.historyLength:/)
      expect(yield* why({ message, configuration: { blocking: canary } })).toMatch(/^configuration\.blocking:/)
      expect(yield* Effect.map(Effect.flip(A2aV03.decodeTaskParams({ id: [canary] })), (error) => error.message))
        .toBe("id: expected string")
    }))

  it.effect("takes null and the empty string for absent, and parts without a kind, as Python peers send them", () =>
    Effect.gen(function*() {
      const read = yield* A2aV03.decodeSend({
        message: {
          messageId: "m",
          role: "user",
          parts: [{ text: "a", metadata: null }, { file: { uri: "u", name: null } }, { data: {} }],
          contextId: null,
          taskId: "",
          metadata: null,
          extensions: null
        },
        configuration: { blocking: null, historyLength: null, pushNotificationConfig: null },
        metadata: null
      })
      expect(read).toStrictEqual({
        message: {
          messageId: "m",
          role: "user",
          parts: [{ kind: "text", text: "a" }, { kind: "file", file: { uri: "u" } }, { kind: "data", data: {} }]
        }
      })
    }))

  it.effect("reads how a message is sent, and that push notifications are wanted", () =>
    Effect.gen(function*() {
      const configuration = { blocking: false, historyLength: 0, pushNotificationConfig: { url: "http://h/" } }
      const { blocking, historyLength, metadata, push } = yield* A2aV03.decodeSend({
        message,
        configuration,
        metadata: { a: 1 }
      })
      expect([blocking, historyLength, metadata, push]).toEqual([false, 0, { a: 1 }, true])
      // as pydantic takes it
      expect((yield* A2aV03.decodeTaskParams({ id: "t", historyLength: "2" })).historyLength).toBe(2)
    }))

  it.effect("A-19: the base64 text of a file comes out as it went in, whatever it is", () =>
    Effect.gen(function*() {
      const all = Buffer.from(Uint8Array.from({ length: 256 }, (_, index) => index)).toString("base64")
      for (const bytes of [all, "aGk", "aGk=", "-_8", "", "!!", "a b\n"]) {
        const file = { bytes, name: "", mimeType: "image/png" }
        const { parts } = yield* sent({ parts: [{ kind: "file", file }] })
        const written = JSON.stringify(A2aV03.encodeReply({
          _tag: "Message",
          message: { messageId: "m", role: "agent", parts }
        }))
        expect(JSON.parse(written).parts).toEqual([{ kind: "file", file }])
      }
      const hash = (text: string) => createHash("sha256").update(Buffer.from(text, "base64")).digest("hex")
      expect(hash(all)).toBe("40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880")
    }))

  it.effect("B-TASK-16: a file keeps its name and type, and bytes are told from a URI", () =>
    Effect.gen(function*() {
      const files = [
        { bytes: "aGk=", name: "a.txt", mimeType: "text/plain" },
        { uri: "file:///a b", name: "b", mimeType: "x/y" }
      ]
      const { parts } = yield* sent({ parts: files.map((file) => ({ kind: "file", file })) })
      expect(parts).toEqual(files.map((file) => ({ kind: "file", file })))
    }))

  it.effect("carries JSON that is no object as both SDKs do, and leaves objects alone", () =>
    Effect.gen(function*() {
      const parts: ReadonlyArray<A2a.Part> = [
        { kind: "data", data: [1] },
        { kind: "data", data: null, metadata: { k: 1 } },
        { kind: "data", data: { value: 1 } }
      ]
      const written = travelled(A2aV03.encodeMessage({ messageId: "m", role: "user", parts }))
      expect(written).toMatchObject({
        parts: [
          { kind: "data", data: { value: [1] }, metadata: { data_part_compat: true } },
          { kind: "data", data: { value: null }, metadata: { k: 1, data_part_compat: true } },
          { kind: "data", data: { value: 1 } }
        ]
      })
      expect((yield* A2aV03.decodeSend({ message: written })).message.parts).toEqual(parts)
    }))

  it.effect("leaves behind what only 1.0 can say of a text", () =>
    Effect.sync(() => {
      const parts = [{ kind: "text" as const, text: "a", mediaType: "text/html", filename: "a.html" }]
      expect(travelled(A2aV03.encodeMessage({ messageId: "m", role: "user", parts }))).toMatchObject({
        parts: [{ kind: "text", text: "a" }]
      })
    }))

  it.effect("keeps a key __proto__ of metadata and data a key", () =>
    Effect.gen(function*() {
      const text = `{"__proto__":{"polluted":true},"a":1}`
      const { metadata, parts } = yield* sent({
        metadata: JSON.parse(text),
        parts: [{ kind: "data", data: JSON.parse(text), metadata: JSON.parse(text) }]
      })
      const written = JSON.stringify(A2aV03.encodeMessage({ messageId: "m", role: "user", parts, metadata }))
      expect(written.split(text).length).toBe(4)
      expect("polluted" in {}).toBe(false)
    }))

  it.effect("reads what nests 10,000 deep without overflowing", () =>
    Effect.gen(function*() {
      const deep = nested(10_000)
      expect((yield* sent({ metadata: { deep } })).metadata?.["deep"]).toBe(deep)
      expect(yield* whyParts(deep)).toMatch(/^message\.parts\[0\]: expected object/)
      expect(yield* why(deep)).toBe("expected object")
    }))

  it.effect("says which event is which, and what it wanted of one that is none", () =>
    Effect.gen(function*() {
      const status = { state: "completed", timestamp: "2026-12-01T12:16:24.940309+00:00" }
      expect(yield* A2aV03.decodeEvent({ kind: "status-update", taskId: "t", contextId: "c", status, final: true }))
        .toEqual({
          _tag: "StatusUpdate",
          taskId: "t",
          contextId: "c",
          status: { state: "completed", at: Date.UTC(2026, 11, 1, 12, 16, 24, 940) },
          final: true
        })
      expect((yield* Effect.flip(A2aV03.decodeEvent({ kind: "canary" }))).message).toBe(
        "kind: expected one of \"status-update\", \"artifact-update\", \"task\", \"message\""
      )
      expect((yield* Effect.flip(A2aV03.decodeTask({ id: "t", contextId: "c", status: { state: "canary" } }))).message)
        .toMatch(/^status\.state: expected one of/)
    }))

  it.effect("takes a time that it can't read for none", () =>
    Effect.gen(function*() {
      const { status } = yield* A2aV03.decodeTask({
        id: "t",
        contextId: "c",
        status: { state: "working", timestamp: "soon" }
      })
      expect(status).toStrictEqual({ state: "working" })
    }))

  it("uses the vocabulary of a2a-js 0.3", () => {
    expectTypeOf<A2a.TaskState>().toEqualTypeOf<Sdk.TaskState>()
    expectTypeOf<A2a.Message["role"]>().toEqualTypeOf<Sdk.Message["role"]>()
    expectTypeOf<A2a.Part["kind"]>().toEqualTypeOf<Sdk.Part["kind"]>()
    expectTypeOf<keyof A2a.Message>().toEqualTypeOf<Exclude<keyof Sdk.Message, "kind">>()
    expectTypeOf<keyof A2a.Artifact>().toEqualTypeOf<keyof Sdk.Artifact>()
    expectTypeOf<keyof A2a.Task>().toEqualTypeOf<Exclude<keyof Sdk.Task, "kind">>()
    expectTypeOf<keyof A2a.StatusUpdate>().toEqualTypeOf<Exclude<keyof Sdk.TaskStatusUpdateEvent, "kind"> | "_tag">()
    expectTypeOf<keyof A2a.ArtifactUpdate>().toEqualTypeOf<
      Exclude<keyof Sdk.TaskArtifactUpdateEvent, "kind"> | "_tag"
    >()
    const { METHODS, PUSH_METHODS } = A2aV03
    expectTypeOf(METHODS.send).toEqualTypeOf<Sdk.SendMessageRequest["method"]>()
    expectTypeOf(METHODS.stream).toEqualTypeOf<Sdk.SendStreamingMessageRequest["method"]>()
    expectTypeOf(METHODS.get).toEqualTypeOf<Sdk.GetTaskRequest["method"]>()
    expectTypeOf(METHODS.cancel).toEqualTypeOf<Sdk.CancelTaskRequest["method"]>()
    expectTypeOf(METHODS.resubscribe).toEqualTypeOf<Sdk.TaskResubscriptionRequest["method"]>()
    expectTypeOf(METHODS.extendedCard).toEqualTypeOf<Sdk.GetAuthenticatedExtendedCardRequest["method"]>()
    expectTypeOf(PUSH_METHODS.set).toEqualTypeOf<Sdk.SetTaskPushNotificationConfigRequest["method"]>()
    expectTypeOf(PUSH_METHODS.delete).toEqualTypeOf<Sdk.DeleteTaskPushNotificationConfigRequest["method"]>()
    type Configuration = NonNullable<Sdk.MessageSendParams["configuration"]>
    expectTypeOf<Configuration>().toHaveProperty("blocking")
    expectTypeOf<Configuration>().toHaveProperty("historyLength")
    expectTypeOf<Configuration>().toHaveProperty("acceptedOutputModes")
    expectTypeOf<Configuration>().toHaveProperty("pushNotificationConfig")
  })
})
