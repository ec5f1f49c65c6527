import { AgentClient, ExtensionClient } from "@effect-agentenv/client"
import type { Grant } from "@effect-agentenv/protocol"
import { SnapshotV1 } from "@effect-agentenv/protocol/extensions/SnapshotV1"
import { AgentTest, ObjectStore } from "@effect-agentenv/testing"
import { Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Keeper, KeeperLive } from "../src/main.ts"

/** An agent as new; the store outlives it. */
const Agent = AgentTest.layer(Keeper).pipe(
  Layer.provide(KeeperLive),
  Layer.provide(Layer.unwrapEffect(Effect.map(ObjectStore.ObjectStore, ({ ca }) => Transfers.layer({ ca }))))
)

const AgentAndStore = Layer.provideMerge(Agent, ObjectStore.layer)

const say = (text: string, contextId?: string) =>
  Effect.gen(function*() {
    const agent = yield* AgentClient.AgentClient
    const reply = yield* agent.send(text, { contextId })
    if (reply._tag !== "Task") return expect.fail("the agent answers with a task")
    const failed = Option.getOrUndefined(AgentClient.failure(reply))
    return { contextId: reply.task.contextId, text: AgentClient.text(reply), code: failed?.code }
  })

const snapshots = ExtensionClient.make(SnapshotV1)

const changelog = Effect.map(snapshots, ({ changelog }) => Option.getOrThrow(changelog))

const saveTo = (contextId: string, name: string) =>
  Effect.gen(function*() {
    const store = yield* ObjectStore.ObjectStore
    const snapshot = yield* snapshots
    const objects = {
      trajectory: yield* store.writeObject(`${name}/trajectory`),
      workspace: yield* store.writeObject(`${name}/workspace`)
    }
    return yield* snapshot.save({ context_id: contextId, objects })
  })

const loadFrom = (name: string, target_context_id?: string) =>
  Effect.gen(function*() {
    const store = yield* ObjectStore.ObjectStore
    const snapshot = yield* snapshots
    const objects = {
      trajectory: yield* store.readObject(`${name}/trajectory`),
      workspace: yield* store.readObject(`${name}/workspace`)
    }
    return yield* snapshot.load({ objects, ...target_context_id === undefined ? {} : { target_context_id } })
  })

const increment = (sequence: number) =>
  Effect.flatMap(ObjectStore.ObjectStore, (store) => store.readObject(`log/${String(sequence).padStart(6, "0")}.tar`))
    .pipe(
      Effect.map((object: Grant.ReadObject) => ({ sequence, object }))
    )

