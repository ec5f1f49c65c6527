/**
 * Node's HTTP server, with the front before the platform's router and an end that comes in time.
 *
 * @since 0.1.0
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import type * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as Correlation from "./Correlation.ts"
import * as EventStream from "./EventStream.ts"
import * as Exchange from "./Exchange.ts"
import * as Front from "./Front.ts"
import * as HostCheck from "./HostCheck.ts"
import { MaxBuffered } from "./internal/limits.ts"
import { NodeServer } from "./internal/nodeServer.ts"
import * as requests from "./internal/requests.ts"
import { NodeExchange, type Options as ExchangeOptions } from "./NodeExchange.ts"

/**
 * Where and how a server listens.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends HostCheck.Options {
  /** The port; 0 lets the system choose one. */
  readonly port: number
  /** The address or name to bind, such as `127.0.0.1` or `0.0.0.0`. */
  readonly host: string
  /** Bounds of what one connection may cost. */
  readonly limits?: {
    /** The bytes that the reader of an event stream may leave unread; 8 MiB by default. */
    readonly maxBuffered?: number | undefined
    /** The bytes of a request's head; 16 KiB by default, as in node. */
    readonly maxHeaderSize?: number | undefined
  } | undefined
  /** How long connections may last once the server closes; 500 ms by default. */
  readonly gracePeriod?: Duration.DurationInput | undefined
  /** How long a request's head may take to arrive; 10 s by default. */
  readonly headersTimeout?: Duration.DurationInput | undefined
  /** How long a whole request may take to arrive; 60 s by default. */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /** How long an idle connection is kept; 65 s by default, longer than the usual client keeps it. */
  readonly keepAliveTimeout?: Duration.DurationInput | undefined
}

/**
 * The server could not listen: `code` is the system's (`EADDRINUSE`, `EACCES`, `ENOTFOUND`, …).
 *
 * @since 0.1.0
 * @category errors
 */
