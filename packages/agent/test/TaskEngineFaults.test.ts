import * as TaskEngine from "@effect-agentenv/agent/TaskEngine"
import * as TaskStore from "@effect-agentenv/agent/TaskStore"
import type { A2a } from "@effect-agentenv/protocol"
import { describe, expect, it } from "@effect/vitest"
import {
  Array as Arr,
  Deferred,
  Effect,
  Exit,
  FastCheck,
  Fiber,
  Order,
  Random,
  Schedule,
  Scope,
  TestClock
} from "effect"
import { briefly, drainOf, endsOf, logs, memory, message, said, settle, start, text, wordOf } from "./taskSupport.ts"

type Store = TaskStore.TaskStore["Type"]

const down = new TaskStore.TaskStoreError({ operation: "append", cause: "down" })

/** A task as its journal alone has it: what an engine says that begins with this store. */
const reread = (store: Store, taskId: string) =>
  Effect.scoped(Effect.flatMap(
    start({ store: { ...store, unfinished: Effect.succeed([]) }, run: () => Effect.never }),
    ({ engine }) => engine.get(taskId)
  ))

describe("a run", () => {
  it.scoped("B-TASK-8: fails with a correlation id when its settling dies, and says nothing of why", () =>
    Effect.gen(function*() {
      const { layer, lines } = logs()
      const { engine } = yield* start({
        run: () => Effect.succeed("done"),
        settle: (from) =>
          wordOf(from) === "throw"
            ? (() => {
              throw new TypeError("secret")
            })()
            : Effect.die("secret")
      }).pipe(Effect.provide(layer))
      for (const word of ["die", "throw"]) {
        const { status } = yield* engine.send(message(word, { contextId: "c" }))
        expect(status.state).toBe("failed")
        expect(status.message?.parts).toEqual([{
          kind: "data",
          data: {
            error_type: "infra_error",
            error_code: "framework.unhandled_exception",
            error_message: expect.stringMatching(
              /^An unexpected framework error occurred\. Correlation ID: [0-9a-f]{32}$/
            )
          }
        }])
      }
      expect(lines.length).toBe(2)
    }))

  it.scoped("is heard no more after its end, though something of it goes on", () =>
    Effect.gen(function*() {
      const { engine, store } = yield* start({
        run: (_, emit) =>
          Effect.as(
            Effect.forkDaemon(
              Effect.delay(
                Effect.zipRight(emit.status([text("late")]), emit.artifact({ artifactId: "l", parts: [] })),
                "1 second"
              )
            ),
            "done"
          )
      })
      const task = yield* engine.send(message("go"))
      yield* TestClock.adjust("2 seconds")
      expect(yield* engine.get(task.id)).toEqual(task)
      expect((yield* store.read(task.id, 0))?.length).toBe(3)
    }))

  it.scoped("that throws before it is an effect fails its task", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: () => {
          throw new TypeError("no effect")
        }
      })
      expect((yield* engine.send(message("go"))).status.state).toBe("failed")
    }))
})

