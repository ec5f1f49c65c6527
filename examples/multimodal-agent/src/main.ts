/**
 * An agent that looks at PNG images: it takes texts and images, and answers in words and as JSON.
 *
 * `npm start -w examples/multimodal-agent` serves it on `A2A_HOST` and `A2A_PORT`; `LITELLM_BASE_URL` and `LITELLM_API_KEY` name the models.
 */
import * as Model from "@effect-agentenv-examples/model"
import { Agent, AgentConfig, AgentServer, TaskFailure, TaskResult } from "@effect-agentenv/agent"
import type { A2a } from "@effect-agentenv/protocol"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Effect, Encoding, Layer, Schema } from "effect"

// --- What the agent is -----------------------------------------------------------------------------------------------

export class MultimodalConfig extends AgentConfig.extend<MultimodalConfig>("MultimodalConfig")({
  model: AgentConfig.field(Schema.NonEmptyString, {
    default: () => "gpt-5-mini",
    description: "The model that looks; it has to take images."
  })
}) {}

export const MultimodalAgent = Agent.make("multimodal-agent", {
  description: "Says what is on PNG images.",
  version: "1.0.0",
  inputModes: ["text", "image/png"],
  outputModes: ["text", "application/json"],
  config: MultimodalConfig,
  skills: [{ name: "Look", description: "Describes images and answers questions about them.", tags: ["image"] }]
})

// --- How it reads what it is sent ------------------------------------------------------------------------------------

interface Image {
  readonly name: string
  readonly width: number | null
  readonly height: number | null
  readonly url: string
}

const refuse = (code: string, message: string) => new TaskFailure.TaskFailure({ code, message })

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** The size of a PNG image, from its first 24 bytes. */
const sizeOf = (base64: string) =>
  Encoding.decodeBase64(base64).pipe(
    Effect.mapError(() => refuse("invalid_image", "The image's bytes are no base64.")),
    Effect.filterOrFail(
      (bytes) => bytes.length >= 24 && signature.every((byte, index) => bytes[index] === byte),
      () => refuse("invalid_image", "The image is no PNG.")
    ),
    Effect.map((bytes) => new DataView(bytes.buffer, bytes.byteOffset)),
    Effect.map((view) => ({ width: view.getUint32(16), height: view.getUint32(20) }))
  )

const imageOf = ({ file }: A2a.FilePart, index: number) =>
  Effect.gen(function*() {
    const name = file.name ?? `image-${index + 1}.png`
    if (file.mimeType !== "image/png") return yield* refuse("unsupported_input", "Of files this agent takes PNG alone.")
    if ("bytes" in file) {
      return { name, ...(yield* sizeOf(file.bytes)), url: `data:image/png;base64,${file.bytes}` }
    }
    // the model's server fetches it, so it must be one that anybody may fetch
    if (!file.uri.startsWith("https://")) return yield* refuse("unsupported_input", "An image's URI begins with https.")
    return { name, width: null, height: null, url: file.uri }
  })

const messageOf = (texts: ReadonlyArray<string>, images: ReadonlyArray<Image>): Model.Message => ({
  role: "user",
  content: [
    { type: "text", text: texts.length === 0 ? "What is on these images?" : texts.join("\n") },
    ...images.map(({ url }) => ({ type: "image_url" as const, image_url: { url } }))
  ]
})

// --- How it answers --------------------------------------------------------------------------------------------------

export const MultimodalAgentLive = MultimodalAgent.toLayer(Effect.gen(function*() {
  const model = yield* Model.Model
  return ({ config, metadata, parts }) =>
    Effect.gen(function*() {
      const files = parts.filter((part) => part.kind === "file")
      const texts = parts.flatMap((part) => part.kind === "text" ? [part.text] : [])
      const images: ReadonlyArray<Image> = yield* Effect.forEach(files, imageOf)
      const { text, usage } = yield* Effect.mapError(
        model.complete({ model: config.model, messages: [messageOf(texts, images)], metadata }),
        Model.toTaskFailure
      )
      const seen = images.map(({ height, name, width }) => ({ name, width, height }))
      return TaskResult.parts([
        { kind: "text", text },
        { kind: "data", data: { images: seen, description: text } }
      ]).pipe(TaskResult.withUsage(usage))
    })
}))

if (process.argv[1] === import.meta.filename) {
  AgentServer.serve(MultimodalAgent).pipe(
    Layer.provide(MultimodalAgentLive),
    Layer.provide(Model.layerConfig),
    Layer.provide(NodeHttpClient.layer),
    Layer.launch,
    NodeRuntime.runMain
  )
}
