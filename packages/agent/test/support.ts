import { Staging, StagingHttp } from "@effect-agentenv/agent"
import { Server } from "@effect-agentenv/server"
import { type HttpLayerRouter, HttpServer } from "@effect/platform"
import { Array as Arr, Context, Effect, Layer, Logger, LogLevel, Order, Stream } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import * as Fs from "node:fs/promises"
import * as Net from "node:net"
import { tmpdir } from "node:os"
import * as Path from "node:path"

/** A first segment that is long enough. */
export const id = "s".repeat(32)

export const bytes = (text: string) => Stream.make(Buffer.from(text))

export const read = (stream: Stream.Stream<Uint8Array, unknown>) =>
  Effect.map(Effect.orDie(Stream.runCollect(stream)), (chunks) => Buffer.concat([...chunks]).toString())

export const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(Path.join(tmpdir(), "staging-test-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/** The names of the files below a directory, sorted. */
export const filesBelow = (directory: string) =>
  Effect.promise(async () => {
    const entries = await Fs.readdir(directory, { recursive: true, withFileTypes: true })
    return Arr.sort(entries.filter((entry) => entry.isFile()).map((entry) => entry.name), Order.string)
  })

/** A store of the scope, on a fresh directory unless one is given. */
export const open = (maxBytes: number, given?: string) =>
  Effect.gen(function*() {
    const directory = given ?? (yield* temporaryDirectory)
    const context = yield* Effect.orDie(Layer.build(Staging.layer({ directory, maxBytes })))
    return { directory, staging: Context.get(context, Staging.Staging) }
  })

/** A store of the scope and the port that serves it, behind what `more` adds. */
export const serve = (
  maxBytes: number,
  more: Layer.Layer<never, never, HttpLayerRouter.HttpRouter> = Layer.empty
) =>
  Effect.gen(function*() {
    const { directory, staging } = yield* open(maxBytes)
    const context = yield* Layer.build(
      Server.serve(Layer.merge(StagingHttp.routes, more), { port: 0, host: "127.0.0.1" }).pipe(
        Layer.provide(Layer.succeed(Staging.Staging, staging)),
        Layer.provide(Logger.minimumLogLevel(LogLevel.None))
      )
    )
    const address = Context.get(context, HttpServer.HttpServer).address
    return { directory, staging, port: (address as HttpServer.TcpAddress).port }
  })

/** Sends bytes, leaves its own side open or ends it, and returns all that comes back until the end. */
export const raw = (port: number, text: string, options: { readonly end?: boolean } = {}) =>
  Effect.async<string>((resume) => {
    let received = ""
    const socket = Net.connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => {
      if (options.end === true) socket.end(text, "latin1")
      else socket.write(text, "latin1")
    })
    socket.on("data", (chunk) => received += chunk.toString("latin1"))
    socket.on("error", () => {})
    socket.on("end", () => socket.end())
    socket.on("close", () => resume(Effect.succeed(received)))
  })

interface Answer {
  readonly status: number
  readonly headers: string
  readonly body: string
}

/** One request whose path goes out as it is. */
export const request = (
  port: number,
  method: string,
  path: string,
  options: { readonly body?: string; readonly headers?: Record<string, string> } = {}
): Effect.Effect<Answer> => {
  const { body, headers = {} } = options
  const head = [
    `${method} /ext/staging/${path} HTTP/1.1`,
    "Host: a",
    "Connection: close",
    ...(body === undefined || "Transfer-Encoding" in headers ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  ]
  return Effect.map(raw(port, `${head.join("\r\n")}\r\n\r\n${Buffer.from(body ?? "").toString("latin1")}`), (text) => {
    const [headers = "", ...rest] = text.split("\r\n\r\n")
    return { status: Number(headers.split(" ")[1]), headers, body: rest.join("\r\n\r\n") }
  })
}

/** A server in a process of its own, which the scope ends. */
export const program = (env: Record<string, string>) =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly kill: Effect.Effect<void>; readonly end: Effect.Effect<void> }>(
      (resume) => {
        const child = spawn(
          process.execPath,
          [
            "--conditions=@effect-agentenv/source",
            "--import",
            "tsx",
            Path.join(import.meta.dirname, "programs/staging.ts")
          ],
          { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] }
        )
        const stop = (signal: NodeJS.Signals) =>
          Effect.async<void>((resume) => {
            if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
            child.once("exit", () => resume(Effect.void))
            child.kill(signal)
          })
        child.stdout.once("data", (chunk: Buffer) =>
          resume(Effect.succeed({ port: Number(chunk), kill: stop("SIGKILL"), end: stop("SIGTERM") })))
      }
    ),
    ({ kill }) =>
      kill
  )
