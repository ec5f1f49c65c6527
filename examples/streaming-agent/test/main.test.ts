import * as Model from "@effect-agentenv-examples/model"
import * as ModelServer from "@effect-agentenv-examples/model/ModelServer"
import { AgentClient } from "@effect-agentenv/client"
import type { A2a } from "@effect-agentenv/protocol"
import { AgentTest } from "@effect-agentenv/testing"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Layer, Option, Redacted, Stream } from "effect"
import { StreamingAgent, StreamingAgentLive } from "../src/main.ts"

const Test = AgentTest.layer(StreamingAgent).pipe(
  Layer.provide(StreamingAgentLive),
  Layer.provide(Layer.unwrapEffect(
    Effect.map(ModelServer.ModelServer, ({ baseUrl }) => Model.layer({ apiKey: Redacted.make("sk-own"), baseUrl }))
  )),
  Layer.provide(NodeHttpClient.layer),
  Layer.provideMerge(ModelServer.layer)
)

const textOf = (parts: ReadonlyArray<A2a.Part> | undefined) =>
  (parts ?? []).map((part) => part.kind === "text" ? part.text : part.kind).join("")

const line = (event: A2a.StreamEvent): string => {
  switch (event._tag) {
    case "Task":
      return `task ${event.task.status.state}`
    case "Message":
      return "message"
    case "StatusUpdate":
      return `${event.final ? "final " : ""}${event.status.state} ${textOf(event.status.message?.parts)}`.trim()
    case "ArtifactUpdate":
      return `artifact ${event.artifact.name ?? ""}${event.append ? "+" : ""}${event.lastChunk ? "." : ""}`
  }
}

const events = (text: string) =>
  Effect.flatMap(AgentClient.AgentClient, (agent) => Stream.runCollect(agent.stream(text))).pipe(
    Effect.map(Chunk.toReadonlyArray)
  )

describe("the streaming agent", () => {
  it.effect("B-EX-5: streams the task, its progress, the growing answer and the final state, in this order", () =>
    Effect.gen(function*() {
      const seen = yield* events("Hi there")
      const lines = seen.map(line)
      expect(lines.filter((each) => !each.startsWith("artifact"))).toEqual([
        "task submitted",
        "working",
        "working Asking gpt-5-mini",
        "working Read 18 characters",
        "final completed You said: Hi there"
      ])
      const artifacts = seen.filter((event) => event._tag === "ArtifactUpdate")
      expect(artifacts.map(({ artifact }) => textOf(artifact.parts)).join("")).toBe("You said: Hi there")
      expect(new Set(artifacts.map(({ artifact }) => artifact.artifactId)).size).toBe(1)
      expect([artifacts[0]?.append, artifacts.at(-1)?.lastChunk]).toEqual([false, true])
      expect(seen.find((event) => line(event) === "working Asking gpt-5-mini")).toMatchObject({
        final: false,
        metadata: { phase: "asking" }
      })
    }).pipe(Effect.provide(Test)))

  it.effect("fails the task when the model's answer is cut, and keeps what came of it", () =>
    Effect.gen(function*() {
      const agent = yield* AgentClient.AgentClient
      const server = yield* ModelServer.ModelServer
      yield* server.reply({ texts: ["half an ans"], cut: true })
      const seen = yield* events("Hi")
      const last = seen.at(-1)
      expect(last).toMatchObject({ _tag: "StatusUpdate", final: true, status: { state: "failed" } })
      if (last?._tag !== "StatusUpdate") return
      expect(Option.getOrThrow(AgentClient.failure(last))).toMatchObject({ code: "model.unreadable" })
      const task = yield* agent.get(last.taskId)
      expect(textOf(task.artifacts[0]?.parts ?? [])).toMatch(/^(half an ans)?$/)
    }).pipe(Effect.provide(Test)))

  it.effect("advertises that it streams, and answers those who don't", () =>
    Effect.gen(function*() {
      const agent = yield* AgentClient.AgentClient
      expect((yield* agent.card).capabilities).toMatchObject({ streaming: true })
      expect(AgentClient.text(yield* Effect.map(agent.send("Hi"), (reply) => reply))).toBe("You said: Hi")
    }).pipe(Effect.provide(Test)))
})
