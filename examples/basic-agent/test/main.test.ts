import * as Model from "@effect-agentenv-examples/model"
import * as ModelServer from "@effect-agentenv-examples/model/ModelServer"
import { AgentClient, ExtensionClient } from "@effect-agentenv/client"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { TrajectoryV1 } from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import { AgentTest } from "@effect-agentenv/testing"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted, TestClock } from "effect"
import { BasicAgent, BasicAgentLive } from "../src/main.ts"

/** The agent in process; its model is a server that is asked over HTTP. */
const Test = AgentTest.layer(BasicAgent).pipe(
  Layer.provide(BasicAgentLive),
  Layer.provide(Layer.unwrapEffect(
    Effect.map(ModelServer.ModelServer, ({ baseUrl }) => Model.layer({ apiKey: Redacted.make("sk-own"), baseUrl }))
  )),
  Layer.provide(NodeHttpClient.layer),
  Layer.provideMerge(ModelServer.layer)
)

const send = (text: string, options?: AgentClient.SendOptions) =>
  Effect.flatMap(AgentClient.AgentClient, (agent) => agent.send(text, options)).pipe(
    Effect.filterOrDieMessage((reply) => reply._tag === "Task", "the agent answers with a task"),
    Effect.map(({ task }) => task)
  )

const failure = (text: string) => Effect.map(send(text), (task) => Option.getOrThrow(AgentClient.failure(task)))

describe("the basic agent", () => {
  it.effect("B-EX-1: takes a write-only provider_token, which wins over its own key and is never shown", () =>
    Effect.gen(function*() {
      const server = yield* ModelServer.ModelServer
      const config = yield* ExtensionClient.make(AgentConfigV1)
      yield* send("Hi")
      expect((yield* server.next).authorization).toBe("Bearer sk-own")
      yield* config.set({ provider_token: "sk-callers", model: "other" })
      expect(yield* config.get()).toEqual({ config: { provider_token: "***", model: "other" } })
      yield* send("Hi")
      expect(yield* server.next).toMatchObject({ authorization: "Bearer sk-callers", body: { model: "other" } })
    }).pipe(Effect.provide(Test)))

  it.effect("B-EX-1: takes messages of max_input_chars, 1000 unless told, and fails longer ones by name", () =>
    Effect.gen(function*() {
      const config = yield* ExtensionClient.make(AgentConfigV1)
      expect((yield* send("x".repeat(1000))).status.state).toBe("completed")
      // a character beyond the basic plane is one
      expect((yield* send("😀".repeat(1000))).status.state).toBe("completed")
      expect(yield* failure("x".repeat(1001))).toMatchObject({ code: "input_too_long", type: "agent_error" })
      yield* config.set({ max_input_chars: 3 })
      expect(yield* failure("four")).toMatchObject({ code: "input_too_long" })
      const refused = yield* Effect.flip(config.set({ max_input_chars: 0 }))
      expect(refused).toMatchObject({ _tag: "ExtensionCallError", status: 400 })
    }).pipe(Effect.provide(Test)))

  it.effect("B-EX-1: goes on with the session of its context, model-session-<context>, and with no other's", () =>
    Effect.gen(function*() {
      const server = yield* ModelServer.ModelServer
      const first = yield* send("My name is Ada.")
      yield* server.next
      yield* send("What is my name?", { contextId: first.contextId })
      expect((yield* server.next).body.messages.slice(1)).toEqual([
        { role: "user", content: "My name is Ada." },
        { role: "assistant", content: "You said: My name is Ada." },
        { role: "user", content: "What is my name?" }
      ])
      yield* send("What is my name?")
      expect((yield* server.next).body.messages).toHaveLength(2)
    }).pipe(Effect.provide(Test)))

  it.effect("B-EX-1: records a trajectory of reference-model-events/v1 with an event for the completion", () =>
    Effect.gen(function*() {
      const recorded = (request: Readonly<Record<string, unknown>>) =>
        ExtensionClient.invoke(TrajectoryV1.uri, { method: "get", params: request })
      const task = yield* send("Hi")
      const event = {
        type: "model_completion",
        model: "gpt-5-mini",
        input: "Hi",
        output: "You said: Hi",
        usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 }
      }
      expect(yield* recorded({ task_id: task.id })).toEqual({ trajectory: [event] })
      expect(yield* recorded({ task_id: task.id, after: 0 })).toMatchObject({
        format: "reference-model-events/v1",
        state: "completed",
        events: [event]
      })
    }).pipe(Effect.provide(Test)))

  it.effect("B-EX-2: forwards the message's metadata to the model, and none when there is none", () =>
    Effect.gen(function*() {
      const server = yield* ModelServer.ModelServer
      yield* send("Hi")
      expect((yield* server.next).body).not.toHaveProperty("metadata")
      yield* send("Hi", { messageMetadata: { trial: "7" } })
      expect((yield* server.next).body.metadata).toEqual({ trial: "7" })
    }).pipe(Effect.provide(Test)))

  it.effect("answers with its text and what it cost", () =>
    Effect.gen(function*() {
      const task = yield* send("Hi")
      expect(AgentClient.text(task)).toBe("You said: Hi")
      expect(Option.getOrThrow(AgentClient.usage(task))).toMatchObject({ inputTokens: 7, totalTokens: 10 })
    }).pipe(Effect.provide(Test)))

  it.effect("fails a task whose model fails, and one that takes longer than it may", () =>
    Effect.gen(function*() {
      const server = yield* ModelServer.ModelServer
      const config = yield* ExtensionClient.make(AgentConfigV1)
      yield* config.set({ timeout_seconds: 5 })
      yield* server.reply({ status: 500, json: {} }, "silence")
      expect(yield* failure("Hi")).toMatchObject({ code: "model.refused", type: "infra_error" })
      yield* server.next
      const late = yield* Effect.fork(failure("Hi"))
      yield* server.next
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(late)).toMatchObject({ code: "timeout", type: "agent_error" })
    }).pipe(Effect.provide(Test)))

  it.effect("refuses what is no text", () =>
    Effect.gen(function*() {
      const agent = yield* AgentClient.AgentClient
      const reply = yield* agent.send({ kind: "data", data: { a: 1 } })
      const said = reply._tag === "Task" ? Option.getOrThrow(AgentClient.failure(reply.task)) : undefined
      expect(said).toMatchObject({ code: "unsupported_input" })
    }).pipe(Effect.provide(Test)))
})