describe("a store that fails", () => {
  const failing = (store: Store, fails: () => boolean): Store => ({
    ...store,
    append: (...args) => Effect.suspend(() => fails() ? Effect.fail(down) : store.append(...args))
  })

  it.scoped("is tried again, so that nothing is lost or doubled", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let calls = 0
      const { engine } = yield* start({
        store: failing(store, () => calls++ % 3 !== 0),
        run: (_, emit) => Effect.as(Effect.forEach(["1", "2", "3"], (n) => emit.status([text(n)])), "done")
      })
      const subscription = yield* engine.stream(message("go"))
      const listening = yield* Effect.fork(drainOf(subscription))
      yield* TestClock.adjust("1 minute")
      expect((yield* Fiber.join(listening)).map(briefly)).toEqual([
        "2 working",
        "3 working 1",
        "4 working 2",
        "5 working 3",
        "6 completed done!"
      ])
      expect(yield* reread(store, subscription.snapshot.id)).toEqual(yield* engine.get(subscription.snapshot.id))
    }))

  it.scoped("refuses a message, which then has left nothing behind", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let broken = false
      const { engine } = yield* start({
        maxContexts: 1,
        store: failing(store, () => broken),
        run: (from) => Effect.succeed(wordOf(from))
      })
      const waiting = yield* engine.send(message("?"))
      broken = true
      expect(yield* Effect.flip(engine.send(message("go")))).toEqual(down)
      expect(yield* Effect.flip(engine.send(message("go", { taskId: waiting.id })))).toEqual(down)
      const canceling = yield* Effect.fork(Effect.flip(engine.cancel(waiting.id)))
      yield* TestClock.adjust("12 seconds")
      expect(yield* Fiber.join(canceling)).toEqual(down)
      broken = false
      expect((yield* engine.send(message("go"))).status.state).toBe("completed")
      expect((yield* engine.get(waiting.id)).status.state).toBe("input-required")
      expect((yield* engine.send(message("go", { taskId: waiting.id }))).status.state).toBe("completed")
      expect((yield* store.list({ limit: 9 })).length).toBe(2)
    }))

  it.scoped("for good ends the run, and whoever waits hears of the end all the same", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      const { layer, lines } = logs()
      let broken = false
      const { engine } = yield* start({
        storeRetry: Schedule.recurs(2),
        store: failing(store, () => broken),
        run: (from, emit) => {
          if (wordOf(from) === "next") return Effect.succeed("done")
          broken = true
          return Effect.as(emit.status([text("1")]), "done")
        }
      }).pipe(Effect.provide(layer))
      const subscription = yield* engine.stream(message("go", { contextId: "c" }))
      expect((yield* drainOf(subscription)).map(briefly)).toEqual(["2 working", "3 failed failed!"])
      expect(lines).toEqual(["The end of a task could not be stored"])
      broken = false
      expect((yield* engine.send(message("next", { contextId: "c" }))).status.state).toBe("completed")
    }))

  it.scoped("does not stop a cancel", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let broken = false
      const { engine } = yield* start({
        store: failing(store, () => broken),
        run: (_, emit) => Effect.forever(Effect.zipRight(emit.status([text("x")]), Effect.sleep("1 second")))
      })
      const sent = yield* engine.send(message("go"), { blocking: false })
      yield* TestClock.adjust("3 seconds")
      broken = true
      yield* TestClock.adjust("2 seconds")
      const canceling = yield* Effect.fork(engine.cancel(sent.id))
      yield* TestClock.adjust("3 seconds")
      broken = false
      yield* TestClock.adjust("10 seconds")
      expect((yield* Fiber.join(canceling)).status.state).toBe("canceled")
      expect(yield* reread(store, sent.id)).toEqual(yield* engine.get(sent.id))
    }))

  it.scoped("or dies, refuses a cancel and a message, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let broken = false
      const { engine } = yield* start({
        store: { ...store, append: (...args) => broken ? Effect.die("broken") : store.append(...args) },
        run: (from) => Effect.succeed(wordOf(from))
      })
      const waiting = yield* engine.send(message("?"))
      broken = true
      expect(yield* Effect.flip(engine.cancel(waiting.id))).toMatchObject({ _tag: "TaskStoreError", cause: "broken" })
      expect(Exit.isFailure(yield* Effect.exit(engine.send(message("go", { taskId: waiting.id }))))).toBe(true)
      broken = false
      expect((yield* engine.cancel(waiting.id)).status.state).toBe("canceled")
    }))

  it.scoped("while a slow reader reads is tried again", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let calls = 0
      const { engine } = yield* start({
        store: { ...store, read: (...args) => calls++ % 2 === 0 ? Effect.fail(down) : store.read(...args) },
        run: (_, emit) => Effect.as(Effect.forEach(Array.from({ length: 500 }), () => emit.status([text("x")])), "done")
      })
      const subscription = yield* engine.stream(message("go"))
      yield* engine.send(message("other"))
      const listening = yield* Effect.fork(drainOf(subscription))
      yield* TestClock.adjust("1 minute")
      expect((yield* Fiber.join(listening)).length).toBe(502)
    }))
})

