import * as AgentClient from "@effect-agentenv/client/AgentClient"
import { AgentClientError } from "@effect-agentenv/client/AgentClientError"
import type * as A2a from "@effect-agentenv/protocol/A2a"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import {
  Cause,
  Chunk,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Option,
  Redacted,
  Schema,
  Stream,
  TestClock,
  Tracer
} from "effect"
import { type Fake, fake, json, liveEvents, node, type Received, text } from "./support.ts"

const card = {
  name: "potter",
  url: "http://fake/a2a",
  supportedInterfaces: [
    { url: "http://fake/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    { url: "http://fake/a2a", protocolBinding: "JSONRPC", protocolVersion: "0.3" }
  ]
}

const legacyCard = { name: "potter", url: "/a2a", protocolVersion: "0.3.0" }

const isCard = ({ url }: Received) => url.includes("/.well-known/")

type Respond = (received: Received) => Effect.Effect<Response, { readonly code: string }>

const serving = (respond: Respond, given: object = legacyCard): Fake =>
  fake((received) => isCard(received) ? Effect.succeed(json(given)) : respond(received))

const connect = (server: Fake, options: Partial<AgentClient.Options> = {}) =>
  AgentClient.make({ baseUrl: "http://fake", ...options }).pipe(Effect.provide(server.layer))

const answer = ({ body }: Received, result: unknown) => json({ jsonrpc: "2.0", id: body.id, result })

const refuse = ({ body }: Received, code: number, message: string, data?: unknown) =>
  json({ jsonrpc: "2.0", id: body.id, error: { code, message, data } })

const said = (text: string, role = "agent") => ({ messageId: "m", role, parts: [{ kind: "text", text }] })

const task = (state: string, more: object = {}) => ({
  kind: "task",
  id: "t1",
  contextId: "c1",
  status: { state, ...more }
})

const status = (state: string, final: boolean, more: object = {}) => ({
  kind: "status-update",
  taskId: "t1",
  contextId: "c1",
  status: { state, ...more },
  final
})

const frames = ({ body }: Received, ...results: ReadonlyArray<unknown>) =>
  new Response(
    results.map((result, n) => `id: ${n}\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: body.id, result })}\n\n`).join(
      ""
    ),
    { headers: { "content-type": "text/event-stream" } }
  )

/** The requests that are no card's. */
const calls = (server: Fake) => server.log.filter((received) => !isCard(received))

const tags = (events: Chunk.Chunk<A2a.StreamEvent>) => Chunk.toReadonlyArray(events).map(({ _tag }) => _tag)

describe("the card", () => {
  it.effect("A-2: is found at the origin when the client is given where JSON-RPC is", () =>
    Effect.gen(function*() {
      const server = fake(({ url }) =>
        Effect.succeed(url === "http://fake/.well-known/agent-card.json" ? json(card) : text("", 404))
      )
      const agent = yield* connect(server, { baseUrl: "http://fake/a2a/" })
      expect((yield* agent.card).name).toBe("potter")
      expect(server.log).toHaveLength(1)
    }))

  it.effect("A-2, B-CARD-1: is looked for at both paths of the origin, then below what was given, and endpoints are there", () =>
    Effect.gen(function*() {
      const server = fake((received) =>
        Effect.succeed(
          received.url === "http://fake/agents/potter/.well-known/agent.json"
            ? json(legacyCard)
            : isCard(received)
            ? text("<html>", received.url.includes("potter") ? 404 : 200)
            : answer(received, task("submitted"))
        )
      )
      const agent = yield* connect(server, { baseUrl: "http://fake/agents/potter?x=1" })
      yield* agent.get("t1")
      expect(server.log.map(({ url }) => url)).toEqual([
        "http://fake/.well-known/agent-card.json",
        "http://fake/.well-known/agent.json",
        "http://fake/agents/potter/.well-known/agent-card.json",
        "http://fake/agents/potter/.well-known/agent.json",
        "http://fake/agents/potter/a2a"
      ])
    }))

  it.effect("is asked for at its own URL alone when that is given", () =>
    Effect.gen(function*() {
      const server = fake(() => Effect.succeed(text("no", 404)))
      const agent = yield* connect(server, { baseUrl: "http://fake/x/.well-known/agent.json" })
      expect(yield* Effect.flip(agent.card)).toMatchObject({ _tag: "BadStatus", status: 404 })
      expect(server.log.map(({ url }) => url)).toEqual(["http://fake/x/.well-known/agent.json"])
    }))

  it.effect("that is nowhere fails with what says most, and nothing is asked of an agent that is out of reach twice", () =>
    Effect.gen(function*() {
      const broken = fake(({ url }) => Effect.succeed(url.endsWith("agent-card.json") ? text("", 404) : json([])))
      expect(yield* Effect.flip((yield* connect(broken)).card)).toMatchObject({ _tag: "Unreadable", what: "the card" })
      const gone = fake(() => Effect.fail({ code: "ECONNRESET" }))
      expect(yield* Effect.flip((yield* connect(gone)).card)).toMatchObject({ _tag: "Unreachable" })
      expect(gone.log).toHaveLength(1)
    }))

  it.effect("is read once, again after a failure, and anew when asked", () =>
    Effect.gen(function*() {
      let cards = 0
      const server = fake((received) =>
        Effect.sync(() => {
          if (!isCard(received)) return answer(received, task("working"))
          cards++
          return cards <= 2 ? text("", 503) : json({ ...legacyCard, name: `${cards}`, url: `/${cards}` })
        })
      )
      const agent = yield* connect(server)
      expect(yield* Effect.flip(agent.card)).toMatchObject({ _tag: "BadStatus", status: 503 })
      const names = yield* Effect.all([agent.card, agent.card, agent.card], { concurrency: "unbounded" })
      expect(names.map(({ name }) => name)).toEqual(["3", "3", "3"])
      expect((yield* agent.reload).name).toBe("4")
      yield* agent.get("t1")
      expect(server.log.at(-1)?.url).toBe("http://fake/4")
    }))

  it.effect("has 10 s, and health too (V-16)", () =>
    Effect.gen(function*() {
      const silent = yield* connect(fake(() => Effect.never))
      const reading = yield* Effect.fork(Effect.flip(silent.card))
      yield* TestClock.adjust("10 seconds")
      expect(yield* Fiber.join(reading)).toMatchObject({ _tag: "Timeout", after: Duration.seconds(10) })
      const ill = yield* connect(serving(() => Effect.never))
      const asking = yield* Effect.fork(Effect.flip(ill.health))
      yield* TestClock.adjust("10 seconds")
      expect(yield* Fiber.join(asking)).toMatchObject({ _tag: "Timeout", operation: "health" })
    }))

  it.effect("says where health is", () =>
    Effect.gen(function*() {
      const server = serving(({ url }) => Effect.succeed(text("", url === "http://fake/health" ? 200 : 404)))
      yield* (yield* connect(server, { baseUrl: "http://fake/a2a" })).health
      const ill = yield* connect(serving(() => Effect.succeed(text("", 503))))
      expect(yield* Effect.flip(ill.health)).toMatchObject({ _tag: "BadStatus", status: 503 })
    }))
})

describe("the wire", () => {
  const spoken = (given: object, options: Partial<AgentClient.Options> = {}) =>
    Effect.gen(function*() {
      const server = serving((received) => Effect.succeed(refuse(received, -32001, "Task not found")), given)
      yield* Effect.flip((yield* connect(server, options)).get("t1"))
      const [call] = calls(server)
      return { url: call?.url, method: call?.body.method, version: call?.headers["a2a-version"] }
    })

  const v1 = { url: "http://fake/a2a", method: "GetTask", version: "1.0" }
  const v03 = { url: "http://fake/a2a", method: "tasks/get", version: undefined }

  it.effect("is 1.0 where the card has a JSON-RPC endpoint of it, else 0.3", () =>
    Effect.gen(function*() {
      expect(yield* spoken(card)).toEqual(v1)
      expect(yield* spoken(legacyCard)).toEqual(v03)
      const rest = { url: "http://fake/rest", protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }
      expect(yield* spoken({ ...legacyCard, supportedInterfaces: [rest] })).toEqual(v03)
    }))

  it.effect("is the one that the options force, wherever the card has an endpoint, or at theirs without a card", () =>
    Effect.gen(function*() {
      expect(yield* spoken(card, { wire: "0.3" })).toEqual(v03)
      expect(yield* spoken(legacyCard, { wire: "1.0" })).toEqual(v1)
      expect(yield* spoken(card, { rpcUrl: "http://fake/rpc" })).toEqual({ ...v1, url: "http://fake/rpc" })
      const server = fake((received) => Effect.succeed(answer(received, task("working"))))
      const agent = yield* connect(server, { wire: "0.3", rpcUrl: "http://fake/rpc" })
      expect((yield* agent.get("t1")).status.state).toBe("working")
      expect(server.log).toHaveLength(1)
    }))

  it.effect("carries the tenant of its endpoint", () =>
    Effect.gen(function*() {
      const [first] = card.supportedInterfaces
      const server = serving((received) => Effect.succeed(refuse(received, -32001, "no")), {
        ...card,
        supportedInterfaces: [{ ...first, tenant: "kiln" }]
      })
      yield* Effect.flip((yield* connect(server)).get("t1"))
      expect(calls(server)[0]?.body.params).toEqual({ id: "t1", tenant: "kiln" })
    }))

  it.effect("that nobody speaks is a typed error", () =>
    Effect.gen(function*() {
      const agent = yield* connect(serving(() => Effect.die("asked"), { name: "potter" }))
      expect(yield* Effect.flip(agent.get("t1"))).toMatchObject({ _tag: "Unreadable", what: "the card" })
    }))
})

describe("send", () => {
  it.effect("sends a message and answers the task, on both wires", () =>
    Effect.gen(function*() {
      const old = serving((received) =>
        Effect.succeed(answer(received, task("completed", { message: said("a bowl") })))
      )
      const reply = yield* (yield* connect(old)).send("make a bowl", {
        contextId: "c1",
        messageId: "m1",
        historyLength: 0,
        metadata: { turn: 1 }
      })
      expect(reply._tag === "Task" && reply.task.id).toBe("t1")
      expect(AgentClient.text(reply)).toBe("a bowl")
      expect(calls(old)[0]).toMatchObject({
        method: "POST",
        headers: { "content-type": "application/json" },
        body: {
          jsonrpc: "2.0",
          method: "message/send",
          params: {
            message: {
              kind: "message",
              messageId: "m1",
              role: "user",
              contextId: "c1",
              parts: [{ kind: "text", text: "make a bowl" }]
            },
            configuration: { historyLength: 0 },
            metadata: { turn: 1 }
          }
        }
      })
      const { kind: _kind, ...bare } = task("TASK_STATE_SUBMITTED")
      const server = serving((received) => Effect.succeed(answer(received, { task: bare })), card)
      const data: A2a.DataPart = { kind: "data", data: [1] }
      const accepted = yield* (yield* connect(server)).send(data, { blocking: false })
      expect(accepted._tag === "Task" && accepted.task.status.state).toBe("submitted")
      expect(calls(server)[0]?.body).toMatchObject({
        method: "SendMessage",
        params: { message: { parts: [{ data: [1] }] }, configuration: { returnImmediately: true } }
      })
    }))

  it.effect("gives each message an id of its own, and each request too", () =>
    Effect.gen(function*() {
      const server = serving((received) => Effect.succeed(answer(received, task("completed"))))
      const agent = yield* connect(server)
      yield* Effect.all([agent.send("a"), agent.send("b")])
      const [a, b] = calls(server).map(({ body }) => body)
      expect(a.params.message.messageId).toMatch(/^[0-9a-f]{32}$/)
      expect(a.params.message.messageId).not.toBe(b.params.message.messageId)
      expect(a.id).not.toBe(b.id)
    }))

  it.effect("answers a message of an agent that makes no task", () =>
    Effect.gen(function*() {
      const agent = yield* connect(
        serving((received) => Effect.succeed(answer(received, { kind: "message", ...said("hi") })))
      )
      const reply = yield* agent.send("hello")
      expect(reply._tag).toBe("Message")
      expect(AgentClient.text(reply)).toBe("hi")
      expect(yield* agent.prompt("hello")).toEqual(reply)
    }))

  it.effect("has 10 minutes for an answer and 30 s for a task, and closes the connection when it is interrupted", () =>
    Effect.gen(function*() {
      const server = serving(() => Effect.never)
      const agent = yield* connect(server)
      const after = (options?: AgentClient.SendOptions) =>
        Effect.gen(function*() {
          const sending = yield* Effect.fork(Effect.flip(agent.send("hello", options)))
          yield* TestClock.adjust("1 hour")
          const error = yield* Fiber.join(sending)
          return error._tag === "Timeout" ? Duration.toSeconds(error.after) : error
        })
      expect(yield* after()).toBe(600)
      expect(yield* after({ blocking: false })).toBe(30)
      expect(yield* after({ timeout: "1 second" })).toBe(1)
      expect(calls(server).every(({ signal }) => signal.aborted)).toBe(true)
    }))

  it.effect("what JSON can't say is a typed error, and nothing is sent", () =>
    Effect.gen(function*() {
      const server = serving(() => Effect.die("asked"))
      const agent = yield* connect(server)
      const round: Record<string, unknown> = {}
      round["itself"] = round
      expect(yield* Effect.flip(agent.send({ kind: "data", data: round }))).toMatchObject({ _tag: "InvalidMessage" })
      expect(yield* Effect.flip(agent.send({ kind: "data", data: 1n }))).toMatchObject({ _tag: "InvalidMessage" })
    }))
})

describe("refusals", () => {
  const refused = (respond: Respond, given?: object) =>
    Effect.flatMap(connect(serving(respond, given)), (agent) => Effect.flip(agent.cancel("t1")))

  it.effect("are typed by their code, and keep code, message and data", () =>
    Effect.gen(function*() {
      const codes = {
        TaskNotFound: -32001,
        TaskNotCancelable: -32002,
        UnsupportedOperation: -32004,
        ContentTypeNotSupported: -32005,
        VersionNotSupported: -32009,
        RpcError: -32603
      }
      for (const [tag, code] of Object.entries(codes)) {
        for (const given of [card, legacyCard]) {
          const error = yield* refused((received) => Effect.succeed(refuse(received, code, "No.", { why: [1] })), given)
          expect(error).toMatchObject({ _tag: tag, code, reason: "No.", data: { why: [1] } })
          expect(error.message).toContain("No.")
          expect(Schema.is(AgentClientError)(error)).toBe(true)
        }
      }
      const listed = yield* refused((received) => Effect.succeed(refuse(received, -32001, "No.", [{ reason: "X" }])))
      expect(listed).toMatchObject({ taskId: "t1", data: { detail: [{ reason: "X" }] } })
    }))

  it.effect("count under another status too, but not from a gateway", () =>
    Effect.gen(function*() {
      const error = { jsonrpc: "2.0", id: null, error: { code: -32600, message: "Payload too large" } }
      expect(yield* refused(() => Effect.succeed(json(error, 413)))).toMatchObject({ _tag: "RpcError", code: -32600 })
      expect(yield* refused(() => Effect.succeed(json(error, 503)))).toMatchObject({ _tag: "BadStatus", status: 503 })
      expect(yield* refused(() => Effect.succeed(text("<html>", 404)))).toMatchObject({
        _tag: "BadStatus",
        status: 404,
        body: "<html>"
      })
      expect(yield* refused(() => Effect.succeed(json({ error: {} }, 400)))).toMatchObject({ _tag: "BadStatus" })
      expect(yield* refused(() => Effect.succeed(json({}, 400)))).toMatchObject({ _tag: "BadStatus" })
    }))

  it.effect("what is no answer is unreadable, and its values are not told", () =>
    Effect.gen(function*() {
      const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`
      const answers = [
        () => text("canary"),
        () => json({ jsonrpc: "2.0", id: "canary", result: task("working") }),
        (received: Received) => answer(received, { kind: "task", id: 7, canary: true }),
        (received: Received) => answer(received, task("canary")),
        (received: Received) => text(`{"jsonrpc":"2.0","id":${received.body.id},"result":${deep}}`),
        (received: Received) =>
          text(`{"jsonrpc":"2.0","id":${received.body.id},"result":{"__proto__":{"id":"canary"}}}`)
      ]
      for (const each of answers) {
        const error = yield* refused((received) => Effect.succeed(each(received)))
        expect(error._tag).toBe("Unreadable")
        expect(error.message).not.toContain("canary")
      }
    }))
})

describe("tasks", () => {
  it.effect("are got and canceled", () =>
    Effect.gen(function*() {
      const server = serving((received) =>
        Effect.succeed(answer(received, task(received.body.method === "tasks/cancel" ? "canceled" : "working")))
      )
      const agent = yield* connect(server)
      expect((yield* agent.get("t1", { historyLength: 2 })).status.state).toBe("working")
      expect((yield* agent.cancel("t1", { metadata: { why: "late" } })).status.state).toBe("canceled")
      expect(calls(server).map(({ body }) => body.params)).toEqual([
        { id: "t1", historyLength: 2 },
        { id: "t1", metadata: { why: "late" } }
      ])
    }))

  it.effect("are listed on 1.0; 0.3 has no such method", () =>
    Effect.gen(function*() {
      const page = { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 }
      const server = serving((received) => Effect.succeed(answer(received, page)), card)
      expect(yield* (yield* connect(server)).list({ state: "input-required", pageSize: 3 })).toEqual(page)
      expect(calls(server)[0]?.body).toMatchObject({
        method: "ListTasks",
        params: { status: "TASK_STATE_INPUT_REQUIRED", pageSize: 3 }
      })
      const old = serving(() => Effect.die("asked"))
      expect(yield* Effect.flip((yield* connect(old)).list())).toMatchObject({ _tag: "UnsupportedOperation" })
    }))
})

describe("stream", () => {
  it.effect("tells all events up to the final one and closes the connection", () =>
    Effect.gen(function*() {
      const live = liveEvents()
      const server = serving(() => Effect.succeed(live.response))
      const agent = yield* connect(server)
      const reading = yield* Effect.fork(Stream.runCollect(agent.stream("make a bowl")))
      for (
        const result of [
          task("submitted"),
          status("working", false, { message: said("turning") }),
          { kind: "artifact-update", taskId: "t1", contextId: "c1", artifact: { artifactId: "a", parts: [] } },
          status("completed", true, { message: said("done") })
        ]
      ) live.send({ jsonrpc: "2.0", id: null, result })
      const events = yield* Fiber.join(reading)
      expect(tags(events)).toEqual(["Task", "StatusUpdate", "ArtifactUpdate", "StatusUpdate"])
      expect(AgentClient.text(Chunk.unsafeLast(events))).toBe("done")
      expect(live.isCancelled()).toBe(true)
      expect(calls(server)[0]).toMatchObject({
        body: { method: "message/stream" },
        headers: { accept: expect.stringContaining("text/event-stream") }
      })
    }))

  it.effect("on 1.0 ends with the state that ends the run", () =>
    Effect.gen(function*() {
      const update = (state: string) => ({ statusUpdate: { taskId: "t1", contextId: "c1", status: { state } } })
      const server = serving(
        (received) =>
          Effect.succeed(
            frames(received, update("TASK_STATE_WORKING"), update("TASK_STATE_INPUT_REQUIRED"), "never read")
          ),
        card
      )
      expect(tags(yield* Stream.runCollect((yield* connect(server)).stream("hi")))).toHaveLength(2)
    }))

  it.effect("of one message, or of a task that has ended already, is whole", () =>
    Effect.gen(function*() {
      const whole = (result: unknown) =>
        Effect.flatMap(
          connect(serving((received) => Effect.succeed(frames(received, result)))),
          (agent) => Effect.map(Stream.runCollect(agent.stream("hi")), tags)
        )
      expect(yield* whole({ kind: "message", ...said("hi") })).toEqual(["Message"])
      expect(yield* whole(task("completed"))).toEqual(["Task"])
      expect(yield* whole(status("failed", false))).toEqual(["StatusUpdate"])
      const plain = yield* connect(serving((received) => Effect.succeed(answer(received, task("completed")))))
      expect(tags(yield* Stream.runCollect(plain.stream("hi")))).toEqual(["Task"])
    }))

  it.effect("A-11: that ends before its final event is a typed error, which says where to go on", () =>
    Effect.gen(function*() {
      const cut = (...results: ReadonlyArray<unknown>) =>
        Effect.flatMap(
          connect(serving((received) => Effect.succeed(frames(received, ...results)))),
          (agent) => Effect.flip(Stream.runDrain(agent.stream("hi")))
        )
      expect(yield* cut(task("submitted"), status("working", false))).toMatchObject({
        _tag: "StreamCut",
        operation: "message/stream",
        taskId: "t1",
        lastEventId: "1"
      })
      const nothing = yield* cut()
      expect(nothing._tag === "StreamCut" && [nothing.taskId, nothing.lastEventId]).toEqual([undefined, undefined])
      expect(yield* cut(task("completed"), status("working", false))).toMatchObject({ _tag: "StreamCut" })
    }))

  it.scopedLive("A-11: of a server that dies is the same, after what it said", () =>
    Effect.gen(function*() {
      const { port } = yield* node((request, response) => {
        if (request.method === "GET") return void response.end(JSON.stringify(legacyCard))
        request.resume()
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(
          `id: 7\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: null, result: task("working") })}\n\ndata: {"json`,
          () => setImmediate(() => request.socket.destroy())
        )
      })
      const agent = yield* AgentClient.make({ baseUrl: `http://127.0.0.1:${port}` })
      const seen: Array<string> = []
      const error = yield* agent.stream("hi").pipe(
        Stream.runForEach(({ _tag }) => Effect.sync(() => seen.push(_tag))),
        Effect.flip
      )
      expect(error).toMatchObject({ _tag: "StreamCut", taskId: "t1", lastEventId: "7" })
      expect(seen).toEqual(["Task"])
    }).pipe(Effect.provide(NodeHttpClient.layer)))

  it.effect("that is refused is a typed error, as JSON, as a plain frame or as an error event", () =>
    Effect.gen(function*() {
      const error = { jsonrpc: "2.0", id: null, error: { code: -32001, message: "Task not found" } }
      const stream = (body: string) => new Response(body, { headers: { "content-type": "text/event-stream" } })
      for (
        const response of [
          () => json(error),
          () => json(error, 404),
          () => stream(`data: ${JSON.stringify(error)}\n\n`),
          () => stream(`event: error\ndata: ${JSON.stringify(error)}\n\n`)
        ]
      ) {
        const agent = yield* connect(serving(() => Effect.sync(response)))
        expect(yield* Effect.flip(Stream.runDrain(agent.resubscribe("t1")))).toMatchObject({
          _tag: "TaskNotFound",
          taskId: "t1"
        })
      }
    }))

  it.effect("goes on from an event when it is told its id", () =>
    Effect.gen(function*() {
      const server = serving((received) => Effect.succeed(frames(received, status("completed", true))))
      const agent = yield* connect(server)
      yield* Stream.runDrain(agent.resubscribe("t1", { lastEventId: "41" }))
      yield* Stream.runDrain(agent.resubscribe("t1"))
      const [first, second] = calls(server)
      expect(first).toMatchObject({
        body: { method: "tasks/resubscribe", params: { id: "t1" } },
        headers: { "last-event-id": "41" }
      })
      expect(second?.headers["last-event-id"]).toBeUndefined()
    }))

  it.effect("that is interrupted, or read no further, closes the connection", () =>
    Effect.gen(function*() {
      const interrupted = liveEvents()
      const reading = yield* connect(serving(() => Effect.succeed(interrupted.response))).pipe(
        Effect.flatMap((agent) => Stream.runDrain(agent.stream("hi"))),
        Effect.fork
      )
      yield* TestClock.adjust("1 hour")
      yield* Fiber.interrupt(reading)
      expect(interrupted.isCancelled()).toBe(true)
      const left = liveEvents()
      left.send({ jsonrpc: "2.0", id: null, result: task("working") })
      const agent = yield* connect(serving(() => Effect.succeed(left.response)))
      expect(tags(yield* Stream.runCollect(Stream.take(agent.stream("hi"), 1)))).toEqual(["Task"])
      expect(left.isCancelled()).toBe(true)
    }))

  it.scopedLive("closes the connection to a real server too", () =>
    Effect.gen(function*() {
      const closed = yield* Deferred.make<void>()
      const { port } = yield* node((request, response) => {
        if (request.method === "GET") return void response.end(JSON.stringify(legacyCard))
        request.resume()
        response.on("close", () => Deferred.unsafeDone(closed, Exit.void))
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: null, result: task("working") })}\n\n`)
      })
      const agent = yield* AgentClient.make({ baseUrl: `http://127.0.0.1:${port}` })
      const begun = yield* Deferred.make<void>()
      const reading = yield* agent.stream("hi").pipe(
        Stream.runForEach(() => Deferred.succeed(begun, undefined)),
        Effect.fork
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(reading)
      yield* Deferred.await(closed)
    }).pipe(Effect.provide(NodeHttpClient.layer)))

  it.effect("has 30 s to begin, and then as long as it takes unless silence is bounded", () =>
    Effect.gen(function*() {
      const silent = yield* connect(serving(() => Effect.never))
      const opening = yield* Effect.fork(Effect.flip(Stream.runDrain(silent.stream("hi"))))
      yield* TestClock.adjust("30 seconds")
      expect(yield* Fiber.join(opening)).toMatchObject({ _tag: "Timeout", operation: "message/stream" })
      const idle = yield* connect(serving(() => Effect.succeed(liveEvents().response)), {
        timeouts: { idle: "1 minute" }
      })
      const waiting = yield* Effect.fork(Effect.flip(Stream.runDrain(idle.stream("hi"))))
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(waiting)).toMatchObject({ _tag: "StreamCut", reason: "nothing came in time" })
    }))
})

