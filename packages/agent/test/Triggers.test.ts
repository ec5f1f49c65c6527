import { ExtensionError } from "@effect-agentenv/agent/ExtensionError"
import * as RegexEngine from "@effect-agentenv/agent/RegexEngine"
import { InvalidRegex, RegexBudgetExceeded, RegexEngineError } from "@effect-agentenv/agent/RegexError"
import * as TriggerEngine from "@effect-agentenv/agent/TriggerEngine"
import * as Triggers from "@effect-agentenv/agent/Triggers"
import * as TriggerStore from "@effect-agentenv/agent/TriggerStore"
import { TriggersV1 } from "@effect-agentenv/protocol/extensions/TriggersV1"
import * as Trigger from "@effect-agentenv/protocol/Trigger"
import { Ids } from "@effect-agentenv/server"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Deferred, Effect, Exit, FastCheck, Fiber, Layer, Ref, Schema, TestClock } from "effect"

/** Patterns are those of JavaScript; one that holds `SLOW` takes 5 ms of a budget of 1,000 that is counted, and `DEAD` kills. */
const regexes = Layer.succeed(RegexEngine.RegexEngine, {
  check: (pattern) =>
    Effect.try({
      try: () => void new RegExp(pattern),
      catch: () => new InvalidRegex({ detail: "it is broken", position: 0 })
    }),
  decide: (text, expressions) =>
    Effect.gen(function*() {
      let spent = 0
      const answers: Array<boolean> = []
      const evaluate = (
        expression: RegexEngine.Expression
      ): Effect.Effect<boolean, RegexBudgetExceeded | RegexEngineError> =>
        Effect.suspend(() => {
          if (typeof expression === "boolean") return Effect.succeed(expression)
          if (expression._tag !== "Regex") {
            return (expression._tag === "All" ? Effect.every : Effect.exists)(expression.of, evaluate)
          }
          const { pattern } = expression
          if (pattern.includes("DEAD")) return new RegexEngineError({ detail: "the worker died" })
          spent += pattern.includes("SLOW") ? 5 : pattern.includes("(a|aa)+") && text.length > 30 ? 1001 : 0
          return spent > 1000
            ? new RegexBudgetExceeded({
              pattern: pattern.slice(0, 80),
              unevaluated: expressions.length - answers.length,
              budgetMillis: 1000
            })
            : Effect.succeed(new RegExp(pattern).test(text))
        })
      for (const expression of expressions) answers.push(yield* evaluate(expression))
      return answers
    })
})

const layer = Triggers.layerMemory.pipe(Layer.provide(regexes))

const step = { type: "step", turn: 1 }
const atTurn = (turn: number) => ({ type: "step", turn })
const always = { type: "step", cmp: "gte" }
const heard = (regex: string) => ({ type: "conversational", where: { message: { regex } } })
const rule = (id: string, when: unknown, more: object = {}) => ({
  id,
  when,
  actions: [{ type: "say", text: id }],
  ...more
})
const silence = { parts: [], done: false, fired: [] }
const says = (...fired: ReadonlyArray<string>) => ({
  parts: [{ kind: "text", text: fired.join("\n") }],
  done: false,
  fired
})

const register = (...triggers: ReadonlyArray<unknown>) =>
  Effect.flatMap(Triggers.Triggers, (service) => service.register({ triggers }))
const decide = (request: Triggers.DecideRequest) =>
  Effect.flatMap(Triggers.Triggers, (service) => service.decide(request))
const state = Effect.flatMap(Triggers.Triggers, (service) => service.state)

const bad = (message: string) => new ExtensionError({ status: 400, message })
const refused = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.flip(effect)

/** Every test has triggers of its own. */
const test = <A, E>(name: string, body: () => Effect.Effect<A, E, Triggers.Triggers>) =>
  it.effect(name, () => Effect.provide(body(), layer))

