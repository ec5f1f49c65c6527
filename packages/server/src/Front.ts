/**
 * The table of hot paths that a server consults before the platform's router.
 *
 * @since 0.1.0
 */
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Exchange from "./Exchange.ts"

/**
 * Listeners by exact path, and by prefix for those whose path ends in `/*`: the longest that fits. A front belongs to one router and knows what that router answers too: it only saves the way
 * through it. The moment a global middleware is installed it finds nothing any more, and every request takes the way
 * through the router, so no middleware is ever skipped.
 *
 * @since 0.1.0
 * @category models
 */
export interface Front {
  /** The listener of a path, unless a middleware must be asked first. */
  readonly find: (path: string) => Exchange.Listener | undefined
  readonly add: (path: string, listener: Exchange.Listener) => void
  /** Turns the front off for good. */
  readonly disable: () => void
}

class FrontImpl implements Front {
  private readonly table = new Map<string, Exchange.Listener>()
  private prefixes: ReadonlyArray<readonly [prefix: string, listener: Exchange.Listener]> = []
  private enabled = true
  find(path: string): Exchange.Listener | undefined {
    return this.enabled ? this.table.get(path) ?? this.findPrefix(path) : undefined
  }
  add(path: string, listener: Exchange.Listener): void {
    if (!path.endsWith("/*")) return void this.table.set(path, listener)
    const prefix = path.slice(0, -1)
    const longer = this.prefixes.filter(([other]) => other.length > prefix.length)
    this.prefixes = [...longer, [prefix, listener], ...this.prefixes.slice(longer.length)]
  }
  private findPrefix(path: string): Exchange.Listener | undefined {
    for (const [prefix, listener] of this.prefixes) {
      if (path.startsWith(prefix)) return listener
    }
    return undefined
  }
  disable(): void {
    this.enabled = false
  }
}

// A front is found by its router's identity, so a prefixed or wrapped router, whose paths or answers differ, has none.
const fronts = new WeakMap<HttpLayerRouter.HttpRouter, Front>()

/**
 * An empty front.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (): Front => new FrontImpl()

/**
 * The front of a router, if it has one.
 *
 * @since 0.1.0
 * @category combinators
 */
export const of = (router: HttpLayerRouter.HttpRouter): Front | undefined => fronts.get(router)

/**
 * The platform's router with a front before it, case-sensitive and with long path parameters. `Server.serve` builds on
 * it; a server that does not consult the front may use it all the same.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpLayerRouter.HttpRouter> = Layer.effect(
  HttpLayerRouter.HttpRouter,
  Effect.map(HttpLayerRouter.make, (inner) => {
    const front = make()
    const router = HttpLayerRouter.HttpRouter.of({
      ...inner,
      addGlobalMiddleware: (middleware) =>
        Effect.suspend(() => {
          front.disable()
          return inner.addGlobalMiddleware(middleware)
        })
    })
    fronts.set(router, front)
    return router
  })
).pipe(
  Layer.provide(Layer.succeed(HttpLayerRouter.RouterConfig, { caseSensitive: true, maxParamLength: 1024 }))
)

const middlewarePrefix = "@effect/platform/HttpLayerRouter/Middleware-"

/**
 * Whether the layer being built was given a middleware for its routes: the platform keeps it in the context under keys
 * of its own, which this looks for.
 *
 * @since 0.1.0
 * @category combinators
 */
export const hasRouteMiddleware: Effect.Effect<boolean> = Effect.map(Effect.context<never>(), (context) => {
  for (const key of context.unsafeMap.keys()) {
    if (key.startsWith(middlewarePrefix)) return true
  }
  return false
})
