import type * as Body from "@effect-agentenv/server/Body"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import * as Route from "@effect-agentenv/server/Route"
import * as Server from "@effect-agentenv/server/Server"
import { type HttpLayerRouter, HttpServer } from "@effect/platform"
import { Context, Effect, Layer, Logger, LogLevel } from "effect"
import * as Net from "node:net"

export const options: Server.Options = { port: 0, host: "127.0.0.1" }

const quiet = Logger.minimumLogLevel(LogLevel.None)

/** Starts a server in the scope and returns its port. */
export const startLayer = <E>(
  routes: Layer.Layer<never, E, HttpLayerRouter.HttpRouter>,
  more?: Partial<Server.Options>
) =>
  Effect.map(
    Layer.build(Layer.provide(Server.serve(routes, { ...options, ...more }), quiet)),
    (context) => (Context.get(context, HttpServer.HttpServer).address as HttpServer.TcpAddress).port
  )

export const start = (routes: ReadonlyArray<Route.Route>, more?: Partial<Server.Options>) =>
  startLayer(Route.layer(routes), more)

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export const request = (port: number, path: string, init?: RequestInit): Effect.Effect<Answer> =>
  Effect.promise(async (signal) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal, ...init })
    return { status: response.status, headers: response.headers, text: await response.text() }
  })

/** A connection by hand, for what no client would send. */
export interface Wire {
  readonly send: (text: string) => void
  readonly pause: () => void
  readonly resume: () => void
  readonly destroy: () => void
  readonly received: () => string
  /** Waits until the text received satisfies the predicate. */
  readonly until: (found: (text: string) => boolean) => Effect.Effect<string>
  /** Waits for the end of the connection and returns all that was received. */
  readonly closed: Effect.Effect<string>
}

export const wire = (port: number): Effect.Effect<Wire> =>
  Effect.async((resume) => {
    const socket = Net.connect(port, "127.0.0.1")
    let text = ""
    let isClosed = false
    const checks = new Set<() => void>()
    const check = () => checks.forEach((check) => check())
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
      check()
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      isClosed = true
      check()
    })
    const when = (condition: () => boolean) =>
      Effect.async<string>((resume) => {
        const check = () => {
          if (!condition()) return
          checks.delete(check)
          resume(Effect.succeed(text))
        }
        checks.add(check)
        check()
      })
    socket.once("connect", () =>
      resume(Effect.succeed({
        send: (text) => void socket.write(text),
        pause: () => void socket.pause(),
        resume: () => void socket.resume(),
        destroy: () => void socket.destroy(),
        received: () => text,
        until: (found) => when(() => found(text)),
        closed: when(() => isClosed)
      })))
  })

export const text = (exchange: Exchange.Exchange, text: string, status = 200): void =>
  exchange.reply(status, ["content-type", "text/plain"], text)

/** A route that answers what it read, as `<tag>:<length>`. */
export const echo = (path: string, limit: number): Route.Route =>
  Route.make("POST", path, (exchange) => {
    exchange.body(limit, (body: Body.Body) => {
      if (body._tag === "Text") text(exchange, `Text:${body.bytes.byteLength}:${body.text.slice(0, 40)}`)
      else if (body._tag === "TooLarge") text(exchange, "too large", 413)
    })
  })
