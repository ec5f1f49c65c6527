import { AgentServer } from "@effect-agentenv/agent"
import { AgentClient, ExtensionClient } from "@effect-agentenv/client"
import { Trigger } from "@effect-agentenv/protocol"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { TriggersV1 } from "@effect-agentenv/protocol/extensions/TriggersV1"
import { AgentTest } from "@effect-agentenv/testing"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option } from "effect"
import { AdvancedAgent, AdvancedAgentLive } from "../src/main.ts"

const Test = Layer.provide(AgentTest.layer(AdvancedAgent), AdvancedAgentLive)

const decision = (given: { readonly turn: number }) => ({ solver_message: "", context_id: "default", ...given })

const known = Effect.flatMap(AgentClient.AgentClient, (agent) => agent.send("Hello")).pipe(
  Effect.map((reply) => ({
    text: AgentClient.text(reply),
    output: Option.getOrThrow(AgentClient.structuredOutput(reply))
  }))
)

describe("the advanced agent", () => {
  it.effect("B-EX-4: adds reference-turn-limit to what fired, and ends the conversation, from turn 3 on", () =>
    Effect.gen(function*() {
      const triggers = yield* ExtensionClient.make(TriggersV1)
      const decided = yield* Effect.forEach([1, 2, 3, 4], (turn) => triggers.decide(decision({ turn })))
      expect(decided.map(({ done, fired }) => ({ done, fired }))).toEqual([
        { done: false, fired: [] },
        { done: false, fired: [] },
        { done: true, fired: ["reference-turn-limit"] },
        { done: true, fired: ["reference-turn-limit"] }
      ])
    }).pipe(Effect.provide(Test)))

  it.effect("B-EX-4: still decides as the library does, whose state it serves", () =>
    Effect.gen(function*() {
      const triggers = yield* ExtensionClient.make(TriggersV1)
      yield* triggers.register({
        triggers: [{
          ...Trigger.make({ id: "hint", when: Trigger.step({ turn: 3 }), actions: [Trigger.say("Hurry.")] })
        }]
      })
      const early = yield* triggers.decide(decision({ turn: 2 }))
      expect(early).toEqual({ parts: [], done: false, fired: [] })
      const last = yield* triggers.decide(decision({ turn: 3 }))
      expect(last).toMatchObject({ parts: [{ text: "Hurry." }], done: true, fired: ["hint", "reference-turn-limit"] })
      const { firing_log } = yield* triggers.state()
      expect(firing_log.map(({ kind }) => kind)).toEqual(["registered", "fired"])
    }).pipe(Effect.provide(Test)))

  it.effect("B-REG-15: a server that an override added through the library is in the list and in the next task", () =>
    Effect.gen(function*() {
      const mcp = yield* ExtensionClient.make(McpConfigV1)
      yield* mcp.add({ url: "http://127.0.0.1:1/mcp", name: "near" })
      expect((yield* mcp.list()).mcp_servers).toEqual({ near: { url: "http://127.0.0.1:1/mcp", has_headers: false } })
      expect((yield* known).output).toMatchObject({ servers: ["near"], ledger: ["mcp: near"] })
      const refused = yield* Effect.flip(mcp.add({ url: "http://far.example/mcp" }))
      expect(refused).toMatchObject({ _tag: "ExtensionCallError", status: 403 })
      expect(yield* Effect.flip(mcp.add({ url: "http://127.0.0.1:1/mcp" }))).toMatchObject({ status: 409 })
    }).pipe(Effect.provide(Test)))

  it.effect("B-REG-15: a configuration that an override set through the library is on the card and in the next task", () =>
    Effect.gen(function*() {
      const agent = yield* AgentClient.AgentClient
      const config = yield* ExtensionClient.make(AgentConfigV1)
      expect(yield* config.set({ greeting: "Moin", name: "Fiete" })).toEqual({ status: "updated", changes: 1 })
      expect(yield* Effect.flip(config.set({ greeting: "" }))).toMatchObject({ status: 400 })
      expect(yield* config.set({ description: "Greets." })).toEqual({ status: "updated", changes: 2 })
      expect(yield* config.get()).toEqual({ config: { greeting: "Moin", name: "Fiete", description: "Greets." } })
      expect((yield* known).text).toBe("Moin from Fiete.")
      expect(yield* agent.reload).toMatchObject({ name: "Fiete", description: "Greets." })
    }).pipe(Effect.provide(Test)))

  it.scoped("B-REG-14: says at its start and in its report what it answers itself", () =>
    Effect.gen(function*() {
      const { registry } = yield* Effect.provide(AgentServer.app(AdvancedAgent), AdvancedAgentLive)
      expect(registry.conformance.standard_operation_overrides.map(({ operation, uri }) => `${uri} ${operation}`))
        .toEqual([
          "urn:agentenv:agent-config/v1 set",
          "urn:agentenv:agent-config/v1 get",
          "urn:agentenv:mcp-config/v1 add",
          "urn:agentenv:mcp-config/v1 list",
          "urn:agentenv:triggers/v1 register",
          "urn:agentenv:triggers/v1 decide",
          "urn:agentenv:triggers/v1 state"
        ])
    }))

  it.effect("B-TASK-19: opens its ledger when it is served and closes it afterwards", () =>
    Effect.gen(function*() {
      const messages: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void messages.push(String(message)))
      const ledger = Effect.sync(() => messages.filter((message) => message.includes("ledger")))
      const serving = Effect.gen(function*() {
        const config = yield* ExtensionClient.make(AgentConfigV1)
        yield* config.set({ greeting: "Moin" })
        return yield* ledger
      })
      const during = yield* Effect.provide(serving, Layer.provide(Test, Logger.replace(Logger.defaultLogger, logger)))
      expect(during).toEqual(["The ledger is open"])
      expect(yield* ledger).toEqual(["The ledger is open", "The ledger closes with 1"])
    }))
})
