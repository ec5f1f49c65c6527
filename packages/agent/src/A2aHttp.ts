/**
 * A2A's JSON-RPC over HTTP.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import type * as Body from "@effect-agentenv/server/Body"
import * as Calls from "@effect-agentenv/server/Calls"
import * as Correlation from "@effect-agentenv/server/Correlation"
import type * as EventStream from "@effect-agentenv/server/EventStream"
import * as Exchange from "@effect-agentenv/server/Exchange"
import type * as Route from "@effect-agentenv/server/Route"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { A2a } from "./A2a.ts"
import { idOf } from "./internal/a2aRequest.ts"

/**
 * How requests are taken. `bodyLimit` is in bytes, 16 MiB by default: files travel in messages.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly bodyLimit?: number | undefined
}

/**
 * The bytes of a body unless said otherwise: 16 MiB.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaultBodyLimit: number = 16 * 1024 * 1024

const jsonHead: ReadonlyArray<string> = ["content-type", "application/json"]
const noHeaders: ReadonlyArray<string> = []

const refuse = (exchange: Exchange.Exchange, status: number, id: JsonRpc.Id | null, code: number, message: string) =>
  Exchange.json(exchange, status, JsonRpc.failure(id, { code, message }))

const shuttingDown = (exchange: Exchange.Exchange, body: Body.Text): void =>
  refuse(exchange, 503, idOf(body.bytes), JsonRpc.ErrorCode.InternalError, "The server is shutting down")

/** Waits for the reader, and costs nothing while it does. */
const drained = (stream: EventStream.EventStream): Effect.Effect<void> =>
  Effect.async<void>((resume) => stream.onDrain(() => resume(Effect.void)))

/** Writes frames at the pace of the reader, until there are no more or the reader has gone. */
const pump = (
  stream: EventStream.EventStream,
  next: Effect.Effect<string | undefined>
): Effect.Effect<void> =>
  Effect.withFiberRuntime((fiber) => {
    stream.onClose(() => fiber.unsafeInterruptAsFork(fiber.id()))
    const loop: Effect.Effect<void> = Effect.flatMap(next, (frames) => {
      if (frames === undefined) return Effect.void
      stream.write(frames)
      return stream.full ? Effect.zipRight(drained(stream), loop) : loop
    })
    return Effect.ensuring(loop, Effect.sync(() => stream.end()))
  })

/**
 * The route of A2A at `path`, with or without a slash at its end and without a redirect.
 *
 * A body over the limit is answered with 413, and what comes while the server closes with 503, both with an error of JSON-RPC; all else
 * is a 200 or an event stream, kept alive by comments. A client that leaves ends nothing but its own answer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  path: string,
  options: Options = {}
): Effect.Effect<ReadonlyArray<Route.Route>, never, A2a | Scope.Scope> =>
  Effect.gen(function*() {
    const a2a = yield* A2a
    const calls = yield* Calls.make()
    const limit = options.bodyLimit ?? defaultBodyLimit

    const answer = (exchange: Exchange.Exchange, body: Body.Text): Effect.Effect<void> =>
      Effect.flatMap(a2a.handle(body.bytes, (name) => exchange.header(name)), (reply) =>
        reply._tag === "Json"
          ? Effect.sync(() => exchange.reply(reply.status, jsonHead, reply.text))
          : Effect.suspend(() => pump(calls.stream(exchange, 200, noHeaders), reply.next)))

    const run = (exchange: Exchange.Exchange, body: Body.Body): void => {
      if (body._tag === "Aborted") return
      if (body._tag === "TooLarge") {
        return refuse(
          exchange,
          413,
          null,
          JsonRpc.ErrorCode.InvalidRequest,
          `Payload too large: more than ${body.limit} bytes`
        )
      }
      calls.run(exchange, answer(exchange, body), calls.runtime, (exit) => {
        if (exit._tag === "Success" || exchange.answered) return
        if (Cause.isInterruptedOnly(exit.cause)) return shuttingDown(exchange, body)
        const message = Correlation.report(exit.cause, calls.runtime)
        refuse(exchange, 200, idOf(body.bytes), JsonRpc.ErrorCode.InternalError, message)
      }, {
        // the message is taken, whoever waits for the answer
        interruptOnClose: false,
        onRefused: () => shuttingDown(exchange, body)
      })
    }

    return [{ path, methods: { POST: (exchange) => exchange.body(limit, (body) => run(exchange, body)) } }]
  })
