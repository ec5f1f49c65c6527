import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import {
  both,
  call,
  cancelled,
  initialize,
  notify,
  request,
  serve,
  settle,
  surface,
  textResult,
  tool
} from "./mcpSupport.ts"

const unknown = { "mcp-session-id": "11111111-1111-4111-8111-111111111111" }
const stream = { accept: "text/event-stream" }

const echo = tool("echo", (args) => Effect.succeed(textResult(JSON.stringify(args))))

/** A tool `hang` that never ends, and what became of its calls: `started:<n>`, `interrupted:<n>`. */
const hanging = Effect.gen(function*() {
  const events: Array<string> = []
  const started = yield* Deferred.make<void>()
  const hang = tool("hang", ({ n = 0 }) =>
    Effect.suspend(() => {
      events.push(`started:${n}`)
      return Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => events.push(`interrupted:${n}`)))))
  const waits = tool("waits", () => Effect.as(Effect.sleep("4 minutes"), textResult("awake")))
  return { events, started: Deferred.await(started), tools: surface([echo, hang, waits]) }
})

describe("MCP sessions", () => {
  it.scoped("M-1: an unknown session is a 404 and a missing one a 400, in requests, notifications and responses", () =>
    Effect.gen(function*() {
      const { post } = yield* serve(surface([echo]))
      for (const message of [request(7, "tools/list"), notify("x"), { jsonrpc: "2.0", id: 7, result: {} }]) {
        const lost = yield* post(message, unknown)
        expect([lost.status, lost.json.error.code]).toEqual([404, -32001])
        const missing = yield* post(message)
        expect([missing.status, missing.json.error.code]).toEqual([400, -32000])
      }
    }))

  it.scoped("M-1: a session of a server that was restarted is unknown", () =>
    Effect.gen(function*() {
      const before = yield* serve(surface([echo]))
      const session = yield* before.open()
      const after = yield* serve(surface([echo]))
      expect((yield* after.post(request(1, "tools/list"), session)).status).toBe(404)
    }))

  it.scoped("M-2: an unknown session is a 404 and no stream, even for a client that reads streams first", () =>
    Effect.gen(function*() {
      const { post } = yield* serve(surface([echo]))
      const { headers, status } = yield* post(call(1, "echo", {}, { progressToken: 1 }), {
        ...unknown,
        accept: "text/event-stream, application/json"
      })
      expect([status, headers.get("content-type")]).toEqual([404, "application/json"])
    }))

  it.scoped("a session may be optional: requests without one run, an unknown one is still a 404", () =>
    Effect.gen(function*() {
      const { open, post } = yield* serve(surface([echo]), { sessions: "optional" })
      expect((yield* post(call(1, "echo", { a: 1 }))).json.result).toEqual(textResult("{\"a\":1}"))
      expect((yield* post(request(1, "logging/setLevel", { level: "error" }))).json.result).toEqual({})
      expect((yield* post(notify("notifications/initialized"))).status).toBe(202)
      expect((yield* post(request(1, "ping"), unknown)).status).toBe(404)
      expect((yield* post(request(1, "ping"), yield* open())).status).toBe(200)
    }))

  it.scoped("sessions may be off: nobody gets one, none is looked for, GET and DELETE are not there", () =>
    Effect.gen(function*() {
      const served = yield* serve(surface([echo]), { sessions: "off" })
      const opened = yield* served.post(initialize())
      expect([opened.status, opened.headers.get("mcp-session-id")]).toEqual([200, null])
      expect((yield* served.post(call(1, "echo"), unknown)).status).toBe(200)
      for (const refused of [yield* served.get(stream), yield* served.delete(unknown)]) {
        expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST"])
      }
      expect(served.liveSessions()).toBe(0)
    }))

  it.scoped("initialize in a session is refused", () =>
    Effect.gen(function*() {
      const { liveSessions, open, post } = yield* serve(surface([echo]))
      const { json, status } = yield* post(initialize(), yield* open())
      expect([status, json.error.code]).toEqual([400, -32600])
      expect(liveSessions()).toBe(1)
    }))

  it.scoped("past the limit a session is refused for now", () =>
    Effect.gen(function*() {
      const { liveSessions, open, post } = yield* serve(surface([echo]), { maxSessions: 2 })
      const session = yield* open()
      yield* open()
      const { headers, json, status } = yield* post(initialize())
      expect([status, headers.get("retry-after"), json.error.code]).toEqual([503, "60", -32000])
      expect(liveSessions()).toBe(2)
      expect((yield* post(call(1, "echo"), session)).status).toBe(200)
    }))

  it.scoped("a revision in the header that we do not know is refused, a known one is not", () =>
    Effect.gen(function*() {
      const { open, post } = yield* serve(surface([echo]))
      const session = yield* open()
      const ping = (version: string) => post(request(1, "ping"), { ...session, "mcp-protocol-version": version })
      expect((yield* ping("2024-11-05")).status).toBe(200)
      const { json, status } = yield* ping("1999-01-01")
      expect([status, json.error.code]).toEqual([400, -32000])
      expect(json.error.message).toContain("Unsupported protocol version: 1999-01-01")
    }))

  it.scoped("a second request under an id that still runs is refused; 7 and \"7\" are two ids", () =>
    Effect.gen(function*() {
      const { started, tools } = yield* hanging
      const { open, post } = yield* serve(tools)
      const session = yield* open()
      yield* Effect.fork(post(call(7, "hang"), session))
      yield* started
      for (const message of [call(7, "echo"), request(7, "ping")]) {
        const { json, status } = yield* post(message, session)
        expect([status, json.error.code, json.id]).toEqual([400, -32600, 7])
      }
      expect((yield* post(call("7", "echo"), session)).status).toBe(200)
      expect((yield* post(call(7, "echo"), yield* open())).status).toBe(200)
    }))

  it.scoped("an id is free again when its call has ended", () =>
    Effect.gen(function*() {
      const { started, tools } = yield* hanging
      const { open, post } = yield* serve(tools)
      const session = yield* open()
      const first = yield* Effect.fork(post(call(0, "hang"), session))
      yield* started
      yield* post(cancelled(0), session)
      yield* Fiber.join(first)
      expect((yield* post(call(0, "echo"), session)).json.result).toEqual(textResult("{}"))
    }))
})

