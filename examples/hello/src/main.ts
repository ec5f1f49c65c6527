/**
 * An agent and an environment, played against each other: a clerk serves the people at a parcel desk, and the desk's state says how well.
 *
 * `npm start` serves both on free ports, gives the clerk the desk's tools, sends it a task, and prints what happens and a score.
 */
import * as Model from "@effect-agentenv-examples/model"
import { AgentServer } from "@effect-agentenv/agent"
import { AgentClient, EnvironmentClient, Episode, ExtensionClient, ToolClient } from "@effect-agentenv/client"
import { EnvironmentServer } from "@effect-agentenv/environment"
import { type A2a, EnvironmentCard, Part } from "@effect-agentenv/protocol"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { HttpServer } from "@effect/platform"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Data, Effect, Layer, Logger, LogLevel, Option, Stream } from "effect"
import { parseArgs } from "node:util"
import { Clerk, ClerkLive } from "./clerk.ts"
import { Desk, ParcelDesk, ParcelDeskLive } from "./desk.ts"

// --- How it is played ------------------------------------------------------------------------------------------------

type Print = (line: string) => Effect.Effect<void>

/** Gives the clerk the desk's tools, and the model that it is to think with, as a platform would: by the agent's extensions. */
export const introduce = (model?: string | undefined) =>
  Effect.gen(function*() {
    const environment = yield* EnvironmentClient.EnvironmentClient
    const card = yield* environment.card
    const mcp = yield* ExtensionClient.make(McpConfigV1)
    yield* mcp.add({ url: `${environment.baseUrl}${EnvironmentCard.mcpPath(card)}`, name: card.name })
    const config = yield* ExtensionClient.make(AgentConfigV1)
    if (model !== undefined) yield* config.set({ model })
  })

class NotServed extends Data.TaggedError("NotServed")<{ readonly message: string }> {}

/** Sends the clerk a task, prints its progress, and answers what it said in the end. */
const serve = (print: Print, words: string) =>
  Effect.gen(function*() {
    const agent = yield* AgentClient.AgentClient
    yield* print(`  > ${words}`)
    const last = yield* agent.stream(words).pipe(
      Stream.tap((event) => event._tag === "StatusUpdate" && !event.final ? told(print, event) : Effect.void),
      Stream.runLast
    )
    if (Option.isNone(last)) return yield* new NotServed({ message: "the clerk said nothing" })
    const failure = AgentClient.failure(last.value)
    if (Option.isSome(failure)) return yield* new NotServed({ message: failure.value.message })
    const answer = AgentClient.text(last.value)
    const calls = Option.match(AgentClient.usage(last.value), {
      onNone: () => 0,
      onSome: ({ toolCallCount = 0 }) => toolCallCount
    })
    yield* print(`  < ${answer} (${calls} tool calls)`)
    return calls
  })

const told = (print: Print, event: A2a.StatusUpdate) => {
  const text = AgentClient.text(event)
  return text === "" ? Effect.void : print(text.replace(/^/gm, "    "))
}

const share = (parts: number, whole: number) => whole === 0 ? 0 : parts / whole

/** Ada asks for a parcel that isn't hers, and for hers. The same episode runs over HTTP below and in process in the test. */
export const episode = (print: Print) =>
  Episode.run({
    name: "Ada's parcels",
    seed: 7,
    data: [Part.DataPart.make({
      data: {
        parcels: [
          { id: "P-1", recipient: "Ada" },
          { id: "P-2", recipient: "Grace" },
          { id: "P-3", recipient: "Ada" }
        ]
      }
    })],
    player: () => serve(print, "Ada is at the desk. She asks for P-2, and for whatever else is hers."),
    scorers: {
      delivered: Episode.scorer({
        data: Desk,
        weight: 3,
        score: ({ parcels }) => {
          const hers = parcels.filter(({ recipient }) => recipient === "Ada")
          const taken = hers.filter(({ handedTo }) => handedTo === "Ada").length
          return { score: share(taken, hers.length), detail: `${taken} of ${hers.length} parcels` }
        }
      }),
      careful: Episode.scorer({
        data: Desk,
        score: ({ refusals }) => ({ score: 1 / (1 + refusals), detail: `${refusals} refused` })
      })
    },
    onProgress: (event) => event._tag === "StepStarted" ? print(event.step) : Effect.void
  })

// --- Where it is played ----------------------------------------------------------------------------------------------

const host = "127.0.0.1"

