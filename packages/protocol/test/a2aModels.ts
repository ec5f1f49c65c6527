import type * as A2a from "@effect-agentenv/protocol/A2a"
import { FastCheck } from "effect"

/** Whatever JSON can say. */
const json = FastCheck.jsonValue({ maxDepth: 3 }).map((value): unknown => JSON.parse(JSON.stringify(value)))

/** An object as a parser makes it: with an own `__proto__` now and then. */
const object = FastCheck.array(
  FastCheck.tuple(FastCheck.oneof(FastCheck.string(), FastCheck.constantFrom("__proto__", "constructor")), json),
  { maxLength: 4 }
).map((entries): A2a.JsonObject =>
  JSON.parse(`{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`)
)

const text = FastCheck.string({ minLength: 1 })

const file = FastCheck.oneof(
  FastCheck.record({ bytes: FastCheck.string(), name: text, mimeType: text }, { requiredKeys: ["bytes"] }),
  FastCheck.record({ uri: FastCheck.string(), name: text, mimeType: text }, { requiredKeys: ["uri"] })
)

const kind = <Kind extends string>(kind: Kind) => FastCheck.constant(kind)

/** Parts that both wires carry whole. */
const parts = [
  FastCheck.record({ kind: kind("text"), text, metadata: object }, { requiredKeys: ["kind", "text"] }),
  FastCheck.record({ kind: kind("file"), file, metadata: object }, { requiredKeys: ["kind", "file"] })
]

/** Those of the 0.3 wire. */
export const partOfV03: FastCheck.Arbitrary<A2a.Part> = FastCheck.oneof(
  ...parts,
  // an empty object of metadata beside a value that is no object is the one thing that 0.3 can't tell from none
  FastCheck.record({ kind: kind("data"), data: object, metadata: object }, { requiredKeys: ["kind", "data"] }),
  FastCheck.record({ kind: kind("data"), data: json })
)

/** Those of the 1.0 wire. */
export const partOfV1: FastCheck.Arbitrary<A2a.Part> = FastCheck.oneof(
  ...parts,
  FastCheck.record({ kind: kind("text"), text, mediaType: text, filename: text }),
  FastCheck.record({ kind: kind("data"), data: json, metadata: object, mediaType: text, filename: text }, {
    requiredKeys: ["kind", "data"]
  })
)

export const states: ReadonlyArray<A2a.TaskState> = [
  "submitted",
  "working",
  "input-required",
  "auth-required",
  "completed",
  "failed",
  "canceled",
  "rejected",
  "unknown"
]

/** Everything that is made of parts. */
export const models = (part: FastCheck.Arbitrary<A2a.Part>) => {
  const parts = FastCheck.array(part, { minLength: 1, maxLength: 3 })
  const uris = FastCheck.array(text, { maxLength: 2 })
  const message: FastCheck.Arbitrary<A2a.Message> = FastCheck.record({
    messageId: text,
    role: FastCheck.constantFrom("user" as const, "agent" as const),
    parts,
    contextId: text,
    taskId: text,
    metadata: object,
    extensions: uris,
    referenceTaskIds: uris
  }, { requiredKeys: ["messageId", "role", "parts"] })
  const artifact: FastCheck.Arbitrary<A2a.Artifact> = FastCheck.record({
    artifactId: text,
    parts,
    name: text,
    description: text,
    metadata: object,
    extensions: uris
  }, { requiredKeys: ["artifactId", "parts"] })
  const status: FastCheck.Arbitrary<A2a.TaskStatus> = FastCheck.record({
    state: FastCheck.constantFrom(...states),
    at: FastCheck.integer({ min: 0, max: 4_000_000_000_000 }),
    message
  }, { requiredKeys: ["state"] })
  const task: FastCheck.Arbitrary<A2a.Task> = FastCheck.record({
    id: text,
    contextId: text,
    status,
    history: FastCheck.array(message, { maxLength: 2 }),
    artifacts: FastCheck.array(artifact, { maxLength: 2 }),
    metadata: object
  }, { requiredKeys: ["id", "contextId", "status", "history", "artifacts"] })
  const statusUpdate = FastCheck.record({
    _tag: FastCheck.constant("StatusUpdate" as const),
    taskId: text,
    contextId: text,
    status,
    final: FastCheck.boolean(),
    metadata: object
  }, { requiredKeys: ["_tag", "taskId", "contextId", "status", "final"] })
  const artifactUpdate = FastCheck.record({
    _tag: FastCheck.constant("ArtifactUpdate" as const),
    taskId: text,
    contextId: text,
    artifact,
    append: FastCheck.boolean(),
    lastChunk: FastCheck.boolean(),
    metadata: object
  }, { requiredKeys: ["_tag", "taskId", "contextId", "artifact", "append", "lastChunk"] })
  const event: FastCheck.Arbitrary<A2a.StreamEvent> = FastCheck.oneof(
    task.map((task) => ({ _tag: "Task" as const, task })),
    message.map((message) => ({ _tag: "Message" as const, message })),
    statusUpdate,
    artifactUpdate
  )
  const send = FastCheck.record({
    message,
    blocking: FastCheck.boolean(),
    historyLength: FastCheck.nat(100),
    acceptedOutputModes: uris,
    metadata: object
  }, { requiredKeys: ["message"] })
  return { message, task, event, send }
}

/** What arrives of what is sent. */
export const travelled = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** A value whose text nests this deep. */
export const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`)
