import { Cost, WorldState, WorldstateDelta } from "@effect-agentenv/protolabs"
import { describe, expect, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, FastCheck, Fiber, Stream } from "effect"
import { delta, nested } from "./arbitraries.ts"

const { inc, push, set } = WorldstateDelta

const world = { dock: { data: { n: 4, flag: "red", entries: ["a"], nil: null } }, log: {} }

const reasons = (...deltas: ReadonlyArray<unknown>) =>
  WorldstateDelta.apply(world, deltas).rejected.map(({ reason }) => reason)

/** The same rules on a copy that is changed in place, key by key. */
const naive = (world: WorldstateDelta.World, deltas: ReadonlyArray<WorldstateDelta.Delta>) => {
  const copy = structuredClone(world) as Record<string, any>
  let count = 0
  for (const { domain, op, path, value } of deltas) {
    const keys = path.split(".").filter((key) => key !== "")
    const last = keys.pop()
    let at = Object.hasOwn(copy, domain) ? copy[domain] : undefined
    if (at === undefined || last === undefined) continue
    const fits = (key: string, container: any) =>
      !Array.isArray(container) || /^\d+$/.test(key) && +key <= container.length
    let fine = true
    const made: Array<() => void> = []
    for (const key of keys) {
      const next = Object.hasOwn(at, key) ? at[key] : undefined
      if (typeof next === "object" && next !== null) at = next
      else if (op !== "set" || !fits(key, at)) fine = false
      else {
        const container = at
        const fresh = {}
        made.push(() => {
          container[key] = fresh
        })
        at = fresh
      }
      if (!fine) break
    }
    if (!fine || !fits(last, at)) continue
    const current = Object.hasOwn(at, last) ? at[last] : undefined
    if (op === "push" && !Array.isArray(current)) continue
    if (op === "inc" && (current === undefined ? Array.isArray(at) : typeof current !== "number")) continue
    for (const make of made) make()
    if (op === "set") at[last] = structuredClone(value)
    else if (op === "inc") at[last] = (current ?? 0) + value
    else current.push(structuredClone(value))
    count++
  }
  return { world: copy, count }
}

const start = { dock: { a: { n: 1, list: [1, { b: 2 }] }, list: [], n: 0, b: "x" }, log: { list: [{ n: 1 }] } }

it.prop("applies as a naive model does, and leaves the world and the deltas", [FastCheck.array(delta)], ([deltas]) => {
  const before = structuredClone({ start, deltas })
  const result = WorldstateDelta.apply(start, deltas)
  const expected = naive(start, deltas)
  expect(result.world).toEqual(expected.world)
  expect(result.applied).toHaveLength(expected.count)
  expect(result.applied.length + result.rejected.length).toBe(deltas.length)
  expect({ start, deltas }).toEqual(before)
})

it.prop("applies at once what it applies one after the other", [FastCheck.array(delta)], ([deltas]) => {
  const stepwise = deltas.reduce<WorldstateDelta.World>(
    (world, each) => WorldstateDelta.apply(world, [each]).world,
    start
  )
  expect(WorldstateDelta.apply(start, deltas).world).toEqual(stepwise)
})

it("shares what no delta touches, and answers the world itself when none applies", () => {
  const { world: after } = WorldstateDelta.apply(world, [set("dock", "data.n", 5)])
  expect(after["log"]).toBe(world.log)
  expect(after).not.toBe(world)
  expect(WorldstateDelta.apply(world, [push("dock", "none", 1)]).world).toBe(world)
})

it("works on a frozen world", () => {
  const frozen = Object.freeze({ dock: Object.freeze({ entries: Object.freeze(["a"]) }) })
  expect(WorldstateDelta.apply(frozen, [push("dock", "entries", "b"), push("dock", "entries", "c")]).world).toEqual({
    dock: { entries: ["a", "b", "c"] }
  })
})

it("says why each delta can't be applied", () => {
  expect(reasons(
    set("none", "a", 1),
    set("dock", "..", 1),
    inc("dock", "data.none.n"),
    inc("dock", "data.flag.n"),
    inc("dock", "data.nil"),
    push("dock", "data.n", 1),
    push("dock", "data.none", 1),
    set("dock", "data.entries.foo", 1),
    set("dock", "data.entries.4294967295", 1),
    set("dock", Array.from({ length: 10_000 }, () => "a").join("."), 1),
    { domain: "dock", path: "data.n", op: "inc", value: "1" },
    { domain: 5, path: "data.n", op: "set", value: 1 },
    { domain: "dock", path: "data.n", op: "erase", value: 1 },
    null
  )).toEqual([
    "unknownDomain",
    "emptyPath",
    "missing",
    "notAnObject",
    "notANumber",
    "notAList",
    "missing",
    "notAnObject",
    "noSuchIndex",
    "tooDeep",
    "notADelta",
    "notADelta",
    "notADelta",
    "notADelta"
  ])
})

