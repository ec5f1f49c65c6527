import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { ToolSchema } from "@modelcontextprotocol/sdk/types.js"
import { Ajv, type Options } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Arbitrary, Effect, FastCheck, Redacted, Schema } from "effect"

const options: Options = {
  strict: false,
  formats: { "date-time": (text: string) => !Number.isNaN(Date.parse(text)), uuid: true, date: true }
}

/** Both dialects that validators speak; each has to compile the schema and agree about the value. */
const validates = (schema: object, value: unknown): boolean => {
  const verdicts = [new Ajv(options), new Ajv2020(options)].map((ajv) => ajv.compile(schema)(value) === true)
  expect(verdicts[0]).toBe(verdicts[1])
  return verdicts[0] === true
}

const isTool = (inputSchema: unknown, outputSchema?: unknown): boolean =>
  ToolSchema.safeParse({ name: "t", inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) }).success

class Parcel extends Schema.Class<Parcel>("Parcel")({
  label: Schema.String,
  weight: Schema.optionalWith(Schema.Int, { default: () => 1 })
}) {}

interface Category {
  readonly name: string
  readonly children: ReadonlyArray<Category>
}

const Category: Schema.Schema<Category> = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Schema<Category> => Category))
}).annotations({ identifier: "Category" })

const Anonymous: Schema.Schema<Category> = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Schema<Category> => Anonymous))
})

const colours = { Red: "red", Blue: "blue" } as const

const x = <S extends Schema.Schema.AnyNoContext>(value: S) => Schema.Struct({ x: value })

/** JSON has no `NaN` and no `undefined`, so values that hold them are no wire values. */
const survivesJson = (value: unknown): boolean => {
  if (typeof value === "number") return Number.isFinite(value)
  if (typeof value === "object" && value !== null) return Object.values(value).every(survivesJson)
  return value !== undefined
}

const defaults = (written: WireSchema.ObjectSchema) =>
  Object.entries(written.properties as Record<string, { readonly default?: unknown }>).flatMap(([name, property]) =>
    "default" in property ? [[name, property.default]] : []
  )

const why = <A, I>(schema: Schema.Schema<A, I>, value: unknown) =>
  Effect.map(
    Effect.flip(Schema.decodeUnknown(schema)(value, { errors: "all", onExcessProperty: "error" })),
    WireSchema.formatIssues
  )

const rows: ReadonlyArray<
  readonly [name: string, schema: Schema.Schema.AnyNoContext, good: ReadonlyArray<unknown>, bad: ReadonlyArray<unknown>]
