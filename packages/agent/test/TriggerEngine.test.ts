import * as TriggerEngine from "@effect-agentenv/agent/TriggerEngine"
import * as Trigger from "@effect-agentenv/protocol/Trigger"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Schema } from "effect"
import type { Expression } from "../src/RegexEngine.ts"

/** What the contract says, as plainly as it can be said: everything is remembered in place, and nothing is prepared. */
class Model {
  readonly rules = new Map<string, Trigger.Rule>()
  readonly contexts = new Map<string, { last: number; fired: Set<string> }>()
  log: Array<object> = []
  sequence = 0

  emit(kind: string, more: object) {
    this.log.push({ seq: ++this.sequence, kind, ...more })
    if (this.log.length > 1024) this.log.shift()
  }

  register(rules: ReadonlyArray<Trigger.Rule>) {
    const ids = rules.map(({ id }) => id)
    const clash = rules.some((rule) => {
      const other = this.rules.get(rule.id)
      return other !== undefined && JSON.stringify(other) !== JSON.stringify(rule)
    })
    if (new Set(ids).size < ids.length || clash || new Set([...this.rules.keys(), ...ids]).size > 256) return undefined
    for (const rule of rules) this.rules.set(rule.id, rule)
    this.emit("registered", { detail: { added: ids } })
    return { added: ids, all: [...this.rules.keys()] }
  }

  matches(when: Trigger.Condition, event: TriggerEngine.Event): boolean {
    switch (when.type) {
      case "step":
        return when.cmp === "eq" ? event.turn === when.turn : event.turn >= when.turn
      case "env_trigger":
        return event.envTriggers[when.env_id]?.[when.trigger_id] === when.status
      case "conversational": {
        const predicate = when.where.message
        if ("regex" in predicate) return new RegExp(predicate.regex).test(event.message)
        if ("equals" in predicate) return predicate.equals === event.message
        return predicate.exists === event.message.length > 0
      }
      case "all":
        return when.of.every((each) => this.matches(each, event))
      case "any":
        return when.of.some((each) => this.matches(each, event))
    }
  }

  decide(event: TriggerEngine.Event) {
    const context = this.contexts.get(event.contextId) ?? { last: 0, fired: new Set<string>() }
    this.contexts.set(event.contextId, context)
    const { contextId: context_id, turn } = event
    if (turn <= context.last) {
      context.fired.clear()
      this.emit("reset", { context_id, turn })
    }
    context.last = turn
    const fired = [...this.rules.values()].filter((rule) =>
      !(rule.once && context.fired.has(rule.id)) && this.matches(rule.when, event)
    )
    const actions = fired.flatMap((rule) => rule.actions)
    for (const { id } of fired) {
      context.fired.add(id)
      this.emit("fired", { trigger_id: id, turn, context_id })
    }
    const said = actions.filter((action) => action.type === "say").map(({ text }) => text)
    return {
      parts: said.length === 0 ? [] : [{ kind: "text", text: said.join("\n") }],
      done: actions.some((action) => action.type === "end"),
      fired: fired.map(({ id }) => id)
    }
  }
}

const words = ["", "red", "blue", "red parcel"]

const condition = FastCheck.letrec<{ condition: Trigger.Condition; leaf: Trigger.Condition }>((tie) => ({
  condition: FastCheck.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    FastCheck.record({
      type: FastCheck.constantFrom("all" as const, "any" as const),
      of: FastCheck.array(tie("condition"), { minLength: 1, maxLength: 3 })
    })
  ),
  leaf: FastCheck.oneof(
    FastCheck.record({
      type: FastCheck.constant("step" as const),
      turn: FastCheck.integer({ min: 1, max: 4 }),
      cmp: FastCheck.constantFrom("eq" as const, "gte" as const)
    }),
    FastCheck.record({
      type: FastCheck.constant("env_trigger" as const),
      env_id: FastCheck.constantFrom("parcels", "__proto__"),
      trigger_id: FastCheck.constantFrom("late", "lost"),
      status: FastCheck.constantFrom("fired", "armed")
    }),
    FastCheck.oneof(
      FastCheck.record({ regex: FastCheck.constantFrom("^red", "parcel", "e", "x") }),
      FastCheck.record({ equals: FastCheck.constantFrom(...words) }),
      FastCheck.record({ exists: FastCheck.boolean() })
    ).map((message) => ({ type: "conversational" as const, where: { message } }))
  )
})).condition

