import * as AgentConfig from "@effect-agentenv/agent/AgentConfig"
import { expect, it } from "@effect/vitest"
import { Array as Arr, Effect, FastCheck, Order, Redacted, Schema } from "effect"

interface Shelf {
  readonly label: string
  readonly below: ReadonlyArray<Shelf>
}

const Shelf: Schema.Schema<Shelf> = Schema.Struct({
  label: Schema.String,
  below: Schema.Array(Schema.suspend((): Schema.Schema<Shelf> => Shelf))
}).annotations({ identifier: "Shelf", default: { label: "secret-shelf", below: [] } })

const Glaze = Schema.Struct({
  shade: Schema.optionalWith(Schema.String, { default: () => "secret-shade" }),
  layerCount: Schema.optionalWith(Schema.Int, { default: () => 2 }).pipe(Schema.fromKey("layer_count"))
})

class KilnConfig extends AgentConfig.extend<KilnConfig>("KilnConfig")({
  model: AgentConfig.field(Schema.String, { default: () => "secret-model", description: "Which model fires." }),
  default: AgentConfig.field(Schema.String.annotations({ default: "secret-default" }), { default: () => "none" }),
  glaze: AgentConfig.field(Glaze, { default: () => ({ shade: "ash", layerCount: 1 }) }),
  shelf: AgentConfig.field(Schema.NullOr(Shelf), { default: () => null }),
  extras: AgentConfig.field(Schema.Record({ key: Schema.String, value: Schema.Unknown }), { default: () => ({}) }),
  maxHeat: AgentConfig.field(Schema.Number, { default: () => 900, alias: "max_heat" }),
  token: AgentConfig.writeOnly(Schema.NullOr(Schema.String), { default: () => null, alias: "apiToken" })
}) {}

const decode = AgentConfig.decoder(KilnConfig)

/** Every key of every object in a JSON value, but for the names of properties. */
const keywords = (value: unknown, named = false): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap((each) => keywords(each))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [
    ...(named ? [] : [key]),
    ...keywords(each, !named && (key === "properties" || key === "$defs"))
  ])
}

it("B-CFG-1: the names that can be set are wire names, sorted, inherited ones among them", () => {
  expect(AgentConfig.wireNames(KilnConfig)).toEqual([
    "apiToken",
    "default",
    "description",
    "extras",
    "glaze",
    "max_heat",
    "model",
    "name",
    "role",
    "shelf",
    "timeout_seconds"
  ])
  expect(AgentConfig.wireNames(AgentConfig.AgentConfig)).toEqual(["description", "name", "role", "timeout_seconds"])
})

it.effect("B-CFG-2: without anything set the defaults hold", () =>
  Effect.gen(function*() {
    const config = yield* decode({})
    expect(config).toBeInstanceOf(KilnConfig)
    expect({ ...config, token: Redacted.value(config.token) }).toEqual({
      name: null,
      description: null,
      role: null,
      timeoutSeconds: 600,
      model: "secret-model",
      default: "none",
      glaze: { shade: "ash", layerCount: 1 },
      shelf: null,
      extras: {},
      maxHeat: 900,
      token: null
    })
    const base = yield* AgentConfig.decoder(AgentConfig.AgentConfig)({})
    expect({ ...base }).toEqual({ name: null, description: null, role: null, timeoutSeconds: 600 })
  }))

it.effect("B-CFG-3: the JSON Schema has no default at any depth, but a field that is named default", () =>
  Effect.gen(function*() {
    const schema = yield* AgentConfig.jsonSchema(KilnConfig)
    expect(keywords(schema)).not.toContain("default")
    expect(JSON.stringify(schema)).not.toContain("secret-")
    expect(schema.properties).toHaveProperty("default", expect.objectContaining({ type: "string" }))
    expect(schema).toHaveProperty("$defs")
    expect(schema).toMatchObject({ type: "object", additionalProperties: false })
    expect(schema).not.toHaveProperty("required")
    expect(schema.properties["model"]).toMatchObject({ type: "string", description: "Which model fires." })
  }))

