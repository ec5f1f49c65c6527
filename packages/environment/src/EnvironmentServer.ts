/**
 * @since 0.1.0
 */
import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as Manifest from "@effect-agentenv/protocol/Manifest"
import * as Calls from "@effect-agentenv/server/Calls"
import * as Exchange from "@effect-agentenv/server/Exchange"
import * as Health from "@effect-agentenv/server/Health"
import type * as HostCheck from "@effect-agentenv/server/HostCheck"
import { Ids } from "@effect-agentenv/server/Ids"
import * as Route from "@effect-agentenv/server/Route"
import * as Server from "@effect-agentenv/server/Server"
import type * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServer from "@effect/platform/HttpServer"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type * as Environment from "./Environment.ts"
import { compile } from "./internal/compile.ts"
import type { CompiledOperation } from "./internal/compileExtension.ts"
import * as dataPlane from "./internal/dataPlane.ts"
import * as extensions from "./internal/extensions.ts"
import { Gate } from "./internal/gate.ts"
import * as mcp from "./internal/mcp/route.ts"
import { RegistryError } from "./RegistryError.ts"

/**
 * How an environment is served, wherever its routes end up.
 *
 * - `name`: what it is called where `ENVIRONMENT_NAME` says nothing; the definition's name by default (B-ENV-12).
 * - `mcp.path`: `/mcp`. `mcp.sessions`: `"required"` refuses a request of the session era without a session id, `"optional"` runs it
 *   without one, `"off"` opens none. `mcp.idleTimeout`: 30 minutes. `mcp.maxSessions`: 10,000. `mcp.json`: never answer with an event
 *   stream, so that progress and logs are dropped.
 * - `limits`: the largest bodies in bytes; 4 MiB for MCP and extensions, 64 MiB for the data plane.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly name?: string | undefined
  readonly mcp?: {
    readonly path?: `/${string}` | undefined
    readonly sessions?: "required" | "optional" | "off" | undefined
    readonly idleTimeout?: Duration.DurationInput | undefined
    readonly maxSessions?: number | undefined
    readonly json?: boolean | undefined
  } | undefined
  readonly limits?: {
    readonly mcp?: number | undefined
    readonly dataPlane?: number | undefined
    readonly extension?: number | undefined
  } | undefined
}

/**
 * An environment that runs, without a server: its card and its routes, for those who bring a transport of their own.
 *
 * @since 0.1.0
 * @category models
 */
export interface App {
  readonly name: string
  readonly card: EnvironmentCard.EnvironmentCard
  readonly routes: ReadonlyArray<Route.Route>
}

/**
 * What an environment's routes need: its implementation.
 *
 * @since 0.1.0
 * @category models
 */
export type Requires<Env extends Environment.Any> = Env extends { readonly handlers: Context.Tag<infer Handlers, any> }
  ? Handlers
  : never

const MiB = 1024 * 1024

/** `ENVIRONMENT_NAME` counts unless it is empty: blanks are a name (B-ENV-12). */
const environmentName = (fallback: string): Effect.Effect<string> =>
  Effect.map(
    Effect.option(Config.string("ENVIRONMENT_NAME")),
    Option.match({ onNone: () => fallback, onSome: (name) => name === "" ? fallback : name })
  )

const jsonRoute = (path: string, value: unknown): Route.Route => {
  const text = JSON.stringify(value)
  return Route.make("GET", path, (exchange) => exchange.reply(200, jsonHead, text))
}

const jsonHead: ReadonlyArray<string> = ["content-type", "application/json"]

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

/** Calls that run with the services and the randomness of the implementation, in the scope of the server. */
const callsOf = (service: Environment.HandlersService): Effect.Effect<Calls.Calls<never>, never, Scope.Scope> =>
  Calls.make<never>().pipe(
    Effect.withRandom(service.random),
    Effect.mapInputContext((outer: Context.Context<Scope.Scope>) =>
      Context.add(Context.merge(outer, service.context), Scope.Scope, Context.get(outer, Scope.Scope))
    )
  )

const owned = (routes: ReadonlyArray<Route.Route>, own: ReadonlySet<string>): string | undefined =>
  routes.find((route) => own.has(route.path))?.path

/**
 * An environment that runs in the scope: its state, its episode and its sessions are its own. Routes of the card, the data plane,
 * the extensions, the interface manifests, MCP and `/health`.
 *
 * Fails with a `RegistryError` when the definition cannot be served.
 *
 * @since 0.1.0
 * @category constructors
 */
