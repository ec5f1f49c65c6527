import * as EnvironmentClient from "@effect-agentenv/client/EnvironmentClient"
import * as Grant from "@effect-agentenv/protocol/Grant"
import type { Part } from "@effect-agentenv/protocol/Part"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Cause, Duration, Effect, Fiber, Inspectable, Logger, Option, Schema, TestClock, Tracer } from "effect"
import { type Fake, fake, json, node, text } from "./support.ts"

const baseUrl = "http://fake"

const connect = (server: Fake, options: Partial<EnvironmentClient.Options> = {}) =>
  Effect.provide(EnvironmentClient.make({ baseUrl, ...options }), server.layer)

const rpc = (result: unknown) => fake(({ body }) => Effect.succeed(json({ jsonrpc: "2.0", id: body.id, result })))

const failing = (error: unknown) => fake(({ body }) => Effect.succeed(json({ jsonrpc: "2.0", id: body.id, error })))

const refusing = (code: string, times = Infinity) => {
  let tries = 0
  const server = fake(({ body }) =>
    tries++ < times ? Effect.fail({ code }) : Effect.succeed(json({ jsonrpc: "2.0", id: body?.id, result: {} }))
  )
  return server
}

const url = "https://store.example/up?sig=canary-signature"

const grant = Schema.decodeUnknown(Grant.WriteNamespaceGrant)({
  root_path: "runs/1",
  expires_at: "2099-01-01T00:00:00Z",
  max_objects: 1,
  max_object_bytes: 1,
  max_total_bytes: 1,
  write: {
    kind: "http-post-policy",
    url,
    fields: { policy: "canary-policy" },
    path_field: "key",
    file_field: "file",
    headers: { "x-token": "canary-token" }
  }
})

const fails = (response: () => Response) =>
  Effect.flatMap(connect(fake(() => Effect.sync(response))), (it) => Effect.flip(it.get()))