describe("register", () => {
  test("B-TRIG-1: answers what was added and all there is", () =>
    Effect.gen(function*() {
      expect(yield* register(rule("a", step))).toEqual({ ok: true, added: ["a"], all: ["a"] })
      expect(yield* register(rule("b", step), rule("c", step))).toEqual({
        ok: true,
        added: ["b", "c"],
        all: ["a", "b", "c"]
      })
    }))

  test("B-TRIG-1: one bad entry rejects the batch, and nothing is logged", () =>
    Effect.gen(function*() {
      expect(yield* refused(register(rule("a", step), rule("b", { type: "moon" })))).toEqual(
        bad("trigger 'b': when: unknown when.type 'moon'")
      )
      expect(yield* state).toEqual({ triggers: [], firing_log: [] })
    }))

  test("B-TRIG-2: triggers that are no list, or an empty one", () =>
    Effect.gen(function*() {
      const service = yield* Triggers.Triggers
      for (const triggers of [[], "x", undefined, {}]) {
        expect(yield* refused(service.register({ triggers }))).toEqual(bad("'triggers' must be a non-empty list"))
      }
    }))

  test("B-TRIG-5: an invalid regex is refused, and says where it stands", () =>
    Effect.gen(function*() {
      expect(yield* refused(register(rule("a", { type: "all", of: [step, heard("(open")] })))).toEqual(
        bad("trigger 'a': when.of[1].where.message.regex: invalid regex: it is broken at position 0")
      )
      expect((yield* refused(register(rule("a", step), { ...rule("b", heard("(")), id: null }))).message).toContain(
        "trigger[1]: when.where.message.regex: invalid regex"
      )
      expect((yield* state).triggers).toEqual([])
    }))

  test("B-TRIG-9, B-TRIG-14: 256 triggers fit, the 257th is refused and none is evicted", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 256 }, (_, i) => rule(`t${i}`, step))
      expect((yield* refused(register(...many, rule("extra", step)))).message).toContain("at most 256")
      yield* register(...many)
      expect(yield* refused(register(rule("extra", step)))).toEqual(
        bad("an agent may have at most 256 triggers: nothing was registered")
      )
      const { triggers } = yield* state
      expect(triggers.map(({ id }) => id)).toEqual(many.map(({ id }) => id))
      expect((yield* register(rule("t0", step))).added).toEqual(["t0"])
    }))

  test("B-TRIG-18: an identifier that is absent is minted: `trg_` and 12 hexadecimal digits", () =>
    Effect.gen(function*() {
      const { added, all } = yield* register({ when: step, actions: [{ type: "end" }] })
      expect(added).toHaveLength(1)
      expect(added[0]).toMatch(/^trg_[0-9a-f]{12}$/)
      expect(all).toEqual(added)
    }))

  test("B-TRIG-18: minted identifiers come from the server's", () =>
    Effect.gen(function*() {
      expect((yield* register({ when: step, actions: [{ type: "end" }] })).added).toEqual(["trg_0123456789ab"])
    }).pipe(Effect.provideService(Ids.Ids, { uuid: () => "", hex: () => "0123456789abcdef0123456789abcdef" })))

  test("B-TRIG-18: the same again succeeds, another of that name does not", () =>
    Effect.gen(function*() {
      yield* register(rule("a", step), rule("b", step))
      expect(
        yield* register({ actions: [{ text: "a", type: "say" }], once: true, when: { ...step, cmp: "eq" }, id: "a" })
      )
        .toEqual({ ok: true, added: ["a"], all: ["a", "b"] })
      expect(yield* refused(register(rule("c", step), rule("a", atTurn(2))))).toEqual(
        bad("trigger 'a' already registered with a different spec (use a new id)")
      )
      expect(yield* refused(register(rule("c", step), rule("c", step)))).toEqual(
        bad("trigger 'c' is in this batch twice")
      )
      expect((yield* state).triggers.map(({ id }) => id)).toEqual(["a", "b"])
    }))

  test("bad input leaves the state as it was", () =>
    Effect.gen(function*() {
      yield* register(rule("good", step))
      yield* decide({ turn: 1 })
      const before = yield* state
      let deep: unknown = step
      for (let i = 0; i < 10_000; i++) deep = { type: "any", of: [deep] }
      for (
        const trigger of [
          rule("r", heard("x".repeat(4097))),
          rule("r", heard("[")),
          rule("r", heard("\uD800")),
          rule("r", deep),
          rule("i".repeat(129), step),
          rule("r", step, { once: 1 }),
          rule("r", step, { actions: [{ type: "say", text: "y".repeat(8193) }] }),
          JSON.parse("{\"__proto__\":{\"id\":\"p\",\"when\":{\"type\":\"step\"},\"actions\":[{\"type\":\"end\"}]}}"),
          null
        ]
      ) expect(yield* refused(register(rule("fine", step), trigger))).toMatchObject({ status: 400 })
      expect(yield* state).toEqual(before)
    }))
})

