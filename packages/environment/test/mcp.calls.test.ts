import type { ToolCall } from "@effect-agentenv/environment/ToolCall"
import { Ids } from "@effect-agentenv/server"
import { describe, expect, it } from "@effect/vitest"
import { type Context, Deferred, Effect, Fiber, Option, TestClock } from "effect"
import { both, call, request, serve, settle, surface, textResult, tool } from "./mcpSupport.ts"

type Call = Context.Tag.Service<typeof ToolCall>

const streaming = { accept: both }

/** A tool `speak` that reports, logs and waits for `go` before it ends. */
const speaking = Effect.gen(function*() {
  const go = yield* Deferred.make<void>()
  const speak = tool("speak", ({ word }, call) =>
    Effect.gen(function*() {
      yield* call.progress(1)
      yield* call.progress({ progress: 2, total: 3, message: word })
      yield* Deferred.await(go)
      return textResult(word)
    }))
  return { go: Deferred.succeed(go, undefined), tools: surface([speak]) }
})

const logging = surface([tool("logs", (_, call) =>
  Effect.gen(function*() {
    yield* call.log("debug", "small")
    yield* call.log("error", { code: 7 }, "scale")
    return textResult("done")
  }))])

/** A tool `look` that answers what it sees of its call. */
const looking = (see: (call: Call) => unknown) =>
  surface([tool("look", (_, call) => Effect.sync(() => textResult(JSON.stringify(see(call)))))])

