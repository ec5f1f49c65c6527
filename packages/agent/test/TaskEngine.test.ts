import * as TaskEngine from "@effect-agentenv/agent/TaskEngine"
import * as TaskStore from "@effect-agentenv/agent/TaskStore"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, TestClock } from "effect"
import { drainOf, endsOf, memory, message, said, settle, start, text, wordOf } from "./taskSupport.ts"

const echo = (from: TaskEngine.Start) => Effect.succeed(wordOf(from))

describe("a message", () => {
  it.scoped("B-TASK-2: is answered with the submitted task at once when nobody waits, and the end is read later", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const { engine } = yield* start({ run: () => Effect.as(Deferred.await(go), "done") })
      const sent = yield* engine.send(message("go"), { blocking: false })
      expect(sent.status).toEqual({ state: "submitted" })
      expect(sent.history).toMatchObject([{ parts: [text("go")], taskId: sent.id, contextId: sent.contextId }])
      yield* TestClock.adjust("1 second")
      expect((yield* engine.get(sent.id)).status).toEqual({ state: "working", at: 0 })
      yield* Deferred.succeed(go, undefined)
      yield* TestClock.adjust("1 second")
      const ended = yield* engine.get(sent.id)
      expect([ended.status.state, said(ended.status.message?.parts)]).toEqual(["completed", "done"])
    }))

  it.scoped("is answered with the end by default", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({ run: echo })
      const task = yield* engine.send(message("go", { contextId: "c" }))
      expect(task.contextId).toBe("c")
      expect(task.status).toMatchObject({
        state: "completed",
        at: 0,
        message: { role: "agent", parts: [text("go")], taskId: task.id, contextId: "c" }
      })
      expect(yield* engine.get(task.id)).toEqual(task)
    }))

  it.scoped("A-4: an answer is a copy that no later event changes", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (_, emit) =>
          emit.artifact({ artifactId: "a", parts: [text("1")] }).pipe(
            Effect.zipRight(emit.status([text("half")], { metadata: { n: 1 } })),
            Effect.zipRight(emit.artifact({ artifactId: "a", parts: [text("2")] }, { append: true })),
            Effect.zipRight(Effect.fail("no"))
          )
      })
      const sent = yield* engine.send(message("go"), { blocking: false })
      const before = structuredClone(sent)
      const subscription = yield* engine.resubscribe(sent.id)
      const batch = yield* subscription.next
      const halfway = yield* engine.get(sent.id)
      const copy = structuredClone(halfway)
      yield* drainOf(subscription)
      expect((yield* engine.get(sent.id)).status.state).toBe("failed")
      expect(batch).toBeDefined()
      expect(sent).toEqual(before)
      expect(sent.status.state).toBe("submitted")
      expect(halfway).toEqual(copy)
    }))

  it.scoped("says nothing that its author changes afterwards", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (_, emit) => {
          const parts = [text("1")]
          const metadata = { n: 1 }
          return Effect.as(
            Effect.zipRight(emit.status(parts, { metadata }), emit.artifact({ artifactId: "a", parts })).pipe(
              Effect.tap(() => {
                parts.push(text("2"))
                metadata.n = 2
              })
            ),
            "done"
          )
        }
      })
      const task = yield* engine.send(message("go"))
      expect([task.history[1]?.parts, task.artifacts[0]?.parts, task.metadata]).toEqual([[text("1")], [text("1")], {
        n: 1
      }])
    }))

  it.scoped("is history, with all that was said since, as far back as is asked for", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (_, emit) => Effect.as(Effect.forEach(["1", "2", "3"], (n) => emit.status([text(n)])), "done")
      })
      const task = yield* engine.send(message("go"))
      const words = (historyLength?: number) =>
        Effect.map(engine.get(task.id, { historyLength }), ({ history }) => history.map(({ parts }) => said(parts)))
      expect(yield* words()).toEqual(["go", "1", "2", "3"])
      expect(yield* words(2)).toEqual(["2", "3"])
      expect(yield* words(9)).toEqual(["go", "1", "2", "3"])
      expect(yield* words(0)).toEqual([])
      expect(yield* words(-1)).toEqual([])
      expect((yield* engine.send(message("go"), { historyLength: 1 })).history).toHaveLength(1)
    }))

  it.scoped("merges the metadata of what is said, whatever its keys", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (_, emit) =>
          Effect.as(
            Effect.zipRight(
              emit.status([text("1")], { metadata: JSON.parse(`{"__proto__":{"polluted":true},"a":1}`) }),
              emit.status([text("2")], { metadata: { a: 2, b: 3 } })
            ),
            "done"
          )
      })
      const { metadata } = yield* engine.send(message("go"), { metadata: { of: "the request" } })
      expect(JSON.stringify(metadata)).toBe(`{"__proto__":{"polluted":true},"a":2,"b":3}`)
      expect(metadata?.["polluted"]).toBeUndefined()
    }))

  it.scoped("keeps what is said of a message with it, and off the task", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (_, emit) => {
          const messageMetadata: Record<string, unknown> = JSON.parse(`{"__proto__":1,"n":1}`)
          return Effect.gen(function*() {
            yield* emit.status([text("1")], { messageMetadata })
            messageMetadata["n"] = 2
            yield* emit.status([], { metadata: { e: 1 }, messageMetadata })
            yield* emit.status([])
            return "done"
          })
        },
        settle: () => Effect.succeed({ state: "completed", parts: [text("done")], messageMetadata: { sure: true } })
      })
      const { history, metadata, status } = yield* engine.send(message("go"))
      expect(history.slice(1).map(({ metadata, parts }) => [JSON.stringify(metadata), parts])).toEqual([
        [`{"__proto__":1,"n":1}`, [text("1")]],
        [`{"__proto__":1,"n":2}`, []]
      ])
      expect(status.message).toMatchObject({ parts: [text("done")], metadata: { sure: true } })
      expect(metadata).toEqual({ e: 1 })
    }))

  it.scoped("keeps an artifact's metadata with it, to which pieces add, and an event's nowhere", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (_, emit) =>
          Effect.gen(function*() {
            const own: Record<string, unknown> = JSON.parse(`{"__proto__":1,"n":1}`)
            const parts = [text("x")]
            yield* emit.artifact({ artifactId: "a", parts, metadata: own }, { metadata: { e: 1 } })
            own["n"] = 2
            yield* emit.artifact({ artifactId: "a", parts }, { append: true })
            yield* emit.artifact({ artifactId: "a", parts, metadata: { n: 3, m: 4 } }, { append: true })
            yield* emit.artifact({ artifactId: "b", parts }, { append: true })
            yield* emit.artifact({ artifactId: "b", parts, metadata: { n: 5 } }, { append: true })
            yield* emit.artifact({ artifactId: "c", parts, metadata: { n: 6 } })
            yield* emit.artifact({ artifactId: "c", parts })
            return "done"
          })
      })
      const subscription = yield* engine.stream(message("go"))
      const events = yield* drainOf(subscription)
      const pieces = events.flatMap(({ event }) => event._tag === "ArtifactUpdate" ? [event] : [])
      expect(pieces.map(({ artifact }) => JSON.stringify(artifact.metadata))).toEqual([
        `{"__proto__":1,"n":1}`,
        undefined,
        `{"n":3,"m":4}`,
        undefined,
        `{"n":5}`,
        `{"n":6}`,
        undefined
      ])
      expect(pieces.map(({ metadata }) => metadata)).toEqual([{ e: 1 }, ...Array(6).fill(undefined)])
      const { artifacts, metadata } = yield* engine.get(subscription.snapshot.id)
      expect(artifacts.map(({ metadata, parts }) => [parts.length, JSON.stringify(metadata)])).toEqual([
        [3, `{"__proto__":1,"n":3,"m":4}`],
        [2, `{"n":5}`],
        [1, undefined]
      ])
      expect(metadata).toBeUndefined()
    }))

  it.scoped("runs with what it carries", () =>
    Effect.gen(function*() {
      const seen: Array<TaskEngine.Start> = []
      const { engine } = yield* start({ run: (from) => Effect.sync(() => String(seen.push(from))) })
      const task = yield* engine.send(message("go", { metadata: { m: 1 } }), { metadata: { r: 1 } })
      expect(seen).toMatchObject([{
        taskId: task.id,
        contextId: task.contextId,
        history: [],
        metadata: { r: 1 },
        message: { metadata: { m: 1 }, taskId: task.id, contextId: task.contextId }
      }])
    }))

  it.scoped("B-TASK-17: runs once, however it ends", () =>
    Effect.gen(function*() {
      let runs = 0
      const { engine } = yield* start({
        run: (from) =>
          Effect.zipRight(Effect.sync(() => runs++), wordOf(from) === "die" ? Effect.die("x") : Effect.fail("x"))
      })
      expect((yield* engine.send(message("fail"))).status.state).toBe("failed")
      expect((yield* engine.send(message("die"))).status.state).toBe("failed")
      yield* TestClock.adjust("1 day")
      expect(runs).toBe(2)
    }))

  it.scoped("starts the same run again at most once when it comes again, if it is asked for", () =>
    Effect.gen(function*() {
      let runs = 0
      const { engine, store } = yield* start({
        idempotent: true,
        run: (from) => Effect.sync(() => (runs++, wordOf(from) === "ask" ? "?" : "done"))
      })
      const go = message("go", { contextId: "c" })
      const all = yield* Effect.all([engine.send(go), engine.send(go), engine.send(go, { blocking: false })], {
        concurrency: "unbounded"
      })
      expect(new Set(all.map(({ id }) => id)).size).toBe(1)
      expect((yield* drainOf(yield* engine.stream(go))).length).toBe(0)
      expect(runs).toBe(1)
      expect((yield* engine.send({ ...go, contextId: "d" })).id).not.toBe(all[0].id)
      const homeless = message("go")
      expect((yield* engine.send(homeless)).id).not.toBe((yield* engine.send(homeless)).id)
      const asking = yield* engine.send(message("ask", { contextId: "c" }))
      const answer = message("answer", { taskId: asking.id })
      const answered = yield* engine.send(answer)
      expect(yield* engine.send(answer)).toEqual(answered)
      expect(yield* engine.send({ ...answer, contextId: "c" })).toEqual(answered)
      expect(runs).toBe(6)
      expect((yield* store.list({ limit: 99 })).length).toBe(5)
    }))

  it.scoped("starts another run when the task that it started is gone, or was never taken", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let broken = true
      const { engine } = yield* start({
        idempotent: true,
        store: {
          ...store,
          append: (...args) =>
            broken
              ? Effect.fail(new TaskStore.TaskStoreError({ operation: "append", cause: "down" }))
              : store.append(...args)
        },
        run: echo
      })
      const go = message("go", { contextId: "c" })
      expect((yield* Effect.flip(engine.send(go)))._tag).toBe("TaskStoreError")
      broken = false
      const first = yield* engine.send(go)
      yield* TestClock.adjust("1 hour")
      const second = yield* engine.send(go)
      expect(second.id).not.toBe(first.id)
      expect(second.status.state).toBe("completed")
    }))
})

