import { Environment, EnvironmentServer, type Handler, Tool } from "@effect-agentenv/environment"
import { describe, expect, it } from "@effect/vitest"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { Deferred, Effect, Layer, type Scope } from "effect"
import express from "express"
import { createServer, request as httpRequest, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"

const Wait = Tool.make("wait", { description: "Waits for ever." })
const Echo = Tool.make("echo", { description: "Says hello." })
const Desk = Environment.make("desk", { tools: [Wait, Echo] })

/** A desk whose `wait` tells when it starts and when it is interrupted, and which tells when it is released. */
const desk = Effect.gen(function*() {
  const started = yield* Deferred.make<void>()
  const interrupted = yield* Deferred.make<void>()
  const released = yield* Deferred.make<void>()
  const layer = Desk.toLayer(Effect.gen(function*() {
    yield* Effect.addFinalizer(() => Deferred.succeed(released, void 0))
    return {
      add: () => Effect.void,
      tools: {
        wait: () =>
          Deferred.succeed(started, void 0).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(interrupted, void 0))
          ),
        echo: () => Effect.void
      }
    }
  }))
  return { started, interrupted, released, layer }
})

const owned = <A extends { readonly dispose: () => Promise<void> }>(
  make: () => A
): Effect.Effect<A, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.sync(make), (handler) => Effect.promise(handler.dispose))

const call = (name: string) => ({
  method: "POST",
  headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } })
})

const add = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "data/add", params: { parts: [{ kind: "text", text: "é" }] } })
}

const options: Handler.HandlerOptions = { mcp: { sessions: "optional" } }
const json = (response: Response): Effect.Effect<any> => Effect.promise(() => response.json())

describe("toWebHandler", () => {
  const web = (layer: Layer.Layer<EnvironmentServer.Requires<typeof Desk>, Error>, more?: Handler.HandlerOptions) =>
    Effect.map(owned(() => EnvironmentServer.toWebHandler(Desk, layer, { ...options, ...more })), (handler) => ({
      ...handler,
      fetch: (path: string, init?: RequestInit) =>
        Effect.promise(() => handler.handler(new Request(`http://desk.test${path}`, init)))
    }))

  it.scoped("answers the card, the data plane and MCP, and 404 beside them", () =>
    Effect.gen(function*() {
      const { layer } = yield* desk
      const { fetch } = yield* web(layer)
      expect((yield* json(yield* fetch("/.well-known/agent-env.json"))).name).toBe("desk")
      expect(yield* json(yield* fetch("/agentenv", add))).toMatchObject({ result: {} })
      expect((yield* json(yield* fetch("/mcp", call("echo")))).result.isError).toBe(false)
      expect((yield* fetch("/elsewhere")).status).toBe(404)
      expect((yield* fetch("/agentenv")).status).toBe(405)
    }))

  it.scoped("interrupts the call of a request that is aborted (E-7)", () =>
    Effect.gen(function*() {
      const { interrupted, layer, started } = yield* desk
      const { fetch, handler } = yield* web(layer)
      const controller = new AbortController()
      const response = handler(new Request("http://desk.test/mcp", { ...call("wait"), signal: controller.signal }))
      yield* Deferred.await(started)
      controller.abort()
      yield* Deferred.await(interrupted)
      expect((yield* Effect.promise(() => response)).status).toBe(499)
      expect((yield* json(yield* fetch("/mcp", call("echo")))).result.isError).toBe(false)
    }))

  it.scoped("does not run the call of a request that was aborted while the environment started", () =>
    Effect.gen(function*() {
      const { layer, started } = yield* desk
      const { handler } = yield* web(layer)
      const controller = new AbortController()
      const response = handler(new Request("http://desk.test/mcp", { ...call("wait"), signal: controller.signal }))
      controller.abort()
      expect((yield* Effect.promise(() => response)).status).toBe(499)
      expect(yield* Deferred.isDone(started)).toBe(false)
    }))

  it.scoped("answers what runs when it is disposed, releases the layer, and refuses what comes later", () =>
    Effect.gen(function*() {
      const { interrupted, layer, released, started } = yield* desk
      const { dispose, fetch, handler } = yield* web(layer)
      const running = handler(new Request("http://desk.test/mcp", call("wait")))
      yield* Deferred.await(started)
      yield* Effect.promise(dispose)
      expect(yield* Deferred.isDone(interrupted)).toBe(true)
      expect(yield* Deferred.isDone(released)).toBe(true)
      expect((yield* Effect.promise(() => running)).status).toBeGreaterThanOrEqual(200)
      expect((yield* fetch("/health")).status).toBe(503)
    }))

  it.scoped("rejects with what is wrong when it starts", () =>
    Effect.gen(function*() {
      const { layer } = yield* desk
      const failing = Layer.provide(layer, Layer.fail(new Error("no database")))
      const { handler, ready } = yield* web(failing)
      const problem = (run: () => Promise<unknown>) =>
        Effect.flip(Effect.tryPromise({ try: run, catch: (error) => String(error) }))
      expect(yield* problem(ready)).toContain("no database")
      expect(yield* problem(() => handler(new Request("http://desk.test/health")))).toContain("no database")
    }))

  it.scoped("checks hosts when it is told to", () =>
    Effect.gen(function*() {
      const { layer } = yield* desk
      const { fetch } = yield* web(layer, { hosts: ["elsewhere.test"] })
      expect((yield* fetch("/health")).status).toBe(421)
    }))
})

const listen = (listener: RequestListener): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer(listener)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  )

