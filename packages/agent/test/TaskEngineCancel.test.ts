import * as TaskEngine from "@effect-agentenv/agent/TaskEngine"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import { briefly, drainOf, endsOf, logs, memory, message, said, settle, start, text, wordOf } from "./taskSupport.ts"

const notCancelable = (taskId: string, state: string) => new TaskEngine.TaskNotCancelable({ taskId, state })

const send = (engine: TaskEngine.TaskEngine["Type"], word: string, contextId = "c") =>
  engine.send(message(word, { contextId }), { blocking: false })

describe("a cancel", () => {
  it.scoped("A-7, B-TASK-18: stops the run, which may clean up, frees its context and stays", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      let ticks = 0
      const { engine } = yield* start({
        run: (from) =>
          wordOf(from) === "next" ? Effect.succeed("done") : Effect.forever(
            Effect.zipRight(Effect.sleep("50 millis"), Effect.sync(() => ticks++))
          ).pipe(Effect.onInterrupt(() => Effect.sync(() => log.push("cleaned up"))))
      })
      const sent = yield* send(engine, "tick")
      const next = yield* send(engine, "next")
      const subscription = yield* engine.resubscribe(sent.id)
      yield* TestClock.adjust("500 millis")
      const counted = ticks
      expect(counted).toBe(10)
      const canceled = yield* engine.cancel(sent.id)
      expect(canceled.status).toEqual({ state: "canceled", at: 500 })
      expect(log).toEqual(["cleaned up"])
      yield* TestClock.adjust("1 second")
      expect(ticks).toBe(counted)
      expect(yield* engine.get(sent.id)).toEqual(canceled)
      expect((yield* engine.get(next.id)).status.state).toBe("completed")
      expect(endsOf(yield* drainOf(subscription))).toBe(1)
    }))

  it.scoped("A-6: writes its end once, for a run that ignores it too, after a while that is bounded", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      const { layer, lines } = logs()
      const release = yield* Deferred.make<void>()
      const settled: Array<string> = []
      const { engine } = yield* start({
        store,
        run: (from, emit) =>
          wordOf(from) === "next" ? Effect.succeed("done") : Effect.uninterruptible(
            Deferred.await(release).pipe(
              Effect.zipRight(emit.status([text("late")])),
              Effect.zipRight(emit.artifact({ artifactId: "late", parts: [text("late")] })),
              Effect.as("late")
            )
          ),
        settle: (from, exit) => Effect.zipRight(Effect.sync(() => settled.push(wordOf(from))), settle(from, exit))
      }).pipe(Effect.provide(layer))
      const sent = yield* send(engine, "deaf")
      const next = yield* send(engine, "next")
      yield* TestClock.adjust("1 second")
      const canceling = yield* Effect.fork(engine.cancel(sent.id))
      yield* TestClock.adjust("1999 millis")
      expect((yield* engine.get(sent.id)).status.state).toBe("working")
      expect(lines).toEqual([])
      yield* TestClock.adjust("1 millis")
      const canceled = yield* Fiber.join(canceling)
      expect(canceled.status).toEqual({ state: "canceled", at: 3000 })
      expect(lines).toEqual(["A canceled run went on after its time to stop; its task is canceled all the same"])
      yield* TestClock.adjust("1 second")
      expect((yield* engine.get(next.id)).status.state).toBe("completed")
      yield* Deferred.succeed(release, undefined)
      yield* TestClock.adjust("1 second")
      expect(yield* engine.get(sent.id)).toEqual(canceled)
      expect((yield* store.read(sent.id, 0))?.map(({ _tag }) => _tag)).toEqual(["Created", "Status", "Status"])
      expect(settled).toEqual(["deaf", "next"])
    }))

  it.scoped("lets nothing more be heard of the run, not even while that is waited for", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (_, emit) =>
          Effect.uninterruptible(Effect.zipRight(Effect.sleep("1 second"), emit.status([text("late")]))).pipe(
            Effect.as("late")
          ),
        settle: (from, exit) => Effect.zipRight(Effect.sleep("1 second"), settle(from, exit))
      })
      const subscription = yield* engine.stream(message("go"))
      yield* TestClock.adjust("500 millis")
      yield* Effect.fork(engine.cancel(subscription.snapshot.id))
      yield* TestClock.adjust("5 seconds")
      expect((yield* drainOf(subscription)).map(briefly)).toEqual(["2 working", "3 canceled!"])
    }))

  it.scoped("of a task that is only just announced ends it before its turn", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      const { engine } = yield* start({
        store,
        submitted: (from) => wordOf(from) === "slow" ? Effect.sleep("1 second") : Effect.void,
        run: () => Effect.never
      })
      yield* send(engine, "go")
      yield* Effect.fork(send(engine, "slow"))
      yield* TestClock.adjust("100 millis")
      const [id = ""] = yield* store.list({ limit: 1 })
      yield* Effect.fork(engine.cancel(id))
      yield* TestClock.adjust("900 millis")
      expect((yield* engine.get(id)).status).toEqual({ state: "canceled", at: 1000 })
    }))

  it.scoped("A-6: ends a task that waits for its caller, and settles it", () =>
    Effect.gen(function*() {
      const settled: Array<string> = []
      const { engine } = yield* start({
        run: () => Effect.succeed("?"),
        settle: (from, exit) =>
          Effect.zipRight(
            Effect.sync(() => settled.push(`${wordOf(from)} ${from.metadata?.["n"]} ${Exit.isInterrupted(exit)}`)),
            settle(from, exit)
          )
      })
      const waiting = yield* engine.send(message("ask"), { metadata: { n: 1 } })
      const canceled = yield* engine.cancel(waiting.id)
      expect(canceled.status).toEqual({ state: "canceled", at: 0 })
      expect(canceled.history.map(({ parts }) => said(parts))).toEqual(["ask", "?"])
      expect(settled).toEqual(["ask 1 false", "ask 1 true"])
      expect(yield* engine.get(waiting.id)).toEqual(canceled)
    }))

  it.scoped("ends a task that waits for its turn at once, and never runs it", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const { engine } = yield* start({
        run: (from) =>
          Effect.zipRight(Effect.sync(() => ran.push(wordOf(from))), Effect.sleep("1 second")).pipe(Effect.as("done"))
      })
      yield* send(engine, "1")
      const second = yield* send(engine, "2")
      const third = yield* send(engine, "3")
      expect((yield* engine.cancel(second.id)).status.state).toBe("canceled")
      yield* TestClock.adjust("5 seconds")
      expect(ran).toEqual(["1", "3"])
      expect((yield* engine.get(third.id)).status.state).toBe("completed")
    }))

  it.scoped("answers all who cancel at once with the canceled task, and refuses the next", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({ run: () => Effect.never })
      const sent = yield* send(engine, "go")
      const [one, two] = yield* Effect.all([engine.cancel(sent.id), engine.cancel(sent.id)], { concurrency: 2 })
      expect(one).toEqual(two)
      expect(one.status.state).toBe("canceled")
      expect(yield* Effect.flip(engine.cancel(sent.id))).toEqual(notCancelable(sent.id, "canceled"))
    }))

  it.scoped("is refused when the task has ended or is not there", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (from) => wordOf(from) === "no" ? Effect.fail("no") : Effect.succeed("done")
      })
      const done = yield* engine.send(message("go"))
      const failed = yield* engine.send(message("no"))
      expect(yield* Effect.flip(engine.cancel(done.id))).toEqual(notCancelable(done.id, "completed"))
      expect(yield* Effect.flip(engine.cancel(failed.id))).toEqual(notCancelable(failed.id, "failed"))
      expect(yield* Effect.flip(engine.cancel("none"))).toEqual(new TaskEngine.TaskNotFound({ taskId: "none" }))
    }))

  it.scoped("waits for a run that is at its end, and then ends what waits for its caller", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (from) => Effect.succeed(wordOf(from)),
        settle: (from, exit) => Effect.zipRight(Effect.sleep("1 second"), settle(from, exit))
      })
      const done = yield* send(engine, "done", "a")
      const asking = yield* send(engine, "?", "b")
      yield* TestClock.adjust("500 millis")
      const cancels = yield* Effect.fork(
        Effect.all([Effect.flip(engine.cancel(done.id)), engine.cancel(asking.id)], { concurrency: 2 })
      )
      yield* TestClock.adjust("2 seconds")
      const [refused, canceled] = yield* Fiber.join(cancels)
      expect(refused).toEqual(notCancelable(done.id, "completed"))
      expect(canceled.status.state).toBe("canceled")
    }))

  it.scoped("reaches a run whose engine was made where nothing is interrupted", () =>
    Effect.gen(function*() {
      const { engine } = yield* Effect.uninterruptible(start({ run: () => Effect.never }))
      const sent = yield* send(engine, "go")
      yield* TestClock.adjust("1 second")
      expect((yield* engine.cancel(sent.id)).status).toEqual({ state: "canceled", at: 1000 })
    }))

  it.scoped("goes through though who asked for it leaves", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: () => Effect.uninterruptible(Effect.sleep("1 second")).pipe(Effect.as("late"))
      })
      const sent = yield* send(engine, "go")
      yield* TestClock.adjust("100 millis")
      const canceling = yield* Effect.fork(engine.cancel(sent.id))
      yield* TestClock.adjust("100 millis")
      yield* Fiber.interrupt(canceling)
      yield* TestClock.adjust("1 second")
      expect((yield* engine.get(sent.id)).status.state).toBe("canceled")
    }))

  it.scoped("reaches the settling as an interruption, whatever the run answered to it, and ends canceled, whatever that says", () =>
    Effect.gen(function*() {
      const causes: Array<boolean> = []
      const { engine } = yield* start({
        run: () => Effect.catchAllCause(Effect.never, () => Effect.succeed("no, completed")),
        settle: (from, exit) =>
          Effect.sync(() => {
            causes.push(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause))
            return wordOf(from) === "lie"
              ? { state: "completed", parts: [text("lie")] } as const
              : { state: "canceled", parts: [text("stopped")], metadata: { usage: 1 } } as const
          })
      })
      const lie = yield* send(engine, "lie", "a")
      const sent = yield* send(engine, "go", "b")
      yield* TestClock.adjust("1 second")
      expect((yield* engine.cancel(lie.id)).status).toEqual({ state: "canceled", at: 1000 })
      expect(yield* engine.cancel(sent.id)).toMatchObject({
        status: { state: "canceled", message: { parts: [text("stopped")] } },
        metadata: { usage: 1 }
      })
      expect(causes).toEqual([true, true])
    }))

  it.scoped("makes a message to its task wait, which then finds it at its end", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: () => Effect.uninterruptible(Effect.sleep("1 second")).pipe(Effect.as("late"))
      })
      const sent = yield* send(engine, "go")
      yield* TestClock.adjust("100 millis")
      yield* Effect.fork(engine.cancel(sent.id))
      yield* TestClock.adjust("100 millis")
      const more = yield* Effect.fork(Effect.flip(engine.send(message("more", { taskId: sent.id }))))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(more)).toEqual(new TaskEngine.TaskIsTerminal({ taskId: sent.id, state: "canceled" }))
    }))

  it.scoped("A-9: at the moment the run returns, 500 times: one end, which every listener and both callers see", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      const { engine } = yield* start({
        store,
        // Between none and several steps before the end, so that a cancel meets it everywhere.
        run: (from) => Effect.as(Effect.repeatN(Effect.yieldNow(), Number(wordOf(from)) % 7), "done"),
        settle: (from, exit) => Effect.zipRight(Effect.yieldNow(), settle(from, exit))
      })
      const states: Record<string, number> = {}
      for (let i = 0; i < 500; i++) {
        const subscription = yield* engine.stream(message(`${i}`))
        const id = subscription.snapshot.id
        const listening = yield* Effect.fork(drainOf(subscription))
        yield* Effect.repeatN(Effect.yieldNow(), i % 11)
        const canceled = yield* Effect.exit(engine.cancel(id))
        const events = yield* Fiber.join(listening)
        const { status } = yield* engine.get(id)
        const journal = (yield* store.read(id, 0)) ?? []
        expect(endsOf(events)).toBe(1)
        expect(journal.filter((entry) => entry._tag === "Status" && entry.state !== "working").length).toBe(1)
        expect(events.at(-1)?.event).toMatchObject({ status: { state: status.state }, final: true })
        expect(Exit.isSuccess(canceled)).toBe(status.state === "canceled")
        states[status.state] = (states[status.state] ?? 0) + 1
      }
      expect(new Set(Object.keys(states))).toEqual(new Set(["canceled", "completed"]))
    }))
})
