import * as Manifest from "@effect-agentenv/protocol/Manifest"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

const decode = Schema.decodeUnknown(Manifest.Manifest)

const wire = {
  service: "parcels",
  manifest_version: "0.1.0",
  interface: "cli",
  entities: [{
    entity: "parcel",
    commands: {
      get: { tool: "read_parcel", params: [{ name: "ids", type: "array", item_type: "string", required: true }] }
    }
  }],
  actions: [{ name: "ring", tool: "ring", params: [] }]
}

describe("Manifest", () => {
  it.effect("B-MAN-1 fills what is absent and ignores what it doesn't know", () =>
    Effect.gen(function*() {
      expect(yield* decode({ service: "parcels", colour: "red" })).toEqual({
        service: "parcels",
        manifest_version: "0.1.0",
        interface: "cli",
        entities: [],
        actions: []
      })
      expect(yield* decode({ service: "p", actions: [{ name: "a", tool: "t", summary: null }] })).toMatchObject({
        actions: [{ name: "a", tool: "t", params: [] }]
      })
    }))

  it.effect("B-MAN-1 is written with a newline at its end and without absent fields", () =>
    Effect.gen(function*() {
      const text = Manifest.serialize(yield* decode(wire))
      expect(text).toBe(`${JSON.stringify(wire, null, 2)}\n`)
      expect(text).not.toContain("null")
    }))

  it.each(
    [
      ["0.1.0", "0.1.0", true],
      ["0.1.9", "0.1.0", true],
      ["0.2.0", "0.1.0", false],
      ["1.0.0", "0.1.0", false],
      ["1.2.0", "1.9.0", true],
      ["2.0.0", "1.9.0", false],
      ["", "0.1.0", false],
      [" 0.1.0 ", "0.1.0", false],
      ["0.1", "0.1.0", false],
      ["0.1.0.0", "0.1.0", false],
      ["0.1.0-rc1", "0.1.0", false],
      ["00.1.0", "0.1.0", false],
      [null, "0.1.0", false],
      [undefined, "0.1.0", false],
      [1, "0.1.0", false]
    ] as const
  )("B-MAN-2 compares %j with %j as %j", (served, supported, expected) => {
    expect(Manifest.compatible(served, supported)).toBe(expected)
  })

  it("B-MAN-2 compares with its own version unless told otherwise", () => {
    expect(Manifest.compatible(Manifest.VERSION)).toBe(true)
  })

  it("B-MAN-3 says where it is served and what its commands are called", () => {
    expect(Manifest.ENDPOINT).toBe("/agentenv/interface-manifest")
    expect(Manifest.extension()).toMatchObject({
      uri: "urn:agentenv:get-interfaces/v1",
      params: { endpoint: Manifest.ENDPOINT }
    })
    expect((["list", "read", "create", "update", "delete"] as const).map(Manifest.commandName)).toEqual([
      "list",
      "get",
      "create",
      "update",
      "delete"
    ])
  })
})
