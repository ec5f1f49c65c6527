/**
 * The A2A wire 1.0, both directions: params and results as ProtoJSON.
 *
 * What ProtoJSON allows is read: names in snake_case, enums as numbers, integers as text, `null` for absent, defaults left out. The
 * base64 text of a file is kept as it came, in either alphabet; a data part may be any JSON value, `null` too.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as A2a from "./A2a.ts"
import type * as A2aWire from "./A2aWire.ts"
import {
  atOf,
  compact,
  type Decoded,
  decoder,
  emptyText,
  findEmptyText,
  Int,
  JsonObjectFromSelf,
  nonEmpty,
  optional,
  refuse,
  refuseStating,
  strings,
  timestampOf
} from "./internal/a2aJson.ts"
import { plainReader } from "./internal/a2aPlain.ts"
import {
  absentAs,
  ArtifactUpdate,
  contents,
  encodeArtifact,
  encodeStatus,
  Message,
  metadata,
  oneContent,
  proto,
  State,
  stateName,
  StatusUpdate,
  Task,
  text,
  toArtifact,
  toMessage,
  toStatus,
  toTask,
  writeMessage
} from "./internal/a2aV1.ts"

/**
 * The version of this wire.
 *
 * @since 0.1.0
 * @category models
 */
export const VERSION = "1.0" as const

/**
 * The methods of this wire.
 *
 * @since 0.1.0
 * @category models
 */
export const METHODS = {
  send: "SendMessage",
  stream: "SendStreamingMessage",
  get: "GetTask",
  list: "ListTasks",
  cancel: "CancelTask",
  resubscribe: "SubscribeToTask",
  extendedCard: "GetExtendedAgentCard"
} as const

/**
 * The methods for push notifications.
 *
 * @since 0.1.0
 * @category models
 */
export const PUSH_METHODS = {
  set: "CreateTaskPushNotificationConfig",
  get: "GetTaskPushNotificationConfig",
  list: "ListTaskPushNotificationConfigs",
  delete: "DeleteTaskPushNotificationConfig"
} as const

const readSend = decoder(proto({
  message: Message,
  metadata,
  configuration: optional(proto({
    returnImmediately: optional(Schema.Boolean),
    historyLength: optional(Int),
    acceptedOutputModes: optional(strings),
    taskPushNotificationConfig: optional(JsonObjectFromSelf)
  }))
}))

const readPlain = plainReader({
  kinds: false,
  user: "ROLE_USER",
  agent: "ROLE_AGENT",
  waits: "returnImmediately",
  waiting: false
})

const required = "Field is required."
const negativeHistory = "history length must be non-negative"

/**
 * Reads the params of `SendMessage` and `SendStreamingMessage`. A message without parts or with an empty text is refused, as on the
 * 0.3 wire (B-TASK-10).
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeSend = (params: unknown): Effect.Effect<A2aWire.SendParams, A2aWire.A2aWireError> => {
  const plain = readPlain(params)
  return plain === undefined ? decodeAnySend(params) : Either.right(plain)
}

const decodeAnySend = (params: unknown): Decoded<A2aWire.SendParams> =>
  Either.flatMap(readSend(params), ({ configuration, message: sent, metadata }) => {
    if (sent.messageId === "") return refuse("message.messageId", required)
    if (sent.parts.length === 0) return refuse("message.parts", "Field must contain at least one element.")
    const bare = sent.parts.findIndex((part) => contents(part) === 0)
    if (bare !== -1) return refuse(`message.parts[${bare}]`, oneContent)
    const message = toMessage(sent)
    const empty = findEmptyText(message.parts)
    if (empty !== -1) return refuseStating(`message.parts[${empty}].text`, emptyText)
    const historyLength = configuration?.historyLength
    if (historyLength !== undefined && historyLength < 0) {
      return refuseStating("configuration.historyLength", negativeHistory)
    }
    return Either.right(compact({
      message,
      blocking: configuration?.returnImmediately === undefined ? undefined : !configuration.returnImmediately,
      historyLength,
      acceptedOutputModes: configuration?.acceptedOutputModes,
      metadata,
      push: configuration?.taskPushNotificationConfig === undefined ? undefined : true
    }))
  })

const readTaskParams = decoder(proto({ id: text, historyLength: optional(Int), metadata }))

/**
 * Reads the params of `GetTask`, `CancelTask` and `SubscribeToTask`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeTaskParams = (params: unknown): Effect.Effect<A2aWire.TaskParams, A2aWire.A2aWireError> =>
  Either.flatMap(readTaskParams(params), (read) => {
    if (read.id === "") return refuse("id", required)
    if (read.historyLength !== undefined && read.historyLength < 0) {
      return refuseStating("historyLength", negativeHistory)
    }
    return Either.right(read)
  })

const readListParams = decoder(proto({
  contextId: text,
  status: absentAs(State, "unknown"),
  pageSize: optional(Int),
  pageToken: text,
  historyLength: optional(Int),
  statusTimestampAfter: optional(Schema.String),
  includeArtifacts: optional(Schema.Boolean)
}))

/**
 * The most tasks on one page.
 *
 * @since 0.1.0
 * @category models
 */
