import * as TaskEngine from "@effect-agentenv/agent/TaskEngine"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { briefly, drainOf, endsOf, memory, message, start, text, wordOf } from "./taskSupport.ts"

const flood = (events: number) => (_: TaskEngine.Start, emit: TaskEngine.Emit) =>
  Effect.as(Effect.forEach(Array.from({ length: events }, (_, i) => i), (i) => emit.status([text(`${i}`)])), "done")

describe("a stream", () => {
  it.scoped("B-TASK-3: is the submitted task, then all that happens to it once and in order, the last event final", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (_, emit) =>
          Effect.gen(function*() {
            yield* emit.status([text("half")], { metadata: { n: 1 } })
            yield* emit.artifact({ artifactId: "a", parts: [text("x")] }, { append: false, lastChunk: false })
            yield* emit.artifact({ artifactId: "a", parts: [text("y")] }, { append: true, lastChunk: true })
            yield* emit.artifact({ artifactId: "b", parts: [text("z")] }, { append: true, metadata: { k: 1 } })
            yield* emit.artifact({ artifactId: "a", parts: [text("new")] })
            return "done"
          })
      })
      const subscription = yield* engine.stream(message("go"))
      expect([subscription.version, subscription.snapshot.status]).toEqual([1, { state: "submitted" }])
      const events = yield* drainOf(subscription)
      expect(events.map(briefly)).toEqual([
        "2 working",
        "3 working half",
        "4 a x",
        "5 a+ y",
        // A first piece that is called a further one.
        "6 b z",
        "7 a new",
        "8 completed done!"
      ])
      expect(events[1]?.event.metadata).toEqual({ n: 1 })
      expect(events.map(({ event }) => event._tag === "ArtifactUpdate" ? event.lastChunk : "-"))
        .toEqual(["-", "-", false, true, false, true, "-"])
      const task = yield* engine.get(subscription.snapshot.id)
      expect(task.artifacts).toEqual([{ artifactId: "a", parts: [text("new")] }, {
        artifactId: "b",
        parts: [text("z")]
      }])
      // What is said of an artifact is not said of the task.
      expect(task.metadata).toEqual({ n: 1 })
      expect(yield* subscription.next).toBeUndefined()
    }))

  it.scoped("A-12: of a run that returns at once ends, 1,000 times", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({ run: (from) => Effect.succeed(wordOf(from)) })
      const ends = yield* Effect.forEach(
        Array.from({ length: 1_000 }, (_, i) => i),
        (i) => Effect.map(Effect.flatMap(engine.stream(message(`${i}`)), drainOf), endsOf),
        { concurrency: 100 }
      )
      expect(ends.every((count) => count === 1)).toBe(true)
    }))

  it.scoped("A-21: wakes everybody who waits, and nobody waits for what has happened", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const { engine } = yield* start({ idempotent: true, run: () => Effect.as(Deferred.await(go), "done") })
      const sent = message("go", { contextId: "c" })
      const late = yield* engine.stream(sent)
      const waiters = yield* Effect.fork(
        Effect.all([engine.send(sent), engine.send(sent), Effect.flatMap(engine.stream(sent), drainOf)], {
          concurrency: "unbounded"
        })
      )
      yield* TestClock.adjust("1 second")
      yield* Deferred.succeed(go, undefined)
      const [one, two, events] = yield* Fiber.join(waiters)
      expect([one.status.state, two.status.state, endsOf(events)]).toEqual(["completed", "completed", 1])
      expect(endsOf(yield* drainOf(late))).toBe(1)
      expect((yield* engine.send(sent)).status.state).toBe("completed")
    }))

  it.scoped("A-21: misses no event that comes between looking and waiting", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (_, emit) =>
          Effect.as(
            Effect.forEach(Array.from({ length: 300 }), () =>
              Effect.zipRight(emit.status([text("x")]), Effect.yieldNow())),
            "done"
          )
      })
      const subscriptions = yield* Effect.forEach(Array.from({ length: 20 }), () =>
        engine.stream(message("go")))
      const counts = yield* Effect.forEach(
        subscriptions,
        (one) => Effect.map(drainOf(one), (events) => events.length),
        {
          concurrency: "unbounded"
        }
      )
      expect(new Set(counts)).toEqual(new Set([302]))
    }))

  it.scoped("A-22: tells of 20 artifacts before the end, and the task has them, 200 times", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({
        run: (_, emit) =>
          Effect.as(
            Effect.forEach(Array.from({ length: 20 }), (_, i) =>
              emit.artifact({ artifactId: `${i}`, parts: [text("x")] })),
            "done"
          )
      })
      for (let i = 0; i < 200; i++) {
        const subscription = yield* engine.stream(message("go"))
        const events = yield* drainOf(subscription)
        expect(events.slice(1, -1).map(({ event }) => event._tag)).toEqual(
          Array.from({ length: 20 }, () => "ArtifactUpdate")
        )
        expect((yield* engine.get(subscription.snapshot.id)).artifacts.length).toBe(20)
      }
    }))

  it.scoped("waits for a reader that is slow, and hands it the journal in pieces", () =>
    Effect.gen(function*() {
      const store = yield* memory()
      const limits: Array<number | undefined> = []
      const { engine } = yield* start({
        store: {
          ...store,
          read: (taskId, from, limit) => {
            limits.push(limit)
            return store.read(taskId, from, limit)
          }
        },
        run: flood(20_000)
      })
      const subscription = yield* engine.stream(message("go"))
      yield* subscription.next
      const task = yield* engine.send(message("other"))
      const events = yield* drainOf(subscription)
      expect(events.length).toBeGreaterThan(19_000)
      expect(events.map(({ version }) => version)).toEqual(events.map((_, i) => (events[0]?.version ?? 0) + i))
      expect(endsOf(events)).toBe(1)
      expect(task.status.state).toBe("completed")
      expect(new Set(limits)).toEqual(new Set([128]))
    }))

  it.scoped("ends with the end of the task for a reader whose journal is gone", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({ run: flood(1_000) })
      const subscription = yield* engine.stream(message("go"))
      yield* engine.send(message("other"))
      yield* TestClock.adjust("1 hour")
      const events = yield* drainOf(subscription)
      expect(events.map(briefly)).toEqual(["1003 completed done!"])
    }))

  it.scoped("keeps nothing of a reader that has left", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({ run: () => Effect.never })
      const subscription = yield* engine.stream(message("go"))
      yield* subscription.next
      const reading = yield* Effect.fork(Effect.all([subscription.next, subscription.next], { concurrency: 2 }))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(reading)
      yield* engine.cancel(subscription.snapshot.id)
      expect((yield* drainOf(subscription)).map(briefly)).toEqual(["3 canceled!"])
    }))
})

