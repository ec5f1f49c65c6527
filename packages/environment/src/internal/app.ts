import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as Manifest from "@effect-agentenv/protocol/Manifest"
import * as Calls from "@effect-agentenv/server/Calls"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import * as Health from "@effect-agentenv/server/Health"
import { Ids } from "@effect-agentenv/server/Ids"
import * as Route from "@effect-agentenv/server/Route"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type * as Environment from "../Environment.ts"
import type { App, Options, Requires, Serving } from "../EnvironmentServer.ts"
import { RegistryError } from "../RegistryError.ts"
import * as ToolAccess from "../ToolAccess.ts"
import { Tools } from "../Tools.ts"
import * as accessRoutes from "./accessRoutes.ts"
import type { Catalog } from "./catalog.ts"
import * as choose from "./choose.ts"
import { compile, type Compiled, hasAccess } from "./compile.ts"
import type { CompiledOperation } from "./compileExtension.ts"
import * as dataPlane from "./dataPlane.ts"
import * as extensions from "./extensions.ts"
import { Gate } from "./gate.ts"
import { LiveCard, ToolsService } from "./liveCard.ts"
import * as mcp from "./mcp/route.ts"
import * as spans from "./spans.ts"

const MiB = 1024 * 1024

/** An environment that runs, before its routes are put together. */
export interface Running extends Compiled {
  readonly env: Environment.Any
  readonly name: string
  readonly mcpPath: string
  readonly gate: Gate
  readonly calls: Calls.Calls<never>
  readonly trace: spans.Run | undefined
  readonly service: Environment.HandlersService
  readonly live: LiveCard
  readonly tools: ToolsService
  /** Who may use which tool, when roles count. */
  readonly access: Context.Tag.Service<typeof ToolAccess.ToolAccess> | undefined
}

/** `ENVIRONMENT_NAME` counts unless it is empty: blanks are a name (B-ENV-12). */
const environmentName = (fallback: string): Effect.Effect<string> =>
  Effect.map(
    Effect.option(Config.string("ENVIRONMENT_NAME")),
    Option.match({ onNone: () => fallback, onSome: (name) => name === "" ? fallback : name })
  )

/** The rules that roles are held to: those that the implementation was given, or rules of the server's own. */
const accessOf = (
  service: Environment.HandlersService,
  catalog: Catalog
): Effect.Effect<Context.Tag.Service<typeof ToolAccess.ToolAccess>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const given = Context.getOption(service.context as Context.Context<ToolAccess.ToolAccess>, ToolAccess.ToolAccess)
    const access = Option.isSome(given) ? given.value : yield* ToolAccess.make
    yield* access.onChange((rules) => catalog.restrict(rules))
    catalog.restrict(yield* access.rules)
    return access
  })

/** Calls that run with the services and the randomness of the implementation, in the scope of the server. */
const callsOf = (
  service: Environment.HandlersService,
  tools: ToolsService
): Effect.Effect<Calls.Calls<never>, never, Scope.Scope> =>
  Calls.make<never>().pipe(
    Effect.withRandom(service.random),
    Effect.mapInputContext((outer: Context.Context<Scope.Scope>) =>
      Context.merge(outer, service.context).pipe(
        Context.add(Scope.Scope, Context.get(outer, Scope.Scope)),
        Context.add(Tools, tools)
      )
    )
  )

/** Finds the implementation and compiles the definition, under the name that it is served as. */
export const run = <Env extends Environment.Any>(
  env: Env,
  options: Options & Serving
): Effect.Effect<Running, RegistryError, Requires<Env> | Scope.Scope> =>
  Effect.gen(function*() {
    const implemented = yield* env.handlers as Context.Tag<Requires<Env>, Environment.HandlersService>
    const name = yield* environmentName(options.name ?? env.name)
    const serve = options.serve ?? {}
    const service = yield* choose.dataOperations(
      implemented,
      serve.operations,
      (subject, problem, mend) => new RegistryError({ environment: name, subject, problem, mend })
    )
    const mcpPath = options.mcp?.path ?? EnvironmentCard.MCP_PATH
    const tools = new ToolsService(name)
    const calls = yield* callsOf(service, tools)
    const compiled = yield* compile(env, service, name, mcpPath, calls.runtime, serve)
    const live = new LiveCard(compiled.card, compiled.catalog)
    tools.start(compiled.catalog, live)
    const access = hasAccess(env, compiled.catalog) ? yield* accessOf(service, compiled.catalog) : undefined
    const trace = yield* spans.make
    return { ...compiled, env, name, mcpPath, gate: new Gate(), calls, trace, service, live, tools, access }
  })

const jsonHead: ReadonlyArray<string> = ["content-type", "application/json"]

