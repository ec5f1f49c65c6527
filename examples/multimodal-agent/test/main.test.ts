import * as Model from "@effect-agentenv-examples/model"
import * as ModelServer from "@effect-agentenv-examples/model/ModelServer"
import { AgentClient } from "@effect-agentenv/client"
import type { A2a } from "@effect-agentenv/protocol"
import { AgentTest } from "@effect-agentenv/testing"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { MultimodalAgent, MultimodalAgentLive } from "../src/main.ts"

const Test = AgentTest.layer(MultimodalAgent).pipe(
  Layer.provide(MultimodalAgentLive),
  Layer.provide(Layer.unwrapEffect(
    Effect.map(ModelServer.ModelServer, ({ baseUrl }) => Model.layer({ apiKey: Redacted.make("sk-own"), baseUrl }))
  )),
  Layer.provide(NodeHttpClient.layer),
  Layer.provideMerge(ModelServer.layer)
)

/** One red pixel. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

const image = (file: Partial<A2a.FilePart["file"]>): A2a.FilePart => ({
  kind: "file",
  file: { mimeType: "image/png", ...file } as A2a.FilePart["file"]
})

const failure = (part: A2a.Part) =>
  Effect.flatMap(AgentClient.AgentClient, (agent) => agent.send(part)).pipe(
    Effect.map((reply) => Option.getOrThrow(AgentClient.failure(reply)))
  )

describe("the multimodal agent", () => {
  it.effect("B-EX-5: takes text and PNG, answers text and JSON, and says so on its card", () =>
    Effect.gen(function*() {
      const agent = yield* AgentClient.AgentClient
      const server = yield* ModelServer.ModelServer
      expect(yield* agent.card).toMatchObject({
        defaultInputModes: ["text", "image/png"],
        defaultOutputModes: ["text", "application/json"]
      })

      yield* server.reply({ text: "A red dot." })
      const reply = yield* agent.send([
        { kind: "text", text: "What colour?" },
        image({ name: "dot.png", bytes: pixel }),
        image({ uri: "https://example.com/far.png" })
      ])
      expect((yield* server.next).body.messages).toEqual([{
        role: "user",
        content: [
          { type: "text", text: "What colour?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
          { type: "image_url", image_url: { url: "https://example.com/far.png" } }
        ]
      }])
      expect(AgentClient.text(reply)).toBe("A red dot.")
      expect(reply._tag === "Task" ? reply.task.status.message?.parts[1] : undefined).toMatchObject({
        kind: "data",
        data: {
          description: "A red dot.",
          images: [
            { name: "dot.png", width: 1, height: 1 },
            { name: "image-2.png", width: null, height: null }
          ]
        }
      })
    }).pipe(Effect.provide(Test)))

  it.effect("refuses other files, bytes that are no PNG, and images that only it could fetch", () =>
    Effect.gen(function*() {
      const refused = yield* Effect.forEach([
        image({ mimeType: "image/gif", bytes: pixel }),
        image({ bytes: "bm90IGFuIGltYWdlLCBidXQgbG9uZyBlbm91Z2g=" }),
        image({ bytes: pixel.slice(0, 12) }),
        image({ uri: "http://169.254.169.254/latest.png" })
      ], failure)
      expect(refused.map(({ code }) => code)).toEqual([
        "unsupported_input",
        "invalid_image",
        "invalid_image",
        "unsupported_input"
      ])
    }).pipe(Effect.provide(Test)))
})
