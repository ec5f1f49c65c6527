import * as ToolClient from "@effect-agentenv/client/ToolClient"
import { AgentEnvError } from "@effect-agentenv/protocol/AgentEnvError"
import * as Caller from "@effect-agentenv/protocol/Caller"
import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Cause, Deferred, Duration, Effect, Exit, FastCheck, Fiber, Option, Scope, TestClock } from "effect"
import {
  event,
  events,
  fake,
  type FakeMcp,
  fakeMcp,
  type Handle,
  json,
  liveEvents,
  node,
  result,
  says,
  text
} from "./support.ts"

const url = "http://fake/mcp"

const connect = (server: Pick<FakeMcp, "layer">, options: Partial<ToolClient.Options> = {}) =>
  Effect.provide(ToolClient.make({ url, ...options }), server.layer)

const echo: Handle = (message) =>
  Effect.succeed(result(message, says(JSON.stringify(message.params.arguments ?? message.params))))

const answer = (id: number, value: unknown) => event({ jsonrpc: "2.0", id, result: value })

const opening = (received: { readonly body: any }) =>
  json({ jsonrpc: "2.0", id: received.body.id, result: {} }, 200, { "mcp-session-id": "s" })

describe("the session (B-TSESS-1, B-TCL-1)", () => {
  it.effect("opens with initialize and initialized, then sends what the server answered as headers", () =>
    Effect.gen(function*() {
      const server = fakeMcp(echo)
      yield* Effect.scoped(Effect.gen(function*() {
        const tools = yield* connect(server, { role: " judge ", headers: { Accept: "text/html", "X-Key": "k" } })
        yield* tools.callTool("t")
        expect(yield* tools.session).toMatchObject({
          id: "s1",
          protocolVersion: "2025-06-18",
          server: { name: "fake" },
          instructions: "Be kind."
        })
      }))
      expect(server.log.map(({ body }) => body)).toEqual([
        {
          jsonrpc: "2.0",
          id: 1,
          method: "initialize",
          params: {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "agentenv-protocol", version: "1.0" }
          }
        },
        { jsonrpc: "2.0", method: "notifications/initialized" },
        { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "t", arguments: {} } },
        undefined
      ])
      for (const { headers } of server.log) {
        expect(headers).toMatchObject({
          accept: "application/json, text/event-stream",
          "agentenv-role": "judge",
          "x-key": "k"
        })
      }
      const session = { "mcp-session-id": "s1", "mcp-protocol-version": "2025-06-18" }
      expect(server.log[0]?.headers).not.toHaveProperty("mcp-session-id")
      expect(server.log[0]?.headers).not.toHaveProperty("mcp-protocol-version")
      for (const received of server.log.slice(1)) expect(received.headers).toMatchObject(session)
      expect(server.log.at(-1)?.method).toBe("DELETE")
      expect(server.sessions()).toEqual([])
    }))

  it.scoped("does without a session id and a version, and sends no blank role (B-TSESS-2, B-TSESS-3)", () =>
    Effect.gen(function*() {
      const server = fake(({ body }) => Effect.succeed(result(body, body?.method === "initialize" ? {} : says("a"))))
      const tools = yield* connect(server, { role: " " })
      expect((yield* tools.callTool("t")).text).toBe("a")
      expect(server.log[2]?.headers).toMatchObject({ "mcp-protocol-version": "2025-11-25" })
      expect(server.log[2]?.headers).not.toHaveProperty("mcp-session-id")
      expect(server.log[2]?.headers).not.toHaveProperty("agentenv-role")
    }))

  it.effect("ends with the scope, also of an owner that is interrupted (B-TCL-7)", () =>
    Effect.gen(function*() {
      const server = fakeMcp(echo)
      const opened = yield* Deferred.make<void>()
      const owner = yield* connect(server).pipe(
        Effect.zipRight(Deferred.succeed(opened, undefined)),
        Effect.zipRight(Effect.never),
        Effect.scoped,
        Effect.fork
      )
      yield* Deferred.await(opened)
      expect(server.sessions()).toEqual(["s1"])
      yield* Fiber.interrupt(owner)
      expect(server.log.at(-1)?.method).toBe("DELETE")
      expect(server.sessions()).toEqual([])
    }))

  it.effect("waits 5 s at most for the server to forget it, and swallows what goes wrong (B-TSESS-6)", () =>
    Effect.gen(function*() {
      const hung = fake((received) => received.method === "DELETE" ? Effect.never : Effect.succeed(opening(received)))
      const scope = yield* Scope.make()
      yield* Effect.provideService(connect(hung), Scope.Scope, scope)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("4999 millis")
      expect(Option.isNone(yield* Fiber.poll(closing))).toBe(true)
      yield* TestClock.adjust("1 millis")
      expect(Exit.isSuccess(yield* Fiber.await(closing))).toBe(true)

      const broken = fake((received) =>
        received.method === "DELETE" ? Effect.fail({ code: "ECONNRESET" }) : Effect.succeed(opening(received))
      )
      yield* Effect.scoped(connect(broken))
      expect(broken.log.at(-1)?.method).toBe("DELETE")
    }))

  it.effect("stays closed when initialize fails (B-TCL-7)", () =>
    Effect.gen(function*() {
      const server = fake(({ body }) =>
        Effect.succeed(json({ jsonrpc: "2.0", id: body.id, error: { code: -32602, message: "no" } }))
      )
      const error = yield* Effect.flip(Effect.scoped(connect(server)))
      expect(error).toMatchObject({ _tag: "RpcError", operation: "initialize", code: -32602, reason: "no" })
      expect(server.log).toHaveLength(1)
    }))

  it.effect("can't be used outside its scope (B-TSESS-6)", () =>
    Effect.gen(function*() {
      const tools = yield* Effect.scoped(connect(fakeMcp(echo)))
      expect(Exit.isFailure(yield* Effect.exit(tools.callTool("t")))).toBe(true)
    }))

  it.scoped("goes to the path of an environment below its base URL", () =>
    Effect.gen(function*() {
      const server = fakeMcp(echo)
      yield* Effect.provide(ToolClient.make({ baseUrl: "http://fake/env/" }), server.layer)
      yield* Effect.provide(ToolClient.make({ baseUrl: "http://fake", mcpPath: "/tools" }), server.layer)
      expect(new Set(server.log.map(({ url }) => url))).toEqual(new Set(["http://fake/env/mcp", "http://fake/tools"]))
    }))

  it.scoped("follows redirects that keep the request, and shows its headers to no other origin (B-TCL-2)", () =>
    Effect.gen(function*() {
      const server = fakeMcp(echo)
      const moved = fake((received) =>
        received.url === "http://fake/mcp"
          ? Effect.succeed(new Response(null, { status: 307, headers: { location: "/mcp/" } }))
          : received.url === "http://fake/mcp/"
          ? Effect.succeed(new Response(null, { status: 308, headers: { location: "http://other/mcp" } }))
          : Effect.succeed(result(received.body, says("moved")))
      )
      const tools = yield* connect(moved, { headers: { authorization: "secret" } })
      expect((yield* tools.callTool("t")).text).toBe("moved")
      const seen = (url: string) => moved.log.find((received) => received.url === url)?.headers["authorization"]
      expect([seen("http://fake/mcp"), seen("http://fake/mcp/"), seen("http://other/mcp")]).toEqual([
        "secret",
        "secret",
        undefined
      ])
      expect(server.log).toEqual([])
    }))
})

