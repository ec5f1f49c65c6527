import { Environment, EnvironmentServer, Prompt, Resource, Tool, ToolCall } from "@effect-agentenv/environment"
import { AgentEnvError, Extension, Operation, type Part } from "@effect-agentenv/protocol"
import { InProcess } from "@effect-agentenv/server"
import { FetchHttpClient, HttpClient, HttpServer } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import {
  Array as Arr,
  ConfigProvider,
  type Console,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Schema,
  Tracer
} from "effect"
import { type Wire, wireOf } from "./support.ts"

const canary = (name: string) => `canary-${name}-3f9a`
const secrets = ["url", "header", "argument", "answer", "seed", "uri", "failure", "authorization", "query"].map(canary)

const Sign = Tool.make("sign", {
  description: "Signs.",
  parameters: { text: Schema.String },
  success: Schema.String,
  failure: Schema.Struct({ reason: Schema.String })
})
const Break = Tool.make("break", { description: "Breaks." })
const Wait = Tool.make("wait", { description: "Waits for ever." })
const Bell = Extension.make("urn:office:bell/v1", {
  operations: { ring: Operation.post({ request: Schema.Struct({ tune: Schema.String }) }) }
})

const Office = Environment.make("office", {
  tools: [Sign, Break, Wait],
  extensions: [Bell],
  resources: [Resource.make("office://{file}", { name: "file" })],
  prompts: [Prompt.make("greet", { description: "Greets." })]
})

const OfficeLive = (started: Deferred.Deferred<void>) =>
  Office.toLayer(Effect.succeed({
    reset: Effect.void,
    add: () => Effect.logInfo("added"),
    // an author who logs all that is handed over
    get: (request: Environment.GetRequest) =>
      Effect.as(Effect.logInfo("exporting", request), [{ kind: "data", data: {} }] satisfies ReadonlyArray<Part.Part>),
    tools: {
      sign: ({ text }: { readonly text: string }) =>
        text === "no"
          ? Effect.fail({ reason: canary("failure") })
          : Effect.as(Effect.logInfo("signed"), canary("answer")),
      break: () => Effect.die(new Error("it broke")),
      wait: () => Effect.zipRight(Deferred.succeed(started, void 0), Effect.never)
    },
    extensions: {
      "urn:office:bell/v1": {
        ring: () => new AgentEnvError.AgentEnvError({ code: "silent", message: canary("failure") })
      }
    },
    resources: { "office://{file}": () => Effect.succeed("text") },
    prompts: { greet: () => Effect.succeed("hello") }
  }))

const grant = {
  root_path: "runs/7",
  expires_at: "2099-01-01T00:00:00Z",
  max_objects: 1,
  max_object_bytes: 1,
  max_total_bytes: 1,
  write: {
    kind: "http-post-policy",
    url: `https://store.test/?X-Amz-Signature=${canary("url")}`,
    fields: { policy: canary("header") },
    path_field: "key",
    file_field: "file"
  }
}

const headers = { authorization: `Bearer ${canary("authorization")}`, "agentenv-role": "clerk" }

const mcp = (wire: Wire, method: string, params: object) =>
  wire.send("POST", "/mcp", { jsonrpc: "2.0", id: 1, method, params }, headers)

/** Every kind of call, each with something that nobody but its handler may see. */
const useAll = (wire: Wire) =>
  Effect.gen(function*() {
    yield* wire.tool("sign", { text: canary("argument") }, headers)
    yield* wire.tool("sign", { text: "no" }, headers)
    yield* wire.tool("break", {}, headers)
    yield* mcp(wire, "resources/read", { uri: `office://${canary("uri")}` })
    yield* mcp(wire, "prompts/get", { name: "greet" })
    yield* wire.send(
      "POST",
      `/agentenv/ext/office/bell/ring?token=${canary("query")}`,
      { tune: canary("argument") },
      headers
    )
    yield* wire.rpc("data/reset", {}, headers)
    yield* wire.rpc(
      "data/add",
      { parts: [{ kind: "file", file: { uri: `https://store.test/${canary("seed")}` } }] },
      headers
    )
    yield* wire.rpc("data/get", { write_namespace: grant }, headers)
  })

