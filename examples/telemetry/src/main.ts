/**
 * Spans of an environment, from the agent that calls it down to the author's own code.
 *
 * `npm start -w examples/telemetry` serves a library on a free port, calls its tool as an agent would, exports the spans of both by
 * OTLP to a collector's stand-in, and prints the trace. Give `telemetry` a real collector's URL and it goes there.
 */
import { ToolClient } from "@effect-agentenv/client"
import { Environment, EnvironmentServer, Tool } from "@effect-agentenv/environment"
import { OtlpSerialization, OtlpTracer } from "@effect/opentelemetry"
import { HttpServer } from "@effect/platform"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Logger, LogLevel, Ref, Schema } from "effect"
import * as Collector from "./Collector.ts"

// --- The environment ----------------------------------------------------------------------------------------------------

const Lend = Tool.make("{environment_name}_lend", {
  description: "Lend a book to a reader.",
  parameters: { title: Schema.String },
  success: Schema.String
})

const Library = Environment.make("library", { tools: [Lend] })

const LibraryLive = Library.toLayer(Effect.gen(function*() {
  const lent = yield* Ref.make<ReadonlyArray<string>>([])
  // A span of the author's own: what is made with `Effect.fn` shows below the tool's.
  const lend = Effect.fn("Library.lend")(function*(title: string) {
    yield* Effect.annotateCurrentSpan("library.title.length", title.length)
    yield* Ref.update(lent, (all) => [...all, title])
    return `Here is ${title}.`
  })
  return {
    reset: Ref.set(lent, []),
    tools: { "{environment_name}_lend": ({ title }) => lend(title) }
  }
}))

// --- Its telemetry ------------------------------------------------------------------------------------------------------

/** The spans of one service, exported to a collector as OTLP/HTTP JSON. What is left is sent when the layer closes. */
const telemetry = (serviceName: string) =>
  Layer.unwrapEffect(
    Effect.map(Collector.Collector, ({ url }) => OtlpTracer.layer({ url, resource: { serviceName } }))
  ).pipe(Layer.provide([OtlpSerialization.layerJson, NodeHttpClient.layer]))

const Served = EnvironmentServer.serve(Library, { host: "127.0.0.1", port: 0 }).pipe(
  Layer.provide(LibraryLive),
  Layer.provide(telemetry("library"))
)

const Tools = Layer.unwrapEffect(
  HttpServer.addressFormattedWith((baseUrl) => Effect.succeed(ToolClient.layer({ baseUrl })))
).pipe(Layer.provide(NodeHttpClient.layer))

// --- An agent that calls it ---------------------------------------------------------------------------------------------

/** Its HTTP client sends the `traceparent` of its span along. */
const agent = Effect.flatMap(ToolClient.ToolClient, (tools) => tools.callTool("library_lend", { title: "Emma" })).pipe(
  Effect.withSpan("agent.turn"),
  Effect.provide(telemetry("agent"))
)

/** The spans of the turn, exported and received. */
export const trace = Effect.gen(function*() {
  yield* Effect.provide(agent, Layer.provideMerge(Tools, Served))
  const spans = yield* Effect.flatMap(Collector.Collector, ({ spans }) => spans)
  const turn = spans.find(({ name }) => name === "agent.turn")
  return spans.filter(({ traceId }) => traceId === turn?.traceId)
}).pipe(Effect.provide(Collector.layer))

// --- The trace ----------------------------------------------------------------------------------------------------------

const shown: ReadonlySet<string> = new Set(["mcp.method.name", "gen_ai.tool.name", "http.request.body.size"])

/** The spans below one, each line under its parent. */
export const tree = (
  spans: ReadonlyArray<Collector.Received>,
  parent: string | undefined = undefined,
  depth = 0
): ReadonlyArray<string> =>
  spans.filter(({ parentSpanId }) => parentSpanId === parent).flatMap((span) => {
    const attributes = Object.entries(span.attributes).filter(([key]) => shown.has(key))
    const details = attributes.map(([key, value]) => ` ${key}=${String(value)}`).join("")
    return [
      `${span.service.padEnd(8)} ${"  ".repeat(depth)}${span.name}${details}`,
      ...tree(spans, span.spanId, depth + 1)
    ]
  })

if (process.argv[1] === import.meta.filename) {
  trace.pipe(
    Effect.flatMap((spans) => Console.log(tree(spans).join("\n"))),
    Logger.withMinimumLogLevel(LogLevel.Warning),
    NodeRuntime.runMain
  )
}