const once = (respond: (message: any) => Response, call = (tools: ToolClient.Service) => tools.callTool("t")) =>
  Effect.scoped(Effect.flatMap(
    connect(fakeMcp((message) => Effect.sync(() => respond(message)))),
    (tools) => Effect.either(call(tools))
  ))

const leftOf = (respond: (message: any) => Response) =>
  Effect.map(once(respond), (either) => (either._tag === "Left" ? either.left : either))

describe("answers", () => {
  it.effect("are read from JSON and from event streams alike (B-TCL-4)", () =>
    Effect.gen(function*() {
      const value = { ...says("a"), structuredContent: { n: 1 }, _meta: { other: true } }
      const expected = {
        content: [{ type: "text", text: "a" }],
        isError: false,
        structuredContent: { n: 1 },
        text: "a"
      }
      expect(yield* once((message) => result(message, value))).toMatchObject({ right: expected })
      expect(
        yield* once(({ id }) =>
          events(
            ": hello\r\n\r\n",
            "event: other\ndata: no JSON\n\n",
            "data:\n\n".replace("data:", ":"),
            event({ jsonrpc: "2.0", method: "notifications/unknown" }),
            answer(id + 1, says("another's")),
            `data: {"jsonrpc":"2.0",\ndata: "id":${id},\ndata: "result":${JSON.stringify(value)}}\n\n`
          )
        )
      ).toMatchObject({ right: expected })
    }))

  it.effect("of failing and unknown tools are results, whose text joins the text blocks (B-TCL-5)", () =>
    Effect.gen(function*() {
      const content = [{ type: "text", text: "a" }, { type: "image", data: "", mimeType: "image/png" }, {
        type: "text",
        text: "b"
      }]
      const found = yield* once((message) => result(message, { content, isError: true }))
      expect(found).toMatchObject({ right: { isError: true, text: "a\nb" } })
    }))

  it.effect("that are wrong are typed errors naming the method (B-TCL-6, B-TSESS-4)", () =>
    Effect.gen(function*() {
      const unreadable = { _tag: "Unreadable", operation: "tools/call" }

      expect(
        yield* leftOf(({ id }) => json({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such", data: "d" } }))
      ).toMatchObject({ _tag: "RpcError", operation: "tools/call", code: -32601, data: { detail: "d" } })
      expect(yield* leftOf(() => text("x".repeat(2000), 500))).toMatchObject({
        _tag: "BadStatus",
        status: 500,
        url,
        body: "x".repeat(1000)
      })
      expect(yield* leftOf(({ id }) => json({ jsonrpc: "2.0", id }))).toMatchObject(unreadable)
      expect(yield* leftOf(({ id }) => json([{ jsonrpc: "2.0", id, result: says("a") }]))).toMatchObject(unreadable)
      expect(yield* leftOf(({ id }) => json({ jsonrpc: "2.0", id: id + 1, result: says("a") }))).toMatchObject(
        unreadable
      )
      expect(yield* leftOf((message) => result(message, "text"))).toMatchObject({ ...unreadable, what: "the result" })
      expect(yield* leftOf((message) => result(message, { content: [{ type: "text", text: 1 }] }))).toMatchObject(
        unreadable
      )
      expect(yield* leftOf(() => new Response("{", { headers: { "content-type": "application/json" } }))).toMatchObject(
        {
          ...unreadable,
          issues: "it is no JSON"
        }
      )
      expect(yield* leftOf(() => text("hello"))).toMatchObject({
        ...unreadable,
        issues: "it is neither JSON nor an event stream but text/plain"
      })
      expect(yield* leftOf(({ id }) => events(answer(id, says("a")).trimEnd()))).toMatchObject({
        ...unreadable,
        issues: "the event stream ended before it"
      })
      expect(yield* leftOf(() => events("data: [1]\n\n"))).toMatchObject(unreadable)
      expect(yield* leftOf(() => events("data: {\n\n"))).toMatchObject({ ...unreadable, what: "an event" })
    }))

  it.effect("to tools/list are read page by page, each tool as far as it goes (B-TCL-3, B-TSESS-2)", () =>
    Effect.gen(function*() {
      const server = fakeMcp((message) =>
        Effect.succeed(result(
          message,
          message.params.cursor === "2"
            ? {
              tools: [{ name: "c", inputSchema: { type: "object", properties: { x: {} } }, custom: 1 }],
              nextCursor: null
            }
            : { tools: [{ name: "a" }, { name: "b", description: "B." }], nextCursor: "2" }
        ))
      )
      const tools = yield* Effect.scoped(Effect.flatMap(connect(server), (tools) => tools.listTools))
      expect(tools).toEqual([
        { name: "a", inputSchema: { type: "object", properties: {} } },
        { name: "b", description: "B.", inputSchema: { type: "object", properties: {} } },
        { name: "c", inputSchema: { type: "object", properties: { x: {} } }, custom: 1 }
      ])
      expect(server.messages().map(({ params }) => params)).toEqual([{}, { cursor: "2" }])

      const circle = yield* once(
        (message) => result(message, { tools: [], nextCursor: "1" }),
        (it) => Effect.asVoid(it.listTools) as never
      )
      expect(circle).toMatchObject({ left: { _tag: "Unreadable", operation: "tools/list" } })
      const wrong = yield* once((message) => result(message, { tools: {} }), (it) => it.listTools as never)
      expect(wrong).toMatchObject({ left: { _tag: "Unreadable", issues: "tools: expected array" } })
    }))

  it.scoped("to the methods of resources and prompts are typed", () =>
    Effect.gen(function*() {
      const values: Record<string, unknown> = {
        "resources/list": { resources: [{ uri: "a:1", name: "one" }] },
        "resources/templates/list": { resourceTemplates: [{ uriTemplate: "a:{n}", name: "any" }] },
        "resources/read": { contents: [{ uri: "a:1", text: "hello" }] },
        "prompts/list": { prompts: [{ name: "p" }] },
        "prompts/get": { messages: [{ role: "user", content: { type: "text", text: "hi" } }] }
      }
      const server = fakeMcp((message) => Effect.succeed(result(message, values[message.method])))
      const tools = yield* connect(server)
      expect(yield* tools.listResources).toEqual([{ uri: "a:1", name: "one" }])
      expect(yield* tools.listResourceTemplates).toEqual([{ uriTemplate: "a:{n}", name: "any" }])
      expect(yield* tools.readResource("a:1")).toEqual([{ uri: "a:1", text: "hello" }])
      expect(yield* tools.listPrompts).toEqual([{ name: "p" }])
      expect((yield* tools.getPrompt("p", { x: "1" })).messages).toHaveLength(1)
      expect(server.messages().at(-1)?.params).toEqual({ name: "p", arguments: { x: "1" } })
    }))
})

const progress = (progressToken: unknown, progress: number) =>
  event({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress } })

/** Lets the server ask something during a call, and gives what the client answered. */
const asked = (method: string, params: unknown, features: ToolClient.Features) =>
  Effect.scoped(Effect.gen(function*() {
    const answered = yield* Deferred.make<any>()
    const sessions = fakeMcp((message) => {
      const live = liveEvents()
      live.send({ jsonrpc: "2.0", id: "q", method, params })
      return Effect.as(
        Effect.forkDaemon(
          Effect.tap(
            Deferred.await(answered),
            () => Effect.sync(() => live.send({ jsonrpc: "2.0", id: message.id, result: says("thanks") }))
          )
        ),
        live.response
      )
    }, (message) => Deferred.succeed(answered, message))
    const tools = yield* connect(sessions, { features })
    expect((yield* tools.callTool("t")).text).toBe("thanks")
    const capabilities = sessions.log[0]?.body.params.capabilities
    return { answer: yield* Deferred.await(answered), capabilities }
  }))

const refusal = (code: number) => ({ id: "q", error: { code } })

const elicit = () => Effect.fail(new AgentEnvError({ code: "alone", message: "nobody is there" }))

describe("what the server says during a call", () => {
  it.scoped("reaches the handlers of that call, in order", () =>
    Effect.gen(function*() {
      const server = fakeMcp((message) =>
        Effect.succeed(events(
          progress(message.params._meta?.progressToken, 1),
          progress("another's", 9),
          event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: { a: 1 } } }),
          progress(message.params._meta?.progressToken, 2),
          answer(message.id, says("done"))
        ))
      )
      const heard: Array<unknown> = []
      const tools = yield* connect(server)
      const found = yield* tools.callTool("t", {}, {
        onProgress: ({ progress }) => Effect.sync(() => heard.push(progress)),
        onLog: ({ data, level }) => Effect.sync(() => heard.push({ level, data }))
      })
      expect(found.text).toBe("done")
      expect(heard).toEqual([1, { level: "info", data: { a: 1 } }, 2])
      yield* tools.callTool("t")
      expect(server.messages().at(-1)?.params).toEqual({ name: "t", arguments: {} })
    }))

  it.effect("is answered on the session when it asks what was offered", () =>
    Effect.gen(function*() {
      const form = { message: "Name?", requestedSchema: { type: "object", properties: {} } }
      expect(
        yield* asked("elicitation/create", form, {
          elicit: ({ message }) => Effect.succeed({ action: "accept", content: { message } })
        })
      ).toEqual({
        answer: { jsonrpc: "2.0", id: "q", result: { action: "accept", content: { message: "Name?" } } },
        capabilities: { elicitation: {} }
      })
      expect(
        yield* asked("roots/list", undefined, { roots: Effect.succeed({ roots: [{ uri: "file:///a" }] }) })
      ).toEqual({
        answer: { jsonrpc: "2.0", id: "q", result: { roots: [{ uri: "file:///a" }] } },
        capabilities: { roots: {} }
      })
      const turn: Mcp.CreateMessageResult = { role: "assistant", content: { type: "text", text: "4" }, model: "m" }
      expect(
        yield* asked("sampling/createMessage", { messages: [], maxTokens: 5 }, { sample: () => Effect.succeed(turn) })
      ).toEqual({ answer: { jsonrpc: "2.0", id: "q", result: turn }, capabilities: { sampling: {} } })
      expect((yield* asked("ping", undefined, {})).answer).toEqual({ jsonrpc: "2.0", id: "q", result: {} })
    }))

  it.effect("is refused when it asks what was not, wrongly, or in vain", () =>
    Effect.gen(function*() {
      expect((yield* asked("elicitation/create", {}, {})).answer).toMatchObject(refusal(-32601))
      expect((yield* asked("elicitation/create", {}, { elicit })).answer).toMatchObject(refusal(-32602))
      const form = { message: "Name?", requestedSchema: { type: "object" } }
      expect((yield* asked("elicitation/create", form, { elicit })).answer).toMatchObject({
        id: "q",
        error: { code: -32603, message: "nobody is there" }
      })
    }))
})