describe("a context", () => {
  it.scoped("B-TASK-13: runs its tasks one at a time in the order they came, beside other contexts", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const { engine } = yield* start({
        run: (from) =>
          Effect.gen(function*() {
            log.push(`+${wordOf(from)}`)
            yield* Effect.sleep("1 second")
            log.push(`-${wordOf(from)}`)
            return "done"
          })
      })
      for (const word of ["a1", "a2", "b1", "a3"]) {
        yield* engine.send(message(word, { contextId: word.slice(0, 1) }), { blocking: false })
      }
      yield* TestClock.adjust("3 seconds")
      expect(log.filter((line) => line.includes("a"))).toEqual(["+a1", "-a1", "+a2", "-a2", "+a3", "-a3"])
      expect(log.indexOf("+b1")).toBeLessThan(log.indexOf("-a1"))
    }))

  it.scoped("B-TASK-13: gives the turn on only when the end of the run is settled", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const { engine } = yield* start({
        run: (from) => Effect.as(Effect.sync(() => log.push(`run ${wordOf(from)}`)), "done"),
        settle: (from, exit) =>
          Effect.sleep("1 second").pipe(
            Effect.zipRight(Effect.sync(() => log.push(`settled ${wordOf(from)}`))),
            Effect.zipRight(settle(from, exit))
          )
      })
      yield* engine.send(message("1", { contextId: "c" }), { blocking: false })
      yield* engine.send(message("2", { contextId: "c" }), { blocking: false })
      yield* TestClock.adjust("5 seconds")
      expect(log).toEqual(["run 1", "settled 1", "run 2", "settled 2"])
    }))

  it.scoped("refuses more tasks than may wait, and takes more when one has gone", () =>
    Effect.gen(function*() {
      const { engine, store } = yield* start({ maxQueuedPerContext: 2, maxContexts: 2, run: () => Effect.never })
      const send = (contextId: string) => engine.send(message("go", { contextId }), { blocking: false })
      const first = yield* send("c")
      yield* send("c")
      yield* send("c")
      expect(yield* Effect.flip(send("c"))).toEqual(new TaskEngine.TaskBusy({ reason: "queue" }))
      yield* send("d")
      expect(yield* Effect.flip(send("e"))).toEqual(new TaskEngine.TaskBusy({ reason: "queue" }))
      yield* engine.cancel(first.id)
      yield* send("c")
      expect((yield* store.list({ limit: 99 })).length).toBe(5)
    }))

  it.scoped("is forgotten when nothing of it runs: so many contexts may come one after the other", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({ maxContexts: 1, run: echo })
      for (let i = 0; i < 100; i++) {
        const task = yield* engine.send(message("go"))
        expect(task.status.state).toBe("completed")
        yield* Effect.yieldNow()
      }
    }))
})