describe("decide", () => {
  test("B-TRIG-4: a step fires on its turn, or from it on", () =>
    Effect.gen(function*() {
      yield* register(rule("on", atTurn(2)), rule("from", { ...atTurn(2), cmp: "gte" }, { once: false }))
      const fired = yield* Effect.forEach([1, 2, 3], (turn) => Effect.map(decide({ turn }), ({ fired }) => fired))
      expect(fired).toEqual([[], ["on", "from"], ["from"]])
    }))

  test("B-TRIG-5: a regex is searched, `equals` is all of the message, `exists` is one that is not empty", () =>
    Effect.gen(function*() {
      const message = (predicate: object) => ({ type: "conversational", where: { message: predicate } })
      yield* register(
        rule("regex", heard("at \\d+ C"), { once: false }),
        rule("start", heard("^a"), { once: false }),
        rule("equals", message({ equals: "aardvark" }), { once: false }),
        rule("other", message({ equals: ["aardvark"] }), { once: false }),
        rule("some", message({ exists: true }), { once: false }),
        rule("none", message({ exists: false }), { once: false })
      )
      const fired = (solver_message?: string) => Effect.map(decide({ turn: 1, solver_message }), ({ fired }) => fired)
      expect(yield* fired("the kiln is at 900 C")).toEqual(["regex", "some"])
      expect(yield* fired("aardvark")).toEqual(["start", "equals", "some"])
      expect(yield* fired("")).toEqual(["none"])
      expect(yield* fired()).toEqual(["none"])
    }))

  test("B-TRIG-6: an environment's trigger has the status that was asked for, `fired` unless told", () =>
    Effect.gen(function*() {
      const env = { type: "env_trigger", env_id: "parcels", trigger_id: "late" }
      yield* register(rule("fired", env, { once: false }), rule("armed", { ...env, status: "armed" }, { once: false }))
      const fired = (env_triggers?: Record<string, Record<string, unknown>>) =>
        Effect.map(decide({ turn: 1, env_triggers }), ({ fired }) => fired)
      expect(yield* fired({ parcels: { late: "fired" } })).toEqual(["fired"])
      expect(yield* fired({ parcels: { late: "armed" } })).toEqual(["armed"])
      expect(yield* fired({ parcels: { late: ["armed"] }, other: { late: "armed" } })).toEqual([])
      expect(yield* fired({})).toEqual([])
      expect(yield* fired()).toEqual([])
    }))

  test("B-TRIG-6: names that every object has inherit no status", () =>
    Effect.gen(function*() {
      const env = (env_id: string, trigger_id: string) =>
        rule(`${env_id}.${trigger_id}`, { type: "env_trigger", env_id, trigger_id })
      yield* register(env("__proto__", "x"), env("parcels", "constructor"))
      expect(yield* decide({ turn: 1, env_triggers: { parcels: {} } })).toEqual(silence)
      const env_triggers = JSON.parse("{\"__proto__\":{\"x\":\"fired\"}}")
      expect((yield* decide({ turn: 2, env_triggers })).fired).toEqual(["__proto__.x"])
    }))

  test("B-TRIG-7: all and any, nested", () =>
    Effect.gen(function*() {
      const equals = (text: string) => ({ type: "conversational", where: { message: { equals: text } } })
      const when = { type: "all", of: [atTurn(2), { type: "any", of: [equals("red"), equals("blue")] }] }
      yield* register(rule("nest", when))
      expect(yield* decide({ turn: 1, solver_message: "blue" })).toEqual(silence)
      expect(yield* decide({ turn: 2, solver_message: "blue" })).toEqual(says("nest"))
    }))

  test("B-TRIG-8, B-TRIG-10: in the order of registration, texts joined, `end` ends", () =>
    Effect.gen(function*() {
      yield* register(
        rule("z", step, {
          actions: [{ type: "say", text: "first" }, { type: "end" }, { type: "say", text: "second" }]
        }),
        rule("a", step)
      )
      expect(yield* decide({ turn: 1 })).toEqual({
        parts: [{ kind: "text", text: "first\nsecond\na" }],
        done: true,
        fired: ["z", "a"]
      })
      yield* register(rule("end", atTurn(3), { actions: [{ type: "end" }] }))
      expect(yield* decide({ turn: 3 })).toEqual({ parts: [], done: true, fired: ["end"] })
    }))

  test("B-TRIG-9, B-TRIG-11: what is no turn, no context or too long a message", () =>
    Effect.gen(function*() {
      const turn = "decide: 'turn' must be a positive integer"
      for (
        const [request, message] of [
          [{ turn: 0 }, turn],
          [{ turn: -1 }, turn],
          [{ turn: 1.5 }, turn],
          [{ turn: Number.NaN }, turn],
          [{ turn: 1, context_id: "" }, "decide: 'context_id' must be a non-empty string"],
          [{ turn: 1, context_id: "c".repeat(257) }, "decide: 'context_id' must be at most 256 characters"],
          [
            { turn: 1, solver_message: "m".repeat(200_001) },
            "decide: 'solver_message' must be at most 200000 characters"
          ]
        ] as const
      ) expect(yield* refused(decide(request))).toEqual(bad(message))
      yield* decide({ turn: 1, context_id: "\u{1F980}".repeat(256), solver_message: "m".repeat(200_000) })
    }))

  test("B-TRIG-12: once in a context, unless told; contexts are independent", () =>
    Effect.gen(function*() {
      yield* register(rule("once", always), rule("often", always, { once: false }))
      expect(yield* decide({ turn: 1, context_id: "c-1" })).toEqual(says("once", "often"))
      expect(yield* decide({ turn: 2, context_id: "c-1" })).toEqual(says("often"))
      expect(yield* decide({ turn: 2, context_id: "c-2" })).toEqual(says("once", "often"))
      expect(yield* decide({ turn: 1 })).toEqual(says("once", "often"))
    }))

  test("B-TRIG-13: a turn that is not greater starts the context anew, and is logged", () =>
    Effect.gen(function*() {
      yield* register(rule("a", always))
      yield* decide({ turn: 3 })
      expect(yield* decide({ turn: 3 })).toEqual(says("a"))
      expect(yield* decide({ turn: 4 })).toEqual(silence)
      expect(yield* decide({ turn: 2 })).toEqual(says("a"))
      expect((yield* state).firing_log.map(({ kind, seq }) => [seq, kind])).toEqual([
        [1, "registered"],
        [2, "fired"],
        [3, "reset"],
        [4, "fired"],
        [5, "reset"],
        [6, "fired"]
      ])
    }))

  test("B-TRIG-16, B-TRIG-17: the state lists triggers and the log, by the clock", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 11, 1, 12))
      yield* register(rule("a", step), rule("b", { type: "any", of: [always] }, { once: false }))
      yield* TestClock.adjust("90 seconds")
      yield* decide({ turn: 1, context_id: "c-1" })
      yield* decide({ turn: 1, context_id: "c-1", solver_message: "again" })
      const then = "2026-12-01T12:00:00.000Z"
      const now = "2026-12-01T12:01:30.000Z"
      const fired = { ts: now, kind: "fired", turn: 1, context_id: "c-1" }
      const answer = yield* state
      expect(answer).toEqual({
        triggers: [{ id: "a", when_type: "step", once: true }, { id: "b", when_type: "any", once: false }],
        firing_log: [
          { seq: 1, ts: then, kind: "registered", detail: { added: ["a", "b"] } },
          { seq: 2, ...fired, trigger_id: "a" },
          { seq: 3, ...fired, trigger_id: "b" },
          { seq: 4, ts: now, kind: "reset", context_id: "c-1", turn: 1 },
          { seq: 5, ...fired, trigger_id: "a" },
          { seq: 6, ...fired, trigger_id: "b" }
        ]
      })
      const { operations } = TriggersV1
      expect(yield* Schema.encode(operations.state.response)(answer)).toEqual(answer)
    }))
})

