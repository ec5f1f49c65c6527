/**
 * A parcel desk: parcels wait on shelves, and an agent hands them over to the people they are for.
 *
 * `npm start` serves it on a free port, plays a scripted episode over HTTP, prints every step and a score, and ends.
 */
import { EnvironmentClient, Episode, ToolClient } from "@effect-agentenv/client"
import { Environment, EnvironmentServer, Seed, Tool } from "@effect-agentenv/environment"
import { AgentEnvError, Part } from "@effect-agentenv/protocol"
import { HttpServer } from "@effect/platform"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { ConfigProvider, Console, Data, Effect, Layer, Logger, LogLevel, Random, Ref, Schema } from "effect"
import { parseArgs } from "node:util"

// --- What the environment is -----------------------------------------------------------------------------------------

const Arrival = Schema.Struct({ id: Schema.String, recipient: Schema.String })

const Parcel = Schema.Struct({
  ...Arrival.fields,
  shelf: Schema.Int,
  handedTo: Schema.NullOr(Schema.String)
})

const Desk = Schema.Struct({ parcels: Schema.Array(Parcel), refusals: Schema.Int })

class WrongRecipient extends Schema.TaggedError<WrongRecipient>()("WrongRecipient", {
  parcel: Schema.String,
  recipient: Schema.String
}) {
  override get message() {
    return `Parcel ${this.parcel} is not for ${this.recipient}.`
  }
}

const FindParcels = Tool.make("{environment_name}_find_parcels", {
  description: "List the parcels that wait for someone, with the shelf that each is on.",
  parameters: { recipient: Schema.String.annotations({ description: "The name on the parcel." }) },
  success: Schema.Array(Schema.Struct({ id: Schema.String, shelf: Schema.Int })),
  annotations: { readOnlyHint: true }
})

const HandOver = Tool.make("{environment_name}_hand_over", {
  description: "Hand a parcel over to the person at the desk.",
  parameters: {
    parcel: Schema.String.annotations({ description: "The id of the parcel." }),
    recipient: Schema.String.annotations({ description: "Who takes it." })
  },
  success: Schema.String,
  failure: WrongRecipient
})

export const ParcelDesk = Environment.make("parcel_desk", { tools: [FindParcels, HandOver] })

// --- How it works ----------------------------------------------------------------------------------------------------

const empty: typeof Desk.Type = { parcels: [], refusals: 0 }

export const ParcelDeskLive = ParcelDesk.toLayer(Effect.gen(function*() {
  const desk = yield* Ref.make(empty)
  return {
    reset: Ref.set(desk, empty),
    // Shelves are drawn from the environment's own `Random`: the same seed, the same shelves.
    add: Seed.load(Schema.Struct({ parcels: Schema.Array(Arrival) }), ({ parcels }) =>
      Effect.gen(function*() {
        const shelved = yield* Effect.forEach(parcels, (parcel) =>
          Effect.map(Random.nextIntBetween(1, 10), (shelf) => ({ ...parcel, shelf, handedTo: null })))
        yield* Ref.update(desk, (now) => ({ ...now, parcels: [...now.parcels, ...shelved] }))
      })),
    get: Effect.map(Ref.get(desk), (data) => [Part.DataPart.make({ data })]),
    tools: {
      "{environment_name}_find_parcels": ({ recipient }) =>
        Effect.map(Ref.get(desk), ({ parcels }) =>
          parcels
            .filter((parcel) => parcel.recipient === recipient && parcel.handedTo === null)
            .map(({ id, shelf }) => ({ id, shelf }))),
      "{environment_name}_hand_over": ({ parcel: id, recipient }) =>
        Effect.gen(function*() {
          const { parcels } = yield* Ref.get(desk)
          const parcel = parcels.find((parcel) => parcel.id === id)
          if (parcel === undefined || parcel.handedTo !== null) {
            return yield* new AgentEnvError.AgentEnvError({
              code: "no_such_parcel",
              message: `No parcel ${id} is waiting.`,
              hint: "Look for the recipient's parcels first."
            })
          }
          if (parcel.recipient !== recipient) {
            yield* Ref.update(desk, (now) => ({ ...now, refusals: now.refusals + 1 }))
            return yield* new WrongRecipient({ parcel: id, recipient })
          }
          yield* Ref.update(desk, (now) => ({
            ...now,
            parcels: now.parcels.map((each) => each.id === id ? { ...each, handedTo: recipient } : each)
          }))
          return `${recipient} took ${id} from shelf ${parcel.shelf}.`
        })
    }
  }
}))

