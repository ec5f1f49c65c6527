import { Calls, Route, Server } from "@effect-agentenv/server"
import { HttpServer } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import * as V2 from "@modelcontextprotocol/client"
import * as V1 from "@modelcontextprotocol/sdk/client/index.js"
import * as V1Http from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Context, Deferred, Effect, Fiber, Layer, Logger, LogLevel, Option } from "effect"
import { Catalog } from "../src/internal/catalog.ts"
import { Gate } from "../src/internal/gate.ts"
import * as mcp from "../src/internal/mcp/route.ts"
import { surface, textResult, tool } from "./mcpSupport.ts"

/** A real server: tools that count, report progress, ask, and hang until they are interrupted. */
const server = Effect.gen(function*() {
  const started = yield* Deferred.make<void>()
  const interrupted = yield* Deferred.make<void>()
  const count = tool(
    "count",
    ({ text }) =>
      Effect.succeed({
        content: [{ type: "text", text: `${text.length}` }],
        structuredContent: { length: text.length }
      }),
    {
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      outputSchema: { type: "object", properties: { length: { type: "integer" } }, required: ["length"] }
    }
  )
  const report = tool("report", (_, call) =>
    Effect.as(
      Effect.forEach([1, 2, 3], (progress) => call.progress({ progress, total: 3 })),
      textResult("reported")
    ))
  const ask = tool(
    "ask",
    (_, { client }) =>
      Option.getOrThrow(client.elicit)({ message: "Sure?", requestedSchema: { type: "object", properties: {} } }).pipe(
        Effect.map(({ action }) => textResult(action))
      )
  )
  const hang = tool("hang", () =>
    Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
      Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
    ))
  const routes = Effect.gen(function*() {
    const calls = yield* Calls.make()
    const served = surface([count, report, ask, hang], { instructions: "Count twice." })
    return [
      yield* mcp.make({ surface: served, catalog: new Catalog(served.tools), gate: new Gate(), calls, path: "/mcp" })
    ]
  })
  const context = yield* Layer.build(Layer.provide(
    Server.serve(Route.layer(routes), { port: 0, host: "127.0.0.1" }),
    Logger.minimumLogLevel(LogLevel.None)
  ))
  const { port } = Context.get(context, HttpServer.HttpServer).address as HttpServer.TcpAddress
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    started: Deferred.await(started),
    interrupted: Deferred.await(interrupted)
  }
})

const info = { name: "test", version: "1" }

const v1 = (url: URL) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new V1.Client(info, { capabilities: { elicitation: {} } })
      client.setRequestHandler(ElicitRequestSchema, () => ({ action: "decline" as const }))
      const transport = new V1Http.StreamableHTTPClientTransport(url)
      // The transport's own type is looser than what `connect` wants under exactOptionalPropertyTypes.
      await client.connect(transport as Parameters<typeof client.connect>[0])
      return { client, transport }
    }),
    ({ client }) => Effect.promise(() => client.close())
  )

const v2 = (url: URL, options: V2.ClientOptions) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new V2.Client(info, options)
      const transport = new V2.StreamableHTTPClientTransport(url)
      await client.connect(transport)
      return { client, transport }
    }),
    ({ client }) => Effect.promise(() => client.close())
  )

/** What both clients of the SDK have in common. */
interface AnyClient {
  readonly listTools: () => Promise<{ readonly tools: ReadonlyArray<{ readonly name: string }> }>
  readonly callTool: (name: string, args: Record<string, unknown>, options?: {
    readonly onprogress?: (progress: { readonly progress: number }) => void
    readonly signal?: AbortSignal
  }) => Promise<unknown>
}

const ofV1 = (client: V1.Client): AnyClient => ({
  listTools: () => client.listTools(),
  callTool: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options)
})

const ofV2 = (client: V2.Client): AnyClient => ({
  listTools: () => client.listTools(),
  callTool: (name, args, options) => client.callTool({ name, arguments: args }, options)
})

const lists = (client: AnyClient) =>
  Effect.gen(function*() {
    const { tools } = yield* Effect.promise(() => client.listTools())
    expect(tools.map(({ name }) => name)).toEqual(["count", "report", "ask", "hang"])
  })

const calls = (client: AnyClient) =>
  Effect.gen(function*() {
    expect(yield* Effect.promise(() => client.callTool("count", { text: "four" }))).toMatchObject({
      content: [{ type: "text", text: "4" }],
      structuredContent: { length: 4 }
    })
  })

const reports = (client: AnyClient) =>
  Effect.gen(function*() {
    const seen: Array<number> = []
    const onprogress = ({ progress }: { readonly progress: number }) => seen.push(progress)
    const result = yield* Effect.promise(() => client.callTool("report", {}, { onprogress }))
    expect(result).toMatchObject(textResult("reported"))
    expect(seen).toEqual([1, 2, 3])
  })

const cancels = (
  client: AnyClient,
  { interrupted, started }: { readonly interrupted: Effect.Effect<void>; readonly started: Effect.Effect<void> }
) =>
  Effect.gen(function*() {
    const controller = new AbortController()
    const call = yield* Effect.fork(
      Effect.flip(Effect.tryPromise(() => client.callTool("hang", {}, { signal: controller.signal })))
    )
    yield* started
    controller.abort()
    yield* interrupted
    yield* Fiber.join(call)
    yield* calls(client)
  })

describe("the SDK's v1 client", () => {
  it.scoped("lists, calls with structured output, hears progress, answers questions, and ends its session", () =>
    Effect.gen(function*() {
      const { url } = yield* server
      const { client, transport } = yield* v1(url)
      expect(client.getServerVersion()).toEqual({ name: "parcels", version: "1.2.3" })
      expect(client.getInstructions()).toBe("Count twice.")
      yield* Effect.promise(() => client.ping())
      yield* lists(ofV1(client))
      yield* calls(ofV1(client))
      yield* reports(ofV1(client))
      expect(yield* Effect.promise(() => ofV1(client).callTool("ask", {}))).toMatchObject(textResult("decline"))
      expect(yield* Effect.promise(() => ofV1(client).callTool("nope", {}))).toMatchObject({ isError: true })
      yield* Effect.promise(() => transport.terminateSession())
    }))

  it.scoped("cancels a call, and goes on", () =>
    Effect.gen(function*() {
      const running = yield* server
      const { client } = yield* v1(running.url)
      yield* cancels(ofV1(client), running)
    }))
})

describe("the SDK's v2 client", () => {
  for (
    const [era, version, options] of [
      ["without sessions", "2026-07-28", { versionNegotiation: { mode: "auto" } }],
      ["with a session", "2025-11-25", { versionNegotiation: { mode: "legacy" } }]
    ] as const
  ) {
    it.scoped(`${era}: lists, calls with structured output, hears progress`, () =>
      Effect.gen(function*() {
        const { url } = yield* server
        const { client } = yield* v2(url, options)
        expect(client.getNegotiatedProtocolVersion()).toBe(version)
        yield* lists(ofV2(client))
        yield* calls(ofV2(client))
        yield* reports(ofV2(client))
      }))

    it.scoped(`${era}: cancels a call, and goes on`, () =>
      Effect.gen(function*() {
        const running = yield* server
        const { client } = yield* v2(running.url, options)
        yield* cancels(ofV2(client), running)
      }))
  }
})