describe("a journal that others write too", () => {
  const shout = (n: number): TaskStore.Entry => ({
    _tag: "Status",
    state: "working",
    at: 0,
    message: { messageId: `x-${n}`, role: "agent", parts: [text(`other ${n}`)] }
  })

  it.scoped("is caught up with: everybody's events are told once, in the order of the journal", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let n = 0
      const { engine } = yield* start({
        store: {
          ...store,
          append: (taskId, expected, entries) =>
            expected > 0 && n++ % 2 === 0
              ? Effect.zipRight(store.append(taskId, expected, [shout(n)]), store.append(taskId, expected, entries))
              : store.append(taskId, expected, entries)
        },
        run: (_, emit) => Effect.as(Effect.forEach(["1", "2"], (n) => emit.status([text(n)])), "done")
      })
      const subscription = yield* engine.stream(message("go"))
      const events = yield* drainOf(subscription)
      expect(events.map(briefly).map((line) => line.replace(/other \d+/, "other"))).toEqual([
        "2 working other",
        "3 working",
        "4 working other",
        "5 working 1",
        "6 working other",
        "7 working 2",
        "8 working other",
        "9 completed done!"
      ])
      expect(yield* reread(store, subscription.snapshot.id)).toEqual(yield* engine.get(subscription.snapshot.id))
    }))

  it.scoped("and end is over: the run is stopped and its result comes too late", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let stopped = false
      const { engine } = yield* start({
        store,
        run: (_, emit) =>
          Effect.forever(Effect.zipRight(Effect.sleep("1 second"), emit.status([text("x")]))).pipe(
            Effect.onInterrupt(() => Effect.sync(() => stopped = true))
          )
      })
      const subscription = yield* engine.stream(message("go", { contextId: "c" }))
      const id = subscription.snapshot.id
      yield* TestClock.adjust("500 millis")
      yield* store.append(id, 2, [{ _tag: "Status", state: "rejected", at: 5 }])
      yield* TestClock.adjust("1 second")
      expect(stopped).toBe(true)
      expect((yield* drainOf(subscription)).map(briefly)).toEqual(["2 working", "3 rejected!"])
      expect((yield* engine.get(id)).status).toEqual({ state: "rejected", at: 5 })
      expect((yield* Effect.flip(engine.cancel(id)))._tag).toBe("TaskNotCancelable")
    }))

  it.scoped("and end while it is being canceled frees its context all the same", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let others = 1
      const { engine } = yield* start({
        store: {
          ...store,
          append: (taskId, expected, entries) =>
            expected === 2 && others-- > 0
              ? Effect.delay(store.append(taskId, expected, [{ _tag: "Status", state: "rejected", at: 5 }]), "1 second")
                .pipe(
                  Effect.zipRight(store.append(taskId, expected, entries))
                )
              : store.append(taskId, expected, entries)
        },
        run: (from, emit) =>
          wordOf(from) === "next" ? Effect.never : Effect.zipRight(emit.status([text("1")]), Effect.never)
      })
      const sent = yield* engine.send(message("go", { contextId: "c" }), { blocking: false })
      const next = yield* engine.send(message("next", { contextId: "c" }), { blocking: false })
      yield* TestClock.adjust("500 millis")
      const canceling = yield* Effect.fork(Effect.flip(engine.cancel(sent.id)))
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(canceling)).toMatchObject({ _tag: "TaskNotCancelable", state: "rejected" })
      expect((yield* engine.get(next.id)).status.state).toBe("working")
    }))

  it.scoped("and lose is not waited for", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      let gone = false
      const { engine } = yield* start({
        storeRetry: Schedule.recurs(1),
        store: {
          ...store,
          append: (taskId, expected, entries) =>
            gone
              ? Effect.fail(new TaskStore.VersionConflict({ taskId, actual: 0 }))
              : store.append(taskId, expected, entries),
          read: (...args) => Effect.map(store.read(...args), (journal) => gone ? undefined : journal)
        },
        run: (_, emit) => Effect.suspend(() => (gone = true, Effect.as(emit.status([text("x")]), "done")))
      })
      const events = yield* Effect.flatMap(engine.stream(message("go")), drainOf)
      expect(endsOf(events)).toBe(1)
    }))
})

