/**
 * An environment inside a server that somebody else runs: a fetch handler, or node's and Express'.
 *
 * @since 0.1.0
 */
import * as Handler from "@effect-agentenv/server/Handler"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Environment from "./Environment.ts"
import type { Options, Requires, Serving } from "./EnvironmentServer.ts"
import { app } from "./internal/app.ts"
import { mount, type SdkServer } from "./Mount.ts"

/**
 * How an environment is handled. `mount` is an MCP server of one's own, which serves MCP in the environment's place. `hosts` and
 * `origins` switch the checks of the `Host` and `Origin` headers on; `maxBuffered` are the bytes that the reader of an event stream
 * may leave unread (8 MiB).
 *
 * @since 0.1.0
 * @category models
 */
export interface HandlerOptions extends Options, Handler.Options {
  readonly mount?: SdkServer | undefined
}

const routesOf = <Env extends Environment.Any>(env: Env, options: HandlerOptions & Serving<Env>) =>
  Effect.map(
    options.mount === undefined ? app(env, options) : mount(env, options.mount, options),
    ({ routes }) => routes
  )

/**
 * An environment as a fetch handler: for edge runtimes, for frameworks that speak `Request` and `Response`, and for tests.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toWebHandler = <Env extends Environment.Any, E>(
  env: Env,
  layer: Layer.Layer<Requires<Env>, E>,
  options: HandlerOptions & Serving<NoInfer<Env>> = {}
): Handler.Handler<Handler.WebHandler> =>
  // an implementation is no scope
  Handler.web(routesOf(env, options), layer as Layer.Layer<any, E>, options)

/**
 * An environment as a handler of node's requests, for an Express app or a server of one's own: `app.use(handler)`. What goes wrong
 * when it starts goes to `next`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toNodeHandler = <Env extends Environment.Any, E>(
  env: Env,
  layer: Layer.Layer<Requires<Env>, E>,
  options: HandlerOptions & Serving<NoInfer<Env>> = {}
): Handler.Handler<Handler.NodeHandler> =>
  // as above
  Handler.node(routesOf(env, options), layer as Layer.Layer<any, E>, options)
