import type { NativeTrajectory } from "@effect-agentenv/agent/TaskResult"
import * as Trajectories from "@effect-agentenv/agent/Trajectories"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, DateTime, Effect, FastCheck, HashMap, Logger, LogLevel, Option } from "effect"

const all = 1000

const use = <A, E, R>(f: (trajectories: Trajectories.Service) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Trajectories.Trajectories, f)

const provide = Effect.provide(Trajectories.layer())

/** A task whose turn has come. */
const begin = (taskId: string, contextId = "ctx") =>
  use((trajectories) => Effect.zipRight(trajectories.submitted(taskId, contextId), trajectories.started(taskId)))

const settle = (taskId: string, state: Parameters<Trajectories.Service["settled"]>[1], native?: NativeTrajectory) =>
  use((trajectories) => trajectories.settled(taskId, state, native))

const task = (taskId: string) => use((trajectories) => trajectories.task(taskId))
const context = (contextId: string) => use((trajectories) => trajectories.context(contextId))
const taskPage = (taskId: string, after = 0, limit = all) =>
  use((trajectories) => trajectories.taskPage(taskId, after, limit))
const contextPage = (contextId: string, after = 0, limit = all) =>
  use((trajectories) => trajectories.contextPage(contextId, after, limit))

const day = DateTime.toDateUtc(DateTime.unsafeMake(0))

const steps = (count: number, from = 0) => Arr.makeBy(count, (index) => ({ text: `step ${index + from}`, index }))

const record = (log: Trajectories.Log, ...events: ReadonlyArray<unknown>) =>
  Effect.zipRight(log.format("kiln-events/1"), log.append(...events))

/** A task that appended events and ended. */
const ended = (taskId: string, contextId: string, events: ReadonlyArray<unknown>) =>
  Effect.flatMap(begin(taskId, contextId), (log) => record(log, ...events)).pipe(
    Effect.zipRight(settle(taskId, "completed"))
  )

const listening = () => {
  const said: Array<string> = []
  const logger = Logger.make<unknown, void>(({ annotations, logLevel, message }) => {
    if (logLevel !== LogLevel.Warning) return
    const about = Option.getOrUndefined(HashMap.get(annotations, "task_id"))
    said.push(`${String(about)}: ${Arr.ensure(message).join(" ")}`)
  })
  return { said, layer: Logger.replace(Logger.defaultLogger, logger) }
}