describe("an engine that starts", () => {
  it.scoped("fails what a former one left running, and leaves what waits for its caller", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      const before = yield* Scope.make()
      const old = yield* Effect.provideService(
        start({ store, run: (from) => wordOf(from) === "hang" ? Effect.never : Effect.succeed("?") }),
        Scope.Scope,
        before
      )
      const hanging = yield* old.engine.send(message("hang", { contextId: "c" }), { blocking: false })
      const queued = yield* old.engine.send(message("hang", { contextId: "c" }), { blocking: false })
      const waiting = yield* old.engine.send(message("ask"))
      yield* TestClock.adjust("5 seconds")
      const { engine } = yield* start({ store, run: (from) => Effect.succeed(wordOf(from)) })
      for (const { id } of [hanging, queued]) {
        const { status } = yield* engine.get(id)
        expect([status.state, status.at]).toEqual(["failed", 5000])
        expect(status.message?.parts).toEqual([{
          kind: "data",
          data: {
            error_type: "infra_error",
            error_code: "framework.restarted",
            error_message: "The server stopped while the task ran."
          }
        }])
      }
      expect((yield* engine.send(message("done", { taskId: waiting.id }))).status.state).toBe("completed")
      yield* Scope.close(before, Exit.void)
      expect((yield* engine.get(hanging.id)).status.state).toBe("failed")
    }))

  it.scoped("fails to when the store can't be read", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      const error = yield* Effect.flip(
        start({ store: { ...store, unfinished: Effect.fail(down) }, run: () => Effect.never })
      )
      expect(error).toEqual(down)
    }))
})

describe("draining", () => {
  it.scoped("ends every task that runs or waits as canceled, its listeners too, and takes no more", () =>
    Effect.gen(function*() {
      const settled: Array<string> = []
      const { engine } = yield* start({
        run: (from) =>
          wordOf(from) === "deaf"
            ? Effect.uninterruptible(Effect.sleep("1 hour")).pipe(Effect.as("late"))
            : wordOf(from) === "ask"
            ? Effect.succeed("?")
            : Effect.never,
        settle: (from, exit) => Effect.zipRight(Effect.sync(() => settled.push(wordOf(from))), settle(from, exit))
      })
      const asking = yield* engine.send(message("ask"))
      const subscription = yield* engine.stream(message("1", { contextId: "c" }))
      const queued = yield* engine.send(message("2", { contextId: "c" }), { blocking: false })
      const deaf = yield* engine.send(message("deaf"), { blocking: false })
      const blocking = yield* Effect.fork(engine.send(message("3")))
      yield* TestClock.adjust("1 second")
      const draining = yield* Effect.fork(Effect.all([engine.drain, engine.drain], { concurrency: 2 }))
      yield* TestClock.adjust("1 second")
      const busy = new TaskEngine.TaskBusy({ reason: "closing" })
      expect(yield* Effect.flip(engine.send(message("new")))).toEqual(busy)
      expect(yield* Effect.flip(engine.stream(message("new", { taskId: asking.id })))).toEqual(busy)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(draining)
      expect((yield* Fiber.join(blocking)).status.state).toBe("canceled")
      expect(endsOf(yield* drainOf(subscription))).toBe(1)
      const states = yield* Effect.forEach([queued, deaf, asking], ({ id }) => engine.get(id))
      expect(states.map(({ status }) => status.state)).toEqual(["canceled", "canceled", "input-required"])
      expect(Arr.sort(settled, Order.string)).toEqual(["1", "2", "3", "ask", "deaf"])
    }))

  it.scoped("waits for a task that is being stored", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      const go = yield* Deferred.make<void>()
      let ran = false
      const { engine } = yield* start({
        store: { ...store, append: (...args) => Effect.zipRight(Deferred.await(go), store.append(...args)) },
        run: () => Effect.sync(() => (ran = true, "done"))
      })
      const sending = yield* Effect.fork(engine.send(message("go")))
      yield* TestClock.adjust("1 second")
      const draining = yield* Effect.fork(engine.drain)
      yield* TestClock.adjust("10 seconds")
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(draining)
      expect((yield* Fiber.join(sending)).status.state).toBe("canceled")
      expect(ran).toBe(false)
    }))

  it.scoped("is what the scope does when it closes", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      const scope = yield* Scope.make()
      const { engine } = yield* Effect.provideService(start({ store, run: () => Effect.never }), Scope.Scope, scope)
      const sent = yield* engine.send(message("go"), { blocking: false })
      yield* Scope.close(scope, Exit.void)
      expect((yield* reread(store, sent.id)).status.state).toBe("canceled")
    }))
})