describe("calls", () => {
  it.scoped("run side by side and find their own answers", () =>
    Effect.gen(function*() {
      const barrier = yield* Effect.makeLatch()
      let waiting = 0
      const server = fakeMcp((message, received) =>
        Effect.zipRight(
          Effect.suspend(() => (++waiting === 20 ? barrier.open : barrier.await)),
          echo(message, received)
        )
      )
      const tools = yield* connect(server)
      const found = yield* Effect.forEach(Array.from({ length: 20 }, (_, n) => n), (n) => tools.callTool("t", { n }), {
        concurrency: "unbounded"
      })
      expect(found.map(({ text }) => JSON.parse(text).n)).toEqual(Array.from({ length: 20 }, (_, n) => n))
    }))

  it.scoped("that are interrupted are cancelled on the server, and their POST is closed", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<AbortSignal>()
      const server = fakeMcp((message, received) =>
        message.params.name === "slow"
          ? Effect.zipRight(Deferred.succeed(started, received.signal), Effect.never)
          : echo(message, received)
      )
      const tools = yield* connect(server)
      const call = yield* Effect.fork(tools.callTool("slow"))
      const signal = yield* Deferred.await(started)
      const exit = yield* Fiber.interrupt(call)
      expect(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)).toBe(true)
      expect(signal.aborted).toBe(true)
      yield* Effect.yieldNow().pipe(Effect.repeatN(20))
      expect(server.messages().at(-1)).toMatchObject({
        method: "notifications/cancelled",
        params: { requestId: 2 }
      })
      expect((yield* tools.callTool("quick", { a: 1 })).text).toBe("{\"a\":1}")
    }))

  it.scoped("that are interrupted while their answer streams close the stream", () =>
    Effect.gen(function*() {
      const live = liveEvents()
      const heard = yield* Deferred.make<void>()
      const server = fakeMcp((message) => {
        live.send({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: message.id, progress: 1 }
        })
        return Effect.succeed(live.response)
      })
      const tools = yield* connect(server)
      const call = yield* Effect.fork(
        tools.callTool("t", {}, { onProgress: () => Deferred.succeed(heard, undefined) })
      )
      yield* Deferred.await(heard)
      yield* Fiber.interrupt(call)
      expect(live.isCancelled()).toBe(true)
    }))

  it.scoped("end after their timeout, 600 s by default, and leave the session usable (B-TCL-2)", () =>
    Effect.gen(function*() {
      const server = fakeMcp((message, received) =>
        message.params.name === "slow" ? Effect.never : echo(message, received)
      )
      const tools = yield* connect(server)
      const long = yield* Effect.fork(Effect.flip(tools.callTool("slow")))
      const short = yield* Effect.fork(Effect.flip(tools.callTool("slow", {}, { timeout: "3 seconds" })))
      yield* TestClock.adjust("3 seconds")
      const error = yield* Fiber.join(short)
      expect(error).toMatchObject({ _tag: "Timeout", operation: "tools/call", after: Duration.seconds(3) })
      expect(error.message).toBe("tools/call: no answer within 3 s")
      yield* TestClock.adjust("596 seconds")
      expect(Option.isNone(yield* Fiber.poll(long))).toBe(true)
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(long)).toMatchObject({ _tag: "Timeout", after: Duration.seconds(600) })
      expect(server.messages().filter(({ method }) => method === "notifications/cancelled")).toHaveLength(2)
      expect((yield* tools.callTool("quick")).isError).toBe(false)
    }))

  it.effect("that still run when the scope ends are cancelled before the session is, which waits for that", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const done: Array<string> = []
      const tell = (what: string) => Effect.sync(() => void done.push(what))
      const server = fake((received) => {
        switch (received.body?.method) {
          case "initialize":
            return Effect.succeed(opening(received))
          case "tools/call":
            return Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
          case "notifications/cancelled":
            return Effect.as(Effect.zipRight(Effect.sleep("2 seconds"), tell("cancelled")), text(""))
          default:
            return Effect.as(tell(received.method), text(""))
        }
      })
      const scope = yield* Scope.make()
      const tools = yield* Effect.provideService(connect(server), Scope.Scope, scope)
      const call = yield* Effect.fork(tools.callTool("t"))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(call)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      expect(done).toEqual(["POST", "cancelled", "DELETE"])
    }))

  it.scoped("that lost their connection are not repeated (B-TCL-2, V-12)", () =>
    Effect.gen(function*() {
      let calls = 0
      const server = fake(({ body }) =>
        body?.method !== "tools/call"
          ? Effect.succeed(result(body ?? {}, {}))
          : Effect.zipRight(Effect.sync(() => calls++), Effect.fail({ code: "ECONNRESET" }))
      )
      const tools = yield* connect(server)
      expect(yield* Effect.flip(tools.callTool("t"))).toMatchObject({ _tag: "Unreachable", refused: false })
      expect(calls).toBe(1)
    }))
})