describe("toNodeHandler", () => {
  const node = (layer: Layer.Layer<EnvironmentServer.Requires<typeof Desk>, Error>, more?: Handler.HandlerOptions) =>
    owned(() => EnvironmentServer.toNodeHandler(Desk, layer, { ...options, ...more }))
  const get = (url: string, init?: RequestInit) => Effect.promise(() => fetch(url, init))

  it.scoped("serves the environment's paths inside an Express app, and leaves all others to it", () =>
    Effect.gen(function*() {
      const { layer } = yield* desk
      const { handler } = yield* node(layer)
      const app = express()
      app.get("/before", (_request, response) => void response.send("before"))
      app.use(handler)
      app.get("/after", (_request, response) => void response.send("after"))
      const url = yield* listen(app)
      const text = (path: string) =>
        Effect.flatMap(get(`${url}${path}`), (response) => Effect.promise(() => response.text()))
      expect(yield* text("/before")).toBe("before")
      expect(yield* text("/after")).toBe("after")
      expect((yield* get(`${url}/nowhere`)).status).toBe(404)
      expect((yield* json(yield* get(`${url}/.well-known/agent-env.json`))).name).toBe("desk")
      expect(yield* json(yield* get(`${url}/agentenv`, add))).toMatchObject({ result: {} })
      expect((yield* json(yield* get(`${url}/mcp`, call("echo")))).result.isError).toBe(false)
      expect((yield* get(`${url}/agentenv`)).status).toBe(405)
    }))

  it.scoped("serves behind a prefix, and takes a body that a middleware has parsed", () =>
    Effect.gen(function*() {
      const { layer } = yield* desk
      const { handler } = yield* node(layer, { limits: { dataPlane: 200 } })
      const app = express()
      app.use("/json", express.json(), handler)
      app.use("/raw", express.raw({ type: "*/*" }), handler)
      app.use("/text", express.text({ type: "*/*" }), handler)
      app.use("/eaten", (request, _response, next) => void request.resume().on("end", () => next()), handler)
      const url = yield* listen(app)
      for (const prefix of ["/json", "/raw", "/text"]) {
        expect(yield* json(yield* get(`${url}${prefix}/agentenv`, add))).toMatchObject({ result: {} })
        expect((yield* json(yield* get(`${url}${prefix}/.well-known/agent-env.json`))).name).toBe("desk")
        const large = { ...add, body: add.body.replace("é", "é".repeat(200)) }
        expect((yield* get(`${url}${prefix}/agentenv`, large)).status).toBe(413)
      }
      const eaten = yield* get(`${url}/eaten/agentenv`, add)
      expect(eaten.status).toBe(500)
      expect(yield* Effect.promise(() => eaten.text())).toContain("Correlation ID")
    }))

  it.scoped("interrupts the call of a client that leaves, with and without a parser before it (V-11)", () =>
    Effect.gen(function*() {
      for (const before of [[], [express.json()]]) {
        const { interrupted, layer, started } = yield* desk
        const { handler } = yield* node(layer)
        const url = yield* listen(express().use(...before, handler))
        const { body, ...init } = call("wait")
        const request = httpRequest(`${url}/mcp`, init)
        request.on("error", () => {})
        request.end(body)
        yield* Deferred.await(started)
        request.destroy()
        yield* Deferred.await(interrupted)
      }
    }))

  it.scoped("is a listener of node's own server too: 404 beside its paths, 503 when it has ended before it started", () =>
    Effect.gen(function*() {
      const { layer } = yield* desk
      const { dispose, handler } = yield* node(layer)
      const url = yield* listen(handler)
      expect((yield* get(`${url}/health`)).status).toBe(200)
      expect((yield* get(`${url}/nowhere`)).status).toBe(404)
      yield* Effect.promise(dispose)
      expect((yield* get(`${url}/agentenv`, add)).status).toBe(503)
      const unused = yield* node(layer)
      yield* Effect.promise(unused.dispose)
      const late = yield* listen(unused.handler)
      expect((yield* get(`${late}/health`)).status).toBe(503)
    }))

  it.scoped("hands what is wrong with the start to Express, and says nothing of it without one", () =>
    Effect.gen(function*() {
      const { layer } = yield* desk
      const { handler } = yield* node(Layer.provide(layer, Layer.fail(new Error("no database"))))
      let seen: unknown
      const onError: express.ErrorRequestHandler = (error, _request, response, _next) => {
        seen = error
        response.status(500).send("mine")
      }
      const url = yield* listen(express().use(handler).use(onError))
      const answered = yield* get(`${url}/health`)
      expect([answered.status, yield* Effect.promise(() => answered.text())]).toEqual([500, "mine"])
      expect(String(seen)).toContain("no database")
      const bare = yield* get(`${yield* listen(handler)}/health`)
      expect([bare.status, yield* json(bare)]).toEqual([500, { detail: "The server did not start" }])
    }))

  it.scoped("mounts on an SDK server, whose MCP stays Express' affair", () =>
    Effect.gen(function*() {
      const Garden = Environment.make("garden", {})
      const server = new McpServer({ name: "gardener", version: "1.0.0" })
      server.registerTool("plant", { description: "Plants." }, () => ({ content: [] }))
      const { handler } = yield* owned(() =>
        EnvironmentServer.toNodeHandler(Garden, Garden.toLayer(Effect.succeed({ reset: Effect.void })), {
          mount: server
        })
      )
      const app = express().use(handler)
      app.post("/mcp", (_request, response) => void response.send("theirs"))
      const url = yield* listen(app)
      const card = yield* json(yield* get(`${url}/.well-known/agent-env.json`))
      expect(card.capabilities.tools.map((tool: any) => tool.name)).toEqual(["plant"])
      expect(yield* Effect.promise(async () => (await fetch(`${url}/mcp`, { method: "POST" })).text())).toBe("theirs")
    }))
})
