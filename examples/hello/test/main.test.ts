import * as Model from "@effect-agentenv-examples/model"
import * as ModelServer from "@effect-agentenv-examples/model/ModelServer"
import { AgentClient, ExtensionClient } from "@effect-agentenv/client"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { AgentTest, EnvironmentTest } from "@effect-agentenv/testing"
import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Ref } from "effect"
import { Clerk, ClerkLive } from "../src/clerk.ts"
import { ParcelDesk, ParcelDeskLive } from "../src/desk.ts"
import { episode, introduce } from "../src/main.ts"

const Desk = EnvironmentTest.layer(ParcelDesk).pipe(Layer.provide(ParcelDeskLive))

/** Agent and environment in one process: what the clerk calls over HTTP is the desk. */
const clerk = <A, E, R>(model: Layer.Layer<A, E, R>) =>
  AgentTest.layer(Clerk).pipe(
    Layer.provide(ClerkLive),
    Layer.provide(Layer.effect(HttpClient.HttpClient, EnvironmentTest.Wire)),
    Layer.provide(model)
  )

const Scripted = Layer.provideMerge(clerk(Layer.empty), Desk)

const Thinking = clerk(Layer.unwrapEffect(
  Effect.map(ModelServer.ModelServer, ({ baseUrl }) => Model.layer({ apiKey: Redacted.make("sk"), baseUrl }))
)).pipe(
  Layer.provide(NodeHttpClient.layer),
  Layer.provideMerge(Layer.merge(Desk, ModelServer.layer))
)

const quiet = () => Effect.void

const failure = Effect.flatMap(AgentClient.AgentClient, (agent) => agent.send("Ada is at the desk.")).pipe(
  Effect.map((reply) => Option.getOrThrow(AgentClient.failure(reply)))
)

describe("the clerk at the parcel desk", () => {
  it.effect("is given the desk's tools, serves Ada through them, and is scored by the desk's state", () =>
    Effect.gen(function*() {
      yield* introduce()
      const lines = yield* Ref.make<ReadonlyArray<string>>([])
      const report = yield* episode((line) => Ref.update(lines, (all) => [...all, line]))
      expect(report.scores.delivered.score).toBe(1)
      expect(report.scores.careful.score).toBe(0.5)
      expect(report.score).toBe(0.875)
      expect(report.played).toEqual(Option.some(4))
      expect((yield* Ref.get(lines)).slice(2)).toEqual([
        "play",
        "  > Ada is at the desk. She asks for P-2, and for whatever else is hers.",
        expect.stringMatching(/^ {4}FAIL parcel_desk_hand_over \{"parcel":"P-2","recipient":"Ada"\}\n/),
        expect.stringMatching(/^ {4}ok {3}parcel_desk_find_parcels \{"recipient":"Ada"\}\n/),
        expect.stringMatching(/^ {4}ok {3}parcel_desk_hand_over \{"parcel":"P-1","recipient":"Ada"\}\n/),
        expect.stringMatching(/^ {4}ok {3}parcel_desk_hand_over \{"parcel":"P-3","recipient":"Ada"\}\n/),
        "  < Ada has P-1 and P-3. (4 tool calls)",
        "get",
        "score"
      ])
    }).pipe(Effect.provide(Scripted)))

  it.effect("finds the same parcels on the same shelves for the same seed", () =>
    Effect.gen(function*() {
      yield* introduce()
      const first = yield* episode(quiet)
      const again = yield* episode(quiet)
      expect(again.parts).toEqual(first.parts)
    }).pipe(Effect.provide(Scripted)))

  it.effect("lets a configured model think, which sees the tools and what they answered", () =>
    Effect.gen(function*() {
      const server = yield* ModelServer.ModelServer
      const asks = (id: string, name: string, args: string): Model.ToolCall => ({
        id,
        type: "function",
        function: { name, arguments: args }
      })
      yield* introduce("thinker")
      yield* server.reply(
        {
          toolCalls: [
            asks("c1", "parcel_desk_find_parcels", "{\"recipient\":\"Ada\"}"),
            asks("c2", "parcel_desk_find_parcels", "not JSON")
          ]
        },
        {
          toolCalls: ["P-1", "P-3"].map((id) =>
            asks(id, "parcel_desk_hand_over", `{"parcel":"${id}","recipient":"Ada"}`)
          )
        },
        { text: "Here you are, Ada." }
      )
      const report = yield* episode(quiet)
      expect(report.score).toBe(1)
      expect(report.played).toEqual(Option.some(3))
      const first = yield* server.next
      expect(first.body.model).toBe("thinker")
      expect(first.body.tools).toHaveLength(2)
      expect((yield* server.next).body.messages.slice(-2)).toMatchObject([
        { role: "tool", tool_call_id: "c1", content: expect.stringContaining("P-3") },
        { role: "tool", tool_call_id: "c2", content: "The arguments are no JSON object." }
      ])
    }).pipe(Effect.provide(Thinking)))

  it.effect("ends a model that never comes to an end", () =>
    Effect.gen(function*() {
      const server = yield* ModelServer.ModelServer
      yield* introduce("thinker")
      const again: ModelServer.Reply = {
        toolCalls: [{ id: "c", type: "function", function: { name: "nothing", arguments: "{}" } }]
      }
      yield* server.reply(...Array.from({ length: 12 }, () => again))
      expect(yield* failure).toMatchObject({ code: "no_end", type: "agent_error" })
    }).pipe(Effect.provide(Thinking)))

  it.effect("fails by name without a desk, and with a model that it does not have", () =>
    Effect.gen(function*() {
      expect(yield* failure).toMatchObject({ code: "no_desk", type: "infra_error" })
      yield* introduce()
      const config = yield* ExtensionClient.make(AgentConfigV1)
      yield* config.set({ model: "thinker" })
      expect(yield* failure).toMatchObject({ code: "no_model", type: "infra_error" })
    }).pipe(Effect.provide(Scripted)))
})