describe("a lost session (M-31)", () => {
  it.scoped("is a typed error by default, and says that state may be gone", () =>
    Effect.gen(function*() {
      const server = fakeMcp(echo)
      const tools = yield* connect(server)
      server.restart()
      const error = yield* Effect.flip(tools.callTool("t"))
      expect(error).toMatchObject({ _tag: "SessionLost", operation: "tools/call" })
      expect(error.message).toContain("state may be gone")
      expect(server.log.filter(({ body }) => body.method === "initialize")).toHaveLength(1)
    }))

  it.scoped("is opened again once for all calls that lost it, which are then repeated as they were", () =>
    Effect.gen(function*() {
      const server = fakeMcp(echo)
      const tools = yield* connect(server, { onSessionLost: "reopen" })
      server.restart()
      const found = yield* Effect.forEach([1, 2, 3], (n) => tools.callTool("t", { n }), { concurrency: "unbounded" })
      expect(found.map(({ text }) => text)).toEqual(["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"])
      expect(server.log.filter(({ body }) => body.method === "initialize")).toHaveLength(2)
      const calls = server.messages()
      expect(calls).toHaveLength(6)
      expect(calls.slice(3)).toEqual(expect.arrayContaining(calls.slice(0, 3)))
      expect((yield* tools.session).id).toBe("s2")
    }))

  it.scoped("that is lost again fails", () =>
    Effect.gen(function*() {
      const server = fakeMcp(() => Effect.succeed(json({}, 404)))
      const tools = yield* connect(server, { onSessionLost: "reopen" })
      expect(yield* Effect.flip(tools.callTool("t"))).toMatchObject({ _tag: "SessionLost" })
      expect(server.log.filter(({ body }) => body.method === "initialize")).toHaveLength(2)
    }))

  it.effect("is not what a 404 without a session is", () =>
    Effect.gen(function*() {
      const server = fake(() => Effect.succeed(json({}, 404)))
      expect(yield* Effect.flip(Effect.scoped(connect(server)))).toMatchObject({ _tag: "BadStatus", status: 404 })
    }))
})

