/**
 * A courier's desk that has no parcels of its own: it fetches them from a depot, which is another environment.
 *
 * `npm start -w examples/relay` serves both on free ports, sends an order to the courier over HTTP and prints what became of it.
 */
import { ClientError, ExtensionClient, ToolClient } from "@effect-agentenv/client"
import { Environment, EnvironmentServer, Tool } from "@effect-agentenv/environment"
import { AgentEnvError, Extension, Operation } from "@effect-agentenv/protocol"
import { HttpServer } from "@effect/platform"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { ConfigProvider, Console, Effect, Layer, Logger, LogLevel, Ref, Schema } from "effect"

// --- The depot -------------------------------------------------------------------------------------------------------

const Take = Tool.make("depot_take", {
  description: "Take a parcel off its shelf.",
  parameters: { parcel: Schema.String },
  success: Schema.String
})

const Dock = Extension.make("urn:depot:dock/v1", {
  description: "The dock where couriers are loaded.",
  operations: {
    reserve: Operation.post({
      request: Schema.Struct({ courier: Schema.String }),
      response: Schema.Struct({ gate: Schema.Int })
    })
  }
})

export const Depot = Environment.make("depot", { tools: [Take], extensions: [Dock] })

export const DepotLive = Depot.toLayer(Effect.gen(function*() {
  const shelves = yield* Ref.make<ReadonlyArray<string>>(["lamp", "kettle"])
  const asked = yield* Ref.make(0)
  return {
    tools: {
      depot_take: ({ parcel }) =>
        Effect.gen(function*() {
          const taken = yield* Ref.modify(
            shelves,
            (all) => [all.includes(parcel), all.filter((each) => each !== parcel)]
          )
          return taken ? `the ${parcel} is off its shelf` : yield* new AgentEnvError.AgentEnvError({
            code: "no_such_parcel",
            message: `there is no ${parcel}`,
            hint: "ask for something else"
          })
        })
    },
    extensions: {
      "urn:depot:dock/v1": {
        // every other request finds the dock taken, which is no harm: nothing was reserved
        reserve: () =>
          Effect.flatMap(
            Ref.updateAndGet(asked, (n) => n + 1),
            (n) =>
              n % 2 === 0 ? Effect.succeed({ gate: n / 2 }) : new AgentEnvError.AgentEnvError({
                code: "dock_taken",
                message: "a lorry stands in the way",
                retryable: true,
                status: 503
              })
          )
      }
    }
  }
}))

// --- The courier, a client of the depot ------------------------------------------------------------------------------

const Deliver = Tool.make("courier_deliver", {
  description: "Fetch a parcel from the depot and deliver it.",
  parameters: { parcel: Schema.String, to: Schema.String },
  success: Schema.String
})

export const Courier = Environment.make("courier", { tools: [Deliver] })

/** What the depot said of a failure goes on to the courier's caller; that anything else went wrong is all that he learns. */
const passOn = (error: ExtensionClient.ExtensionClientError | ToolClient.ToolClientError) =>
  error instanceof ClientError.ExtensionCallError && error.code !== undefined
    ? new AgentEnvError.AgentEnvError({
      code: error.code,
      message: error.detail,
      retryable: error.retryable,
      applied: error.applied,
      ...(error.hint === undefined ? {} : { hint: error.hint })
    })
    : new AgentEnvError.AgentEnvError({
      code: "depot_silent",
      message: "the depot does not answer",
      applied: "unknown"
    })

/** Which depot it is, and over which wire it is reached, is said where the layer is provided. */
export const CourierLive = Courier.toLayer(Effect.gen(function*() {
  const depot = yield* ToolClient.ToolClient
  const dock = yield* ExtensionClient.make(Dock)
  return {
    tools: {
      courier_deliver: ({ parcel, to }) =>
        Effect.gen(function*() {
          const { gate } = yield* ExtensionClient.retry()(dock.reserve({ courier: "bicycle" }))
          const taken = yield* depot.callTool(Take.name, { parcel })
          if (taken.isError) {
            return yield* new AgentEnvError.AgentEnvError({ code: "not_delivered", message: taken.text })
          }
          return `${taken.text}, leaves by gate ${gate} and is with ${to}`
        }).pipe(Effect.catchTags({
          ExtensionCallError: passOn,
          NotAdvertised: passOn,
          InvalidRequest: passOn,
          Unreachable: passOn,
          Timeout: passOn,
          BadStatus: passOn,
          Unreadable: passOn,
          RpcError: passOn,
          SessionLost: passOn
        }))
    }
  }
}))

// --- How it is played ------------------------------------------------------------------------------------------------

/** Orders a parcel that is there, then once more. */
export const orders = Effect.gen(function*() {
  const courier = yield* ToolClient.ToolClient
  const order = courier.callTool(Deliver.name, { parcel: "lamp", to: "Ada" })
  return [yield* order, yield* order] as const
})

// --- What `npm start` does -------------------------------------------------------------------------------------------

const anywhere = { host: "127.0.0.1", port: 0 }

/** The clients of whatever `HttpServer` is in context. */
const Clients = Layer.unwrapEffect(
  HttpServer.addressFormattedWith((baseUrl) =>
    Effect.succeed(Layer.merge(ToolClient.layer({ baseUrl }), ExtensionClient.layer({ baseUrl })))
  )
).pipe(Layer.provide(NodeHttpClient.layer))

const DepotClients = Clients.pipe(
  Layer.provide(EnvironmentServer.serve(Depot, anywhere)),
  Layer.provide(DepotLive),
  Layer.fresh
)

const CourierClients = Clients.pipe(
  Layer.provide(EnvironmentServer.serve(Courier, anywhere)),
  Layer.provide(CourierLive),
  Layer.provide(DepotClients)
)

const main = orders.pipe(
  Effect.flatMap(Effect.forEach(({ isError, text }) => Console.log(`${isError ? "FAIL" : "ok  "} ${text}`))),
  Effect.provide(CourierClients),
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map())),
  Logger.withMinimumLogLevel(LogLevel.Warning)
)

if (process.argv[1] === import.meta.filename) NodeRuntime.runMain(main)