/** The native tracer's spans, kept; another tracer than the native one is an installed one. */
const recording = Effect.map(Effect.tracer, (native) => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (...args) => {
      const span = native.span(...args)
      spans.push(span)
      return span
    },
    context: native.context
  })
  const named = (name: string) => spans.find((span) => span.name === name)!
  return { spans, tracer, named }
})

const parentOf = (span: Tracer.Span) => span.parent._tag === "Some" ? span.parent.value : undefined
const exitOf = (span: Tracer.Span) => span.status._tag === "Ended" ? span.status.exit : undefined

describe("spans", () => {
  const traced = Effect.gen(function*() {
    const { named, spans, tracer } = yield* recording
    const started = yield* Deferred.make<void>()
    const app = yield* EnvironmentServer.app(Office, { mcp: { sessions: "optional" } }).pipe(
      Effect.provide(OfficeLive(started)),
      Effect.withTracer(tracer)
    )
    // the client's own spans are none of ours
    const client = InProcess.httpClient(app.routes).pipe(HttpClient.withTracerDisabledWhen(() => true))
    return { named, spans, started, wire: wireOf(client) }
  })

  it.scoped("puts a span of every operation below the one of its request, which is below the caller's", () =>
    Effect.gen(function*() {
      const { named, spans, wire } = yield* traced
      const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`
      yield* wire.tool("sign", { text: "yes" }, { traceparent })
      yield* useAll(wire)
      const span = named("tools/call sign")
      const http = parentOf(span) as Tracer.Span
      expect(http.name).toBe("http.server POST")
      expect(parentOf(http)).toMatchObject({ _tag: "ExternalSpan", traceId: "a".repeat(32), spanId: "b".repeat(16) })
      expect(Object.fromEntries(span.attributes)).toEqual({
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "sign",
        "agentenv.call.id": expect.stringMatching(/^[0-9a-f-]{36}$/),
        "http.request.body.size": expect.any(Number)
      })
      expect(Object.fromEntries(named("extension ring").attributes)).toMatchObject({
        "agentenv.extension.uri": "urn:office:bell/v1",
        "agentenv.extension.operation": "ring"
      })
      expect(spans.map(({ name }) => name).filter((name) => !name.startsWith("http"))).toEqual([
        "tools/call sign",
        "tools/call sign",
        "tools/call sign",
        "tools/call break",
        "resources/read",
        "prompts/get greet",
        "extension ring",
        "data/reset",
        "data/add",
        "data/get"
      ])
      for (const span of spans) expect(span.status._tag).toBe("Ended")
    }))

  it.scoped("says of a failure which kind it was, and nothing of what was sent, answered or granted", () =>
    Effect.gen(function*() {
      const { named, spans, wire } = yield* traced
      yield* useAll(wire)
      const text = JSON.stringify(spans.map((span) => [span.name, [...span.attributes], exitOf(span)]))
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
      expect(exitOf(named("tools/call break"))).toEqual(Exit.fail("Defect"))
      expect(exitOf(named("extension ring"))).toEqual(Exit.fail("AgentEnvError"))
      expect(spans.filter((span) => exitOf(span)?._tag === "Failure").map(({ name }) => name)).toEqual([
        "tools/call sign",
        "tools/call break",
        "extension ring"
      ])
    }))

  it.scoped("ends with the interruption of a call, and answers as without a tracer", () =>
    Effect.gen(function*() {
      const { named, started, wire } = yield* traced
      const call = yield* Effect.fork(wire.tool("wait"))
      yield* Deferred.await(started)
      yield* wire.rpc("data/reset")
      expect((yield* Fiber.join(call)).structuredContent).toMatchObject({ code: "episode_reset", applied: "unknown" })
      expect(Exit.isInterrupted(exitOf(named("tools/call wait"))!)).toBe(true)
      expect((yield* wire.tool("sign", { text: "no" })).structuredContent).toEqual({ reason: canary("failure") })
      expect((yield* wire.tool("break")).content[0].text).toContain("Correlation ID")
      const rung = yield* wire.send("POST", "/agentenv/ext/office/bell/ring", { tune: "a" })
      expect(rung.json.error).toMatchObject({ code: "silent" })
    }))

  it.scoped("are not made without a tracer", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const Peek = Environment.make("peek", {
        tools: [Tool.make("peek", { description: "Peeks.", success: Schema.Boolean })]
      })
      const app = yield* EnvironmentServer.app(Peek, { mcp: { sessions: "optional" } }).pipe(
        Effect.provide(Peek.toLayer(Effect.succeed({
          tools: {
            peek: () =>
              Effect.zipRight(
                ToolCall.ToolCall,
                Effect.map(Effect.option(Effect.currentSpan), ({ _tag }) => _tag === "Some")
              )
          }
        }))),
        Effect.zipLeft(Deferred.succeed(started, void 0))
      )
      const { structuredContent } = yield* wireOf(InProcess.httpClient(app.routes)).tool("peek")
      expect(structuredContent).toEqual({ result: false })
    }))
})

describe("logs", () => {
  const writing = Effect.map(Effect.console, (console) => {
    const lines: Array<string> = []
    const log = (...args: ReadonlyArray<unknown>) => Effect.sync(() => void lines.push(args.join(" ")))
    const unsafeLog = (...args: ReadonlyArray<unknown>) => void lines.push(args.join(" "))
    const unsafe = { ...console.unsafe, log: unsafeLog, group: unsafeLog, groupCollapsed: unsafeLog, error: unsafeLog }
    return { lines, console: { ...console, log, error: log, unsafe } satisfies Console.Console }
  })

  const served = (options: Pick<EnvironmentServer.ServeOptions, "logs">, env: ReadonlyArray<[string, string]> = []) =>
    Effect.gen(function*() {
      const { console, lines } = yield* writing
      const started = yield* Deferred.make<void>()
      const server = EnvironmentServer.serve(Office, {
        host: "127.0.0.1",
        port: 0,
        mcp: { sessions: "optional" },
        ...options
      }).pipe(Layer.provide(OfficeLive(started)))
      const context = yield* Layer.build(server).pipe(
        Effect.withConsole(console),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(env)))
      )
      const url = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
      const client = yield* Effect.provide(HttpClient.HttpClient, FetchHttpClient.layer)
      return {
        lines,
        wire: wireOf(HttpClient.mapRequest(client, (request) => ({
          ...request,
          url: request.url.replace("http://environment", url)
        } as typeof request)))
      }
    })

  it.scoped("are one JSON object a line when that is asked for, by the option or by LOG_FORMAT, and hold no secrets", () =>
    Effect.gen(function*() {
      const asked = yield* served({ logs: "json" })
      // as `NodeRuntime.runMain` has it
      const pretty = Logger.add(Logger.prettyLoggerDefault)
      const fromVariable = yield* Effect.provide(served({}, [["LOG_FORMAT", "json"]]), pretty)
      for (const { lines, wire } of [asked, fromVariable]) {
        yield* useAll(wire)
        const entries = lines.map((line) => JSON.parse(line))
        const messages = entries.map(({ message }) => Array.isArray(message) ? message[0] : message)
        expect(messages).toEqual([
          expect.stringContaining("Listening on http://127.0.0.1:"),
          "signed",
          "Unexpected framework error",
          "added",
          "exporting"
        ])
        expect(entries[2]).toMatchObject({
          logLevel: "ERROR",
          cause: expect.stringContaining("it broke"),
          annotations: { correlation_id: expect.stringMatching(/^[0-9a-f]{32}$/) }
        })
        expect(secrets.filter((secret) => lines.join("\n").includes(secret))).toEqual([])
      }
    }))

  it.scoped("are for people when that is asked for, and the option counts before LOG_FORMAT", () =>
    Effect.gen(function*() {
      const { lines, wire } = yield* served({ logs: "pretty" }, [["LOG_FORMAT", "json"]])
      yield* useAll(wire)
      expect(lines.some((line) => line.includes("signed"))).toBe(true)
      expect(lines.every((line) => !line.startsWith("{\"message"))).toBe(true)
      expect(secrets.filter((secret) => lines.join("\n").includes(secret))).toEqual([])
    }))

  it.scoped("stay the caller's without either, and another format is a ConfigError before anything is bound", () =>
    Effect.gen(function*() {
      const told: Array<unknown> = []
      const mine = Logger.add(Logger.make(({ message }) => void told.push(...Arr.ensure(message))))
      const { lines } = yield* Effect.provide(served({}), mine)
      expect(lines).toEqual([])
      expect(told).toEqual([expect.stringContaining("Listening on")])
      const error = yield* Effect.flip(served({}, [["LOG_FORMAT", "xml"]]))
      expect(String(error)).toContain("LOG_FORMAT")
    }))
})