const stamped = (caller: Partial<Caller.Caller>) =>
  Effect.scoped(Effect.gen(function*() {
    const server = fakeMcp(echo)
    const tools = yield* connect(server, { role: "own" })
    yield* tools.as(caller).callTool("t", {}, { onProgress: () => Effect.void })
    yield* tools.callTool("t")
    return server.log.filter(({ body }) => body?.method === "tools/call")
  }))

describe("reopen (B-TSESS-6)", () => {
  it.scoped("ends the session and opens another, which all that share it use", () =>
    Effect.gen(function*() {
      const server = fakeMcp(echo)
      const tools = yield* connect(server)
      const judge = tools.as({ role: "judge" })
      expect((yield* tools.session).id).toBe("s1")
      expect((yield* judge.reopen).id).toBe("s2")
      expect(server.sessions()).toEqual(["s2"])
      expect((yield* tools.session).id).toBe("s2")
      expect((yield* tools.callTool("t", { a: 1 })).text).toBe("{\"a\":1}")
    }))

  it.scoped("follows a lost session, and repeats nothing", () =>
    Effect.gen(function*() {
      const server = fakeMcp(echo)
      const tools = yield* connect(server)
      server.restart()
      expect((yield* Effect.flip(tools.callTool("t")))._tag).toBe("SessionLost")
      yield* tools.reopen
      expect(server.messages().filter(({ method }) => method === "tools/call")).toHaveLength(1)
      yield* tools.callTool("t")
      expect((yield* tools.session).id).toBe("s2")
    }))

  it.scoped("waits 5 s at most for the server to forget it, and fails as opening does", () =>
    Effect.gen(function*() {
      let opened = 0
      let ended = 0
      const server = fake((received) =>
        received.method === "DELETE"
          ? Effect.suspend(() => ++ended === 1 ? Effect.never : Effect.succeed(text("")))
          : Effect.sync(() =>
            received.body.method === "initialize" && ++opened > 1 ? text("no", 503) : opening(received)
          )
      )
      const tools = yield* connect(server)
      const reopening = yield* Effect.fork(Effect.flip(tools.reopen))
      yield* TestClock.adjust(Duration.millis(4999))
      expect(opened).toBe(1)
      yield* TestClock.adjust(Duration.millis(1))
      expect(yield* Fiber.join(reopening)).toMatchObject({ _tag: "BadStatus", status: 503 })
      expect((yield* tools.session).id).toBe("s")
    }))

  it.effect("can't be used outside its scope", () =>
    Effect.gen(function*() {
      const tools = yield* Effect.scoped(connect(fakeMcp(echo)))
      expect(Exit.isFailure(yield* Effect.exit(tools.reopen))).toBe(true)
    }))
})