describe("the keeper", () => {
  it.effect("gives back on another agent what was saved of its files and its conversation", () =>
    Effect.gen(function*() {
      const { contextId } = yield* say("write notes/a.txt one\nwrite b.txt two").pipe(
        Effect.tap(({ contextId }) =>
          Effect.gen(function*() {
            const saved = yield* saveTo(contextId, "first")
            expect(saved).toMatchObject({
              context_id: contextId,
              objects: { workspace: { sha256: expect.any(String) } }
            })
            // what comes after the snapshot is none of it
            yield* say("write b.txt three\nremove notes/a.txt", contextId)
          })
        ),
        Effect.provide(Agent)
      )
      yield* Effect.gen(function*() {
        yield* say("write gone.txt whatever")
        expect(yield* loadFrom("first")).toEqual({ context_id: contextId })
        expect((yield* say("list\nread notes/a.txt\nread b.txt", contextId)).text.split("\n")).toEqual([
          "b.txt",
          "notes",
          "notes/a.txt",
          "one",
          "two"
        ])
        expect((yield* say("history", contextId)).text).toMatch(/^write notes\/a\.txt one\nwrite b\.txt two\n/)
        expect(yield* loadFrom("first", "elsewhere")).toEqual({ context_id: "elsewhere" })
        expect((yield* say("history", "elsewhere")).text).toBe("write notes/a.txt one\nwrite b.txt two")
      }).pipe(Effect.provide(Agent))
    }).pipe(Effect.provide(ObjectStore.layer)))

  it.effect("B-SNAP-7: logs each tool call that changed something under its position, and applies the log elsewhere", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const { contextId } = yield* Effect.gen(function*() {
        const first = yield* say("write a.txt one")
        yield* saveTo(first.contextId, "base")
        const log = yield* changelog
        const { roots } = yield* log.enable({ write_namespace: yield* store.writeNamespace("log") })
        expect(roots).toHaveLength(1)
        yield* say("write b/c.txt two\nread a.txt\nremove a.txt\nwrite d.txt three", first.contextId)
        // the first call came before the log, and reading changes nothing
        expect(new Set((yield* store.keys).filter((key) => key.startsWith("log/")))).toEqual(
          new Set(["log/000001.tar", "log/000003.tar", "log/000004.tar"])
        )
        return first
      }).pipe(Effect.provide(Agent))

      yield* Effect.gen(function*() {
        yield* loadFrom("base")
        const log = yield* changelog
        // a rewind to before the last call
        const increments = yield* Effect.forEach([1, 3], increment)
        expect(yield* log.apply({ increments, resume_conversation: true })).toEqual({ count: 2, context_id: contextId })
        expect((yield* say("list\nread b/c.txt", contextId)).text).toBe("b\nb/c.txt\ntwo")
        expect((yield* say("history", contextId)).text).toMatch(
          /^write a\.txt one\nwrite b\/c\.txt two\nremove a\.txt\n/
        )
        // it goes on from where the log ends: three calls since
        yield* log.enable({ write_namespace: yield* store.writeNamespace("more") })
        yield* say("write e.txt four", contextId)
        expect((yield* store.keys).filter((key) => key.startsWith("more/"))).toEqual(["more/000007.tar"])
      }).pipe(Effect.provide(Agent))
    }).pipe(Effect.provide(ObjectStore.layer)))

  it.effect("B-SNAP-5: applies an empty log, and keeps the conversation out of it unless told", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const log = yield* changelog
      expect(yield* log.apply({ increments: [] })).toEqual({ count: 0 })
      yield* log.enable({ write_namespace: yield* store.writeNamespace("log") })
      yield* say("write a.txt one")
      expect(yield* log.apply({ increments: [yield* increment(0)] })).toEqual({ count: 1 })
    }).pipe(Effect.provide(AgentAndStore)))

  it.effect("keeps its files when a snapshot is broken, and says what is wrong with a transfer", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const { contextId } = yield* say("write a.txt one")
      yield* saveTo(contextId, "whole")
      yield* store.put("whole/workspace", "no archive")
      expect(yield* Effect.flip(loadFrom("whole"))).toMatchObject({ status: 400, code: "invalid_transfer" })
      expect((yield* say("list")).text).toBe("a.txt")
      expect(yield* Effect.flip(saveTo("nobody", "none"))).toMatchObject({ status: 404 })
    }).pipe(Effect.provide(AgentAndStore)))

  it.effect("fails a task whose change could not be logged", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const log = yield* changelog
      yield* log.enable({ write_namespace: yield* store.writeNamespace("log") })
      yield* store.inject({ name: "status", status: 403 })
      expect((yield* say("write a.txt one")).code).toBe("not_recorded")
    }).pipe(Effect.provide(AgentAndStore)))

  it.effect("stays among its own files", () =>
    Effect.gen(function*() {
      const codes = yield* Effect.forEach(
        ["read ../../etc/passwd", "write /etc/passwd x", "remove a/../../b", "read nothing.txt", "sing"],
        (prompt) => Effect.map(say(prompt), ({ code }) => code)
      )
      expect(codes).toEqual(["bad_path", "bad_path", "bad_path", "no_such_file", "unknown_verb"])
    }).pipe(Effect.provide(AgentAndStore)))
})
