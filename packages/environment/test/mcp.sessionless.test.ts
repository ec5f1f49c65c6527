import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Option } from "effect"
import { both, call, initialize, notify, serve, sessionless, surface, textResult, tool, version } from "./mcpSupport.ts"

const serverInfo = { "io.modelcontextprotocol/serverInfo": { name: "parcels", version: "1.2.3" } }

const echo = tool("echo", (args) => Effect.succeed(textResult(JSON.stringify(args))))
const loud = tool("loud", (_, call) =>
  Effect.gen(function*() {
    yield* call.log("info", "small")
    yield* call.log("error", "big")
    yield* call.progress(1)
    return { ...textResult(`${Option.isSome(call.client.elicit)}`), _meta: { own: 1 } }
  }))

const open = serve(surface([echo, loud], { instructions: "Count twice." }))

describe("MCP 2026-07-28", () => {
  it.scoped("server/discover tells who we are", () =>
    Effect.gen(function*() {
      const { post } = yield* open
      const { headers, json, status } = yield* post(...sessionless(1, "server/discover"))
      expect([status, headers.get("mcp-session-id")]).toEqual([200, null])
      expect(json.result).toEqual({
        supportedVersions: ["2026-07-28"],
        capabilities: { logging: {}, tools: {} },
        instructions: "Count twice.",
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        _meta: serverInfo
      })
    }))

  it.scoped("lists and calls tools without a session, whatever the mode and the session header", () =>
    Effect.gen(function*() {
      for (const sessions of ["required", "optional", "off"] as const) {
        const { post } = yield* serve(surface([echo]), { sessions })
        const [message, headers] = sessionless(1, "tools/list")
        const listed = yield* post(message, { ...headers, "mcp-session-id": "unknown" })
        expect(listed.json.result).toMatchObject({
          resultType: "complete",
          ttlMs: 0,
          cacheScope: "private",
          _meta: serverInfo
        })
        expect(listed.json.result.tools).toHaveLength(1)
        const called = yield* post(...sessionless(2, "tools/call", { name: "echo", arguments: { a: 1 } }))
        expect(called.json.result).toEqual({
          ...textResult("{\"a\":1}"),
          resultType: "complete",
          _meta: serverInfo
        })
      }
    }))

  it.scoped("an unknown method is a 404, ping and the session era's methods too", () =>
    Effect.gen(function*() {
      const { post } = yield* open
      for (const method of ["nope", "ping", "initialize", "logging/setLevel", "resources/list", "prompts/get"]) {
        const { json, status } = yield* post(...sessionless(1, method, { name: "a" }))
        expect([method, status, json.error.code, json.id]).toEqual([method, 404, -32601, 1])
      }
    }))

  it.scoped("an unknown tool is an error that names it", () =>
    Effect.gen(function*() {
      const { post } = yield* open
      const { json, status } = yield* post(...sessionless(1, "tools/call", { name: "__proto__" }))
      expect([status, json.error]).toEqual([200, { code: -32602, message: "Unknown tool: __proto__" }])
    }))

  it.scoped("headers that are missing or say something else are a mismatch", () =>
    Effect.gen(function*() {
      const { post } = yield* open
      const [message, headers] = sessionless(1, "tools/call", { name: "echo" })
      const cases: ReadonlyArray<readonly [object, string]> = [
        [{ "mcp-protocol-version": "" }, "(missing)"],
        [{ "mcp-method": "" }, "(missing)"],
        [{ "mcp-name": "" }, "(missing)"],
        [{ "mcp-protocol-version": "2025-11-25" }, "2025-11-25"],
        [{ "mcp-method": "tools/list" }, "tools/list"],
        [{ "mcp-name": "loud" }, "loud"],
        [{ "mcp-name": "=?base64?!?=" }, "=?base64?!?="]
      ]
      for (const [wrong, header] of cases) {
        const { json, status } = yield* post(message, { ...headers, ...wrong })
        expect([wrong, status, json.error.code, json.error.data.mismatch.header]).toEqual([wrong, 400, -32020, header])
        expect(json.error.message).toContain(json.error.data.mismatch.body)
      }
      expect((yield* post(message, { ...headers, "mcp-name": "=?base64?ZWNobw==?=" })).status).toBe(200)
      const opening = yield* post(initialize(), { "mcp-protocol-version": version })
      expect([opening.status, opening.json.error.code]).toEqual([400, -32020])
    }))

  it.scoped("an envelope that is missing or misshapen is named", () =>
    Effect.gen(function*() {
      const { post } = yield* open
      const headers = { "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "echo" }
      const protocolVersion = "io.modelcontextprotocol/protocolVersion"
      const clientCapabilities = "io.modelcontextprotocol/clientCapabilities"
      const envelope = (meta: object | undefined) =>
        Effect.map(post(call(1, "echo", {}, meta), headers), ({ json, status }) => {
          expect([status, json.error.code]).toEqual([400, -32602])
          return json.error.data.envelope
        })
      expect(yield* envelope(undefined)).toEqual({ missing: ["_meta"] })
      expect(yield* envelope({})).toEqual({ missing: [protocolVersion, clientCapabilities] })
      expect(yield* envelope({ [protocolVersion]: version })).toEqual({ missing: [clientCapabilities] })
      expect((yield* envelope({ [protocolVersion]: 7, [clientCapabilities]: {} })).key).toBe(protocolVersion)
      expect((yield* envelope({ [protocolVersion]: version, [clientCapabilities]: [] })).key).toBe(clientCapabilities)
      const level = { [protocolVersion]: version, [clientCapabilities]: {}, "io.modelcontextprotocol/logLevel": "loud" }
      expect((yield* envelope(level)).key).toBe("io.modelcontextprotocol/logLevel")
    }))

  it.scoped("a revision that we do not know is answered with those that we do", () =>
    Effect.gen(function*() {
      const { post } = yield* open
      for (const requested of ["2030-01-01", "2025-11-25"]) {
        const [message, headers] = sessionless(1, "tools/list", {}, {
          "io.modelcontextprotocol/protocolVersion": requested
        })
        const { json, status } = yield* post(message, { ...headers, "mcp-protocol-version": requested })
        expect([status, json.error.code, json.error.data]).toEqual([400, -32022, {
          supported: ["2026-07-28"],
          requested
        }])
      }
    }))

  it.scoped("notifications are taken without a session", () =>
    Effect.gen(function*() {
      const { post } = yield* open
      const { status } = yield* post(notify("notifications/cancelled", { requestId: 1 }), {
        "mcp-protocol-version": version
      })
      expect(status).toBe(202)
    }))

  it.scoped("logs are sent from the level that the request names on, and none without one", () =>
    Effect.gen(function*() {
      const { stream } = yield* open
      const [message, headers] = sessionless(1, "tools/call", { name: "loud" }, {
        "io.modelcontextprotocol/logLevel": "error",
        progressToken: 9
      })
      const events = yield* stream(message, headers)
      expect((yield* events.next).params).toEqual({ level: "error", data: "big" })
      expect((yield* events.next).params).toEqual({ progressToken: 9, progress: 1 })
      const { result } = yield* events.next
      expect(result).toEqual({ ...textResult("false"), resultType: "complete", _meta: { own: 1, ...serverInfo } })
      expect(yield* events.next).toBeUndefined()
    }))

  it.scoped("a request without a level hears no log", () =>
    Effect.gen(function*() {
      const { post } = yield* open
      const [message, headers] = sessionless(1, "tools/call", { name: "loud" })
      const { json } = yield* post(message, { ...headers, accept: both })
      expect(json.result.resultType).toBe("complete")
    }))

  it.scoped("the client's leaving cancels the call", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const hang = tool("hang", (_, call) =>
        Effect.zipRight(call.progress(1), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
        ))
      const { stream } = yield* serve(surface([hang]))
      const [message, headers] = sessionless(1, "tools/call", { name: "hang" }, { progressToken: 1 })
      const events = yield* stream(message, headers)
      yield* events.next
      events.leave()
      yield* Deferred.await(interrupted)
    }))
})
