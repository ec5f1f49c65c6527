import * as Schema from "effect/Schema"
import type * as A2a from "../A2a.ts"
import {
  atOf,
  compact,
  JsonObjectFromSelf,
  nonEmpty,
  optional,
  type Respelled,
  respelled,
  strings,
  timestampOf,
  told
} from "./a2aJson.ts"

const toCamel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** The object with its names in camelCase; itself when they are. */
const camelCased = (object: A2a.JsonObject): A2a.JsonObject => {
  const snake = Object.keys(object).filter((name) => name.includes("_") && name !== "__proto__")
  if (snake.length === 0) return object
  const renamed = Object.fromEntries(snake.map((name) => [toCamel(name), object[name]]))
  return { ...renamed, ...object }
}

/** @internal */
export const proto = <Fields extends Schema.Struct.Fields>(fields: Fields): Respelled<Schema.Struct<Fields>> =>
  respelled(Schema.Struct(fields), camelCased)

/** @internal */
export const absentAs = <A, I>(schema: Schema.Schema<A, I>, value: A) =>
  Schema.optionalWith(schema, { nullable: true, default: () => value })

/** @internal */
export const text = absentAs(Schema.String, "")
const flag = absentAs(Schema.Boolean, false)
/** @internal */
export const metadata = optional(JsonObjectFromSelf)

const Role = Schema.transformLiterals(["ROLE_USER", "user"], [1, "user"], ["ROLE_AGENT", "agent"], [2, "agent"])
  .annotations(told("expected ROLE_USER or ROLE_AGENT"))

/** @internal */
export const State = Schema.transformLiterals(
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

/** @internal */
export const oneContent = "expected one of text, raw, url and data"

/** @internal */
export const contents = (part: A2a.JsonObject): number => {
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

/** @internal */
export const Message = proto({
  messageId: text,
  role: Role,
  parts: absentAs(Schema.Array(Part), []),
  contextId: text,
  taskId: text,
  metadata,
  extensions: optional(strings),
  referenceTaskIds: optional(strings)
})

/** @internal */
export const toMessage = (message: typeof Message.Type): A2a.Message =>
  compact({
    ...message,
    parts: message.parts.map(toPart),
    contextId: nonEmpty(message.contextId),
    taskId: nonEmpty(message.taskId)
  })

const Status = proto({
  state: absentAs(State, "unknown"),
  message: optional(Message),
  timestamp: optional(Schema.String)
})

/** @internal */
export const toStatus = ({ message, state, timestamp }: typeof Status.Type): A2a.TaskStatus =>
  compact({ state, at: atOf(timestamp), message: message === undefined ? undefined : toMessage(message) })

const Artifact = proto({
  artifactId: text,
  parts: absentAs(Schema.Array(Part), []),
  name: text,
  description: text,
  metadata,
  extensions: optional(strings)
})

/** @internal */
export const toArtifact = (artifact: typeof Artifact.Type): A2a.Artifact =>
  compact({
    ...artifact,
    parts: artifact.parts.map(toPart),
    name: nonEmpty(artifact.name),
    description: nonEmpty(artifact.description)
  })

/** @internal */
export const Task = proto({
  id: Schema.String,
  contextId: text,
  status: Status,
  history: absentAs(Schema.Array(Message), []),
  artifacts: absentAs(Schema.Array(Artifact), []),
  metadata
})

/** @internal */
export const toTask = (task: typeof Task.Type): A2a.Task => ({
  ...task,
  status: toStatus(task.status),
  history: task.history.map(toMessage),
  artifacts: task.artifacts.map(toArtifact)
})

/** @internal */
export const StatusUpdate = proto({ taskId: Schema.String, contextId: text, status: Status, metadata })
/** @internal */
export const ArtifactUpdate = proto({
  taskId: Schema.String,
  contextId: text,
  artifact: Artifact,
  append: flag,
  lastChunk: flag,
  metadata
})

// -- writing: what is `undefined` is left out by JSON itself

/** @internal */
export const stateName = (state: A2a.TaskState): string =>
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

/** @internal */
export const writeMessage = (message: A2a.Message): A2a.JsonObject => ({
  messageId: message.messageId,
  contextId: message.contextId,
  taskId: message.taskId,
  role: message.role === "user" ? "ROLE_USER" : "ROLE_AGENT",
  parts: message.parts.map(encodePart),
  metadata: message.metadata,
  extensions: message.extensions,
  referenceTaskIds: message.referenceTaskIds
})

/** @internal */
export const encodeStatus = ({ at, message, state }: A2a.TaskStatus): A2a.JsonObject => ({
  state: stateName(state),
  message: message === undefined ? undefined : writeMessage(message),
  timestamp: timestampOf(at)
})

/** @internal */
export const encodeArtifact = (artifact: A2a.Artifact): A2a.JsonObject => ({
  artifactId: artifact.artifactId,
  name: artifact.name,
  description: artifact.description,
  parts: artifact.parts.map(encodePart),
  metadata: artifact.metadata,
  extensions: artifact.extensions
})