describe("the budget of patterns", () => {
  test("B-TRIG-15: a decision over it is a 504 and leaves no trace", () =>
    Effect.gen(function*() {
      yield* register(rule("step", always), rule("heard", heard("^(a|aa)+$")))
      yield* decide({ turn: 3, context_id: "known" })
      const before = yield* state
      for (const context_id of ["known", "new"]) {
        const error = yield* refused(decide({ turn: 2, context_id, solver_message: `${"a".repeat(40)}b` }))
        expect(error).toMatchObject({ _tag: "ExtensionError", status: 504 })
        expect(error.message).toContain("decision budget")
        expect(error.message).not.toContain("aaaa")
      }
      expect(yield* state).toEqual(before)
      expect(yield* decide({ turn: 2, context_id: "new", solver_message: "short" })).toEqual(says("step"))
      expect(yield* decide({ turn: 4, context_id: "known" })).toEqual(silence)
    }))

  test("R-6: all patterns of a decision share it, and the error names the one that was next, in 80 characters", () =>
    Effect.gen(function*() {
      yield* register(
        ...Array.from(
          { length: 256 },
          (_, i) => rule(`t${i}`, heard(`SLOW${String(i).padStart(3, "0")}${"x".repeat(100)}`))
        )
      )
      const error = yield* refused(decide({ turn: 1, solver_message: "hello" }))
      expect(error).toMatchObject({ status: 504 })
      expect(error.message).toContain(`exhausted before evaluating 'SLOW200${"x".repeat(73)}'`)
      expect(error.message).toContain("56 left")
    }))

  test("an engine that fails is no answer, and leaves no trace", () =>
    Effect.gen(function*() {
      yield* register(rule("step", always), rule("dead", heard("DEAD")))
      const before = yield* state
      expect(yield* refused(decide({ turn: 1 }))).toMatchObject({ _tag: "RegexEngineError" })
      expect(yield* state).toEqual(before)
    }))

  it.effect.prop(
    "B-TRIG-15: decisions that fail change nothing of those that do not",
    [FastCheck.array(
      FastCheck.record({
        fails: FastCheck.boolean(),
        register: FastCheck.boolean(),
        turn: FastCheck.integer({ min: 1, max: 4 }),
        context_id: FastCheck.constantFrom("x", "y"),
        solver_message: FastCheck.constantFrom("red", "blue")
      }),
      { maxLength: 20 }
    )],
    ([script]) =>
      Effect.gen(function*() {
        let failing = false
        const engine: RegexEngine.RegexEngine["Type"] = {
          check: () => Effect.void,
          decide: (text, expressions) =>
            failing
              ? new RegexBudgetExceeded({ pattern: "red", unevaluated: 1, budgetMillis: 1000 })
              : Effect.succeed(expressions.map((each) => typeof each === "boolean" ? each : text === "red"))
        }
        const play = (withFailures: boolean) =>
          Effect.gen(function*() {
            yield* register(rule("often", heard("red"), { once: false }))
            const answers: Array<unknown> = []
            for (const [index, { fails, register: registers, ...request }] of script.entries()) {
              if (registers) yield* register(rule(`t${index}`, index % 2 === 0 ? heard("red") : always))
              failing = fails
              if (!fails) answers.push(yield* decide(request))
              else if (withFailures) expect(yield* refused(decide(request))).toMatchObject({ status: 504 })
            }
            return { answers, state: yield* state }
          }).pipe(Effect.provide(Layer.provide(Triggers.layerMemory, Layer.succeed(RegexEngine.RegexEngine, engine))))
        expect(yield* play(true)).toEqual(yield* play(false))
      })
  )

  it.effect("a decision without patterns does not trouble the engine", () =>
    Effect.gen(function*() {
      yield* register(rule("a", { type: "any", of: [step, heard("x")] }))
      expect(yield* decide({ turn: 1 })).toEqual(says("a"))
    }).pipe(
      Effect.provide(Triggers.layerMemory),
      Effect.provideService(RegexEngine.RegexEngine, { check: () => Effect.void, decide: () => Effect.die("asked") })
    ))
})