describe("MCP cancellation", () => {
  it.scoped("M-17: stops the call with the id of that type and value, and its POST ends empty", () =>
    Effect.gen(function*() {
      const { events, tools } = yield* hanging
      const { open, post } = yield* serve(tools)
      const session = yield* open()
      const calls = yield* Effect.forEach(
        [7, "7", 0, ""],
        (id) => Effect.fork(post(call(id, "hang", { n: JSON.stringify(id) }), session))
      )
      while (events.length < 4) yield* settle
      const [seven, text, zero, empty] = calls
      for (const [id, fiber] of [["7", text], [7, seven], [0, zero], ["", empty]] as const) {
        events.length = 0
        expect((yield* post(cancelled(id), session)).status).toBe(202)
        const { status, text } = yield* Fiber.join(fiber!)
        expect([status, text]).toEqual([202, ""])
        expect(events).toEqual([`interrupted:${JSON.stringify(id)}`])
      }
    }))

  it.scoped("ends a stream that was begun, without an answer", () =>
    Effect.gen(function*() {
      const speak = tool("speak", (_, call) => Effect.zipRight(call.progress(1), Effect.never))
      const { open, post, stream } = yield* serve(surface([speak]))
      const session = yield* open()
      const events = yield* stream(call(1, "speak", {}, { progressToken: 5 }), session)
      expect((yield* events.next).method).toBe("notifications/progress")
      yield* post(cancelled(1), session)
      expect(yield* events.next).toBeUndefined()
    }))

  it.scoped("of another session's call, of none, and without an id does nothing", () =>
    Effect.gen(function*() {
      const { events, started, tools } = yield* hanging
      const { open, post } = yield* serve(tools)
      const session = yield* open()
      const running = yield* Effect.fork(post(call(1, "hang"), session))
      yield* started
      expect((yield* post(cancelled(1), yield* open())).status).toBe(202)
      expect((yield* post(cancelled(2), session)).status).toBe(202)
      expect((yield* post(notify("notifications/cancelled"), session)).status).toBe(202)
      yield* settle
      expect(events).toEqual(["started:0"])
      yield* Fiber.interrupt(running)
    }))

  it.scoped("is what a client does that leaves, too", () =>
    Effect.gen(function*() {
      const { events, started, tools } = yield* hanging
      const { open, post } = yield* serve(tools)
      const running = yield* Effect.fork(post(call(1, "hang"), yield* open()))
      yield* started
      yield* Fiber.interrupt(running)
      while (events.length < 2) yield* settle
      expect(events).toEqual(["started:0", "interrupted:0"])
    }))

  it.scoped("a call that waits behind a data operation can be cancelled, and never starts", () =>
    Effect.gen(function*() {
      const { events, tools } = yield* hanging
      const { gate, open, post } = yield* serve(tools)
      const session = yield* open()
      const data = gate.data("data/add")
      const waiting = yield* Effect.fork(post(call(1, "hang"), session))
      yield* settle
      yield* post(cancelled(1), session)
      expect((yield* Fiber.join(waiting)).status).toBe(202)
      data.leave()
      yield* settle
      expect(events).toEqual([])
      expect(gate.busy).toBe(false)
    }))

  it.scoped("B-ERR-4: a call that data/reset interrupted answers episode_reset", () =>
    Effect.gen(function*() {
      const { started, tools } = yield* hanging
      const { gate, open, post } = yield* serve(tools)
      const running = yield* Effect.fork(post(call(1, "hang"), yield* open()))
      yield* started
      gate.fence()
      const { json, status } = yield* Fiber.join(running)
      expect([status, json.result.isError]).toEqual([200, true])
      expect(json.result.structuredContent).toMatchObject({
        code: "episode_reset",
        retryable: false,
        applied: "unknown"
      })
      expect(json.result.content[0].text).toMatch(/^episode_reset: /)
      expect(gate.busy).toBe(false)
    }))
})

