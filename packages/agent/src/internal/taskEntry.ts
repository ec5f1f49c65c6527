import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as Part from "@effect-agentenv/protocol/Part"
import * as Schema from "effect/Schema"
import type * as TaskStore from "../TaskStore.ts"

// A declaration and no record: a record copies, and a key named `__proto__` would become the copy's prototype.
const JsonObject = Schema.declare(
  (value: unknown): value is A2a.JsonObject => typeof value === "object" && value !== null && !Array.isArray(value),
  { identifier: "JsonObject" }
)

const metadata = { metadata: Schema.optional(JsonObject) }
const text = { mediaType: Schema.optional(Schema.String), filename: Schema.optional(Schema.String), ...metadata }

const MessagePart = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("text"), text: Schema.String, ...text }),
  Schema.Struct({
    kind: Schema.Literal("file"),
    file: Schema.Union(Schema.typeSchema(Part.FileWithBytes), Schema.typeSchema(Part.FileWithUri)),
    ...metadata
  }),
  Schema.Struct({ kind: Schema.Literal("data"), data: Schema.Unknown, ...text })
)

const Message = Schema.Struct({
  messageId: Schema.String,
  role: Schema.Literal("user", "agent"),
  parts: Schema.Array(MessagePart),
  contextId: Schema.optional(Schema.String),
  taskId: Schema.optional(Schema.String),
  extensions: Schema.optional(Schema.Array(Schema.String)),
  referenceTaskIds: Schema.optional(Schema.Array(Schema.String)),
  ...metadata
})

const Artifact = Schema.Struct({
  artifactId: Schema.String,
  parts: Schema.Array(MessagePart),
  name: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  extensions: Schema.optional(Schema.Array(Schema.String)),
  ...metadata
})

const TaskState = Schema.Literal(
  "submitted",
  "working",
  "input-required",
  "auth-required",
  "completed",
  "failed",
  "canceled",
  "rejected",
  "unknown"
)

export const Entry: Schema.Schema<TaskStore.Entry> = Schema.Union(
  Schema.TaggedStruct("Created", { contextId: Schema.String, message: Message, at: Schema.Number, ...metadata }),
  Schema.TaggedStruct("Continued", { message: Message, at: Schema.Number, ...metadata }),
  Schema.TaggedStruct("Status", {
    state: TaskState,
    at: Schema.Number,
    message: Schema.optional(Message),
    ...metadata
  }),
  Schema.TaggedStruct("Artifact", {
    artifact: Artifact,
    append: Schema.Boolean,
    lastChunk: Schema.Boolean,
    ...metadata
  })
)