describe("with the engine of Python's patterns", () => {
  const process = (options?: RegexEngine.Options) =>
    Layer.provide(Triggers.layerMemory, RegexEngine.layerInProcess(options))

  it.effect("B-TRIG-5: inline flags and Python's classes mean what they mean there", () =>
    Effect.gen(function*() {
      yield* register(
        rule("flag", heard("(?i)PARCEL")),
        rule("word", heard("^\\w+$")),
        rule("name", heard("(?P<x>l)(?P=x)"))
      )
      expect((yield* decide({ turn: 1, solver_message: "a parcel" })).fired).toEqual(["flag"])
      expect((yield* decide({ turn: 2, solver_message: "na\u00efve\n" })).fired).toEqual(["word"])
      expect((yield* decide({ turn: 3, solver_message: "all is well" })).fired).toEqual(["name"])
    }).pipe(Effect.provide(process())))

  it.effect("B-TRIG-5: what is broken and what can't be given its meaning are both 400", () =>
    Effect.gen(function*() {
      for (const pattern of ["(open", "a{2,1}", "(?R)", "\\N{DIGIT ONE}"]) {
        const error = yield* refused(register(rule("a", heard(pattern))))
        expect(error).toMatchObject({ _tag: "ExtensionError", status: 400 })
        expect(error.message).toMatch(/^trigger 'a': when\.where\.message\.regex: invalid regex/)
      }
      expect((yield* state).firing_log).toEqual([])
    }).pipe(Effect.provide(process())))

  it.effect("B-TRIG-15: a real catastrophe ends at its budget, and costs no earlier trigger its firing", () =>
    Effect.gen(function*() {
      yield* register(rule("step", always), rule("heard", heard("^(a|aa)+$")))
      const error = yield* refused(decide({ turn: 1, solver_message: `${"a".repeat(40)}b` }))
      expect(error).toMatchObject({ status: 504 })
      expect(error.message).toContain("decision budget")
      expect(yield* decide({ turn: 1, solver_message: "short" })).toEqual(says("step"))
    }).pipe(Effect.provide(process({ budget: "50 millis" }))))
})