const rule: FastCheck.Arbitrary<Trigger.Rule> = FastCheck.record({
  id: FastCheck.constantFrom("a", "b", "c", "d", "e"),
  once: FastCheck.boolean(),
  when: condition,
  actions: FastCheck.array(FastCheck.constantFrom(Trigger.say("one"), Trigger.say("two"), Trigger.end), {
    minLength: 1,
    maxLength: 2
  })
})

const event: FastCheck.Arbitrary<TriggerEngine.Event> = FastCheck.record({
  turn: FastCheck.integer({ min: 1, max: 5 }),
  contextId: FastCheck.constantFrom("x", "y", "__proto__"),
  message: FastCheck.constantFrom(...words),
  envTriggers: FastCheck.dictionary(
    FastCheck.constantFrom("parcels", "other"),
    FastCheck.dictionary(FastCheck.constantFrom("late", "lost"), FastCheck.constantFrom("fired", "armed", 1))
  )
})

const steps = FastCheck.array(
  FastCheck.oneof(
    { weight: 1, arbitrary: FastCheck.array(rule, { minLength: 1, maxLength: 3 }) },
    { weight: 4, arbitrary: event }
  ),
  { maxLength: 25 }
)

const evaluate = (message: string) => (expression: Expression): boolean =>
  typeof expression === "boolean"
    ? expression
    : expression._tag === "Regex"
    ? new RegExp(expression.pattern).test(message)
    : expression._tag === "All"
    ? expression.of.every(evaluate(message))
    : expression.of.some(evaluate(message))

const mint = () => "trg_0123456789ab"

const decide = (state: TriggerEngine.State, what: TriggerEngine.Event, now = 0) => {
  const plan = TriggerEngine.plan(state, what)
  return plan._tag === "Refused"
    ? plan
    : TriggerEngine.commit(state, plan, plan.expressions.map(evaluate(what.message)), now)
}

const say = (id: string, when: Trigger.Condition, once = true): Trigger.Rule => ({
  id,
  once,
  when,
  actions: [Trigger.say(id)]
})

const registered = (rules: ReadonlyArray<Trigger.Trigger>, state = TriggerEngine.empty): TriggerEngine.State => {
  const result = TriggerEngine.register(state, rules, { now: 0, mint })
  return result._tag === "Registered" ? result.state : state
}

const calm: TriggerEngine.Event = { turn: 1, contextId: "x", message: "", envTriggers: {} }

/** A run of steps: the last state, and what every step came to. */
const play = (script: ReadonlyArray<ReadonlyArray<Trigger.Rule> | TriggerEngine.Event>, from = TriggerEngine.empty) => {
  let state = from
  const results = script.map((each) => {
    const result = "turn" in each ? decide(state, each) : TriggerEngine.register(state, each, { now: 0, mint })
    if ("state" in result) state = result.state
    return result
  })
  return { results, state }
}

const regex = (pattern: string) => Trigger.conversational({ regex: pattern })

