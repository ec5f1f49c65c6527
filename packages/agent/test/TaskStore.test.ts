import * as TaskStore from "@effect-agentenv/agent/TaskStore"
import type { A2a } from "@effect-agentenv/protocol"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema, TestClock } from "effect"
import { memory, message } from "./taskSupport.ts"

const created = (contextId = "c", value = "go"): TaskStore.Entry => ({
  _tag: "Created",
  contextId,
  message: message(value),
  at: 0
})

const status = (state: A2a.TaskState): TaskStore.Entry => ({ _tag: "Status", state, at: 0 })

const put = (store: TaskStore.TaskStore["Type"], taskId: string, ...entries: ReadonlyArray<TaskStore.Entry>) =>
  store.append(taskId, 0, entries)

const isKept = (store: TaskStore.TaskStore["Type"], taskId: string) =>
  Effect.map(store.read(taskId, 0), (journal) => journal !== undefined)

describe("a store of tasks in memory", () => {
  it.scoped("appends only at the version that is expected, and says where the journal is", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      expect(yield* store.append("t", 0, [created(), status("working")])).toBe(2)
      const conflict = yield* Effect.flip(store.append("t", 1, [status("completed")]))
      expect(conflict).toEqual(new TaskStore.VersionConflict({ taskId: "t", actual: 2 }))
      expect(yield* Effect.flip(store.append("none", 1, [status("completed")]))).toMatchObject({ actual: 0 })
      expect(yield* store.append("t", 2, [status("completed")])).toBe(3)
    }))

  it.scoped("reads on from a version, as much as is asked for", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      yield* put(store, "t", created(), status("working"), status("input-required"))
      expect(yield* store.read("t", 1)).toEqual([status("working"), status("input-required")])
      expect(yield* store.read("t", 1, 1)).toEqual([status("working")])
      expect(yield* store.read("t", 3)).toEqual([])
      expect(yield* store.read("none", 0)).toBeUndefined()
    }))

  it.scoped("lists the newest first, of one context, and on from a task", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      for (const id of ["a", "b", "c", "d"]) yield* put(store, id, created(id === "b" ? "other" : "c"))
      expect(yield* store.list({ limit: 2 })).toEqual(["d", "c"])
      expect(yield* store.list({ limit: 2, before: "c" })).toEqual(["b", "a"])
      expect(yield* store.list({ limit: 9, contextId: "c" })).toEqual(["d", "c", "a"])
      expect(yield* store.list({ limit: 9, before: "gone" })).toEqual([])
    }))

  it.scoped("knows which tasks are not at their end", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      yield* put(store, "a", created(), status("completed"))
      yield* put(store, "b", created(), status("input-required"))
      yield* put(store, "c", created())
      expect(yield* store.unfinished).toEqual(["b", "c"])
    }))

  it.scoped("keeps so many tasks that have ended, and all that run", () =>
    Effect.gen(function*() {
      const store = yield* memory({ maxFinished: 2 })
      yield* put(store, "running", created())
      for (const id of ["a", "b", "c"]) yield* put(store, id, created(), status("completed"))
      const kept = yield* Effect.forEach(["running", "a", "b", "c"], (id) => isKept(store, id))
      expect(kept).toEqual([true, false, true, true])
    }))

  it.scoped("keeps no more bytes than it may, but always the task that ended last", () =>
    Effect.gen(function*() {
      const store = yield* memory({ maxBytes: 3_000 })
      for (const id of ["a", "b", "c"]) yield* put(store, id, created("c", "x".repeat(1_000)), status("failed"))
      expect(yield* Effect.forEach(["a", "b", "c"], (id) => isKept(store, id))).toEqual([false, true, true])
      yield* put(store, "huge", created("c", "x".repeat(10_000)), status("failed"))
      expect(yield* Effect.forEach(["b", "c", "huge"], (id) => isKept(store, id))).toEqual([false, false, true])
    }))

  it.scoped("forgets a task an hour after its end and one that waits for its caller after a day", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      yield* put(store, "running", created(), status("working"))
      yield* put(store, "ended", created(), status("canceled"))
      yield* put(store, "waiting", created(), status("input-required"))
      yield* put(store, "continued", created(), status("input-required"), {
        _tag: "Continued",
        message: message("more"),
        at: 0
      })
      const ids = ["running", "ended", "waiting", "continued"]
      yield* TestClock.adjust("59 minutes")
      expect(yield* Effect.forEach(ids, (id) => isKept(store, id))).toEqual([true, true, true, true])
      yield* TestClock.adjust("1 minute")
      expect(yield* Effect.forEach(ids, (id) => isKept(store, id))).toEqual([true, false, true, true])
      yield* TestClock.adjust("23 hours")
      expect(yield* Effect.forEach(ids, (id) => isKept(store, id))).toEqual([true, false, false, true])
      expect(yield* store.list({ limit: 9 })).toEqual(["continued", "running"])
    }))

  it.scoped("takes data of any depth", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let data: unknown = null
      for (let i = 0; i < 100_000; i++) data = [data]
      const deep: A2a.Message = { messageId: "m", role: "user", parts: [{ kind: "data", data }] }
      expect(yield* put(store, "t", { _tag: "Created", contextId: "c", message: deep, at: 0 })).toBe(1)
    }))
})

describe("an entry's schema", () => {
  const everything: A2a.Message = {
    ...message("go"),
    parts: [
      { kind: "text", text: "a", metadata: { a: [1, null] }, mediaType: "text/plain", filename: "a.txt" },
      { kind: "file", file: { bytes: "AAE=", name: "a", mimeType: "image/png" } },
      { kind: "file", file: { uri: "x:/y" }, metadata: {} },
      { kind: "data", data: [1, { b: null }] }
    ],
    contextId: "c",
    taskId: "t",
    extensions: ["urn:x"],
    referenceTaskIds: ["r"],
    metadata: JSON.parse(`{"__proto__":{"a":1}}`)
  }
  const entries: ReadonlyArray<TaskStore.Entry> = [
    { _tag: "Created", contextId: "c", message: everything, metadata: { a: 1 }, at: 5 },
    { _tag: "Continued", message: everything, at: 5 },
    { _tag: "Status", state: "failed", at: 5, message: everything, metadata: {} },
    {
      _tag: "Artifact",
      artifact: {
        artifactId: "a",
        parts: everything.parts,
        name: "n",
        description: "d",
        metadata: everything.metadata
      },
      append: true,
      lastChunk: false
    }
  ]

  it.effect.each(entries)("carries $_tag through JSON", (entry) =>
    Effect.gen(function*() {
      const written = JSON.stringify(yield* Schema.encode(TaskStore.Entry)(entry))
      const read = yield* Schema.decodeUnknown(TaskStore.Entry)(JSON.parse(written))
      expect(JSON.stringify(read)).toBe(written)
      expect(read).toEqual(entry)
    }))

  it.effect("refuses what is no entry", () =>
    Effect.gen(function*() {
      const wrong = [null, {}, { _tag: "Status", state: "asleep", at: 1 }, { _tag: "Created", message: everything }]
      const results = yield* Effect.forEach(wrong, (value) =>
        Effect.isFailure(Schema.decodeUnknown(TaskStore.Entry)(value)))
      expect(results).toEqual([true, true, true, true])
    }))
})
