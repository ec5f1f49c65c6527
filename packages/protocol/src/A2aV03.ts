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
  atOf,
  compact,
  decoder,
  emptyText,
  findEmptyText,
  Int,
  isJsonObject,
  JsonObjectFromSelf,
  nonEmpty,
  noParts,
  optional,
  refuseStating,
  respelled,
  strings,
  timestampOf
} from "./internal/a2aJson.ts"

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

// -- reading

const compatFlag = "data_part_compat"

const metadata = optional(JsonObjectFromSelf)

const TextPart = Schema.Struct({ kind: Schema.Literal("text"), text: Schema.String, metadata })
const FilePart = Schema.Struct({
  kind: Schema.Literal("file"),
  file: Schema.Union(
    Schema.Struct({ bytes: Schema.String, name: optional(Schema.String), mimeType: optional(Schema.String) }),
    Schema.Struct({ uri: Schema.String, name: optional(Schema.String), mimeType: optional(Schema.String) })
  ),
  metadata
})
const DataPart = Schema.Struct({ kind: Schema.Literal("data"), data: JsonObjectFromSelf, metadata })

/** Peers in Python may leave the kind of a part out. */
const withKind = (part: A2a.JsonObject): A2a.JsonObject => {
  if (part["kind"] !== undefined && part["kind"] !== null) return part
  const kind = part["text"] !== undefined ? "text" : part["file"] !== undefined ? "file" : "data"
  return { ...part, kind }
}

const Part = respelled(Schema.Union(TextPart, FilePart, DataPart), withKind)

const messageFields = {
  messageId: Schema.String,
  role: Schema.Literal("user", "agent"),
  parts: Schema.Array(Part),
  contextId: optional(Schema.String),
  taskId: optional(Schema.String),
  metadata,
  extensions: optional(strings),
  referenceTaskIds: optional(strings)
}

const Message = Schema.Struct(messageFields)

const toPart = (part: typeof Part.Type): A2a.Part => {
  if (part.kind !== "data" || part.metadata?.[compatFlag] !== true || !Object.hasOwn(part.data, "value")) return part
  const { [compatFlag]: _flag, ...rest } = part.metadata
  return compact({ kind: "data", data: part.data["value"], metadata: Object.keys(rest).length > 0 ? rest : undefined })
}

const toMessage = (message: typeof Message.Type): A2a.Message =>
  compact({
    ...message,
    parts: message.parts.map(toPart),
    contextId: nonEmpty(message.contextId),
    taskId: nonEmpty(message.taskId)
  })

const SendParams = Schema.Struct({
  message: Message,
  metadata,
  configuration: optional(Schema.Struct({
    blocking: optional(Schema.Boolean),
    historyLength: optional(Int),
    acceptedOutputModes: optional(strings),
    pushNotificationConfig: optional(JsonObjectFromSelf)
  }))
})

const readSend = decoder(SendParams)

