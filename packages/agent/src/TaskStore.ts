/**
 * Where the journals of tasks are kept.
 *
 * @since 0.1.0
 */
import * as A2a from "@effect-agentenv/protocol/A2a"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as taskEntry from "./internal/taskEntry.ts"
import { type InLine, Line } from "./internal/taskLine.ts"
import { sizeOf } from "./internal/taskSize.ts"

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

interface Journal {
  readonly taskId: string
  readonly contextId: string
  entries: Array<Entry>
  bytes: number
  place: Place | undefined
}

/** Where a task stands among those that have ended, or among those that wait for their callers, and since when. */
interface Place extends InLine {
  readonly taskId: string
  readonly line: Line<Place>
  readonly since: number
}

const stateAfter = (entries: ReadonlyArray<Entry>): A2a.TaskState | undefined => {
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]
    if (entry === undefined || entry._tag === "Artifact") continue
    return entry._tag === "Status" ? entry.state : "submitted"
  }
  return undefined
}

const makeMemory = (options: MemoryOptions): TaskStore["Type"] => {
  const { maxBytes = 256 * 1024 ** 2, maxFinished = 10_000 } = options
  const maxAge = Duration.toMillis(options.maxAge ?? "1 hour")
  const abandonedAfter = Duration.toMillis(options.abandonedAfter ?? "1 day")
  const journals = new Map<string, Journal>()
  const finished = new Line<Place>()
  const waiting = new Line<Place>()
  let bytes = 0

  const leave = (journal: Journal): void => {
    journal.place?.line.remove(journal.place)
    journal.place = undefined
  }
  const drop = (taskId: string): void => {
    const journal = journals.get(taskId)
    if (journal === undefined) return
    leave(journal)
    journals.delete(taskId)
    bytes -= journal.bytes
  }
  const expire = (line: Line<Place>, until: number): void => {
    for (let place = line.first(); place !== undefined && place.since <= until; place = line.first()) {
      drop(place.taskId)
    }
  }
  const shrink = (): void => {
    for (let place = finished.first(); place !== undefined; place = finished.first()) {
      if (finished.size <= maxFinished && (bytes <= maxBytes || finished.size === 1)) return
      drop(place.taskId)
    }
  }
  const file = (journal: Journal, state: A2a.TaskState, now: number): void => {
    leave(journal)
    if (!A2a.isSettled(state)) return
    const line = A2a.isTerminal(state) ? finished : waiting
    // Without the room that a growing array has to spare.
    if (line === finished) journal.entries = journal.entries.slice()
    journal.place = { taskId: journal.taskId, line, since: now, gone: false }
    line.push(journal.place)
  }
  const swept = <A, E>(f: (now: number) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.clockWith((clock) => {
      const now = clock.unsafeCurrentTimeMillis()
      expire(finished, now - maxAge)
      expire(waiting, now - abandonedAfter)
      return f(now)
    })

  return {
    append: (taskId, expected, entries) =>
      swept((now) => {
        let journal = journals.get(taskId)
        const actual = journal === undefined ? 0 : journal.entries.length
        if (actual !== expected) return Effect.fail(new VersionConflict({ taskId, actual }))
        const first = entries[0]
        if (first === undefined) return Effect.succeed(actual)
        if (journal === undefined) {
          const contextId = first._tag === "Created" ? first.contextId : ""
          journal = { taskId, contextId, entries: [], bytes: 0, place: undefined }
          journals.set(taskId, journal)
        }
        for (const entry of entries) {
          const size = sizeOf(entry)
          journal.bytes += size
          bytes += size
          journal.entries.push(entry)
        }
        const state = stateAfter(entries)
        if (state !== undefined) file(journal, state, now)
        shrink()
        return Effect.succeed(journal.entries.length)
      }),
    read: (taskId, from, limit) =>
      swept(() => {
        const journal = journals.get(taskId)
        return Effect.succeed(journal?.entries.slice(from, limit === undefined ? undefined : from + limit))
      }),
    list: ({ before, contextId, limit }) =>
      swept(() => {
        const ids: Array<string> = []
        let listing = before === undefined
        for (const [taskId, journal] of Arr.reverse(journals)) {
          if (ids.length >= limit) break
          if (listing && (contextId === undefined || journal.contextId === contextId)) ids.push(taskId)
          listing ||= taskId === before
        }
        return Effect.succeed(ids)
      }),
    unfinished: swept(() =>
      Effect.succeed(
        Array.from(journals.values()).filter(({ place }) => place?.line !== finished).map(({ taskId }) => taskId)
      )
    )
  }
}

/**
 * Journals in this process's memory, bounded by count, bytes and age: nothing is kept for good, and an expired task goes at the next call.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (options: MemoryOptions = {}): Layer.Layer<TaskStore> =>
  Layer.sync(TaskStore, () => makeMemory(options))