describe("MCP reply channel", () => {
  it.scoped("is one JSON answer when nothing is said before it", () =>
    Effect.gen(function*() {
      const { open, post } = yield* serve(looking(() => 1))
      const { headers, json } = yield* post(call(1, "look", {}, { progressToken: 1 }), {
        ...yield* open(),
        ...streaming
      })
      expect(headers.get("content-type")).toBe("application/json")
      expect(json).toEqual({ jsonrpc: "2.0", id: 1, result: textResult("1") })
    }))

  it.scoped("M-4: becomes an event stream with the first progress, and the result is its last frame", () =>
    Effect.gen(function*() {
      const { go, tools } = yield* speaking
      const { open, stream } = yield* serve(tools)
      const events = yield* stream(call(1, "speak", { word: "a" }, { progressToken: "t" }), yield* open())
      expect([events.status, events.headers.get("content-type")]).toEqual([200, "text/event-stream"])
      const progress = { jsonrpc: "2.0", method: "notifications/progress" }
      expect(yield* events.next).toEqual({ ...progress, params: { progressToken: "t", progress: 1 } })
      expect(yield* events.next).toEqual({
        ...progress,
        params: { progressToken: "t", progress: 2, total: 3, message: "a" }
      })
      yield* go
      expect(yield* events.next).toEqual({ jsonrpc: "2.0", id: 1, result: textResult("a") })
      expect(yield* events.next).toBeUndefined()
    }))

  it.scoped("M-4: all that a call says goes to its own sender, however many speak at once", () =>
    Effect.gen(function*() {
      const { go, tools } = yield* speaking
      const { open, stream } = yield* serve(tools)
      const words = ["a", "b", "c"]
      const streams = yield* Effect.forEach(
        words,
        (word) => Effect.flatMap(open(), (session) => stream(call(1, "speak", { word }, { progressToken: 1 }), session))
      )
      yield* go
      for (const [index, events] of streams.entries()) {
        yield* events.next
        expect((yield* events.next).params.message).toBe(words[index])
        expect((yield* events.next).result).toEqual(textResult(words[index]!))
        expect(yield* events.next).toBeUndefined()
      }
    }))

  it.scoped("drops progress that nobody asked for, and all of it where no stream is read or none may be", () =>
    Effect.gen(function*() {
      const { go, tools } = yield* speaking
      yield* go
      const reply = (json: boolean, headers: Record<string, string>, meta: object) =>
        Effect.gen(function*() {
          const { open, post } = yield* serve(tools, { json })
          return (yield* post(call(1, "speak", { word: "a" }, meta), { ...yield* open(), ...headers })).json
        })
      const result = { jsonrpc: "2.0", id: 1, result: textResult("a") }
      expect(yield* reply(false, streaming, {})).toEqual(result)
      expect(yield* reply(false, streaming, { progressToken: null })).toEqual(result)
      expect(yield* reply(false, { accept: "application/json" }, { progressToken: 1 })).toEqual(result)
      expect(yield* reply(true, streaming, { progressToken: 1 })).toEqual(result)
    }))

  it.scoped("carries log messages from the session's level on: all of them until it names one", () =>
    Effect.gen(function*() {
      const { open, post, stream } = yield* serve(logging)
      const session = yield* open()
      const levels = Effect.gen(function*() {
        const events = yield* stream(call(1, "logs"), session)
        const seen: Array<unknown> = []
        for (let event = yield* events.next; event !== undefined; event = yield* events.next) {
          seen.push(event.params ?? event.result)
        }
        return seen
      })
      const error = { level: "error", logger: "scale", data: { code: 7 } }
      expect(yield* levels).toEqual([{ level: "debug", data: "small" }, error, textResult("done")])
      expect((yield* post(request(2, "logging/setLevel", { level: "warning" }), session)).json.result).toEqual({})
      expect(yield* levels).toEqual([error, textResult("done")])
      yield* post(request(2, "logging/setLevel", { level: "emergency" }), session)
      expect((yield* post(call(1, "logs"), { ...session, ...streaming })).json.result).toEqual(textResult("done"))
      const wrong = yield* post(request(2, "logging/setLevel", { level: "loud" }), session)
      expect(wrong.json.error.code).toBe(-32602)
      expect(wrong.json.error.message).toContain("params.level")
    }))

  it.scoped("a log of what JSON cannot say does not fail the call", () =>
    Effect.gen(function*() {
      const circle: Record<string, unknown> = {}
      circle["self"] = circle
      const odd = tool("odd", (_, call) =>
        Effect.gen(function*() {
          for (const data of [circle, 1n, undefined]) yield* call.log("info", data)
          return textResult("done")
        }))
      const { open, stream } = yield* serve(surface([odd]))
      const events = yield* stream(call(1, "odd"), yield* open())
      yield* events.next
      yield* events.next
      expect((yield* events.next).params.data).toBeNull()
      expect((yield* events.next).result).toEqual(textResult("done"))
    }))

  it.scoped("M-16: becomes an event stream after 10 seconds of silence, and is kept alive", () =>
    Effect.gen(function*() {
      const slow = tool("slow", () => Effect.as(Effect.sleep("40 seconds"), textResult("slept")))
      const { open, post, stream } = yield* serve(surface([slow]))
      const session = yield* open()
      const opening = yield* Effect.fork(stream(call(1, "slow"), session))
      const plain = yield* Effect.fork(post(call(2, "slow"), session))
      yield* settle
      yield* TestClock.adjust("9 seconds")
      expect(yield* Fiber.poll(opening)).toEqual(Option.none())
      yield* TestClock.adjust("2 seconds")
      const events = yield* Fiber.join(opening)
      expect(events.headers.get("content-type")).toBe("text/event-stream")
      yield* TestClock.adjust("29 seconds")
      expect((yield* events.next).result).toEqual(textResult("slept"))
      expect(events.seen().match(/^: keep-alive$/gm)).toHaveLength(2)
      const { headers, json } = yield* Fiber.join(plain)
      expect([headers.get("content-type"), json.result]).toEqual(["application/json", textResult("slept")])
    }))

  it.scoped("a client that leaves a stream interrupts its call", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const speak = tool("speak", (_, call) =>
        Effect.zipRight(call.progress(1), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
        ))
      const { gate, open, stream } = yield* serve(surface([speak]))
      const events = yield* stream(call(1, "speak", {}, { progressToken: 1 }), yield* open())
      yield* events.next
      events.leave()
      yield* Deferred.await(interrupted)
      yield* settle
      expect(gate.busy).toBe(false)
    }))

  it.scoped("what is said after the answer is lost, and harms nothing", () =>
    Effect.gen(function*() {
      const said = yield* Deferred.make<void>()
      const late = tool("late", (_, call) =>
        Effect.as(
          Effect.forkDaemon(
            Effect.yieldNow().pipe(
              Effect.zipRight(call.progress(1)),
              Effect.zipRight(Deferred.succeed(said, undefined))
            )
          ),
          textResult("early")
        ))
      const { open, post } = yield* serve(surface([late]))
      const { json } = yield* post(call(1, "late", {}, { progressToken: 1 }), { ...yield* open(), ...streaming })
      yield* Deferred.await(said)
      expect(json.result).toEqual(textResult("early"))
    }))
})

