// An environment of 500 tools: `PORT`, and `rules` for one whose tools are opened and closed by role.
import * as Environment from "@effect-agentenv/environment/Environment"
import * as EnvironmentServer from "@effect-agentenv/environment/EnvironmentServer"
import * as Tool from "@effect-agentenv/environment/Tool"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const [port, rules] = process.argv.slice(2)

const tools = Array.from({ length: 500 }, (_, n) =>
  Tool.make(`tool_${n}`, {
    description: `Weighs the parcel on shelf ${n}.`,
    parameters: { label: Schema.String, times: Schema.optional(Schema.Int) },
    success: Schema.String
  }))

const Shelves = Environment.make("parcels", { tools, toolAccess: rules === "rules" })

const ShelvesLive = Shelves.toLayer(Effect.succeed({
  tools: Object.fromEntries(tools.map(({ name }) => [name, () => Effect.succeed("3")]))
}))

NodeRuntime.runMain(Layer.launch(
  EnvironmentServer.serve(Shelves, { host: "127.0.0.1", port: Number(port) }).pipe(Layer.provide(ShelvesLive))
))
