import { Environment, EnvironmentServer, Tool, ToolAccess, Tools } from "@effect-agentenv/environment"
import { InProcess } from "@effect-agentenv/server"
import { HttpServer } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import * as V2 from "@modelcontextprotocol/client"
import * as V1 from "@modelcontextprotocol/sdk/client/index.js"
import * as V1Http from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { Context, Deferred, Effect, Layer, Logger, LogLevel, Schema } from "effect"
import { client, initialize, request, settle } from "./mcpSupport.ts"

const Weigh = Tool.make("weigh", { description: "Weighs.", success: Schema.String })
const Slow = Tool.make("slow", { description: "Says that weighing is slow." })
const Back = Tool.make("back_door", { description: "The other door.", hiddenByDefault: true })
const Desk = Environment.make("desk", { tools: [Weigh, Slow, Back], toolAccess: true })
const DeskLive = Desk.toLayer(Effect.succeed({
  tools: {
    weigh: () => Effect.succeed("3"),
    slow: () =>
      Effect.flatMap(Tools.Tools, ({ update }) => Effect.orDie(update("weigh", { description: "Weighs, slowly." }))),
    back_door: () => Effect.void
  }
}))
const Live = Layer.provideMerge(DeskLive, ToolAccess.layer)

const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" }

const served = Effect.map(EnvironmentServer.app(Desk), ({ routes }) => client(InProcess.fetch(routes)))

/** A session with its stream open, in a role, and how much its stream has said. */
const listen = (it: Effect.Effect.Success<typeof served>, role?: string) =>
  Effect.gen(function*() {
    const { headers, json } = yield* it.post(initialize())
    const named = {
      "mcp-session-id": headers.get("mcp-session-id")!,
      ...(role === undefined ? {} : { "agentenv-role": role })
    }
    const stream = yield* it.stream(undefined, { ...named, accept: "text/event-stream" }, "GET")
    expect(json.result.capabilities.tools).toEqual({ listChanged: true })
    return { ...stream, headers: named }
  })

describe("notifications/tools/list_changed", () => {
  it.scoped("reaches every open session when a tool is described anew (B-TOOL-9)", () =>
    Effect.gen(function*() {
      const it = yield* served
      const [one, other] = yield* Effect.all([listen(it), listen(it, "clerk")])
      const without = yield* it.post(initialize())
      yield* it.post(request(1, "tools/call", { name: "slow" }), one.headers)
      expect(yield* one.next).toEqual(changed)
      expect(yield* other.next).toEqual(changed)
      const list = yield* it.post(request(2, "tools/list"), {
        "mcp-session-id": without.headers.get("mcp-session-id")!
      })
      expect(list.json.result.tools[0].description).toBe("Weighs, slowly.")
    }).pipe(Effect.provide(Live)))

  it.scoped("reaches those whose view has changed, and nobody else", () =>
    Effect.gen(function*() {
      const it = yield* served
      const access = yield* ToolAccess.ToolAccess
      const [clerk, porter, nobody] = yield* Effect.all([listen(it, "clerk"), listen(it, "porter"), listen(it)])
      yield* access.disable("clerk", ["weigh", "ghost"])
      expect(yield* clerk.next).toEqual(changed)
      // nothing that anybody sees: a hidden tool stays so, a disabled one too, and a ghost is none
      yield* access.enable("porter", "*")
      yield* access.disable("clerk", ["weigh"])
      yield* access.disable("*", ["ghost", "back_door"])
      yield* settle
      expect([clerk.seen(), porter.seen(), nobody.seen()].map((text) => text.split("list_changed").length - 1)).toEqual(
        [
          1,
          0,
          0
        ]
      )
      yield* access.disable("*", "*")
      expect(yield* porter.next).toEqual(changed)
      expect(yield* nobody.next).toEqual(changed)
    }).pipe(Effect.provide(Live)))

  it.scoped("reaches a gateway's session for each role that it lists tools in (B-ACC-5)", () =>
    Effect.gen(function*() {
      const it = yield* served
      const access = yield* ToolAccess.ToolAccess
      const gateway = yield* listen(it)
      yield* access.disable("clerk", ["weigh"])
      yield* settle
      expect(gateway.seen()).toBe("")
      yield* it.post(request(1, "tools/list", { _meta: { "agentenv.io/role": "clerk" } }), gateway.headers)
      yield* access.enable("clerk", ["weigh"])
      expect(yield* gateway.next).toEqual(changed)
    }).pipe(Effect.provide(Live)))

  it.scoped("is not promised where there is no stream to say it on", () =>
    Effect.gen(function*() {
      const { routes } = yield* EnvironmentServer.app(Desk, { mcp: { json: true } })
      const { json } = yield* client(InProcess.fetch(routes)).post(initialize())
      expect(json.result.capabilities.tools).toEqual({})
    }).pipe(Effect.provide(Live)))
})