it("rejects sums that aren't finite", () => {
  const huge = { dock: { n: Number.MAX_VALUE } }
  const { rejected, world } = WorldstateDelta.apply(huge, [inc("dock", "n", Number.MAX_VALUE), inc("dock", "n", NaN)])
  expect(rejected.map(({ reason }) => reason)).toEqual(["overflow", "notADelta"])
  expect(world).toBe(huge)
})

it("tells which delta it was, and not its value", () => {
  const { rejected } = WorldstateDelta.apply(world, [inc("dock", "data.n"), push("dock", "data.n", "s3cret")])
  expect(rejected).toMatchObject([{ _tag: "DeltaRejected", index: 1, domain: "dock", path: "data.n" }])
  expect(JSON.stringify(rejected)).not.toContain("s3cret")
})

describe("hostile paths", () => {
  const hostile = [
    set("dock", "__proto__.polluted", 1),
    set("dock", "data.__proto__", { polluted: 1 }),
    set("dock", "constructor.prototype.polluted", 1),
    set("dock", "data.entries.__proto__.polluted", 1),
    push("dock", "data.entries.constructor.prototype", 1),
    inc("dock", "prototype"),
    set("__proto__", "polluted", 1),
    set("constructor", "prototype.polluted", 1)
  ]

  it("pollute nothing", () => {
    expect(reasons(...hostile)).toEqual(hostile.map(() => "unsafePath"))
    expect(Reflect.get({}, "polluted")).toBe(undefined)
    expect(Reflect.get([], "polluted")).toBe(undefined)
  })

  it("see nothing inherited", () => {
    expect(reasons(set("toString", "a", 1), push("dock", "hasOwnProperty", 1))).toEqual(["unknownDomain", "missing"])
    expect(WorldstateDelta.apply(world, [inc("dock", "valueOf")]).world).toMatchObject({ dock: { valueOf: 1 } })
  })

  it("keep a value's own __proto__ a key", () => {
    const value = JSON.parse("{\"__proto__\":{\"polluted\":1},\"n\":1}")
    const { world: after } = WorldstateDelta.apply(world, [set("log", "v", value), inc("log", "v.n")])
    expect(JSON.stringify(after["log"])).toBe("{\"v\":{\"__proto__\":{\"polluted\":1},\"n\":2}}")
    expect(value.n).toBe(1)
  })

  it("carry deep values without overflowing", () => {
    const { applied } = WorldstateDelta.apply(world, [
      set("log", "v", nested(10_000)),
      push("dock", "data.entries", nested(10_000))
    ])
    expect(applied).toHaveLength(2)
  })
})

it("applies many deltas at one place with one copy", () => {
  const { world: after } = WorldstateDelta.apply(
    world,
    Array.from({ length: 100_000 }, (_, index) => push("dock", "data.entries", index))
  )
  expect(after).toMatchObject({ dock: { data: { entries: { length: 100_001 } } } })
})

describe("WorldState", () => {
  const artifact = (artifactId: string, deltas: ReadonlyArray<WorldstateDelta.Delta>) => ({
    artifactId,
    metadata: WorldstateDelta.toMetadata({ deltas })
  })

  it.effect("follows an agent's events, each delta once", () =>
    Effect.gen(function*() {
      const state = yield* WorldState.WorldState
      const first = artifact("a", [inc("dock", "data.n")])
      const events = Stream.make(
        { artifactUpdate: { taskId: "t", artifact: first } },
        { message: Cost.attach({}, Cost.empty) },
        { task: { id: "t", status: {}, artifacts: [first, artifact("b", [inc("dock", "data.n", 10)])] } }
      )
      const results = yield* Stream.runCollect(state.follow(events))
      expect(Chunk.map(results, ({ applied }) => applied.length)).toEqual(Chunk.make(1, 1))
      expect(yield* state.get).toMatchObject({ dock: { data: { n: 15 } } })
    }).pipe(Effect.provide(WorldState.layer(world))))

  it.effect("tells of every change, and of nothing else", () =>
    Effect.gen(function*() {
      const state = yield* WorldState.make({ dock: { n: 0 } })
      const listening = yield* Deferred.make<void>()
      const changes = Stream.tap(state.changes, () => Deferred.succeed(listening, undefined))
      const seen = yield* Effect.fork(Stream.runCollect(Stream.take(changes, 3)))
      yield* Deferred.await(listening)
      yield* state.apply([inc("dock", "n")])
      const { rejected } = yield* state.apply([push("dock", "n", 1)])
      expect(rejected).toHaveLength(1)
      yield* state.apply([inc("dock", "n")])
      expect(yield* Fiber.join(seen)).toEqual(Chunk.make({ dock: { n: 0 } }, { dock: { n: 1 } }, { dock: { n: 2 } }))
    }))
})