describe("MCP GET", () => {
  it.scoped("M-7: is a stream or a JSON refusal, never a page", () =>
    Effect.gen(function*() {
      const { get, open } = yield* serve(surface([echo]))
      const session = yield* open()
      for (
        const [headers, status] of [
          [stream, 400],
          [session, 406],
          [{ ...stream, ...unknown }, 404],
          [{ ...stream, ...session, "mcp-protocol-version": "2026-07-28" }, 405]
        ] as const
      ) {
        const refused = yield* get(headers)
        expect([refused.status, refused.headers.get("content-type")]).toEqual([status, "application/json"])
        expect(refused.json.error.code).toBeLessThan(0)
      }
    }))

  it.scoped("opens one stream a session, and another when the first was left", () =>
    Effect.gen(function*() {
      const served = yield* serve(surface([echo]))
      const headers = { ...yield* served.open(), ...stream }
      const first = yield* served.stream(undefined, headers, "GET")
      expect([first.status, first.headers.get("content-type")]).toEqual([200, "text/event-stream"])
      const second = yield* served.get(headers)
      expect([second.status, second.json.error.code]).toEqual([409, -32000])
      first.leave()
      yield* settle
      expect((yield* served.stream(undefined, headers, "GET")).status).toBe(200)
    }))

  it.scoped("M-14: replays nothing, whatever event the client asks to go on from", () =>
    Effect.gen(function*() {
      const served = yield* serve(surface([
        tool("speak", (_, call) => Effect.as(call.progress(1), textResult("done")))
      ]))
      const [a, b] = [yield* served.open(), yield* served.open()]
      yield* served.post(call(1, "speak", {}, { progressToken: 1 }), { ...b, accept: both })
      const events = yield* served.stream(undefined, { ...a, ...stream, "last-event-id": "1" }, "GET")
      yield* served.delete(a)
      expect(yield* events.next).toBeUndefined()
      expect(events.seen()).toBe("")
    }))

  it.scoped("M-16: is kept alive by comments", () =>
    Effect.gen(function*() {
      const served = yield* serve(surface([echo]))
      const session = yield* served.open()
      const events = yield* served.stream(undefined, { ...session, ...stream }, "GET")
      yield* TestClock.adjust("15 seconds")
      yield* served.delete(session)
      expect(yield* events.next).toBeUndefined()
      expect(events.seen()).toMatch(/^: .*\n\n$/)
    }))

  it.scoped("is not there when nothing may stream", () =>
    Effect.gen(function*() {
      const { get, open } = yield* serve(surface([echo]), { json: true })
      const { headers, status } = yield* get({ ...yield* open(), ...stream })
      expect([status, headers.get("allow")]).toEqual([405, "POST, DELETE"])
    }))
})