const info = { name: "test", version: "1" }

/** A server on a port, and its rules. */
const listening = Effect.gen(function*() {
  const context = yield* Layer.build(Layer.provide(
    Layer.provideMerge(
      EnvironmentServer.serve(Desk, { port: 0, host: "127.0.0.1" }).pipe(Layer.provide(DeskLive)),
      ToolAccess.layer
    ),
    Logger.minimumLogLevel(LogLevel.None)
  ))
  const { port } = Context.get(context, HttpServer.HttpServer).address as HttpServer.TcpAddress
  return { url: new URL(`http://127.0.0.1:${port}/mcp`), access: Context.get(context, ToolAccess.ToolAccess) }
})

describe("clients of the MCP SDK", () => {
  it.scoped("v1 hears that its list has changed", () =>
    Effect.gen(function*() {
      const { access, url } = yield* listening
      const heard = yield* Deferred.make<void>()
      const opened = yield* Deferred.make<void>()
      const sdk = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const client = new V1.Client(info)
          client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
            Deferred.unsafeDone(heard, Effect.void)
          })
          const transport = new V1Http.StreamableHTTPClientTransport(url, {
            fetch: watching(opened),
            requestInit: { headers: { "agentenv-role": "clerk" } }
          })
          // The transport's own type is looser than what `connect` wants under exactOptionalPropertyTypes.
          await client.connect(transport as Parameters<typeof client.connect>[0])
          return client
        }),
        (client) => Effect.promise(() => client.close())
      )
      yield* Deferred.await(opened)
      yield* access.disable("clerk", ["weigh"])
      yield* Deferred.await(heard)
      const { tools } = yield* Effect.promise(() => sdk.listTools())
      expect(tools.map(({ name }) => name)).toEqual(["slow"])
    }))

  it.scoped("v2 hears that a tool is described anew", () =>
    Effect.gen(function*() {
      const { url } = yield* listening
      const heard = yield* Deferred.make<void>()
      const opened = yield* Deferred.make<void>()
      const sdk = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const client = new V2.Client(info)
          client.setNotificationHandler("notifications/tools/list_changed", () => {
            Deferred.unsafeDone(heard, Effect.void)
          })
          await client.connect(new V2.StreamableHTTPClientTransport(url, { fetch: watching(opened) }))
          return client
        }),
        (client) => Effect.promise(() => client.close())
      )
      yield* Deferred.await(opened)
      yield* Effect.promise(() => sdk.callTool({ name: "slow", arguments: {} }))
      yield* Deferred.await(heard)
      const { tools } = yield* Effect.promise(() => sdk.listTools())
      expect(tools[0]?.description).toBe("Weighs, slowly.")
    }))
})

/** `fetch` that tells when the session's stream is open. */
const watching = (opened: Deferred.Deferred<void>): typeof fetch => async (input, init) => {
  const response = await fetch(input, init)
  if ((init?.method ?? "GET") === "GET" && response.ok) Deferred.unsafeDone(opened, Effect.void)
  return response
}
