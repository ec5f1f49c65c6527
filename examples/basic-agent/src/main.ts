/**
 * An agent that answers with a model: its configuration, a secret of its caller's, a session for each context, a record of each task.
 *
 * `npm start -w examples/basic-agent` serves it on `A2A_HOST` and `A2A_PORT`; `LITELLM_BASE_URL` and `LITELLM_API_KEY` name the models.
 */
import * as Model from "@effect-agentenv-examples/model"
import { Agent, AgentConfig, AgentServer, TaskFailure, type TaskRequest, TaskResult } from "@effect-agentenv/agent"
import type { A2a } from "@effect-agentenv/protocol"
import { TrajectoryV1 } from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Redacted, Ref, Schema } from "effect"

// --- What the agent is -----------------------------------------------------------------------------------------------

export class BasicConfig extends AgentConfig.extend<BasicConfig>("BasicConfig")({
  model: AgentConfig.field(Schema.NonEmptyString, {
    default: () => "gpt-5-mini",
    description: "The model that answers."
  }),
  systemPrompt: AgentConfig.field(Schema.String, {
    default: () => "Answer in a few plain sentences.",
    alias: "system_prompt",
    description: "What the model is told before anything else."
  }),
  maxInputChars: AgentConfig.field(Schema.Int.pipe(Schema.positive()), {
    default: () => 1000,
    alias: "max_input_chars",
    description: "The longest message that is taken, in characters."
  }),
  providerToken: AgentConfig.writeOnly(Schema.String, {
    default: () => "",
    alias: "provider_token",
    description: "A key for the model's provider, instead of the agent's own."
  })
}) {}

export const BasicAgent = Agent.make("basic-agent", {
  description: "Answers questions with a language model.",
  version: "1.0.0",
  config: BasicConfig,
  configDescription: "Which model answers, on whose account, and how long a question may be.",
  skills: [{ name: "Answer", description: "Answers a question in words.", examples: ["Why is the sky blue?"] }],
  extensions: [TrajectoryV1.configure({ live: true })]
})

// --- How it works ----------------------------------------------------------------------------------------------------

const format = "reference-model-events/v1"

/** The last messages of a session are enough to go on from, and the last sessions to be gone on with. */
const kept = { messages: 20, sessions: 200 }

type Sessions = ReadonlyMap<string, ReadonlyArray<Model.Message>>

const remember = (name: string, messages: ReadonlyArray<Model.Message>) => (sessions: Sessions): Sessions => {
  const others = Array.from(sessions).filter(([other]) => other !== name)
  return new Map([...others.slice(1 - kept.sessions), [name, messages.slice(-kept.messages)]])
}

const isText = (part: A2a.Part): part is A2a.TextPart => part.kind === "text"

const question = (parts: ReadonlyArray<A2a.Part>, maxChars: number) =>
  Effect.gen(function*() {
    if (!parts.every(isText)) {
      return yield* new TaskFailure.TaskFailure({ code: "unsupported_input", message: "This agent reads text alone." })
    }
    const text = parts.map((part) => part.text).join("\n")
    if (Array.from(text).length > maxChars) {
      return yield* new TaskFailure.TaskFailure({
        code: "input_too_long",
        message: `A message may have ${maxChars} characters.`
      })
    }
    return text
  })

export const BasicAgentLive = BasicAgent.toLayer(Effect.gen(function*() {
  const model = yield* Model.Model
  const sessions = yield* Ref.make<Sessions>(new Map())

  const answer = Effect.fn("BasicAgent.answer")(function*(request: TaskRequest.TaskRequest<BasicConfig>) {
    const { config, contextId, metadata, parts, trajectory } = request
    const content = yield* question(parts, config.maxInputChars)
    const session = request.sessionRef ?? `model-session-${contextId}`
    const said = (yield* Ref.get(sessions)).get(session) ?? []
    const token = Redacted.value(config.providerToken)

    const { text, usage } = yield* Effect.mapError(
      model.complete({
        model: config.model,
        messages: [{ role: "system", content: config.systemPrompt }, ...said, { role: "user", content }],
        metadata,
        apiKey: token === "" ? undefined : config.providerToken
      }),
      Model.toTaskFailure
    )
    yield* Ref.update(
      sessions,
      remember(session, [...said, { role: "user", content }, { role: "assistant", content: text }])
    )
    yield* trajectory.format(format)
    yield* trajectory.append({ type: "model_completion", model: config.model, input: content, output: text, usage })
    return TaskResult.text(text).pipe(TaskResult.withUsage(usage), TaskResult.withSessionRef(session))
  })

  return (request) =>
    answer(request).pipe(
      Effect.timeoutFail({
        duration: `${request.config.timeoutSeconds} seconds`,
        onTimeout: () => new TaskFailure.TaskFailure({ code: "timeout", message: "The task took too long." })
      })
    )
}))

if (process.argv[1] === import.meta.filename) {
  AgentServer.serve(BasicAgent).pipe(
    Layer.provide(BasicAgentLive),
    Layer.provide(Model.layerConfig),
    Layer.provide(NodeHttpClient.layer),
    Layer.launch,
    NodeRuntime.runMain
  )
}
