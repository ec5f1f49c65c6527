import { Environment, EnvironmentServer, Tool } from "@effect-agentenv/environment"
import { Manifest, type Part } from "@effect-agentenv/protocol"
import { HttpServer } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Clock, ConfigProvider, Context, Data, Deferred, Effect, Fiber, Layer, Schema } from "effect"
import * as http from "node:http"
import { wire } from "./support.ts"

class StillRunning extends Data.TaggedError("StillRunning") {}

class Events extends Context.Tag("test/Events")<Events, {
  readonly log: Array<string>
  readonly started: Deferred.Deferred<void>
  readonly interrupted: Deferred.Deferred<void>
}>() {
  static readonly layer = Layer.effect(
    Events,
    Effect.all({
      log: Effect.sync((): Array<string> => []),
      started: Deferred.make<void>(),
      interrupted: Deferred.make<void>()
    })
  )
}

const Slow = Tool.make("slow", { description: "Waits for ever." })
const Echo = Tool.make("{environment_name}_echo", {
  description: "挨拶を返します。",
  parameters: { text: Schema.String },
  success: Schema.String
})
const Desk = Environment.make("desk", { tools: [Slow, Echo] })

/** Waits for ever, and says when it was interrupted and its finalizer has run. */
const hang = Effect.flatMap(
  Events,
  ({ interrupted, log, started }) =>
    Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
      Effect.onInterrupt(() =>
        Effect.sync(() => log.push("finalizer")).pipe(Effect.zipRight(Deferred.succeed(interrupted, undefined)))
      )
    )
)

const DeskLive = Desk.toLayer(Effect.gen(function*() {
  const { log } = yield* Events
  yield* Effect.addFinalizer(() => Effect.sync(() => log.push("released")))
  return {
    get: Effect.as(hang, [] as ReadonlyArray<Part.Part>),
    tools: { slow: () => hang, "{environment_name}_echo": ({ text }) => Effect.succeed(text) }
  }
}))

const serve = <E = never, R = never>(options: EnvironmentServer.ServeOptions<E, R> = {}) =>
  EnvironmentServer.serve(Desk, { host: "127.0.0.1", port: 0, mcp: { sessions: "optional" }, ...options }).pipe(
    Layer.provide(DeskLive)
  )

const portOf = Effect.map(HttpServer.HttpServer, ({ address }) => address._tag === "TcpAddress" ? address.port : 0)

interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

const request = (port: number, method: string, path: string, body?: object, headers: http.OutgoingHttpHeaders = {}) =>
  Effect.async<Answer, Error>((resume) => {
    const sent = http.request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        agent: false,
        headers: { "content-type": "application/json", ...headers }
      },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () =>
          resume(Effect.succeed({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString("utf8")
          })))
        response.on("error", (error) => resume(Effect.fail(error)))
      }
    )
    sent.on("error", (error) => resume(Effect.fail(error)))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    return Effect.sync(() => sent.destroy())
  })

const call = (name: string, args: object = {}) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: args }
})

describe("serve", () => {
  for (
    const [what, path, body] of [
      ["a tool", "/mcp", call("slow")],
      ["data/get", "/agentenv", { jsonrpc: "2.0", id: 1, method: "data/get" }]
    ] as const
  ) {
    it.live(`a client that leaves interrupts ${what} (V-11, E-1)`, () =>
      Effect.gen(function*() {
        const events = yield* Events
        const port = yield* portOf
        const running = yield* Effect.fork(request(port, "POST", path, body))
        yield* Deferred.await(events.started)
        yield* Fiber.interrupt(running)
        yield* Effect.timeoutFail(Deferred.await(events.interrupted), {
          duration: "300 millis",
          onTimeout: () => new StillRunning()
        })
        expect((yield* request(port, "GET", "/health")).status).toBe(200)
      }).pipe(Effect.provide(Layer.provideMerge(serve(), Events.layer))))
  }

  it.live("ends within a second: a running call is answered, its finalizer awaited, open streams end (E-2, E-4)", () =>
    Effect.gen(function*() {
      const events = yield* Events
      const { answer, stream, took } = yield* Effect.gen(function*() {
        const port = yield* portOf
        const opened = yield* request(port, "POST", "/mcp", {
          jsonrpc: "2.0",
          id: 1,
          method: "initialize",
          params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
        })
        const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]), accept: "text/event-stream" }
        const stream = yield* Effect.fork(request(port, "GET", "/mcp", undefined, session))
        const running = yield* Effect.fork(request(port, "POST", "/mcp", call("slow")))
        yield* Deferred.await(events.started)
        return { answer: running, stream, took: yield* Clock.currentTimeMillis }
      }).pipe(Effect.provide(serve()))
      const ended = (yield* Clock.currentTimeMillis) - took
      expect(yield* Fiber.join(answer)).toMatchObject({ status: 503, text: expect.stringContaining("-32000") })
      expect(yield* Fiber.join(stream)).toMatchObject({ status: 200 })
      expect(ended).toBeLessThan(1000)
      expect(events.log).toEqual(["finalizer", "released"])
    }).pipe(Effect.provide(Events.layer)))

  it.live("every option shows on the wire (V-14)", () =>
    Effect.gen(function*() {
      const one = yield* Effect.gen(function*() {
        const port = yield* portOf
        const ask = (path: string, headers = {}) =>
          request(port, "POST", path, call("renamed_echo", { text: "a" }), headers)
        return {
          echo: yield* ask("/tools"),
          gone: yield* ask("/mcp"),
          stranger: yield* ask("/tools", { host: "stranger.example" }),
          foreign: yield* ask("/tools", { origin: "https://foreign.example" }),
          large: yield* request(port, "POST", "/tools", call("renamed_echo", { text: "x".repeat(600) }))
        }
      }).pipe(Effect.provide(serve({
        name: "renamed",
        mcp: { path: "/tools", sessions: "optional" },
        hosts: ["127.0.0.1:*"],
        origins: ["https://desk.example"],
        limits: { mcp: 500 }
      })))
      expect(one.echo).toMatchObject({ status: 200, text: expect.stringContaining("\"a\"") })
      expect([one.gone.status, one.stranger.status, one.foreign.status, one.large.status]).toEqual([404, 421, 403, 413])
      const strict = yield* Effect.flatMap(portOf, (port) =>
        request(port, "POST", "/mcp", call("desk_echo", { text: "a" })))
        .pipe(Effect.provide(serve({ mcp: { sessions: "required" } })))
      expect(strict.status).toBe(400)
    }).pipe(Effect.provide(Events.layer)))

  it.live("speaks UTF-8 whatever a tool is called (M-21)", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const answer = yield* request(port, "POST", "/mcp", call("desk_echo", { text: "こんにちは 🏺" }))
      expect(JSON.parse(answer.text).result.content[0].text).toBe("こんにちは 🏺")
      const list = yield* request(port, "POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" })
      expect(list.text).toContain("挨拶を返します。")
    }).pipe(Effect.provide(Layer.provideMerge(serve(), Events.layer))))

  it.live("a port that is taken is a ServeError that names it, and releases what was acquired (V-17)", () =>
    Effect.gen(function*() {
      const { log } = yield* Events
      yield* Effect.gen(function*() {
        const port = yield* portOf
        const error = yield* Effect.flip(Effect.scoped(Layer.build(serve({ port }))))
        expect(error._tag).toBe("ServeError")
        expect(error.message).toContain(String(port))
        expect(log).toEqual(["released"])
      }).pipe(Effect.provide(serve()))
    }).pipe(Effect.provide(Events.layer)))

  it.effect("a variable that is no port is named", () =>
    Effect.gen(function*() {
      const layer = EnvironmentServer.serve(Desk, { host: "127.0.0.1" }).pipe(Layer.provide(DeskLive))
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer))).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["MCP_PORT", "lots"]])))
      )
      expect(String(error)).toContain("MCP_PORT")
    }).pipe(Effect.provide(Events.layer)))
})

