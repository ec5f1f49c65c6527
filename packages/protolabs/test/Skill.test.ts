import { Part, Read, Skill } from "@effect-agentenv/protolabs"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { nested } from "./arbitraries.ts"

const BerthPlan = Schema.Struct({
  berth: Schema.Int.pipe(Schema.positive()),
  from: Schema.NumberFromString,
  tags: Schema.optionalWith(Schema.Array(Schema.String), { exact: true })
})

const plan = Skill.make({ id: "berth_plan", schema: BerthPlan, resultName: "berth-plan-v2" })

it.effect("is a tool whose parameters are the schema's encoded side", () =>
  Effect.gen(function*() {
    const tool = yield* Skill.tool(plan)
    expect(tool).toMatchObject({
      type: "function",
      function: {
        name: "submit_berth_plan",
        description: expect.stringContaining("berth_plan"),
        parameters: {
          type: "object",
          required: ["berth", "from"],
          properties: { from: { type: "string" } }
        }
      }
    })
    expect(Skill.validate({ berth: 3, from: "7" }, tool.function.parameters)).toEqual([])
    class Named extends Schema.Class<Named>("Named")({ a: Schema.String }) {}
    expect((yield* Skill.tool(Skill.make({ id: "named", schema: Named }))).function.parameters).toMatchObject({
      type: "object",
      required: ["a"]
    })
    const described = Skill.make({ ...plan, description: "pick a berth" })
    expect((yield* Skill.tool(described)).function.description).toBe("pick a berth")
  }))

it.effect("says so when its schema has no JSON Schema", () =>
  Effect.gen(function*() {
    const skill = Skill.make({ id: "odd", schema: Schema.Struct({ at: Schema.SymbolFromSelf }) })
    expect(yield* Effect.flip(Skill.tool(skill))).toMatchObject({ _tag: "UnsupportedSchema", skill: "odd" })
  }))

it.effect("types what a model submits", () =>
  Effect.gen(function*() {
    const result = yield* Skill.decodeArguments(plan, { berth: 3, from: "7" })
    expectTypeOf(result).toEqualTypeOf<typeof BerthPlan.Type>()
    expect(result).toEqual({ berth: 3, from: 7 })
  }))

it.effect("answers every mistake with its place, for the model to repair, and without the value", () =>
  Effect.gen(function*() {
    const args = { berth: 0, tags: ["a", 71, "b", 72] }
    const { issues } = yield* Effect.flip(Skill.decodeArguments(plan, args))
    expect(issues.map((issue) => issue.split(":")[0])).toEqual(["berth", "from", "tags/1", "tags/3"])
    expect(issues.join()).not.toContain("71")
    expect((yield* Effect.flip(Skill.decodeArguments(plan, null))).issues[0]).toMatch(/^<root>: /)
  }))

it.effect("is carried by a data part and read back typed", () =>
  Effect.gen(function*() {
    const result = { berth: 3, from: 7 }
    const part = yield* Skill.toPart(plan, result)
    expect(part).toEqual(Part.data({ berth: 3, from: "7" }, "application/vnd.protolabs.berth-plan-v2+json"))
    const read = Skill.fromPart(plan)(Part.toCase(part))
    expectTypeOf(read).toEqualTypeOf<Read.Read<typeof BerthPlan.Type>>()
    expect(read).toEqual(Read.present(result, "dataPart"))
    const artifact = { artifactId: "a", parts: [Part.text("x"), part] }
    for (const source of [[part], artifact, { artifactUpdate: { taskId: "t", artifact } }]) {
      expect(Skill.find(plan)(source)).toEqual(Read.present(result, "dataPart"))
    }
    expect(Skill.find(plan)({ parts: [Part.data({}, "application/json"), null] })).toBe(Read.absent)
    expect(Skill.find(plan)([Part.data({ berth: 3, from: "x" }, plan.mime)])).toMatchObject({
      path: [0, "data", "from"]
    })
    expect(yield* Effect.flip(Skill.toPart(plan, { berth: -1, from: 1 }))).toMatchObject({ path: ["berth"] })
  }))

interface Tree {
  readonly value?: Tree | ReadonlyArray<Tree> | number
}

const Tree: Schema.Schema<Tree> = Schema.Struct({
  value: Schema.optionalWith(
    Schema.Union(Schema.suspend(() => Tree), Schema.Array(Schema.suspend(() => Tree)), Schema.Number),
    { exact: true }
  )
})

const deepTree = () => {
  let tree: Tree = {}
  for (let depth = 0; depth < 100_000; depth++) tree = { value: tree }
  return tree
}

it.effect("survives values that are deeper than the stack", () =>
  Effect.gen(function*() {
    const skill = Skill.make({ id: "tree", schema: Tree })
    const args = deepTree()
    expect(yield* Effect.flip(Skill.decodeArguments(skill, args))).toMatchObject({ _tag: "InvalidArguments" })
    expect(yield* Effect.flip(Skill.toPart(skill, args))).toMatchObject({ _tag: "Malformed" })
    expect(Skill.fromPart(skill)(Part.data(args, skill.mime))).toMatchObject({ _tag: "Malformed" })
  }))

