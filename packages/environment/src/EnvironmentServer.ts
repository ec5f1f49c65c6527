/**
 * @since 0.1.0
 */
import type * as DataPlane from "@effect-agentenv/protocol/DataPlane"
import type * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import type * as Extension from "@effect-agentenv/protocol/Extension"
import type * as HostCheck from "@effect-agentenv/server/HostCheck"
import * as Logs from "@effect-agentenv/server/Logs"
import * as Route from "@effect-agentenv/server/Route"
import * as Server from "@effect-agentenv/server/Server"
import type * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServer from "@effect/platform/HttpServer"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Environment from "./Environment.ts"
import * as internal from "./internal/app.ts"
import type { RegistryError } from "./RegistryError.ts"

export {
  /**
   * An environment inside a server that somebody else runs, by node's requests: in `app.use` of Express.
   *
   * @since 0.1.0
   * @category constructors
   */
  toNodeHandler,
  /**
   * An environment inside a server that somebody else runs, by fetch requests.
   *
   * @since 0.1.0
   * @category constructors
   */
  toWebHandler
} from "./Handler.ts"

export {
  /**
   * An environment beside an MCP server of one's own.
   *
   * @since 0.1.0
   * @category constructors
   */
  mount,
  /**
   * An environment beside an MCP server of one's own, as routes for an application.
   *
   * @since 0.1.0
   * @category layers
   */
  mountRoutes
} from "./Mount.ts"

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
 * What is served of an environment, where that is less than all or something else is to be said of it; a list that is left out is
 * everything. A name that the definition does not have, or one twice, is a `RegistryError` where it is no compile error.
 *
 * - `tools`: those that are served, in this order; `description` stands in for the definition's. The rest are unknown to callers
 *   (B-TOOL-6, B-TOOL-7). Names as in the definition, or with the environment's in place of `{environment_name}`.
 * - `extensions`: those that have an entry and routes, in this order; `operations` are those of one that are served, by their keys
 *   in the definition (B-MULTI-7).
 * - `operations`: the data operations; the others are absent from the card and `-32601` (B-MULTI-8).
 *
 * @since 0.1.0
 * @category models
 */
export interface Serve<Env extends Environment.Any = Environment.Any> {
  readonly tools?: ReadonlyArray<ToolChoice<ToolNames<Env["tools"]>>> | undefined
  readonly extensions?: ReadonlyArray<ExtensionChoice<Env["extensions"][number]>> | undefined
  readonly operations?: ReadonlyArray<DataPlane.Method> | undefined
}

type ToolChoice<Name extends string> = Name | { readonly name: Name; readonly description?: string | undefined }

type ToolNames<Tools extends Environment.Any["tools"]> = Tools[number]["name"] | Named<Tools[number]["name"]>

type Named<Name extends string> = Name extends `${infer Head}{environment_name}${infer Tail}`
  ? `${Head}${string}${Named<Tail>}`
  : Name

type ExtensionChoice<E extends Extension.Any> = E extends Extension.Any
  ? E["uri"] | { readonly uri: E["uri"]; readonly operations?: ReadonlyArray<OperationNames<E>> | undefined }
  : never

type OperationNames<E extends Extension.Any> =
  | Extract<keyof E["operations"], string>
  | { readonly [F in keyof E["features"]]: Extract<keyof E["features"][F], string> }[keyof E["features"]]

/**
 * The option of every way to serve an environment that says what is served of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Serving<Env extends Environment.Any = Environment.Any> {
  readonly serve?: Serve<Env> | undefined
}

/**
 * An environment that runs, without a server: its card and its routes, for those who bring a transport of their own. `card` is what
 * is served when it is read: `Tools.update` changes it.
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
  options: Options & Serving<NoInfer<Env>> = {}
): Effect.Effect<App, RegistryError, Requires<Env> | Scope.Scope> => internal.app(env, options)

/**
 * An environment's routes for an application of one's own, beside its routes and behind its middleware.
 *
 * @since 0.1.0
 * @category layers
 */
export const routes = <Env extends Environment.Any>(
  env: Env,
  options?: Options & Serving<NoInfer<Env>>
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
  options?: Options & Serving<NoInfer<Env>> & HostCheck.Options
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
 * beside the environment's; a middleware among them covers both. `logs` writes the log as one JSON object a line, or for people;
 * without it the variable `LOG_FORMAT` counts, and without that the loggers stay as they are.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServeOptions<E = never, R = never> extends Options, Omit<Server.Options, "host" | "port" | "limits"> {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly maxBuffered?: number | undefined
  readonly routes?: Layer.Layer<never, E, R> | undefined
  readonly logs?: "json" | "pretty" | undefined
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
  options: ServeOptions<E, R> & Serving<NoInfer<Env>> = {}
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
      ).pipe(Layer.provide(Logs.layer(options.logs)))
    // the environment's routes ask nothing of a request, so what is left are the requirements of both
  )) as never
