/**
 * Why the engine refuses what it is asked for.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * There is no such task, or no more.
 *
 * @since 0.1.0
 * @category errors
 */
export class TaskNotFound
  extends Schema.TaggedError<TaskNotFound>("@effect-agentenv/agent/TaskNotFound")("TaskNotFound", {
    taskId: Schema.String
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return "There is no such task"
  }
}

/**
 * The task has ended, so nothing can be added to it and nothing more be heard of it.
 *
 * @since 0.1.0
 * @category errors
 */
export class TaskIsTerminal
  extends Schema.TaggedError<TaskIsTerminal>("@effect-agentenv/agent/TaskIsTerminal")("TaskIsTerminal", {
    taskId: Schema.String,
    state: Schema.String
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `The task is ${this.state} already`
  }
}

/**
 * The task has ended, so it can't be canceled: a task that was canceled before neither, as the reference has it.
 *
 * @since 0.1.0
 * @category errors
 */
export class TaskNotCancelable
  extends Schema.TaggedError<TaskNotCancelable>("@effect-agentenv/agent/TaskNotCancelable")("TaskNotCancelable", {
    taskId: Schema.String,
    state: Schema.String
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `The task is ${this.state} already and can't be canceled`
  }
}

/**
 * The message names a task and another context than the task's.
 *
 * @since 0.1.0
 * @category errors
 */
export class ContextMismatch
  extends Schema.TaggedError<ContextMismatch>("@effect-agentenv/agent/ContextMismatch")("ContextMismatch", {
    taskId: Schema.String,
    contextId: Schema.String
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return "contextId is not the context of the task that taskId names"
  }
}

/**
 * The message can't be taken now: the task still runs (`running`), too many tasks wait (`queue`), or the server is closing (`closing`).
 *
 * @since 0.1.0
 * @category errors
 */
export class TaskBusy extends Schema.TaggedError<TaskBusy>("@effect-agentenv/agent/TaskBusy")("TaskBusy", {
  reason: Schema.Literal("running", "queue", "closing")
}) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return this.reason === "running"
      ? "The task still runs"
      : this.reason === "queue"
      ? "Too many tasks wait"
      : "The server is closing"
  }
}
