import { Agent, AgentServer, Task, TaskFailure, type TaskRequest, TaskResult } from "@effect-agentenv/agent"
import { HttpServer } from "@effect/platform"
import { ConfigProvider, Context, Deferred, Effect, Layer, Logger, LogLevel, Ref } from "effect"
import { request as httpRequest } from "node:http"
import * as Net from "node:net"
import { frames, type Json } from "./a2aAgent.ts"

const Desk = Agent.make("Desk", { description: "Does what it is told.", version: "1.0.0", streaming: true })

const textOf = ({ parts }: TaskRequest.TaskRequest<unknown>): string => parts[0]?.kind === "text" ? parts[0].text : ""

const count = <E, R>(n: number, each: (i: number) => Effect.Effect<unknown, E, R>) =>
  Effect.forEach(Array.from({ length: n }, (_, i) => i), each, { discard: true })

/** The desk on a port of its own, with what its runs share with their tests. */
export const desk = (options: AgentServer.ServeOptions = {}) =>
  Effect.gen(function*() {
    const gate = yield* Effect.makeLatch()
    const ticks = yield* Ref.make(0)
    const runs = yield* Ref.make(0)
    const interrupted = yield* Deferred.make<void>()
    const DeskLive = Desk.toLayer((request) => {
      const [command = "", argument = ""] = textOf(request).split(" ")
      // what happens before there is an effect
      if (command === "throw") throw new TypeError("canary-private-detail")
      return Effect.gen(function*() {
        yield* Ref.update(runs, (n) => n + 1)
        switch (command) {
          case "wait":
            yield* gate.await
            break
          case "never":
            return yield* Effect.never
          case "stubborn":
            return yield* Effect.uninterruptible(Effect.never)
          case "tick":
            return yield* Effect.forever(Effect.zipRight(Ref.update(ticks, (n) => n + 1), Effect.sleep("50 millis")))
          case "fail":
            return yield* new TaskFailure.TaskFailure({ code: "desk.failed", message: "it failed" })
          case "die":
            return yield* Effect.dieMessage("canary-private-detail")
          case "nothing":
            // what no compiler would let by
            return undefined as unknown as TaskResult.TaskResult
          case "twice":
            return yield* Effect.async<TaskResult.TaskResult>((resume) => {
              resume(Effect.succeed(TaskResult.text("first")))
              resume(Effect.succeed(TaskResult.text("second")))
            })
          case "ask":
            return TaskResult.inputRequired("what?")
          case "echo": {
            const [, first, ...rest] = request.parts
            return TaskResult.parts([first!, ...rest])
          }
          case "say":
            yield* count(Number(argument), (i) => Task.progress(`step ${i}`))
            break
          case "make":
            yield* count(Number(argument), (i) => Task.artifact(`made ${i}`, { id: `${i}` }))
        }
        return TaskResult.text("ok")
      }).pipe(Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined)))
    })
    const context = yield* Layer.build(
      AgentServer.serve(Desk, { host: "127.0.0.1", port: 0, ...options }).pipe(
        Layer.provide([
          DeskLive,
          Layer.setConfigProvider(ConfigProvider.fromMap(new Map())),
          Logger.minimumLogLevel(LogLevel.None)
        ])
      )
    )
    const { port } = Context.get(context, HttpServer.HttpServer).address as HttpServer.TcpAddress
    return { port, gate, ticks, runs, interrupted }
  })

/** One request of HTTP, its path and headers as they are. */
export const http = (
  port: number,
  method: string,
  path: string,
  options: { readonly body?: string | Buffer; readonly headers?: Record<string, string> } = {}
) =>
  Effect.async<{ readonly status: number; readonly type: string; readonly text: string }>((resume) => {
    const sent = httpRequest(
      { host: "127.0.0.1", port, method, path, headers: options.headers, agent: false },
      (got) => {
        const chunks: Array<Buffer> = []
        got.on("data", (chunk: Buffer) => chunks.push(chunk))
        got.on("end", () =>
          resume(Effect.succeed({
            status: got.statusCode ?? 0,
            type: got.headers["content-type"] ?? "",
            text: Buffer.concat(chunks).toString()
          })))
      }
    )
    sent.on("error", (error) => resume(Effect.die(error)))
    sent.end(options.body)
  })

/** The answer to a request of A2A. */
export const call = (port: number, body: unknown): Effect.Effect<Json> =>
  Effect.map(
    http(port, "POST", "/a2a", { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ({ text }) => JSON.parse(text)
  )

/** The results in the frames of a whole stream. */
export const stream = (port: number, body: unknown): Effect.Effect<ReadonlyArray<Json>> =>
  Effect.map(
    http(port, "POST", "/a2a", { body: JSON.stringify(body) }),
    ({ text }) => frames(text).map(({ data }) => data["result"] ?? data)
  )

export interface Connection {
  readonly socket: Net.Socket
  readonly received: () => string
  readonly until: (found: (text: string) => boolean) => Effect.Effect<void>
}

/** A request by hand, whose client can stop reading and leave. */
export const connect = (port: number, body: unknown) =>
  Effect.acquireRelease(
    Effect.async<Connection>((resume) => {
      const socket = Net.connect(port, "127.0.0.1")
      const text = JSON.stringify(body)
      let received = ""
      socket.on("data", (chunk: Buffer) => received += chunk.toString("latin1"))
      socket.on("error", () => {})
      const until = (found: (text: string) => boolean) =>
        Effect.async<void>((resume) => {
          const check = () => {
            if (!found(received)) return
            socket.off("data", check)
            socket.off("close", check)
            resume(Effect.void)
          }
          socket.on("data", check)
          socket.on("close", check)
          check()
        })
      socket.once("connect", () =>
        socket.write(
          `POST /a2a HTTP/1.1\r\nHost: h\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
          () => resume(Effect.succeed({ socket, received: () => received, until }))
        ))
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

/** Lets the other side of a socket have its turns. */
export const turns = (n: number) =>
  Effect.repeatN(Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void))), n)