describe("MCP session ends", () => {
  it.scoped("M-11: DELETE frees everything, and later use is a 404", () =>
    Effect.gen(function*() {
      const served = yield* serve(surface([echo]))
      for (let i = 0; i < 100; i++) {
        const session = yield* served.open()
        expect((yield* served.delete(session)).status).toBe(200)
        if (i === 0) expect((yield* served.post(request(1, "ping"), session)).status).toBe(404)
        if (i === 0) expect((yield* served.delete(session)).status).toBe(404)
      }
      expect(served.liveSessions()).toBe(0)
      expect((yield* served.delete()).status).toBe(400)
    }))

  it.scoped("DELETE interrupts the session's calls, which are answered, and ends its stream", () =>
    Effect.gen(function*() {
      const { events, started, tools } = yield* hanging
      const served = yield* serve(tools)
      const session = yield* served.open()
      const running = yield* Effect.fork(served.post(call(1, "hang"), session))
      const listening = yield* served.stream(undefined, { ...session, ...stream }, "GET")
      yield* started
      yield* served.delete(session)
      const { json } = yield* Fiber.join(running)
      expect([json.id, json.error.code]).toEqual([1, -32000])
      expect(yield* listening.next).toBeUndefined()
      expect(events).toEqual(["started:0", "interrupted:0"])
    }))

  it.scoped("M-9: a session that idles for 30 minutes ends, one that is used does not", () =>
    Effect.gen(function*() {
      const served = yield* serve(surface([echo]))
      const idle = yield* served.open()
      const used = yield* served.open()
      yield* TestClock.adjust("20 minutes")
      yield* served.post(request(1, "ping"), used)
      yield* TestClock.adjust("11 minutes")
      expect(served.liveSessions()).toBe(1)
      expect((yield* served.post(request(1, "ping"), idle)).status).toBe(404)
      expect((yield* served.post(request(1, "ping"), used)).status).toBe(200)
      yield* TestClock.adjust("31 minutes")
      expect(served.liveSessions()).toBe(0)
    }))

  it.scoped("M-9: neither a running call nor an open stream lets a session end", () =>
    Effect.gen(function*() {
      const { tools } = yield* hanging
      const served = yield* serve(tools, { idleTimeout: "2 minutes" })
      const [calling, listening] = [yield* served.open(), yield* served.open()]
      const waiting = yield* Effect.fork(served.post(call(1, "waits"), calling))
      const events = yield* served.stream(undefined, { ...listening, ...stream }, "GET")
      yield* settle
      yield* TestClock.adjust("3 minutes")
      expect(served.liveSessions()).toBe(2)
      yield* TestClock.adjust("1 minutes")
      expect((yield* Fiber.join(waiting)).json.result).toEqual(textResult("awake"))
      events.leave()
      yield* settle
      yield* TestClock.adjust("1 minutes")
      expect(served.liveSessions()).toBe(2)
      yield* TestClock.adjust("1 minutes")
      expect(served.liveSessions()).toBe(0)
    }))

  it.scoped("M-9, M-12: a thousand abandoned sessions are all gone after their time", () =>
    Effect.gen(function*() {
      const served = yield* serve(surface([echo]))
      for (let i = 0; i < 1_000; i++) yield* served.post(initialize({ elicitation: {} }))
      expect(served.liveSessions()).toBe(1_000)
      yield* TestClock.adjust("31 minutes")
      expect(served.liveSessions()).toBe(0)
    }))

  it.scoped("the end of the server answers what runs, ends the streams and refuses what comes", () =>
    Effect.gen(function*() {
      const { events, started, tools } = yield* hanging
      const speak = tool("speak", (_, call) => Effect.zipRight(call.progress(1), Effect.never))
      const scope = yield* Scope.make()
      const all = surface([...tools.tools, speak])
      const served = yield* Scope.extend(serve(all), scope)
      const session = yield* served.open()
      const running = yield* Effect.fork(served.post(call(1, "hang"), session))
      const speaking = yield* served.stream(call(2, "speak", {}, { progressToken: 1 }), session)
      const listening = yield* served.stream(undefined, { ...session, ...stream }, "GET")
      yield* started
      yield* speaking.next
      yield* Scope.close(scope, Exit.void)
      const shutdown = { code: -32000, message: "Server is shutting down" }
      const { json, status } = yield* Fiber.join(running)
      expect([status, json.id, json.error]).toEqual([503, 1, shutdown])
      expect(yield* speaking.next).toEqual({ jsonrpc: "2.0", id: 2, error: shutdown })
      expect(yield* speaking.next).toBeUndefined()
      expect(yield* listening.next).toBeUndefined()
      expect(events).toEqual(["started:0", "interrupted:0"])
      const refused = yield* served.post(request(3, "ping"), session)
      expect([refused.status, refused.json.id, refused.json.error]).toEqual([503, 3, shutdown])
      expect((yield* served.get({ ...session, ...stream })).status).toBe(503)
    }))
})
