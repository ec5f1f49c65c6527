import * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type RpcError, type Unreachable, Unreadable } from "../ClientError.ts"
import * as Sse from "../Sse.ts"
import * as http from "./http.ts"
import * as rpc from "./rpc.ts"

/** @internal */
export interface Listener {
  readonly onProgress?: ((progress: Mcp.ProgressParams) => Effect.Effect<void>) | undefined
  readonly onLog?: ((message: Mcp.LoggingMessageParams) => Effect.Effect<void>) | undefined
  /** Answers a request of the server on the session. */
  readonly onRequest: (message: Readonly<Record<string, unknown>>) => Effect.Effect<void>
}

const decodeProgress = Schema.decodeUnknownOption(Mcp.ProgressParams)
const decodeLog = Schema.decodeUnknownOption(Mcp.LoggingMessageParams)
const decodeCancelled = Schema.decodeUnknownOption(Mcp.CancelledParams)

/**
 * Reads the answer to the request `id` from a response, JSON or SSE, and hears what the server says before it (B-TCL-4).
 *
 * @internal
 */
export const read = (
  response: HttpClientResponse.HttpClientResponse,
  id: number,
  operation: string,
  listener: Listener
): Effect.Effect<unknown, Unreachable | Unreadable | RpcError> => {
  const type = response.headers["content-type"]?.split(";")[0]?.trim().toLowerCase()
  if (type === "application/json") {
    return Effect.flatMap(http.json(response, operation, "the answer"), (answer) => {
      const given = rpc.isObject(answer) ? answer["id"] : undefined
      return given === undefined || given === null || given === id
        ? rpc.result(answer, operation)
        : unreadable(operation, "it answers another request")
    })
  }
  if (type === "text/event-stream") return readEvents(response, id, operation, listener)
  return Effect.zipRight(
    Effect.ignore(response.text),
    unreadable(operation, `it is neither JSON nor an event stream but ${type ?? "of no type"}`)
  )
}

const unreadable = (operation: string, issues: string) =>
  Effect.fail(new Unreadable({ operation, what: "the answer", issues }))

const readEvents = (
  response: HttpClientResponse.HttpClientResponse,
  id: number,
  operation: string,
  listener: Listener
) =>
  Effect.gen(function*() {
    const requests = yield* FiberMap.make<unknown, void>()
    const parser = Sse.make()

    const hear = (message: Readonly<Record<string, unknown>>): Effect.Effect<void> => {
      const { method, params } = message
      if ("id" in message) return Effect.asVoid(FiberMap.run(requests, message["id"], listener.onRequest(message)))
      switch (method) {
        case Mcp.Method.Progress: {
          const progress = Option.filter(decodeProgress(params), ({ progressToken }) => progressToken === id)
          return Option.match(progress, { onNone: () => Effect.void, onSome: listener.onProgress ?? nothing })
        }
        case Mcp.Method.Message:
          return Option.match(decodeLog(params), { onNone: () => Effect.void, onSome: listener.onLog ?? nothing })
        case Mcp.Method.Cancelled:
          return Option.match(decodeCancelled(params), {
            onNone: () => Effect.void,
            onSome: ({ requestId }) => FiberMap.remove(requests, requestId)
          })
        default:
          return Effect.void
      }
    }

    const answers = response.stream.pipe(
      Stream.mapError(http.unreachable(operation)),
      Stream.mapConcat(parser.push),
      Stream.filter(({ event }) => event === "message"),
      Stream.mapEffect(({ data }) =>
        Effect.flatMap(http.parse(data, operation, "an event"), (message) => {
          if (!rpc.isObject(message)) return unreadable(operation, "an event of it is no JSON-RPC object")
          if (typeof message["method"] === "string") return Effect.as(hear(message), Option.none<unknown>())
          return message["id"] === id
            ? Effect.map(rpc.result(message, operation), Option.some)
            : Effect.succeed(Option.none<unknown>())
        })
      ),
      Stream.filterMap(identity)
    )
    const answer = yield* Stream.runHead(answers)
    return Option.isSome(answer)
      ? answer.value
      : yield* unreadable(operation, "the event stream ended before it")
  }).pipe(Effect.scoped)

const nothing = (): Effect.Effect<void> => Effect.void