/** An engine whose decisions begin in the order in which they come, one at a time, when they are let. */
const gate = Effect.gen(function*() {
  const began: Array<string> = []
  const running = { now: 0, most: 0 }
  const lane = yield* Effect.makeSemaphore(1)
  const open = yield* Deferred.make<void>()
  const engine: RegexEngine.RegexEngine["Type"] = {
    check: () => Effect.void,
    decide: (text, expressions) =>
      Effect.gen(function*() {
        began.push(text)
        running.most = Math.max(running.most, ++running.now)
        yield* Deferred.await(open)
        running.now--
        return expressions.map(() => true)
      }).pipe(lane.withPermits(1))
  }
  return { began, engine, open: Deferred.succeed(open, undefined), running }
})

describe("decisions at once", () => {
  const fair = Effect.gen(function*() {
    const { began, engine, open } = yield* gate
    yield* Effect.gen(function*() {
      yield* register(rule("a", heard("x"), { once: false }))
      const ask = (context_id: string, turn: number) =>
        Effect.fork(decide({ turn, context_id, solver_message: `${context_id}${turn}` }))
      const busy = yield* Effect.forEach(Arr.range(1, 50), (turn) => ask("busy", turn))
      yield* Effect.yieldNow()
      const calm = yield* ask("calm", 1)
      yield* Effect.yieldNow()
      yield* open
      yield* Fiber.joinAll([...busy, calm])
    }).pipe(Effect.provide(Layer.provide(Triggers.layerMemory, Layer.succeed(RegexEngine.RegexEngine, engine))))
    return began
  })

  it.effect("a context that asks much does not keep another one waiting, and its own stay in order", () =>
    Effect.gen(function*() {
      const began = yield* fair
      expect(began.slice(0, 3)).toEqual(["busy1", "calm1", "busy2"])
      expect(began.filter((text) => text !== "calm1")).toEqual(Arr.range(1, 50).map((turn) => `busy${turn}`))
    }))

  it.effect("decisions of one context are made one after the other, and lose none of each other's firings", () =>
    Effect.gen(function*() {
      yield* register(
        ...Arr.range(1, 20).map((turn) => rule(`t${turn}`, { type: "all", of: [atTurn(turn), heard("x")] }))
      )
      const decisions = yield* Effect.forEach(
        Arr.range(1, 20),
        (turn) => decide({ turn, solver_message: "x" }),
        { concurrency: "unbounded" }
      )
      expect(decisions.map(({ fired }) => fired)).toEqual(Arr.range(1, 20).map((turn) => [`t${turn}`]))
      expect((yield* state).firing_log).toHaveLength(21)
    }).pipe(Effect.provide(layer)))

  it.effect("a decision that is given up leaves no trace and lets the next one in", () =>
    Effect.gen(function*() {
      const { engine, open } = yield* gate
      yield* Effect.gen(function*() {
        yield* register(rule("a", heard("x")))
        const first = yield* Effect.fork(decide({ turn: 1 }))
        yield* Effect.yieldNow()
        const second = yield* Effect.fork(decide({ turn: 1 }))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(first)
        yield* open
        expect(yield* Fiber.join(second)).toEqual(says("a"))
        expect((yield* state).firing_log.map(({ kind }) => kind)).toEqual(["registered", "fired"])
      }).pipe(Effect.provide(Layer.provide(Triggers.layerMemory, Layer.succeed(RegexEngine.RegexEngine, engine))))
    }))

  it.effect("a trigger that is registered while a decision is under way is asked too", () =>
    Effect.gen(function*() {
      const { engine, open } = yield* gate
      yield* Effect.gen(function*() {
        yield* register(rule("a", heard("x")))
        const decision = yield* Effect.fork(decide({ turn: 1 }))
        yield* Effect.yieldNow()
        yield* register(rule("b", always))
        yield* open
        expect(yield* Fiber.join(decision)).toEqual(says("a", "b"))
      }).pipe(Effect.provide(Layer.provide(Triggers.layerMemory, Layer.succeed(RegexEngine.RegexEngine, engine))))
    }))
})