describe("wait", () => {
  /** An agent whose polls are answered by a script, the last line of it over and over. */
  const scripted = (
    ...script: ReadonlyArray<(received: Received) => Effect.Effect<Response, { readonly code: string }>>
  ) => {
    const polls: Array<Received> = []
    const cancels: Array<Received> = []
    const server = serving((received) => {
      switch (received.body.method) {
        case "tasks/cancel":
          cancels.push(received)
          return Effect.succeed(answer(received, task("canceled")))
        case "message/send":
          return Effect.succeed(answer(received, task("submitted")))
        default:
          polls.push(received)
          return script[Math.min(polls.length, script.length) - 1]!(received)
      }
    })
    return { server, polls, cancels }
  }
  const is = (state: string) => (received: Received) => Effect.succeed(answer(received, task(state)))
  const http = (status: number) => () => Effect.succeed(text("", status))
  const reset = () => Effect.fail({ code: "ECONNRESET" })

  const outcome = (
    { server }: { readonly server: Fake },
    during: Duration.DurationInput,
    options?: AgentClient.WaitOptions
  ) =>
    Effect.gen(function*() {
      const agent = yield* connect(server)
      const waiting = yield* Effect.fork(Effect.either(agent.wait("t1", options)))
      yield* TestClock.adjust(during)
      return Option.map(yield* Fiber.poll(waiting), Exit.getOrElse((cause) => Cause.squash(cause)))
    })

  it.effect("P-PR-3: polls every 2 s until the task has ended", () =>
    Effect.gen(function*() {
      const agent = scripted(is("submitted"), is("working"), is("completed"))
      expect(Option.isNone(yield* outcome(agent, "3999 millis"))).toBe(true)
      expect(agent.polls).toHaveLength(2)
      const ended = scripted(is("submitted"), is("working"), is("completed"))
      expect(Option.getOrThrow(yield* outcome(ended, "4 seconds"))).toMatchObject({
        _tag: "Right",
        right: { id: "t1", status: { state: "completed" } }
      })
    }))

  it.effect("ends too when the task waits for its caller", () =>
    Effect.gen(function*() {
      expect(Option.getOrThrow(yield* outcome(scripted(is("input-required")), 0))).toMatchObject({ _tag: "Right" })
    }))

  it.effect("P-PR-3: tolerates silence and 502, 503 and 504 for three polls and 60 s", () =>
    Effect.gen(function*() {
      const silent = scripted(
        is("working"),
        http(502),
        http(503),
        http(504),
        reset,
        () => Effect.never,
        is("completed")
      )
      expect(Option.getOrThrow(yield* outcome(silent, "50 seconds"))).toMatchObject({ _tag: "Right" })
      const gone = scripted(is("working"), http(503))
      expect(Option.isNone(yield* outcome(gone, "59 seconds"))).toBe(true)
      const later = scripted(is("working"), http(503))
      expect(Option.getOrThrow(yield* outcome(later, "60 seconds"))).toMatchObject({
        _tag: "Left",
        left: { _tag: "BadStatus", status: 503 }
      })
      const rare = scripted(http(503))
      const every = "50 seconds"
      expect(Option.isNone(yield* outcome(rare, "99 seconds", { every }))).toBe(true)
      expect(Option.isSome(yield* outcome(scripted(http(503)), "100 seconds", { every }))).toBe(true)
    }))

  it.effect("P-PR-3: fails at once with all else", () =>
    Effect.gen(function*() {
      for (const [status, tag] of [[404, "BadStatus"], [401, "BadStatus"], [500, "BadStatus"]] as const) {
        expect(Option.getOrThrow(yield* outcome(scripted(http(status)), 0))).toMatchObject({
          left: { _tag: tag, status }
        })
      }
      const unknown = scripted((received) => Effect.succeed(refuse(received, -32001, "Task not found")))
      expect(Option.getOrThrow(yield* outcome(unknown, 0))).toMatchObject({ left: { _tag: "TaskNotFound" } })
    }))

  it.effect("P-PR-3: has 10 minutes, after which the task is canceled if that is wanted", () =>
    Effect.gen(function*() {
      const left = scripted(is("working"))
      expect(Option.getOrThrow(yield* outcome(left, "10 minutes"))).toMatchObject({
        left: { _tag: "Timeout", operation: "wait" }
      })
      expect(left.cancels).toEqual([])
      const ended = scripted(is("working"))
      const given = yield* outcome(ended, "1 minute", { timeout: "1 minute", cancel: true })
      expect(Option.getOrThrow(given)).toMatchObject({ left: { _tag: "Timeout" } })
      expect(ended.cancels).toHaveLength(1)
    }))

  it.effect("P-PR-3: a cancellation that nobody answers keeps nobody for longer than 10 s", () =>
    Effect.gen(function*() {
      const server = serving((received) =>
        received.body.method === "tasks/cancel" ? Effect.never : Effect.succeed(answer(received, task("working")))
      )
      const late = { server }
      expect(Option.isNone(yield* outcome(late, "69 seconds", { timeout: "1 minute", cancel: true }))).toBe(true)
      expect(Option.isSome(yield* outcome(late, "70 seconds", { timeout: "1 minute", cancel: true }))).toBe(true)
      const agent = yield* connect(server)
      const waiting = yield* Effect.fork(agent.wait("t1", { cancel: true }))
      yield* TestClock.adjust("5 seconds")
      const stopping = yield* Effect.fork(Fiber.interrupt(waiting))
      yield* TestClock.adjust("10 seconds")
      expect(Exit.isInterrupted(yield* Fiber.join(stopping))).toBe(true)
      expect(calls(server).at(-1)?.body.method).toBe("tasks/cancel")
    }))

  it.effect("P-PR-2: prompt sends without waiting for the answer, then polls for it", () =>
    Effect.gen(function*() {
      const { polls, server } = scripted(is("working"), is("completed"))
      const agent = yield* connect(server)
      const prompting = yield* Effect.fork(agent.prompt("make a bowl", { every: "5 seconds", historyLength: 0 }))
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(prompting)).toMatchObject({ _tag: "Task", task: { status: { state: "completed" } } })
      expect(calls(server)[0]?.body.params.configuration).toEqual({ blocking: false, historyLength: 0 })
      expect(polls.map(({ body }) => body.params)).toEqual([
        { id: "t1", historyLength: 0 },
        { id: "t1", historyLength: 0 }
      ])
    }))
})