describe("the log of a task", () => {
  it.effect("B-TRAJ-8: takes no event before its format, and no blank format", () =>
    Effect.gen(function*() {
      const log = yield* begin("t")
      expect((yield* Effect.flip(log.append({ a: 1 }))).message).toBe("name the format before the first event")
      for (const format of ["", " \n"]) {
        expect((yield* Effect.flip(log.format(format))).message).toBe("the format must not be blank")
      }
      expect(yield* taskPage("t")).toMatchObject({ format: null, events: [], state: "pending" })
    }).pipe(provide))

  it.effect("B-TRAJ-8: the format may change until the first event, after that only the same is taken", () =>
    Effect.gen(function*() {
      const log = yield* begin("t")
      yield* log.format("a/1")
      yield* log.format("b/1")
      yield* log.append({ a: 1 })
      yield* log.format("b/1")
      expect((yield* Effect.flip(log.format("a/1"))).message).toContain("can't change")
      expect(yield* taskPage("t")).toMatchObject({ format: "b/1" })
    }).pipe(provide))

  it.effect("B-TRAJ-8: refuses what is no JSON object, and then stores none of what came with it", () =>
    Effect.gen(function*() {
      const log = yield* begin("t")
      yield* log.format("a/1")
      const loop: Record<string, unknown> = {}
      loop["loop"] = loop
      const refused: ReadonlyArray<unknown> = [
        null,
        7,
        "text",
        [{ a: 1 }],
        undefined,
        { a: Number.NaN },
        { a: Number.POSITIVE_INFINITY },
        { a: { b: [1, new Set([1])] } },
        new Map(),
        day,
        { a: day },
        { a: 1n },
        { a: () => 1 },
        { a: Symbol("s") },
        { a: [1, undefined] },
        // oxlint-disable-next-line no-sparse-arrays
        { a: [1, , 2] },
        { toJSON: () => ({}) },
        loop,
        { deep: JSON.parse(`${"[".repeat(10_000)}${"]".repeat(10_000)}`) },
        {
          get a() {
            throw new Error("kiln-private-detail")
          }
        }
      ]
      for (const event of refused) {
        const error = yield* Effect.flip(log.append({ before: 1 }, event, { after: 1 }))
        expect(error).toBeInstanceOf(Trajectories.Refused)
        expect(error.message).not.toContain("kiln-private-detail")
      }
      expect(yield* taskPage("t")).toMatchObject({ events: [], next: 0 })
    }).pipe(provide))

  it.effect("B-TRAJ-8: keeps an event as it was when it was appended", () =>
    Effect.gen(function*() {
      const log = yield* begin("t")
      const event = { nested: { list: [1] }, gone: undefined as number | undefined }
      yield* record(log, event)
      event.nested.list.push(2)
      event.gone = 1
      const page = yield* taskPage("t")
      expect(page.events).toEqual([{ nested: { list: [1] } }])
      ;(page.events[0]!["nested"] as { list: Array<number> }).list.push(3)
      expect((yield* taskPage("t")).events).toEqual([{ nested: { list: [1] } }])
    }).pipe(provide))

  it.effect("B-TRAJ-8: takes neither events nor a format after its end", () =>
    Effect.gen(function*() {
      const log = yield* begin("t")
      yield* record(log, ...steps(1))
      yield* settle("t", "completed")
      expect((yield* Effect.flip(log.append({ late: 1 }))).message).toContain("has ended")
      expect((yield* Effect.flip(log.format("kiln-events/1"))).message).toContain("has ended")
      expect(yield* taskPage("t")).toMatchObject({ next: 1, state: "completed" })
    }).pipe(provide))

  it.effect("of a task that was never announced takes nothing", () =>
    Effect.gen(function*() {
      const log = yield* use((trajectories) => trajectories.started("nobody"))
      expect((yield* Effect.flip(log.format("a/1"))).message).toContain("not known")
      expect((yield* Effect.flip(log.append({}))).message).toContain("not known")
      yield* settle("nobody", "completed")
      expect((yield* Effect.flip(taskPage("nobody"))).status).toBe(404)
    }).pipe(provide))

  it.effect("B-TRAJ-17: warns once when it passes its size, and goes on", () => {
    const { layer, said } = listening()
    return Effect.gen(function*() {
      const log = yield* begin("big")
      yield* record(log, { text: "x".repeat(89) })
      expect(said).toEqual([])
      yield* log.append({ text: "y" })
      yield* log.append({ text: "z" })
      expect(said).toEqual(["big: A running task's trajectory exceeds 100 bytes"])
      expect((yield* taskPage("big")).next).toBe(3)
    }).pipe(Effect.provide([Trajectories.layer({ warnBytes: 100 }), layer]))
  })
})