/**
 * Reads the params of `message/send` and `message/stream`. A message without parts, or with an empty text, is refused in the words
 * of the reference (B-TASK-10).
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeSend = (params: unknown): Effect.Effect<A2aWire.SendParams, A2aWire.A2aWireError> =>
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
  Schema.Struct({ id: Schema.String, historyLength: optional(Int), metadata })
)

const states = [
  "submitted",
  "working",
  "input-required",
  "auth-required",
  "completed",
  "failed",
  "canceled",
  "rejected",
  "unknown"
] as const satisfies ReadonlyArray<A2a.TaskState>

const Status = Schema.Struct({
  state: Schema.Literal(...states),
  message: optional(Message),
  timestamp: optional(Schema.String)
})

const toStatus = ({ message, state, timestamp }: typeof Status.Type): A2a.TaskStatus =>
  compact({ state, at: atOf(timestamp), message: message === undefined ? undefined : toMessage(message) })

const Artifact = Schema.Struct({
  artifactId: Schema.String,
  parts: Schema.Array(Part),
  name: optional(Schema.String),
  description: optional(Schema.String),
  metadata,
  extensions: optional(strings)
})

const toArtifact = (artifact: typeof Artifact.Type): A2a.Artifact => ({
  ...artifact,
  parts: artifact.parts.map(toPart)
})

const taskFields = {
  id: Schema.String,
  contextId: Schema.String,
  status: Status,
  history: optional(Schema.Array(Message)),
  artifacts: optional(Schema.Array(Artifact)),
  metadata
}

const Task = Schema.Struct(taskFields)

const toTask = ({ artifacts, contextId, history, id, metadata, status }: typeof Task.Type): A2a.Task =>
  compact({
    id,
    contextId,
    status: toStatus(status),
    history: (history ?? []).map(toMessage),
    artifacts: (artifacts ?? []).map(toArtifact),
    metadata
  })

const readTask = decoder(Task)

/**
 * Reads a task.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeTask = (result: unknown): Effect.Effect<A2a.Task, A2aWire.A2aWireError> =>
  Either.map(readTask(result), toTask)

const TaskEvent = Schema.Struct({ kind: Schema.Literal("task"), ...taskFields })
const MessageEvent = Schema.Struct({ kind: Schema.Literal("message"), ...messageFields })
const StatusUpdate = Schema.Struct({
  kind: Schema.Literal("status-update"),
  taskId: Schema.String,
  contextId: Schema.String,
  status: Status,
  final: Schema.optionalWith(Schema.Boolean, { nullable: true, default: () => false }),
  metadata
})
const ArtifactUpdate = Schema.Struct({
  kind: Schema.Literal("artifact-update"),
  taskId: Schema.String,
  contextId: Schema.String,
  artifact: Artifact,
  append: Schema.optionalWith(Schema.Boolean, { nullable: true, default: () => false }),
  lastChunk: Schema.optionalWith(Schema.Boolean, { nullable: true, default: () => false }),
  metadata
})

const toReply = (result: typeof TaskEvent.Type | typeof MessageEvent.Type): A2aWire.Reply => {
  if (result.kind === "task") return { _tag: "Task", task: toTask(result) }
  const { kind: _kind, ...message } = result
  return { _tag: "Message", message: toMessage(message) }
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

// -- writing: what is `undefined` is left out by JSON itself

const encodePart = (part: A2a.Part): A2a.JsonObject => {
  switch (part.kind) {
    case "text":
      return { kind: "text", text: part.text, metadata: part.metadata }
    case "file":
      return { kind: "file", file: part.file, metadata: part.metadata }
    case "data":
      return isJsonObject(part.data)
        ? { kind: "data", data: part.data, metadata: part.metadata }
        : { kind: "data", data: { value: part.data ?? null }, metadata: { ...part.metadata, [compatFlag]: true } }
  }
}

/**
 * Writes a message.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeMessage = (message: A2a.Message): A2a.JsonObject => ({
  kind: "message",
  messageId: message.messageId,
  role: message.role,
  parts: message.parts.map(encodePart),
  contextId: message.contextId,
  taskId: message.taskId,
  metadata: message.metadata,
  extensions: message.extensions,
  referenceTaskIds: message.referenceTaskIds
})

const encodeStatus = ({ at, message, state }: A2a.TaskStatus): A2a.JsonObject => ({
  state,
  message: message === undefined ? undefined : encodeMessage(message),
  timestamp: timestampOf(at)
})

const encodeArtifact = (artifact: A2a.Artifact): A2a.JsonObject => ({
  artifactId: artifact.artifactId,
  name: artifact.name,
  description: artifact.description,
  parts: artifact.parts.map(encodePart),
  metadata: artifact.metadata,
  extensions: artifact.extensions
})

/**
 * Writes a task. An empty history and no artifacts are left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeTask = (task: A2a.Task): A2a.JsonObject => ({
  kind: "task",
  id: task.id,
  contextId: task.contextId,
  status: encodeStatus(task.status),
  history: task.history.length === 0 ? undefined : task.history.map(encodeMessage),
  artifacts: task.artifacts.length === 0 ? undefined : task.artifacts.map(encodeArtifact),
  metadata: task.metadata
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
        kind: "status-update",
        taskId: event.taskId,
        contextId: event.contextId,
        status: encodeStatus(event.status),
        final: event.final,
        metadata: event.metadata
      }
    case "ArtifactUpdate":
      return {
        kind: "artifact-update",
        taskId: event.taskId,
        contextId: event.contextId,
        artifact: encodeArtifact(event.artifact),
        append: event.append,
        lastChunk: event.lastChunk,
        metadata: event.metadata
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
