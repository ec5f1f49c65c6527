// Our agent on protoLabs' conventions, behind an API key: agent.mjs PORT KEY. The text of a message is the carrier it answers in.
import { Agent, AgentServer, Task as AgentTask, TaskResult } from "@effect-agentenv/agent"
import { AgentCard, Confidence, ExtensionUri } from "@effect-agentenv/protolabs"
import * as AgentAuth from "@effect-agentenv/protolabs/AgentAuth"
import * as Task from "@effect-agentenv/protolabs/Task"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const payloads = JSON.parse(readFileSync(join(import.meta.dirname, "payloads.json"), "utf8"))
const [port, key] = process.argv.slice(2)

const drawn = { kind: "text", text: "a chart" }
const chart = {
  metadata: AgentTask.artifact(drawn, { metadata: Confidence.toMetadata(payloads.chart) }),
  dataPart: AgentTask.artifact([drawn, { kind: "data", ...Confidence.toPart(payloads.chart) }])
}

const Pier = Agent.make("pier", {
  description: "Says all that there is to say.",
  version: "1.0.0",
  streaming: true,
  skills: [{ name: "Berth", description: "Finds a berth.", tags: ["dock"] }]
})

const PierLive = Pier.toLayer(({ parts: [{ text: carrier }] }) =>
  Effect.gen(function*() {
    const [first, last] = payloads.costs
    for (const call of payloads.toolCalls) yield* Task.toolCall(call, { carrier })
    yield* Task.cost(first, { carrier })
    yield* chart[carrier]
    const answer = yield* Task.withCost(TaskResult.text(payloads.answer), last, { carrier })
    const sure = yield* Task.withConfidence(answer, payloads.confidence, { carrier })
    return yield* Task.withWorldstateDelta(sure, payloads.deltas, { carrier })
  })
)

const accepted = { apiKeys: [Redacted.make(key)], bearerTokens: [Redacted.make(`${key}-token`)] }

AgentServer.serve(Pier, {
  host: "127.0.0.1",
  port: Number(port),
  card: AgentCard.declare({ extensions: ExtensionUri.all, auth: accepted }),
  routes: AgentAuth.layer(accepted)
}).pipe(Layer.provide(PierLive), Layer.launch, NodeRuntime.runMain)