describe("secret headers", () => {
  const secret = "s3cr3t-t0ken"
  const headers = {
    authorization: Redacted.make(`Bearer ${secret}`),
    "x-kiln": Redacted.make(secret),
    "x-plain": "yes"
  }

  it.effect("go along with every request, and stay out of errors that repeat them, and of spans", () =>
    Effect.gen(function*() {
      const server = serving((received) =>
        Effect.succeed(
          received.body === undefined
            ? text(`${secret} `.repeat(99), 418)
            : refuse(received, -32603, `bad ${received.headers["authorization"]}`, { deep: [{ [secret]: secret }] })
        )
      )
      const spans: Array<Tracer.Span> = []
      const native = yield* Effect.tracer
      const tracer = Tracer.make({
        span: (...args) => {
          const span = native.span(...args)
          spans.push(span)
          return span
        },
        context: (run, fiber) => native.context(run, fiber)
      })
      const agent = yield* connect(server, { headers })
      const errors = yield* Effect.all([
        Effect.flip(agent.send("hi")),
        Effect.flip(Stream.runDrain(agent.stream("hi"))),
        Effect.flip(agent.health)
      ]).pipe(Effect.withTracer(tracer))
      expect(errors.map(({ _tag }) => _tag)).toEqual(["RpcError", "RpcError", "BadStatus"])
      expect(errors.map((error) => `${error.message} ${JSON.stringify(error)}`).join()).not.toContain(secret)
      expect(errors[0].message).toContain("bad <redacted>")
      expect(server.log.every(({ headers }) => headers["x-kiln"] === secret && headers["x-plain"] === "yes")).toBe(true)
      expect(spans.some(({ attributes }) => attributes.has("http.request.header.x-plain"))).toBe(true)
      for (const { attributes, status } of spans) {
        expect(JSON.stringify([...attributes])).not.toContain(secret)
        const failed = status._tag === "Ended" && Exit.isFailure(status.exit) ? Cause.pretty(status.exit.cause) : ""
        expect(failed).not.toContain(secret)
      }
    }))

  it.effect("go nowhere but to the origins that the options name", () =>
    Effect.gen(function*() {
      const elsewhere = { ...legacyCard, url: "http://elsewhere/a2a" }
      const server = serving((received) => Effect.succeed(answer(received, task("working"))), elsewhere)
      const agent = yield* connect(server, { headers })
      expect(yield* Effect.flip(agent.get("t1"))).toMatchObject({ _tag: "Unreadable", what: "the card" })
      expect(server.log.every(({ url }) => url.startsWith("http://fake/"))).toBe(true)
      const named = yield* connect(server, { headers, rpcUrl: "http://elsewhere/a2a" })
      expect((yield* named.get("t1")).id).toBe("t1")
      const open = yield* connect(server, { headers: { "x-plain": "yes" } })
      expect((yield* open.get("t1")).id).toBe("t1")
    }))
})

