/**
 * A harbor master on protoLabs' conventions: it says what each turn costs, which tools it calls, how sure it is and what it changed in the
 * world that it shares, to whoever has its key.
 *
 * `npm start -w examples/protolabs-agent` serves it on a free port, asks it for three berths and prints the running bill.
 */
import { Agent, AgentServer, TaskFailure, TaskResult } from "@effect-agentenv/agent"
import { AgentCard, type Auth, Cost, ExtensionUri, Part, WorldState, WorldstateDelta } from "@effect-agentenv/protolabs"
import * as AgentAuth from "@effect-agentenv/protolabs/AgentAuth"
import * as Task from "@effect-agentenv/protolabs/Task"
import { HttpServer } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Config, ConfigProvider, Console, Data, Effect, Layer, Logger, LogLevel, Redacted, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { parseArgs } from "node:util"
import * as Client from "./client.ts"

// --- What the agent is -----------------------------------------------------------------------------------------------

export const HarborMaster = Agent.make("harbor-master", {
  description: "Gives ships their berths.",
  version: "1.0.0",
  streaming: true,
  skills: [{ name: "Berth", description: "Finds a berth for a ship: 'Berth the Aster'.", tags: ["harbor"] }]
})

// --- How it works ----------------------------------------------------------------------------------------------------

const Harbor = Schema.Struct({ dock: Schema.Struct({ freeBerths: Schema.Number, ships: Schema.Array(Schema.String) }) })

const prices = { "pilot-small": { input: 0.25, output: 2 }, "pilot-large": { input: 3, output: 15 } }

/** Stands in for a model, whose tokens are words. */
const think = (model: keyof typeof prices, prompt: string, answer: string) =>
  Effect.gen(function*() {
    const cost = yield* Cost.make({
      usage: { input_tokens: 900 + prompt.split(" ").length, output_tokens: answer.split(" ").length },
      success: true
    })
    return { answer, cost: yield* Cost.priced(cost, model, prices) }
  })

class HarborFull extends Data.TaggedError("HarborFull")<{ readonly ship: string }> {
  override get message() {
    return `No berth is free for the ${this.ship}.`
  }
}

export const HarborMasterLive = HarborMaster.toLayer(Effect.gen(function*() {
  const world = yield* WorldState.WorldState
  const oneAtATime = yield* Effect.makeSemaphore(1)

  const takeBerth = (ship: string) =>
    oneAtATime.withPermits(1)(Effect.gen(function*() {
      const { dock } = yield* Effect.orDie(Effect.flatMap(world.get, Schema.decodeUnknown(Harbor)))
      if (dock.freeBerths < 1) return yield* new HarborFull({ ship })
      const { applied } = yield* world.apply([
        WorldstateDelta.inc("dock", "freeBerths", -1),
        WorldstateDelta.push("dock", "ships", ship)
      ])
      return { berth: dock.ships.length + 1, applied }
    }))

  return ({ parts }) =>
    Effect.gen(function*() {
      const order = Part.toText(parts)
      const ship = order.replace(/^berth the /i, "").trim()
      const plan = yield* think("pilot-small", order, "take a berth, then say which")
      yield* Task.cost(plan.cost)
      const { applied, berth } = yield* takeBerth(ship).pipe(
        Task.withToolCall({ name: "take_berth", args: { ship }, result: ({ berth }) => ({ berth }) })
      )
      yield* Task.worldstateDelta(applied)
      const { answer, cost } = yield* think("pilot-large", order, `The ${ship} has berth ${berth}.`)
      return yield* Task.withCost(TaskResult.text(answer), cost).pipe(
        Effect.flatMap(Task.withConfidence({ confidence: 0.98, explanation: "the berth was free" }))
      )
    }).pipe(
      Effect.catchTag("HarborFull", ({ message }) =>
        Effect.flatten(Task.withConfidence(
          new TaskFailure.TaskFailure({ code: "harbor_full", message }),
          { confidence: 1, explanation: "all berths are taken", success: false }
        )))
    )
})).pipe(Layer.provide(Client.World))

/** The agent behind its door; its card says what is asked for there. */
export const serve = ({ key, port }: { readonly port: number; readonly key: Redacted.Redacted }) => {
  const accepted: Auth.Accepted = { apiKeys: [key] }
  return AgentServer.serve(HarborMaster, {
    host: "127.0.0.1",
    port,
    card: AgentCard.declare({ extensions: ExtensionUri.all, auth: accepted }),
    routes: AgentAuth.layer(accepted)
  }).pipe(Layer.provide(HarborMasterLive))
}

// --- What `npm start` does -------------------------------------------------------------------------------------------

const usage = `A harbor master on protoLabs' conventions.

  npm start                          serve it on a free port, ask for three berths and print the bill
  npm start -- --serve [--port N]    serve it until Ctrl-C (port 7870 unless said) for the key in AGENT_API_KEY
  npm run client                     ask for a berth at AGENT_URL (http://127.0.0.1:7870) with the key in AGENT_API_KEY
  npm start -- --help                this text`

/** Three orders, of which the harbor can serve two. */
export const orders = Effect.forEach(
  ["Berth the Aster", "Berth the Bree", "Berth the Corvid"],
  (order) => Effect.zipRight(Console.log(order), Client.ask(order)),
  { discard: true }
)

const demo = Effect.gen(function*() {
  const key = yield* Effect.sync(() => Redacted.make(randomUUID()))
  yield* HttpServer.addressFormattedWith((url) =>
    Effect.withConfigProvider(
      Effect.provide(orders, Layer.merge(Client.Agent, Client.World)),
      ConfigProvider.fromMap(new Map([["AGENT_URL", url], ["AGENT_API_KEY", Redacted.value(key)]]))
    )
  ).pipe(Effect.provide(serve({ port: 0, key })))
})

class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

const args = Effect.try({
  try: () =>
    parseArgs({
      options: { help: { type: "boolean", short: "h" }, serve: { type: "boolean" }, port: { type: "string" } }
    }).values,
  catch: (cause) => new UsageError({ message: cause instanceof Error ? cause.message : String(cause) })
})

const portOf = (text: string) =>
  /^\d{1,5}$/.test(text)
    ? Effect.succeed(Number(text))
    : new UsageError({ message: `--port takes a number, not '${text}'` })

const main = Effect.gen(function*() {
  const { help, port, serve: serving } = yield* args
  if (help) return yield* Console.log(usage)
  if (!serving) return yield* Logger.withMinimumLogLevel(demo, LogLevel.Warning)
  const key = yield* Config.redacted("AGENT_API_KEY")
  return yield* Layer.launch(serve({ port: yield* portOf(port ?? "7870"), key }))
}).pipe(
  Effect.catchTag("UsageError", ({ message }) =>
    Effect.zipRight(
      Console.error(`${message}\n\n${usage}`),
      Effect.sync(() => {
        process.exitCode = 2
      })
    ))
)

if (process.argv[1] === import.meta.filename) NodeRuntime.runMain(main)