describe("the data plane (B-CLI-1)", () => {
  it.effect("is called by JSON-RPC below the base URL, as the caller that was given (B-CTX-8)", () =>
    Effect.gen(function*() {
      const server = rpc({})
      const environment = yield* connect(server, {
        baseUrl: "http://fake/envs/a/",
        caller: { role: "judge", session: "j-1" }
      })
      yield* environment.reset()
      yield* environment.reset({ seed: 0 })
      const parts: ReadonlyArray<Part> = [{ kind: "data", data: { a: 1 } }, { kind: "text", text: "b" }]
      yield* environment.add(parts)
      yield* environment.add(parts, { idempotencyKey: "once" })
      expect(server.log.map(({ body }) => body)).toEqual([
        { jsonrpc: "2.0", id: 1, method: "data/reset", params: {} },
        { jsonrpc: "2.0", id: 2, method: "data/reset", params: { seed: 0 } },
        { jsonrpc: "2.0", id: 3, method: "data/add", params: { parts } },
        { jsonrpc: "2.0", id: 4, method: "data/add", params: { parts } }
      ])
      for (const { headers, method, url } of server.log) {
        expect([method, url]).toEqual(["POST", "http://fake/envs/a/agentenv"])
        expect(headers).toMatchObject({
          "agentenv-role": "judge",
          "mcp-session-id": "j-1",
          "content-type": "application/json"
        })
      }
      expect(server.log.map(({ headers }) => headers["idempotency-key"])).toEqual([
        undefined,
        undefined,
        undefined,
        "once"
      ])
    }))

  it.effect("exports parts, asked with `params: {}` when there is no grant (B-DOBJ-4)", () =>
    Effect.gen(function*() {
      const parts = [{ kind: "data", data: { n: 1 } }, { kind: "file", file: { uri: "a" }, metadata: null, extra: 1 }]
      const server = rpc({ parts })
      const environment = yield* connect(server)
      expect(yield* environment.get()).toEqual([
        { kind: "data", data: { n: 1 } },
        { kind: "file", file: { uri: "a" } }
      ])
      expect(server.log[0]?.body).toEqual({ jsonrpc: "2.0", id: 1, method: "data/get", params: {} })
    }))

  it.effect("tells its errors by code, message and data (B-ENV-3)", () =>
    Effect.gen(function*() {
      const environment = yield* connect(failing({ code: -32602, message: "bad", data: { detail: ["x"] } }))
      const error = yield* Effect.flip(environment.reset())
      expect(error).toMatchObject({ _tag: "RpcError", operation: "data/reset", code: -32602, reason: "bad" })
      expect(error._tag === "RpcError" && error.data.detail).toEqual(["x"])
      expect(error._tag === "RpcError" && error.agentEnvError).toEqual(Option.none())
      expect(error.message).toBe("data/reset: bad (-32602)")
    }))

  it.effect("tells the fields of an AgentEnvError that the peer sent (B-ERR-8)", () =>
    Effect.gen(function*() {
      const fields = { code: "busy", message: "Busy.", retryable: true, applied: "no", hint: "wait" }
      const environment = yield* connect(
        failing({ code: -32000, message: "Busy.", data: { code: "get_failed", error: fields } })
      )
      const error = yield* Effect.flip(environment.get())
      expect(error._tag === "RpcError" && error.agentEnvError).toEqual(Option.some(fields))
    }))

  it.effect("that answers something else is Unreadable or BadStatus", () =>
    Effect.gen(function*() {
      expect(yield* fails(() => text("<html>"))).toMatchObject({ _tag: "Unreadable", issues: "it is no JSON" })
      expect(yield* fails(() => json([]))).toMatchObject({ _tag: "Unreadable" })
      expect(yield* fails(() => json({ id: 1 }))).toMatchObject({ _tag: "Unreadable" })
      expect(yield* fails(() => json({ id: 1, error: "no" }))).toMatchObject({ _tag: "Unreadable" })
      expect(yield* fails(() => json({ id: 1, result: { parts: [{ kind: "x", a: "canary" }] } }))).toMatchObject({
        _tag: "Unreadable",
        what: "the result"
      })
      expect(yield* fails(() => text("down", 503))).toMatchObject({
        _tag: "BadStatus",
        status: 503,
        url: "http://fake/agentenv",
        body: "down"
      })
    }))

  it.effect("has the contract's timeouts, each an option (B-CLIENT-4, V-16)", () =>
    Effect.gen(function*() {
      const hung = fake(() => Effect.never)
      const after = (
        call: (it: EnvironmentClient.Service) => Effect.Effect<unknown, EnvironmentClient.EnvironmentClientError>,
        timeouts?: EnvironmentClient.Timeouts
      ) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(
            Effect.flatMap(connect(hung, { timeouts }), (it) => Effect.flip(call(it)))
          )
          yield* TestClock.adjust("200 seconds")
          const error = yield* Fiber.join(fiber)
          return error._tag === "Timeout" ? Duration.toSeconds(error.after) : error
        })
      expect(yield* after((it) => it.card)).toBe(10)
      expect(yield* after((it) => it.health)).toBe(10)
      expect(yield* after((it) => it.reset())).toBe(30)
      expect(yield* after((it) => it.add([]))).toBe(120)
      expect(yield* after((it) => it.get())).toBe(30)
      expect(yield* after((it) => it.get(), { get: "100 seconds" })).toBe(100)
      expect(hung.log.every(({ signal }) => signal.aborted)).toBe(true)
    }))
})

/** Refuses every call by repeating what it was sent. */
const echoing = (status: number) =>
  fake(({ body }) =>
    Effect.succeed(json(
      {
        jsonrpc: "2.0",
        id: body.id,
        error: { code: -32602, message: JSON.stringify(body.params), data: { detail: body.params } }
      },
      status
    ))
  )

