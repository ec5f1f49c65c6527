import type { TaskRequest } from "@effect-agentenv/agent/TaskRequest"
import * as TaskResult from "@effect-agentenv/agent/TaskResult"
import { expect, it } from "@effect/vitest"
import { Effect, Redacted, Ref } from "effect"
import { data, type Kiln, runnerOf, startOf } from "./runnerSupport.ts"

it.scoped("B-TASK-12: what a run leaves is read by the next run of its context alone, and never sent", () =>
  Effect.gen(function*() {
    const { drive } = yield* runnerOf((request) =>
      Effect.succeed(TaskResult.withSessionRef(TaskResult.data({ seen: request.sessionRef ?? null }), "ref-1"))
    )
    const outcomes = yield* Effect.all([
      drive(),
      drive(startOf({}, { taskId: "t2" })),
      drive(startOf({}, { taskId: "t3", contextId: "c2" }))
    ])
    expect(outcomes.map(({ parts }) => parts)).toEqual([
      [data({ seen: null })],
      [data({ seen: "ref-1" })],
      [data({ seen: null })]
    ])
  }))

it.scoped("B-TASK-14: a request is frozen and a copy of its own", () =>
  Effect.gen(function*() {
    const requests: Array<TaskRequest<Kiln>> = []
    const { drive } = yield* runnerOf((request) => {
      requests.push(request)
      return Effect.succeed(TaskResult.text("done"))
    })
    const start = startOf({
      parts: [{ kind: "data", data: { list: [1] } }],
      metadata: { ticket: { id: "K-9" } }
    }, { history: [{ messageId: "m0", role: "user", parts: [{ kind: "data", data: { list: [0] } }] }] })
    const before = JSON.stringify(start)
    yield* drive(start)
    const [request] = requests as [TaskRequest<Kiln>]
    expect(Object.isFrozen(request)).toBe(true)
    expect(request).toMatchObject({
      taskId: "t1",
      contextId: "c1",
      parts: [data({ list: [1] })],
      history: [{ messageId: "m0" }],
      metadata: { ticket: { id: "K-9" } },
      skills: [{ name: "glaze", description: "Glazes.", skillMd: "# Glaze" }],
      mcpServers: { one: { url: "http://one" }, two: { url: "http://two", headers: undefined } }
    })
    // everything nested may be changed, which its type forbids, and nobody notices
    const mutable = request as any
    mutable.parts[0].data.list.push(2)
    mutable.history[0].parts[0].data.list.push(2)
    mutable.message.parts[0].data.list.push(3)
    mutable.metadata.ticket.id = "changed"
    mutable.skills[0].name = "changed"
    mutable.mcpServers.one.url = "changed"
    mutable.config.extras.tags.push("changed")
    Object.assign(Redacted.value(mutable.mcpServers.one.headers) as object, { authorization: "changed" })
    expect(JSON.stringify(start)).toBe(before)
    yield* drive(start)
    const [, again] = requests as [unknown, TaskRequest<Kiln>]
    expect(JSON.stringify(again)).not.toContain("changed")
    expect(again.message.parts).toEqual(again.parts)
    expect(Redacted.value(again.mcpServers["one"]!.headers!)).toEqual({ authorization: "hdr-5150" })
  }))

it.scoped("a request that is written down shows no secret", () =>
  Effect.gen(function*() {
    const written = yield* Ref.make("")
    const { drive } = yield* runnerOf(
      (request) =>
        Effect.as(Ref.set(written, JSON.stringify(request) + String(request.config)), TaskResult.text("done")),
      {
        set: { token: "tok-5150" }
      }
    )
    yield* drive()
    expect(yield* Ref.get(written)).toContain("\"taskId\":\"t1\"")
    expect(yield* Ref.get(written)).not.toMatch(/tok-5150|hdr-5150/)
  }))

it.scoped("B-TASK-15: the message's metadata passes through, that of its request does not", () =>
  Effect.gen(function*() {
    const { drive } = yield* runnerOf(({ metadata }) => Effect.succeed(TaskResult.data(metadata)))
    const { parts } = yield* drive(
      startOf({ metadata: { ticket: "K-9", role: "guest" } }, { metadata: { other: true } })
    )
    expect(parts).toEqual([data({ ticket: "K-9", role: "guest" })])
    expect((yield* drive()).parts).toEqual([data({})])
  }))

it.scoped("B-CFG-12: a configured role takes the place of the message's", () =>
  Effect.gen(function*() {
    const { drive } = yield* runnerOf(({ metadata }) => Effect.succeed(TaskResult.data(metadata)), {
      set: { role: "lead" }
    })
    const { parts } = yield* drive(startOf({ metadata: { ticket: "K-9", role: "guest" } }))
    expect(parts).toEqual([data({ ticket: "K-9", role: "lead" })])
  }))

it.scoped("B-CFG-6: the task gets the real secret", () =>
  Effect.gen(function*() {
    const { drive } = yield* runnerOf(({ config }) => Effect.succeed(TaskResult.text(Redacted.value(config.token))), {
      set: { token: "tok-5150" }
    })
    expect((yield* drive()).parts).toEqual([{ kind: "text", text: "tok-5150" }])
  }))