> = [
  ["a scalar", x(Schema.String), [{ x: "a" }, { x: "a", y: 1 }], [{}, { x: 1 }, []]],
  ["literals of strings", x(Schema.Literal("a", "b")), [{ x: "a" }], [{ x: "c" }]],
  ["literals of numbers", x(Schema.Literal(1, 2)), [{ x: 2 }], [{ x: 3 }, { x: "1" }]],
  ["mixed literals", x(Schema.Literal(1, "a", null)), [{ x: 1 }, { x: "a" }, { x: null }], [{ x: 2 }]],
  ["an enum", x(Schema.Enums(colours)), [{ x: "red" }], [{ x: "Red" }]],
  ["a nullable", x(Schema.NullOr(Schema.Number)), [{ x: null }, { x: 1.5 }], [{ x: "a" }, {}]],
  ["an empty struct", Schema.Struct({}), [{}, { a: 1 }], [[], 1, null]],
  ["a nested empty struct", x(Schema.Struct({})), [{ x: {} }], [{ x: [] }]],
  ["a class", Parcel, [{ label: "a" }, { label: "a", weight: 2 }], [{ weight: 2 }, { label: "a", weight: 1.5 }]],
  ["a class inside", x(Parcel), [{ x: { label: "a" } }], [{ x: {} }]],
  ["an identifier at the root", x(Schema.String).annotations({ identifier: "Named" }), [{ x: "a" }], [{}]],
  ["a recursive root", Category, [{ name: "a", children: [{ name: "b", children: [] }] }], [{
    name: "a",
    children: [{ name: 1, children: [] }]
  }]],
  ["recursion inside", x(Category), [{ x: { name: "a", children: [] } }], [{ x: { name: "a" } }]],
  ["recursion without an identifier", Anonymous, [{ name: "a", children: [] }], [{ name: "a", children: [1] }]],
  [
    "built-in refinements",
    Schema.Struct({ i: Schema.Int, u: Schema.UUID, n: Schema.NonEmptyString, f: Schema.Finite, b: Schema.BigDecimal }),
    [{ i: 1, u: "8e7f6d5c-1234-4234-8234-123456789abc", n: "a", f: 1, b: "1.5" }],
    [{ i: 1.5, u: "8e7f6d5c-1234-4234-8234-123456789abc", n: "a", f: 1, b: "1.5" }, {
      i: 1,
      u: "nope",
      n: "",
      f: 1,
      b: "1"
    }]
  ],
  ["a number from a string", x(Schema.NumberFromString.pipe(Schema.int())), [{ x: "1" }], [{ x: 1 }]],
  ["a date", x(Schema.Date), [{ x: "2026-01-02T03:04:05Z" }], [{ x: "soon" }, { x: 1 }]],
  ["a date-time", x(Schema.DateTimeUtc), [{ x: "2026-01-02T03:04:05Z" }], [{ x: "soon" }]],
  ["a duration", x(Schema.DurationFromMillis), [{ x: 5 }], [{ x: "5" }, { x: -1 }]],
  ["two unknowns", Schema.Struct({ x: Schema.Unknown, y: Schema.Unknown, z: Schema.Any }), [{ x: 1, y: [], z: {} }], [
    {}
  ]],
  ["an object of any kind", x(Schema.Object), [{ x: {} }, { x: [] }], [{ x: 1 }]],
  ["an optional", Schema.Struct({ x: Schema.optional(Schema.Number) }), [{}, { x: 1 }], [{ x: "a" }]],
  ["a default", Schema.Struct({ x: Schema.optionalWith(Schema.Number, { default: () => 5 }) }), [{}, { x: 1 }], [{
    x: "a"
  }]],
  ["an option", Schema.Struct({ x: Schema.optionalWith(Schema.Number, { as: "Option" }) }), [{}, { x: 1 }], [{
    x: "a"
  }]],
  ["a nullable optional", Schema.Struct({ x: Schema.optionalWith(Schema.Number, { nullable: true }) }), [{}, {
    x: null
  }], [{ x: "a" }]],
  [
    "a constructor default",
    Schema.Struct({ x: Schema.Number.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => 5)) }),
    [{ x: 1 }],
    [{}]
  ],
  ["a renamed key", Schema.Struct({ x: Schema.propertySignature(Schema.String).pipe(Schema.fromKey("wire")) }), [{
    wire: "a"
  }], [{ x: "a" }]],
  ["a tuple", x(Schema.Tuple(Schema.String, Schema.Number)), [{ x: ["a", 1] }], [{ x: ["a"] }, { x: ["a", 1, 2] }, {
    x: ["a", true]
  }]],
  ["a tuple with a rest", x(Schema.Tuple([Schema.String], Schema.Number)), [{ x: ["a"] }, { x: ["a", 1, 2] }], [{
    x: []
  }, { x: ["a", true] }]],
  ["an optional element", x(Schema.Tuple(Schema.String, Schema.optionalElement(Schema.Number))), [{ x: ["a"] }, {
    x: ["a", 1]
  }], [{ x: [] }]],
  ["an empty tuple", x(Schema.Tuple()), [{ x: [] }], [{ x: [1] }]],
  ["a non-empty list", x(Schema.NonEmptyArray(Schema.String)), [{ x: ["a", "b"] }], [{ x: [] }, { x: [1] }]],
  ["a record", Schema.Record({ key: Schema.String, value: Schema.Number }), [{}, { a: 1 }], [{ a: "b" }]],
  [
    "a struct with a record",
    Schema.Struct(
      { x: Schema.String },
      Schema.Record({ key: Schema.String, value: Schema.Union(Schema.String, Schema.Number) })
    ),
    [
      { x: "a", y: 1 }
    ],
    [{ x: "a", y: true }, { y: 1 }]
  ],
  ["a record by template", Schema.Record({ key: Schema.TemplateLiteral("k-", Schema.String), value: Schema.Number }), [
    { "k-a": 1 },
    { other: "ignored" }
  ], [{ "k-a": "b" }]],
  [
    "fields beside a record by template",
    Schema.Struct(
      { name: Schema.String },
      Schema.Record({ key: Schema.TemplateLiteral("k-", Schema.String), value: Schema.Number })
    ),
    [
      { name: "a", "k-a": 1 }
    ],
    [{ name: "a", "k-a": "b" }, { "k-a": 1 }]
  ],
  [
    "a record by length",
    Schema.Struct(
      { name: Schema.String },
      Schema.Record({ key: Schema.String.pipe(Schema.minLength(2)), value: Schema.String })
    ),
    [
      { name: "a", other: "b" }
    ],
    [{ name: "a", other: 1 }]
  ],
  ["a pattern", x(Schema.String.pipe(Schema.pattern(/^a+$/))), [{ x: "aa" }], [{ x: "b" }]],
  [
    "a pattern that only some dialects read",
    x(Schema.String.pipe(Schema.pattern(new RegExp("^\\_a$")))),
    [{ x: "_a" }],
    [{ x: 1 }]
  ],
  ["a pattern with flags", x(Schema.String.pipe(Schema.pattern(/^a+$/i))), [{ x: "AA" }], [{ x: 1 }]],
  ["two bounds", x(Schema.Number.pipe(Schema.between(1, 5), Schema.lessThan(4))), [{ x: 3 }], [{ x: 4 }, { x: 0 }]],
  ["a filter on a struct", x(Schema.Number).pipe(Schema.filter(({ x }) => x > 0)), [{ x: 1 }], [{ x: "a" }]],
  ["a brand", x(Schema.String.pipe(Schema.brand("Id"))), [{ x: "a" }], [{ x: 1 }]],
  ["a template", x(Schema.TemplateLiteral("k-", Schema.Number)), [{ x: "k-1" }], [{ x: "k-a" }]],
  ["JSON in a string", x(Schema.parseJson(Schema.Struct({ a: Schema.Number }))), [{ x: "{}" }], [{ x: {} }]],
  ["a secret", x(Schema.Redacted(Schema.String)), [{ x: "a" }], [{ x: 1 }]],
  ["a union inside", x(Schema.Union(x(Schema.String), x(Schema.Number))), [{ x: { x: "a" } }, { x: { x: 1 } }], [{
    x: { x: true }
  }]],
  [
    "a nested default",
    x(Schema.Struct({ y: Schema.optionalWith(Schema.String, { default: () => "d" }) })),
    [{ x: {} }],
    [{
      x: { y: 1 }
    }]
  ]
]