describe("the finished record", () => {
  it.effect("B-TRAJ-4: of a task with a native trajectory is its payload, whatever JSON that is", () =>
    Effect.gen(function*() {
      for (const [index, payload] of [[{ type: "result" }], { a: 1 }, "text", 0, null, []].entries()) {
        yield* begin(`t${index}`)
        yield* settle(`t${index}`, "completed", { format: "kiln/1", payload })
        expect(yield* task(`t${index}`)).toBe(JSON.stringify(payload))
      }
    }).pipe(provide))

  it.effect("B-TRAJ-5: is compact JSON", () =>
    Effect.gen(function*() {
      yield* begin("t")
      yield* settle("t", "completed", { format: "kiln/1", payload: [{ type: "result" }] })
      expect(Buffer.byteLength(yield* task("t"))).toBe(19)
    }).pipe(provide))

  it.effect("B-TRAJ-6, B-TRAJ-11: is not there for an unknown task, a waiting one or a running one: 404", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(task("unknown"))).status).toBe(404)
      yield* use((trajectories) => trajectories.submitted("waiting", "ctx"))
      expect((yield* Effect.flip(task("waiting"))).status).toBe(404)
      yield* record(yield* begin("running"), ...steps(2))
      expect((yield* Effect.flip(task("running"))).status).toBe(404)
    }).pipe(provide))

  it.effect("B-TRAJ-18: is not there for a task with neither events nor a native trajectory", () =>
    Effect.gen(function*() {
      yield* begin("t")
      yield* settle("t", "completed")
      const error = yield* Effect.flip(task("t"))
      expect(error.status).toBe(404)
      expect(yield* taskPage("t")).toMatchObject({ state: "completed", events: [], has_more: false })
    }).pipe(provide))

  it.effect("B-TRAJ-15: of a task that only appended is its log, byte for byte what the same events are natively", () =>
    Effect.gen(function*() {
      const events = [{ text: "größer \u2028 \u{1F3FA} \ud800" }, { "0": 1, b: 2, a: [1e21, -0, 0.1] }, {}]
      yield* ended("log", "ctx", events)
      yield* begin("native")
      yield* settle("native", "completed", { format: "kiln/1", payload: events })
      const text = yield* task("log")
      expect(text).toBe(yield* task("native"))
      // what is answered inline is read and written once more on its way
      expect(JSON.stringify(JSON.parse(text))).toBe(text)
    }).pipe(provide))

  it.effect("B-TRAJ-15: of a task that has both is the native one, with a warning, and pages still serve the log", () => {
    const { layer, said } = listening()
    return Effect.gen(function*() {
      yield* record(yield* begin("t"), ...steps(2))
      yield* settle("t", "completed", { format: "kiln/1", payload: ["native"] })
      expect(yield* task("t")).toBe("[\"native\"]")
      expect((yield* taskPage("t")).events).toEqual(steps(2))
      expect(said).toEqual([
        "t: A task has appended events and returned a native trajectory, which is its final record"
      ])
    }).pipe(Effect.provide([Trajectories.layer(), layer]))
  })

  it.effect("a native trajectory that JSON can't hold is left out with a warning, and the log is the record", () => {
    const { layer, said } = listening()
    const loop: Record<string, unknown> = {}
    loop["loop"] = loop
    return Effect.gen(function*() {
      yield* record(yield* begin("t"), ...steps(1))
      yield* settle("t", "completed", { format: "kiln/1", payload: loop })
      expect(yield* task("t")).toBe(JSON.stringify(steps(1)))
      yield* begin("u")
      yield* settle("u", "failed", { format: "kiln/1", payload: undefined })
      expect((yield* Effect.flip(task("u"))).status).toBe(404)
      expect(said).toHaveLength(2)
    }).pipe(Effect.provide([Trajectories.layer(), layer]))
  })

  it.effect("B-TRAJ-16: failed and canceled tasks keep what they appended", () =>
    Effect.gen(function*() {
      for (const state of ["failed", "canceled"] as const) {
        yield* record(yield* begin(state), ...steps(3))
        yield* settle(state, state)
        expect(yield* taskPage(state)).toMatchObject({ state, next: 3 })
        expect(yield* task(state)).toBe(JSON.stringify(steps(3)))
      }
    }).pipe(provide))

  it.effect("B-TRAJ-16: the first seal wins", () =>
    Effect.gen(function*() {
      yield* record(yield* begin("t"), ...steps(1))
      yield* settle("t", "canceled")
      yield* settle("t", "completed", { format: "kiln/1", payload: ["late"] })
      expect(yield* taskPage("t")).toMatchObject({ state: "canceled" })
      expect(yield* task("t")).toBe(JSON.stringify(steps(1)))
    }).pipe(provide))
})

