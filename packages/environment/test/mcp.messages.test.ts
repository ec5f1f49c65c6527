import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { call, initialize, notify, request, serve, surface, textResult, tool } from "./mcpSupport.ts"

const echo = tool("echo", (args) => Effect.succeed(textResult(JSON.stringify(args))))
const tools = surface([echo])

const open = Effect.gen(function*() {
  const served = yield* serve(tools)
  const session = yield* served.open()
  return {
    ...served,
    session,
    ask: (message: unknown) => served.post(message, session),
    raw: (body: string | Uint8Array) => served.send(body, session)
  }
})

/** A call of exactly so many bytes. */
const body = (size: number) => {
  const empty = JSON.stringify(call(1, "echo", { text: "" }))
  return JSON.stringify(call(1, "echo", { text: "x".repeat(size - empty.length) }))
}

describe("MCP messages", () => {
  it.scoped("refuses a body that is not JSON: malformed, empty, not UTF-8, nested too deep", () =>
    Effect.gen(function*() {
      const { raw } = yield* open
      for (
        const body of ["{", "", new Uint8Array([0x22, 0xff, 0x22]), `${"[".repeat(600)}${"]".repeat(600)}`.repeat(2)]
      ) {
        const { json, status } = yield* raw(body)
        expect([status, json.error.code, json.id]).toEqual([400, -32700, null])
      }
    }))

  it.scoped("refuses half a surrogate pair, and names where it is and which request it was in", () =>
    Effect.gen(function*() {
      const { raw } = yield* open
      const named = yield* raw(
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"a\":[\"\\ud800\"]}}}"
      )
      expect([named.status, named.json.id, named.json.error.code]).toEqual([400, 7, -32602])
      expect(named.json.error.data.detail).toContain("params.arguments.a[0]")
      const unnamed = yield* raw("{\"jsonrpc\":\"2.0\",\"id\":\"\\udc00\",\"method\":\"ping\"}")
      expect([unnamed.status, unnamed.json.id]).toEqual([400, null])
    }))

  it.scoped("refuses batches and everything that is no message, with the id when it is one", () =>
    Effect.gen(function*() {
      const { ask } = yield* open
      const refused: ReadonlyArray<readonly [unknown, unknown]> = [
        [[], null],
        [[request(1, "ping")], null],
        ["text", null],
        [7, null],
        [null, null],
        [{}, null],
        [{ ...request(1, "ping"), jsonrpc: "1.0" }, 1],
        [{ id: 1, method: "ping" }, 1],
        [request(null, "ping"), null],
        [request(1.5, "ping"), null],
        [request(true, "ping"), null],
        [{ jsonrpc: "2.0", id: 1 }, 1],
        [{ jsonrpc: "2.0", id: 1, method: 2 }, 1],
        [request("a", "ping", []), "a"],
        [request(0, "ping", "x"), 0],
        [request(1, "ping", null), 1]
      ]
      for (const [message, id] of refused) {
        const { json, status } = yield* ask(message)
        expect([message, status, json.error.code, json.id]).toEqual([message, 400, -32600, id])
      }
    }))

  it.scoped("accepts keys it does not know at the top, and 0 and the empty text as ids", () =>
    Effect.gen(function*() {
      const { ask } = yield* open
      expect((yield* ask({ ...request(0, "ping"), extra: 1 })).json).toEqual({ jsonrpc: "2.0", id: 0, result: {} })
      expect((yield* ask(request("", "ping"))).json).toEqual({ jsonrpc: "2.0", id: "", result: {} })
    }))

  it.scoped("wants JSON by its content type, parameters and case aside", () =>
    Effect.gen(function*() {
      const { post, session } = yield* open
      const status = (type: string) =>
        Effect.map(post(request(1, "ping"), { ...session, "content-type": type }), ({ status }) => status)
      expect(yield* status("Application/JSON; charset=utf-8")).toBe(200)
      expect(yield* status("text/plain")).toBe(415)
      const refused = yield* post(request(1, "ping"), { ...session, "content-type": "application/jsonp" })
      expect([refused.status, refused.json.error.code]).toEqual([415, -32000])
    }))

  it.scoped("M-6: answers JSON whatever is accepted", () =>
    Effect.gen(function*() {
      const { post, session } = yield* open
      for (const accept of ["application/json", "*/*", "", "text/html"]) {
        const { headers, status } = yield* post(call(1, "echo"), { ...session, accept })
        expect([status, headers.get("content-type")]).toEqual([200, "application/json"])
      }
    }))

  it.scoped("M-19: takes a body up to the limit and refuses one byte more with a JSON body", () =>
    Effect.gen(function*() {
      const limit = 2_000
      const served = yield* serve(tools, { bodyLimit: limit })
      const session = yield* served.open()
      expect((yield* served.send(body(limit), session)).status).toBe(200)
      const refused = yield* served.send(body(limit + 1), session)
      expect([refused.status, refused.json.error.code, refused.json.id]).toEqual([413, -32600, null])
      const chunked = yield* Effect.promise(() =>
        served.fetch({
          method: "POST",
          headers: { "content-type": "application/json", ...session },
          body: new Blob([body(limit + 1)]).stream(),
          duplex: "half"
        } as RequestInit)
      )
      expect(chunked.status).toBe(413)
    }))

  it.scoped("M-19: takes 4 MiB by default", () =>
    Effect.gen(function*() {
      const { raw } = yield* open
      const { status } = yield* raw(JSON.stringify(call(1, "echo", { text: "x".repeat(4 * 1024 * 1024) })))
      expect(status).toBe(413)
      expect((yield* raw(JSON.stringify(call(1, "echo", { text: "x".repeat(1024 * 1024) })))).status).toBe(200)
    }))

  it.scoped("answers notifications and responses with an empty 202", () =>
    Effect.gen(function*() {
      const { ask } = yield* open
      for (
        const message of [
          notify("notifications/initialized"),
          notify("notifications/unheard/of", { a: 1 }),
          { jsonrpc: "2.0", id: 99, result: {} },
          { jsonrpc: "2.0", id: null, error: { code: 1, message: "no" } }
        ]
      ) {
        expect((yield* ask(message)).status).toBe(202)
        expect((yield* ask(message)).text).toBe("")
      }
    }))

  it.scoped("allows GET, POST and DELETE alone", () =>
    Effect.gen(function*() {
      const { send } = yield* open
      for (const method of ["PUT", "PATCH", "OPTIONS"]) {
        const { headers, status } = yield* send("{}", {}, method)
        expect([status, headers.get("allow")]).toEqual([405, "GET, POST, DELETE"])
      }
    }))

  it.scoped("M-29: every answer is one object", () =>
    Effect.gen(function*() {
      const { ask, post } = yield* open
      for (const message of [request(1, "ping"), call(2, "echo"), request(3, "tools/list"), request(4, "nope"), []]) {
        expect((yield* ask(message)).text).toMatch(/^\{/)
      }
      expect((yield* post(initialize())).text).toMatch(/^\{/)
    }))
})

describe("MCP methods", () => {
  it.scoped("initialize tells who we are and agrees on the client's revision, or names our latest", () =>
    Effect.gen(function*() {
      const { post } = yield* serve(surface([echo], { instructions: "Count twice." }))
      for (const known of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]) {
        expect((yield* post(initialize({}, known))).json.result.protocolVersion).toBe(known)
      }
      const { headers, json, status } = yield* post(initialize({}, "1999-01-01"))
      expect(status).toBe(200)
      expect(headers.get("mcp-session-id")).toMatch(/^[0-9a-f-]{36}$/)
      expect(json).toEqual({
        jsonrpc: "2.0",
        id: "init",
        result: {
          protocolVersion: "2025-11-25",
          capabilities: { logging: {}, tools: { listChanged: true } },
          serverInfo: { name: "parcels", version: "1.2.3" },
          instructions: "Count twice."
        }
      })
    }))

  it.scoped("initialize names the parameter that is wrong", () =>
    Effect.gen(function*() {
      const served = yield* serve(tools)
      const message = initialize()
      for (const field of ["protocolVersion", "capabilities", "clientInfo"]) {
        const { json, status } = yield* served.post({ ...message, params: { ...message.params, [field]: 7 } })
        expect([status, json.error.code]).toEqual([200, -32602])
        expect(json.error.message).toContain(`params.${field}`)
      }
      expect(served.liveSessions()).toBe(0)
    }))

  it.scoped("tools/list is one page of what is served now, and knows no cursor", () =>
    Effect.gen(function*() {
      const { ask } = yield* open
      expect((yield* ask(request(1, "tools/list"))).json.result).toEqual({
        tools: [{ name: "echo", description: "The tool echo.", inputSchema: { type: "object" } }]
      })
      const { json, status } = yield* ask(request(1, "tools/list", { cursor: "2" }))
      expect([status, json.error.code]).toEqual([200, -32602])
      expect(json.error.message).toContain("params.cursor")
    }))

  it.scoped("answers what it does not serve with method not found, resources and prompts too when there are none", () =>
    Effect.gen(function*() {
      const { ask } = yield* open
      for (
        const method of [
          "nope",
          "__proto__",
          "server/discover",
          "resources/list",
          "resources/templates/list",
          "resources/read",
          "prompts/list",
          "prompts/get"
        ]
      ) {
        const { json, status } = yield* ask(request(1, method, { uri: "a", name: "a" }))
        expect([method, status, json.error.code]).toEqual([method, 200, -32601])
      }
    }))

  it.scoped("B-TCL-5: an unknown tool is an error result that names it, whatever its name", () =>
    Effect.gen(function*() {
      const { ask } = yield* open
      for (const name of ["nope", "__proto__", "constructor", ""]) {
        const { json, status } = yield* ask(call(1, name))
        expect([status, json.result]).toEqual([200, {
          content: [{ type: "text", text: `Unknown tool: ${name}` }],
          isError: true
        }])
      }
    }))

  it.scoped("tools/call names the parameter that is wrong, and no arguments, or null, are an empty object", () =>
    Effect.gen(function*() {
      const { ask } = yield* open
      const wrong: ReadonlyArray<readonly [unknown, string]> = [
        [undefined, "params.name"],
        [{}, "params.name"],
        [{ name: 7 }, "params.name"],
        [{ name: "echo", arguments: [] }, "params.arguments"],
        [{ name: "echo", arguments: "{}" }, "params.arguments"],
        [{ name: "echo", _meta: "x" }, "params._meta"]
      ]
      for (const [params, field] of wrong) {
        const { json, status } = yield* ask(request(1, "tools/call", params))
        expect([status, json.error.code]).toEqual([200, -32602])
        expect(json.error.message).toContain(field)
      }
      for (const none of [{}, { arguments: null }]) {
        const { json } = yield* ask(request(1, "tools/call", { name: "echo", ...none }))
        expect(json.result).toEqual(textResult("{}"))
      }
    }))

  it.scoped("a call whose arguments are refused answers the refusal and runs nothing", () =>
    Effect.gen(function*() {
      const started: Array<string> = []
      const { open, post } = yield* serve(tools, { onCallStart: (name) => started.push(name) })
      const session = yield* open()
      const { json } = yield* post(call(1, "echo", { refuse: true }), session)
      expect(json.result.isError).toBe(true)
      expect(started).toEqual([])
      yield* post(call(1, "echo"), session)
      expect(started).toEqual(["echo"])
    }))

  it.scoped("a result that cannot be written answers a correlation id and nothing of the mistake", () =>
    Effect.gen(function*() {
      const broken = tool("broken", () => Effect.succeed({ content: [], structuredContent: { n: 1n } }))
      const { open, post } = yield* serve(surface([broken]))
      const { json, text } = yield* post(call(1, "broken"), yield* open())
      expect(json.error.code).toBe(-32603)
      expect(json.error.message).toMatch(/[0-9a-f]{32}/)
      expect(text).not.toContain("BigInt")
    }))
})
