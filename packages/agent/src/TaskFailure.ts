/**
 * The failure that an agent declares for a task.
 *
 * @since 0.1.0
 */
import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as Schema from "effect/Schema"
import { isObject } from "./internal/json.ts"
import type * as TaskResult from "./TaskResult.ts"

const Parts = Schema.declare(
  (value): value is ReadonlyArray<A2a.Part> => Array.isArray(value),
  { identifier: "Parts" }
)

const Usage = Schema.declare((value): value is TaskResult.Usage => isObject(value), { identifier: "Usage" })

const Trajectory = Schema.declare(
  (value): value is TaskResult.NativeTrajectory => isObject(value),
  { identifier: "NativeTrajectory" }
)

const Metadata = Schema.declare((value): value is A2a.JsonObject => isObject(value), { identifier: "JsonObject" })

/**
 * Ends a task as failed, in the author's words: `code` is for programs, `message` for people, and both travel (B-TASK-7).
 *
 * - `errorType` is `agent_error` unless told; `infra_error` says that the same task may succeed elsewhere.
 * - `parts` come before the error on the wire; without any the message is shown as a text.
 * - `usage`, `sessionRef`, `trajectory`, `metadata` and `messageMetadata` are those of a `TaskResult`.
 *
 * @since 0.1.0
 * @category errors
 */
export class TaskFailure extends Schema.TaggedError<TaskFailure>("@effect-agentenv/agent/TaskFailure")("TaskFailure", {
  code: Schema.String,
  message: Schema.String,
  errorType: Schema.optional(Schema.Literal("agent_error", "infra_error")),
  parts: Schema.optional(Parts),
  usage: Schema.optional(Usage),
  sessionRef: Schema.optional(Schema.String),
  trajectory: Schema.optional(Trajectory),
  metadata: Schema.optional(Metadata),
  messageMetadata: Schema.optional(Metadata)
}) {}
