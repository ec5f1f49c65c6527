import * as Contract from "@effect-agentenv/protocol/Contract"
import * as Operation from "@effect-agentenv/protocol/Operation"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck, Schema } from "effect"

const Inline = Schema.Struct({ name: Schema.String, description: Schema.String, skill_md: Schema.String })
const Bundle = Schema.Struct({ name: Schema.String, description: Schema.String, skill_bundle: Schema.Unknown })
const Task = Schema.Struct({ task_id: Schema.String })
const TaskObjects = Schema.Struct({ task_id: Schema.String, objects: Schema.Struct({}) })
const Context = Schema.Struct({ context_id: Schema.String })

describe("Contract", () => {
  it("B-CARD-8: one form is its required and optional fields in the order of their declaration", () => {
    const request = Schema.Struct({
      zeta: Schema.optional(Schema.String),
      url: Schema.String,
      headers: Schema.optionalWith(Schema.Unknown, { nullable: true }),
      alpha: Schema.Int,
      level: Schema.optionalWith(Schema.Int, { default: () => 1 })
    })
    expect(Contract.request(Operation.post({ request }))).toEqual({
      required: ["url", "alpha"],
      optional: ["zeta", "headers", "level"]
    })
  })

  it("B-CARD-8: a list without names is left out, and what takes nothing has no contract", () => {
    expect(Contract.request(Operation.post({ request: Task }))).toEqual({ required: ["task_id"] })
    expect(Contract.request(Operation.post({ request: Schema.Struct({}) }))).toEqual({})
    expect(Contract.request(Operation.post())).toBeUndefined()
  })

  it("B-CARD-8: names are those of the wire, below filters and classes too", () => {
    const renamed = Schema.Struct({
      apiKey: Schema.propertySignature(Schema.String).pipe(Schema.fromKey("api_key"))
    }).pipe(Schema.filter(() => true))
    class Echo extends Schema.Class<Echo>("Echo")({ text: Schema.String, times: Schema.optional(Schema.Int) }) {}
    expect(Contract.fields(renamed)).toEqual({ required: ["api_key"] })
    expect(Contract.fields(Echo)).toEqual({ required: ["text"], optional: ["times"] })
  })

  it("B-CARD-8: what all forms require stands above them", () => {
    const add = Operation.post({
      variants: { inline: Operation.variant(Inline), bundle: Operation.variant(Bundle) }
    })
    expect(Contract.request(add)).toEqual({
      required: ["name", "description"],
      oneOf: [{ required: ["skill_md"] }, { required: ["skill_bundle"] }]
    })
  })

  it("B-CARD-8: a form that adds nothing is {}", () => {
    const get = Operation.post({
      variants: { task: Operation.variant(Task), taskObjects: Operation.variant(TaskObjects) }
    })
    expect(Contract.request(get)).toEqual({ required: ["task_id"], oneOf: [{}, { required: ["objects"] }] })
  })

  it("B-CARD-8: optional fields of all forms are hoisted, those of some are not", () => {
    const note = Schema.optional(Schema.String)
    expect(Contract.oneOf([
      { required: ["a"], optional: ["note"] },
      { required: ["b"], optional: ["note", "limit"] }
    ])).toEqual({ optional: ["note"], oneOf: [{ required: ["a"] }, { required: ["b"], optional: ["limit"] }] })
    expect(Contract.oneOf([{ required: ["note"] }, Contract.fields(Schema.Struct({ note })) ?? {}])).toEqual({
      oneOf: [{ required: ["note"] }, { optional: ["note"] }]
    })
  })

  it("B-CARD-8: an optional variant is advertised when it is enabled, and a single one is its own contract", () => {
    const get = Operation.post({
      variants: { task: Operation.variant(Task), context: Operation.optionalVariant(Context) }
    })
    expect(Contract.request(get, ["task"])).toEqual({ required: ["task_id"] })
    expect(Contract.request(get, ["task", "context"])).toEqual({
      oneOf: [{ required: ["task_id"] }, { required: ["context_id"] }]
    })
  })

  it("B-CARD-9: an answer's contract is its fields; unions, nothing and the unlisted have none", () => {
    const Saved = Schema.Struct({
      count: Schema.Int,
      context_id: Schema.optionalWith(Schema.String, { nullable: true })
    })
    expect(Contract.response(Operation.post({ response: Saved }))).toEqual({
      required: ["count"],
      optional: ["context_id"]
    })
    expect(Contract.response(Operation.post({ response: Schema.Union(Saved, Task) }))).toBeUndefined()
    expect(Contract.response(Operation.post())).toBeUndefined()
    expect(Contract.response(Operation.post({ response: Saved.annotations(Contract.unlisted) }))).toBeUndefined()
  })

  it("B-REG-23: a schema is closed when nothing says that more fields may come", () => {
    expect(Contract.isClosed(Task)).toBe(true)
    expect(Contract.isClosed(Task.pipe(Schema.filter(() => true)))).toBe(true)
    expect(Contract.isClosed(Schema.Struct({ a: Schema.optionalWith(Schema.String, { default: () => "" }) }))).toBe(
      true
    )
    expect(Contract.isClosed(Task.annotations({ parseOptions: { onExcessProperty: "error" } }))).toBe(true)
    const open = Schema.Struct({ a: Schema.String }, { key: Schema.String, value: Schema.Unknown })
    for (
      const schema of [
        open,
        Schema.Record({ key: Schema.String, value: Schema.String }),
        Schema.Object,
        Schema.Unknown,
        Schema.String,
        Schema.Array(Task),
        Task.annotations({ parseOptions: { onExcessProperty: "preserve" } }),
        Task.annotations({ parseOptions: { onExcessProperty: "ignore" } }).pipe(Schema.filter(() => true))
      ]
    ) {
      expect(Contract.isClosed(schema)).toBe(false)
    }
  })

  it("B-OBJ-17: a request fits when nothing required is missing and nothing is unknown", () => {
    const contract = { required: ["url"], optional: ["headers", "name"] }
    expect(Contract.accepts(contract, ["url"])).toBe(true)
    expect(Contract.accepts(contract, ["name", "url"])).toBe(true)
    expect(Contract.accepts(contract, ["name"])).toBe(false)
    expect(Contract.accepts(contract, ["url", "more"])).toBe(false)
  })

  it("B-OBJ-17: any form of a request will do, and one that the card doesn't list is refused", () => {
    const contract = { required: ["task_id"], oneOf: [{}, { required: ["objects"] }] }
    expect(Contract.accepts(contract, ["task_id"])).toBe(true)
    expect(Contract.accepts(contract, ["task_id", "objects"])).toBe(true)
    expect(Contract.accepts(contract, ["context_id"])).toBe(false)
    expect(Contract.accepts(contract, ["task_id", "after"])).toBe(false)
    const live = { oneOf: [{ required: ["task_id"] }, { required: ["task_id", "after"], optional: ["limit"] }] }
    expect(Contract.accepts(live, ["task_id", "after"])).toBe(true)
    expect(Contract.accepts(live, ["task_id", "limit"])).toBe(false)
  })

  it("B-OBJ-17: a list of what is supported takes any part of it", () => {
    const contract = { supported: ["model", "name"], schema: {} }
    expect(Contract.accepts(contract, [])).toBe(true)
    expect(Contract.accepts(contract, ["model"])).toBe(true)
    expect(Contract.accepts(contract, ["model", "effort"])).toBe(false)
  })

  it("B-OBJ-17: a card that is no contract takes no fields and breaks nobody", () => {
    for (
      const contract of [undefined, null, 7, "x", [], { required: 7, optional: [1, null], oneOf: "x" }, { oneOf: [] }]
    ) {
      expect(Contract.accepts(contract, [])).toBe(true)
      expect(Contract.accepts(contract, ["__proto__"])).toBe(false)
    }
    expect(Contract.accepts({ oneOf: [null, 7, { required: ["a"] }] }, ["a"])).toBe(true)
  })

  it("B-OBJ-17: what a contract is written from, it accepts", () => {
    const names = FastCheck.uniqueArray(FastCheck.constantFrom("a", "b", "c", "d", "e", "__proto__"))
    const form = FastCheck.record({ required: names, optional: names }).map(({ optional, required }) => ({
      required,
      optional: optional.filter((name) => !required.includes(name))
    }))
    FastCheck.assert(FastCheck.property(FastCheck.array(form, { minLength: 1, maxLength: 4 }), names, (forms, sent) => {
      const fits = forms.some(({ optional, required }) =>
        required.every((name) => sent.includes(name)) &&
        sent.every((name) => required.includes(name) || optional.includes(name))
      )
      expect(Contract.accepts(Contract.oneOf(forms), sent)).toBe(fits)
    }))
  })

  it("B-CARD-7: an operation without an endpoint has its extension's", () => {
    const entry = {
      uri: "urn:kiln:x/v1",
      params: {
        endpoint: "/ext/x",
        methods: {
          save: { method: "post", request: { required: ["a"] } },
          apply: { method: "PUT", endpoint: "/ext/x/log", response: { required: ["count"] } }
        }
      }
    }
    expect(Contract.methods(entry)).toEqual([
      { name: "save", verb: "POST", endpoint: "/ext/x", request: { required: ["a"] }, response: undefined },
      { name: "apply", verb: "PUT", endpoint: "/ext/x/log", request: undefined, response: { required: ["count"] } }
    ])
    expect(Contract.method(entry, "apply")?.endpoint).toBe("/ext/x/log")
    expect(Contract.method(entry, "load")).toBeUndefined()
  })

  it("P-AG-4: config is another spelling of params", () => {
    expect(Contract.method({ config: { endpoint: "/e", methods: { get: { method: "GET" } } } }, "get")?.endpoint)
      .toBe("/e")
  })

  it("finds nothing on a card that says nothing", () => {
    for (
      const entry of [undefined, null, 3, { params: null }, { params: { methods: [] } }, {
        params: { methods: { a: 7, b: {}, c: { method: "GET" }, d: { method: 1, endpoint: "/d" } } }
      }]
    ) {
      expect(Contract.methods(entry)).toEqual([])
    }
  })
})
