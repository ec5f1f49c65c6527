/**
 * A museum at night: guests and keepers see different tools, and at midnight the scenario gives the keepers one that nobody had.
 *
 * `npm start -w examples/roles` serves it on a free port, plays the night over HTTP and prints who sees what.
 */
import { ExtensionClient, ToolClient } from "@effect-agentenv/client"
import { Environment, EnvironmentServer, Tool, ToolAccess, ToolCall } from "@effect-agentenv/environment"
import { Extension, Operation } from "@effect-agentenv/protocol"
import { HttpServer } from "@effect/platform"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { ConfigProvider, Console, Effect, Layer, Logger, LogLevel, Schema } from "effect"

// --- What the environment is -----------------------------------------------------------------------------------------

const LookAt = Tool.make("museum_look_at", {
  description: "Look at an exhibit.",
  parameters: { exhibit: Schema.String },
  success: Schema.String,
  annotations: { readOnlyHint: true }
})

const OpenCase = Tool.make("museum_open_case", {
  description: "Open the glass case of an exhibit.",
  parameters: { exhibit: Schema.String },
  success: Schema.String
})

const RaiseAlarm = Tool.make("museum_raise_alarm", {
  description: "Raise the alarm: something is missing.",
  parameters: { exhibit: Schema.String },
  success: Schema.String,
  hiddenByDefault: true
})

/** What the scenario can make happen: not a tool, so no model sees it. */
const Night = Extension.make("urn:museum:night/v1", {
  description: "What happens at night.",
  operations: {
    midnight: Operation.post({
      description: "The diamond disappears, and keepers can raise the alarm.",
      response: Schema.Struct({ missing: Schema.String })
    })
  }
})

export const Museum = Environment.make("museum", {
  tools: [LookAt, OpenCase, RaiseAlarm],
  extensions: [Night],
  toolAccess: true
})

// --- How it works ----------------------------------------------------------------------------------------------------

export const MuseumLive = Museum.toLayer(Effect.gen(function*() {
  const access = yield* ToolAccess.ToolAccess
  // an evening begins with no rule but this one
  const evening = access.enable("*", "*").pipe(Effect.zipRight(access.disable("guest", [OpenCase.name])))
  yield* evening
  return {
    reset: evening,
    tools: {
      museum_look_at: ({ exhibit }) => Effect.succeed(`The ${exhibit} glitters behind its glass.`),
      museum_open_case: ({ exhibit }) => Effect.succeed(`The case of the ${exhibit} is open.`),
      museum_raise_alarm: ({ exhibit }) =>
        Effect.map(ToolCall.ToolCall, ({ role }) => `The ${role} raises the alarm: the ${exhibit} is gone!`)
    },
    extensions: {
      "urn:museum:night/v1": {
        midnight: () => Effect.as(access.enable("keeper", [RaiseAlarm.name]), { missing: "diamond" })
      }
    }
  }
})).pipe(Layer.provide(ToolAccess.layer))

// --- How it is played ------------------------------------------------------------------------------------------------

type Print = (line: string) => Effect.Effect<void>

/** The night, as anyone can play it who has a session for each role. */
export const night = (print: Print, roles: Readonly<Record<"guest" | "keeper", ToolClient.Service>>) =>
  Effect.gen(function*() {
    const seen = Effect.forEach(
      Object.entries(roles),
      ([role, tools]) =>
        Effect.tap(
          Effect.map(tools.listTools, (listed) => listed.map(({ name }) => name)),
          (names) => print(`  a ${role} sees ${names.join(", ")}`)
        )
    )
    const call = (role: "guest" | "keeper", tool: string) =>
      Effect.tap(
        roles[role].callTool(tool, { exhibit: "diamond" }),
        ({ text }) => print(`  the ${role} calls ${tool}: ${text}`)
      )

    yield* print("In the evening")
    const before = yield* seen
    const refused = yield* call("guest", OpenCase.name)
    yield* call("keeper", OpenCase.name)

    yield* print("At midnight")
    const { midnight } = yield* ExtensionClient.make(Night)
    yield* midnight()
    const after = yield* seen
    const alarm = yield* call("keeper", RaiseAlarm.name)
    return { before, refused, after, alarm }
  })

// --- What `npm start` does -------------------------------------------------------------------------------------------

const Served = EnvironmentServer.serve(Museum, { host: "127.0.0.1", port: 0 }).pipe(Layer.provide(MuseumLive))

const main = HttpServer.addressFormattedWith((baseUrl) =>
  Effect.gen(function*() {
    const guest = yield* ToolClient.make({ baseUrl, role: "guest" })
    const keeper = yield* ToolClient.make({ baseUrl, role: "keeper" })
    yield* night(Console.log, { guest, keeper }).pipe(Effect.provide(ExtensionClient.layer({ baseUrl })))
  })
).pipe(
  Effect.scoped,
  Effect.provide(Layer.merge(Served, NodeHttpClient.layer)),
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map())),
  Logger.withMinimumLogLevel(LogLevel.Warning)
)

if (process.argv[1] === import.meta.filename) NodeRuntime.runMain(main)