describe("TriggerEngine", () => {
  it.prop("decides as a naive model does, whatever is registered and whatever happens", [steps], ([script]) => {
    const model = new Model()
    const { results, state } = play(script)
    script.forEach((each, index) => {
      const result = results[index]
      if ("turn" in each) {
        expect(result).toMatchObject({ _tag: "Committed" })
        expect(result).toHaveProperty("decision", model.decide(each))
        return
      }
      const expected = model.register(each)
      expect(result).toMatchObject(expected === undefined ? { _tag: "Refused" } : expected)
    })
    expect(TriggerEngine.view(state).firing_log).toEqual(
      model.log.map((entry) => ({ ts: "1970-01-01T00:00:00.000Z", ...entry }))
    )
    expect(state.rules.map(({ id }) => id)).toEqual([...model.rules.keys()])
  }, { fastCheck: { numRuns: 500 } })

  it.effect.prop("a state survives being JSON", [steps, steps], ([before, after]) =>
    Effect.gen(function*() {
      const { state } = play(before)
      const json: unknown = JSON.parse(JSON.stringify(yield* Schema.encode(TriggerEngine.State)(state)))
      const again = yield* Schema.decodeUnknown(TriggerEngine.State)(json)
      expect(play(after, again).results.map((result) => ({ ...result, state: undefined }))).toEqual(
        play(after, state).results.map((result) => ({ ...result, state: undefined }))
      )
    }))

  it.prop(
    "V-4: a turn that is not greater finds the conversation as if it had never been",
    [steps, event],
    ([script, last]) => {
      const { state } = play([...script, { ...last, turn: 5 }])
      const fresh = registered(state.rules)
      expect(decide(state, last)).toHaveProperty(
        "decision",
        (decide(fresh, last) as TriggerEngine.Committed).decision
      )
    }
  )

  it("B-TRIG-15: no pattern is asked for that an evaluation from left to right would not come to", () => {
    const no = Trigger.step({ turn: 9 })
    const yes = Trigger.step({ turn: 1 })
    const a = { _tag: "Regex", pattern: "a" }
    const b = { _tag: "Regex", pattern: "b" }
    const of = (when: Trigger.Condition) => {
      const plan = TriggerEngine.plan(registered([say("r", when)]), calm)
      return plan._tag === "Planned" ? plan.expressions[0] : plan
    }
    expect(of(Trigger.all([no, regex("a")]))).toBe(false)
    expect(of(Trigger.all([yes, regex("a")]))).toEqual(a)
    expect(of(Trigger.all([yes, yes]))).toBe(true)
    expect(of(Trigger.all([regex("a"), no, regex("b")]))).toEqual({ _tag: "All", of: [a, false] })
    expect(of(Trigger.any([yes, regex("a")]))).toBe(true)
    expect(of(Trigger.any([no, regex("a"), no, regex("b")]))).toEqual({ _tag: "Any", of: [a, b] })
    expect(of(Trigger.any([no, no]))).toBe(false)
    expect(of(Trigger.any([regex("a"), yes, regex("b")]))).toEqual({ _tag: "Any", of: [a, true] })
    expect(of(Trigger.all([Trigger.any([no, regex("a")]), Trigger.any([yes])]))).toEqual(a)
  })

  it("B-TRIG-12: a trigger that has fired is not asked again in its conversation", () => {
    const state = registered([say("once", regex("a")), say("often", regex("b"), false)])
    const result = decide(state, { ...calm, message: "ab" }) as TriggerEngine.Committed
    const plan = TriggerEngine.plan(result.state, { ...calm, turn: 2 })
    expect(plan).toMatchObject({ expressions: [{ pattern: "b" }] })
    expect(TriggerEngine.plan(result.state, { ...calm, turn: 2, contextId: "y" })).toMatchObject({
      expressions: [{ pattern: "a" }, { pattern: "b" }]
    })
  })

  it("B-TRIG-14: a context beyond 1,024 is refused, those that are there go on", () => {
    let state = TriggerEngine.empty
    for (let i = 0; i < 1024; i++) {
      state = (decide(state, { ...calm, contextId: `c${i}` }) as TriggerEngine.Committed).state
    }
    const before = TriggerEngine.plan(TriggerEngine.empty, { ...calm, contextId: "new" }) as TriggerEngine.Plan
    const refusal = { _tag: "Refused", reason: "decide: an agent may have at most 1024 contexts" }
    expect(decide(state, { ...calm, contextId: "new" })).toEqual(refusal)
    expect(TriggerEngine.commit(state, before, [], 0)).toEqual(refusal)
    expect(decide(state, { ...calm, contextId: "c0", turn: 2 })).toMatchObject({ _tag: "Committed" })
  })

  it("B-TRIG-14: the log keeps its latest 1,024 entries, and `seq` goes on", () => {
    const state = registered(
      Array.from({ length: 256 }, (_, i) => say(`t${i}`, Trigger.step({ cmp: "gte" }), false))
    )
    const { state: after } = play(Array.from({ length: 5 }, (_, i) => ({ ...calm, turn: i + 1 })), state)
    const log = TriggerEngine.view(after).firing_log
    expect(log).toHaveLength(1024)
    expect([log[0]?.seq, log[1023]?.seq, after.sequence]).toEqual([258, 1281, 1281])
  })

  it("a plan is stale once its conversation went on or triggers were added, not when another conversation did", () => {
    const state = registered([say("a", Trigger.step({ cmp: "gte" }))])
    const plan = TriggerEngine.plan(state, calm) as TriggerEngine.Plan
    const commit = (later: TriggerEngine.State) => TriggerEngine.commit(later, plan, [true], 0)._tag
    expect(commit(play([{ ...calm, contextId: "y" }], state).state)).toBe("Committed")
    expect(commit(play([calm], state).state)).toBe("Stale")
    expect(commit(registered([say("b", Trigger.step())], state))).toBe("Stale")
    expect(commit(registered([say("a", Trigger.step({ cmp: "gte" }))], state))).toBe("Committed")
  })

  it("identifiers of a batch must differ, those that are minted included", () => {
    const unnamed = { once: true, when: Trigger.step(), actions: [Trigger.end] }
    expect(TriggerEngine.register(TriggerEngine.empty, [unnamed, unnamed], { now: 0, mint })).toEqual({
      _tag: "Refused",
      reason: "trigger 'trg_0123456789ab' is in this batch twice"
    })
  })
})