describe("ToolCall of an MCP call", () => {
  it.scoped("has the tool, the arguments as they were sent, and an id of its own", () =>
    Effect.gen(function*() {
      let count = 0
      const ids = { uuid: () => `id-${++count}`, hex: () => "0" }
      const { open, post } = yield* Effect.provideService(
        serve(looking((call) => [call.tool, call.arguments, call.callId, call.callId])),
        Ids.Ids,
        ids
      )
      const session = yield* open()
      expect(session).toEqual({ "mcp-session-id": "id-1" })
      const see = (args: object) =>
        Effect.map(post(call(1, "look", args), session), ({ json }) => JSON.parse(json.result.content[0].text))
      expect(yield* see({ a: [1], extra: null })).toEqual(["look", { a: [1], extra: null }, "id-2", "id-2"])
      expect(yield* see({})).toEqual(["look", {}, "id-3", "id-3"])
    }))

  it.scoped("B-CTX-3: reads the caller from the headers, and from _meta alone once it names a role", () =>
    Effect.gen(function*() {
      const { open, post } = yield* serve(looking((call) => [call.role ?? null, call.session ?? null]))
      const session = yield* open()
      const id = session["mcp-session-id"]
      const see = (meta: object | undefined, headers: Record<string, string> = {}) =>
        Effect.map(
          post(call(1, "look", {}, meta), { ...session, ...headers }),
          ({ json }) => JSON.parse(json.result.content[0].text)
        )
      expect(yield* see(undefined)).toEqual([null, id])
      expect(yield* see(undefined, { "agentenv-role": " player " })).toEqual(["player", id])
      expect(yield* see({ "agentenv.io/session": "s" }, { "agentenv-role": "player" })).toEqual(["player", "s"])
      expect(yield* see({ "agentenv.io/role": "judge" }, { "agentenv-role": "player" })).toEqual(["judge", null])
      expect(yield* see({ "agentenv.io/role": "default", "agentenv.io/session": "s" })).toEqual([null, "s"])
    }))
})