describe("grants", () => {
  it.effect("are sent whole", () =>
    Effect.gen(function*() {
      const server = rpc({ parts: [] })
      const environment = yield* connect(server)
      yield* environment.get({ writeNamespace: yield* grant })
      expect(server.log[0]?.body.params.write_namespace).toMatchObject({
        root_path: "runs/1",
        expires_at: "2099-01-01T00:00:00Z",
        write: { url, fields: { policy: "canary-policy" }, headers: { "x-token": "canary-token" } }
      })
    }))

  it.effect("never show in errors, logs and spans, even when the peer repeats them", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const show = (value: unknown) => seen.push(Inspectable.toStringUnknown(value), String(value))
      const logger = Logger.make(({ cause, message }) => show([message, Cause.pretty(cause)]))
      const tracer = Tracer.make({
        context: (f) => f(),
        span: (name, parent, context, links, startTime, kind) => {
          const attributes = new Map<string, unknown>()
          show(name)
          return {
            _tag: "Span",
            name,
            spanId: "s",
            traceId: "t",
            parent,
            context,
            status: { _tag: "Started", startTime },
            attributes,
            links,
            sampled: true,
            kind,
            attribute: (key, value) => show([key, value]),
            event: (name, _, attributes) => show([name, attributes]),
            addLinks: () => undefined,
            end: (_, exit) => show(exit._tag === "Failure" ? Cause.pretty(exit.cause) : exit._tag)
          }
        }
      })
      const writeNamespace = yield* grant
      for (const server of [echoing(200), echoing(400), refusing("ECONNRESET"), rpc({ parts: [{ kind: url }] })]) {
        const environment = yield* connect(server)
        const exit = yield* environment.get({ writeNamespace }).pipe(
          Effect.tapErrorCause(Effect.logError),
          Effect.exit,
          Effect.withTracer(tracer),
          Effect.provide(Logger.replace(Logger.defaultLogger, logger))
        )
        show(exit)
        show(JSON.stringify(exit))
        if (exit._tag === "Failure") show(Cause.pretty(exit.cause))
      }
      expect(seen.length).toBeGreaterThan(20)
      expect(seen.filter((each) => each.includes("canary"))).toEqual([])
      expect(seen.some((each) => each.includes("runs/1"))).toBe(true)
    }))
})

describe("refused connections (V-12)", () => {
  it.effect("are tried five times within a second, since nothing can have run", () =>
    Effect.gen(function*() {
      const server = refusing("ECONNREFUSED")
      const environment = yield* connect(server)
      const fiber = yield* Effect.fork(Effect.flip(environment.reset()))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(fiber)).toMatchObject({
        _tag: "Unreachable",
        refused: true,
        reason: "connect ECONNREFUSED 127.0.0.1:1"
      })
      expect(server.log).toHaveLength(5)
    }))

  it.effect("that come up again are no failure", () =>
    Effect.gen(function*() {
      const server = refusing("ECONNREFUSED", 2)
      const environment = yield* connect(server)
      const fiber = yield* Effect.fork(environment.reset())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      expect(server.log).toHaveLength(3)
    }))

  it.effect("are all that is tried again: a lost connection, a 503 and an error are not", () =>
    Effect.gen(function*() {
      for (
        const server of [refusing("ECONNRESET"), refusing("EPIPE"), fake(() => Effect.succeed(text("", 503)))]
      ) {
        const environment = yield* connect(server)
        const fiber = yield* Effect.fork(Effect.flip(environment.reset()))
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.join(fiber)
        expect(server.log).toHaveLength(1)
      }
    }))

  it.scopedLive("are recognized on a real socket", () =>
    Effect.gen(function*() {
      const { port, server } = yield* node((_, response) => response.end())
      yield* Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
      const started = performance.now()
      for (const host of ["127.0.0.1", "localhost"]) {
        const environment = yield* EnvironmentClient.make({ baseUrl: `http://${host}:${port}` })
        expect(yield* Effect.flip(environment.reset())).toMatchObject({ _tag: "Unreachable", refused: true })
      }
      expect(performance.now() - started).toBeGreaterThan(1400)
    }).pipe(Effect.provide(NodeHttpClient.layer)))

  it.scopedLive("are not what a connection is that ends before its answer", () =>
    Effect.gen(function*() {
      let requests = 0
      const { port } = yield* node((request) => {
        requests++
        request.socket.destroy()
      })
      const environment = yield* EnvironmentClient.make({ baseUrl: `http://127.0.0.1:${port}` })
      expect(yield* Effect.flip(environment.reset())).toMatchObject({ _tag: "Unreachable", refused: false })
      expect(requests).toBe(1)
    }).pipe(Effect.provide(NodeHttpClient.layer)))
})