describe("what happens to tasks, in whatever order", () => {
  type Step = "status" | "artifact" | "append" | "yield"

  const plan = FastCheck.record({
    steps: FastCheck.array(FastCheck.constantFrom<Step>("status", "artifact", "append", "yield"), { maxLength: 40 }),
    outcome: FastCheck.constantFrom("done", "?", "fail", "die"),
    cancelAfter: FastCheck.option(FastCheck.nat(40), { nil: undefined }),
    listenAfter: FastCheck.array(FastCheck.nat(30), { maxLength: 3 }),
    seed: FastCheck.nat()
  })

  /** Slow, failing now and then, and shared with somebody who writes too. */
  const moody = (store: Store): Store => {
    const pause = Effect.flatMap(
      Random.nextIntBetween(0, 3),
      (n) => n === 0 ? Effect.void : Effect.repeatN(Effect.yieldNow(), n)
    )
    return {
      ...store,
      read: (...args) => Effect.zipRight(pause, store.read(...args)),
      append: (taskId, expected, entries) =>
        Effect.gen(function*() {
          yield* pause
          const mood = expected === 0 ? 9 : yield* Random.nextIntBetween(0, 10)
          if (mood === 0) return yield* down
          if (mood === 1) {
            const entry: TaskStore.Entry = { _tag: "Status", state: "working", at: 0 }
            yield* Effect.ignore(store.append(taskId, expected, [entry]))
          }
          const version = yield* store.append(taskId, expected, entries)
          yield* pause
          return version
        })
    }
  }

  it.scoped.prop(
    "everybody hears the same, once, in order, with one end; and the journal comes to what is read",
    [plan],
    ([{ cancelAfter, listenAfter, outcome, seed, steps }]) =>
      Effect.gen(function*() {
        const store = yield* memory()
        const { engine } = yield* start({
          store: moody(store),
          storeRetry: Schedule.recurs(20),
          run: (_, emit) =>
            Effect.zipRight(
              Effect.forEach(steps, (step, i): Effect.Effect<void> => {
                switch (step) {
                  case "status":
                    return emit.status([text(`${i}`)], { metadata: { [`k${i % 3}`]: i } })
                  case "artifact":
                    return emit.artifact({ artifactId: `a${i % 2}`, parts: [text(`${i}`)] })
                  case "append":
                    return emit.artifact({ artifactId: `a${i % 2}`, parts: [text(`${i}`)] }, { append: true })
                  case "yield":
                    return Effect.yieldNow()
                }
              }, { concurrency: 2 }),
              outcome === "fail" ? Effect.fail("no") : outcome === "die" ? Effect.die("no") : Effect.succeed(outcome)
            )
        })
        const first = yield* engine.stream(message("go"))
        const id = first.snapshot.id
        const after = (steps: number) => Effect.repeatN(Effect.yieldNow(), steps)
        const listeners = yield* Effect.fork(Effect.all([
          drainOf(first),
          ...listenAfter.map((n) =>
            Effect.zipRight(after(n), engine.resubscribe(id, n % 2 === 0 ? { from: 1 } : {})).pipe(
              Effect.flatMap(drainOf),
              Effect.catchTag("TaskIsTerminal", () => Effect.succeed([]))
            )
          )
        ], { concurrency: "unbounded" }))
        const cancel = cancelAfter === undefined
          ? undefined
          : yield* Effect.exit(Effect.zipRight(after(cancelAfter), engine.cancel(id)))
        const heard = yield* Fiber.join(listeners)
        const task = yield* engine.get(id)
        const all = heard[0] ?? []
        expect(all[0]?.version).toBe(2)
        const told = new Map<number, A2a.TaskEvent>()
        for (const events of heard.filter((events) => events.length > 0)) {
          expect(events.map(({ version }) => version)).toEqual(events.map((_, i) => (events[0]?.version ?? 0) + i))
          expect(endsOf(events)).toBe(1)
          expect(events.at(-1)?.event).toMatchObject({ final: true })
          for (const { event, version } of events) {
            expect(event).toEqual(told.get(version) ?? event)
            told.set(version, event)
          }
        }
        const journal = (yield* store.read(id, 0)) ?? []
        // The cancel of a task that waits for its caller comes after the stream of its run.
        const unheard = journal.length - 1 - all.length
        if (outcome === "?" && cancel !== undefined && Exit.isSuccess(cancel)) expect(unheard).toBeGreaterThanOrEqual(0)
        else expect(unheard).toBe(0)
        expect(yield* reread(store, id)).toEqual(task)
        if (cancel === undefined) expect(said(task.status.message?.parts)).toMatch(/^(done|\?|failed)$/)
        else if (Exit.isSuccess(cancel)) expect(task.status.state).toBe("canceled" satisfies A2a.TaskState)
      }).pipe(Effect.withRandom(Random.make(seed))),
    { fastCheck: { numRuns: 150 } }
  )
})