describe("a store that lasts", () => {
  /** Keeps JSON, as a database would. */
  const durable = (ref: Ref.Ref<{ readonly version: number; readonly json: string }>) => {
    const codec = Schema.parseJson(TriggerEngine.State)
    return Layer.succeed(TriggerStore.TriggerStore, {
      get: Effect.flatMap(
        Ref.get(ref),
        ({ json, version }) =>
          Effect.map(Effect.orDie(Schema.decode(codec)(json)), (read) => ({ state: read, version }))
      ),
      compareAndSet: (version, next) =>
        Effect.flatMap(
          Effect.orDie(Schema.encode(codec)(next)),
          (json) =>
            Ref.modify(ref, (now) => now.version === version ? [true, { version: version + 1, json }] : [false, now])
        )
    })
  }
  const empty = Effect.flatMap(
    Effect.orDie(Schema.encode(Schema.parseJson(TriggerEngine.State))(TriggerEngine.empty)),
    (json) => Ref.make({ version: 0, json })
  )

  it.effect("what has fired once does not fire again after a restart", () =>
    Effect.gen(function*() {
      const ref = yield* empty
      const process = Triggers.layer.pipe(Layer.provide([durable(ref), regexes]))
      yield* Effect.provide(Effect.zip(register(rule("a", always)), decide({ turn: 1 })), process)
      const [decision, after] = yield* Effect.provide(Effect.zip(decide({ turn: 2 }), state), process)
      expect(decision).toEqual(silence)
      expect(after.firing_log.map(({ seq }) => seq)).toEqual([1, 2])
    }))

  it.effect("two processes on one store lose nothing of each other", () =>
    Effect.gen(function*() {
      const ref = yield* empty
      const one = Layer.build(Triggers.layer.pipe(Layer.provide([durable(ref), regexes])))
      const processes = yield* Effect.all([one, one])
      const both = <A, E>(effect: (index: number) => Effect.Effect<A, E, Triggers.Triggers>) =>
        Effect.forEach(processes, (context, index) => Effect.provide(effect(index), context), { concurrency: 2 })
      yield* both((index) => register(...Arr.range(1, 10).map((i) => rule(`${index}-${i}`, always))))
      yield* both((index) =>
        Effect.forEach(Arr.range(1, 20), (turn) => decide({ turn, context_id: `c${index}` }), { discard: true })
      )
      const { firing_log, triggers } = yield* Effect.provide(state, processes[0])
      expect(triggers).toHaveLength(20)
      expect(firing_log).toHaveLength(42)
      expect(firing_log.map(({ seq }) => seq)).toEqual(Arr.range(1, 42))
    }).pipe(Effect.scoped))

  it.effect("a store that can't be reached fails typed", () =>
    Effect.gen(function*() {
      const error = new TriggerStore.TriggerStoreError({ operation: "get", cause: "gone" })
      const store = Layer.succeed(TriggerStore.TriggerStore, {
        get: Effect.fail(error),
        compareAndSet: () => Effect.fail(error)
      })
      const process = Triggers.layer.pipe(Layer.provide([store, regexes]))
      const exits = yield* Effect.provide(
        Effect.all([Effect.exit(register(rule("a", step))), Effect.exit(decide({ turn: 1 })), Effect.exit(state)]),
        process
      )
      expect(exits).toEqual([Exit.fail(error), Exit.fail(error), Exit.fail(error)])
    }))
})

