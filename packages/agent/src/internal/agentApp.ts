import * as Extension from "@effect-agentenv/protocol/Extension"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { SkillConfigV1 } from "@effect-agentenv/protocol/extensions/SkillConfigV1"
import { TrajectoryV1 } from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import { TriggersV1 } from "@effect-agentenv/protocol/extensions/TriggersV1"
import * as Health from "@effect-agentenv/server/Health"
import type * as Route from "@effect-agentenv/server/Route"
import * as Transfers from "@effect-agentenv/transfers/Transfers"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as A2a from "../A2a.ts"
import * as A2aHttp from "../A2aHttp.ts"
import type * as Agent from "../Agent.ts"
import { AgentCard } from "../AgentCard.ts"
import * as AgentConfig from "../AgentConfig.ts"
import type { App, Options, StartError } from "../AgentServer.ts"
import * as CardHttp from "../CardHttp.ts"
import * as ConfigState from "../ConfigState.ts"
import * as ExtensionHttp from "../ExtensionHttp.ts"
import * as ExtensionRegistry from "../ExtensionRegistry.ts"
import * as McpServers from "../McpServers.ts"
import * as RegexEngine from "../RegexEngine.ts"
import { RegistryError } from "../RegistryError.ts"
import * as Sessions from "../Sessions.ts"
import * as Skills from "../Skills.ts"
import * as Staging from "../Staging.ts"
import * as StagingHttp from "../StagingHttp.ts"
import * as TaskEngine from "../TaskEngine.ts"
import * as TaskStore from "../TaskStore.ts"
import * as Trajectories from "../Trajectories.ts"
import * as Triggers from "../Triggers.ts"
import * as agentRunner from "./agentRunner.ts"
import * as defaults from "./defaults.ts"
import { LiveCard } from "./liveCard.ts"

/** The service that was provided, or else one of the server's own. */
const given = <I, S, E>(
  tag: Context.Tag<I, S>,
  own: Layer.Layer<I, E>
): Effect.Effect<Context.Context<I>, E, Scope.Scope> =>
  Effect.flatMap(
    Effect.serviceOption(tag),
    (service) => Option.isSome(service) ? Effect.succeed(Context.make(tag, service.value)) : Layer.build(own)
  )

type State =
  | ConfigState.ConfigState
  | McpServers.McpServers
  | Skills.Skills
  | Sessions.Sessions
  | Trajectories.Trajectories
  | TaskStore.TaskStore
  | Transfers.Transfers
  | Staging.Staging

const stateOf = (
  agent: Agent.Any,
  options: Options
): Effect.Effect<Context.Context<State>, StartError, Scope.Scope> => {
  // without the extension nothing is asked for but what runs
  const trajectories = agent.extensions.some(({ uri }) => uri === TrajectoryV1.uri)
    ? Trajectories.layer()
    : Trajectories.layer({ contexts: 1, bytes: 0 })
  return Effect.map(
    Effect.all([
      given(ConfigState.ConfigState, ConfigState.layer(agent.config)),
      given(McpServers.McpServers, McpServers.layer),
      given(Skills.Skills, Skills.layer(agent.skills)),
      given(Sessions.Sessions, Sessions.layer()),
      given(Trajectories.Trajectories, trajectories),
      given(TaskStore.TaskStore, TaskStore.layerMemory(options.store)),
      given(Transfers.Transfers, Transfers.layer()),
      given(Staging.Staging, Staging.layerConfig)
    ]),
    (services) => Context.mergeAll(...services)
  )
}

/** The library's triggers, for an agent that has some; the thread of their patterns starts for nobody else. */
const triggers: Effect.Effect<Triggers.Triggers["Type"], never, Scope.Scope> = Effect.map(
  // the default budget is valid
  given(Triggers.Triggers, Layer.provide(Triggers.layerMemory, Layer.orDie(RegexEngine.layer()))),
  Context.get(Triggers.Triggers)
)

const triggerHandlers = (service: Triggers.Triggers["Type"]) => ({
  register: service.register,
  decide: service.decide,
  state: () => service.state
})

/** What is served: the configuration first, which comes by itself, then what the agent lists. */
const extensionsOf = (agent: Agent.Any): ReadonlyArray<Extension.Any> => {
  if (!agent.configured) return agent.extensions
  const described = (extension: Extension.Any) =>
    agent.configDescription === undefined ? extension : Extension.describe(extension, agent.configDescription)
  // who answers it lists it
  const listed = agent.extensions.some(({ overridden, uri }) => uri === AgentConfigV1.uri && overridden)
  return listed
    ? agent.extensions.map((extension) => extension.uri === AgentConfigV1.uri ? described(extension) : extension)
    : [described(AgentConfigV1), ...agent.extensions]
}

const contractOf = (agent: Agent.Any) =>
  agent.configured
    ? Effect.map(AgentConfig.jsonSchema(agent.config), (schema) => ({
      supported: AgentConfig.wireNames(agent.config),
      schema
    }))
    : Effect.succeed(undefined)

