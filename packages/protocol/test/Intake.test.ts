import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as Intake from "@effect-agentenv/protocol/Intake"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

const card = (extensions: unknown) =>
  Schema.decodeUnknownSync(EnvironmentCard.EnvironmentCard)({ name: "x", capabilities: { extensions } })

const json = (tables?: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Intake.IntakeDeclaration => ({
  add: [{ part: "data", format: "json", ...(tables === undefined ? {} : { tables }) }]
})

const tables = { channels: { required: ["name", "topic"] }, users: {} }

describe("Intake", () => {
  it("B-INTK-1 is a declaration without its null fields", () => {
    const entry = Intake.extension({ add: [{ part: "data", format: "json", load: "additive", mimeTypes: undefined }] })
    expect(JSON.parse(JSON.stringify(entry))).toEqual({
      uri: "urn:agentenv:intake/v1",
      description: Intake.DESCRIPTION,
      params: { add: [{ part: "data", format: "json", load: "additive" }] },
      required: null
    })
    expect(Object.keys(entry.params ?? {})).toEqual(["add"])
    expect(Intake.extension({}, { description: "Ours." }).description).toBe("Ours.")
  })

  it.effect("B-INTK-1 reads back what it declares", () =>
    Effect.gen(function*() {
      const declaration: Intake.IntakeDeclaration = {
        add: [{ part: "file", format: "zip", bundleLayout: "flat", mimeTypes: ["application/zip"] }],
        get: [{ part: "data", format: "json", tables }]
      }
      expect(yield* Intake.fromCard(card([Intake.extension(declaration)]))).toEqual(declaration)
    }))

  it.effect("B-INTK-2 reads no claim from a missing or empty declaration", () =>
    Effect.gen(function*() {
      for (const extensions of [null, [], [{ uri: Intake.URI }], [{ uri: Intake.URI, params: {} }]]) {
        expect(yield* Intake.fromCard(card(extensions))).toBeUndefined()
      }
    }))

  it.effect("B-INTK-2 fails for a declaration that it can't read", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Intake.fromCard(card([{ uri: Intake.URI, params: { add: "bad" } }])))
      expect(error._tag).toBe("ParseError")
    }))

  it("B-PRE-1 has no problem without a claim", () => {
    expect(Intake.fitCheck(undefined, { a: [{}] })).toEqual([])
    expect(Intake.fitCheck({}, { a: [{}] })).toEqual([])
    expect(Intake.fitCheck(json(), { a: [{}] })).toEqual([])
    expect(Intake.fitCheck(json({}), { a: [{}] })).toEqual([])
  })

  it("B-PRE-1 tolerates extra fields and scalars at the top", () => {
    const items = [{ name: "a", topic: "b", extra: 1 }, "scalar"]
    expect(Intake.fitCheck(json(tables), { channels: items, users: [{}], count: 3, meta: {}, note: null })).toEqual([])
  })

  it("B-PRE-1 names an unknown collection", () => {
    expect(Intake.fitCheck(json(tables), { rooms: [] })).toEqual([expect.stringContaining("not accepted")])
  })

  it("B-PRE-1 names every item that lacks a required field", () => {
    const problems = Intake.fitCheck(json(tables), { channels: [{}, { name: "a" }, { name: "a", topic: null }] })
    expect(problems).toEqual([
      "channels[0]: missing required field name, topic",
      "channels[1]: missing required field topic"
    ])
  })

  it("B-PRE-1 says when no data part of the format is accepted", () => {
    const expected = [expect.stringContaining("does not accept part=data format=json")]
    expect(Intake.fitCheck({ get: [] }, {})).toEqual(expected)
    expect(Intake.fitCheck({ add: [] }, {})).toEqual(expected)
    expect(Intake.fitCheck({ add: [{ part: "file", format: "json" }, { part: "data", format: "csv" }] }, {})).toEqual(
      expected
    )
    expect(Intake.fitCheck({ add: [{ part: "data", format: "csv" }] }, {}, { format: "csv" })).toEqual([])
  })

  it("B-PRE-1 is content with one format that fits", () => {
    const declaration: Intake.IntakeDeclaration = {
      add: [...(json(tables).add ?? []), ...(json({ rooms: {} }).add ?? [])]
    }
    expect(Intake.fitCheck(declaration, { rooms: [{}] })).toEqual([])
  })
})