export const MAX_PAGE_SIZE = 100

/**
 * Reads the params of `ListTasks`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeListParams = (params: unknown): Effect.Effect<A2aWire.ListParams, A2aWire.A2aWireError> =>
  Either.flatMap(readListParams(params), (read) => {
    const { historyLength, pageSize, statusTimestampAfter } = read
    if (pageSize !== undefined && pageSize < 1) return refuseStating("pageSize", "minimum page size is 1")
    if (pageSize !== undefined && pageSize > MAX_PAGE_SIZE) {
      return refuseStating("pageSize", `maximum page size is ${MAX_PAGE_SIZE}`)
    }
    if (historyLength !== undefined && historyLength < 0) return refuseStating("historyLength", negativeHistory)
    const since = atOf(statusTimestampAfter)
    if (statusTimestampAfter !== undefined && since === undefined) {
      return refuse("statusTimestampAfter", "expected a time")
    }
    return Either.right(compact({
      contextId: nonEmpty(read.contextId),
      state: read.status === "unknown" ? undefined : read.status,
      pageSize,
      pageToken: nonEmpty(read.pageToken),
      historyLength,
      since,
      includeArtifacts: read.includeArtifacts
    }))
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

const readPage = decoder(proto({
  tasks: absentAs(Schema.Array(Task), []),
  nextPageToken: text,
  pageSize: absentAs(Int, 0),
  totalSize: absentAs(Int, 0)
}))

/**
 * Reads the result of `ListTasks`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodePage = (result: unknown): Effect.Effect<A2aWire.Page, A2aWire.A2aWireError> =>
  Either.map(readPage(result), (page) => ({ ...page, tasks: page.tasks.map(toTask) }))

const replyFields = { task: optional(Task), message: optional(Message) }

const readReply = decoder(proto(replyFields))

/**
 * Reads the result of `SendMessage`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeReply = (result: unknown): Effect.Effect<A2aWire.Reply, A2aWire.A2aWireError> =>
  Either.flatMap(readReply(result), ({ message, task }) => {
    if (task !== undefined) return Either.right<A2aWire.Reply>({ _tag: "Task", task: toTask(task) })
    if (message !== undefined) return Either.right<A2aWire.Reply>({ _tag: "Message", message: toMessage(message) })
    return refuse("", "expected one of task and message")
  })

const readEvent = decoder(proto({
  ...replyFields,
  statusUpdate: optional(StatusUpdate),
  artifactUpdate: optional(ArtifactUpdate)
}))

const event = (event: A2a.StreamEvent) => Either.right(event)

/**
 * Reads the result in one frame of a stream. This wire does not say which event is the last: that of a state in which the run has
 * ended is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeEvent = (result: unknown): Effect.Effect<A2a.StreamEvent, A2aWire.A2aWireError> =>
  Either.flatMap(readEvent(result), ({ artifactUpdate, message, statusUpdate, task }) => {
    if (statusUpdate !== undefined) {
      const status = toStatus(statusUpdate.status)
      return event({ _tag: "StatusUpdate", ...statusUpdate, status, final: A2a.isSettled(status.state) })
    }
    if (artifactUpdate !== undefined) {
      return event({ _tag: "ArtifactUpdate", ...artifactUpdate, artifact: toArtifact(artifactUpdate.artifact) })
    }
    if (task !== undefined) return event({ _tag: "Task", task: toTask(task) })
    if (message !== undefined) return event({ _tag: "Message", message: toMessage(message) })
    return refuse("", "expected one of task, message, statusUpdate and artifactUpdate")
  })

// -- writing: what is `undefined` is left out by JSON itself

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
  id: task.id,
  contextId: task.contextId,
  status: encodeStatus(task.status),
  artifacts: task.artifacts.length === 0 ? undefined : task.artifacts.map(encodeArtifact),
  history: task.history.length === 0 ? undefined : task.history.map(encodeMessage),
  metadata: task.metadata
})

/**
 * Writes the result of `ListTasks`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodePage = (page: A2aWire.Page): A2a.JsonObject => ({
  tasks: page.tasks.map(encodeTask),
  nextPageToken: page.nextPageToken,
  pageSize: page.pageSize,
  totalSize: page.totalSize
})

/**
 * Writes the result of `SendMessage`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeReply = (reply: A2aWire.Reply): A2a.JsonObject =>
  reply._tag === "Task" ? { task: encodeTask(reply.task) } : { message: encodeMessage(reply.message) }

/**
 * Writes the result in one frame of a stream.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeEvent = (event: A2a.StreamEvent): A2a.JsonObject => {
  switch (event._tag) {
    case "StatusUpdate":
      return {
        statusUpdate: {
          taskId: event.taskId,
          contextId: event.contextId,
          status: encodeStatus(event.status),
          metadata: event.metadata
        }
      }
    case "ArtifactUpdate":
      return {
        artifactUpdate: {
          taskId: event.taskId,
          contextId: event.contextId,
          artifact: encodeArtifact(event.artifact),
          append: event.append || undefined,
          lastChunk: event.lastChunk || undefined,
          metadata: event.metadata
        }
      }
    default:
      return encodeReply(event)
  }
}

/**
 * Writes the params of `SendMessage` and `SendStreamingMessage`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeSend = (params: A2aWire.SendParams): A2a.JsonObject => {
  const { acceptedOutputModes, blocking, historyLength, message, metadata } = params
  const returnImmediately = blocking === undefined ? undefined : !blocking
  return {
    message: encodeMessage(message),
    configuration: acceptedOutputModes === undefined && blocking === undefined && historyLength === undefined
      ? undefined
      : { acceptedOutputModes, historyLength, returnImmediately },
    metadata
  }
}

/**
 * Writes the params of `GetTask`, `CancelTask` or `SubscribeToTask`: what the method has no field for, peers would refuse.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeTaskParams = (method: A2aWire.TaskMethod, params: A2aWire.TaskParams): A2a.JsonObject => {
  const { historyLength, id, metadata } = params
  return method === "get" ? { id, historyLength } : method === "cancel" ? { id, metadata } : { id }
}

/**
 * Writes the params of `ListTasks`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeListParams = (params: A2aWire.ListParams): A2a.JsonObject => ({
  contextId: params.contextId,
  status: params.state === undefined ? undefined : stateName(params.state),
  pageSize: params.pageSize,
  pageToken: params.pageToken,
  historyLength: params.historyLength,
  statusTimestampAfter: timestampOf(params.since),
  includeArtifacts: params.includeArtifacts
})
