/** A stand-in for an OpenTelemetry collector: it receives spans as OTLP/HTTP JSON and keeps them. */
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Effect, Layer, Ref, Schema } from "effect"
import { createServer } from "node:http"

const Attribute = Schema.Struct({
  key: Schema.String,
  value: Schema.Record({ key: Schema.String, value: Schema.Unknown })
})

/** What this collector reads of a span; there is more in it. */
const Span = Schema.Struct({
  traceId: Schema.String,
  spanId: Schema.String,
  parentSpanId: Schema.optional(Schema.String),
  name: Schema.String,
  attributes: Schema.Array(Attribute)
})

const Export = Schema.Struct({
  resourceSpans: Schema.Array(Schema.Struct({
    resource: Schema.Struct({ attributes: Schema.Array(Attribute) }),
    scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Span) }))
  }))
})

export interface Received {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly attributes: Readonly<Record<string, unknown>>
}

const record = (attributes: ReadonlyArray<typeof Attribute.Type>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

const received = ({ resourceSpans }: typeof Export.Type): ReadonlyArray<Received> =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ attributes, name, parentSpanId, spanId, traceId }) => ({
        service: String(record(resource.attributes)["service.name"]),
        traceId,
        spanId,
        parentSpanId,
        name,
        attributes: record(attributes)
      }))
    )
  )

/** Where spans are sent to, and those that have come. */
export class Collector extends Context.Tag("telemetry/Collector")<Collector, {
  readonly url: string
  readonly spans: Effect.Effect<ReadonlyArray<Received>>
}>() {}

/** A collector on a free port of this machine. */
export const layer: Layer.Layer<Collector> = Layer.scoped(
  Collector,
  Effect.gen(function*() {
    const spans = yield* Ref.make<ReadonlyArray<Received>>([])
    const server = yield* HttpServer.HttpServer
    yield* HttpRouter.empty.pipe(
      HttpRouter.post(
        "/v1/traces",
        HttpServerRequest.schemaBodyJson(Export).pipe(
          Effect.flatMap((sent) => Ref.update(spans, (all) => [...all, ...received(sent)])),
          Effect.zipRight(HttpServerResponse.json({ partialSuccess: {} }))
        )
      ),
      HttpServer.serveEffect()
    )
    return { url: `${HttpServer.formatAddress(server.address)}/v1/traces`, spans: Ref.get(spans) }
  })
).pipe(Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })), Layer.orDie)
