/**
 * The engine that runs tasks.
 *
 * @since 0.1.0
 */
import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as internal from "./internal/taskEngine.ts"
import type { ContextMismatch, TaskBusy, TaskIsTerminal, TaskNotCancelable, TaskNotFound } from "./TaskError.ts"
import type { TaskStore, TaskStoreError } from "./TaskStore.ts"

export {
  /**
   * @since 0.1.0
   * @category errors
   */
  ContextMismatch,
  /**
   * @since 0.1.0
   * @category errors
   */
  TaskBusy,
  /**
   * @since 0.1.0
   * @category errors
   */
  TaskIsTerminal,
  /**
   * @since 0.1.0
   * @category errors
   */
  TaskNotCancelable,
  /**
   * @since 0.1.0
   * @category errors
   */
  TaskNotFound
} from "./TaskError.ts"

/**
 * What a run starts from. `history` is what was said in the task before `message`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Start {
  readonly taskId: string
  readonly contextId: string
  readonly message: A2a.Message
  readonly history: ReadonlyArray<A2a.Message>
  /** The metadata of the request that carried the message. */
  readonly metadata: A2a.JsonObject | undefined
}

/**
 * What a run says while it runs. Appended in order, then published; after the task's end nothing is. `metadata` is the event's;
 * `messageMetadata` is that of the event's message, which is there for it even without parts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Emit {
  readonly status: (
    parts: ReadonlyArray<A2a.Part>,
    options?: {
      readonly metadata?: A2a.JsonObject | undefined
      readonly messageMetadata?: A2a.JsonObject | undefined
    } | undefined
  ) => Effect.Effect<void>
  readonly artifact: (
    artifact: A2a.Artifact,
    options?: {
      readonly append?: boolean | undefined
      readonly lastChunk?: boolean | undefined
      readonly metadata?: A2a.JsonObject | undefined
    } | undefined
  ) => Effect.Effect<void>
}

/**
 * How a run ended, in the words of the wire. `metadata` and `messageMetadata` stand where those of `Emit.status` do.
 *
 * @since 0.1.0
 * @category models
 */
export interface Outcome {
  readonly state: "completed" | "failed" | "canceled" | "rejected" | "input-required"
  readonly parts: ReadonlyArray<A2a.Part>
  readonly metadata?: A2a.JsonObject | undefined
  readonly messageMetadata?: A2a.JsonObject | undefined
}

/**
 * What the engine runs. `run` is one task's work, interrupted by a cancel. `settle` turns its exit into the outcome before the
 * task's end is written, uninterruptibly, so that whatever belongs to the end is recorded before anybody can see it (B-TRAJ-12); a
 * cancel gets there as an interruption, whatever the run answered to it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Runner<A, E> {
  readonly run: (start: Start, emit: Emit) => Effect.Effect<A, E>
  readonly settle: (start: Start, exit: Exit.Exit<A, E>) => Effect.Effect<Outcome>
  /** Told of a run that is in the store and waits for its turn, before the task's id is given to anybody. If it dies, so does the run. */
  readonly submitted?: ((start: Start) => Effect.Effect<void>) | undefined
}

/**
 * How a message is sent. `blocking` waits for the run's end, and is the default. `historyLength` bounds the history of the answer:
 * all of it by default, none for 0.
 *
 * @since 0.1.0
 * @category models
 */
export interface SendOptions {
  readonly blocking?: boolean | undefined
  readonly historyLength?: number | undefined
  readonly metadata?: A2a.JsonObject | undefined
}

/**
 * An event with its version: the place of its entry in the journal.
 *
 * @since 0.1.0
 * @category models
 */
export interface Versioned {
  readonly version: number
  readonly event: A2a.TaskEvent
}

/**
 * What a listener reads: the task as it was, then all that happens to it, once each and in order. `next` answers at least one event,
 * or `undefined` when the run has ended, which is after the event that is `final`. A listener that is slow reads the journal, so it costs nobody anything.
 *
 * @since 0.1.0
 * @category models
 */