// --- How it is played ------------------------------------------------------------------------------------------------

const Found = Schema.Struct({ result: FindParcels.success })

const share = (parts: number, whole: number) => whole === 0 ? 0 : parts / whole

type Print = (line: string) => Effect.Effect<void>

const progress = (print: Print) => (event: Episode.Progress): Effect.Effect<void> => {
  switch (event._tag) {
    case "StepStarted":
      return print(event.step)
    case "ToolCalled":
      return print(`  ${event.ok ? "ok  " : "FAIL"} ${event.name} ${JSON.stringify(event.args)}`)
    case "StepFinished":
      return Effect.void
  }
}

const saying = (print: Print, tools: ToolClient.Service) => (name: string, args: Readonly<Record<string, unknown>>) =>
  Effect.tap(tools.callTool(name, args), ({ text }) => print(`       ${text}`))

/** Gives Ada her parcels, after a mistake. The same episode runs over HTTP below and in process in the test. */
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
    player: (tools) =>
      Effect.gen(function*() {
        const call = saying(print, tools)
        yield* call("parcel_desk_hand_over", { parcel: "P-2", recipient: "Ada" })
        const found = yield* call("parcel_desk_find_parcels", { recipient: "Ada" })
        const { result } = yield* Schema.decodeUnknown(Found)(found.structuredContent)
        for (const { id } of result) yield* call("parcel_desk_hand_over", { parcel: id, recipient: "Ada" })
        return result.length
      }),
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
    onProgress: progress(print)
  })

const usage = `A parcel desk for agents.

  npm start                          play a scripted episode over HTTP on a free port, print its steps and score
  npm start -- --serve [--port N]    serve the environment until Ctrl-C (port 18765, or MCP_PORT, unless said)
  npm start -- --help                this text`

// --- What `npm start` does -------------------------------------------------------------------------------------------

const host = "127.0.0.1"

const served = (port: number | undefined) =>
  EnvironmentServer.serve(ParcelDesk, { host, port }).pipe(Layer.provide(ParcelDeskLive))

const Clients = Layer.unwrapEffect(
  HttpServer.addressFormattedWith((baseUrl) =>
    Effect.succeed(Layer.merge(EnvironmentClient.layer({ baseUrl }), ToolClient.layer({ baseUrl })))
  )
).pipe(Layer.provide(NodeHttpClient.layer))

const play = HttpServer.addressFormattedWith((baseUrl) => Console.log(`${ParcelDesk.name} on ${baseUrl}\n`)).pipe(
  Effect.zipRight(episode(Console.log)),
  Effect.flatMap((report) => Console.log(`\n${Episode.format(report)}`)),
  Effect.provide(Layer.provideMerge(Clients, served(0))),
  // the script calls the tools by the names that the definition gives them, whatever ENVIRONMENT_NAME says
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map())),
  Logger.withMinimumLogLevel(LogLevel.Warning)
)

class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

const args = Effect.try({
  try: () =>
    parseArgs({
      options: { help: { type: "boolean", short: "h" }, serve: { type: "boolean" }, port: { type: "string" } }
    }).values,
  catch: (cause) => new UsageError({ message: cause instanceof Error ? cause.message : String(cause) })
})

const portOf = (text: string | undefined) =>
  text === undefined || /^\d{1,5}$/.test(text)
    ? Effect.succeed(text === undefined ? undefined : Number(text))
    : new UsageError({ message: `--port takes a number, not '${text}'` })

const main = Effect.gen(function*() {
  const { help, port, serve } = yield* args
  if (help) return yield* Console.log(usage)
  if (serve) return yield* Layer.launch(served(yield* portOf(port)))
  yield* play
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
