import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as A2aV1 from "@effect-agentenv/protocol/A2aV1"
import * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import type { Content, MessageOptions, Options, SendOptions, Service, WaitOptions } from "../AgentClient.ts"
import { type AgentClientError, UnsupportedOperation } from "../AgentClientError.ts"
import { Timeout } from "../ClientError.ts"
import * as agentPeer from "./agentPeer.ts"
import * as agentRpc from "./agentRpc.ts"
import * as agentStream from "./agentStream.ts"
import * as agentWait from "./agentWait.ts"
import * as http from "./http.ts"

const randomId: Effect.Effect<string> = Effect.map(
  Effect.replicateEffect(Random.nextIntBetween(0, 2 ** 32), 4),
  (words) => words.map((word) => word.toString(16).padStart(8, "0")).join("")
)

const partsOf = (content: Content): ReadonlyArray<A2a.Part> => {
  if (typeof content === "string") return [{ kind: "text", text: content }]
  return "kind" in content ? [content] : content
}

const paramsOf = (
  content: Content,
  options: MessageOptions,
  blocking: boolean | undefined
): Effect.Effect<A2aWire.SendParams> =>
  Effect.map(
    options.messageId === undefined ? randomId : Effect.succeed(options.messageId),
    (messageId): A2aWire.SendParams => ({
      message: {
        messageId,
        role: "user",
        parts: partsOf(content),
        contextId: options.contextId,
        taskId: options.taskId,
        referenceTaskIds: options.referenceTaskIds,
        extensions: options.extensions,
        metadata: options.messageMetadata
      },
      blocking,
      historyLength: options.historyLength,
      acceptedOutputModes: options.acceptedOutputModes,
      metadata: options.metadata
    })
  )

const ofTask = (method: A2aWire.TaskMethod, params: A2aWire.TaskParams) => (wire: A2aWire.Wire): agentRpc.Call => ({
  method: wire.METHODS[method],
  params: wire.encodeTaskParams(method, params),
  taskId: params.id
})

/** @internal */
export const make = (client: HttpClient.HttpClient, options: Options): Effect.Effect<Service> =>
  Effect.gen(function*() {
    const timeouts = options.timeouts ?? {}
    const peer = yield* agentPeer.make(client, {
      baseUrl: options.baseUrl,
      trusted: options.rpcUrl === undefined ? [] : [options.rpcUrl],
      headers: options.headers,
      cardTimeout: timeouts.card ?? "10 seconds"
    })
    const target = agentRpc.target(peer, { wire: options.wire ?? "auto", rpcUrl: options.rpcUrl })
    let ids = 0

    const askTask = (
      method: A2aWire.TaskMethod,
      params: A2aWire.TaskParams,
      timeout: Duration.DurationInput = "30 seconds"
    ): Effect.Effect<A2a.Task, AgentClientError> =>
      Effect.gen(function*() {
        const found = yield* target
        const call = ofTask(method, params)(found.wire)
        const result = yield* agentRpc.request(peer, found, call, ++ids, timeout)
        return yield* agentRpc.decoded(found.wire.decodeTask(result), call.method)
      })

    const get = Effect.fn("AgentClient.get")((
      taskId: string,
      more?: { readonly historyLength?: number | undefined }
    ) => askTask("get", { id: taskId, historyLength: more?.historyLength }, timeouts.get))

    const cancel = Effect.fn("AgentClient.cancel")((
      taskId: string,
      more?: { readonly metadata?: A2a.JsonObject | undefined }
    ) => askTask("cancel", { id: taskId, metadata: more?.metadata }, timeouts.cancel))

    const send = Effect.fn("AgentClient.send")(function*(content: Content, more: SendOptions = {}) {
      const found = yield* target
      const params = yield* paramsOf(content, more, more.blocking)
      const call = { method: found.wire.METHODS.send, params: found.wire.encodeSend(params), taskId: more.taskId }
      const timeout = more.timeout ??
        (more.blocking === false ? timeouts.submit ?? "30 seconds" : timeouts.send ?? "10 minutes")
      const result = yield* agentRpc.request(peer, found, call, ++ids, timeout)
      return yield* agentRpc.decoded(found.wire.decodeReply(result), call.method)
    })

    const wait = Effect.fn("AgentClient.wait")(function*(taskId: string, more: WaitOptions = {}) {
      const settled = agentWait.settled(get(taskId, { historyLength: more.historyLength }), {
        every: more.every ?? "2 seconds",
        timeout: more.timeout ?? timeouts.wait ?? "10 minutes"
      })
      if (more.cancel !== true) return yield* settled
      const give = cancel(taskId).pipe(Effect.interruptible, Effect.timeout("10 seconds"), Effect.ignore)
      return yield* settled.pipe(
        Effect.tapError((error) => error instanceof Timeout && error.operation === "wait" ? give : Effect.void),
        Effect.onInterrupt(() => give)
      )
    })

    const follow = (
      call: (wire: A2aWire.Wire) => Effect.Effect<agentRpc.Call>
    ): Stream.Stream<A2a.StreamEvent, AgentClientError> =>
      Stream.unwrap(
        Effect.gen(function*() {
          const found = yield* target
          return agentStream.events(peer, found, yield* call(found.wire), ++ids, {
            open: timeouts.open ?? "30 seconds",
            idle: timeouts.idle
          })
        })
      )

    return {
      baseUrl: options.baseUrl,
      card: Effect.map(peer.located, ({ card }) => card),
      reload: Effect.map(peer.reload, ({ card }) => card),
      health: Effect.flatMap(peer.located, ({ baseUrl }) =>
        peer.read(`${baseUrl}/health`, "health").pipe(
          Effect.flatMap((response) => Effect.mapError(response.text, http.unreachable("health"))),
          Effect.asVoid,
          http.within("health", timeouts.health ?? "10 seconds")
        )),
      send,
      prompt: Effect.fn("AgentClient.prompt")(function*(content, more) {
        const reply = yield* send(content, { ...more, blocking: false, timeout: undefined })
        return reply._tag === "Message"
          ? reply
          : { _tag: "Task" as const, task: yield* wait(reply.task.id, more) }
      }),
      stream: (content, more = {}) =>
        follow((wire) =>
          Effect.map(paramsOf(content, more, undefined), (params) => ({
            method: wire.METHODS.stream,
            params: wire.encodeSend(params),
            taskId: more.taskId
          }))
        ),
      resubscribe: (taskId, more) =>
        follow((wire) =>
          Effect.succeed({
            ...ofTask("resubscribe", { id: taskId })(wire),
            headers: more?.lastEventId === undefined ? {} : { "last-event-id": more.lastEventId }
          })
        ),
      get,
      cancel,
      list: Effect.fn("AgentClient.list")(function*(params = {}) {
        const found = yield* target
        const method = A2aV1.METHODS.list
        if (found.wire.VERSION !== "1.0") {
          return yield* new UnsupportedOperation({
            operation: method,
            code: A2aWire.ErrorCode.UnsupportedOperation,
            reason: "the 0.3 wire has no such method",
            data: {}
          })
        }
        const call = { method, params: A2aV1.encodeListParams(params) }
        const result = yield* agentRpc.request(peer, found, call, ++ids, timeouts.list ?? "30 seconds")
        return yield* agentRpc.decoded(A2aV1.decodePage(result), method)
      }),
      wait
    }
  })