describe("pages of a task", () => {
  it.effect("B-TRAJ-9: hold what the contract names, from any position to the end", () =>
    Effect.gen(function*() {
      yield* ended("t", "ctx", steps(3))
      const rest = { context_id: "ctx", task_id: "t", format: "kiln-events/1", state: "completed" }
      expect(yield* taskPage("t")).toEqual({ ...rest, events: steps(3), next: 3, has_more: false })
      expect(yield* taskPage("t", 1, 1)).toEqual({ ...rest, events: [steps(3)[1]], next: 2, has_more: true })
      expect(yield* taskPage("t", 3)).toEqual({ ...rest, events: [], next: 3, has_more: false })
      expect((yield* Effect.flip(taskPage("t", 4))).status).toBe(400)
    }).pipe(provide))

  it.effect("B-TRAJ-9: a task is pending until its first event, then running", () =>
    Effect.gen(function*() {
      const log = yield* begin("t")
      yield* log.format("kiln-events/1")
      expect(yield* taskPage("t")).toMatchObject({ state: "pending", format: "kiln-events/1" })
      yield* log.append({ a: 1 })
      expect(yield* taskPage("t")).toMatchObject({ state: "running", next: 1, has_more: false })
    }).pipe(provide))

  it.effect("B-TRAJ-12: a task can be read from the moment it was submitted", () =>
    Effect.gen(function*() {
      yield* use((trajectories) => trajectories.submitted("t", "ctx"))
      expect(yield* taskPage("t")).toEqual({
        context_id: "ctx",
        task_id: "t",
        state: "pending",
        format: null,
        events: [],
        next: 0,
        has_more: false
      })
    }).pipe(provide))

  it.effect("B-TRAJ-10: are bounded by bytes, but never without an event where there is one, nor with part of one", () =>
    Effect.gen(function*() {
      const event = { text: "ü".repeat(20) } // 51 bytes
      yield* ended("t", "ctx", [event, event, { text: "x".repeat(500) }, event])
      const sizes: Array<number> = []
      for (let after = 0; after < 4;) {
        const page = yield* taskPage("t", after)
        sizes.push(page.events.length)
        expect(page.has_more).toBe(page.next < 4)
        after = page.next
      }
      expect(sizes).toEqual([2, 1, 1])
    }).pipe(Effect.provide(Trajectories.layer({ pageBytes: 102 }))))

  it.effect("B-TRAJ-10: hold about 4 MiB unless told otherwise", () =>
    Effect.gen(function*() {
      yield* ended("t", "ctx", Arr.makeBy(6, () => ({ text: "x".repeat(1024 ** 2 - 11) })))
      expect((yield* taskPage("t")).events).toHaveLength(4)
    }).pipe(provide))

  it.effect("B-TRAJ-11: of an unknown task are 404", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(taskPage("no-such-task"))
      expect(error).toMatchObject({ status: 404, message: "task_id: there is no such task" })
    }).pipe(provide))
})