/** Answers with a value as JSON that is written once. */
export const jsonRoute = (path: string, value: unknown): Route.Route => {
  const text = JSON.stringify(value)
  return Route.make("GET", path, (exchange) => exchange.reply(200, jsonHead, text))
}

/** The manifests of the tool-role interfaces: their names, and each under its name (B-MAN-3). */
const interfaceRoutes = (manifests: ReadonlyArray<Manifest.Manifest>): ReadonlyArray<Route.Route> =>
  manifests.length === 0 ? [] : [
    jsonRoute(Manifest.ENDPOINT, manifests.map((manifest) => manifest.interface)),
    ...manifests.map((manifest) => {
      const text = Manifest.serialize(manifest)
      return Route.make(
        "GET",
        `${Manifest.ENDPOINT}/${encodeURIComponent(manifest.interface)}`,
        (exchange) => exchange.reply(200, jsonHead, text)
      )
    })
  ]

/** One route a path: operations with verbs of their own may share one. */
const extensionRoutes = (
  operations: ReadonlyArray<CompiledOperation>,
  listen: (operation: CompiledOperation) => Exchange.Listener,
  refuse: (subject: string, problem: string) => RegistryError
): Effect.Effect<ReadonlyArray<Route.Route>, RegistryError> =>
  Effect.gen(function*() {
    const paths = new Map<string, Record<string, Exchange.Listener>>()
    for (const operation of operations) {
      const methods = paths.get(operation.path) ?? {}
      if (methods[operation.verb] !== undefined) {
        return yield* refuse(
          `extension '${operation.uri}'`,
          `${operation.verb} ${operation.path} is served by another operation`
        )
      }
      methods[operation.verb] = listen(operation)
      paths.set(operation.path, methods)
    }
    return Array.from(paths, ([path, methods]): Route.Route => ({ path, methods, head: false }))
  })

/** The routes of everything but MCP and the card: the data plane, the manifests, `/health` and the extensions. */
export const routes = (
  running: Running,
  card: Route.Route,
  mcp: ReadonlyArray<Route.Route>,
  options: Options
): Effect.Effect<ReadonlyArray<Route.Route>, RegistryError> =>
  Effect.gen(function*() {
    const { access, calls, env, gate, name, service, trace } = running
    const ids = yield* Ids
    const limit = options.limits?.extension ?? 4 * MiB
    const core: ReadonlyArray<Route.Route> = [
      card,
      {
        path: EnvironmentCard.RPC_PATH,
        methods: {
          POST: dataPlane.listener(
            dataPlane.operations(env, service, gate),
            calls,
            gate,
            options.limits?.dataPlane ?? 64 * MiB,
            trace
          )
        }
      },
      ...mcp,
      ...interfaceRoutes(env.interfaces),
      ...(access === undefined ? [] : accessRoutes.routes(access, calls, limit)),
      Health.route
    ]
    const refuse = (subject: string, problem: string) =>
      new RegistryError({ environment: name, subject, problem, mend: "give it a path of its own" })
    const served = yield* extensionRoutes(
      running.extensions.flatMap(({ operations }) => operations),
      (operation) => extensions.listener(operation, calls, gate, ids, limit, trace),
      refuse
    )
    // the path of MCP is taken, whoever serves it
    const own = new Set([...core.map(({ path }) => path), running.mcpPath])
    const taken = served.find(({ path }) => own.has(path))
    if (taken !== undefined) {
      return yield* refuse("extensions", `the path ${taken.path} belongs to the environment's own routes`)
    }
    return [...core, ...served]
  })

/** An environment with everything of its own, MCP included. */
export const app = <Env extends Environment.Any>(
  env: Env,
  options: Options & Serving<NoInfer<Env>>
): Effect.Effect<App, RegistryError, Requires<Env> | Scope.Scope> =>
  Effect.gen(function*() {
    // the names of the definition are names
    const running = yield* run(env, options as Options & Serving)
    const { calls, catalog, gate, live, mcpPath, name, surface, trace } = running
    const route = yield* mcp.make({
      surface,
      catalog,
      gate,
      calls,
      path: mcpPath,
      sessions: options.mcp?.sessions ?? "required",
      idleTimeout: options.mcp?.idleTimeout ?? "30 minutes",
      maxSessions: options.mcp?.maxSessions ?? 10_000,
      bodyLimit: options.limits?.mcp ?? 4 * MiB,
      json: options.mcp?.json ?? false,
      trace
    })
    const card = Route.make("GET", EnvironmentCard.PATH, (exchange) => exchange.reply(200, jsonHead, live.text))
    const served = yield* routes(running, card, [route], options)
    return {
      name,
      get card() {
        return live.value
      },
      routes: served
    }
  })