const forbidden = (schema: unknown): ReadonlyArray<string> => {
  const found: Array<string> = []
  JSON.stringify(schema, (key, value: unknown) => {
    if (["$schema", "$id", "$comment", "prefixItems", "additionalItems"].includes(key)) found.push(key)
    if (key === "additionalProperties" && typeof value === "boolean") found.push(`${key}: ${value}`)
    if (key === "items" && Array.isArray(value)) found.push("positional items")
    if (key === "required" && Array.isArray(value) && value.length === 0) found.push("empty required")
    if (key === "$ref" && !String(value).startsWith("#/$defs/")) found.push(String(value))
    return value
  })
  return found
}

describe("WireSchema.toolInput", () => {
  it.effect.each(rows)(
    "writes %s for both dialects and for MCP's clients",
    ([_name, schema, good, bad]) =>
      Effect.gen(function*() {
        const written = yield* WireSchema.toolInput(schema)
        expect(written.type).toBe("object")
        expect(forbidden(written)).toEqual([])
        expect(isTool(written)).toBe(true)
        for (const value of good) expect([value, validates(written, value)]).toEqual([value, true])
        for (const value of bad) expect([value, validates(written, value)]).toEqual([value, false])
      })
  )

  it.effect.each(rows)("accepts whatever %s encodes to", ([_name, schema]) =>
    Effect.gen(function*() {
      const checks = [
        new Ajv(options).compile(yield* WireSchema.toolInput(schema)),
        new Ajv2020(options).compile(yield* WireSchema.toolInput(schema, { strict: true }))
      ]
      // inside of a property, which is no effect
      // @effect-diagnostics-next-line schemaSyncInEffect:off
      const encode = Schema.encodeSync(schema)
      const values = Arbitrary.make(schema).map((value): unknown => encode(value)).filter(survivesJson)
      FastCheck.assert(
        FastCheck.property(values, (value) => {
          for (const check of checks) expect([value, check(JSON.parse(JSON.stringify(value)))]).toEqual([value, true])
        }),
        { numRuns: 25 }
      )
    }))

  it.effect("inlines everything but recursion", () =>
    Effect.gen(function*() {
      const inlined = yield* WireSchema.toolInput(Schema.Struct({ a: Schema.Int, b: Parcel, c: Schema.UUID }))
      expect(JSON.stringify(inlined)).not.toContain("$ref")
      const recursive = yield* WireSchema.toolInput(Category)
      expect(Object.keys(recursive["$defs"] as object)).toEqual(["Category"])
    }))

  it.effect("keeps two recursive schemas of one name apart", () =>
    Effect.gen(function*() {
      interface Other {
        readonly next?: Other | undefined
      }
      const Other: Schema.Schema<Other> = Schema.Struct({
        next: Schema.optional(Schema.suspend((): Schema.Schema<Other> => Other))
      }).annotations({ identifier: "Category" })
      const written = yield* WireSchema.toolInput(Schema.Struct({ a: Category, b: Other }))
      expect(
        validates(written, { a: { name: "a", children: [{ name: "b", children: [] }] }, b: { next: { next: {} } } })
      )
        .toBe(true)
      expect(validates(written, { a: { name: "a", children: [{}] }, b: {} })).toBe(false)
    }))

  it.effect("says what absent properties decode to, encoded, unless told not to", () =>
    Effect.gen(function*() {
      const schema = Schema.Struct({
        n: Schema.optionalWith(Schema.Number, { default: () => 5 }),
        d: Schema.optionalWith(Schema.Date, { default: () => new Date(0) }),
        s: Schema.optionalWith(Schema.NumberFromString, { default: () => 7 }),
        o: Schema.optionalWith(Schema.Number, { as: "Option" }),
        r: Schema.optionalWith(Schema.Number, { default: () => Math.random() }),
        a: Schema.optional(Schema.Number.annotations({ default: 3 }))
      })
      expect(defaults(yield* WireSchema.toolInput(schema))).toEqual([
        ["n", 5],
        ["d", "1970-01-01T00:00:00.000Z"],
        ["s", "7"],
        ["a", 3]
      ])
      expect(defaults(yield* WireSchema.toolInput(schema, { defaults: false }))).toEqual([])
    }))

  it.effect("keeps what authors wrote, wherever they wrote it", () =>
    Effect.gen(function*() {
      const description = "Why."
      const written = yield* WireSchema.toolInput(Schema.Struct({
        plain: Schema.String.annotations({ description, examples: ["a"] }),
        property: Schema.propertySignature(Schema.String).annotations({ description }),
        optional: Schema.optionalWith(Schema.String, { default: () => "a" }).annotations({ description }),
        filtered: Schema.String.pipe(Schema.filter(() => true)).annotations({ description }),
        date: Schema.Date.annotations({ description }),
        parsed: Schema.NumberFromString.annotations({ description }),
        unknown: Schema.Unknown.annotations({ description }),
        whole: Schema.NumberFromString.annotations({ description, jsonSchema: { type: "integer", minimum: 3 } }),
        own: Schema.DateFromSelf.annotations({ description, jsonSchema: { type: "string", format: "date" } })
      }))
      for (const [name, property] of Object.entries(written.properties)) {
        expect([name, property]).toEqual([name, expect.objectContaining({ description })])
      }
      expect(written.properties["plain"]).toMatchObject({ examples: ["a"] })
      expect(written.properties["unknown"]).toEqual({ description })
      expect(written.properties["whole"]).toMatchObject({ type: "integer", minimum: 3 })
      expect(written.properties["own"]).toMatchObject({ type: "string", format: "date" })
    }))

  it("is what MCP's messages hold", () => {
    expectTypeOf<WireSchema.ObjectSchema>().toExtend<Mcp.ObjectSchema>()
  })

  it.effect("is closed at every depth when strict", () =>
    Effect.gen(function*() {
      const schema = x(Schema.Array(x(Schema.String)))
      const strict = yield* WireSchema.toolInput(schema, { strict: true })
      expect(validates(strict, { x: [{ x: "a" }] })).toBe(true)
      expect(validates(strict, { x: [{ x: "a", y: 1 }] })).toBe(false)
      expect(validates(strict, { x: [], y: 1 })).toBe(false)
      const empty = yield* WireSchema.toolInput(Schema.Struct({}), { strict: true })
      expect([validates(empty, {}), validates(empty, { a: 1 })]).toEqual([true, false])
      expect(validates(yield* WireSchema.toolInput(schema), { x: [{ x: "a", y: 1 }], y: 1 })).toBe(true)
    }))

  it.effect.each<readonly [string, Schema.Schema.AnyNoContext, RegExp]>([
    ["a union", Schema.Union(x(Schema.String), x(Schema.Number)), /union/],
    ["a string", Schema.String, /object/],
    ["an array", Schema.Array(Schema.String), /object/],
    ["anything", Schema.Unknown, /object/],
    ["JSON in a string", Schema.parseJson(x(Schema.String)), /object/],
    ["a Date itself", x(Schema.DateFromSelf), /DateFromSelf/],
    ["a bigint", x(Schema.BigIntFromSelf), /BigInt/i],
    ["a reference elsewhere", x(Schema.Unknown.annotations({ jsonSchema: { $ref: "https://x.example/s" } })), /\$defs/]
  ])("refuses %s as a typed error", ([_name, schema, message]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(WireSchema.toolInput(schema))
      expect(error._tag).toBe("WireSchemaError")
      expect(error.message).toMatch(message)
    }))
})

