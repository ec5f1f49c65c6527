/**
 * Whether the server is up.
 *
 * @since 0.1.0
 */
import type * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import type * as Layer from "effect/Layer"
import * as Exchange from "./Exchange.ts"
import * as Route from "./Route.ts"

/**
 * `GET /health` answers 200 `{"status":"ok"}` (B-CARD-14).
 *
 * @since 0.1.0
 * @category constructors
 */
export const route: Route.Route = Route.make("GET", "/health", (exchange) => {
  Exchange.json(exchange, 200, { status: "ok" })
})

/**
 * The health route as a layer.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never, Route.RouteCollision, HttpLayerRouter.HttpRouter> = Route.layer([route])
