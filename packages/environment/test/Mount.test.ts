// The transports of the SDKs are no event targets: they have one listener a kind.
/* oxlint-disable unicorn/prefer-add-event-listener */
import {
  Environment,
  EnvironmentServer,
  type Mount,
  MountError,
  RegistryError,
  Tool,
  Tools
} from "@effect-agentenv/environment"
import { Extension, Operation, Part } from "@effect-agentenv/protocol"
import { InProcess, Server } from "@effect-agentenv/server"
import { type HttpLayerRouter, HttpServer } from "@effect/platform"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import { Server as V1Server } from "@modelcontextprotocol/sdk/server/index.js"
import { McpServer as V1 } from "@modelcontextprotocol/sdk/server/mcp.js"
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { InMemoryTransport as V2Transport, McpServer as V2, Server as V2Server } from "@modelcontextprotocol/server"
import { Context, Effect, Exit, Layer, Ref, Schema, Scope, TestClock } from "effect"
import { z } from "zod"
import { wireOf } from "./support.ts"

const Rain = Extension.make("urn:garden:rain/v1", {
  operations: { fall: Operation.post({ request: Schema.Struct({ mm: Schema.Int }) }) }
})

const Garden = Environment.make("garden", { extensions: [Rain] })

const GardenLive = Garden.toLayer(Effect.gen(function*() {
  const water = yield* Ref.make(0)
  return {
    reset: Ref.set(water, 0),
    get: Effect.map(Ref.get(water), (water) => [Part.DataPart.make({ data: { water } })]),
    extensions: { "urn:garden:rain/v1": { fall: ({ mm }) => Ref.update(water, (all) => all + mm) } }
  }
}))

const info = { name: "gardener", version: "1.0.0" }
const answer = (text: string) => ({ content: [{ type: "text" as const, text }] })

const v1 = () => {
  const server = new V1(info)
  server.registerTool(
    "plant",
    { description: "Plants a seed.", inputSchema: { seed: z.string() } },
    ({ seed }) => answer(`planted ${seed}`)
  )
  return server
}

const v2 = () => {
  const server = new V2(info)
  server.registerTool(
    "plant",
    { description: "Plants a seed.", inputSchema: z.object({ seed: z.string() }) },
    ({ seed }) => answer(`planted ${seed}`)
  )
  return server
}

const paged = (server: V1Server) => {
  const tool = (name: string) => ({ name, inputSchema: { type: "object" as const } })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }, { signal }) => {
    signal.throwIfAborted()
    return params?.cursor === "2" ? { tools: [tool("dig")] } : { tools: [tool("plant")], nextCursor: "2" }
  })
  return server
}

/** A server that speaks the protocol without telling where it keeps its handlers. */
class Foreign {
  onclose: (() => void) | undefined = undefined
  transport: any = undefined
  closed = 0
  private readonly answer: (message: any) => object | undefined
  constructor(answer: (message: any) => object | undefined) {
    this.answer = answer
    this.onclose = () => this.closed++
  }
  async connect(transport: any): Promise<void> {
    this.transport = transport
    transport.onclose = () => {
      this.transport = undefined
      this.onclose?.()
    }
    transport.onmessage = (message: any) => {
      const answer = this.answer(message)
      if (answer !== undefined) transport.send({ jsonrpc: "2.0", id: message.id, ...answer })
    }
    await transport.start()
  }
  async close(): Promise<void> {
    await this.transport?.close()
  }
}

const mount = (server: Mount.SdkServer, options?: Mount.MountOptions) =>
  Effect.map(EnvironmentServer.mount(Garden, server, options), (app) => ({
    app,
    wire: wireOf(InProcess.httpClient(app.routes))
  }))

const names = (card: any): ReadonlyArray<string> | null =>
  card.capabilities.tools?.map((tool: any) => tool.name) ?? null

