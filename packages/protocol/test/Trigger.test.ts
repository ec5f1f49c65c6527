import * as Contract from "@effect-agentenv/protocol/Contract"
import * as TriggersV1 from "@effect-agentenv/protocol/extensions/TriggersV1"
import * as Trigger from "@effect-agentenv/protocol/Trigger"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Effect, FastCheck, Schema } from "effect"

const step = { type: "step", turn: 1 }
const say = { type: "say", text: "now" }
const end = { type: "end" }

const withWhen = (when: unknown) => ({ id: "late", when, actions: [say] })
const withAction = (action: unknown) => ({ id: "late", when: step, actions: [action] })
const withMessage = (message: unknown) => withWhen({ type: "conversational", where: { message } })
const withEnv = (more: object) => withWhen({ type: "env_trigger", env_id: "parcels", trigger_id: "late", ...more })

const why = (input: unknown, index?: number) =>
  Effect.map(Effect.flip(Trigger.decode(input, index)), ({ message }) => message)

const nested = (depth: number, leaf: unknown): unknown => {
  let inner = leaf
  for (let i = 0; i < depth; i++) inner = { type: i % 2 === 0 ? "all" : "any", of: [inner] }
  return inner
}

const list = (depth: number): unknown => {
  let inner: unknown = []
  for (let i = 0; i < depth; i++) inner = [inner]
  return inner
}