const agentEnvError = { code: "stock_empty", message: "none left", retryable: true, applied: "no", hint: "restock" }

describe("WireSchema.toolOutput", () => {
  it.effect("is none for a tool that answers nothing (B-TOOL-4)", () =>
    Effect.gen(function*() {
      expect(yield* WireSchema.toolOutput(Schema.Void)).toBeUndefined()
      expect(yield* WireSchema.toolOutput(Schema.Undefined, x(Schema.String))).toBeUndefined()
    }))

  it.effect("wraps what is no object (B-TOOL-4)", () =>
    Effect.gen(function*() {
      for (
        const schema of [Schema.String, Schema.Array(Parcel), Schema.NullOr(Parcel), Schema.Union(Parcel, Category)]
      ) {
        expect((yield* WireSchema.toolOutput(schema))?.wrapped).toBe(true)
      }
      const output = yield* WireSchema.toolOutput(Schema.String)
      expect(validates(output?.schema ?? {}, { result: "a" })).toBe(true)
      expect(validates(output?.schema ?? {}, { result: 1 })).toBe(false)
      for (const schema of [Parcel, Category, Schema.Record({ key: Schema.String, value: Schema.Number })]) {
        expect((yield* WireSchema.toolOutput(schema))?.wrapped).toBe(false)
      }
    }))

  it.effect("admits a value that JSON leaves out because it is undefined", () =>
    Effect.gen(function*() {
      const output = yield* WireSchema.toolOutput(Schema.Struct({ a: Schema.Unknown, b: Schema.Any }))
      const sent: unknown = JSON.parse(JSON.stringify({ a: undefined, b: 1 }))
      expect(validates(output?.schema ?? {}, sent)).toBe(true)
      expect(yield* WireSchema.toolInput(Schema.Struct({ a: Schema.Unknown }))).toMatchObject({ required: ["a"] })
    }))

  it.effect("admits the error of a failed call, which clients validate too (B-ERR-4)", () =>
    Effect.gen(function*() {
      const output = yield* WireSchema.toolOutput(Parcel)
      const schema = output?.schema ?? {}
      expect(isTool({ type: "object" }, schema)).toBe(true)
      expect(validates(schema, { label: "a" })).toBe(true)
      expect(validates(schema, agentEnvError)).toBe(true)
      expect(validates(schema, { code: "x" })).toBe(false)
      expect(validates(schema, { ...agentEnvError, applied: "perhaps" })).toBe(false)
      expect(validates(schema, {})).toBe(false)
      expect(output?.schema.properties).toHaveProperty("label")
    }))

  it.effect("admits the declared failure, one object or several", () =>
    Effect.gen(function*() {
      class Sold extends Schema.TaggedError<Sold>()("Sold", { left: Schema.Int }) {}
      class Lost extends Schema.TaggedError<Lost>()("Lost", { label: Schema.Int }) {}
      const output = yield* WireSchema.toolOutput(Parcel, Schema.Union(Sold, Lost))
      const schema = output?.schema ?? {}
      for (const value of [{ label: "a" }, { _tag: "Sold", left: 1 }, { _tag: "Lost", label: 2 }, agentEnvError]) {
        expect([value, validates(schema, value)]).toEqual([value, true])
      }
      expect(validates(schema, { _tag: "Sold" })).toBe(false)
      expect(output?.schema.properties).not.toHaveProperty("label")
      expect(output?.schema.properties).toHaveProperty("weight")
    }))

  it.effect("shows no property at its root that an error carries as something else", () =>
    Effect.gen(function*() {
      const output = yield* WireSchema.toolOutput(Schema.Struct({ message: Schema.Int, count: Schema.Int }))
      const schema = output?.schema ?? {}
      expect(Object.keys(output?.schema.properties ?? {})).toEqual(["count"])
      expect(validates(schema, { message: 1, count: 1 })).toBe(true)
      expect(validates(schema, agentEnvError)).toBe(true)
      const open = yield* WireSchema.toolOutput(Parcel, Schema.Record({ key: Schema.String, value: Schema.Boolean }))
      expect(open?.schema.properties).toEqual({})
      expect(validates(open?.schema ?? {}, { label: true })).toBe(true)
    }))

  it.effect("ignores a failure that is no object, and keeps recursive ones apart", () =>
    Effect.gen(function*() {
      expect(yield* WireSchema.toolOutput(Parcel, Schema.String)).toEqual(yield* WireSchema.toolOutput(Parcel))
      expect(yield* WireSchema.toolOutput(Parcel, Schema.Never)).toEqual(yield* WireSchema.toolOutput(Parcel))
      interface Other {
        readonly why: number
        readonly cause?: Other | undefined
      }
      const Other: Schema.Schema<Other> = Schema.Struct({
        why: Schema.Number,
        cause: Schema.optional(Schema.suspend((): Schema.Schema<Other> => Other))
      }).annotations({ identifier: "Category" })
      const output = yield* WireSchema.toolOutput(Category, Other)
      const schema = output?.schema ?? {}
      expect(validates(schema, { name: "a", children: [{ name: "b", children: [] }] })).toBe(true)
      expect(validates(schema, { why: 1, cause: { why: 2 } })).toBe(true)
      expect(validates(schema, { why: 1, cause: { why: "no" } })).toBe(false)
      expect(validates(schema, { name: "a", children: [{ why: 1 }] })).toBe(false)
    }))

  it.effect.each(rows)("admits what %s encodes to", ([_name, success, good]) =>
    Effect.gen(function*() {
      const output = yield* WireSchema.toolOutput(success)
      expect(forbidden(output?.schema)).toEqual([])
      for (const value of good) {
        expect(validates(output?.schema ?? {}, output?.wrapped === true ? { result: value } : value)).toBe(true)
      }
    }))
})