describe("as (B-CTX-3)", () => {
  it.effect("stamps role and session on the calls of the same session", () =>
    Effect.gen(function*() {
      const [other, own] = yield* stamped({ role: "judge", session: "j-1" })
      expect(other?.body.params._meta).toEqual({
        "agentenv.io/role": "judge",
        "agentenv.io/session": "j-1",
        progressToken: 2
      })
      expect(own?.body.params).not.toHaveProperty("_meta")
      expect(other?.headers["mcp-session-id"]).toBe(own?.headers["mcp-session-id"])
    }))

  it.effect.prop(
    "makes the server see just that caller, whatever the session's own role is",
    {
      role: FastCheck.option(
        FastCheck.oneof(FastCheck.constantFrom("", " a ", "default", "judge"), FastCheck.string())
      ),
      session: FastCheck.option(FastCheck.string())
    },
    ({ role, session }) =>
      Effect.gen(function*() {
        const caller = { role: role ?? undefined, session: session ?? undefined }
        const [call] = yield* stamped(caller)
        const seen = Caller.resolve({ meta: call?.body.params._meta, header: (name) => call?.headers[name] })
        expect(seen).toEqual({
          role: Caller.normalizeRole(role),
          session: session === null || session.trim() === "" ? undefined : session
        })
      }),
    { fastCheck: { numRuns: 30 } }
  )
})

