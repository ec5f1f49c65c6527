/**
 * An agent on the wire: its card, A2A of both versions, its extensions, its staging store.
 *
 * @since 0.1.0
 */
import type * as Card from "@effect-agentenv/protocol/AgentCard"
import type * as Extension from "@effect-agentenv/protocol/Extension"
import * as ServerHandler from "@effect-agentenv/server/Handler"
import type * as HostCheck from "@effect-agentenv/server/HostCheck"
import * as Logs from "@effect-agentenv/server/Logs"
import * as Route from "@effect-agentenv/server/Route"
import * as Server from "@effect-agentenv/server/Server"
import type * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import type * as HttpServer from "@effect/platform/HttpServer"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Agent from "./Agent.ts"
import type { AgentCard } from "./AgentCard.ts"
import type * as CardHttp from "./CardHttp.ts"
import type * as ExtensionRegistry from "./ExtensionRegistry.ts"
import * as internal from "./internal/agentApp.ts"
import type { RegistryError } from "./RegistryError.ts"
import * as Staging from "./Staging.ts"
import type { StagingUnavailable } from "./StagingError.ts"
import type * as TaskEngine from "./TaskEngine.ts"
import type * as TaskStore from "./TaskStore.ts"

/**
 * How an agent is served, wherever its routes end up.
 *
 * - `publicUrl`, `forwarded`: where callers find it, see `CardHttp`.
 * - `tasks`: how its tasks are run; `store`: what is kept of them when no `TaskStore` is provided.
 * - `limits`: the largest bodies in bytes; 16 MiB for A2A and for extensions.
 * - `card`: what else is to be said on the card, such as security schemes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends CardHttp.Options {
  readonly tasks?: TaskEngine.Options | undefined
  readonly store?: TaskStore.MemoryOptions | undefined
  readonly limits?: {
    readonly a2a?: number | undefined
    readonly extension?: number | undefined
  } | undefined
  readonly card?: ((card: Card.AgentCard) => Card.AgentCard) | undefined
}

/**
 * An agent that runs, without a server: what is known of it and its routes, for those who bring a transport of their own.
 *
 * @since 0.1.0
 * @category models
 */
export interface App {
  readonly name: string
  readonly card: AgentCard["Type"]
  readonly registry: ExtensionRegistry.Registry
  readonly engine: TaskEngine.TaskEngine["Type"]
  readonly routes: ReadonlyArray<Route.Route>
}

/**
 * What an agent's routes need: its implementation, and the handlers of every extension that the author owns or overrides.
 *
 * @since 0.1.0
 * @category models
 */
export type Requires<A extends Agent.Any> =
  | (A extends { readonly handlers: Context.Tag<infer Handlers, any> } ? Handlers : never)
  | Extension.Required<A["extensions"][number]>

/**
 * Why an agent doesn't start: its definition (`RegistryError`), a variable, its staging directory, or its store of tasks.
 *
 * @since 0.1.0
 * @category errors
 */
export type StartError = RegistryError | ConfigError.ConfigError | StagingUnavailable | TaskStore.TaskStoreError

/**
 * An agent that runs in the scope: its configuration, servers, skills, sessions, trajectories, triggers and tasks are its own, unless a
 * layer of `ConfigState`, `McpServers`, `Skills`, `Sessions`, `Trajectories`, `Triggers`, `TaskStore`, `Transfers` or `Staging` is
 * provided, which an override can share then. When the scope closes running tasks are canceled, their listeners told, and what runs is
 * answered.
 *
 * @since 0.1.0
 * @category constructors
 */
export const app = <A extends Agent.Any>(
  agent: A,
  options: Options = {}
): Effect.Effect<App, StartError, Requires<A> | Scope.Scope> =>
  // what an agent requires is looked up by the tags of its definition
  internal.app(agent, options) as Effect.Effect<App, StartError, Scope.Scope>

/**
 * An agent's routes for an application of one's own, beside its routes and behind its middleware.
 *
 * @since 0.1.0
 * @category layers
 */
export const routes = <A extends Agent.Any>(
  agent: A,
  options?: Options
): Layer.Layer<never, StartError | Route.RouteCollision, Requires<A> | HttpLayerRouter.HttpRouter> =>
  Route.layer(Effect.map(app(agent, options), ({ routes }) => routes)) as Layer.Layer<
    never,
    StartError | Route.RouteCollision,
    Requires<A> | HttpLayerRouter.HttpRouter
  >