describe("WireSchema.request", () => {
  it.effect("writes the contract of an extension (B-ENV-6, B-ENV-7)", () =>
    Effect.gen(function*() {
      const written = yield* WireSchema.request(Schema.Struct({
        label: Schema.String,
        upper: Schema.optionalWith(Schema.Boolean, { default: () => false }),
        level: Schema.optionalWith(Schema.Literal(1, 2), { default: () => 1 as const }),
        colour: Schema.Enums(colours),
        note: Schema.optionalWith(Schema.NullOr(Schema.String), { default: () => null }),
        maybe: Schema.optional(Schema.NullOr(Schema.Number)),
        lenient: Schema.optionalWith(Schema.String, { nullable: true }),
        needed: Schema.NullOr(Schema.String),
        at: Schema.Date,
        price: Schema.BigDecimal,
        tags: Schema.Array(Schema.String)
      }))
      expect(written).toMatchObject({
        type: "object",
        properties: {
          label: { type: "string" },
          upper: { type: "boolean", default: false },
          level: { type: "integer", enum: [1, 2], default: 1 },
          colour: { type: "string", enum: ["red", "blue"] },
          note: { type: "string", default: null },
          maybe: { type: "number", default: null },
          lenient: { type: "string", default: null },
          needed: { anyOf: [{ type: "string" }, { type: "null" }] },
          at: { type: "string", format: "date-time" },
          price: { type: "string" },
          tags: { type: "array", items: { type: "string" } }
        },
        required: ["label", "colour", "needed", "at", "price", "tags"]
      })
      expect(written).not.toHaveProperty("additionalProperties")
    }))

  it.effect("has no required key when nothing is (B-ENV-7, B-MULTI-1)", () =>
    Effect.gen(function*() {
      expect(yield* WireSchema.request(Schema.Struct({}))).toStrictEqual({ type: "object", properties: {} })
    }))

  it.effect("refuses what has no named parameters", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(WireSchema.request(Schema.Array(Schema.String))))._tag).toBe("WireSchemaError")
    }))
})

