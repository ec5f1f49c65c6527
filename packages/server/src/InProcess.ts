/**
 * Routes without a port: a fetch handler and an HTTP client that call their listeners directly.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import * as Correlation from "./Correlation.ts"
import * as Exchange from "./Exchange.ts"
import * as Front from "./Front.ts"
import * as HostCheck from "./HostCheck.ts"
import type * as NodeExchange from "./NodeExchange.ts"
import * as Route from "./Route.ts"
import * as WebExchange from "./WebExchange.ts"

/**
 * What a server would check and bound, for routes without one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends HostCheck.Options {
  /** The bytes that the reader of an event stream may leave unread; 8 MiB by default. */
  readonly maxBuffered?: number | undefined
}

/**
 * A fetch handler that answers with these routes, as `Server.serve` would: 404 for an unknown path, 405 for a wrong verb,
 * a correlation id for a listener that throws. The request's `signal` and the cancellation of a response's body are the
 * client's leaving. Throws `RouteCollision` when two routes share a path.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fetch = (
  routes: ReadonlyArray<Route.Route>,
  options: Options = {}
): (request: Request) => Promise<Response> => {
  const front = Front.make()
  const paths = new Set<string>()
  for (const route of routes) {
    if (paths.has(route.path)) throw new Route.RouteCollision({ path: route.path })
    paths.add(route.path)
    front.add(route.path, Route.toListener(route))
  }
  const check = HostCheck.make(options)
  const exchangeOptions: NodeExchange.Options = {
    maxBuffered: options.maxBuffered,
    onDefect: (defect) => Correlation.report(Cause.die(defect), Runtime.defaultRuntime)
  }
  const listener: Exchange.Listener = (exchange) => {
    const refusal = check?.(exchange.header("host"), exchange.header("origin"))
    if (refusal !== undefined) return Exchange.json(exchange, refusal.status, { detail: refusal.detail })
    const found = front.find(exchange.path) ?? front.find(exchange.path.replace(/\/$/, ""))
    if (found === undefined) return Exchange.json(exchange, 404, { detail: "Not Found" })
    found(exchange)
  }
  return (request) => WebExchange.respond(request, listener, exchangeOptions)
}

/**
 * An HTTP client whose requests go straight to these routes. Relative URLs (`/health`) work; responses stream; an
 * interrupted request, or an interrupted reading of its response, is a client that left.
 *
 * @since 0.1.0
 * @category constructors
 */
export const httpClient = (
  routes: ReadonlyArray<Route.Route>,
  options?: Options | undefined
): HttpClient.HttpClient => {
  const handler = fetch(routes, options)
  return HttpClient.make((request, url, signal) =>
    Effect.flatMap(toBody(request), (body) =>
      Effect.tryPromise({
        try: () => handler(new Request(url, { ...body, method: request.method, headers: request.headers, signal })),
        catch: (cause) => new HttpClientError.RequestError({ request, reason: "Transport", cause })
      })).pipe(Effect.map((response) => HttpClientResponse.fromWeb(request, response)))
  ).pipe(
    HttpClient.mapRequest((request) =>
      request.url.startsWith("/") ? HttpClientRequest.prependUrl(request, "http://localhost") : request
    )
  )
}

/**
 * `httpClient` as a layer.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  routes: ReadonlyArray<Route.Route>,
  options?: Options | undefined
): Layer.Layer<HttpClient.HttpClient> => Layer.sync(HttpClient.HttpClient, () => httpClient(routes, options))

const toBody = (request: HttpClientRequest.HttpClientRequest): Effect.Effect<RequestInit> => {
  const body = request.body
  switch (body._tag) {
    case "Empty":
      return Effect.succeed({})
    case "Raw":
    case "Uint8Array":
      // What a client puts into a raw body is its own affair, as with fetch.
      return Effect.succeed({ body: body.body as BodyInit })
    case "FormData":
      return Effect.succeed({ body: body.formData })
    case "Stream":
      return Effect.map(
        Stream.toReadableStreamEffect(body.stream),
        (stream): RequestInit & { readonly duplex: "half" } => ({ body: stream, duplex: "half" })
      )
  }
}
