import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Effect, Fiber, Order, Ref, TestClock } from "effect"
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { frames, type Json, message, message1, rpc } from "./a2aAgent.ts"
import { call, connect, desk, http, stream, turns } from "./agentHttp.ts"

const send = (text: string, more: object = {}, configuration: object = {}) =>
  rpc("message/send", { ...message(text, more), configuration })

const stateOf = ({ result }: Json): string => result.status.state
const ended = /^(?:completed|failed|canceled|rejected)$/

/** The task of a send that did not wait, once it runs. */
const running = (port: number, text: string) =>
  Effect.gen(function*() {
    const { result } = yield* call(port, send(text, {}, { blocking: false }))
    while (stateOf(yield* call(port, rpc("tasks/get", { id: result.id }))) !== "working") yield* turns(1)
    return result.id as string
  })

describe("an agent that is served", () => {
  it.scoped("A-1: names itself by where the caller found it, or the proxy when it may, and never by the address that it binds", () =>
    Effect.gen(function*() {
      const proxy = {
        host: "agents.example",
        "x-forwarded-proto": "https",
        "x-forwarded-host": "public.example",
        "x-forwarded-prefix": "/a"
      }
      const urls = (port: number, headers: Record<string, string>) =>
        Effect.map(http(port, "GET", "/.well-known/agent-card.json", { headers }), ({ text }) => {
          const card = JSON.parse(text)
          return [card.url, ...card.supportedInterfaces.map(({ url }: { readonly url: string }) => url)]
        })
      const plain = yield* desk({ host: "0.0.0.0" })
      expect(new Set(yield* urls(plain.port, proxy))).toEqual(new Set(["http://agents.example/a2a"]))
      for (const host of ["0.0.0.0", `0.0.0.0:${plain.port}`, "[::]"]) {
        expect((yield* urls(plain.port, { host })).join()).not.toMatch(/0\.0\.0\.0|\[::\]/)
      }
      const behind = yield* desk({ forwarded: true })
      expect(new Set(yield* urls(behind.port, proxy))).toEqual(new Set(["https://public.example/a/a2a"]))
    }))

  it.scoped("A-4: answers a send that does not wait with the task as it was, though it fails at once", () =>
    Effect.gen(function*() {
      const { port } = yield* desk()
      for (let i = 0; i < 50; i++) {
        const { result } = yield* call(port, send("fail", {}, { blocking: false }))
        expect([result.status.state, result.history.length]).toEqual(["submitted", 1])
      }
    }))

  it.scoped("A-6: stores the end of a cancel, of a run that ignores it and of a task that waits for its caller", () =>
    Effect.gen(function*() {
      const { port } = yield* desk({ tasks: { cancelGrace: 0 } })
      const stubborn = yield* running(port, "stubborn")
      const asked = (yield* call(port, send("ask"))).result.id
      for (const id of [stubborn, asked]) {
        expect(stateOf(yield* call(port, rpc("tasks/cancel", { id })))).toBe("canceled")
        expect(stateOf(yield* call(port, rpc("tasks/get", { id })))).toBe("canceled")
        expect((yield* call(port, rpc("tasks/cancel", { id }))).error.code).toBe(-32002)
      }
    }))

  it.scoped("A-7: stops the work of a task that is canceled", () =>
    Effect.gen(function*() {
      const { interrupted, port, ticks } = yield* desk()
      const id = yield* running(port, "tick")
      yield* TestClock.adjust("1 second")
      expect(yield* Ref.get(ticks)).toBeGreaterThan(10)
      expect(stateOf(yield* call(port, rpc("tasks/cancel", { id })))).toBe("canceled")
      yield* interrupted
      const after = yield* Ref.get(ticks)
      yield* TestClock.adjust("1 second")
      expect(yield* Ref.get(ticks)).toBe(after)
    }))

  it.scoped("A-9: ends a task once, whether it is canceled or done first", () =>
    Effect.gen(function*() {
      const { gate, port } = yield* desk()
      const states = new Set<string>()
      for (let i = 0; i < 100; i++) {
        yield* gate.close
        const reader = yield* Effect.fork(stream(port, rpc("message/stream", message("wait"))))
        const { result } = yield* call(port, send("wait", {}, { blocking: false }))
        const canceling = yield* Effect.fork(call(port, rpc("tasks/cancel", { id: result.id })))
        yield* turns(i % 10)
        yield* gate.open
        const canceled = yield* Fiber.join(canceling)
        const [state, again] = [
          stateOf(yield* call(port, rpc("tasks/get", { id: result.id }))),
          stateOf(yield* call(port, rpc("tasks/get", { id: result.id })))
        ]
        expect([state, again]).toEqual([canceled.error === undefined ? "canceled" : "completed", state])
        states.add(state)
        const ends = (yield* Fiber.join(reader)).filter(({ final }) => final === true)
        expect(ends).toHaveLength(1)
      }
      expect([...states].every((state) => ended.test(state))).toBe(true)
    }), 30_000)

  it.scoped("A-11: ends every stream with a final event, however the run ends", () =>
    Effect.gen(function*() {
      const { port } = yield* desk()
      const ends = yield* Effect.forEach(["ok", "fail", "die", "throw", "nothing", "ask", "twice"], (text) =>
        Effect.map(stream(port, rpc("message/stream", message(text))), (events) => {
          expect(JSON.stringify(events)).not.toContain("canary-private-detail")
          expect(events.filter(({ final }) =>
            final === true
          )).toEqual([events.at(-1)])
          return events.at(-1)!["status"].state
        }))
      expect(ends).toEqual(["completed", "failed", "failed", "failed", "failed", "input-required", "completed"])
    }))

  it.scoped(
    "A-12: tells the end of a run that returns at once to whoever streams it, 1,000 times",
    () =>
      Effect.gen(function*() {
        const { port } = yield* desk({ store: { maxFinished: 10 } })
        const states = yield* Effect.forEach(
          Array.from({ length: 1_000 }, (_, i) => i),
          () =>
            Effect.map(stream(port, rpc("message/stream", message("ok"))), (events) => events.at(-1)!["status"].state),
          { concurrency: 16 }
        )
        expect(new Set(states)).toEqual(new Set(["completed"]))
      }),
    30_000
  )

  it.scoped(
    "A-14: numbers the frames of a stream, keeps an idle one alive, and refuses a body of 50 MB",
    () =>
      Effect.gen(function*() {
        const { gate, port } = yield* desk()
        const reader = yield* connect(port, rpc("message/stream", message("wait")))
        yield* reader.until((text) => text.includes("\"state\":\"working\""))
        for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
        yield* reader.until((text) => text.includes("\n: "))
        yield* gate.open
        yield* reader.until((text) => text.includes("\"final\":true"))
        const ids = Array.from(reader.received().matchAll(/^id: (\d+)/gm), ([, id]) => Number(id))
        expect(ids.length).toBeGreaterThan(2)
        expect(ids).toEqual(Arr.sort(ids, Order.number))
        const { status, text } = yield* http(port, "POST", "/a2a", { body: Buffer.alloc(50_000_000, 0x20) })
        expect([status, JSON.parse(text).error.code]).toEqual([413, -32600])
      }),
    30_000
  )

  it.scoped("A-16: refuses a message to a finished task, whatever its context, and runs nothing", () =>
    Effect.gen(function*() {
      const { port, runs } = yield* desk()
      const { contextId, id } = (yield* call(port, send("ok"))).result
      for (const more of [{ taskId: id }, { taskId: id, contextId }, { taskId: id, contextId: "another" }]) {
        expect((yield* call(port, send("ok", more))).error.code).toBe(-32602)
      }
      expect((yield* call(port, rpc("SendMessage", message1("ok", { taskId: id })))).error.code).toBe(-32004)
      expect(yield* Ref.get(runs)).toBe(1)
    }))

  it.scoped("A-17: calls no webhook, set or sent along", () =>
    Effect.gen(function*() {
      const { port } = yield* desk()
      let connections = 0
      const hook = yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof createServer>>((resume) => {
          const server = createServer((_, response) => response.end()).on("connection", () => connections++)
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
      )
      const pushNotificationConfig = { url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook` }
      const { result } = yield* call(port, send("say 3", {}, { pushNotificationConfig }))
      expect(result.status.state).toBe("completed")
      const set = rpc("tasks/pushNotificationConfig/set", { taskId: result.id, pushNotificationConfig })
      expect((yield* call(port, set)).error.code).toBe(-32603)
      const created = rpc("CreateTaskPushNotificationConfig", { taskId: result.id, ...pushNotificationConfig })
      expect((yield* call(port, created)).error.code).toBe(-32003)
      yield* turns(20)
      expect(connections).toBe(0)
    }))

  it.scoped("A-19: gives files back as they came: every byte, none, and a URI, with their names and types", () =>
    Effect.gen(function*() {
      const { port } = yield* desk()
      const all = Buffer.from(Array.from({ length: 256 }, (_, n) => n))
      const files = [
        { bytes: all.toString("base64"), mimeType: "image/png", name: "all.png" },
        { bytes: "", mimeType: "application/octet-stream", name: "empty" },
        { uri: "https://x.example/a.png?b=c#d", mimeType: "image/png", name: "é.png" }
      ]
      const parts = [{ kind: "text", text: "echo" }, ...files.map((file) => ({ kind: "file", file }))]
      const { result } = yield* call(port, send("", { parts }))
      const back = result.status.message.parts.map(({ file }: { readonly file: object }) => file)
      expect(back).toEqual(files)
      const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")
      expect(hash(Buffer.from(back[0].bytes, "base64"))).toBe(hash(all))
      const now = yield* call(
        port,
        rpc(
          "SendMessage",
          message1("", {
            parts: [{ text: "echo" }, { raw: all.toString("base64"), mediaType: "image/png", filename: "all.png" }]
          })
        )
      )
      expect(now.result.task.status.message.parts).toEqual([
        { raw: all.toString("base64"), mediaType: "image/png", filename: "all.png" }
      ])
    }))

  it.scoped("A-21: answers everybody who waits for one task, and who comes after its end", () =>
    Effect.gen(function*() {
      const { gate, port } = yield* desk()
      const id = yield* running(port, "wait")
      const readers = yield* Effect.forEach(
        [1, 2],
        () => Effect.fork(stream(port, rpc("tasks/resubscribe", { id })))
      )
      yield* turns(20)
      yield* gate.open
      for (const reader of readers) {
        expect((yield* Fiber.join(reader)).at(-1)).toMatchObject({ status: { state: "completed" } })
      }
      const { text } = yield* http(port, "POST", "/a2a", {
        body: JSON.stringify(rpc("tasks/resubscribe", { id })),
        headers: { "last-event-id": "1" }
      })
      expect(frames(text).at(-1)?.data["result"]).toMatchObject({ status: { state: "completed" }, final: true })
    }))

  it.scoped(
    "A-22: shows 20 artifacts of a task that has completed, streamed and read, 200 times",
    () =>
      Effect.gen(function*() {
        const { port } = yield* desk()
        yield* Effect.forEach(Array.from({ length: 200 }), () =>
          Effect.gen(function*() {
            const events = yield* stream(port, rpc("message/stream", message("make 20")))
            const kinds = events.map(({ kind }) => kind)
            expect(kinds.filter((kind) => kind === "artifact-update")).toHaveLength(20)
            expect(kinds.lastIndexOf("artifact-update")).toBe(kinds.length - 2)
            const { result } = yield* call(port, rpc("tasks/get", { id: events[0]!["id"] }))
            expect([result.status.state, result.artifacts.length]).toEqual(["completed", 20])
          }), { concurrency: 8 })
      }),
    30_000
  )

  it.scoped("A-24: answers a POST to its path with a slash at the end as one without", () =>
    Effect.gen(function*() {
      const { port } = yield* desk()
      for (const path of ["/a2a", "/a2a/"]) {
        const { status, text } = yield* http(port, "POST", path, { body: JSON.stringify(send("ok")) })
        expect([status, stateOf(JSON.parse(text))]).toEqual([200, "completed"])
      }
    }))
})