describe("WireSchema.query", () => {
  const Request = Schema.Struct({
    text: Schema.String,
    count: Schema.optionalWith(Schema.Int, { default: () => 1 }),
    upper: Schema.optional(Schema.NullOr(Schema.Boolean)),
    level: Schema.optional(Schema.Literal(1, 2)),
    on: Schema.optional(Schema.Literal(true)),
    mixed: Schema.optional(Schema.Literal(1, "a")),
    either: Schema.optional(Schema.Union(Schema.Number, Schema.Boolean)),
    any: Schema.optional(Schema.Union(Schema.String, Schema.Number)),
    ids: Schema.optional(Schema.Array(Schema.Number)),
    at: Schema.optional(Schema.Date),
    wire: Schema.optional(Schema.NumberFromString)
  })
  const read = WireSchema.query(Request)

  it("reads numbers, and leaves text alone (B-ENV-8)", () => {
    expect(read({ text: "12", count: "3" })).toEqual({ text: "12", count: 3 })
    expect(read({ count: "-1.5e2" })).toEqual({ count: -150 })
    for (const count of ["lots", "", " ", "0x10", "Infinity", "NaN", "1_0", "1,5"]) {
      expect(read({ count })).toEqual({ count })
    }
  })

  it("reads booleans in any case (B-ENV-8)", () => {
    for (const upper of ["true", "1", "YES", "On"]) expect(read({ upper })).toEqual({ upper: true })
    for (const upper of ["false", "0", "No", "OFF"]) expect(read({ upper })).toEqual({ upper: false })
    for (const upper of ["", "maybe", "2"]) expect(read({ upper })).toEqual({ upper })
  })

  it("reads literals of one type, and no others (B-ENV-8)", () => {
    expect(read({ level: "2", on: "true", mixed: "1" })).toEqual({ level: 2, on: true, mixed: "1" })
  })

  it("reads unions by the first member that fits, and text first of all", () => {
    expect(read({ either: "1", any: "1" })).toEqual({ either: 1, any: "1" })
    expect(read({ either: "yes" })).toEqual({ either: true })
  })

  it("reads lists from repeated keys (B-ENV-8)", () => {
    expect(read({ ids: ["1", "2"] })).toEqual({ ids: [1, 2] })
    expect(read({ ids: "1" })).toEqual({ ids: [1] })
    expect(read({ ids: ["1", "x"] })).toEqual({ ids: [1, "x"] })
    expect(read({ text: ["a"] })).toEqual({ text: "a" })
    expect(read({ text: ["a", "b"] })).toEqual({ text: ["a", "b"] })
  })

  it("reads for the encoded side, and keeps what it doesn't know", () => {
    expect(read({ wire: "7", at: "2026-01-02T03:04:05Z", other: "1", gone: undefined })).toEqual({
      wire: "7",
      at: "2026-01-02T03:04:05Z",
      other: "1"
    })
    expect(Object.keys(read(JSON.parse(`{"__proto__":"a"}`)))).toEqual(["__proto__"])
  })

  it.effect("lets what can't be read fail to decode, without repeating it (B-ENV-8)", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        Schema.decodeUnknown(Request)(read({ text: "a", count: "canary", level: "9" }), {
          errors: "all"
        })
      )
      expect(WireSchema.formatIssues(error).split("\n")).toEqual([
        "count: expected number",
        "level: expected one of 1, 2"
      ])
    }))
})

