/**
 * How calls of an agent fail, beside the ways that all clients share (`ClientError`). Nothing here holds a request.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { BadStatus, RpcError, RpcErrorData, Timeout, Unreachable, Unreadable } from "./ClientError.ts"

const refusal = {
  operation: Schema.String,
  code: Schema.Int,
  reason: Schema.String,
  data: RpcErrorData
}

const ofTask = { ...refusal, taskId: Schema.optional(Schema.String) }

const told = (error: { readonly operation: string; readonly reason: string; readonly code: number }): string =>
  `${error.operation}: ${error.reason} (${error.code})`

/**
 * Tells that the agent knows no task of this id (-32001).
 *
 * @since 0.1.0
 * @category errors
 */
export class TaskNotFound
  extends Schema.TaggedError<TaskNotFound>("@effect-agentenv/client/TaskNotFound")("TaskNotFound", ofTask)
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return told(this)
  }
}

/**
 * Tells that the task has ended, so that nothing of it can be canceled (-32002).
 *
 * @since 0.1.0
 * @category errors
 */
export class TaskNotCancelable
  extends Schema.TaggedError<TaskNotCancelable>("@effect-agentenv/client/TaskNotCancelable")(
    "TaskNotCancelable",
    ofTask
  )
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return told(this)
  }
}

/**
 * Tells that the agent doesn't do this (-32004): it has no such method, or the task's state rules it out. A method that the wire of the
 * agent doesn't know fails like this too, without a request.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnsupportedOperation
  extends Schema.TaggedError<UnsupportedOperation>("@effect-agentenv/client/UnsupportedOperation")(
    "UnsupportedOperation",
    ofTask
  )
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return told(this)
  }
}

/**
 * Tells that the agent doesn't take parts of these media types, or makes none of those that were asked for (-32005).
 *
 * @since 0.1.0
 * @category errors
 */
export class ContentTypeNotSupported
  extends Schema.TaggedError<ContentTypeNotSupported>("@effect-agentenv/client/ContentTypeNotSupported")(
    "ContentTypeNotSupported",
    refusal
  )
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return told(this)
  }
}

/**
 * Tells that the agent doesn't speak this version of A2A, whatever its card says (-32009).
 *
 * @since 0.1.0
 * @category errors
 */
export class VersionNotSupported
  extends Schema.TaggedError<VersionNotSupported>("@effect-agentenv/client/VersionNotSupported")(
    "VersionNotSupported",
    refusal
  )
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return told(this)
  }
}

/**
 * Tells that a stream ended before its final event, so that what came of it may be half an answer. The task goes on by itself: ask for
 * it, or listen again from `lastEventId` on, where the agent numbers its events.
 *
 * @since 0.1.0
 * @category errors
 */
export class StreamCut extends Schema.TaggedError<StreamCut>("@effect-agentenv/client/StreamCut")("StreamCut", {
  operation: Schema.String,
  taskId: Schema.optional(Schema.String),
  lastEventId: Schema.optional(Schema.String),
  reason: Schema.String
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.operation}: the stream ended before its final event: ${this.reason}`
  }
}

/**
 * Tells, before any request, that JSON can't say a message.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidMessage extends Schema.TaggedError<InvalidMessage>("@effect-agentenv/client/InvalidMessage")(
  "InvalidMessage",
  { operation: Schema.String, issues: Schema.String }
) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.operation}: the message can't be sent: ${this.issues}`
  }
}

/**
 * Every way in which a call of an agent fails. `RpcError` is what the agent refused for a reason without a class of its own.
 *
 * @since 0.1.0
 * @category errors
 */
export type AgentClientError =
  | Unreachable
  | Timeout
  | BadStatus
  | Unreadable
  | RpcError
  | TaskNotFound
  | TaskNotCancelable
  | UnsupportedOperation
  | ContentTypeNotSupported
  | VersionNotSupported
  | StreamCut
  | InvalidMessage

/**
 * The schema of `AgentClientError`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AgentClientError: Schema.Union<[
  typeof Unreachable,
  typeof Timeout,
  typeof BadStatus,
  typeof Unreadable,
  typeof RpcError,
  typeof TaskNotFound,
  typeof TaskNotCancelable,
  typeof UnsupportedOperation,
  typeof ContentTypeNotSupported,
  typeof VersionNotSupported,
  typeof StreamCut,
  typeof InvalidMessage
]> = Schema.Union(
  Unreachable,
  Timeout,
  BadStatus,
  Unreadable,
  RpcError,
  TaskNotFound,
  TaskNotCancelable,
  UnsupportedOperation,
  ContentTypeNotSupported,
  VersionNotSupported,
  StreamCut,
  InvalidMessage
)

/**
 * Every way in which a plain read (card, health) fails.
 *
 * @since 0.1.0
 * @category errors
 */
export type ReadError = Unreachable | Timeout | BadStatus | Unreadable
