// The staging store under test: `PORT DIRECTORY`.
import * as Staging from "@effect-agentenv/agent/Staging"
import * as StagingHttp from "@effect-agentenv/agent/StagingHttp"
import * as Health from "@effect-agentenv/server/Health"
import * as Server from "@effect-agentenv/server/Server"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Layer from "effect/Layer"

const [port, directory] = process.argv.slice(2)

NodeRuntime.runMain(Layer.launch(
  Server.serve(Layer.mergeAll(StagingHttp.routes, Health.layer), {
    host: "127.0.0.1",
    port: Number(port),
    requestTimeout: "1 hour"
  }).pipe(Layer.provide(Staging.layer({ directory, maxBytes: 64 * 1024 ** 3 })))
))