describe("failure (B-ERR-4, B-ERR-5)", () => {
  const fields = { code: "full", message: "The box is full.", retryable: true, applied: "no" as const }

  it("gives the fields of the tool's AgentEnvError", () => {
    expect(ToolClient.failure({ isError: true, structuredContent: fields })).toEqual(Option.some(fields))
  })

  it("is none for successes and for other failures", () => {
    expect(ToolClient.failure({ isError: false, structuredContent: fields })).toEqual(Option.none())
    expect(ToolClient.failure({ isError: true })).toEqual(Option.none())
    expect(ToolClient.failure({ isError: true, structuredContent: { code: 1 } })).toEqual(Option.none())
  })
})

describe("toolDefinitions (B-TCL-8)", () => {
  const schema = { type: "object", properties: { x: { type: "string" } } }
  const tools: ReadonlyArray<ToolClient.Tool> = [
    { name: "a", description: "A.", inputSchema: schema },
    { name: "b", inputSchema: { type: "object", properties: {} } }
  ]

  it("writes what each model API wants", () => {
    expect(ToolClient.toolDefinitions(tools, "openai_chat")).toEqual([
      { type: "function", function: { name: "a", description: "A.", parameters: schema } },
      { type: "function", function: { name: "b", description: "", parameters: { type: "object", properties: {} } } }
    ])
    expect(ToolClient.toolDefinitions(tools, "openai_responses")[0]).toEqual({
      type: "function",
      name: "a",
      description: "A.",
      parameters: schema
    })
    expect(ToolClient.toolDefinitions(tools, "anthropic")[0]).toEqual({
      name: "a",
      description: "A.",
      input_schema: schema
    })
  })

  it("copies schemas", () => {
    const [definition] = ToolClient.toolDefinitions(tools, "anthropic")
    expect(definition?.input_schema["properties"]).not.toBe(schema.properties)
  })

  it("knows no other API", () => {
    // @ts-expect-error not an API
    expect(() => ToolClient.toolDefinitions([], "other")).toThrow(TypeError)
    expectTypeOf(ToolClient.toolDefinitions([], "anthropic")).toEqualTypeOf<
      Array<ToolClient.Definitions["anthropic"]>
    >()
  })
})