describe("contexts", () => {
  it.effect("B-TRAJ-11, B-TRAJ-14: an unknown context is 404 for pages and as a whole", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(contextPage("no-such-context"))).status).toBe(404)
      expect((yield* Effect.flip(context("no-such-context"))).status).toBe(404)
    }).pipe(provide))

  it.effect("B-TRAJ-14: a context as a whole is all its events, of running tasks too", () =>
    Effect.gen(function*() {
      yield* ended("a", "ctx", steps(2))
      yield* record(yield* begin("b"), ...steps(1, 7))
      expect(JSON.parse(yield* context("ctx"))).toEqual([...steps(2), ...steps(1, 7)])
      yield* begin("c", "empty")
      expect(yield* context("empty")).toBe("[]")
    }).pipe(provide))

  it.effect("B-TRAJ-13: pages go over the tasks in the order they ran, not in that they were sent", () =>
    Effect.gen(function*() {
      yield* use((trajectories) =>
        Effect.forEach(["first", "second", "third"], (id) => trajectories.submitted(id, "ctx"))
      )
      const third = yield* begin("third")
      yield* record(third, ...steps(2))
      yield* settle("third", "completed")
      const page = yield* contextPage("ctx", 0, 1)
      const first = yield* begin("first")
      yield* record(first, ...steps(2, 10))
      expect((yield* contextPage("ctx", page.next)).events).toEqual([steps(2)[1], ...steps(2, 10)])
    }).pipe(provide))

  it.effect("B-TRAJ-13: the task named is the first that has not ended, else the latest; the state is the contract's", () =>
    Effect.gen(function*() {
      const at = Effect.map(contextPage("ctx"), ({ state, task_id }) => `${task_id} ${state}`)
      yield* use((trajectories) => Effect.forEach(["a", "b"], (id) => trajectories.submitted(id, "ctx")))
      expect(yield* at).toBe("a pending")
      const a = yield* begin("a")
      expect(yield* at).toBe("a pending")
      yield* record(a, ...steps(1))
      expect(yield* at).toBe("a running")
      yield* settle("a", "failed")
      expect(yield* at).toBe("b pending")
      yield* record(yield* begin("b"), ...steps(1))
      expect(yield* at).toBe("b running")
      yield* settle("b", "completed")
      expect(yield* at).toBe("b completed")
    }).pipe(provide))

  it.effect("B-TRAJ-13: a task that was canceled before its turn leaves the context to the next one", () =>
    Effect.gen(function*() {
      yield* ended("a", "ctx", steps(1))
      yield* use((trajectories) => trajectories.submitted("b", "ctx"))
      yield* settle("b", "canceled")
      expect(yield* contextPage("ctx")).toMatchObject({ task_id: "b", state: "canceled", format: "kiln-events/1" })
      yield* ended("c", "ctx", steps(1))
      expect(yield* contextPage("ctx")).toMatchObject({ task_id: "c", state: "completed", next: 2 })
    }).pipe(provide))

  it.effect("B-TRAJ-13: the format is the latest that any task set, kept while a new turn is pending", () =>
    Effect.gen(function*() {
      yield* (yield* begin("a")).format("one/1")
      yield* settle("a", "completed")
      const b = yield* begin("b")
      expect((yield* contextPage("ctx")).format).toBe("one/1")
      yield* b.format("two/1")
      expect((yield* contextPage("ctx")).format).toBe("two/1")
      yield* begin("c")
      expect((yield* contextPage("ctx")).format).toBe("two/1")
      expect((yield* taskPage("c")).format).toBeNull()
    }).pipe(provide))

  it.effect("B-TRAJ-9: a cursor past the end of a context is 400", () =>
    Effect.gen(function*() {
      yield* ended("a", "ctx", steps(1))
      expect((yield* Effect.flip(contextPage("ctx", 2))).status).toBe(400)
    }).pipe(provide))
})