describe("an override", () => {
  it.effect("B-REG-15, B-EX-4: may add to what the library answers, from the same state", () =>
    Effect.gen(function*() {
      const overridden = TriggersV1.of({
        ...Triggers.handlers,
        decide: (request) =>
          Effect.map(Triggers.handlers.decide(request), (decision) =>
            request.turn < 3 ? decision : {
              ...decision,
              fired: [...decision.fired, "reference-turn-limit"],
              done: true
            })
      })
      yield* register(rule("a", always))
      const request = { solver_message: "", context_id: "default" }
      expect(yield* overridden.decide({ ...request, turn: 1 })).toEqual(says("a"))
      expect(yield* overridden.decide({ ...request, turn: 3 })).toEqual({
        parts: [],
        done: true,
        fired: ["reference-turn-limit"]
      })
      expect((yield* overridden.state()).firing_log).toHaveLength(2)
      expect(yield* overridden.register({ triggers: [rule("b", step)] })).toMatchObject({ all: ["a", "b"] })
    }).pipe(Effect.provide(layer)))

  it.effect("B-REG-14: the library's handlers implement the extension whole", () =>
    Effect.gen(function*() {
      const built = yield* Layer.build(Layer.provide(
        TriggersV1.toLayer(Effect.succeed(Triggers.handlers)),
        layer
      ))
      expect(built).toBeDefined()
      // @ts-expect-error: an override of one operation is none
      void TriggersV1.toLayer(Effect.succeed({ state: Triggers.handlers.state }))
    }).pipe(Effect.scoped))
})

it("limits are those of the contract (B-TRIG-9)", () => {
  expect(TriggerEngine.limits).toEqual({ triggers: 256, contexts: 1024, log: 1024, contextId: 256, message: 200_000 })
  expect(Trigger.limits).toEqual({
    triggers: 256,
    id: 128,
    text: 8192,
    regex: 4096,
    environmentId: 256,
    environmentTriggerId: 128,
    status: 128,
    bytes: 16_384,
    depth: 250
  })
})
