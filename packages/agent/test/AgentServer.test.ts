import {
  Agent,
  AgentConfig,
  AgentServer,
  McpServers,
  type RegistryError,
  Staging,
  TaskEngine,
  TaskResult
} from "@effect-agentenv/agent"
import { Extension, McpConfigV1, Operation, TrajectoryV1 } from "@effect-agentenv/protocol"
import { InProcess } from "@effect-agentenv/server"
import { HttpClient, HttpClientRequest, HttpServer } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Context, Deferred, Effect, Layer, Schema, Tracer } from "effect"

const Desk = Agent.make("Kestrel Desk", { description: "Keeps a desk.", version: "1.0.0" })
const DeskLive = Desk.toLayer(() => Effect.succeed(TaskResult.text("ok")))

const quiet = Layer.setConfigProvider(ConfigProvider.fromMap(new Map()))

/** Requests to an agent's routes, as somebody who found it at `host`. */
const wire = (app: AgentServer.App, host = "agents.example:8000") => {
  const client = InProcess.httpClient(app.routes)
  const send = (request: HttpClientRequest.HttpClientRequest) =>
    Effect.flatMap(
      client.execute(HttpClientRequest.setHeader(request, "host", host)),
      (response) => Effect.map(response.text, (text) => ({ status: response.status, headers: response.headers, text }))
    )
  return {
    get: (path: string, headers: Record<string, string> = {}) =>
      send(HttpClientRequest.get(path).pipe(HttpClientRequest.setHeaders(headers))),
    card: (headers: Record<string, string> = {}) =>
      Effect.map(
        send(HttpClientRequest.get("/.well-known/agent-card.json").pipe(HttpClientRequest.setHeaders(headers))),
        ({ text }) => JSON.parse(text)
      ),
    post: (path: string, body: unknown) =>
      Effect.map(
        send(HttpClientRequest.post(path).pipe(HttpClientRequest.bodyUnsafeJson(body))),
        ({ status, text }) => ({ status, text, json: text.startsWith("{") ? JSON.parse(text) : undefined })
      )
  }
}

const message = (text: string) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "message/send",
  params: { message: { kind: "message", messageId: text, role: "user", parts: [{ kind: "text", text }] } }
})

const desk = (options?: AgentServer.Options) => AgentServer.app(Desk, options).pipe(Effect.provide([DeskLive, quiet]))

