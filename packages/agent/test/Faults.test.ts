import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Ref } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { message, message1, rpc } from "./a2aAgent.ts"
import { call, connect, desk, http, stream, turns } from "./agentHttp.ts"

const correlated = /Correlation ID: [0-9a-f]{32}$/

const taskOf = (port: number) =>
  Effect.map(call(port, rpc("ListTasks", { includeArtifacts: true })), ({ result }) => result.tasks[0])

describe("a run", () => {
  it.scoped("that dies, throws before it begins or returns nothing is a failed task with an id, on both wires", () =>
    Effect.gen(function*() {
      const { port } = yield* desk()
      for (const text of ["die", "throw", "nothing"]) {
        const before = yield* call(port, rpc("message/send", message(text)))
        const now = yield* call(port, rpc("SendMessage", message1(text)))
        const statuses = [before.result.status, now.result.task.status]
        expect(statuses.map(({ state }) => state)).toEqual(["failed", "TASK_STATE_FAILED"])
        const said = JSON.stringify(statuses)
        expect(said).toMatch(/Correlation ID: [0-9a-f]{32}/)
        expect(said).not.toContain("canary-private-detail")
      }
      expect((yield* call(port, rpc("message/send", message("ok")))).result.status.state).toBe("completed")
    }))

  it.scoped("that returns twice ends as it did first", () =>
    Effect.gen(function*() {
      const { port } = yield* desk()
      const events = yield* stream(port, rpc("message/stream", message("twice")))
      expect(events.filter(({ final }) => final === true)).toHaveLength(1)
      const { id, status } = (yield* call(port, rpc("tasks/get", { id: events[0]!["id"] }))).result
      expect([status.state, status.message.parts]).toEqual(["completed", [{ kind: "text", text: "first" }]])
      expect((yield* call(port, rpc("tasks/cancel", { id }))).error.code).toBe(-32002)
    }))

  it.scoped("that never returns holds up nobody but its context", () =>
    Effect.gen(function*() {
      const { interrupted, port } = yield* desk()
      const configuration = { blocking: false }
      const own = (text: string, contextId: string) =>
        rpc("message/send", { ...message(text, { contextId }), configuration })
      const first = (yield* call(port, own("never", "a"))).result
      const behind = (yield* call(port, own("ok", "a"))).result
      const beside = yield* call(port, rpc("message/send", message("ok", { contextId: "b" })))
      expect(beside.result.status.state).toBe("completed")
      expect((yield* call(port, rpc("tasks/get", { id: behind.id }))).result.status.state).toBe("submitted")
      yield* call(port, rpc("tasks/cancel", { id: first.id }))
      yield* interrupted
      const rest = yield* stream(port, rpc("message/stream", message("ok", { contextId: "a" })))
      expect(rest.at(-1)).toMatchObject({ status: { state: "completed" } })
      expect((yield* call(port, rpc("tasks/get", { id: behind.id }))).result.status.state).toBe("completed")
    }))

  it.scoped(
    "that floods progress reaches its reader whole and in order, and the others meanwhile",
    () =>
      Effect.gen(function*() {
        const { port } = yield* desk()
        const reader = yield* Effect.fork(stream(port, rpc("message/stream", message("say 20000"))))
        const idle = yield* connect(port, rpc("message/stream", message("say 20000")))
        idle.socket.pause()
        for (let i = 0; i < 10; i++) {
          expect((yield* call(port, rpc("message/send", message("ok")))).result.status.state).toBe("completed")
        }
        const events = yield* Fiber.join(reader)
        const steps = events.flatMap(({ status }) => {
          const text = status?.message?.parts[0]?.text
          return typeof text === "string" && text.startsWith("step ") ? [Number(text.slice(5))] : []
        })
        expect(steps).toEqual(Array.from({ length: 20_000 }, (_, i) => i))
        expect(events.at(-1)).toMatchObject({ final: true, status: { state: "completed" } })
        idle.socket.resume()
        yield* idle.until((text) => text.includes("\"final\":true"))
      }),
    60_000
  )
})

