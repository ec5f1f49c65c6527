/**
 * Routes inside a server that somebody else runs: a fetch handler, or node's and Express'.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import type * as HostCheck from "./HostCheck.ts"
import * as InProcess from "./InProcess.ts"
import * as nodeListener from "./internal/nodeListener.ts"
import type * as Route from "./Route.ts"

/**
 * `hosts` and `origins` switch the checks of the `Host` and `Origin` headers on; `maxBuffered` are the bytes that the reader of an
 * event stream may leave unread (8 MiB).
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends HostCheck.Options {
  readonly maxBuffered?: number | undefined
}

/**
 * A handler and its end. What answers starts with the first request, or with `ready`, which rejects with what is wrong with the
 * routes or the layer. `dispose` answers and awaits what runs; later requests get a 503.
 *
 * @since 0.1.0
 * @category models
 */
export interface Handler<F> {
  readonly handler: F
  readonly ready: () => Promise<void>
  readonly dispose: () => Promise<void>
}

/**
 * What answers fetch requests. The request's `signal` and the cancellation of a response's body are the client's leaving, which
 * interrupts the call.
 *
 * @since 0.1.0
 * @category models
 */
export type WebHandler = (request: Request) => Promise<Response>

/**
 * What answers node's requests, as a listener of `createServer` or in `app.use` of Express: paths that are not among the routes go
 * on to `next`, and are a 404 without one. A body that an earlier middleware parsed (`express.json()`) is taken from `request.body`.
 *
 * @since 0.1.0
 * @category models
 */
export type NodeHandler = (
  request: IncomingMessage & { readonly body?: unknown },
  response: ServerResponse,
  next?: (error?: unknown) => void
) => void

class Routes extends Context.Tag("@effect-agentenv/server/Handler/Routes")<Routes, ReadonlyArray<Route.Route>>() {}

const start = <E, R, E2, A>(
  routes: Effect.Effect<ReadonlyArray<Route.Route>, E, R | Scope.Scope>,
  layer: Layer.Layer<Exclude<R, Scope.Scope>, E2>,
  listen: Effect.Effect<A, never, Routes>
) => {
  const runtime = ManagedRuntime.make(Layer.provide(Layer.scoped(Routes, routes), layer))
  let listener: Promise<A> | undefined = undefined
  let disposed = false
  return {
    get disposed(): boolean {
      return disposed
    },
    listener: (): Promise<A> => listener ??= runtime.runPromise(listen),
    dispose: (): Promise<void> => {
      disposed = true
      return runtime.dispose()
    }
  }
}

const closed = JSON.stringify({ detail: "Server is shutting down" })
const jsonType = { "content-type": "application/json" }

const refuse = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, jsonType)
  response.end(body)
}

/**
 * Routes as a fetch handler: for edge runtimes, for frameworks that speak `Request` and `Response`, and for tests. The layer is
 * built with the routes and ends with them.
 *
 * @since 0.1.0
 * @category constructors
 */
export const web = <E, R, E2>(
  routes: Effect.Effect<ReadonlyArray<Route.Route>, E, R | Scope.Scope>,
  layer: Layer.Layer<Exclude<R, Scope.Scope>, E2>,
  options: Options = {}
): Handler<WebHandler> => {
  const running = start(routes, layer, Effect.map(Routes, (routes) => InProcess.fetch(routes, options)))
  return {
    handler: (request) =>
      running.disposed
        ? Promise.resolve(new Response(closed, { status: 503, headers: jsonType }))
        : running.listener().then((fetch) => fetch(request)),
    ready: () => running.listener().then(() => {}),
    dispose: running.dispose
  }
}

/**
 * Routes as a handler of node's requests, for an Express app or a server of one's own: `app.use(handler)`. What goes wrong when
 * they start goes to `next`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const node = <E, R, E2>(
  routes: Effect.Effect<ReadonlyArray<Route.Route>, E, R | Scope.Scope>,
  layer: Layer.Layer<Exclude<R, Scope.Scope>, E2>,
  options: Options = {}
): Handler<NodeHandler> => {
  const listen = Effect.flatMap(
    Routes,
    (routes) => Effect.map(Effect.runtime<never>(), (runtime) => nodeListener.make(routes, options, runtime))
  )
  const running = start(routes, layer, listen)
  let started: nodeListener.NodeListener | undefined = undefined
  const ready = () =>
    running.listener().then((listener) => {
      started = listener
      return listener
    })
  return {
    handler: (request, response, next) => {
      if (started !== undefined) return started(request, response, next)
      if (running.disposed) return next === undefined ? refuse(response, 503, closed) : next()
      ready().then((listener) => listener(request, response, next), (error) => {
        if (next === undefined) refuse(response, 500, JSON.stringify({ detail: "The server did not start" }))
        else next(error)
      })
    },
    ready: () => ready().then(() => {}),
    dispose: running.dispose
  }
}