describe("mount", () => {
  const water = { description: "Waters." }
  const versions = [
    ["v1", () => {
      const server = v1()
      return { server, register: () => server.registerTool("water", water, () => answer("done")) }
    }],
    ["v2", () => {
      const server = v2()
      return { server, register: () => server.registerTool("water", water, () => answer("done")) }
    }]
  ] as const
  for (const [version, make] of versions) {
    it.scoped(`serves the card, the data plane and extensions beside an McpServer of ${version} (B-ENV-14, B-ENV-15)`, () =>
      Effect.gen(function*() {
        const { server } = make()
        const { app, wire } = yield* mount(server, { name: "kew", mcp: { path: "/tools" } })
        const card = yield* wire.card
        expect(app.card).toEqual(card)
        expect(card.name).toBe("kew")
        expect(card.additionalInterfaces).toEqual([{ url: "/tools", transport: "mcp" }])
        expect(card.capabilities.operations).toEqual(["data/reset", "data/get"])
        expect(card.capabilities.extensions).toHaveLength(1)
        expect(card.capabilities.tools).toEqual([{
          name: "plant",
          description: "Plants a seed.",
          inputSchema: expect.objectContaining({
            type: "object",
            properties: { seed: { type: "string" } },
            required: ["seed"]
          })
        }])
        expect((yield* wire.send("POST", "/agentenv/ext/garden/rain/fall", { mm: 3 })).status).toBe(200)
        expect((yield* wire.rpc("data/get")).result.parts[0].data).toEqual({ water: 3 })
        yield* wire.rpc("data/reset")
        expect((yield* wire.rpc("data/get")).result.parts[0].data).toEqual({ water: 0 })
        expect((yield* wire.send("GET", "/health")).status).toBe(200)
        expect((yield* wire.send("POST", "/tools", {})).status).toBe(404)
        expect((yield* wire.send("POST", "/mcp", {})).status).toBe(404)
      }).pipe(Effect.provide(GardenLive)))

    it.scoped(`lists what an McpServer of ${version} serves at the moment that the card is asked for`, () =>
      Effect.gen(function*() {
        const { register, server } = make()
        const { wire } = yield* mount(server)
        const registered = register()
        expect(names(yield* wire.card)).toEqual(["plant", "water"])
        registered.disable()
        expect(names(yield* wire.card)).toEqual(["plant"])
      }).pipe(Effect.provide(GardenLive)))
  }

  it.scoped("leaves a connected v1 server's session, callbacks and capabilities alone", () =>
    Effect.gen(function*() {
      const server = v1()
      let closed = 0
      server.server.onclose = () => closed++
      const [ours, theirs] = InMemoryTransport.createLinkedPair()
      const client = new Client({ name: "client", version: "1" })
      yield* Effect.promise(() => Promise.all([server.connect(ours), client.connect(theirs)]))
      const { wire } = yield* mount(server)
      expect(names(yield* wire.card)).toEqual(["plant"])
      expect(server.server.transport).toBe(ours)
      expect(closed).toBe(0)
      const result = yield* Effect.promise(() => client.callTool({ name: "plant", arguments: { seed: "oak" } }))
      expect(result.content).toEqual([{ type: "text", text: "planted oak" }])
      yield* Effect.promise(() => client.close())
      expect(closed).toBe(1)
    }).pipe(Effect.provide(GardenLive)))

  it.scoped("leaves a connected v2 server's transport alone, and a server that is not connected unconnected", () =>
    Effect.gen(function*() {
      const connected = v2()
      const [ours] = V2Transport.createLinkedPair()
      yield* Effect.promise(() => connected.connect(ours))
      expect(names((yield* mount(connected)).app.card)).toEqual(["plant"])
      expect(connected.server.transport).toBe(ours)
      const idle = v2()
      yield* mount(idle)
      expect(idle.isConnected()).toBe(false)
    }).pipe(Effect.provide(GardenLive)))

  it.scoped("takes the Server below, asks it for every page, and lists no tools where there are none", () =>
    Effect.gen(function*() {
      const server = paged(new V1Server(info, { capabilities: { tools: {} } }))
      expect(names((yield* mount(server)).app.card)).toEqual(["plant", "dig"])
      expect((yield* mount(new V1Server(info))).app.card.capabilities.tools).toBeNull()
      expect((yield* mount(new V2Server(info))).app.card.capabilities.tools).toBeNull()
    }).pipe(Effect.provide(GardenLive)))

  it.scoped("refuses a second mount on one server, whichever part of it is given, until the first one ends (B-CTX-7)", () =>
    Effect.gen(function*() {
      const server = v1()
      const scope = yield* Scope.make()
      yield* Scope.extend(mount(server), scope)
      for (const again of [server, server.server]) {
        const error = yield* Effect.flip(mount(again))
        expect(error).toBeInstanceOf(MountError.MountError)
        expect(error).toMatchObject({ reason: "AlreadyMounted", environment: "garden" })
      }
      yield* Scope.close(scope, Exit.void)
      expect(names((yield* mount(server)).app.card)).toEqual(["plant"])
    }).pipe(Effect.provide(GardenLive)))

  it.scoped("refuses a definition whose own tools nobody would serve", () =>
    Effect.gen(function*() {
      const Own = Environment.make("own", { tools: [Tool.make("dig", { description: "Digs." })] })
      const error = yield* Effect.flip(EnvironmentServer.mount(Own, v1())).pipe(
        Effect.provide(Own.toLayer(Effect.succeed({ tools: { dig: () => Effect.void } })))
      )
      expect(error).toBeInstanceOf(RegistryError.RegistryError)
      expect(error.message).toContain("register them on the MCP server")
    }))

  it.scoped("asks a server of another make over a transport, once, and its `onclose` hears nothing of it", () =>
    Effect.gen(function*() {
      let asked = 0
      const server = new Foreign(({ method }) => {
        asked++
        return method === "tools/list"
          ? { result: { tools: [{ name: "plant", inputSchema: { type: "object" } }] } }
          : {}
      })
      const { wire } = yield* mount(server)
      expect(names(yield* wire.card)).toEqual(["plant"])
      expect(asked).toBe(1)
      expect(server.closed).toBe(0)
      expect(server.transport).toBeUndefined()
      yield* Effect.promise(() => server.connect({ start: () => Promise.resolve() }))
      server.transport.onclose()
      expect(server.closed).toBe(1)
    }).pipe(Effect.provide(GardenLive)))

  it.scoped("says why a server did not tell its tools", () =>
    Effect.gen(function*() {
      const problem = (server: Mount.SdkServer) =>
        Effect.map(Effect.flip(mount(server)), (error) => {
          expect(error).toMatchObject({ _tag: "MountError", reason: "Unanswered" })
          return error.message
        })
      expect(yield* problem(new Foreign(() => ({ error: { code: -1, message: "not today" } })))).toContain("not today")
      expect(yield* problem(new Foreign(() => ({ result: {} })))).toContain("has no tools")
      expect(yield* problem(new Foreign(() => ({ result: { tools: [{}] } })))).toContain("no tool")
      const busy = new Foreign(() => undefined)
      busy.transport = {}
      expect(yield* problem(busy)).toContain("connected already")
      const failing = new V1Server(info, { capabilities: { tools: {} } })
      failing.setRequestHandler(ListToolsRequestSchema, () => Promise.reject(new Error("no tools today")))
      expect(yield* problem(failing)).toContain("no tools today")
    }).pipe(Effect.provide(GardenLive)))

  it.scoped("does not wait for a silent server, and can be tried again after a failure", () =>
    Effect.gen(function*() {
      let silent = true
      const server = new Foreign(() => silent ? undefined : { result: { tools: [] } })
      const scope = yield* Scope.make()
      const first = yield* Effect.fork(Effect.flip(Scope.extend(mount(server), scope)))
      yield* TestClock.adjust("10 seconds")
      expect((yield* first).message).toContain("10 seconds")
      yield* Scope.close(scope, Exit.void)
      silent = false
      expect((yield* mount(server)).app.card.capabilities.tools).toBeNull()
    }).pipe(Effect.provide(GardenLive)))

  it.scoped("keeps the tools that it knows when the server fails to tell them later", () =>
    Effect.gen(function*() {
      let broken = false
      const server = new V1Server(info, { capabilities: { tools: {} } })
      server.setRequestHandler(ListToolsRequestSchema, () => {
        if (broken) throw new Error("broken")
        return { tools: [{ name: "plant", inputSchema: { type: "object" as const } }] }
      })
      const { wire } = yield* mount(server)
      broken = true
      expect(names(yield* wire.card)).toEqual(["plant"])
    }).pipe(Effect.provide(GardenLive)))

  it.scoped("is a layer of routes for an app of one's own too", () =>
    Effect.gen(function*() {
      const routes = EnvironmentServer.mountRoutes(Garden, v1()).pipe(Layer.provide(GardenLive))
      const context = yield* Layer.build(Server.serve(routes, { host: "127.0.0.1", port: 0 }))
      const url = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
      const card = yield* Effect.promise(async () => (await fetch(`${url}/.well-known/agent-env.json`)).json())
      expect(names(card)).toEqual(["plant"])
    }))

  it("takes servers of both SDKs, and nothing else", () => {
    expectTypeOf<V1>().toExtend<Mount.SdkServer>()
    expectTypeOf<V1Server>().toExtend<Mount.SdkServer>()
    expectTypeOf<V2>().toExtend<Mount.SdkServer>()
    expectTypeOf<V2Server>().toExtend<Mount.SdkServer>()
    expectTypeOf<Client>().toExtend<Mount.SdkServer>()
    // @ts-expect-error: not a server
    void EnvironmentServer.mount(Garden, { name: "garden" })
    // @ts-expect-error: sessions are the server's affair
    void EnvironmentServer.mount(Garden, v1(), { mcp: { sessions: "off" } })
    expectTypeOf(EnvironmentServer.mountRoutes(Garden, v1())).toExtend<
      Layer.Layer<never, unknown, EnvironmentServer.Requires<typeof Garden> | HttpLayerRouter.HttpRouter>
    >()
  })
})