/** Where JSON-RPC is served, by the path or the URL of the definition (B-CARD-3, B-CARD-4). */
const rpcPathOf = (url: string): string | undefined => {
  if (/[?#\s]/.test(url)) return undefined
  if (url.startsWith("/")) return url.startsWith("//") ? undefined : url
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined
  return new URL(url).pathname
}

const reserved = (rpcPath: string, staging: boolean): ReadonlyArray<ExtensionRegistry.Reserved> => [
  { method: "POST", path: rpcPath, owner: "A2A JSON-RPC" },
  { method: "GET", path: "/health", owner: "health" },
  { method: "GET", path: "/.well-known/agent-card.json", owner: "Agent Card" },
  { method: "GET", path: "/.well-known/agent.json", owner: "Agent Card" },
  ...staging ? [{ method: "*" as const, prefix: `${Staging.endpoint}/`, owner: "staging" }] : []
]

/** One route a path: an operation may have a verb of its own on a path of ours. */
const merged = (routes: ReadonlyArray<Route.Route>): ReadonlyArray<Route.Route> => {
  const paths = new Map<string, Route.Route>()
  for (const route of routes) {
    const other = paths.get(route.path)
    paths.set(
      route.path,
      other === undefined ? route : { ...other, ...route, methods: { ...other.methods, ...route.methods } }
    )
  }
  return Array.from(paths.values())
}

export const app = (
  agent: Agent.Any,
  options: Options
): Effect.Effect<App, StartError, Scope.Scope> =>
  Effect.gen(function*() {
    const refuse = (subject: string, problem: string, mend: string) =>
      new RegistryError({ agent: agent.name, subject, problem, mend })

    const rpcPath = rpcPathOf(agent.url)
    if (rpcPath === undefined) {
      return yield* refuse(
        "url",
        "it is neither a path that begins with '/' nor an http(s) URL, without query and fragment",
        "write '/a2a' or 'https://host/a2a'"
      )
    }
    yield* AgentConfig.check(agent.name, agent.config)
    const configContract = yield* Effect.mapError(
      contractOf(agent),
      (error) => refuse("config", error.message, "give the field a schema that JSON Schema can say")
    )

    const context = (yield* Effect.context<never>()) as Context.Context<unknown>
    const state = yield* stateOf(agent, options)
    const staging = Context.get(state, Staging.Staging)
    const skills = Context.get(state, Skills.Skills)

    const handlers = Context.unsafeGet(context, agent.handlers) as Agent.HandlersService
    const runner = yield* Effect.provide(agentRunner.make(agent, handlers), state)
    const engine = yield* Effect.provide(TaskEngine.make(runner, options.tasks), state)

    const extensions = extensionsOf(agent)
    const implementations = Object.fromEntries(extensions.flatMap((extension) => {
      // every extension has its tag, whatever it is the handlers of
      const tag = (extension as Extension.Extension<string>).handlers
      const found = Context.getOption(context as Context.Context<Extension.Handlers<string>>, tag)
      if (Option.isNone(found)) return []
      return [[
        extension.uri,
        extension.uri === SkillConfigV1.uri ? defaults.recorded(found.value, skills) : found.value
      ]]
    }))
    const own = yield* Effect.provide(
      defaults.make({
        configReadback: agent.configReadback,
        extensions,
        task: (taskId) =>
          engine.get(taskId).pipe(
            Effect.catchTag("TaskNotFound", () => Effect.succeed(undefined)),
            Effect.orDie
          )
      }),
      state
    )
    const hasTriggers = extensions.some(({ uri }) => uri === TriggersV1.uri)
    const registry = yield* ExtensionRegistry.make({
      agent: agent.name,
      extensions,
      implementations,
      defaults: hasTriggers ? { ...own, [TriggersV1.uri]: triggerHandlers(yield* triggers) } : own,
      reserved: reserved(rpcPath, staging.maxBytes > 0),
      configContract
    })

    const card = new LiveCard({
      agent,
      config: Context.get(state, ConfigState.ConfigState),
      skills,
      extensions: [...registry.entries, ...Option.toArray(Staging.extension(staging))],
      url: agent.url,
      decorate: options.card
    })
    const services = Context.make(AgentCard, card).pipe(
      Context.add(ExtensionRegistry.ExtensionRegistry, registry),
      Context.add(A2a.A2a, A2a.make(engine, { streaming: agent.streaming })),
      Context.add(Staging.Staging, staging)
    )
    const routes = yield* Effect.mapInputContext(
      Effect.all([
        CardHttp.make(options),
        A2aHttp.make(rpcPath, { bodyLimit: options.limits?.a2a }),
        ExtensionHttp.routes({ maxBodyBytes: options.limits?.extension }),
        StagingHttp.make
      ]),
      (outer: Context.Context<Scope.Scope>) => Context.merge(outer, services)
    )
    // runs first when the scope closes: who waits for a task is told of its end before calls are ended
    yield* Effect.addFinalizer(() => engine.drain)
    return { name: agent.name, card, registry, engine, routes: merged([...routes.flat(), Health.route]) }
  })