it("malforms what would be decoded asynchronously", () => {
  const slow = Schema.transformOrFail(Schema.String, Schema.String, {
    decode: (text) => Effect.as(Effect.sleep("1 second"), text),
    encode: Effect.succeed
  })
  const skill = Skill.make({ id: "slow", schema: slow })
  expect(Skill.fromPart(skill)(Part.data("x", skill.mime))).toMatchObject({ _tag: "Malformed" })
})

describe("raw JSON Schemas", () => {
  const labels = (args: unknown, schema: unknown) =>
    Skill.validate(args, schema).map((line) => line.slice(0, line.indexOf(":")))

  it("are checked in the dialect that they name", () => {
    const tuple = { properties: { a: { items: [{ type: "string" }] } } }
    const draft07 = { ...tuple, $schema: "http://json-schema.org/draft-07/schema#" }
    const newest = { properties: { a: { prefixItems: [{ type: "string" }] } } }
    expect(labels({ a: [1] }, draft07)).toEqual(["a/0"])
    expect(labels({ a: [1] }, newest)).toEqual(["a/0"])
    expect(labels({ a: [1] }, { ...newest, $schema: "https://json-schema.org/draft/2020-12/schema" })).toEqual(["a/0"])
    expect(labels({ a: [1] }, { ...newest, $schema: "urn:unknown" })).toEqual(["a/0"])
    expect(labels({ a: 1 }, { ...tuple, $schema: "https://json-schema.org/draft/2019-09/schema" })).toEqual([])
  })

  it("are told by place, in order, indices as numbers", () => {
    const schema = { properties: { b: { items: { type: "string" } }, a: { type: "string" } }, required: ["z"] }
    const args = { b: Array.from({ length: 12 }, () => 1), a: 1 }
    expect(labels(args, schema)).toEqual(["<root>", "a", ...Array.from({ length: 12 }, (_, index) => `b/${index}`)])
    expect(labels({ 9: 1, 10: 1 }, { additionalProperties: { type: "string" } })).toEqual(["10", "9"])
    expect(labels({ "a/b": { "c~d": 1 } }, { properties: { "a/b": { additionalProperties: { type: "string" } } } }))
      .toEqual(["a/b/c~d"])
  })

  it("give one line for a rule, not one for each branch or extra key", () => {
    const anyOf = { properties: { a: { anyOf: [{ type: "string" }, { minimum: 5 }] } } }
    expect(labels({ a: 1 }, anyOf)).toEqual(["a"])
    expect(labels({ a: 1, b: 2 }, { additionalProperties: false })).toEqual(["<root>"])
    expect(labels({ a: 1 }, { propertyNames: { minLength: 2 } })).toEqual(["<root>"])
    const conditional = JSON.parse("{\"if\":{},\"then\":{\"required\":[\"b\"]}}")
    expect(labels({ a: 1 }, conditional)).toEqual(["<root>"])
  })

  it("take time in proportion to the mistakes", () => {
    const schema = { properties: { a: { items: { anyOf: [{ type: "string" }, { type: "null" }] } } } }
    expect(labels({ a: Array.from({ length: 50_000 }, () => 1) }, schema)).toHaveLength(50_000)
  })

  it("may share an $id, and be asked for again", () => {
    const $id = "https://example.test/plan"
    const first = { $id, properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } }
    const second = { $id, properties: { a: { $ref: `${$id}#/$defs/a` } }, $defs: { a: { type: "number" } } }
    expect(labels({ a: 1 }, first)).toEqual(["a"])
    expect(labels({ a: 1 }, second)).toEqual([])
    expect(labels({ a: 1 }, first)).toEqual(["a"])
  })

  it("that are none are told so", () => {
    expect(Skill.validate({}, { type: "nope" })[0]).toMatch(/^invalid schema: /)
    expect(Skill.validate({}, { $ref: "#/nowhere" })[0]).toMatch(/^invalid schema: /)
    expect(Skill.problems({}, true)).toEqual([{ _tag: "SchemaNotObject" }])
    expect(Skill.problems(["x"], { type: "nope" })).toEqual([{ _tag: "ArgumentsNotObject", got: "list" }])
  })

  it("never overflow: neither deep schemas nor deep arguments", () => {
    let schema: object = { type: "string" }
    for (let depth = 0; depth < 10_000; depth++) schema = { properties: { a: schema } }
    expect(Skill.validate({ a: 1 }, schema)).toHaveLength(1)
    const recursive = { additionalProperties: { $ref: "#" }, items: { $ref: "#" } }
    expect(Skill.validate({ a: nested(1_000_000) }, recursive)).toHaveLength(1)
    expect(Skill.validate({ a: nested(10_000) }, {})).toEqual([])
  })
})

it("reads results leniently, without a schema", () => {
  const part = Part.data({ berth: 3 }, plan.mime)
  expect(Skill.lenient.fromPart(part)).toEqual(Option.some({ berth: 3 }))
  expect(Skill.lenient.fromPart(part, "application/json")).toEqual(Option.none())
  expect(Skill.lenient.fromPart(Part.data(null, plan.mime), plan.mime)).toEqual(Option.none())
  expect(Skill.lenient.find([null, Part.text("x"), part], plan.mime)).toEqual(Option.some({ berth: 3 }))
})

it("tells the skill of a tool", () => {
  expect(["submit_a", "submit_submit_x", "submit_", "xsubmit_a"].map(Skill.idOfTool)).toEqual([
    Option.some("a"),
    Option.some("submit_x"),
    Option.none(),
    Option.none()
  ])
})