describe("names (B-ENV-12)", () => {
  const named = (variables: ReadonlyArray<readonly [string, string]>, name?: string) =>
    Effect.gen(function*() {
      const card = yield* (yield* wire(Desk, { name })).card
      return [card.name, card.capabilities.tools[1].name]
    }).pipe(
      Effect.provide(Layer.provideMerge(DeskLive, Events.layer)),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(variables)))
    )

  it.scoped("ENVIRONMENT_NAME beats an option, which beats the definition; blanks count, an empty one does not", () =>
    Effect.gen(function*() {
      expect(yield* named([])).toEqual(["desk", "desk_echo"])
      expect(yield* named([], "depot")).toEqual(["depot", "depot_echo"])
      expect(yield* named([["ENVIRONMENT_NAME", "kiln"], ["SERVICE_NAME", "never"]], "depot")).toEqual([
        "kiln",
        "kiln_echo"
      ])
      expect(yield* named([["ENVIRONMENT_NAME", ""]])).toEqual(["desk", "desk_echo"])
      expect((yield* named([["ENVIRONMENT_NAME", "  "]]))[0]).toBe("  ")
    }))
})

describe("the card", () => {
  it.scoped("passes declared fields through and declares MCP once (B-ENV-1, B-ENV-13, B-ENV-16)", () => {
    const child = {
      name: "child",
      protocolVersion: "1.0",
      url: "/agentenv",
      preferredTransport: "JSONRPC",
      additionalInterfaces: [],
      capabilities: { extensions: null, tools: null, operations: [] },
      children_environments: null
    }
    const Plain = Environment.make("plain", {
      card: { vendor: "kiln", additionalInterfaces: [{ url: "/ws", transport: "ws" }], children_environments: [child] }
    })
    return Effect.gen(function*() {
      const card = yield* (yield* wire(Plain)).card
      expect(card).toEqual({
        vendor: "kiln",
        name: "plain",
        protocolVersion: "1.0",
        url: "/agentenv",
        preferredTransport: "JSONRPC",
        additionalInterfaces: [{ url: "/ws", transport: "ws" }, { url: "/mcp", transport: "mcp" }],
        capabilities: { extensions: null, tools: null, operations: [] },
        children_environments: [child]
      })
    }).pipe(Effect.provide(Plain.toLayer(Effect.succeed({}))))
  })

  it.scoped("advertises interface manifests and serves them (B-MAN-3)", () => {
    const manifest = Manifest.Manifest.make({
      service: "desk",
      manifest_version: "0.1.0",
      interface: "cli",
      entities: [],
      actions: []
    })
    const Managed = Environment.make("managed", { interfaces: [manifest] })
    return Effect.gen(function*() {
      const { card, send } = yield* wire(Managed)
      expect((yield* card).capabilities.extensions).toMatchObject([{ uri: Manifest.URI }])
      expect((yield* send("GET", "/agentenv/interface-manifest")).json).toEqual(["cli"])
      expect((yield* send("GET", "/agentenv/interface-manifest/cli")).json).toMatchObject({ service: "desk" })
      expect((yield* send("GET", "/agentenv/interface-manifest/none")).status).toBe(404)
    }).pipe(Effect.provide(Managed.toLayer(Effect.succeed({}))))
  })
})