describe("WireSchema.issues", () => {
  it.effect("names paths and reasons", () =>
    Effect.gen(function*() {
      const schema = Schema.Struct({
        label: Schema.String,
        count: Schema.Number,
        tags: Schema.Array(x(Schema.Boolean))
      })
      expect(yield* why(schema, { count: "1", colour: "red", tags: [{ x: true }, { x: 1 }] })).toBe(
        "colour: is unexpected\nlabel: is missing\ncount: expected number\ntags[1].x: expected boolean"
      )
      expect(yield* why(schema, null)).toBe("expected object")
      expect(yield* why(schema, [])).toBe("expected object")
    }))

  it.effect("says what was expected of refinements, literals, enums, unions and transformations", () =>
    Effect.gen(function*() {
      expect(yield* why(x(Schema.Int), { x: 1.5 })).toBe("x: expected Int")
      expect(yield* why(x(Schema.Literal("a", "b")), { x: "c" })).toBe(`x: expected one of "a", "b"`)
      expect(yield* why(x(Schema.Enums(colours)), { x: "c" })).toBe(`x: expected one of "red", "blue"`)
      expect(yield* why(x(Schema.Union(Schema.String, Schema.Number)), { x: true })).toBe(
        "x: expected string or number"
      )
      expect(yield* why(x(Schema.NullOr(x(Schema.String))), { x: { x: 1 } })).toBe("x.x: expected string")
      expect(yield* why(x(Schema.NumberFromString), { x: "canary" })).toMatch(/^x: expected /)
      expect(yield* why(x(Schema.Date), { x: "canary" })).toMatch(/^x: expected /)
      expect(yield* why(x(Schema.Union(x(Schema.String), Schema.Struct({ y: Schema.Number }))), { x: {} })).toBe(
        "x: x: is missing; or y: is missing"
      )
    }))

  it.effect("says what a field says itself when it is missing", () =>
    Effect.gen(function*() {
      const field = (missingMessage: () => string | Effect.Effect<string>) =>
        Schema.Struct({ x: Schema.propertySignature(Schema.String).annotations({ missingMessage }) })
      expect(yield* why(field(() => "missing required fields: ['x']"), {})).toBe("x: missing required fields: ['x']")
      expect(yield* why(field(() => Effect.succeed("later")), {})).toBe("x: is missing")
      expect(
        yield* why(
          field(() => {
            throw new RangeError("no sentence")
          }),
          {}
        )
      ).toBe("x: is missing")
    }))

  it.effect("uses a schema's own sentence, and hands it no value", () =>
    Effect.gen(function*() {
      const own = Schema.String.pipe(Schema.filter((text) => text === "a", { message: () => "must be a" }))
      expect(yield* why(x(own), { x: "canary" })).toBe("x: must be a")
      const leaky = Schema.String.pipe(
        Schema.filter((text) => text === "a", { message: (issue) => `not ${issue.actual}` })
      )
      expect(yield* why(x(leaky), { x: "canary" })).toBe("x: not a value")
      const throwing = Schema.Number.annotations({ message: (issue) => (issue.actual as Date).toISOString() })
      expect(yield* why(x(throwing), { x: "canary" })).toBe("x: expected number")
    }))

  it.effect("bounds and quotes keys that a sender chose", () =>
    Effect.gen(function*() {
      const text = yield* why(x(Schema.String), { x: "a", ["a\nb".padEnd(500, "c")]: 1 })
      expect(text).not.toContain("\n")
      expect(text.length).toBeLessThan(120)
    }))

  const Anything = Schema.Struct({
    s: Schema.String.pipe(Schema.minLength(3)),
    n: Schema.Int,
    d: Schema.Date,
    r: Schema.Redacted(Schema.NumberFromString),
    u: Schema.Union(Schema.Literal("a"), x(Schema.Boolean), Schema.Array(Schema.Number)),
    o: Schema.optionalWith(Schema.UUID, { nullable: true })
  })

  const canary = "canary-5f3a"
  const tainted = FastCheck.letrec((tie) => ({
    value: FastCheck.oneof(
      FastCheck.constant(canary),
      FastCheck.string().map((text) => canary + text),
      FastCheck.array(tie("value"), { maxLength: 2 }),
      FastCheck.dictionary(FastCheck.constantFrom("x", "y"), tie("value"), { maxKeys: 2 })
    )
  })).value

  it.effect.prop(
    "never repeats a rejected value",
    [tainted, FastCheck.constantFrom("s", "n", "d", "r", "u", "o")],
    ([value, key]) =>
      Effect.gen(function*() {
        const sample = { s: "abc", n: 1, d: "2026-01-02T03:04:05Z", r: "1", u: "a", [key]: value }
        const result = yield* Effect.either(
          Schema.decodeUnknown(Anything)(sample, { errors: "all", onExcessProperty: "error" })
        )
        if (result._tag === "Left") {
          expect(WireSchema.formatIssues(result.left)).not.toContain(canary)
          expect(WireSchema.issues(result.left).length).toBeGreaterThan(0)
        } else {
          expect(Redacted.isRedacted(result.right.r)).toBe(true)
        }
      })
  )
})