it.effect("B-CFG-4: an alias is the wire name, and the property's own name is refused", () =>
  Effect.gen(function*() {
    expect((yield* decode({ max_heat: 1_200, timeout_seconds: 30 })).maxHeat).toBe(1_200)
    expect((yield* Effect.flip(decode({ maxHeat: 1_200 }))).issues).toEqual([
      { path: "maxHeat", message: "is unexpected" }
    ])
    expect((yield* Effect.flip(decode({ timeoutSeconds: 30 }))).message).toBe("timeoutSeconds: is unexpected")
    const { properties } = yield* AgentConfig.jsonSchema(KilnConfig)
    expect(Arr.sort(Object.keys(properties), Order.string)).toEqual(AgentConfig.wireNames(KilnConfig))
  }))

it.effect("B-CFG-5: aliases of nested values are read", () =>
  Effect.gen(function*() {
    const config = yield* decode({ glaze: { shade: "celadon", layer_count: 3 } })
    expect(config.glaze).toEqual({ shade: "celadon", layerCount: 3 })
    const error = yield* Effect.flip(decode({ glaze: { layerCount: 3 } }))
    expect(error.message).toBe("glaze.layerCount: is unexpected")
  }))

it.effect("B-CFG-6: a write-only field is a secret on the card and when decoded", () =>
  Effect.gen(function*() {
    const { properties } = yield* AgentConfig.jsonSchema(KilnConfig)
    expect(properties["apiToken"]).toMatchObject({ writeOnly: true })
    expect(Object.values(properties).filter((each) => Object.hasOwn(each as object, "writeOnly"))).toHaveLength(1)
    expect(AgentConfig.fields(KilnConfig).filter(({ writeOnly }) => writeOnly)).toEqual([
      { property: "token", wire: "apiToken", writeOnly: true }
    ])
    const config = yield* decode({ apiToken: "tok-5150" })
    expect(Redacted.value(config.token)).toBe("tok-5150")
    expect(JSON.stringify(config)).not.toContain("tok-5150")
    expect(String(config)).not.toContain("tok-5150")
  }))

it.effect("B-CFG-7: what is no field, or of another type, is refused at once and whole", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(decode({ unknown: 1, model: 7, timeout_seconds: 1.5, name: false }))
    expect(new Set(error.issues.map(({ path }) => path))).toEqual(
      new Set(["model", "name", "timeout_seconds", "unknown"])
    )
  }))

it.effect("B-CFG-11: each reading shares nothing with another, with what was set or with a default", () =>
  Effect.gen(function*() {
    const shared = { shades: ["ash"] }
    class Sharing extends AgentConfig.extend<Sharing>("Sharing")({
      extras: AgentConfig.field(Schema.Record({ key: Schema.String, value: Schema.Unknown }), { default: () => shared })
    }) {}
    const read = AgentConfig.decoder(Sharing)
    const first = yield* read({})
    ;(first.extras["shades"] as Array<string>).push("celadon")
    expect(shared).toEqual({ shades: ["ash"] })
    expect((yield* read({})).extras).toEqual({ shades: ["ash"] })

    const set = { extras: { tags: ["a"] } }
    const second = yield* read(set)
    ;(second.extras["tags"] as Array<string>).push("b")
    expect(set).toEqual({ extras: { tags: ["a"] } })
    expect((yield* read(set)).extras).toEqual({ tags: ["a"] })
  }))

it.effect("what was set is never repeated in an error", () =>
  Effect.gen(function*() {
    const value = FastCheck.oneof(
      FastCheck.integer({ min: 1_000_000 }),
      FastCheck.constant(true),
      FastCheck.array(FastCheck.constant("zq-secret"), { minLength: 1 }),
      FastCheck.dictionary(FastCheck.constant("k"), FastCheck.constant("zq-secret"), { minKeys: 1 })
    )
    const field = FastCheck.constantFrom("apiToken", "model", "name", "role")
    for (const [name, secret] of FastCheck.sample(FastCheck.tuple(field, value), 200)) {
      const error = yield* Effect.flip(decode({ [name]: secret }))
      expect(error.message).toMatch(/^(apiToken|model|name|role): expected /)
      expect(JSON.stringify(error)).not.toMatch(/zq-secret|\d{7}|true/)
    }
  }))

