/**
 * An agent whose answer can be read while it is written: progress in words, and the text as an artifact that grows.
 *
 * `npm start -w examples/streaming-agent` serves it on `A2A_HOST` and `A2A_PORT`; `LITELLM_BASE_URL` and `LITELLM_API_KEY` name the models.
 */
import * as Model from "@effect-agentenv-examples/model"
import { Agent, AgentConfig, AgentServer, Task, TaskResult } from "@effect-agentenv/agent"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Ref, Schema, Stream } from "effect"

export class StreamingConfig extends AgentConfig.extend<StreamingConfig>("StreamingConfig")({
  model: AgentConfig.field(Schema.NonEmptyString, {
    default: () => "gpt-5-mini",
    description: "The model that answers."
  })
}) {}

export const StreamingAgent = Agent.make("streaming-agent", {
  description: "Answers with a language model, and shows the answer as it is written.",
  version: "1.0.0",
  streaming: true,
  config: StreamingConfig,
  skills: [{ name: "Answer", description: "Answers a question in words.", tags: ["streaming"] }]
})

export const StreamingAgentLive = StreamingAgent.toLayer(Effect.gen(function*() {
  const model = yield* Model.Model
  return ({ config, metadata, parts }) =>
    Effect.gen(function*() {
      yield* Task.progress(`Asking ${config.model}`, { metadata: { phase: "asking" } })

      const written = yield* Ref.make("")
      const question = parts.flatMap((part) => part.kind === "text" ? [part.text] : []).join("\n")
      const answer = model.stream({ model: config.model, messages: [{ role: "user", content: question }], metadata })
      // Whoever stops listening leaves the task as it is; whoever cancels it ends the model's stream too.
      yield* answer.pipe(
        Stream.mapError(Model.toTaskFailure),
        Stream.tap((text) => Ref.update(written, (before) => before + text)),
        (texts) => Task.streamArtifact(texts, { name: "answer" })
      )

      const text = yield* Ref.get(written)
      yield* Task.progress(`Read ${text.length} characters`, { metadata: { phase: "read" } })
      return TaskResult.text(text)
    })
}))

if (process.argv[1] === import.meta.filename) {
  AgentServer.serve(StreamingAgent).pipe(
    Layer.provide(StreamingAgentLive),
    Layer.provide(Model.layerConfig),
    Layer.provide(NodeHttpClient.layer),
    Layer.launch,
    NodeRuntime.runMain
  )
}
