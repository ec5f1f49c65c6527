/**
 * Routes as data: a path and a listener for each verb.
 *
 * @since 0.1.0
 */
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Exchange from "./Exchange.ts"
import * as Front from "./Front.ts"
import * as routerExchange from "./internal/routerExchange.ts"

/**
 * A path and its listeners by verb in upper case. The path is exact, or ends in `/*` and stands for all that begin with
 * what is before the `*` and have no route of their own (`/files/*`: `/files/` and `/files/a/b`; `/files` is 404). Verbs that are not listed answer 405 with `Allow`; `HEAD` runs
 * the `GET` listener unless it has its own or `head` is false.
 *
 * @since 0.1.0
 * @category models
 */
export interface Route {
  readonly path: string
  readonly methods: Readonly<Record<string, Exchange.Listener>>
  readonly head?: boolean | undefined
}

/**
 * Two routes claim one path. A path belongs to one route, whatever its verbs.
 *
 * @since 0.1.0
 * @category errors
 */
export class RouteCollision extends Schema.TaggedError<RouteCollision>("@effect-agentenv/server/RouteCollision")(
  "RouteCollision",
  { path: Schema.String }
) {
  /** @since 0.1.0 */
  override get message(): string {
    return `The path ${this.path} already belongs to another route`
  }
}

/**
 * A route of one verb.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (method: string, path: string, listener: Exchange.Listener): Route => ({
  path,
  methods: { [method]: listener }
})

/**
 * The listener of a whole route: it chooses by verb and answers 405 itself.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toListener = (route: Route): Exchange.Listener => {
  const table: Record<string, Exchange.Listener> = Object.assign(Object.create(null), route.methods)
  const get = table["GET"]
  if (get !== undefined && table["HEAD"] === undefined && route.head !== false) table["HEAD"] = get
  const allow = ["allow", Object.keys(table).join(", ")]
  const refuse: Exchange.Listener = (exchange) => Exchange.json(exchange, 405, { detail: "Method Not Allowed" }, allow)
  return (exchange) => (table[exchange.method] ?? refuse)(exchange)
}

const addToRouter = (
  router: HttpLayerRouter.HttpRouter,
  path: string,
  listener: Exchange.Listener
): Effect.Effect<void, RouteCollision> =>
  // A path that lacks its slash is refused by the router, as any other mistake of the caller's.
  router.add("*", path as HttpLayerRouter.PathInput, routerExchange.handler(listener)).pipe(
    Effect.catchAllDefect((defect) =>
      String(defect).includes("already declared") ? Effect.fail(new RouteCollision({ path })) : Effect.die(defect)
    )
  )

const slashOnly = (listener: Exchange.Listener): Exchange.Listener => (exchange) =>
  exchange.path.endsWith("/") ? listener(exchange) : Exchange.json(exchange, 404, { detail: "Not Found" })

/**
 * Adds routes to the router in context, and to its front when it has one and no middleware of the route's layer could
 * have a say. Fails with `RouteCollision` on a path that is taken.
 *
 * @since 0.1.0
 * @category combinators
 */
export const add = (
  routes: ReadonlyArray<Route>
): Effect.Effect<void, RouteCollision, HttpLayerRouter.HttpRouter> =>
  Effect.gen(function*() {
    const router = yield* HttpLayerRouter.HttpRouter
    const front = (yield* Front.hasRouteMiddleware) ? undefined : Front.of(router)
    for (const route of routes) {
      const listener = toListener(route)
      yield* addToRouter(router, route.path, listener)
      // The router takes the slash off a path, which leaves `/files/` without the route of `/files/*`.
      if (route.path.endsWith("/*") && route.path !== "/*") {
        yield* addToRouter(router, route.path.slice(0, -2), slashOnly(listener))
      }
      if (front !== undefined) {
        front.add(route.path, listener)
      }
    }
  })

/**
 * A layer of routes: the routes themselves, or an effect that makes them (in the layer's scope, so that what it starts
 * ends with the server).
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <E = never, R = never>(
  routes: ReadonlyArray<Route> | Effect.Effect<ReadonlyArray<Route>, E, R>
): Layer.Layer<never, E | RouteCollision, HttpLayerRouter.HttpRouter | Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(Effect.isEffect(routes) ? Effect.flatMap(routes, add) : add(routes))