describe("answers (P-PR-4)", () => {
  const base: A2a.Task = { id: "t", contextId: "c", status: { state: "completed" }, history: [], artifacts: [] }
  const ended = (state: A2a.TaskState, ...parts: ReadonlyArray<A2a.Part>): A2a.Task => ({
    ...base,
    status: { state, message: { messageId: "m", role: "agent", parts } }
  })
  const words = (text: string): A2a.Part => ({ kind: "text", text })
  const data = (data: unknown): A2a.Part => ({ kind: "data", data })

  it("the last text is the answer, else the text of the last artifact that has some", () => {
    expect(AgentClient.text(ended("completed", words("a"), words("b"), data({})))).toBe("b")
    const artifacts = [
      { artifactId: "1", parts: [words("x")] },
      { artifactId: "2", parts: [words("y"), words("z")] },
      { artifactId: "3", parts: [data({})] }
    ]
    expect(AgentClient.text({ ...base, artifacts })).toBe("yz")
    expect(AgentClient.text({ ...ended("completed", words("b")), artifacts })).toBe("b")
    expect(AgentClient.text(base)).toBe("")
  })

  it("events and messages are read like tasks", () => {
    const { status } = ended("failed", words("b"), data({ structured_output: 1 }))
    const update: A2a.StreamEvent = { _tag: "StatusUpdate", taskId: "t", contextId: "c", status, final: true }
    expect(AgentClient.text(update)).toBe("b")
    expect(AgentClient.structuredOutput(update)).toEqual(Option.some(1))
    expect(Option.isSome(AgentClient.failure(update))).toBe(true)
    expect(AgentClient.text({ messageId: "m", role: "agent", parts: [words("m")] })).toBe("m")
    expect(
      AgentClient.text({
        _tag: "ArtifactUpdate",
        taskId: "t",
        contextId: "c",
        artifact: { artifactId: "1", parts: [words("piece")] },
        append: true,
        lastChunk: false
      })
    ).toBe("piece")
  })

  it("usage is read from the data, and what is no count is left out", () => {
    const usage = {
      tool_call_count: 2,
      input_tokens: -1,
      output_tokens: "3",
      total_tokens: 5,
      cost_usd: 0.5,
      provider_details: { a: 1 }
    }
    expect(AgentClient.usage(ended("completed", data({ usage })))).toEqual(
      Option.some({ toolCallCount: 2, totalTokens: 5, costUsd: 0.5, providerDetails: { a: 1 } })
    )
    expect(AgentClient.usage(ended("completed", data({ tool_call_count: 4 })))).toEqual(
      Option.some({ toolCallCount: 4 })
    )
    expect(AgentClient.usage(ended("completed", data({ usage: 7 }), data([1])))).toEqual(Option.none())
  })

  it("the structured answer is any JSON value", () => {
    const deep: A2a.JsonObject = JSON.parse("{\"structured_output\":{\"__proto__\":1}}")
    expect(AgentClient.structuredOutput(ended("completed", data({ structured_output: false })))).toEqual(
      Option.some(false)
    )
    expect(Object.keys(Option.getOrThrow(AgentClient.structuredOutput(ended("completed", data(deep)))) as object))
      .toEqual([
        "__proto__"
      ])
    expect(AgentClient.structuredOutput(ended("completed", words("a")))).toEqual(Option.none())
  })

  it("a failure tells the agent's words and codes", () => {
    const error = {
      error_type: "agent_error",
      error_code: "kiln.cold",
      error_class: "Cold",
      error_message: "It is cold."
    }
    expect(Option.getOrThrow(AgentClient.failure(ended("failed", words("Sorry."), data(error))))).toEqual({
      state: "failed",
      type: "agent_error",
      code: "kiln.cold",
      class: "Cold",
      message: "It is cold."
    })
    expect(Option.getOrThrow(AgentClient.failure(ended("rejected", words("No."))))).toMatchObject({
      state: "rejected",
      message: "No.",
      code: undefined
    })
    expect(Option.getOrThrow(AgentClient.failure(ended("canceled")))).toMatchObject({ message: "" })
    expect(AgentClient.failure(ended("completed", data(error)))).toEqual(Option.none())
  })
})

it("the service's types", () => {
  expectTypeOf<AgentClient.Service["wait"]>().returns.toEqualTypeOf<Effect.Effect<A2a.Task, AgentClientError>>()
  expectTypeOf<AgentClient.Service["stream"]>().returns.toEqualTypeOf<
    Stream.Stream<A2a.StreamEvent, AgentClientError>
  >()
})
