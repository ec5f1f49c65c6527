/**
 * @since 0.1.0
 */
import * as BodyReader from "@effect-agentenv/server/BodyReader"
import * as BodyWriter from "@effect-agentenv/server/BodyWriter"
import * as Calls from "@effect-agentenv/server/Calls"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Exchange from "@effect-agentenv/server/Exchange"
import * as Route from "@effect-agentenv/server/Route"
import type * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { decode, invalid } from "./internal/stagingPath.ts"
import * as Staging from "./Staging.ts"
import { StagingError } from "./StagingError.ts"

type Handler = (
  exchange: Exchange.Exchange,
  target: Target
) => Effect.Effect<void, StagingError | BodyReader.BodyAborted, Staging.Staging>

/** An object, or with a slash at the end of its path a prefix. */
interface Target {
  readonly path: string
  readonly isPrefix: boolean
}

const prefixOnly = new StagingError({
  reason: "PrefixOnly",
  detail: "A prefix can be listed and cleared, nothing else"
})

const toTarget = (url: string): Effect.Effect<Target, StagingError> =>
  Effect.flatMap(
    // an application may have mounted us below a path of its own
    decode(url.slice(url.indexOf(`${Staging.endpoint}/`) + Staging.endpoint.length + 1)),
    (path) =>
      path === "" || path === "/"
        ? Effect.fail(invalid)
        : Effect.succeed(path.endsWith("/") ? { path: path.slice(0, -1), isPrefix: true } : { path, isPrefix: false })
  )

const get: Handler = (exchange, { isPrefix, path }) =>
  isPrefix
    ? Effect.flatMap(Staging.Staging, (staging) =>
      Effect.map(staging.list(path), (objects) => Exchange.json(exchange, 200, { objects })))
    : Effect.scoped(Effect.gen(function*() {
      const { content, etag, size_bytes } = yield* (yield* Staging.Staging).get(path)
      yield* BodyWriter.send(
        exchange,
        200,
        ["content-type", "application/octet-stream", "etag", etag],
        size_bytes,
        content
      )
    }))

const remove: Handler = (exchange, { isPrefix, path }) =>
  Effect.flatMap(
    Staging.Staging,
    (staging) => isPrefix ? staging.clear(path) : staging.remove(path, { ifMatch: exchange.header("if-match") })
  ).pipe(Effect.map(() => exchange.reply(204, [], "")))

/** A handler of a body, which is given up whatever happens. */
const receive = (
  store: (
    exchange: Exchange.Exchange,
    path: string,
    reader: BodyReader.BodyReader
  ) => Effect.Effect<Staging.StagedObject, StagingError | BodyReader.BodyAborted, Staging.Staging>
): Handler =>
(exchange, { isPrefix, path }) =>
  Effect.suspend(() => {
    const reader = exchange.read()
    return (isPrefix ? Effect.fail(prefixOnly) : store(exchange, path, reader)).pipe(
      Effect.ensuring(Effect.sync(() => reader.cancel())),
      Effect.map((object) => Exchange.json(exchange, 201, object))
    )
  })

const put: Handler = receive((exchange, path, reader) => {
  const length = exchange.header("content-length")
  return Effect.flatMap(
    Staging.Staging,
    (staging) =>
      staging.put(path, BodyReader.toStream(reader), { size: length === undefined ? undefined : Number(length) })
  )
})

const post: Handler = receive((exchange, path, reader) =>
  Staging.post(path, { contentType: exchange.header("content-type"), content: BodyReader.toStream(reader) })
)

const detail = (exchange: Exchange.Exchange, status: number, detail: string): void =>
  Exchange.json(exchange, status, { detail })

/** Answers for a call that failed; one that has begun to answer was cut already. */
const fail = (
  calls: Calls.Calls<Staging.Staging>,
  exchange: Exchange.Exchange,
  cause: Cause.Cause<StagingError | BodyReader.BodyAborted>
): void => {
  const failure = Cause.failureOption(cause)
  if (failure._tag === "Some") {
    const error = failure.value
    if (error._tag === "BodyAborted") return detail(exchange, 400, error.message)
    if (error.status >= 500) Correlation.report(cause, calls.runtime)
    return detail(exchange, error.status, error.detail)
  }
  if (Cause.isInterruptedOnly(cause)) {
    if (calls.closing) detail(exchange, 503, "Server is shutting down")
    return
  }
  detail(exchange, 500, Correlation.report(cause, calls.runtime))
}

/**
 * The one route of a store, `/ext/staging/*`: `PUT`, `GET` and `DELETE` of objects, `GET` and `DELETE` of prefixes, `POST` of forms
 * (B-STG-3). Bodies stream both ways, errors are `{"detail": text}` (B-STG-12). No route for a store that is off (B-STG-2).
 *
 * A large object takes longer than the minute that a server grants a request by default: serve it with a `requestTimeout` to match.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<ReadonlyArray<Route.Route>, never, Staging.Staging | Scope.Scope> = Effect.gen(
  function*() {
    const { maxBytes } = yield* Staging.Staging
    if (maxBytes === 0) return []
    const calls = yield* Calls.make<Staging.Staging>()
    const listen = (name: string, handler: Handler): Exchange.Listener => {
      // the path is a secret, which no span may tell
      const options: Calls.RunOptions<void, StagingError | BodyReader.BodyAborted> = { name, path: Staging.endpoint }
      return (exchange) =>
        calls.run(
          exchange,
          Effect.flatMap(toTarget(exchange.path), (target) => handler(exchange, target)),
          calls.runtime,
          (exit) => {
            if (exit._tag === "Failure") fail(calls, exchange, exit.cause)
          },
          options
        )
    }
    return [{
      path: `${Staging.endpoint}/*`,
      methods: {
        GET: listen("staging.get", get),
        PUT: listen("staging.put", put),
        POST: listen("staging.post", post),
        DELETE: listen("staging.delete", remove)
      }
    }]
  }
)

/**
 * The route of a store, beside those of an agent or of an application of one's own.
 *
 * @since 0.1.0
 * @category layers
 */
export const routes: Layer.Layer<never, Route.RouteCollision, Staging.Staging | HttpLayerRouter.HttpRouter> = Route
  .layer(
    make
  )
