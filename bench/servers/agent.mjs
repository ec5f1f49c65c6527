// The agents under test: `PORT plain`, optionally with the number of finished tasks that are kept, and `PORT full`, optionally with the
// megabytes of trajectories that are. The plain one reports as many events as it is told to, or makes an artifact; the other has a
// configuration, triggers and live trajectories, as `agent.py` has.
import * as Agent from "@effect-agentenv/agent/Agent"
import * as AgentConfig from "@effect-agentenv/agent/AgentConfig"
import * as AgentServer from "@effect-agentenv/agent/AgentServer"
import * as Task from "@effect-agentenv/agent/Task"
import * as TaskResult from "@effect-agentenv/agent/TaskResult"
import * as Trajectories from "@effect-agentenv/agent/Trajectories"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { TrajectoryV1 } from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import { TriggersV1 } from "@effect-agentenv/protocol/extensions/TriggersV1"
import * as Exchange from "@effect-agentenv/server/Exchange"
import * as Route from "@effect-agentenv/server/Route"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { collectedMemory } from "./memory.mjs"

const [port, kind, kept] = process.argv.slice(2)

const identity = { description: "Keeps a desk.", version: "1.0.0" }

/** The number behind the first word of what was said. */
const told = ({ parts }) => Number(parts[0].text.split(" ")[1] ?? 0)

const times = (count, work) => {
  const loop = (index) => index === count ? Effect.void : Effect.flatMap(work(index), () => loop(index + 1))
  return Effect.suspend(() => loop(0))
}

const Plain = Agent.make("Parcel Desk", { ...identity, streaming: true })

const PlainLive = Plain.toLayer((request) =>
  Effect.gen(function*() {
    const count = told(request)
    yield* times(count, (n) => Task.progress(`step ${n}`, { metadata: { n } }))
    if (count === 0) yield* Task.artifact("three parcels are on the shelf", { name: "answer" })
    return TaskResult.text("done")
  })
)

class DeskConfig extends AgentConfig.extend("DeskConfig")({
  model: AgentConfig.field(Schema.String, { default: () => "kestrel-1" }),
  harness: AgentConfig.field(Schema.String, { default: () => "default" })
}) {}

const Full = Agent.make("Parcel Desk", {
  ...identity,
  config: DeskConfig,
  extensions: [McpConfigV1, TriggersV1, TrajectoryV1.configure({ live: true })]
})

const FullLive = Full.toLayer((request) =>
  Effect.gen(function*() {
    const count = told(request)
    if (count > 0) yield* request.trajectory.format("desk-events/1")
    yield* times(count, (index) => request.trajectory.append({ kind: "step", index, text: `looks at shelf ${index}` }))
    return TaskResult.text("done")
  })
)

// What the driver asks for between its loads: the memory once nothing is left to be collected.
const memory = Route.layer([
  Route.make("GET", "/bench/memory", (exchange) => Exchange.json(exchange, 200, collectedMemory()))
])

const listen = { host: "127.0.0.1", port: Number(port), routes: memory }
const limit = kept === undefined ? undefined : Number(kept)

NodeRuntime.runMain(Layer.launch(
  kind === "full"
    ? AgentServer.serve(Full, listen).pipe(
      Layer.provide(FullLive),
      Layer.provide(limit === undefined ? Trajectories.layer() : Trajectories.layer({ bytes: limit * 1024 ** 2 }))
    )
    : AgentServer.serve(Plain, { ...listen, store: { maxFinished: limit } }).pipe(Layer.provide(PlainLive))
))
