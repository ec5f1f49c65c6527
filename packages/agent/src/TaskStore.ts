/**
 * Where the journals of tasks are kept.
 *
 * @since 0.1.0
 */
import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as taskEntry from "./internal/taskEntry.ts"
import * as taskMemory from "./internal/taskMemory.ts"

/**
 * One entry of a task's journal, plain JSON. A task is the fold of its journal; an entry's version is its place in it, from 1.
 *
 * @since 0.1.0
 * @category models
 */
export type Entry =
  | {
    readonly _tag: "Created"
    readonly contextId: string
    readonly message: A2a.Message
    readonly metadata?: A2a.JsonObject | undefined
    readonly at: number
  }
  /** A further message of the caller's, which starts another run. */
  | {
    readonly _tag: "Continued"
    readonly message: A2a.Message
    readonly metadata?: A2a.JsonObject | undefined
    readonly at: number
  }
  | {
    readonly _tag: "Status"
    readonly state: A2a.TaskState
    readonly at: number
    readonly message?: A2a.Message | undefined
    readonly metadata?: A2a.JsonObject | undefined
  }
  | {
    readonly _tag: "Artifact"
    readonly artifact: A2a.Artifact
    readonly append: boolean
    readonly lastChunk: boolean
    readonly metadata?: A2a.JsonObject | undefined
  }

/**
 * One entry of a task's journal, for stores that write it down: an entry is JSON as it is.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Entry: Schema.Schema<Entry> = taskEntry.Entry

/**
 * The journal has moved on: `actual` is its version.
 *
 * @since 0.1.0
 * @category errors
 */
export class VersionConflict
  extends Schema.TaggedError<VersionConflict>("@effect-agentenv/agent/VersionConflict")("VersionConflict", {
    taskId: Schema.String,
    actual: Schema.Number
  })
{}

/**
 * The store could not be reached or refused to work; nothing was appended.
 *
 * @since 0.1.0
 * @category errors
 */
export class TaskStoreError
  extends Schema.TaggedError<TaskStoreError>("@effect-agentenv/agent/TaskStoreError")("TaskStoreError", {
    operation: Schema.String,
    cause: Schema.Defect
  })
{}

/**
 * The journals of tasks: appended by compare-and-set, read from a version on.
 *
 * - `append` fails with `VersionConflict` unless the journal is at `expected` (0 for a task that is not there), and returns the new
 *   version.
 * - `read` answers the entries after version `from`, at most `limit`; `undefined` for a task that is not there (any more).
 * - `list` answers ids of tasks, newest first, optionally of one context; with `before`, the id of a task, only those older than it,
 *   which are none when that task is not there (any more).
 * - `unfinished` answers the ids of tasks that are not in a final state: what a start sweeps.
 *
 * @since 0.1.0
 * @category tags
 */
export class TaskStore extends Context.Tag("@effect-agentenv/agent/TaskStore")<TaskStore, {
  readonly append: (
    taskId: string,
    expected: number,
    entries: ReadonlyArray<Entry>
  ) => Effect.Effect<number, VersionConflict | TaskStoreError>
  readonly read: (
    taskId: string,
    from: number,
    limit?: number | undefined
  ) => Effect.Effect<ReadonlyArray<Entry> | undefined, TaskStoreError>
  readonly list: (
    options: { readonly contextId?: string | undefined; readonly limit: number; readonly before?: string | undefined }
  ) => Effect.Effect<ReadonlyArray<string>, TaskStoreError>
  readonly unfinished: Effect.Effect<ReadonlyArray<string>, TaskStoreError>
}>() {}

/**
 * What a store in memory keeps. Tasks that run are kept whatever it takes.
 *
 * @since 0.1.0
 * @category models
 */
export interface MemoryOptions {
  /** How many tasks that have ended are kept; 10,000 by default. */
  readonly maxFinished?: number | undefined
  /**
   * How many bytes the journals take together, roughly, before those go that ended first; 256 MiB by default. The task that ended last
   * stays whatever its size.
   */
  readonly maxBytes?: number | undefined
  /** How long a task is kept after its end; an hour by default. */
  readonly maxAge?: Duration.DurationInput | undefined
  /** How long a task is kept that waits for its caller; a day by default. */
  readonly abandonedAfter?: Duration.DurationInput | undefined
}

const timed = <A, E>(f: (now: number) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.clockWith((clock) => f(clock.unsafeCurrentTimeMillis()))

const makeMemory = (options: MemoryOptions): TaskStore["Type"] => {
  const memory = new taskMemory.Memory(options)
  const swept = <A>(f: () => A): Effect.Effect<A> =>
    timed((now) => {
      memory.sweep(now)
      return Effect.succeed(f())
    })
  const store: TaskStore["Type"] = {
    append: (taskId, expected, entries) =>
      timed((now) =>
        memory.append(now, taskId, expected, entries)
          ? Effect.succeed(expected + entries.length)
          : Effect.fail(new VersionConflict({ taskId, actual: memory.version(taskId) }))
      ),
    read: (taskId, from, limit) => swept(() => memory.read(taskId, from, limit)),
    list: (options) => swept(() => memory.list(options)),
    unfinished: swept(() => memory.unfinished())
  }
  return taskMemory.behind(store, memory)
}

/**
 * Journals in this process's memory, bounded by count, bytes and age: nothing is kept for good, and an expired task goes at the next call.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (options: MemoryOptions = {}): Layer.Layer<TaskStore> =>
  Layer.sync(TaskStore, () => makeMemory(options))