describe("Trigger", () => {
  it.effect("a built trigger is its own wire JSON", () =>
    Effect.gen(function*() {
      const built = Trigger.make({
        id: "late",
        when: Trigger.all([
          Trigger.step({ turn: 2, cmp: "gte" }),
          Trigger.any([
            Trigger.conversational({ regex: "(?i)parcel" }),
            Trigger.conversational({ equals: "red" }),
            Trigger.conversational({ exists: false }),
            Trigger.envTrigger({ envId: "parcels", triggerId: "late", status: "armed" })
          ])
        ]),
        actions: [Trigger.say("too late"), Trigger.end],
        once: false
      })
      const wire: unknown = JSON.parse(JSON.stringify(built))
      expect(wire).toEqual({
        id: "late",
        once: false,
        when: {
          type: "all",
          of: [
            { type: "step", turn: 2, cmp: "gte" },
            {
              type: "any",
              of: [
                { type: "conversational", where: { message: { regex: "(?i)parcel" } } },
                { type: "conversational", where: { message: { equals: "red" } } },
                { type: "conversational", where: { message: { exists: false } } },
                { type: "env_trigger", env_id: "parcels", trigger_id: "late", status: "armed" }
              ]
            }
          ]
        },
        actions: [{ type: "say", text: "too late" }, { type: "end" }]
      })
      expect(yield* Trigger.decode(wire)).toEqual(built)
      expect(Trigger.patterns(built)).toEqual([
        { field: "when.of[1].of[0].where.message.regex", pattern: "(?i)parcel" }
      ])
    }))

  it("a condition of none, actions of none and two predicates in one do not compile", () => {
    expectTypeOf(Trigger.all).parameter(0).toEqualTypeOf<
      readonly [Trigger.Condition, ...ReadonlyArray<Trigger.Condition>]
    >()
    // @ts-expect-error: `all` of nothing
    Trigger.all([])
    // @ts-expect-error: no actions
    Trigger.make({ when: Trigger.step(), actions: [] })
    // @ts-expect-error: no such comparison
    Trigger.step({ turn: 1, cmp: "lt" })
    // @ts-expect-error: a predicate is a regex, a text or a boolean
    Trigger.conversational({ regex: 1 })
  })

  it.effect("B-TRIG-18: defaults are written out, and what means nothing is dropped", () =>
    Effect.gen(function*() {
      expect(yield* Trigger.decode({ when: { type: "step", colour: "red" }, actions: [{ ...end, text: 1 }], note: 1 }))
        .toEqual({ once: true, when: { type: "step", turn: 1, cmp: "eq" }, actions: [end] })
      expect(yield* Trigger.decode({ ...withEnv({}), id: null })).toEqual({
        once: true,
        when: { type: "env_trigger", env_id: "parcels", trigger_id: "late", status: "fired" },
        actions: [say]
      })
    }))

  it.effect("B-TRIG-2: a list must be one, with something in it", () =>
    Effect.gen(function*() {
      for (const input of [undefined, null, "x", {}, [], 1]) {
        const error = yield* Effect.flip(Trigger.decodeAll(input))
        expect(error.message).toBe("'triggers' must be a non-empty list")
      }
      expect((yield* Trigger.decodeAll([withWhen(step)])).map(({ id }) => id)).toEqual(["late"])
    }))

  it.effect("B-TRIG-9: 256 triggers at once are read, 257 are not", () =>
    Effect.gen(function*() {
      const many = (count: number) => Array.from({ length: count }, () => ({ when: step, actions: [end] }))
      expect(yield* Trigger.decodeAll(many(256))).toHaveLength(256)
      expect((yield* Effect.flip(Trigger.decodeAll(many(257)))).message).toBe("'triggers' may hold at most 256")
    }))

  it.effect.each<readonly [string, unknown, string]>([
    ["B-TRIG-3: no type that there is", withWhen({ type: "moon" }), "trigger 'late': when: unknown when.type 'moon'"],
    [
      "B-TRIG-3: a type that is no text",
      withWhen({ type: 1 }),
      "trigger 'late': when: a condition must be an object with a 'type' that is a string"
    ],
    [
      "B-TRIG-3: no condition",
      { id: "late", actions: [say] },
      "trigger 'late': when: a condition must be an object with a 'type' that is a string"
    ],
    [
      "B-TRIG-3: a type that is inherited",
      withWhen(JSON.parse("{\"__proto__\":{\"type\":\"step\"}}")),
      "trigger 'late': when: a condition must be an object with a 'type' that is a string"
    ],
    [
      "B-TRIG-4: turn 0",
      withWhen({ type: "step", turn: 0 }),
      "trigger 'late': when: step.turn must be a positive integer"
    ],
    [
      "B-TRIG-4: a turn that is true",
      withWhen({ type: "step", turn: true }),
      "trigger 'late': when: step.turn must be a positive integer"
    ],
    [
      "B-TRIG-4: a turn in quotes",
      withWhen({ type: "step", turn: "2" }),
      "trigger 'late': when: step.turn must be a positive integer"
    ],
    [
      "B-TRIG-4: a turn that is null",
      withWhen({ type: "step", turn: null }),
      "trigger 'late': when: step.turn must be a positive integer"
    ],
    [
      "B-TRIG-4: another comparison",
      withWhen({ type: "step", cmp: "lt" }),
      "trigger 'late': when: step.cmp must be 'eq' or 'gte'"
    ],
    [
      "B-TRIG-5: no `where`",
      withWhen({ type: "conversational" }),
      "trigger 'late': when: conversational.where must be an object with a 'message'"
    ],
    [
      "B-TRIG-5: `where` without fields",
      withWhen({ type: "conversational", where: {} }),
      "trigger 'late': when: conversational.where must be an object with a 'message'"
    ],
    [
      "B-TRIG-5: another field",
      withWhen({ type: "conversational", where: { message: { equals: "a" }, role: { equals: "b" } } }),
      "trigger 'late': when: conversational.where takes no other field than 'message'"
    ],
    [
      "B-TRIG-5: no predicate",
      withMessage({}),
      "trigger 'late': when: where.message must have exactly one of 'regex', 'equals' and 'exists'"
    ],
    [
      "B-TRIG-5: two predicates",
      withMessage({ regex: "a", equals: null }),
      "trigger 'late': when: where.message must have exactly one of 'regex', 'equals' and 'exists'"
    ],
    [
      "B-TRIG-5: a predicate that is a text",
      withMessage("a"),
      "trigger 'late': when: where.message must have exactly one of 'regex', 'equals' and 'exists'"
    ],
    [
      "B-TRIG-5: a regex that is no text",
      withMessage({ regex: 1 }),
      "trigger 'late': when: where.message.regex must be a string"
    ],
    [
      "B-TRIG-9: a regex too long",
      withMessage({ regex: "a".repeat(4097) }),
      "trigger 'late': when: where.message.regex must be at most 4096 characters"
    ],
    [
      "B-TRIG-5: `exists` that is no boolean",
      withMessage({ exists: 1 }),
      "trigger 'late': when: where.message.exists must be a boolean"
    ],
    [
      "B-TRIG-6: no environment",
      withWhen({ type: "env_trigger", trigger_id: "a" }),
      "trigger 'late': when: env_trigger.env_id must be a non-empty string"
    ],
    [
      "B-TRIG-6: no trigger",
      withEnv({ trigger_id: "" }),
      "trigger 'late': when: env_trigger.trigger_id must be a non-empty string"
    ],
    [
      "B-TRIG-6: a status that is null",
      withEnv({ status: null }),
      "trigger 'late': when: env_trigger.status must be a non-empty string"
    ],
    [
      "B-TRIG-9: an environment too long",
      withEnv({ env_id: "e".repeat(257) }),
      "trigger 'late': when: env_trigger.env_id must be at most 256 characters"
    ],
    [
      "B-TRIG-9: an environment's trigger too long",
      withEnv({ trigger_id: "e".repeat(129) }),
      "trigger 'late': when: env_trigger.trigger_id must be at most 128 characters"
    ],
    [
      "B-TRIG-9: a status too long",
      withEnv({ status: "e".repeat(129) }),
      "trigger 'late': when: env_trigger.status must be at most 128 characters"
    ],
    [
      "B-TRIG-7: all of nothing",
      withWhen({ type: "all", of: [] }),
      "trigger 'late': when: all.of must be a non-empty list"
    ],
    [
      "B-TRIG-7: any of no list",
      withWhen({ type: "any", of: step }),
      "trigger 'late': when: any.of must be a non-empty list"
    ],
    [
      "B-TRIG-7: one deep inside",
      withWhen({ type: "all", of: [step, { type: "any", of: [step, { type: "sun" }] }] }),
      "trigger 'late': when.of[1].of[1]: unknown when.type 'sun'"
    ],
    ["B-TRIG-8: no actions", { id: "late", when: step }, "trigger 'late': actions: must be a non-empty list"],
    [
      "B-TRIG-8: a list of no actions",
      { id: "late", when: step, actions: [] },
      "trigger 'late': actions: must be a non-empty list"
    ],
    [
      "B-TRIG-8: another action",
      withAction({ type: "sing" }),
      "trigger 'late': actions[0]: unknown action.type 'sing'"
    ],
    [
      "B-TRIG-8: an action that is a text",
      withAction("end"),
      "trigger 'late': actions[0]: an action must be an object with a 'type' that is a string"
    ],
    [
      "B-TRIG-8: nothing to say",
      withAction({ type: "say", text: "" }),
      "trigger 'late': actions[0]: say.text must be a non-empty string"
    ],
    [
      "B-TRIG-8: too much to say",
      withAction({ type: "say", text: "y".repeat(8193) }),
      "trigger 'late': actions[0]: say.text must be at most 8192 characters"
    ],
    [
      "B-TRIG-9: an identifier too long",
      { ...withWhen(step), id: "i".repeat(129) },
      "trigger[7]: id: must be at most 128 characters"
    ],
    ["an identifier of nothing", { ...withWhen(step), id: "" }, "trigger[7]: id: must be a non-empty string"],
    ["an identifier that is a number", { ...withWhen(step), id: 7 }, "trigger[7]: id: must be a non-empty string"],
    [
      "B-TRIG-12: `once` that is no boolean",
      { ...withWhen(step), once: null },
      "trigger 'late': once: must be a boolean"
    ],
    ["no object", "late", "trigger[7]: must be an object"],
    ["a list", [], "trigger[7]: must be an object"],
    [
      "without an identifier its place names it",
      { when: step, actions: [end], once: 1 },
      "trigger[7]: once: must be a boolean"
    ]
  ])("refuses %s", ([, input, message]) =>
    Effect.gen(function*() {
      expect(yield* why(input, 7)).toBe(message)
    }))

  it.effect("B-TRIG-9: what is as long as it may be is read, in characters as Python counts them", () =>
    Effect.gen(function*() {
      const wide = "\u{1F980}"
      for (
        const input of [
          { ...withWhen(step), id: wide.repeat(128) },
          withAction({ type: "say", text: "y".repeat(8192) }),
          withAction({ type: "say", text: wide.repeat(4000) }),
          withMessage({ regex: "a".repeat(4096) }),
          withEnv({ env_id: "e".repeat(256), trigger_id: "t".repeat(128), status: "s".repeat(128) })
        ]
      ) yield* Trigger.decode(input)
      expect(yield* why({ ...withWhen(step), id: wide.repeat(129) })).toBe(
        "trigger[0]: id: must be at most 128 characters"
      )
    }))

  it.effect("B-TRIG-9: a trigger is at most 16 KiB of compact JSON", () =>
    Effect.gen(function*() {
      const of = (bytes: number) => {
        const actions = [8000, 8000, 1].map((length) => ({ type: "say", text: "y".repeat(length) }))
        const size = JSON.stringify({
          id: "late",
          once: true,
          when: { type: "step", turn: 1, cmp: "eq" },
          actions
        }).length
        return {
          id: "late",
          when: step,
          actions: [...actions.slice(0, 2), { type: "say", text: "y".repeat(1 + bytes - size) }]
        }
      }
      yield* Trigger.decode(of(16_384))
      expect(yield* why(of(16_385))).toBe("trigger 'late': must be at most 16384 bytes of JSON")
      expect(yield* why(withMessage({ equals: "\u20AC".repeat(5_500) }))).toContain("16384 bytes")
    }))

  it.effect("conditions nested 10,000 deep are refused, whatever else is nested", () =>
    Effect.gen(function*() {
      expect(yield* why(withWhen(nested(10_000, step)))).toMatch(
        /^trigger 'late': when(\.of\[0\])+.*…(.*\.of\[0\])+: conditions may nest at most 250 deep$/
      )
      expect(yield* why(withMessage({ equals: list(10_000) }))).toBe("trigger 'late': must nest at most 512 deep")
      expect(yield* why(withMessage(list(10_000)))).toContain("exactly one of")
      expect(Trigger.patterns(yield* Trigger.decode(withWhen(nested(250, step))))).toEqual([])
    }))

  it.effect("what no JSON can hold is refused, as is half a surrogate pair", () =>
    Effect.gen(function*() {
      for (const equals of [1n, Number.NaN, Symbol("x"), () => 1, [{ a: Number.POSITIVE_INFINITY }]]) {
        expect(yield* why(withMessage({ equals }))).toBe("trigger 'late': must be JSON")
      }
      for (const equals of ["\uD800", ["a", { "\uDFFF": 1 }]]) {
        expect(yield* why(withMessage({ equals }))).toBe("trigger 'late': must not hold half a surrogate pair")
      }
    }))

  it.effect("what is repeated of a bad trigger is short and on one line", () =>
    Effect.gen(function*() {
      expect(yield* why({ when: { type: "m\no\u0000\u2028\uD800n" }, actions: [say] })).toBe(
        "trigger[0]: when: unknown when.type 'm\uFFFDo\uFFFD\uFFFD\uFFFDn'"
      )
      expect((yield* why(withWhen({ type: "m".repeat(100_000) }))).length).toBeLessThan(350)
    }))

  it.effect("a read trigger is a copy, with the JSON of its predicate as it came", () =>
    Effect.gen(function*() {
      const message = JSON.parse("{\"equals\":{\"__proto__\":[1]},\"note\":2}")
      const read = yield* Trigger.decode(withMessage(message))
      message.note = 3
      expect(JSON.stringify(read)).toContain("{\"message\":{\"equals\":{\"__proto__\":[1]},\"note\":2}}")
    }))

  it("the same is the same in whatever order its keys stand", () => {
    const of = (message: string): Trigger.Trigger => ({
      id: "late",
      once: true,
      when: { type: "conversational", where: { message: JSON.parse(message) } },
      actions: [Trigger.end]
    })
    const same = (self: string, that: string) => Trigger.isSame(of(self), of(that))
    expect(same("{\"equals\":{\"a\":1,\"b\":[2]}}", "{\"equals\":{\"b\":[2],\"a\":1}}")).toBe(true)
    expect(same("{\"equals\":{\"a\":1,\"b\":[2]}}", "{\"equals\":{\"b\":[2,3],\"a\":1}}")).toBe(false)
    expect(same("{\"equals\":{\"a\":1}}", "{\"equals\":{\"b\":1}}")).toBe(false)
    expect(same("{\"equals\":[]}", "{\"equals\":{}}")).toBe(false)
    expect(same("{\"equals\":{}}", "{\"equals\":[]}")).toBe(false)
    expect(same("{\"equals\":{}}", "{\"equals\":{\"__proto__\":{}}}")).toBe(false)
  })

  it.effect.prop(
    "no JSON makes it throw, and what it reads it reads again",
    [FastCheck.oneof(
      FastCheck.jsonValue(),
      FastCheck.record({
        id: FastCheck.oneof(FastCheck.string(), FastCheck.jsonValue()),
        when: FastCheck.oneof(FastCheck.constant(step), FastCheck.jsonValue()),
        actions: FastCheck.oneof(FastCheck.constant([say, end]), FastCheck.jsonValue())
      })
    )],
    ([input]) =>
      Trigger.decode(input).pipe(
        Effect.flatMap((read) => Effect.map(Trigger.decode(read), (again) => expect(again).toEqual(read))),
        Effect.catchTag("InvalidTrigger", ({ message }) => Effect.sync(() => expect(message).toMatch(/^trigger/))),
        Effect.asVoid
      )
  )
})