export interface Subscription {
  readonly snapshot: A2a.Task
  readonly version: number
  readonly next: Effect.Effect<ReadonlyArray<Versioned> | undefined>
}

/**
 * Why a message was not taken.
 *
 * @since 0.1.0
 * @category errors
 */
export type SendError = TaskNotFound | TaskIsTerminal | ContextMismatch | TaskBusy | TaskStoreError

/**
 * The engine that runs the tasks of one agent: one fiber a task, independent of who listens; the tasks of a context one at a time in
 * the order they came (B-TASK-13).
 *
 * @since 0.1.0
 * @category tags
 */
export class TaskEngine extends Context.Tag("@effect-agentenv/agent/TaskEngine")<TaskEngine, {
  readonly send: (message: A2a.Message, options?: SendOptions | undefined) => Effect.Effect<A2a.Task, SendError>
  readonly stream: (
    message: A2a.Message,
    options?: SendOptions | undefined
  ) => Effect.Effect<Subscription, SendError>
  readonly get: (
    taskId: string,
    options?: { readonly historyLength?: number | undefined } | undefined
  ) => Effect.Effect<A2a.Task, TaskNotFound | TaskStoreError>
  readonly list: (
    options: {
      readonly contextId?: string | undefined
      readonly state?: A2a.TaskState | undefined
      readonly limit: number
      readonly before?: string | undefined
      readonly historyLength?: number | undefined
    }
  ) => Effect.Effect<ReadonlyArray<A2a.Task>, TaskStoreError>
  readonly cancel: (taskId: string) => Effect.Effect<A2a.Task, TaskNotFound | TaskNotCancelable | TaskStoreError>
  /** Listens again; with `from`, the version of the last event seen, only what came after it. */
  readonly resubscribe: (
    taskId: string,
    options?: { readonly from?: number | undefined; readonly historyLength?: number | undefined } | undefined
  ) => Effect.Effect<Subscription, TaskNotFound | TaskIsTerminal | TaskStoreError>
  /** Ends every running task as canceled and takes no more: what a server does before it closes. */
  readonly drain: Effect.Effect<void>
}>() {}

/**
 * How tasks are run.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How many tasks may wait for their turn in one context; 1,024 by default. More are refused (`TaskBusy`). */
  readonly maxQueuedPerContext?: number | undefined
  /** In how many contexts tasks may run or wait; as many as come by default. More are refused (`TaskBusy`). */
  readonly maxContexts?: number | undefined
  /**
   * Whether a message that comes again, with the same `messageId` and in the same context, is answered with the task that it started
   * or continued. A message that names no context never comes again. Off by default; the last 10,000 are remembered.
   */
  readonly idempotent?: boolean | undefined
  /** How long a canceled run is waited for before its task is canceled all the same; 2 seconds by default. */
  readonly cancelGrace?: Duration.DurationInput | undefined
  /** How an event is tried again that the store didn't take, after once at once: 8 times within 12 seconds by default. Then the run dies of it. */
  readonly storeRetry?: Schedule.Schedule<unknown> | undefined
}

/**
 * The engine of a runner, until the scope closes: then it drains. Tasks that a former engine left running in the store are failed first
 * (`framework.restarted`), so a store belongs to one engine at a time. Runs are never tried again (B-TASK-17).
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <A, E>(
  runner: Runner<A, E>,
  options: Options = {}
): Effect.Effect<TaskEngine["Type"], TaskStoreError, TaskStore | Scope.Scope> => internal.make(runner, options)

/**
 * The engine of a runner that an effect makes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <A, E, EX, R>(
  runner: Effect.Effect<Runner<A, E>, EX, R>,
  options: Options = {}
): Layer.Layer<TaskEngine, EX | TaskStoreError, TaskStore | Exclude<R, Scope.Scope>> =>
  Layer.scoped(TaskEngine, Effect.flatMap(runner, (runner) => make(runner, options)))
