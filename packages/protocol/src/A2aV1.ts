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
  decoder,
  emptyText,
  findEmptyText,
  Int,
  JsonObjectFromSelf,
  nonEmpty,
  optional,
  refuse,
  refuseStating,
  type Respelled,
  respelled,
  strings,
  timestampOf,
  told
} from "./internal/a2aJson.ts"

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

// -- ProtoJSON

const toCamel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** The object with its names in camelCase; itself when they are. */
const camelCased = (object: A2a.JsonObject): A2a.JsonObject => {
  const snake = Object.keys(object).filter((name) => name.includes("_") && name !== "__proto__")
  if (snake.length === 0) return object
  const renamed = Object.fromEntries(snake.map((name) => [toCamel(name), object[name]]))
  return { ...renamed, ...object }
}

const proto = <Fields extends Schema.Struct.Fields>(fields: Fields): Respelled<Schema.Struct<Fields>> =>
  respelled(Schema.Struct(fields), camelCased)

const absentAs = <A, I>(schema: Schema.Schema<A, I>, value: A) =>
  Schema.optionalWith(schema, { nullable: true, default: () => value })

const text = absentAs(Schema.String, "")
const flag = absentAs(Schema.Boolean, false)
const metadata = optional(JsonObjectFromSelf)

const Role = Schema.transformLiterals(["ROLE_USER", "user"], [1, "user"], ["ROLE_AGENT", "agent"], [2, "agent"])
  .annotations(told("expected ROLE_USER or ROLE_AGENT"))

const State = Schema.transformLiterals(
  ["TASK_STATE_UNSPECIFIED", "unknown"],
  [0, "unknown"],
  ["TASK_STATE_SUBMITTED", "submitted"],
  [1, "submitted"],
  ["TASK_STATE_WORKING", "working"],
  [2, "working"],
  ["TASK_STATE_COMPLETED", "completed"],
  [3, "completed"],
  ["TASK_STATE_FAILED", "failed"],
  [4, "failed"],
  ["TASK_STATE_CANCELED", "canceled"],
  [5, "canceled"],
  ["TASK_STATE_INPUT_REQUIRED", "input-required"],
  [6, "input-required"],
  ["TASK_STATE_REJECTED", "rejected"],
  [7, "rejected"],
  ["TASK_STATE_AUTH_REQUIRED", "auth-required"],
  [8, "auth-required"]
).annotations(told("expected a TASK_STATE"))

// -- reading

const oneContent = "expected one of text, raw, url and data"

const contents = (part: A2a.JsonObject): number => {
  const named = ["text", "raw", "url"].filter((name) => part[name] !== undefined).length
  // beside another content, `data: null` is a field that is not there
  return "data" in part && (part["data"] !== null || named === 0) ? named + 1 : named
}

const Part = proto({
  text: optional(Schema.String),
  raw: optional(Schema.String),
  url: optional(Schema.String),
  data: Schema.optional(Schema.Unknown),
  metadata,
  filename: optional(Schema.String),
  mediaType: optional(Schema.String)
}).pipe(Schema.filter((part) => contents(part) <= 1, { message: () => oneContent }))

const toPart = (part: typeof Part.Type): A2a.Part => {
  const { data, metadata, raw, text, url } = part
  const filename = nonEmpty(part.filename)
  const mediaType = nonEmpty(part.mediaType)
  if (text !== undefined) return compact({ kind: "text", text, metadata, mediaType, filename })
  const more = compact({ name: filename, mimeType: mediaType })
  if (raw !== undefined) return compact({ kind: "file", file: { bytes: raw, ...more }, metadata })
  if (url !== undefined) return compact({ kind: "file", file: { uri: url, ...more }, metadata })
  // a2a-js leaves `data: null` out of what it answers
  return compact({ kind: "data", data: data ?? null, metadata, mediaType, filename })
}

const Message = proto({
  messageId: text,
  role: Role,
  parts: absentAs(Schema.Array(Part), []),
  contextId: text,
  taskId: text,
  metadata,
  extensions: optional(strings),
  referenceTaskIds: optional(strings)
})

const toMessage = (message: typeof Message.Type): A2a.Message =>
  compact({
    ...message,
    parts: message.parts.map(toPart),
    contextId: nonEmpty(message.contextId),
    taskId: nonEmpty(message.taskId)
  })

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

const required = "Field is required."
const negativeHistory = "history length must be non-negative"

/**
 * Reads the params of `SendMessage` and `SendStreamingMessage`. A message without parts or with an empty text is refused, as on the
 * 0.3 wire (B-TASK-10).
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeSend = (params: unknown): Effect.Effect<A2aWire.SendParams, A2aWire.A2aWireError> =>
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

const Status = proto({
  state: absentAs(State, "unknown"),
  message: optional(Message),
  timestamp: optional(Schema.String)
})

const toStatus = ({ message, state, timestamp }: typeof Status.Type): A2a.TaskStatus =>
  compact({ state, at: atOf(timestamp), message: message === undefined ? undefined : toMessage(message) })

const Artifact = proto({
  artifactId: text,
  parts: absentAs(Schema.Array(Part), []),
  name: text,
  description: text,
  metadata,
  extensions: optional(strings)
})

const toArtifact = (artifact: typeof Artifact.Type): A2a.Artifact =>
  compact({
    ...artifact,
    parts: artifact.parts.map(toPart),
    name: nonEmpty(artifact.name),
    description: nonEmpty(artifact.description)
  })

const Task = proto({
  id: Schema.String,
  contextId: text,
  status: Status,
  history: absentAs(Schema.Array(Message), []),
  artifacts: absentAs(Schema.Array(Artifact), []),
  metadata
})

const toTask = (task: typeof Task.Type): A2a.Task => ({
  ...task,
  status: toStatus(task.status),
  history: task.history.map(toMessage),
  artifacts: task.artifacts.map(toArtifact)
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

const StatusUpdate = proto({ taskId: Schema.String, contextId: text, status: Status, metadata })
const ArtifactUpdate = proto({
  taskId: Schema.String,
  contextId: text,
  artifact: Artifact,
  append: flag,
  lastChunk: flag,
  metadata
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

const stateName = (state: A2a.TaskState): string =>
  state === "unknown" ? "TASK_STATE_UNSPECIFIED" : `TASK_STATE_${state.toUpperCase().replace("-", "_")}`

const encodePart = (part: A2a.Part): A2a.JsonObject => {
  const { metadata } = part
  switch (part.kind) {
    case "text":
      return { text: part.text, filename: part.filename, mediaType: part.mediaType, metadata }
    case "data":
      return { data: part.data ?? null, filename: part.filename, mediaType: part.mediaType, metadata }
    case "file": {
      const { file } = part
      const more = { filename: file.name, mediaType: file.mimeType, metadata }
      return "bytes" in file ? { raw: file.bytes, ...more } : { url: file.uri, ...more }
    }
  }
}

/**
 * Writes a message.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encodeMessage = (message: A2a.Message): A2a.JsonObject => ({
  messageId: message.messageId,
  contextId: message.contextId,
  taskId: message.taskId,
  role: message.role === "user" ? "ROLE_USER" : "ROLE_AGENT",
  parts: message.parts.map(encodePart),
  metadata: message.metadata,
  extensions: message.extensions,
  referenceTaskIds: message.referenceTaskIds
})

const encodeStatus = ({ at, message, state }: A2a.TaskStatus): A2a.JsonObject => ({
  state: stateName(state),
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