describe("the card", () => {
  it.scoped("B-CARD-1: is the same at both well-known paths, with no skills where none are declared", () =>
    Effect.gen(function*() {
      const { get } = wire(yield* desk())
      const [now, before] = [yield* get("/.well-known/agent-card.json"), yield* get("/.well-known/agent.json")]
      expect([now.status, before.status]).toEqual([200, 200])
      expect(now.text).toBe(before.text)
      expect(JSON.parse(now.text)).toMatchObject({ name: "Kestrel Desk", skills: [] })
    }))

  it.scoped("B-CARD-2: JSON-RPC is at /a2a, and the card names it absolutely by the caller's Host", () =>
    Effect.gen(function*() {
      const { card, post } = wire(yield* desk())
      const { supportedInterfaces, url } = yield* card()
      expect(url).toBe("http://agents.example:8000/a2a")
      expect(supportedInterfaces).toEqual([
        { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" }
      ])
      expect((yield* post("/a2a", message("hello"))).json.result.status.state).toBe("completed")
    }))

  it.scoped("B-CARD-3: keeps an absolute URL verbatim and serves JSON-RPC at its path", () =>
    Effect.gen(function*() {
      const Elsewhere = Agent.make("elsewhere", {
        description: "Behind a gateway.",
        version: "1.0.0",
        url: "https://host/custom/a2a"
      })
      const { card, post } = wire(
        yield* AgentServer.app(Elsewhere).pipe(
          Effect.provide([Elsewhere.toLayer(() => Effect.succeed(TaskResult.text("ok"))), quiet])
        )
      )
      expect((yield* card()).url).toBe("https://host/custom/a2a")
      expect((yield* post("/custom/a2a", message("hello"))).json.result.status.state).toBe("completed")
      expect((yield* post("/a2a", message("hello"))).status).toBe(404)
    }))

  it.scoped("B-CARD-4: a URL that is neither rooted nor http(s), or has a query, is refused before anything starts", () =>
    Effect.gen(function*() {
      const refused = (url: string) => {
        // what the type forbids, as somebody may pass it from JavaScript
        const Lost = Agent.make("lost", { description: "d", version: "1", url: url as "/a2a" })
        return Effect.flip(
          AgentServer.app(Lost).pipe(
            Effect.provide([Lost.toLayer(() => Effect.succeed(TaskResult.text("ok"))), quiet])
          )
        )
      }
      for (const url of ["a2a", "ftp://host/a2a", "/a2a?x=1", "https://host/a2a#top", "//host/a2a", ""]) {
        const error = (yield* refused(url)) as RegistryError.RegistryError
        expect([error._tag, error.subject]).toEqual(["RegistryError", "url"])
      }
    }))

  it.scoped("B-CARD-5, B-CARD-11, B-CARD-13: says what the definition says, and what is not built is false", () =>
    Effect.gen(function*() {
      const Eye = Agent.make("eye", {
        description: "Looks.",
        version: "2.0.0",
        streaming: true,
        inputModes: ["text", "image/png"],
        outputModes: ["text", "application/json"],
        skills: [{ name: "look", description: "Looks at it." }],
        provider: { organization: "Kiln", url: "https://kiln.example" }
      })
      const { card } = wire(
        yield* AgentServer.app(Eye).pipe(
          Effect.provide([Eye.toLayer(() => Effect.succeed(TaskResult.text("ok"))), quiet])
        )
      )
      expect(yield* card()).toMatchObject({
        protocolVersion: "0.3.0",
        preferredTransport: "JSONRPC",
        capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
        defaultInputModes: ["text", "image/png"],
        defaultOutputModes: ["text", "application/json"],
        skills: [{ id: "look", name: "look", description: "Looks at it.", tags: [] }],
        provider: { organization: "Kiln", url: "https://kiln.example" }
      })
      const plain = yield* wire(yield* desk()).card()
      expect(plain).toMatchObject({
        capabilities: { streaming: false },
        defaultInputModes: ["text"],
        defaultOutputModes: ["text"]
      })
    }))

  it.scoped("B-CARD-6: an agent without extensions has the staging store alone, and nothing when that is off", () =>
    Effect.gen(function*() {
      const uris = (card: any) => card.capabilities.extensions.map(({ uri }: { uri: string }) => uri)
      expect(uris(yield* wire(yield* desk()).card())).toEqual([Staging.uri])
      const off = AgentServer.app(Desk).pipe(Effect.provide([DeskLive, quiet, Staging.layer({ maxBytes: 0 })]))
      expect(uris(yield* wire(yield* off).card())).toEqual([])
    }))

  it.scoped("B-CARD-12: shows a configured name and description at once, under another tag", () =>
    Effect.gen(function*() {
      class Config extends AgentConfig.extend<Config>("Config")({}) {}
      const Named = Agent.make("named", { description: "d", version: "1", config: Config })
      const { card, get, post } = wire(
        yield* AgentServer.app(Named).pipe(
          Effect.provide([Named.toLayer(() => Effect.succeed(TaskResult.text("ok"))), quiet])
        )
      )
      const path = "/.well-known/agent-card.json"
      const { headers } = yield* get(path)
      expect((yield* get(path, { "if-none-match": headers["etag"]! })).status).toBe(304)
      yield* post("/ext/agent-config", { name: "Heron", description: "Stands." })
      const after = yield* get(path, { "if-none-match": headers["etag"]! })
      expect([after.status, after.headers["etag"] === headers["etag"]]).toEqual([200, false])
      expect(yield* card()).toMatchObject({ name: "Heron", description: "Stands." })
    }))

  it.scoped("B-CARD-14: /health answers", () =>
    Effect.gen(function*() {
      const answer = yield* wire(yield* desk()).get("/health")
      expect([answer.status, answer.text]).toEqual([200, `{"status":"ok"}`])
    }))

  it.scoped("A-1: forwarded headers count only when asked, a public URL always, and never an address to bind", () =>
    Effect.gen(function*() {
      const forwarded = {
        "x-forwarded-proto": "https",
        "x-forwarded-host": "public.example",
        "x-forwarded-prefix": "/a"
      }
      const url = (options?: AgentServer.Options, host?: string) =>
        Effect.flatMap(desk(options), (app) => Effect.map(wire(app, host).card(forwarded), ({ url }) => url))
      expect(yield* url()).toBe("http://agents.example:8000/a2a")
      expect(yield* url({ forwarded: true })).toBe("https://public.example/a/a2a")
      expect(yield* url({ publicUrl: "https://agents.example/b/" })).toBe("https://agents.example/b/a2a")
      expect(yield* url({}, "0.0.0.0:8000")).not.toContain("0.0.0.0")
      expect(yield* url({}, `evil"host`)).not.toContain("evil")
    }))

  it.scoped("can be told what the author has to say besides", () =>
    Effect.gen(function*() {
      const { card } = wire(yield* desk({ card: (card) => ({ ...card, security: [{ bearer: [] }] }) }))
      expect((yield* card()).security).toEqual([{ bearer: [] }])
    }))
})

describe("the registry of a server", () => {
  const echo = (path: `/${string}`, make: typeof Operation.post | typeof Operation.get = Operation.post) =>
    Extension.make("urn:kiln:echo/v1", {
      description: "Echoes.",
      operations: {
        echo: make({ path, response: Schema.Struct({ said: Schema.String }) })
      }
    })
  const start = (url: "/a2a" | "/rpc", extension: ReturnType<typeof echo>) => {
    const Echo = Agent.make("echo", { description: "d", version: "1", url, extensions: [extension] })
    return AgentServer.app(Echo).pipe(Effect.provide([
      Echo.toLayer(() => Effect.succeed(TaskResult.text("ok"))),
      extension.toLayer(Effect.succeed({ echo: () => Effect.succeed({ said: "hello" }) })),
      quiet
    ]))
  }
  const owner = (url: "/a2a" | "/rpc", extension: ReturnType<typeof echo>) =>
    Effect.map(Effect.flip(start(url, extension)), (error) => error.message)

  it.scoped("B-REG-19: names who a route belongs to; the RPC path is what the definition says", () =>
    Effect.gen(function*() {
      expect(yield* owner("/a2a", echo("/a2a"))).toContain("A2A JSON-RPC")
      expect(yield* owner("/rpc", echo("/rpc"))).toContain("A2A JSON-RPC")
      expect(yield* owner("/a2a", echo("/health", Operation.get))).toContain("health")
      expect(yield* owner("/a2a", echo("/.well-known/agent.json", Operation.get))).toContain("Agent Card")
      const { get } = wire(yield* start("/rpc", echo("/a2a", Operation.get)))
      expect((yield* get("/a2a")).text).toBe(`{"said":"hello"}`)
    }))

  it.scoped("B-REG-20: staging owns what is below it, unless it is off", () =>
    Effect.gen(function*() {
      const extension = echo("/ext/staging/echo")
      expect(yield* owner("/a2a", extension)).toContain("staging")
      const app = start("/a2a", extension).pipe(Effect.provide(Staging.layer({ maxBytes: 0 })))
      expect((yield* wire(yield* app).post("/ext/staging/echo", {})).json).toEqual({ said: "hello" })
    }))

  it.scoped("B-REG-14, B-REG-15: an override works on the state that the library serves, and is reported", () =>
    Effect.gen(function*() {
      const seen = yield* Deferred.make<ReadonlyArray<string>>()
      const Ours = Agent.make("ours", {
        description: "d",
        version: "1",
        extensions: [Extension.override(McpConfigV1), TrajectoryV1]
      })
      const OursLive = Ours.toLayer(({ mcpServers }) =>
        Effect.as(Deferred.succeed(seen, Object.keys(mcpServers)), TaskResult.text("ok"))
      )
      const McpLive = McpConfigV1.toLayer(Effect.gen(function*() {
        const servers = yield* McpServers.McpServers
        return {
          add: (request) =>
            Effect.map(servers.add({ ...request, name: `own-${request.name ?? "one"}` }), (added) => ({
              status: "added" as const,
              ...added
            })),
          list: () =>
            Effect.map(servers.current, (current) => ({
              mcp_servers: Object.fromEntries(
                Object.entries(current).map(([name, { url }]) => [name, { url, has_headers: false }])
              )
            }))
        }
      }))
      const app = yield* AgentServer.app(Ours).pipe(
        Effect.provide(Layer.provideMerge(Layer.mergeAll(OursLive, McpLive, quiet), McpServers.layer))
      )
      expect(app.registry.conformance).toEqual({
        standard_operation_overrides: [
          { uri: McpConfigV1.uri, operation: "add" },
          { uri: McpConfigV1.uri, operation: "list" }
        ]
      })
      const { get, post } = wire(app)
      yield* post("/ext/mcp-config", { url: "http://desk/mcp", name: "desk" })
      expect(JSON.parse((yield* get("/ext/mcp-config")).text).mcp_servers).toHaveProperty("own-desk")
      yield* post("/a2a", message("hello"))
      expect(yield* Deferred.await(seen)).toEqual(["own-desk"])
    }))

  it.scoped("B-REG-25: a default that its own schema refuses is found before a port is bound", () =>
    Effect.gen(function*() {
      class Odd extends AgentConfig.extend<Odd>("Odd")({
        turns: AgentConfig.field(Schema.Int.pipe(Schema.positive()), { default: () => 0 })
      }) {}
      const Wrong = Agent.make("wrong", { description: "d", version: "1", config: Odd })
      const error = yield* Effect.flip(
        AgentServer.app(Wrong).pipe(
          Effect.provide([Wrong.toLayer(() => Effect.succeed(TaskResult.text("ok"))), quiet])
        )
      )
      expect([error._tag, error.message]).toEqual(["RegistryError", expect.stringContaining("turns")])
    }))
})

describe("serving", () => {
  it.scoped("B-REG-28: listens where it is told, else where A2A_HOST and A2A_PORT say", () =>
    Effect.gen(function*() {
      const variables = ConfigProvider.fromMap(new Map([["A2A_HOST", "127.0.0.1"], ["A2A_PORT", "0"]]))
      const ask = (server: Layer.Layer<HttpServer.HttpServer, unknown>) =>
        Effect.gen(function*() {
          const { address } = Context.get(yield* Layer.build(server), HttpServer.HttpServer)
          const url = HttpServer.formatAddress(address)
          const response = yield* HttpClient.get(`${url}/.well-known/agent.json`)
          const { url: rpc } = (yield* response.json) as { readonly url: string }
          return [address._tag === "TcpAddress" && address.hostname, rpc === `${url}/a2a`]
        })
      const told = AgentServer.serve(Desk, { host: "127.0.0.1", port: 0 })
      expect(yield* ask(told.pipe(Layer.provide([DeskLive, quiet])))).toEqual(["127.0.0.1", true])
      const configured = AgentServer.serve(Desk)
      expect(
        yield* ask(configured.pipe(Layer.provide([DeskLive, Layer.setConfigProvider(variables)])))
      ).toEqual(["127.0.0.1", true])
    }).pipe(Effect.provide(NodeHttpClient.layer)))

  it.scoped("B-STG-15: no span tells a staging path, not even one that is mistyped", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const span: Tracer.Tracer["span"] = (name, parent, context, links, startTime, kind) => ({
        _tag: "Span",
        name,
        spanId: "1".repeat(16),
        traceId: "1".repeat(32),
        parent,
        context,
        links,
        kind,
        sampled: true,
        status: { _tag: "Started", startTime },
        attributes: new Map(),
        end: () => {},
        attribute: (key, value) => told.push(`${name} ${key}=${value}`),
        event: () => {},
        addLinks: () => {}
      })
      const server = AgentServer.serve(Desk, { host: "127.0.0.1", port: 0 }).pipe(
        Layer.provide([DeskLive, quiet, Layer.setTracer(Tracer.make({ span, context: (run) => run() }))])
      )
      const { address } = Context.get(yield* Layer.build(server), HttpServer.HttpServer)
      const ask = (path: string) =>
        Effect.withTracerEnabled(
          Effect.flatMap(HttpClient.get(HttpServer.formatAddress(address) + path), ({ text }) => text),
          false
        )
      yield* ask("//ext/staging/opensesameopensesame")
      yield* ask("/Ext/Staging/opensesameopensesame")
      yield* ask("/ext/staging/opensesameopensesame")
      yield* ask("/nothing")
      expect(told.filter((line) => line.includes("opensesame"))).toEqual([])
      expect(told.some((line) => line.includes("/nothing"))).toBe(true)
    }).pipe(Effect.provide(NodeHttpClient.layer)))

  it.effect("B-TASK-19: what the implementation acquires lives as long as the server", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const Open = Desk.toLayer(Effect.gen(function*() {
        yield* Effect.acquireRelease(
          Effect.sync(() => log.push("open")),
          () => Effect.sync(() => log.push("closed"))
        )
        return () => Effect.sync(() => TaskResult.text(log.join(" ")))
      }))
      yield* Effect.scoped(Effect.gen(function*() {
        const app = Context.get(
          yield* Layer.build(
            Layer.provide(
              Layer.scoped(TaskEngine.TaskEngine, Effect.map(AgentServer.app(Desk), ({ engine }) => engine)),
              [
                Open,
                quiet
              ]
            )
          ),
          TaskEngine.TaskEngine
        )
        const task = yield* app.send({ messageId: "m", role: "user", parts: [{ kind: "text", text: "hello" }] })
        expect(task.status.message?.parts).toEqual([{ kind: "text", text: "open" }])
      }))
      expect(log).toEqual(["open", "closed"])
    }))

  it.scoped("B-TASK-4: a run is over with its result: what it opened is closed, what it left running is stopped", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const Busy = Desk.toLayer(() =>
        Effect.gen(function*() {
          yield* Effect.addFinalizer(() => Effect.sync(() => log.push("closed")))
          yield* Effect.forkScoped(Effect.onInterrupt(Effect.never, () => Effect.sync(() => log.push("stopped"))))
          yield* Effect.yieldNow()
          return TaskResult.text("ok")
        })
      )
      const { engine } = yield* AgentServer.app(Desk).pipe(Effect.provide([Busy, quiet]))
      yield* engine.send({ messageId: "m", role: "user", parts: [{ kind: "text", text: "hello" }] })
      expect(new Set(log)).toEqual(new Set(["closed", "stopped"]))
    }))
})