export class ServeError extends Schema.TaggedError<ServeError>("@effect-agentenv/server/ServeError")("ServeError", {
  host: Schema.String,
  port: Schema.Number,
  code: Schema.String,
  cause: Schema.Defect
}) {
  /** @since 0.1.0 */
  override get message(): string {
    return `Cannot listen on ${this.host}:${this.port}: ${reasons[this.code] ?? this.code}`
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use",
  EACCES: "not permitted",
  EADDRNOTAVAIL: "the host is not an address of this machine",
  ENOTFOUND: "the host is unknown",
  ERR_SOCKET_BAD_PORT: "not a port number"
}

/**
 * What a layer of routes needs before it can be served.
 *
 * @since 0.1.0
 * @category models
 */
export type Requirements<R> = Exclude<
  | HttpLayerRouter.Request.Without<R>
  | Exclude<
    HttpLayerRouter.Request.Only<"Requires", R> | HttpLayerRouter.Request.Only<"GlobalRequires", R>,
    HttpLayerRouter.GlobalProvided
  >,
  HttpLayerRouter.HttpRouter
>

type App = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/**
 * Serves routes on node's HTTP server: those of `Route.layer` through the front, all others (and all, once a global
 * middleware is there) through the platform's router. `hosts` and `origins` guard both ways.
 *
 * It listens once the routes are built and fails with `ServeError` when it can't. On close it stops accepting; what runs
 * is interrupted, answered and its finalizers awaited; event streams end; after the grace all connections are closed.
 * `HttpServer.HttpServer` tells the bound address. What is inside `routes` is built for this server alone: a service that
 * others share is provided from outside.
 *
 * @since 0.1.0
 * @category layers
 */
export const serve = <A, E, R>(
  routes: Layer.Layer<A, E, R>,
  options: Options
): Layer.Layer<A | HttpServer.HttpServer, HttpLayerRouter.Request.Without<E> | ServeError, Requirements<R>> =>
  // What is fresh is built anew wherever it is mentioned, so it must stay around the whole.
  Layer.fresh(Layer.provideMerge(listening(options), Layer.provideMerge(routes, Front.layer))).pipe(
    Layer.provide(nodeServer(options))
    // The router's requirements of a request are those of its layer, as `HttpLayerRouter.serve` has it.
  ) as Layer.Layer<A | HttpServer.HttpServer, HttpLayerRouter.Request.Without<E> | ServeError, Requirements<R>>

/**
 * Serves routes on the `HttpServer` in context, through the platform's router alone.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <A, E, R>(
  routes: Layer.Layer<A, E, R>,
  options?: HostCheck.Options | undefined
): Layer.Layer<A, HttpLayerRouter.Request.Without<E>, HttpServer.HttpServer | Requirements<R>> =>
  Layer.fresh(
    Layer.provideMerge(
      Layer.unwrapEffect(
        Effect.map(
          HttpLayerRouter.HttpRouter,
          (router) => HttpServer.serve(checked(toApp(router), HostCheck.make(options ?? {})))
        )
      ),
      Layer.provideMerge(routes, Front.layer)
    )
    // As above.
  ) as Layer.Layer<A, HttpLayerRouter.Request.Without<E>, HttpServer.HttpServer | Requirements<R>>

class NodeServerTag extends Context.Tag("@effect-agentenv/server/NodeServer")<NodeServerTag, NodeServer>() {}

const nodeServer = (options: Options): Layer.Layer<NodeServerTag> =>
  Layer.scoped(
    NodeServerTag,
    Effect.acquireRelease(
      Effect.sync(() => {
        const node = createServer({
          headersTimeout: Duration.toMillis(options.headersTimeout ?? "10 seconds"),
          requestTimeout: Duration.toMillis(options.requestTimeout ?? "60 seconds"),
          keepAliveTimeout: Duration.toMillis(options.keepAliveTimeout ?? "65 seconds"),
          connectionsCheckingInterval: 1_000,
          ...(options.limits?.maxHeaderSize === undefined ? undefined : { maxHeaderSize: options.limits.maxHeaderSize })
        })
        return new NodeServer(node, Duration.toMillis(options.gracePeriod ?? "500 millis"))
      }),
      (server) => server.awaitClosed
    )
  )

const listening = (
  options: Options
): Layer.Layer<HttpServer.HttpServer, ServeError, NodeServerTag | HttpLayerRouter.HttpRouter> =>
  Layer.scoped(
    HttpServer.HttpServer,
    Effect.gen(function*() {
      const server = yield* NodeServerTag
      const router = yield* HttpLayerRouter.HttpRouter
      const runtime = yield* Effect.runtime<never>()
      const running = requests.make()
      const maxBuffered = options.limits?.maxBuffered ?? EventStream.defaultMaxBuffered
      const app = Effect.provideService(running.track(toApp(router)), MaxBuffered, maxBuffered)
      const check = HostCheck.make(options)
      const exchangeOptions = {
        maxBuffered,
        onDefect: (defect: unknown) => Correlation.report(Cause.die(defect), runtime)
      }
      const listener = toListener(
        server,
        Front.of(router) ?? Front.make(),
        yield* NodeHttpServer.makeHandler(app),
        check,
        exchangeOptions
      )
      server.node.on("request", listener)
      const inner = yield* listen(server, options)
      // A connection that could not be accepted (too many open files) is no reason to end.
      server.node.on("error", exchangeOptions.onDefect)
      // The platform's own `serve` is used for WebSockets alone: requests are ours.
      yield* inner.serve(app)
      for (const other of server.node.listeners("request")) {
        if (other !== listener) server.node.off("request", other as typeof listener)
      }
      if (check !== undefined) checkUpgrades(server, check)
      // Runs first on close, while the listeners still answer.
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          server.stop()
          return running.interrupt
        })
      )
      yield* announce(inner.address, options)
      return inner
    })
  )

const toListener = (
  server: NodeServer,
  front: Front.Front,
  rest: (req: IncomingMessage, res: ServerResponse) => void,
  check: HostCheck.HostCheck | undefined,
  options: ExchangeOptions
) =>
(req: IncomingMessage, res: ServerResponse): void => {
  if (server.stopping) res.shouldKeepAlive = false
  const refusal = check === undefined ? undefined : check(req.headers.host, req.headers.origin)
  if (refusal !== undefined) {
    return Exchange.json(new NodeExchange(req, res, options), refusal.status, { detail: refusal.detail })
  }
  const url = req.url!
  let hot = front.find(url)
  if (hot === undefined) {
    const mark = url.indexOf("?")
    if (mark !== -1) hot = front.find(url.slice(0, mark))
  }
  if (hot !== undefined) {
    const exchange = new NodeExchange(req, res, options)
    try {
      hot(exchange)
    } catch (defect) {
      exchange.fail(defect)
    }
  } else if (server.stopping) {
    Exchange.json(new NodeExchange(req, res, options), 503, { detail: "Server is shutting down" })
  } else {
    rest(req, res)
  }
}

const listen = (server: NodeServer, options: Options): Effect.Effect<HttpServer.HttpServer, ServeError, Scope.Scope> =>
  NodeHttpServer.make(() => server.node, {
    port: options.port,
    host: options.host,
    // Hundreds of rollouts start at once; the system's own bound (`somaxconn`) applies too.
    backlog: 4096
  }).pipe(
    Effect.catchAll((error: HttpServerError.ServeError) => Effect.fail(error.cause)),
    // A port out of range is thrown by node.
    Effect.catchAllDefect(Effect.fail),
    Effect.mapError((cause) => new ServeError({ host: options.host, port: options.port, code: codeOf(cause), cause }))
  )

const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : String(cause)

const checkUpgrades = (server: NodeServer, check: HostCheck.HostCheck): void => {
  const upgrades = server.node.listeners("upgrade")
  server.node.removeAllListeners("upgrade")
  server.node.on("upgrade", (req, socket, head) => {
    const refusal = check(req.headers.host, req.headers.origin)
    if (refusal === undefined) {
      for (const upgrade of upgrades) upgrade.call(server.node, req, socket, head)
    } else {
      socket.end(`HTTP/1.1 ${refusal.status} ${refusal.detail}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    }
  })
}

const announce = (address: HttpServer.Address, options: Options): Effect.Effect<void> =>
  Effect.gen(function*() {
    yield* Effect.logInfo(`Listening on ${format(address)}`)
    const everywhere = options.host === "0.0.0.0" || options.host === "::"
    if (everywhere && HostCheck.make({ hosts: options.hosts }) === undefined) {
      yield* Effect.logWarning(
        `Bound to ${options.host} without a list of allowed hosts: every web page that reaches this machine can call it`
      )
    }
  })

const format = (address: HttpServer.Address): string =>
  address._tag === "TcpAddress" && address.hostname.includes(":")
    ? `http://[${address.hostname}]:${address.port}`
    : HttpServer.formatAddress(address)

// Unknown paths and defects answer as the front's listeners would; typed failures keep their platform meaning.
const toApp = (router: HttpLayerRouter.HttpRouter): App =>
  Effect.catchAllCause(router.asHttpEffect(), (cause): App => {
    const failure = Cause.failureOption(cause)
    if (failure._tag === "Some" && isNotFound(failure.value)) return Effect.succeed(notFound)
    const defects = Cause.defects(cause)
    if (Chunk.isEmpty(defects) || Chunk.some(defects, HttpServerResponse.isServerResponse)) {
      return Effect.failCause(cause)
    }
    return Effect.map(
      Correlation.reportEffect(cause),
      (sentence) => HttpServerResponse.text(sentence, { status: 500 })
    )
  })

const isNotFound = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "RouteNotFound"

const notFound = HttpServerResponse.unsafeJson({ detail: "Not Found" }, { status: 404 })

const checked = (app: App, check: HostCheck.HostCheck | undefined): App =>
  check === undefined ? app : Effect.flatMap(HttpServerRequest.HttpServerRequest, (request): App => {
    const refusal = check(request.headers["host"], request.headers["origin"])
    return refusal === undefined
      ? app
      : Effect.succeed(HttpServerResponse.unsafeJson({ detail: refusal.detail }, { status: refusal.status }))
  })