describe("requests to the MCP client", () => {
  const asking = surface([tool("ask", (_, call) =>
    Option.match(call.client.elicit, {
      onNone: () => Effect.succeed(textResult("none")),
      onSome: (elicit) =>
        Effect.match(elicit({ message: "Sure?", requestedSchema: { type: "object", properties: {} } }), {
          onFailure: (error) => textResult(`${error._tag} ${error.method} ${error.code} ${error.message}`),
          onSuccess: (result) => textResult(JSON.stringify(result))
        })
    }))])

  const capable = { elicitation: {} }

  it.scoped("exist where the client declared them and the answer can be streamed", () =>
    Effect.gen(function*() {
      const see = looking(({ client: { elicit, roots, sample } }) =>
        [elicit, sample, roots].map((it) => it._tag === "Some")
      )
      const { open, post } = yield* serve(see, { sessions: "optional" })
      const features = (session: Record<string, string>) =>
        Effect.map(post(call(1, "look"), session), ({ json }) => JSON.parse(json.result.content[0].text))
      const all = yield* open({ elicitation: {}, sampling: {}, roots: {} })
      expect(yield* features({ ...all, ...streaming })).toEqual([true, true, true])
      expect(yield* features({ ...yield* open({ sampling: {} }), ...streaming })).toEqual([false, true, false])
      expect(yield* features({ ...yield* open(), ...streaming })).toEqual([false, false, false])
      expect(yield* features({ ...all, accept: "application/json" })).toEqual([false, false, false])
      expect(yield* features(streaming)).toEqual([false, false, false])
      const json = yield* serve(see, { json: true })
      const answer = yield* json.post(call(1, "look"), { ...yield* json.open(capable), ...streaming })
      expect(JSON.parse(answer.json.result.content[0].text)).toEqual([false, false, false])
    }))

  it.scoped("go out on the call's own stream and are answered by a POST of the session", () =>
    Effect.gen(function*() {
      const { open, post, stream } = yield* serve(asking)
      const session = yield* open(capable)
      const events = yield* stream(call("c", "ask"), session)
      const asked = yield* events.next
      expect(asked).toEqual({
        jsonrpc: "2.0",
        id: asked.id,
        method: "elicitation/create",
        params: { message: "Sure?", requestedSchema: { type: "object", properties: {} } }
      })
      const result = { action: "accept", content: { sure: true } }
      const other = yield* open(capable)
      yield* post({ jsonrpc: "2.0", id: asked.id, result: { action: "decline" } }, other)
      expect((yield* post({ jsonrpc: "2.0", id: asked.id, result }, session)).status).toBe(202)
      expect((yield* events.next).result).toEqual(textResult(JSON.stringify(result)))
      expect(yield* events.next).toBeUndefined()
    }))

  it.scoped("sampling and roots are asked and read in the same way", () =>
    Effect.gen(function*() {
      const { open, post, stream } = yield* serve(surface([tool("both", (_, { client }) =>
        Effect.gen(function*() {
          const roots = yield* Option.getOrThrow(client.roots)
          const said = yield* Option.getOrThrow(client.sample)({ messages: [], maxTokens: 5 })
          return textResult(JSON.stringify([roots, said]))
        }))]))
      const session = yield* open({ sampling: {}, roots: {} })
      const events = yield* stream(call(1, "both"), session)
      const roots = yield* events.next
      expect([roots.method, "params" in roots]).toEqual(["roots/list", false])
      const listed = { roots: [{ uri: "file:///a" }] }
      yield* post({ jsonrpc: "2.0", id: roots.id, result: listed }, session)
      const sampling = yield* events.next
      expect([sampling.method, sampling.params]).toEqual(["sampling/createMessage", { messages: [], maxTokens: 5 }])
      const said = { role: "assistant", content: { type: "text", text: "hi" }, model: "m" }
      yield* post({ jsonrpc: "2.0", id: sampling.id, result: said }, session)
      expect(JSON.parse((yield* events.next).result.content[0].text)).toEqual([listed, said])
    }))

  it.scoped("fail typed when the client refuses or answers nonsense", () =>
    Effect.gen(function*() {
      const { open, post, stream } = yield* serve(asking)
      const session = yield* open(capable)
      const outcome = (answer: object) =>
        Effect.gen(function*() {
          const events = yield* stream(call(1, "ask"), session)
          const { id } = yield* events.next
          yield* post({ jsonrpc: "2.0", id, ...answer }, session)
          return (yield* events.next).result.content[0].text
        })
      expect(yield* outcome({ error: { code: -1, message: "no" } })).toBe("ClientRequestError elicitation/create -1 no")
      expect(yield* outcome({ result: { action: "maybe" } })).toMatch(/^ClientRequestError .* cannot be read$/)
      expect(yield* outcome({ error: {} })).toMatch(/^ClientRequestError .* the client refused$/)
    }))

  it.scoped("fail typed when the session ends", () =>
    Effect.gen(function*() {
      const failed = yield* Deferred.make<unknown>()
      const ask = tool("ask", (_, { client }) =>
        Option.getOrThrow(client.roots).pipe(
          Effect.catchAll((error) => Deferred.succeed(failed, error)),
          Effect.as(textResult("")),
          Effect.uninterruptible
        ))
      const served = yield* serve(surface([ask]))
      const session = yield* served.open({ roots: {} })
      const events = yield* served.stream(call(1, "ask"), session)
      yield* events.next
      yield* served.delete(session)
      expect(yield* Deferred.await(failed)).toMatchObject({ _tag: "ClientRequestError", method: "roots/list" })
    }))

  it.scoped("are taken back when their call no longer waits for them", () =>
    Effect.gen(function*() {
      const hurried = tool("hurried", (_, { client }) =>
        Effect.as(Effect.timeoutOption(Option.getOrThrow(client.roots), "1 second"), textResult("went on")))
      const { open, post, stream } = yield* serve(surface([hurried]))
      const session = yield* open({ roots: {} })
      const events = yield* stream(call(1, "hurried"), session)
      const { id } = yield* events.next
      yield* TestClock.adjust("1 second")
      expect(yield* events.next).toMatchObject({ method: "notifications/cancelled", params: { requestId: id } })
      expect((yield* events.next).result).toEqual(textResult("went on"))
      expect((yield* post({ jsonrpc: "2.0", id, result: { roots: [] } }, session)).status).toBe(202)
    }))
})
