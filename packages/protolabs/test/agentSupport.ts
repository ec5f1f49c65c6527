import { Agent, AgentServer, type TaskRequest, type TaskResult } from "@effect-agentenv/agent"
import type { Task as AgentTask } from "@effect-agentenv/agent"
import { HttpClient, HttpClientRequest, HttpClientResponse, type HttpLayerRouter, HttpServer } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { ConfigProvider, Effect, Layer, Logger, LogLevel, type Scope, Stream } from "effect"

type Options = AgentServer.ServeOptions<never, HttpLayerRouter.HttpRouter>

const Pilot = Agent.make("pilot", { description: "Guides ships.", version: "1.0.0", streaming: true })

/** How an agent is asked over the wire of 1.0, or of 0.3. */
export interface Asking {
  readonly url: string
  readonly events: (text: string, wire?: "0.3" | "1.0") => Effect.Effect<ReadonlyArray<unknown>, Error>
  readonly get: (id: string) => Effect.Effect<unknown, Error>
  readonly client: HttpClient.HttpClient
}

const message = { messageId: "m", parts: [] }

const calls = {
  "1.0": (text: string) => ({
    method: "SendStreamingMessage",
    params: { message: { ...message, role: "ROLE_USER", parts: [{ text }] } }
  }),
  "0.3": (text: string) => ({
    method: "message/stream",
    params: { message: { ...message, kind: "message", role: "user", parts: [{ kind: "text", text }] } }
  })
}

const post = (url: string, wire: string, call: object) =>
  HttpClientRequest.post(`${url}/a2a`).pipe(
    HttpClientRequest.setHeaders(wire === "1.0" ? { "a2a-version": wire } : {}),
    HttpClientRequest.bodyUnsafeJson({ jsonrpc: "2.0", id: 1, ...call })
  )

const asking = Effect.gen(function*() {
  const client = yield* HttpClient.HttpClient
  return yield* HttpServer.addressFormattedWith((url): Effect.Effect<Asking> =>
    Effect.succeed({
      url,
      client,
      events: (text, wire = "1.0") =>
        HttpClientResponse.stream(client.execute(post(url, wire, calls[wire](text)))).pipe(
          Stream.decodeText(),
          Stream.splitLines,
          Stream.filter((line) => line.startsWith("data:")),
          Stream.map((line): unknown => JSON.parse(line.slice(5)).result),
          Stream.runCollect,
          Effect.map((events) => [...events])
        ),
      get: (id) =>
        client.execute(post(url, "1.0", { method: "GetTask", params: { id } })).pipe(
          Effect.flatMap((response) => response.json),
          Effect.map((answer) => (answer as { readonly result: unknown }).result)
        )
    })
  )
})

/** Serves a run on a free port, over real HTTP. */
export const serving = (
  run: (
    request: TaskRequest.TaskRequest<unknown>
  ) => Effect.Effect<TaskResult.TaskResult, Error, AgentTask.Streaming | AgentTask.Context | Scope.Scope>,
  options: Options = {}
): Effect.Effect<Asking, unknown, Scope.Scope> =>
  Layer.build(
    Layer.merge(
      AgentServer.serve(Pilot, { ...options, host: "127.0.0.1", port: 0 }).pipe(Layer.provide(Pilot.toLayer(run))),
      NodeHttpClient.layerWithoutAgent.pipe(Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: false })))
    )
  ).pipe(
    Effect.flatMap((context) => Effect.provide(asking, context)),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map())),
    Logger.withMinimumLogLevel(LogLevel.None)
  )