it.effect("hostile values are refused, never thrown on", () =>
  Effect.gen(function*() {
    const deep = JSON.parse("[".repeat(10_000) + "]".repeat(10_000))
    expect((yield* Effect.flip(decode({ extras: { deep } }))).message).toContain("deeper")
    expect((yield* Effect.flip(decode(JSON.parse("{\"__proto__\":{\"model\":\"x\"}}")))).message).toContain(
      "unexpected"
    )
    const config = yield* decode(JSON.parse("{\"extras\":{\"__proto__\":{\"polluted\":1}},\"model\":\"\\ud800\"}"))
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    expect(config.model).toBe("\ud800")
    const circle: Record<string, unknown> = {}
    circle["self"] = circle
    expect((yield* Effect.flip(decode({ extras: circle }))).message).toContain("itself")
    expect((yield* Effect.flip(decode({ extras: { heat: Number.NaN } }))).message).toContain("JSON")
  }))

it.effect("B-REG-25: defaults survive the way to the wire and back", () =>
  Effect.gen(function*() {
    yield* AgentConfig.check("kiln", KilnConfig)
    yield* AgentConfig.check("kiln", AgentConfig.AgentConfig)
    class Trimmed extends AgentConfig.extend<Trimmed>("Trimmed")({
      label: AgentConfig.field(Schema.Trim, { default: () => " zq-secret " })
    }) {}
    class Narrow extends AgentConfig.extend<Narrow>("Narrow")({
      heat: AgentConfig.writeOnly(Schema.Int.pipe(Schema.between(0, 10)), { default: () => 1_234_567 })
    }) {}
    class Absent extends AgentConfig.extend<Absent>("Absent")({
      heat: AgentConfig.field(Schema.Number, { default: () => Number.NaN })
    }) {}
    class Thrown extends AgentConfig.extend<Thrown>("Thrown")({
      heat: AgentConfig.field(Schema.Number, {
        default: () => {
          throw new RangeError("zq-secret")
        }
      })
    }) {}
    for (const config of [Trimmed, Narrow, Absent, Thrown]) {
      const error = yield* Effect.flip(AgentConfig.check("kiln", config))
      expect(error._tag).toBe("RegistryError")
      expect(error.subject).toMatch(/^configuration field '(label|heat)'$/)
      expect(error.message).toContain("does not survive the wire")
      expect(error.message).not.toMatch(/zq-secret|1234567/)
    }
  }))

it("B-REG-25: two fields with one wire name that types did not see make no class", () => {
  const one = (alias: string) => AgentConfig.field(Schema.Number, { default: () => 1, alias })
  expect(() => AgentConfig.extend<any>("Twice")({ warm: one("heat"), heat: one("heat") } as never)).toThrow("\"heat\"")
  expect(() => AgentConfig.extend<any>("Base")({ wait: one("timeout_seconds") } as never)).toThrow(
    "\"timeout_seconds\""
  )
})

it.effect("a configuration that JSON Schema can't say is refused", () =>
  Effect.gen(function*() {
    class Odd extends AgentConfig.extend<Odd>("Odd")({
      when: AgentConfig.field(Schema.Union(Schema.Null, Schema.DateFromSelf), { default: () => null })
    }) {}
    expect((yield* Effect.flip(AgentConfig.check("kiln", Odd))).subject).toBe("configuration 'Odd'")
  }))

it.effect("B-REG-26: a default for a field that is not declared changes nothing that can be set", () =>
  Effect.gen(function*() {
    const options = { maxHeat: 1, undeclared: 1 }
    expect(Object.keys(new KilnConfig(options))).not.toContain("undeclared")
    expect((yield* Effect.flip(decode({ undeclared: 1 }))).message).toBe("undeclared: is unexpected")
    const names = AgentConfig.wireNames(KilnConfig)
    expect(Arr.sort(names, Order.string)).toEqual(names)
  }))