describe("a task that required input", () => {
  it.effect("goes on in the same log, after what other tasks of its context appended meanwhile", () =>
    Effect.gen(function*() {
      const first = yield* begin("a")
      yield* record(first, ...steps(1))
      yield* settle("a", "input-required")
      expect(yield* taskPage("a")).toMatchObject({ state: "running", next: 1 })
      expect((yield* Effect.flip(task("a"))).status).toBe(404)
      expect((yield* Effect.flip(first.append({ late: 1 }))).message).toContain("has ended")
      yield* ended("b", "ctx", steps(1, 10))
      const second = yield* begin("a")
      yield* record(second, ...steps(1, 20))
      yield* settle("a", "completed")
      expect(JSON.parse(yield* task("a"))).toEqual([...steps(1), ...steps(1, 20)])
      expect((yield* contextPage("ctx")).events).toEqual([...steps(1), ...steps(1, 10), ...steps(1, 20)])
    }).pipe(provide))

  it.effect("keeps nothing from being dropped, and begins anew when it was", () =>
    Effect.gen(function*() {
      yield* record(yield* begin("a", "one"), ...steps(1))
      yield* settle("a", "input-required")
      yield* ended("b", "two", steps(1))
      expect((yield* Effect.flip(taskPage("a"))).status).toBe(404)
      yield* record(yield* begin("a", "one"), ...steps(1, 5))
      expect((yield* taskPage("a")).events).toEqual(steps(1, 5))
    }).pipe(Effect.provide(Trajectories.layer({ contexts: 1 }))))
})

describe("retention", () => {
  const known = (contextId: string) => Effect.isSuccess(context(contextId))

  it.effect("B-TRAJ-17: beyond the limit whole contexts are dropped, least recently used first, and reads are uses", () =>
    Effect.gen(function*() {
      yield* ended("a1", "a", steps(1))
      yield* ended("a2", "a", steps(1))
      yield* ended("b1", "b", steps(1))
      for (const read of [task("a1"), taskPage("a1"), contextPage("a")]) yield* read
      yield* ended("c1", "c", steps(1))
      expect(yield* Effect.all([known("a"), known("b"), known("c")])).toEqual([true, false, true])
      expect((yield* Effect.flip(task("b1"))).status).toBe(404)
      yield* task("a2")
    }).pipe(Effect.provide(Trajectories.layer({ contexts: 2 }))))

  it.effect("B-TRAJ-7, B-TRAJ-17: each kind of read is a use", () =>
    Effect.forEach([task("a1"), taskPage("a1"), contextPage("a"), context("a")], (read) =>
      Effect.gen(function*() {
        yield* ended("a1", "a", steps(1))
        yield* ended("b1", "b", steps(1))
        yield* read
        yield* ended("c1", "c", steps(1))
        expect(yield* known("a")).toBe(true)
        expect(yield* known("b")).toBe(false)
      }).pipe(Effect.provide(Trajectories.layer({ contexts: 2 })))))

  it.effect("B-TRAJ-17: a context with a waiting or running task is never dropped, nor the one whose task has just ended", () =>
    Effect.gen(function*() {
      yield* use((trajectories) => trajectories.submitted("waiting", "a"))
      const log = yield* begin("running", "b")
      yield* ended("c1", "c", steps(1))
      yield* task("c1")
      yield* ended("d1", "d", steps(1))
      expect(yield* Effect.all(["a", "b", "c", "d"].map(known))).toEqual([true, true, false, true])
      yield* record(log, ...steps(1))
      yield* settle("running", "completed")
      expect(yield* Effect.all(["a", "b", "d"].map(known))).toEqual([true, true, false])
    }).pipe(Effect.provide(Trajectories.layer({ contexts: 1 }))))

  it.effect("B-TRAJ-17: 1,024 contexts are kept unless told otherwise", () =>
    Effect.gen(function*() {
      for (let index = 0; index <= 1024; index++) yield* ended(`t${index}`, `c${index}`, steps(1))
      expect(yield* Effect.all([known("c0"), known("c1"), known("c1024")])).toEqual([false, true, true])
    }).pipe(provide))

  it.effect("contexts are dropped for their bytes too, native records included", () =>
    Effect.gen(function*() {
      yield* ended("a1", "a", [{ text: "x".repeat(60) }])
      yield* begin("b1", "b")
      yield* settle("b1", "completed", { format: "kiln/1", payload: "x".repeat(60) })
      expect(yield* Effect.all([known("a"), known("b")])).toEqual([false, true])
      yield* ended("c1", "c", [{ text: "x".repeat(200) }])
      expect(yield* Effect.all([known("b"), known("c")])).toEqual([false, true])
      yield* task("c1")
    }).pipe(Effect.provide(Trajectories.layer({ bytes: 100 }))))
})