describe("resubscribing", () => {
  it.scoped("begins with the task as it is and goes on from there", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const { engine } = yield* start({
        run: (_, emit) => Effect.as(Effect.zipRight(emit.status([text("half")]), Deferred.await(go)), "done")
      })
      const { id } = yield* engine.send(message("go"), { blocking: false })
      yield* TestClock.adjust("1 second")
      const subscription = yield* engine.resubscribe(id, { historyLength: 0 })
      expect([subscription.version, subscription.snapshot.status.state, subscription.snapshot.history]).toEqual([
        3,
        "working",
        []
      ])
      const missed = yield* engine.resubscribe(id, { from: 1 })
      expect([missed.version, missed.snapshot.status.state]).toEqual([1, "working"])
      yield* Deferred.succeed(go, undefined)
      expect((yield* drainOf(subscription)).map(briefly)).toEqual(["4 completed done!"])
      expect((yield* drainOf(missed)).map(briefly)).toEqual(["2 working", "3 working half", "4 completed done!"])
    }))

  it.scoped("is refused for a task that has ended, unless some of it was missed", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({ run: (_, emit) => Effect.as(emit.status([text("half")]), "done") })
      const { id } = yield* engine.send(message("go"))
      const over = new TaskEngine.TaskIsTerminal({ taskId: id, state: "completed" })
      expect(yield* Effect.flip(engine.resubscribe(id))).toEqual(over)
      expect(yield* Effect.flip(engine.resubscribe(id, { from: 4 }))).toEqual(over)
      expect(yield* Effect.flip(engine.resubscribe(id, { from: 1e9 }))).toEqual(over)
      const heard = (from: number) =>
        Effect.map(Effect.flatMap(engine.resubscribe(id, { from }), drainOf), (e) => e.map(briefly))
      expect(yield* heard(3)).toEqual(["4 completed done!"])
      expect(yield* heard(2.5)).toEqual(["3 working half", "4 completed done!"])
      expect(yield* heard(-5)).toEqual(["2 working", "3 working half", "4 completed done!"])
      expect(yield* Effect.flip(engine.resubscribe("none"))).toEqual(new TaskEngine.TaskNotFound({ taskId: "none" }))
    }))

  it.scoped("to a task that waits for its caller is its state and no more; what was missed ends with its run", () =>
    Effect.gen(function*() {
      const { engine } = yield* start({ run: (from) => Effect.succeed(wordOf(from) === "ask" ? "?" : "done") })
      const { id } = yield* engine.send(message("ask"))
      const waiting = yield* engine.resubscribe(id)
      expect([waiting.snapshot.status.state, yield* waiting.next]).toEqual(["input-required", undefined])
      yield* engine.send(message("answer", { taskId: id }))
      const missed = yield* engine.resubscribe(id, { from: 1 })
      expect((yield* drainOf(missed)).map(briefly)).toEqual(["2 working", "3 input-required ?!"])
      const more = yield* engine.resubscribe(id, { from: 3 })
      expect((yield* drainOf(more)).map(briefly)).toEqual(["5 working", "6 completed done!"])
      expect(yield* waiting.next).toBeUndefined()
    }))
})