describe("over sockets", () => {
  it.scopedLive("a call that is interrupted closes its connection, and the process lives on", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const left = yield* Deferred.make<void>()
      const seen: Array<string> = []
      const { port } = yield* node((request, response) => {
        let body = ""
        request.on("data", (chunk) => (body += chunk))
        request.on("end", () => {
          const message = body === "" ? {} : JSON.parse(body)
          seen.push(message.method ?? request.method)
          if (message.method === "tools/call" && message.params.name === "slow") {
            response.on("close", () => Deferred.unsafeDone(left, Exit.void))
            Deferred.unsafeDone(started, Exit.void)
            return
          }
          const value = message.method === "tools/call" ? says("quick") : {}
          response.writeHead(200, { "content-type": "application/json", "mcp-session-id": "s" })
          response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: value }))
        })
      })
      const tools = yield* ToolClient.make({ url: `http://127.0.0.1:${port}/mcp` })
      const call = yield* Effect.fork(tools.callTool("slow"))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(call)
      yield* Deferred.await(left)
      expect((yield* tools.callTool("quick")).text).toBe("quick")
      expect(seen).toContain("notifications/cancelled")
    }).pipe(Effect.provide(NodeHttpClient.layer)))

  it.scopedLive("a call whose server goes away is Unreachable, and not refused", () =>
    Effect.gen(function*() {
      const { port, server } = yield* node((request, response) => {
        let body = ""
        request.on("data", (chunk) => (body += chunk))
        request.on("end", () => {
          const message = body === "" ? {} : JSON.parse(body)
          if (message.method === "tools/call") {
            response.writeHead(200, { "content-type": "text/event-stream" })
            response.write(": begun\n\n")
            setImmediate(() => server.closeAllConnections())
            return
          }
          response.writeHead(200, { "content-type": "application/json" })
          response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: {} }))
        })
      })
      const tools = yield* ToolClient.make({ url: `http://127.0.0.1:${port}/mcp` })
      expect(yield* Effect.flip(tools.callTool("t"))).toMatchObject({ _tag: "Unreachable", refused: false })
    }).pipe(Effect.provide(NodeHttpClient.layer)))

  it.scopedLive("512 sessions opened at once all open and call (V-12)", () =>
    Effect.gen(function*() {
      const { port } = yield* node((request, response) => {
        let body = ""
        request.on("data", (chunk) => (body += chunk))
        request.on("end", () => {
          const message = body === "" ? {} : JSON.parse(body)
          response.writeHead(200, { "content-type": "application/json" })
          response.end(
            JSON.stringify({ jsonrpc: "2.0", id: message.id, result: message.method === "tools/call" ? says("a") : {} })
          )
        })
      })
      const found = yield* Effect.forEach(
        Array.from({ length: 512 }),
        () => Effect.flatMap(ToolClient.make({ url: `http://127.0.0.1:${port}/mcp` }), (it) => it.callTool("t")),
        { concurrency: "unbounded" }
      )
      expect(found.every(({ text }) => text === "a")).toBe(true)
    }).pipe(Effect.provide(NodeHttpClient.layer)), 30_000)
})