const step = FastCheck.oneof(
  FastCheck.record({ _tag: FastCheck.constant("Submit" as const), task: FastCheck.nat(4) }),
  FastCheck.record({ _tag: FastCheck.constant("Start" as const), task: FastCheck.nat(4) }),
  FastCheck.record({
    _tag: FastCheck.constant("Append" as const),
    task: FastCheck.nat(4),
    sizes: FastCheck.array(FastCheck.nat(40), { maxLength: 4 })
  }),
  FastCheck.record({
    _tag: FastCheck.constant("Settle" as const),
    task: FastCheck.nat(4),
    state: FastCheck.constantFrom(
      "completed" as const,
      "failed" as const,
      "canceled" as const,
      "input-required" as const
    )
  }),
  FastCheck.record({
    _tag: FastCheck.constant("Read" as const),
    task: FastCheck.option(FastCheck.nat(4)),
    limit: FastCheck.integer({ min: 1, max: 5 })
  })
)

it.effect.prop(
  "B-TRAJ-9, B-TRAJ-13: however appends, starts, ends and reads interleave, the pages of a reader are the final order",
  [FastCheck.array(step, { maxLength: 80 })],
  ([script]) =>
    Effect.gen(function*() {
      const trajectories = yield* Trajectories.Trajectories
      const logs = new Map<number, Trajectories.Log>()
      const submitted = new Set<number>()
      const done = new Set<number>()
      const expected: Array<{ readonly task: number; readonly n: number }> = []
      // one reader of the context, one of each task
      const readers = new Map<number | null, Array<unknown>>()
      const read = (of: number | null, limit: number) =>
        Effect.gen(function*() {
          const seen = readers.get(of) ?? []
          const page = of === null
            ? yield* trajectories.contextPage("ctx", seen.length, limit)
            : yield* trajectories.taskPage(String(of), seen.length, limit)
          expect(page.next).toBe(seen.length + page.events.length)
          readers.set(of, [...seen, ...page.events])
          return page.has_more
        })
      for (const action of script) {
        switch (action._tag) {
          case "Submit":
            yield* trajectories.submitted(String(action.task), "ctx")
            submitted.add(action.task)
            break
          case "Start": {
            if (!submitted.has(action.task) || done.has(action.task)) break
            const log = yield* trajectories.started(String(action.task))
            yield* log.format("kiln-events/1")
            logs.set(action.task, log)
            break
          }
          case "Append": {
            const events = action.sizes.map((size, index) => ({
              task: action.task,
              n: expected.length + index,
              text: "é".repeat(size)
            }))
            const taken = yield* Effect.isSuccess((logs.get(action.task) ?? refusing).append(...events))
            expect(taken).toBe(logs.has(action.task))
            if (taken) expected.push(...events)
            break
          }
          case "Settle":
            if (!submitted.has(action.task)) break
            yield* trajectories.settled(String(action.task), action.state, undefined)
            logs.delete(action.task)
            if (action.state !== "input-required") done.add(action.task)
            break
          case "Read":
            if (action.task === null ? submitted.size > 0 : submitted.has(action.task)) {
              yield* read(action.task, action.limit)
            }
        }
      }
      if (submitted.size === 0) return
      for (const of of [null, ...submitted]) {
        while (yield* read(of, 2));
        expect(readers.get(of)).toEqual(expected.filter(({ task }) => of === null || task === of))
      }
    }).pipe(Effect.provide(Trajectories.layer({ pageBytes: 120 })))
)

const refusing: Trajectories.Log = {
  format: () => new Trajectories.Refused({ message: "not started" }),
  append: () => new Trajectories.Refused({ message: "not started" })
}
