/** Serves an agent whose tasks never end by themselves; prints its port, and what becomes of its runs when it is told to stop. */
import { Agent, AgentServer, Task } from "@effect-agentenv/agent"
import { HttpServer } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Logger, LogLevel } from "effect"

const Endless = Agent.make("Endless", { description: "Never ends.", version: "1.0.0", streaming: true })

const EndlessLive = Endless.toLayer(Effect.gen(function*() {
  yield* Effect.addFinalizer(() => Console.log("released"))
  return ({ parts }) => {
    const stubborn = parts[0]?.kind === "text" && parts[0].text === "stubborn"
    return Effect.zipRight(
      Task.progress("started"),
      stubborn
        ? Effect.uninterruptible(Effect.never)
        : Effect.onInterrupt(Effect.never, () => Console.log("interrupted"))
    )
  }
}))

const announce = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ address }) => Console.log(address._tag === "TcpAddress" ? address.port : ""))
)

announce.pipe(
  Layer.provide(AgentServer.serve(Endless, { host: "127.0.0.1", port: 0, tasks: { cancelGrace: "100 millis" } })),
  Layer.provide(EndlessLive),
  Layer.provide(Logger.minimumLogLevel(LogLevel.None)),
  Layer.launch,
  NodeRuntime.runMain
)