describe("a message of a task", () => {
  const asking = (from: TaskEngine.Start) =>
    Effect.succeed(
      wordOf(from) === "ask" ? "?name" : `${from.history.map(({ parts }) => said(parts)).join(",")};${wordOf(from)}`
    )

  it.scoped("continues a task that waits for it, with what was said before", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({ run: asking })
      const first = yield* engine.send(message("ask"))
      expect(first.status).toMatchObject({ state: "input-required", message: { parts: [text("?name")] } })
      const second = yield* engine.send(message("Ada", { taskId: first.id }), { blocking: false })
      expect([second.id, second.contextId, second.status]).toEqual([first.id, first.contextId, { state: "submitted" }])
      yield* TestClock.adjust("1 second")
      const third = yield* engine.get(first.id)
      expect(third.status.state).toBe("completed")
      expect(said(third.status.message?.parts)).toBe("ask,?name;Ada")
      expect(third.history.map(({ parts }) => said(parts))).toEqual(["ask", "?name", "Ada"])
      expect(first.status.state).toBe("input-required")
    }))

  it.scoped("A-16: is refused when the task has ended, has another context, runs or is not there", () =>
    Effect.gen(function*() {
      let runs = 0
      const { engine } = yield* start({
        run: (from) =>
          Effect.suspend(() => {
            runs++
            return wordOf(from) === "hang" ? Effect.never : asking(from)
          })
      })
      const done = yield* engine.send(message("go"))
      const waiting = yield* engine.send(message("ask"))
      const hanging = yield* engine.send(message("hang"), { blocking: false })
      const refused = (taskId: string, contextId?: string) =>
        Effect.flip(engine.send(message("more", contextId === undefined ? { taskId } : { taskId, contextId })))
      const over = new TaskEngine.TaskIsTerminal({ taskId: done.id, state: "completed" })
      expect(yield* refused(done.id)).toEqual(over)
      expect(yield* refused(done.id, "other")).toEqual(over)
      expect(yield* refused("none")).toEqual(new TaskEngine.TaskNotFound({ taskId: "none" }))
      expect(yield* refused(waiting.id, "other")).toEqual(
        new TaskEngine.ContextMismatch({ taskId: waiting.id, contextId: "other" })
      )
      expect(yield* refused(hanging.id)).toEqual(new TaskEngine.TaskBusy({ reason: "running" }))
      expect(yield* refused(hanging.id, "other")).toMatchObject({ _tag: "ContextMismatch" })
      expect(runs).toBe(2)
      yield* Effect.yieldNow()
      expect(yield* engine.get(done.id)).toEqual(done)
    }))

  it.scoped("starts one run, though it comes thrice at once, and that run can be canceled", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let stopped = 0
      const { engine } = yield* start({
        store: {
          ...store,
          read: (...args) => Effect.zipRight(Effect.yieldNow(), store.read(...args)),
          append: (...args) => Effect.zipRight(Effect.yieldNow(), store.append(...args))
        },
        run: (from) =>
          wordOf(from) === "ask"
            ? Effect.succeed("?")
            : Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++))
      })
      const first = yield* engine.send(message("ask"))
      const exits = yield* Effect.forEach(
        [1, 2, 3],
        (n) => Effect.exit(engine.send(message(`${n}`, { taskId: first.id }), { blocking: false })),
        { concurrency: "unbounded" }
      )
      expect(exits.filter(Exit.isSuccess).length).toBe(1)
      const journal = (yield* store.read(first.id, 0)) ?? []
      expect(journal.filter(({ _tag }) => _tag === "Continued").length).toBe(1)
      yield* TestClock.adjust("1 second")
      expect((yield* engine.cancel(first.id)).status.state).toBe("canceled")
      expect(stopped).toBe(1)
    }))
})

