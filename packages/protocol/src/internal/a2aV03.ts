import * as Schema from "effect/Schema"
import type * as A2a from "../A2a.ts"
import {
  atOf,
  compact,
  Int,
  isJsonObject,
  JsonObjectFromSelf,
  nonEmpty,
  optional,
  respelled,
  strings,
  timestampOf,
  told
} from "./a2aJson.ts"

const compatFlag = "data_part_compat"

/** @internal */
export const metadata = optional(JsonObjectFromSelf)

/**
 * An integer as pydantic reads it, which reads 0.3 for a2a-python: `true` is 1.
 *
 * @internal
 */
export const LooseInt = Schema.Union(
  Int,
  Schema.transform(Schema.Boolean, Schema.Int, { strict: true, decode: Number, encode: (number) => number !== 0 })
).annotations(told("expected integer"))

const yes: ReadonlyArray<unknown> = [true, 1, "1", "true", "t", "yes", "y", "on"]
const no: ReadonlyArray<unknown> = [false, 0, "0", "false", "f", "no", "n", "off"]

const lower = (value: unknown): unknown => typeof value === "string" ? value.toLowerCase() : value

/**
 * A truth as pydantic reads it: `1` and `"yes"` are true.
 *
 * @internal
 */
export const LooseBoolean = Schema.transform(
  Schema.Unknown.pipe(Schema.filter((value) => [...yes, ...no].includes(lower(value)))),
  Schema.Boolean,
  { strict: true, decode: (value) => yes.includes(lower(value)), encode: (value) => value }
).annotations(told("expected boolean"))

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
  if (part["kind"] !== undefined) return part
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

/** @internal */
export const Message = Schema.Struct({ kind: Schema.optional(Schema.Literal("message")), ...messageFields })

const toPart = (part: typeof Part.Type): A2a.Part => {
  if (part.kind !== "data" || part.metadata?.[compatFlag] !== true || !Object.hasOwn(part.data, "value")) return part
  const { [compatFlag]: _flag, ...rest } = part.metadata
  return compact({ kind: "data", data: part.data["value"], metadata: Object.keys(rest).length > 0 ? rest : undefined })
}

/** @internal */
export const toMessage = ({ kind: _kind, ...message }: typeof Message.Type): A2a.Message =>
  compact({
    ...message,
    parts: message.parts.map(toPart),
    contextId: nonEmpty(message.contextId),
    taskId: nonEmpty(message.taskId)
  })

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

/** @internal */
export const toStatus = ({ message, state, timestamp }: typeof Status.Type): A2a.TaskStatus =>
  compact({ state, at: atOf(timestamp), message: message === undefined ? undefined : toMessage(message) })

const Artifact = Schema.Struct({
  artifactId: Schema.String,
  parts: Schema.Array(Part),
  name: optional(Schema.String),
  description: optional(Schema.String),
  metadata,
  extensions: optional(strings)
})

/** @internal */
export const toArtifact = (artifact: typeof Artifact.Type): A2a.Artifact => ({
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

/** @internal */
export const Task = Schema.Struct(taskFields)

/** @internal */
export const toTask = ({ artifacts, contextId, history, id, metadata, status }: typeof Task.Type): A2a.Task =>
  compact({
    id,
    contextId,
    status: toStatus(status),
    history: (history ?? []).map(toMessage),
    artifacts: (artifacts ?? []).map(toArtifact),
    metadata
  })

/** @internal */
export const TaskEvent = Schema.Struct({ kind: Schema.Literal("task"), ...taskFields })
/** @internal */
export const MessageEvent = Schema.Struct({ kind: Schema.Literal("message"), ...messageFields })
/** @internal */
export const StatusUpdate = Schema.Struct({
  kind: Schema.Literal("status-update"),
  taskId: Schema.String,
  contextId: Schema.String,
  status: Status,
  final: Schema.optionalWith(Schema.Boolean, { nullable: true, default: () => false }),
  metadata
})
/** @internal */
export const ArtifactUpdate = Schema.Struct({
  kind: Schema.Literal("artifact-update"),
  taskId: Schema.String,
  contextId: Schema.String,
  artifact: Artifact,
  append: Schema.optionalWith(Schema.Boolean, { nullable: true, default: () => false }),
  lastChunk: Schema.optionalWith(Schema.Boolean, { nullable: true, default: () => false }),
  metadata
})

// -- writing, with the members in the order of a2a-python; what is `undefined` is left out by JSON itself

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

/** @internal */
export const writeMessage = (message: A2a.Message): A2a.JsonObject => ({
  contextId: message.contextId,
  extensions: message.extensions,
  kind: "message",
  messageId: message.messageId,
  metadata: message.metadata,
  parts: message.parts.map(encodePart),
  referenceTaskIds: message.referenceTaskIds,
  role: message.role,
  taskId: message.taskId
})

/** @internal */
export const encodeStatus = ({ at, message, state }: A2a.TaskStatus): A2a.JsonObject => ({
  message: message === undefined ? undefined : writeMessage(message),
  state,
  timestamp: timestampOf(at)
})

/** @internal */
export const encodeArtifact = (artifact: A2a.Artifact): A2a.JsonObject => ({
  artifactId: artifact.artifactId,
  description: artifact.description,
  extensions: artifact.extensions,
  metadata: artifact.metadata,
  name: artifact.name,
  parts: artifact.parts.map(encodePart)
})