describe("TriggersV1", () => {
  const decide = Schema.decodeUnknown(TriggersV1.DecideRequest)

  it.effect.each<readonly [unknown, number]>([
    [2, 2],
    ["2", 2],
    [" +2\n", 2],
    ["2.00", 2],
    ["1_000", 1000],
    ["007", 7],
    ["-0", -0],
    [true, 1],
    [false, 0],
    [-1, -1]
  ])("B-TRIG-11: the turn %j is read as the reference reads it", ([turn, expected]) =>
    Effect.gen(function*() {
      expect(yield* decide({ turn })).toEqual({ turn: expected, solver_message: "", context_id: "default" })
    }))

  it.effect.each([
    ["x"],
    ["2."],
    ["2.5"],
    [".0"],
    ["1e3"],
    ["0x10"],
    [""],
    ["1__0"],
    ["2.0_0"],
    ["\u0662"],
    [2.5],
    [null],
    [[1]],
    [{}],
    [1e300]
  ])(
    "B-TRIG-11: the turn %j is no number",
    ([turn]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(decide({ turn }))
        expect(error.message).toContain("[\"turn\"]")
      })
  )

  it.effect("B-TRIG-6: statuses are an object of objects, or null, and are left as they are", () =>
    Effect.gen(function*() {
      const env_triggers: unknown = JSON.parse("{\"__proto__\":{\"late\":\"fired\"},\"parcels\":{\"__proto__\":1}}")
      expect((yield* decide({ turn: 1, env_triggers })).env_triggers).toBe(env_triggers)
      expect(yield* decide({ turn: 1, env_triggers: null })).not.toHaveProperty("env_triggers")
      for (const wrong of [1, [], { parcels: "fired" }, { parcels: [] }, { parcels: null }]) {
        yield* Effect.flip(decide({ turn: 1, env_triggers: wrong }))
      }
      yield* Effect.flip(decide({ turn: 1, context_id: null }))
      yield* Effect.flip(decide({ turn: 1, solver_message: 1 }))
    }))

  it.effect("B-TRIG-2: what is to be registered is a list of objects", () =>
    Effect.gen(function*() {
      const register = Schema.decodeUnknown(TriggersV1.RegisterRequest)
      expect(yield* register({ triggers: [] })).toEqual({ triggers: [] })
      for (const triggers of [undefined, "x", ["x"], [[]], {}]) {
        expect((yield* Effect.flip(register({ triggers }))).message).toContain("triggers")
      }
    }))

  it("B-CARD-8, B-CARD-9, B-TRIG-17: the card says what is required, and of answers no more than that", () => {
    const { decide, register, state } = TriggersV1.TriggersV1.operations
    expect([Contract.request(register), Contract.response(register)]).toEqual([{ required: ["triggers"] }, undefined])
    expect([Contract.request(decide), Contract.response(decide)]).toEqual([
      { required: ["turn"], optional: ["solver_message", "context_id", "env_triggers"] },
      { required: ["parts", "done", "fired"] }
    ])
    expect([Contract.request(state), Contract.response(state)]).toEqual([undefined, { required: ["firing_log"] }])
  })

  it.effect("B-TRIG-16, B-TRIG-17: a state without triggers is read, and what else an agent adds is kept", () =>
    Effect.gen(function*() {
      const read = Schema.decodeUnknown(TriggersV1.StateResponse)
      const entry = { seq: 1, ts: "2026-12-01T12:00:00.131911+00:00", kind: "reset", context_id: "c", turn: 1 }
      expect(yield* read({ firing_log: [entry], note: 1 })).toEqual({ triggers: [], firing_log: [entry], note: 1 })
      yield* Effect.flip(read({ triggers: [] }))
    }))

  it("B-CARD-7: decide has a path of its own, and the library answers all three", () => {
    const { operations, ...definition } = TriggersV1.TriggersV1
    expect(definition).toMatchObject({ uri: "urn:agentenv:triggers/v1", endpoint: "/ext/triggers" })
    expect(Object.entries(operations).map(([name, { method, owner, path }]) => [name, method, path, owner])).toEqual([
      ["register", "POST", undefined, "sdk"],
      ["decide", "POST", "/ext/triggers/decide", "sdk"],
      ["state", "GET", undefined, "sdk"]
    ])
  })
})