export const app = <Env extends Environment.Any>(
  env: Env,
  options: Options = {}
): Effect.Effect<App, RegistryError, Requires<Env> | Scope.Scope> =>
  Effect.gen(function*() {
    const service = yield* env.handlers as Context.Tag<Requires<Env>, Environment.HandlersService>
    const name = yield* environmentName(options.name ?? env.name)
    const ids = yield* Ids
    const mcpPath = options.mcp?.path ?? EnvironmentCard.MCP_PATH
    const calls = yield* callsOf(service)
    const { card, extensions: compiled, surface } = yield* compile(env, service, name, mcpPath, calls.runtime)
    const gate = new Gate()

    const core: ReadonlyArray<Route.Route> = [
      jsonRoute(EnvironmentCard.PATH, card),
      {
        path: EnvironmentCard.RPC_PATH,
        methods: {
          POST: dataPlane.listener(
            dataPlane.operations(env, service, gate),
            calls,
            gate,
            options.limits?.dataPlane ?? 64 * MiB
          )
        }
      },
      yield* mcp.make({
        surface,
        gate,
        calls,
        path: mcpPath,
        sessions: options.mcp?.sessions ?? "required",
        idleTimeout: options.mcp?.idleTimeout ?? "30 minutes",
        maxSessions: options.mcp?.maxSessions ?? 10_000,
        bodyLimit: options.limits?.mcp ?? 4 * MiB,
        json: options.mcp?.json ?? false
      }),
      ...interfaceRoutes(env.interfaces),
      Health.route
    ]
    const refuse = (subject: string, problem: string) =>
      new RegistryError({ environment: name, subject, problem, mend: "give it a path of its own" })
    const served = yield* extensionRoutes(
      compiled.flatMap(({ operations }) => operations),
      (operation) => extensions.listener(operation, calls, gate, ids, options.limits?.extension ?? 4 * MiB),
      refuse
    )
    const taken = owned(served, new Set(core.map(({ path }) => path)))
    if (taken !== undefined) {
      return yield* refuse("extensions", `the path ${taken} belongs to the environment's own routes`)
    }
    return { name, card, routes: [...core, ...served] }
  })

/**
 * An environment's routes for an application of one's own, beside its routes and behind its middleware.
 *
 * @since 0.1.0
 * @category layers
 */
export const routes = <Env extends Environment.Any>(
  env: Env,
  options?: Options
): Layer.Layer<never, RegistryError | Route.RouteCollision, Requires<Env> | HttpLayerRouter.HttpRouter> =>
  Route.layer(Effect.map(app(env, options), ({ routes }) => routes))

/**
 * Serves an environment on the `HttpServer` in context.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <Env extends Environment.Any>(
  env: Env,
  options?: Options & HostCheck.Options
): Layer.Layer<never, RegistryError | Route.RouteCollision, Requires<Env> | HttpServer.HttpServer> =>
  // the environment's routes ask nothing of a request
  Server.layer(routes(env, options), options) as Layer.Layer<
    never,
    RegistryError | Route.RouteCollision,
    Requires<Env> | HttpServer.HttpServer
  >

/**
 * What `serve` takes beside `Options`. Without `host` and `port` the deploy contract's variables count: `MCP_HOST` (`0.0.0.0`) and
 * `MCP_PORT` (18765) (B-ENV-14). `hosts` and `origins` switch the checks of the `Host` and `Origin` headers on. `routes` are served
 * beside the environment's; a middleware among them covers both.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServeOptions<E = never, R = never> extends Options, Omit<Server.Options, "host" | "port" | "limits"> {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly maxBuffered?: number | undefined
  readonly routes?: Layer.Layer<never, E, R> | undefined
}

/**
 * Serves an environment on node's HTTP server until its scope closes: running calls are interrupted, answered and awaited then.
 * The layer provides the platform's `HttpServer`, whose address says where it listens.
 *
 * @since 0.1.0
 * @category layers
 */
export const serve = <Env extends Environment.Any, E = never, R = never>(
  env: Env,
  options: ServeOptions<E, R> = {}
): Layer.Layer<
  HttpServer.HttpServer,
  | RegistryError
  | Route.RouteCollision
  | Server.ServeError
  | ConfigError.ConfigError
  | HttpLayerRouter.Request.Without<E>,
  Requires<Env> | Server.Requirements<R>
> =>
  Layer.unwrapEffect(Effect.map(
    Effect.all({
      host: options.host === undefined
        ? Config.withDefault(Config.string("MCP_HOST"), "0.0.0.0")
        : Effect.succeed(options.host),
      port: options.port === undefined
        ? Config.withDefault(Config.port("MCP_PORT"), 18765)
        : Effect.succeed(options.port)
    }),
    ({ host, port }) =>
      Server.serve(
        Layer.merge(routes(env, options), options.routes ?? Layer.empty),
        {
          requestTimeout: "5 minutes",
          ...options,
          host,
          port,
          limits: { maxBuffered: options.maxBuffered }
        }
      )
    // the environment's routes ask nothing of a request, so what is left are the requirements of both
  )) as never
