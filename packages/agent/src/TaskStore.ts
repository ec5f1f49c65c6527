/**
 * Where the journals of tasks are kept.
 *
 * @since 0.1.0
 */
import * as A2a from "@effect-agentenv/protocol/A2a"
import * as Part from "@effect-agentenv/protocol/Part"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
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

/**
 * One entry of a task's journal, for stores that write it down: an entry is JSON as it is.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Entry: Schema.Schema<Entry> = Schema.Union(
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
  readonly contextId: string
  entries: Array<Entry>
  bytes: number
  /** When it was entered in `finished` or `waiting`. */
  since: number
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
  // Both in the order of `since`.
  const finished = new Map<string, Journal>()
  const waiting = new Map<string, Journal>()
  let bytes = 0

  const drop = (taskId: string, journal: Journal): void => {
    journals.delete(taskId)
    finished.delete(taskId)
    waiting.delete(taskId)
    bytes -= journal.bytes
  }
  const expire = (from: Map<string, Journal>, until: number): void => {
    for (const [taskId, journal] of from) {
      if (journal.since > until) return
      drop(taskId, journal)
    }
  }
  const shrink = (): void => {
    for (const [taskId, journal] of finished) {
      if (finished.size <= maxFinished && (bytes <= maxBytes || finished.size === 1)) return
      drop(taskId, journal)
    }
  }
  const file = (taskId: string, journal: Journal, state: A2a.TaskState, now: number): void => {
    waiting.delete(taskId)
    finished.delete(taskId)
    if (!A2a.isSettled(state)) return
    journal.since = now
    if (A2a.isTerminal(state)) {
      // Without the room that a growing array has to spare.
      journal.entries = journal.entries.slice()
      finished.set(taskId, journal)
    } else waiting.set(taskId, journal)
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
          journal = { contextId: first._tag === "Created" ? first.contextId : "", entries: [], bytes: 0, since: now }
          journals.set(taskId, journal)
        }
        for (const entry of entries) {
          const size = sizeOf(entry)
          journal.bytes += size
          bytes += size
          journal.entries.push(entry)
        }
        const state = stateAfter(entries)
        if (state !== undefined) file(taskId, journal, state, now)
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
    unfinished: swept(() => Effect.succeed(Array.from(journals.keys()).filter((taskId) => !finished.has(taskId))))
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