it.scoped("Tools tells what the mounted server serves, which only that server can change (B-TOOL-8, B-TOOL-9)", () => {
  const Look = Extension.single(
    "urn:garden:look/v1",
    "look",
    Operation.get({ response: Schema.Struct({ card: Schema.Array(Schema.String), unknown: Schema.String }) })
  )
  const Seen = Environment.make("garden", { extensions: [Look, Rain] })
  const SeenLive = Seen.toLayer(Effect.succeed({
    extensions: {
      "urn:garden:look/v1": {
        look: () =>
          Effect.gen(function*() {
            const { served, update } = yield* Tools.Tools
            const unknown = yield* update("plant", { description: "Plants." }).pipe(
              Effect.as("changed"),
              Effect.catchTag("UnknownTool", ({ message }) => Effect.succeed(message))
            )
            return { card: (yield* served).map(({ description, name }) => `${name}: ${description}`), unknown }
          })
      },
      "urn:garden:rain/v1": { fall: () => Effect.void }
    }
  }))
  return Effect.gen(function*() {
    const { routes } = yield* EnvironmentServer.mount(Seen, v1(), { serve: { extensions: ["urn:garden:look/v1"] } })
    const { card, send } = wireOf(InProcess.httpClient(routes))
    expect((yield* card).capabilities.extensions).toHaveLength(1)
    expect((yield* send("GET", "/agentenv/ext/look")).json).toEqual({
      card: ["plant: Plants a seed."],
      unknown: "no tool 'plant' is served"
    })
  }).pipe(Effect.provide(SeenLive))
})
