/** Serves the staging store that the environment describes and prints its port. */
import { Staging, StagingHttp } from "@effect-agentenv/agent"
import { Server } from "@effect-agentenv/server"
import { HttpServer } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Logger, LogLevel } from "effect"

const announce = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ address }) => Console.log(address._tag === "TcpAddress" ? address.port : ""))
)

Layer.launch(announce.pipe(
  Layer.provide(Server.serve(StagingHttp.routes, { host: "127.0.0.1", port: 0 })),
  Layer.provide(Staging.layerConfig),
  Layer.provide(Logger.minimumLogLevel(LogLevel.None))
)).pipe(NodeRuntime.runMain)
