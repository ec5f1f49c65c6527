// The server under test: `PORT`, optionally `--idle-timeout SECONDS`. One environment with the tool of the reference's `ctx-env` and the
// data plane of its `parcels-env`. Bundled by `lib/bundle.mjs`, and run from the packages' built output as it is.
import * as Environment from "@effect-agentenv/environment/Environment"
import * as EnvironmentServer from "@effect-agentenv/environment/EnvironmentServer"
import * as Tool from "@effect-agentenv/environment/Tool"
import * as ToolCall from "@effect-agentenv/environment/ToolCall"
import * as Exchange from "@effect-agentenv/server/Exchange"
import * as Route from "@effect-agentenv/server/Route"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { collectedMemory } from "./memory.mjs"

const CallerLine = Tool.make("caller_line", { description: "Who calls.", success: Schema.String })

const Parcels = Environment.make("parcels", { tools: [CallerLine] })

const Delivery = Schema.Struct({ parcels: Schema.Array(Schema.String) })

const ParcelsLive = Parcels.toLayer(Effect.gen(function*() {
  const parcels = yield* Ref.make([])
  return {
    reset: Ref.set(parcels, []),
    add: (parts) =>
      Effect.forEach(parts, (part) =>
        part.kind === "data"
          ? Effect.flatMap(
            Schema.decodeUnknown(Delivery)(part.data),
            (delivery) => Ref.update(parcels, (all) => [...all, ...delivery.parcels])
          )
          : Effect.void, { discard: true }),
    get: Effect.map(Ref.get(parcels), (all) => [{ kind: "data", data: { parcels: all } }]),
    tools: {
      caller_line: () =>
        Effect.map(ToolCall.ToolCall, ({ role, session }) => `role=${role ?? "none"} session=${session ?? "none"}`)
    }
  }
}))

// What the driver asks for between its loads: the memory once nothing is left to be collected.
const memory = Route.layer([
  Route.make("GET", "/bench/memory", (exchange) => Exchange.json(exchange, 200, collectedMemory()))
])

const [port, flag, seconds] = process.argv.slice(2)

NodeRuntime.runMain(Layer.launch(
  EnvironmentServer.serve(Parcels, {
    host: "127.0.0.1",
    port: Number(port),
    routes: memory,
    mcp: flag === "--idle-timeout" ? { idleTimeout: `${Number(seconds)} seconds` } : {}
  }).pipe(Layer.provide(ParcelsLive))
))
