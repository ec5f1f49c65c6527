import * as AgentCard from "@effect-agentenv/protocol/AgentCard"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

const read = Schema.decodeUnknown(AgentCard.AgentCard)

const old = {
  name: "Kestrel Desk",
  description: "Keeps a desk.",
  version: "1.0.0",
  url: "/a2a",
  protocolVersion: "0.3.0",
  preferredTransport: "JSONRPC",
  capabilities: { streaming: true, extensions: [{ uri: "urn:x", params: { a: 1 } }], more: 1 },
  defaultInputModes: ["text", "image/png"],
  defaultOutputModes: ["text", "application/json"],
  skills: []
}

const superset: AgentCard.AgentCard = {
  ...old,
  url: "https://h/a2a",
  supportedInterfaces: [
    { url: "https://h/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    { url: "https://h/a2a", protocolBinding: "JSONRPC", protocolVersion: "0.3" }
  ]
}

describe("AgentCard", () => {
  it("B-CARD-1: is looked for at both well-known paths", () => {
    expect(AgentCard.paths).toEqual(["/.well-known/agent-card.json", "/.well-known/agent.json"])
  })

  it.effect("B-CARD-2, B-CARD-11, B-CARD-13: reads a card of 0.3 as it is, unknown fields included", () =>
    Effect.gen(function*() {
      const card = yield* read({ ...old, x: { y: 1 } })
      expect(card).toEqual({ ...old, x: { y: 1 } })
      expect(AgentCard.endpoint(card)).toEqual({ url: "/a2a", version: "0.3" })
    }))

  it.effect("reads a card of 1.0, and takes null for absent", () =>
    Effect.gen(function*() {
      const card = yield* read({
        name: "n",
        description: null,
        url: null,
        skills: null,
        capabilities: { extensions: null },
        supportedInterfaces: [{ url: "https://h/", protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "t" }]
      })
      expect([card.description, card.skills, card.defaultInputModes, card.url]).toEqual(["", [], [], undefined])
      expect(AgentCard.endpoint(card)).toEqual({ url: "https://h/", version: "1.0", tenant: "t" })
    }))

  it.effect("names the field that is wrong, and refuses a card without a name", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(read({}))).message).toContain("\"name\"")
      expect((yield* Effect.flip(read({ name: "n", skills: [{}] }))).message).toContain("\"name\"")
    }))

  it("lists the endpoints of a superset card once each, in its order", () => {
    expect(AgentCard.interfaces(superset)).toEqual(superset.supportedInterfaces)
    expect(AgentCard.interfaces({ ...old, additionalInterfaces: [{ url: "/grpc", transport: "GRPC" }] })).toEqual([
      { url: "/a2a", protocolBinding: "JSONRPC", protocolVersion: "0.3.0" },
      { url: "/grpc", protocolBinding: "GRPC", protocolVersion: "0.3.0" }
    ])
  })

  it("chooses the endpoint of the preferred version, else of the other, else none", () => {
    expect(AgentCard.endpoint(superset)).toEqual({ url: "https://h/a2a", version: "1.0" })
    expect(AgentCard.endpoint(superset, "0.3")).toEqual({ url: "https://h/a2a", version: "0.3" })
    expect(AgentCard.endpoint({ ...old, preferredTransport: "GRPC" })).toBe(undefined)
    expect(AgentCard.endpoint({ ...old, protocolVersion: "2.0" })).toBe(undefined)
  })

  it("tells the wire by the major version", () => {
    const versions = ["0.2.5", "0.3", "0.3.0", "1", "1.0", "1.7.2", "2.0", "", "x", "10.0"]
    expect(versions.map(AgentCard.wireOf)).toEqual([
      "0.3",
      "0.3",
      "0.3",
      "1.0",
      "1.0",
      "1.0",
      undefined,
      undefined,
      undefined,
      undefined
    ])
  })

  it("finds an extension by its URI", () => {
    expect(AgentCard.extension(old, "urn:x")).toEqual({ uri: "urn:x", params: { a: 1 } })
    expect(AgentCard.extension(old, "urn:y")).toBe(undefined)
  })
})