describe("an engine", () => {
  it.scoped("goes on when the client that sent, streamed or listened leaves", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const { engine } = yield* start({ run: () => Effect.as(Deferred.await(go), "done") })
      const sending = yield* Effect.fork(engine.send(message("1", { contextId: "a" })))
      const subscription = yield* engine.stream(message("2", { contextId: "b" }))
      const listening = yield* Effect.fork(drainOf(subscription))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(sending)
      yield* Fiber.interrupt(listening)
      yield* Deferred.succeed(go, undefined)
      yield* TestClock.adjust("1 second")
      const tasks = yield* engine.list({ limit: 9 })
      expect(tasks.map(({ status }) => status.state)).toEqual(["completed", "completed"])
      expect(endsOf(yield* drainOf(subscription))).toBe(1)
    }))

  it.scoped("lists tasks newest first, by context and state, page by page", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (from) => wordOf(from) === "no" ? Effect.fail("no") : Effect.succeed("yes")
      })
      const sent = yield* Effect.forEach(["yes", "no", "yes", "no", "yes"], (word, i) =>
        engine.send(message(word, { contextId: i < 3 ? "a" : "b" })))
      const ids = (options: Partial<Parameters<TaskEngine.TaskEngine["Type"]["list"]>[0]>) =>
        Effect.map(engine.list({ limit: 9, ...options }), (tasks) =>
          tasks.map(({ id }) =>
            sent.findIndex((t) =>
              t.id === id
            )
          ))
      expect(yield* ids({})).toEqual([4, 3, 2, 1, 0])
      expect(yield* ids({ contextId: "a" })).toEqual([2, 1, 0])
      expect(yield* ids({ state: "failed" })).toEqual([3, 1])
      expect(yield* ids({ state: "failed", limit: 1 })).toEqual([3])
      expect(yield* ids({ state: "failed", limit: 1, before: sent[3]!.id })).toEqual([1])
      expect(yield* ids({ limit: 0 })).toEqual([])
      expect((yield* engine.list({ limit: 1, historyLength: 0 }))[0]?.history).toEqual([])
    }))

  it.scoped("knows nothing of what the store has forgotten", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({ run: echo })
      const task = yield* engine.send(message("go"))
      yield* TestClock.adjust("1 hour")
      const gone = new TaskEngine.TaskNotFound({ taskId: task.id })
      expect(yield* Effect.flip(engine.get(task.id))).toEqual(gone)
      expect(yield* Effect.flip(engine.cancel(task.id))).toEqual(gone)
      expect(yield* Effect.flip(engine.resubscribe(task.id))).toEqual(gone)
    }))

  it.scoped("tells the runner of a task that is in the store, before anybody knows of it; if that dies, so does the run", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      const log: Array<string> = []
      const { engine } = yield* start({
        store,
        submitted: (from) =>
          Effect.flatMap(Effect.orDie(store.read(from.taskId, 0)), (journal) => {
            log.push(`submitted ${journal?.length}`)
            return wordOf(from) === "die" ? Effect.die("no") : Effect.void
          }),
        run: () => Effect.sync(() => (log.push("run"), "done"))
      })
      yield* engine.send(message("go"), { blocking: false })
      expect(log).toEqual(["submitted 1"])
      yield* TestClock.adjust("1 second")
      expect((yield* engine.send(message("die"))).status.state).toBe("failed")
      expect(log).toEqual(["submitted 1", "run", "submitted 1"])
    }))

  it.effect("is a layer that is made of a runner and a store", () =>
    Effect.gen(function*() {
      const engine = yield* TaskEngine.TaskEngine
      expect((yield* engine.send(message("go"))).status.state).toBe("completed")
    }).pipe(
      Effect.provide(
        TaskEngine.layer(Effect.succeed({ run: echo, settle })).pipe(Layer.provide(TaskStore.layerMemory()))
      )
    ))
})
