/**
 * An agent that answers standard extensions itself, with what the library would have answered at hand: its turns are limited, its
 * configuration is counted, its MCP servers are held against a list, and it opens something when it is served and closes it afterwards.
 *
 * `npm start -w examples/advanced-agent` serves it on `A2A_HOST` and `A2A_PORT`; `ALLOWED_MCP_HOSTS` is a list with commas.
 */
import {
  Agent,
  AgentConfig,
  AgentServer,
  ConfigState,
  ExtensionError,
  McpServers,
  RegexEngine,
  TaskResult,
  Triggers
} from "@effect-agentenv/agent"
import { Extension } from "@effect-agentenv/protocol"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { TriggersV1 } from "@effect-agentenv/protocol/extensions/TriggersV1"
import { NodeRuntime } from "@effect/platform-node"
import { Config, Context, Effect, Layer, Ref, Schema } from "effect"

// --- What the agent is -----------------------------------------------------------------------------------------------

export class AdvancedConfig extends AgentConfig.extend<AdvancedConfig>("AdvancedConfig")({
  greeting: AgentConfig.field(Schema.NonEmptyString, { default: () => "Good day", description: "How it begins." })
}) {}

const ConfigOverride = Extension.override(AgentConfigV1)
const McpOverride = Extension.override(McpConfigV1)
const TriggersOverride = Extension.override(TriggersV1)

export const AdvancedAgent = Agent.make("advanced-agent", {
  description: "Shows how standard extensions are answered by the agent itself.",
  version: "1.0.0",
  config: AdvancedConfig,
  extensions: [ConfigOverride, McpOverride, TriggersOverride]
})

// --- What is open while the agent is served --------------------------------------------------------------------------

/** A ledger of what was changed on the agent. Here it is memory; a file or a database would be opened and closed in the same places. */
export class Ledger extends Context.Tag("Ledger")<Ledger, {
  readonly record: (entry: string) => Effect.Effect<number>
  readonly entries: Effect.Effect<ReadonlyArray<string>>
}>() {}

export const LedgerLive = Layer.scoped(
  Ledger,
  Effect.gen(function*() {
    const entries = yield* Effect.acquireRelease(
      Effect.tap(Ref.make<ReadonlyArray<string>>([]), () => Effect.logInfo("The ledger is open")),
      (entries) => Effect.flatMap(Ref.get(entries), ({ length }) => Effect.logInfo(`The ledger closes with ${length}`))
    )
    return {
      record: (entry) =>
        Ref.modify(entries, (all) => {
          const now = [...all, entry]
          return [now.length, now]
        }),
      entries: Ref.get(entries)
    }
  })
)

// --- What it answers itself ------------------------------------------------------------------------------------------

/** The library sets and reads the configuration; the answer also says how many changes there have been. */
const ConfigLive = ConfigOverride.toLayer(Effect.gen(function*() {
  const config = yield* ConfigState.ConfigState
  const ledger = yield* Ledger
  return {
    set: (update) =>
      Effect.gen(function*() {
        yield* config.set(update)
        const changes = yield* ledger.record(`config: ${Object.keys(update).join(", ")}`)
        return { status: "updated" as const, changes }
      }),
    get: () => Effect.map(config.readback, (config) => ({ config }))
  }
}))

const hostOf = (url: string): string | undefined => URL.canParse(url) ? new URL(url).hostname : undefined

const nearby: ReadonlyArray<string> = ["127.0.0.1", "localhost"]

/** Servers elsewhere than on the listed hosts are refused; the library registers the others. */
const McpLive = McpOverride.toLayer(Effect.gen(function*() {
  const servers = yield* McpServers.McpServers
  const ledger = yield* Ledger
  const hosts = yield* Config.withDefault(Config.array(Config.string(), "ALLOWED_MCP_HOSTS"), nearby)
  return {
    add: (request) =>
      Effect.gen(function*() {
        if (!hosts.includes(hostOf(request.url) ?? "")) {
          return yield* new ExtensionError.ExtensionError({ status: 403, message: "url: its host is not allowed here" })
        }
        const added = yield* servers.add(request)
        yield* ledger.record(`mcp: ${added.name}`)
        return { status: "added" as const, ...added }
      }),
    list: () =>
      Effect.map(servers.current, (current) => ({
        mcp_servers: Object.fromEntries(
          Object.entries(current).map(([name, { headers, url }]) => [name, { url, has_headers: headers !== undefined }])
        )
      }))
  }
}))

const lastTurn = 3

/** The library decides; from the third turn on the conversation ends whatever it says. */
const TriggersLive = TriggersOverride.toLayer(Effect.gen(function*() {
  const triggers = yield* Triggers.Triggers
  return {
    register: triggers.register,
    state: () => triggers.state,
    decide: (request) =>
      Effect.map(triggers.decide(request), (decision) =>
        request.turn < lastTurn
          ? decision
          : { ...decision, done: true, fired: [...decision.fired, "reference-turn-limit"] })
  }
}))

// --- What its tasks do -----------------------------------------------------------------------------------------------

const Tasks = AdvancedAgent.toLayer(Effect.gen(function*() {
  const ledger = yield* Ledger
  return ({ config, mcpServers }) =>
    Effect.map(
      ledger.entries,
      (entries) =>
        TaskResult.text(`${config.greeting} from ${config.name ?? AdvancedAgent.name}.`).pipe(
          TaskResult.withStructuredOutput({ servers: Object.keys(mcpServers), ledger: entries })
        )
    )
}))

/** The state that the overrides and the server share: what is provided with the implementation, the server takes too. */
const Shared = Layer.mergeAll(
  ConfigState.layer(AdvancedConfig),
  McpServers.layer,
  Layer.provide(Triggers.layerMemory, RegexEngine.layer())
)

export const AdvancedAgentLive = Layer.mergeAll(Tasks, ConfigLive, McpLive, TriggersLive).pipe(
  Layer.provideMerge(Shared),
  Layer.provide(LedgerLive)
)

if (process.argv[1] === import.meta.filename) {
  AgentServer.serve(AdvancedAgent).pipe(Layer.provide(AdvancedAgentLive), Layer.launch, NodeRuntime.runMain)
}
