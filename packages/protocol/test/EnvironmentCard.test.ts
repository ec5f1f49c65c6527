import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

const decode = Schema.decodeUnknown(EnvironmentCard.EnvironmentCard)
const read = Schema.decodeUnknownSync(EnvironmentCard.EnvironmentCard)
const entry = (params: unknown) => Schema.decodeUnknownSync(EnvironmentCard.ExtensionEntry)({ uri: "urn:x/v1", params })

const path = (additionalInterfaces: unknown) => EnvironmentCard.mcpPath(read({ name: "x", additionalInterfaces }))

describe("EnvironmentCard", () => {
  it.effect("reads a card with nothing but a name (B-ENV-1)", () =>
    Effect.gen(function*() {
      expect(yield* decode({ name: "parcels" })).toEqual({
        name: "parcels",
        protocolVersion: "1.0",
        url: "/agentenv",
        preferredTransport: "JSONRPC",
        additionalInterfaces: [],
        capabilities: { extensions: null, tools: null, operations: null },
        children_environments: null
      })
    }))

  it.effect("reads null containers and keeps unknown fields (B-CLI-3, B-ENV-12)", () =>
    Effect.gen(function*() {
      const card = yield* decode({
        name: "parcels",
        additionalInterfaces: null,
        capabilities: null,
        children_environments: null,
        maintainer: { team: "kiln" }
      })
      expect(card["maintainer"]).toEqual({ team: "kiln" })
      expect(EnvironmentCard.findExtension(card, "urn:x/v1")).toBeUndefined()
      expect(EnvironmentCard.findTool(card, "ring")).toBeUndefined()
      expect(EnvironmentCard.findChild(card, "bell")).toBeUndefined()
      expect(EnvironmentCard.extensionParams(card, "urn:x/v1")).toEqual({})
    }))

  it.effect("serves its nulls (B-ENV-1)", () =>
    Effect.gen(function*() {
      const card = yield* decode({
        name: "x",
        capabilities: { extensions: [{ uri: "urn:x/v1" }], tools: [{ name: "t" }] }
      })
      const encoded = JSON.parse(JSON.stringify(yield* Schema.encode(EnvironmentCard.EnvironmentCard)(card)))
      expect(encoded.children_environments).toBeNull()
      expect(encoded.capabilities).toEqual({
        extensions: [{ uri: "urn:x/v1", description: null, params: null, required: null }],
        tools: [{ name: "t", description: null, inputSchema: null }],
        operations: null
      })
    }))

  it.effect("nests children, and does not search them (B-ENV-16, B-CLI-3)", () =>
    Effect.gen(function*() {
      const leaf = { name: "leaf", capabilities: { extensions: [{ uri: "urn:x/v1" }], tools: [{ name: "ring" }] } }
      const card = yield* decode({
        name: "root",
        children_environments: [{ name: "mid", children_environments: [leaf] }]
      })
      const mid = EnvironmentCard.findChild(card, "mid")
      expect(mid?.children_environments?.[0]?.name).toBe("leaf")
      expect(EnvironmentCard.findChild(card, "leaf")).toBeUndefined()
      expect(EnvironmentCard.findTool(card, "ring")).toBeUndefined()
      expect(EnvironmentCard.findExtension(card, "urn:x/v1")).toBeUndefined()
    }))

  it("finds extensions and tools by name (B-CLI-3)", () => {
    const card = read({
      name: "x",
      capabilities: {
        extensions: [{ uri: "urn:x/v1", params: { a: 1 } }],
        tools: [{ name: "ring", description: "Rings." }]
      }
    })
    expect(EnvironmentCard.findTool(card, "ring")?.description).toBe("Rings.")
    expect(EnvironmentCard.extensionParams(card, "urn:x/v1")).toEqual({ a: 1 })
  })

  it("finds the endpoint and verb of a method (B-CLI-4, B-MULTI-1)", () => {
    const { method } = EnvironmentCard
    const shared = entry({ endpoint: "/e", methods: { a: { method: "get" }, b: { endpoint: "/o" } } })
    expect(method(shared, "a")).toEqual({ name: "a", verb: "GET", endpoint: "/e" })
    expect(method(shared, "b")).toEqual({ name: "b", verb: "POST", endpoint: "/o" })
    expect(method(shared)).toEqual({ name: "a", verb: "GET", endpoint: "/e" })
    expect(method(shared, "c")).toBeUndefined()
    expect(method(shared, "constructor")).toBeUndefined()
    expect(EnvironmentCard.methodNames(shared)).toEqual(["a", "b"])
  })

  it.each([undefined, null, {}, { endpoint: "/e" }, { methods: null }, { methods: [] }, { methods: { a: null } }, {
    methods: { a: { method: "GET" } }
  }, { endpoint: "/e", methods: { a: { method: 5 } } }])("has no method to call in %j (B-CLI-4)", (params) => {
    expect(EnvironmentCard.method(entry(params), "a")).toBeUndefined()
    expect(EnvironmentCard.method(entry(params))).toBeUndefined()
  })

  it("finds the tools' endpoint, /mcp unless declared (B-CLI-6, B-ENV-13)", () => {
    expect(path(null)).toBe("/mcp")
    expect(path([{ url: "/ws", transport: "ws" }])).toBe("/mcp")
    expect(path([{ url: "", transport: "mcp" }])).toBe("/mcp")
    expect(path([{ url: "/ws", transport: "ws" }, { url: "/m", transport: "mcp" }])).toBe("/m")
  })
})
