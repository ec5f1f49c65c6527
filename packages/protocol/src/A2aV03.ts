/**
 * The A2A wire 0.3, both directions: params and results as a2a-python 0.3 and a2a-js 0.3 read and write them.
 *
 * Absent and `null` are the same. The base64 text of a file is kept as it came. JSON that is no object travels in a data part as
 * `{ value }` with `data_part_compat` in its metadata, as both SDKs do it; media type and file name of text and data are left behind,
 * since 0.3 has no place for them.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as A2a from "./A2a.ts"
import type * as A2aWire from "./A2aWire.ts"
import {
  compact,
  type Decoded,
  decoder,
  emptyText,
  findEmptyText,
  JsonObjectFromSelf,
  noParts,
  optional,
  refuseStating,
  strings
} from "./internal/a2aJson.ts"
import { plainReader } from "./internal/a2aPlain.ts"
import {
  ArtifactUpdate,
  encodeArtifact,
  encodeStatus,
  LooseBoolean,
  LooseInt,
  Message,
  MessageEvent,
  metadata,
  StatusUpdate,
  Task,
  TaskEvent,
  toArtifact,
  toMessage,
  toStatus,
  toTask,
  writeMessage
} from "./internal/a2aV03.ts"

/**
 * The version of this wire.
 *
 * @since 0.1.0
 * @category models
 */
export const VERSION = "0.3" as const

/**
 * The methods of this wire.
 *
 * @since 0.1.0
 * @category models
 */
export const METHODS = {
  send: "message/send",
  stream: "message/stream",
  get: "tasks/get",
  cancel: "tasks/cancel",
  resubscribe: "tasks/resubscribe",
  extendedCard: "agent/getAuthenticatedExtendedCard"
} as const

/**
 * The methods for push notifications.
 *
 * @since 0.1.0
 * @category models
 */
export const PUSH_METHODS = {
  set: "tasks/pushNotificationConfig/set",
  get: "tasks/pushNotificationConfig/get",
  list: "tasks/pushNotificationConfig/list",
  delete: "tasks/pushNotificationConfig/delete"
} as const

const SendParams = Schema.Struct({
  message: Message,
  metadata,
  configuration: optional(Schema.Struct({
    blocking: optional(LooseBoolean),
    historyLength: optional(LooseInt),
    acceptedOutputModes: optional(strings),
    pushNotificationConfig: optional(JsonObjectFromSelf)
  }))
})

const readSend = decoder(SendParams)

const readPlain = plainReader({ kinds: true, user: "user", agent: "agent", waits: "blocking", waiting: true })