describe("a client", () => {
  it.scoped("that leaves while it waits leaves its task, whose result is kept", () =>
    Effect.gen(function*() {
      const { gate, port, runs } = yield* desk()
      const client = yield* connect(port, rpc("message/send", message("wait")))
      while ((yield* taskOf(port))?.status.state !== "TASK_STATE_WORKING") yield* turns(1)
      client.socket.destroy()
      yield* turns(20)
      yield* gate.open
      while ((yield* taskOf(port)).status.state === "TASK_STATE_WORKING") yield* turns(1)
      expect((yield* taskOf(port)).status).toMatchObject({
        state: "TASK_STATE_COMPLETED",
        message: { parts: [{ text: "ok" }] }
      })
      expect(yield* Ref.get(runs)).toBe(1)
    }))

  it.scoped("that leaves its stream finds the task where it would have been, and may listen again", () =>
    Effect.gen(function*() {
      const { gate, port, runs } = yield* desk()
      const client = yield* connect(port, rpc("SendStreamingMessage", message1("wait")))
      yield* client.until((text) => text.includes("TASK_STATE_WORKING"))
      client.socket.destroy()
      yield* turns(20)
      const { id } = yield* taskOf(port)
      const again = yield* Effect.fork(stream(port, rpc("SubscribeToTask", { id })))
      yield* turns(20)
      yield* gate.open
      expect((yield* Fiber.join(again)).at(-1)).toMatchObject({
        statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } }
      })
      expect(yield* Ref.get(runs)).toBe(1)
    }))

  it.scoped("that leaves in the middle of its request has sent nothing", () =>
    Effect.gen(function*() {
      const { port, runs } = yield* desk()
      const cut = yield* connect(port, {})
      yield* cut.until((text) => text.includes("\"error\""))
      cut.socket.write("POST /a2a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\"")
      yield* turns(5)
      cut.socket.destroy()
      yield* turns(20)
      expect(yield* Ref.get(runs)).toBe(0)
      expect((yield* http(port, "GET", "/health")).status).toBe(200)
    }))

  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
  const wrapped = (method: string, data: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{"message":{"messageId":"m","role":"user","parts":[{"kind":"data","data":{"a":${data}}}]}}}`
  const hostile: ReadonlyArray<readonly [what: string, body: string]> = [
    ["no JSON", "{"],
    ["nothing", ""],
    ["a lone brace 10,000 deep", "{\"a\":".repeat(10_000)],
    ["arrays 10,000 deep on 0.3", wrapped("message/send", deep(10_000))],
    ["arrays 10,000 deep on 1.0", wrapped("SendMessage", deep(10_000))],
    ["a batch", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":{\"id\":\"x\"}}]"],
    ["half a surrogate pair", wrapped("message/send", "\"\\ud800\"")],
    ["half a surrogate pair in a method", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\udc00\"}"],
    ["bytes that are no UTF-8", Buffer.from([0x22, 0xff, 0xfe, 0x22]).toString("latin1")],
    ["a method of Object", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"constructor\",\"params\":{}}"],
    ["a method that is __proto__", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"__proto__\",\"params\":{}}"],
    [
      "params that are __proto__",
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\",\"params\":{\"__proto__\":{\"id\":\"x\"}}}"
    ],
    ["an id without end", `{"jsonrpc":"2.0","id":1${"0".repeat(400)},"method":"tasks/get","params":{"id":"x"}}`]
  ]
  it.scoped.each(hostile)(
    "that sends %s is answered with an error, and the next as ever",
    ([, body]) =>
      Effect.gen(function*() {
        const { port } = yield* desk()
        const { status, text } = yield* http(port, "POST", "/a2a", { body: Buffer.from(body, "latin1") })
        expect(status).toBe(200)
        expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0", error: { code: expect.any(Number) } })
        expect(text).not.toMatch(correlated)
        expect(({} as { id?: unknown }).id).toBeUndefined()
        expect((yield* call(port, rpc("message/send", message("ok")))).result.status.state).toBe("completed")
      })
  )
})

describe("a server", () => {
  interface Child {
    readonly port: number
    readonly printed: () => string
    /** Tells it to stop, and answers its code. */
    readonly end: Effect.Effect<number | null>
  }

  const child = Effect.acquireRelease(
    Effect.async<Child & { readonly kill: () => void }>((resume) => {
      const process_ = spawn(
        process.execPath,
        [
          "--conditions=@effect-agentenv/source",
          "--import",
          "tsx",
          join(import.meta.dirname, "programs/tasks.ts")
        ],
        { stdio: ["ignore", "pipe", "inherit"] }
      )
      let printed = ""
      const closed = new Promise<number | null>((resolve) => process_.once("close", (code) => resolve(code)))
      process_.stdout.on("data", (chunk: Buffer) => {
        printed += chunk.toString()
        const port = /^(\d+)$/m.exec(printed)?.[1]
        if (port === undefined) return
        resume(Effect.succeed({
          port: Number(port),
          printed: () => printed,
          end: Effect.promise(() => {
            process_.kill("SIGTERM")
            return closed
          }),
          kill: () => process_.kill("SIGKILL")
        }))
      })
    }),
    ({ kill }) => Effect.sync(kill)
  )

  it.scopedLive(
    "that is told to stop ends its tasks as canceled, tells who listens, releases and exits",
    () =>
      Effect.gen(function*() {
        const { end, port, printed } = yield* child
        const reader = yield* connect(port, rpc("message/stream", message("go")))
        const stubborn = yield* connect(port, rpc("SendStreamingMessage", message1("stubborn")))
        const waiting = yield* connect(port, rpc("message/send", message("go")))
        for (const { until } of [reader, stubborn]) yield* until((text) => text.includes("started"))
        yield* turns(20)
        const code = yield* Effect.timeout(end, "10 seconds")
        expect(code).toBe(0)
        yield* reader.until((text) => text.includes("\"final\":true"))
        expect(reader.received()).toContain("\"state\":\"canceled\"")
        yield* stubborn.until((text) => text.includes("TASK_STATE_CANCELED"))
        yield* waiting.until((text) => text.includes("\r\n\r\n{"))
        expect(waiting.received()).toContain("\"state\":\"canceled\"")
        expect(printed().match(/interrupted/g)).toHaveLength(2)
        expect(printed().trimEnd().endsWith("released")).toBe(true)
      }),
    30_000
  )
})