/**
 * Serves an agent on the `HttpServer` in context.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <A extends Agent.Any>(
  agent: A,
  options?: Options & HostCheck.Options
): Layer.Layer<never, StartError | Route.RouteCollision, Requires<A> | HttpServer.HttpServer> =>
  // the agent's routes ask nothing of a request
  Server.layer(routes(agent, options), options) as Layer.Layer<
    never,
    StartError | Route.RouteCollision,
    Requires<A> | HttpServer.HttpServer
  >

/**
 * What `serve` takes beside `Options`. Without `host` and `port` the deploy contract's variables count: `A2A_HOST` (`0.0.0.0`) and
 * `A2A_PORT` (8000) (B-REG-28). `hosts` and `origins` switch the checks of the `Host` and `Origin` headers on. `routes` are served
 * beside the agent's; a middleware among them covers both. `logs` writes the log as one JSON object a line, or for people; without it
 * the variable `LOG_FORMAT` counts, and without that the loggers stay as they are.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServeOptions<E = never, R = never> extends Options, Omit<Server.Options, "host" | "port" | "limits"> {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly maxBuffered?: number | undefined
  readonly routes?: Layer.Layer<never, E, R> | undefined
  readonly logs?: Logs.Format | undefined
}

/** A port as a variable has it; 0 lets the system choose. */
const portOf = (name: string): Config.Config<number> =>
  Config.integer(name).pipe(
    Config.validate({ message: "expected a port, 0 to 65535", validation: (port) => port >= 0 && port <= 65_535 })
  )

/**
 * Serves an agent on node's HTTP server until its scope closes: running tasks are canceled, then running calls answered and awaited.
 * The layer provides the platform's `HttpServer`, whose address says where it listens.
 *
 * @since 0.1.0
 * @category layers
 */
export const serve = <A extends Agent.Any, E = never, R = never>(
  agent: A,
  options: ServeOptions<E, R> = {}
): Layer.Layer<
  HttpServer.HttpServer,
  | StartError
  | Route.RouteCollision
  | Server.ServeError
  | HttpLayerRouter.Request.Without<E>,
  Requires<A> | Server.Requirements<R>
> =>
  Layer.unwrapEffect(Effect.map(
    Effect.all({
      host: options.host === undefined
        ? Config.withDefault(Config.string("A2A_HOST"), "0.0.0.0")
        : Effect.succeed(options.host),
      port: options.port === undefined
        ? Config.withDefault(portOf("A2A_PORT"), 8000)
        : Effect.succeed(options.port)
    }),
    ({ host, port }) =>
      Server.serve(
        Layer.merge(routes(agent, options), options.routes ?? Layer.empty),
        {
          // as long as it may take to stage the largest object
          requestTimeout: "1 hour",
          ...options,
          host,
          port,
          limits: { maxBuffered: options.maxBuffered }
        }
      ).pipe(
        // a path below it is a secret, which the platform's own span would tell, also of one that is mistyped (B-STG-15)
        HttpMiddleware.withTracerDisabledWhen(({ url }) => url.toLowerCase().includes(Staging.endpoint)),
        Layer.provide(Logs.layer(options.logs))
      )
    // the agent's routes ask nothing of a request, so what is left are the requirements of both
  )) as never

/**
 * An agent as a fetch handler: for edge runtimes, for frameworks that speak `Request` and `Response`, and for tests.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toWebHandler = <A extends Agent.Any, E>(
  agent: A,
  layer: Layer.Layer<Requires<A>, E>,
  options: Options & ServerHandler.Options = {}
): ServerHandler.Handler<ServerHandler.WebHandler> =>
  // an implementation is no scope
  ServerHandler.web(routesOf(agent, options), layer as Layer.Layer<any, E>, options)

/**
 * An agent as a handler of node's requests, for an Express app or a server of one's own: `app.use(handler)`. What goes wrong when it
 * starts goes to `next`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toNodeHandler = <A extends Agent.Any, E>(
  agent: A,
  layer: Layer.Layer<Requires<A>, E>,
  options: Options & ServerHandler.Options = {}
): ServerHandler.Handler<ServerHandler.NodeHandler> =>
  // as above
  ServerHandler.node(routesOf(agent, options), layer as Layer.Layer<any, E>, options)

const routesOf = <A extends Agent.Any>(agent: A, options: Options) =>
  Effect.map(app(agent, options), ({ routes }) => routes)