/**
 * Reads the params of `message/send` and `message/stream`. A message without parts, or with an empty text, is refused in the words
 * of the reference (B-TASK-10).
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeSend = (params: unknown): Effect.Effect<A2aWire.SendParams, A2aWire.A2aWireError> => {
  const plain = readPlain(params)
  return plain === undefined ? decodeAnySend(params) : Either.right(plain)
}

const decodeAnySend = (params: unknown): Decoded<A2aWire.SendParams> =>
  Either.flatMap(readSend(params), ({ configuration, message, metadata }) => {
    if (message.parts.length === 0) return refuseStating("message.parts", noParts)
    const empty = findEmptyText(message.parts)
    if (empty !== -1) return refuseStating(`message.parts[${empty}].text`, emptyText)
    return Either.right(compact({
      message: toMessage(message),
      blocking: configuration?.blocking,
      historyLength: configuration?.historyLength,
      acceptedOutputModes: configuration?.acceptedOutputModes,
      metadata,
      push: configuration?.pushNotificationConfig === undefined ? undefined : true
    }))
  })

/**
 * Reads the params of `tasks/get`, `tasks/cancel` and `tasks/resubscribe`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeTaskParams: (params: unknown) => Effect.Effect<A2aWire.TaskParams, A2aWire.A2aWireError> = decoder(
  Schema.Struct({ id: Schema.String, historyLength: optional(LooseInt), metadata })
)

const readTask = decoder(Task)

/**
 * Reads a task.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeTask = (result: unknown): Effect.Effect<A2a.Task, A2aWire.A2aWireError> =>
  Either.map(readTask(result), toTask)

const toReply = (result: typeof TaskEvent.Type | typeof MessageEvent.Type): A2aWire.Reply => {
  if (result.kind === "task") return { _tag: "Task", task: toTask(result) }
  return { _tag: "Message", message: toMessage(result) }
}

const readReply = decoder(Schema.Union(TaskEvent, MessageEvent))

/**
 * Reads the result of `message/send`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeReply = (result: unknown): Effect.Effect<A2aWire.Reply, A2aWire.A2aWireError> =>
  Either.map(readReply(result), toReply)

const readEvent = decoder(Schema.Union(StatusUpdate, ArtifactUpdate, TaskEvent, MessageEvent))

/**
 * Reads the result in one frame of a stream.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeEvent = (result: unknown): Effect.Effect<A2a.StreamEvent, A2aWire.A2aWireError> =>
  Either.map(readEvent(result), (event): A2a.StreamEvent => {
    switch (event.kind) {
      case "status-update": {
        const { kind: _kind, status, ...rest } = event
        return { _tag: "StatusUpdate", ...rest, status: toStatus(status) }
      }
      case "artifact-update": {
        const { artifact, kind: _kind, ...rest } = event
        return { _tag: "ArtifactUpdate", ...rest, artifact: toArtifact(artifact) }
      }
      default:
        return toReply(event)
    }
  })

/**
 * Writes a message.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeMessage: (message: A2a.Message) => A2a.JsonObject = writeMessage

/**
 * Writes a task. An empty history and no artifacts are left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeTask = (task: A2a.Task): A2a.JsonObject => ({
  artifacts: task.artifacts.length === 0 ? undefined : task.artifacts.map(encodeArtifact),
  contextId: task.contextId,
  history: task.history.length === 0 ? undefined : task.history.map(encodeMessage),
  id: task.id,
  kind: "task",
  metadata: task.metadata,
  status: encodeStatus(task.status)
})

/**
 * Writes the result of `message/send`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeReply = (reply: A2aWire.Reply): A2a.JsonObject =>
  reply._tag === "Task" ? encodeTask(reply.task) : encodeMessage(reply.message)

/**
 * Writes the result in one frame of a stream (B-TASK-3).
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeEvent = (event: A2a.StreamEvent): A2a.JsonObject => {
  switch (event._tag) {
    case "StatusUpdate":
      return {
        contextId: event.contextId,
        final: event.final,
        kind: "status-update",
        metadata: event.metadata,
        status: encodeStatus(event.status),
        taskId: event.taskId
      }
    case "ArtifactUpdate":
      return {
        append: event.append,
        artifact: encodeArtifact(event.artifact),
        contextId: event.contextId,
        kind: "artifact-update",
        lastChunk: event.lastChunk,
        metadata: event.metadata,
        taskId: event.taskId
      }
    default:
      return encodeReply(event)
  }
}

/**
 * Writes the params of `message/send` and `message/stream`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeSend = (params: A2aWire.SendParams): A2a.JsonObject => {
  const { acceptedOutputModes, blocking, historyLength, message, metadata } = params
  return {
    message: encodeMessage(message),
    configuration: acceptedOutputModes === undefined && blocking === undefined && historyLength === undefined
      ? undefined
      : { acceptedOutputModes, blocking, historyLength },
    metadata
  }
}

/**
 * Writes the params of `tasks/get`, `tasks/cancel` or `tasks/resubscribe`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeTaskParams = (method: A2aWire.TaskMethod, params: A2aWire.TaskParams): A2a.JsonObject => {
  const { historyLength, id, metadata } = params
  return method === "get" ? { id, historyLength, metadata } : { id, metadata }
}