interface Ports {
  readonly desk: number | undefined
  readonly clerk: number | undefined
}

/** A layer that is made for the address of the server in context. */
const at = <A, E, R>(clients: (baseUrl: string) => Layer.Layer<A, E, R>) =>
  Layer.unwrapEffect(HttpServer.addressFormattedWith((baseUrl) => Effect.succeed(clients(baseUrl))))

const desk = (port: number | undefined) =>
  at((baseUrl) => Layer.merge(EnvironmentClient.layer({ baseUrl }), ToolClient.layer({ baseUrl }))).pipe(
    Layer.provide(EnvironmentServer.serve(ParcelDesk, { host, port })),
    Layer.provide(ParcelDeskLive)
  )

const clerk = (port: number | undefined, model: string | undefined) =>
  at((baseUrl) => Layer.merge(AgentClient.layer({ baseUrl }), ExtensionClient.layerAgent({ baseUrl }))).pipe(
    Layer.provide(AgentServer.serve(Clerk, { host, port })),
    Layer.provide(ClerkLive),
    Layer.provide(model === undefined ? Layer.empty : Model.layerConfig)
  )

const world = (ports: Ports, model: string | undefined) =>
  Layer.merge(desk(ports.desk), clerk(ports.clerk, model)).pipe(Layer.provide(NodeHttpClient.layer))

const present = Effect.gen(function*() {
  const environment = yield* EnvironmentClient.EnvironmentClient
  const agent = yield* AgentClient.AgentClient
  yield* Console.log(`environment  ${(yield* environment.card).name} on ${environment.baseUrl}`)
  yield* Console.log(`agent        ${(yield* agent.card).name} on ${agent.baseUrl}`)
})

const play = (model: string | undefined) =>
  present.pipe(
    Effect.zipRight(introduce(model)),
    Effect.zipRight(Console.log("")),
    Effect.zipRight(episode(Console.log)),
    Effect.flatMap((report) => Console.log(`\n${Episode.format(report)}`)),
    Effect.provide(world({ desk: 0, clerk: 0 }, model)),
    Logger.withMinimumLogLevel(LogLevel.Warning)
  )

/** The clerk knows the desk, so that whoever speaks A2A can send it to work. */
const stay = (ports: Ports, model: string | undefined) =>
  present.pipe(
    Effect.zipRight(introduce(model)),
    Effect.zipRight(Console.log("until Ctrl-C")),
    Effect.zipRight(Effect.never),
    Effect.provide(world(ports, model))
  )

// --- What `npm start` does -------------------------------------------------------------------------------------------

const usage = `An agent at a parcel desk.

  npm start                        serve the desk (an environment) and its clerk (an agent) on free ports, play an episode over
                                   HTTP, print its tool calls and its score
  npm start -- --serve             serve both until Ctrl-C
      [--port N]                   the desk's port: 18765, or MCP_PORT, unless said
      [--agent-port N]             the clerk's port: 8000, or A2A_PORT, unless said
  npm start -- --model NAME        let a model think instead of a script; LITELLM_BASE_URL and LITELLM_API_KEY say where it is
  npm start -- --help              this text`

class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

const args = Effect.try({
  try: () =>
    parseArgs({
      options: {
        "help": { type: "boolean", short: "h" },
        "serve": { type: "boolean" },
        "port": { type: "string" },
        "agent-port": { type: "string" },
        "model": { type: "string" }
      }
    }).values,
  catch: (cause) => new UsageError({ message: cause instanceof Error ? cause.message : String(cause) })
})

const portOf = (option: string, text: string | undefined) =>
  text === undefined || /^\d{1,5}$/.test(text) && Number(text) < 65_536
    ? Effect.succeed(text === undefined ? undefined : Number(text))
    : new UsageError({ message: `${option} takes a port, not '${text}'` })

const main = Effect.gen(function*() {
  const given = yield* args
  if (given.help) return yield* Console.log(usage)
  if (!given.serve) return yield* play(given.model)
  const ports = { desk: yield* portOf("--port", given.port), clerk: yield* portOf("--agent-port", given["agent-port"]) }
  return yield* stay(ports, given.model)
}).pipe(
  Effect.catchTag(
    "UsageError",
    ({ message }) =>
      Console.error(`${message}\n\n${usage}`).pipe(Effect.zipRight(Effect.sync(() => {
        process.exitCode = 2
      })))
  )
)

if (process.argv[1] === import.meta.filename) NodeRuntime.runMain(main)