describe("the card", () => {
  it.effect("is read openly, with the protocol's defaults (B-CLI-3)", () =>
    Effect.gen(function*() {
      const server = fake(() => Effect.succeed(json({ name: "parcels", custom: 1, capabilities: { tools: null } })))
      const environment = yield* connect(server)
      expect(yield* environment.card).toMatchObject({ name: "parcels", custom: 1, url: "/agentenv" })
      expect(yield* environment.supportsV1).toBe(true)
      expect(server.log[0]?.url).toBe("http://fake/.well-known/agent-env.json")
    }))

  it.effect("that is missing, broken or out of reach is no support, and no error (B-CLI-2)", () =>
    Effect.gen(function*() {
      const servers = [
        fake(() => Effect.succeed(text("", 404))),
        fake(() => Effect.succeed(text("", 500))),
        fake(() => Effect.succeed(text("hello"))),
        fake(() => Effect.succeed(json({ title: "no name" }))),
        refusing("ENOTFOUND")
      ]
      for (const server of servers) expect(yield* (yield* connect(server)).supportsV1).toBe(false)
      const environment = yield* connect(servers[3]!)
      expect(yield* Effect.flip(environment.card)).toMatchObject({
        _tag: "Unreadable",
        what: "the card",
        issues: "name: is missing"
      })
    }))
})

const serving = (endpoint: string, extensions: unknown) =>
  fake(({ url }) => {
    const path = new URL(url).pathname
    if (path.endsWith("agent-env.json")) return Effect.succeed(json({ name: "e", capabilities: { extensions } }))
    if (path === endpoint) return Effect.succeed(json(["cli"]))
    return Effect.succeed(path === `${endpoint}/cli` ? json({ service: "parcels" }) : text("", 404))
  })

describe("manifests (B-MAN-3)", () => {
  it.effect("are where the card says, else at the usual path", () =>
    Effect.gen(function*() {
      const card = [{ uri: "urn:agentenv:get-interfaces/v1", params: { endpoint: "/m" } }]
      for (const server of [serving("/m", card), serving("/agentenv/interface-manifest", null)]) {
        const environment = yield* connect(server)
        expect(yield* environment.interfaces).toEqual(["cli"])
        expect(yield* environment.manifest("cli")).toEqual({
          service: "parcels",
          manifest_version: "0.1.0",
          interface: "cli",
          entities: [],
          actions: []
        })
        expect(yield* Effect.flip(environment.manifest("a/b"))).toMatchObject({ _tag: "BadStatus", status: 404 })
      }
    }))
})

describe("types", () => {
  it("tell which calls can fail how", () => {
    expectTypeOf<EnvironmentClient.Service["supportsV1"]>().toEqualTypeOf<Effect.Effect<boolean>>()
    expectTypeOf<EnvironmentClient.Service["reset"]>().returns.toEqualTypeOf<
      Effect.Effect<void, EnvironmentClient.EnvironmentClientError>
    >()
    expectTypeOf<Extract<EnvironmentClient.ReadError, { _tag: "RpcError" }>>().toBeNever()
  })
})
