/**
 * What tasks did.
 *
 * @since 0.1.0
 */
import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ExtensionError } from "./ExtensionError.ts"
import { type Encoded, encodeLenient, encodeStrict, isPlainObject } from "./internal/jsonText.ts"
import * as page from "./internal/trajectoryPage.ts"
import * as store from "./internal/trajectoryStore.ts"
import type * as TaskResult from "./TaskResult.ts"

/**
 * How a task's log stands (B-TRAJ-9). One that waits for its caller's next message stands as it did.
 *
 * @since 0.1.0
 * @category models
 */
export type State = "pending" | "running" | "completed" | "failed" | "canceled"

/**
 * A page of a live log (B-TRAJ-9).
 *
 * @since 0.1.0
 * @category models
 */
export interface Page {
  readonly context_id: string
  readonly task_id: string
  readonly state: State
  readonly format: string | null
  readonly events: ReadonlyArray<A2a.JsonObject>
  readonly next: number
  readonly has_more: boolean
}

/**
 * What a log can't take: a blank format, another format after the first event, an event before a format, an event that is no JSON
 * object, anything after the end (B-TRAJ-8).
 *
 * @since 0.1.0
 * @category errors
 */
export class Refused extends Schema.TaggedError<Refused>("@effect-agentenv/agent/Trajectories/Refused")("Refused", {
  message: Schema.String
}) {}

/**
 * The log that a run writes.
 *
 * - `format` names what the events are, such as `my-agent/1`; it may change until the first event (B-TRAJ-8).
 * - `append` stores events, all or none. They are written as JSON at once, so that what becomes of them later does not matter; a
 *   property that is `undefined` is left out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Log {
  readonly format: (format: string) => Effect.Effect<void, Refused>
  readonly append: (...events: ReadonlyArray<unknown>) => Effect.Effect<void, Refused>
}

/**
 * What `Trajectories` does.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly submitted: (taskId: string, contextId: string) => Effect.Effect<void>
  readonly started: (taskId: string) => Effect.Effect<Log>
  readonly settled: (
    taskId: string,
    state: "completed" | "failed" | "canceled" | "input-required",
    native: TaskResult.NativeTrajectory | undefined
  ) => Effect.Effect<void>
  /** The finished record of a task as JSON text, so that what is uploaded is byte for byte what is answered (B-TRAJ-15). */
  readonly task: (taskId: string) => Effect.Effect<string, ExtensionError>
  /** All events of a context, as JSON text (B-TRAJ-14). */
  readonly context: (contextId: string) => Effect.Effect<string, ExtensionError>
  readonly taskPage: (taskId: string, after: number, limit: number) => Effect.Effect<Page, ExtensionError>
  readonly contextPage: (contextId: string, after: number, limit: number) => Effect.Effect<Page, ExtensionError>
}

/**
 * The trajectories of an agent's tasks. `submitted`, `started` and `settled` follow a task's life; `settled` seals its log, the first
 * seal wins (B-TRAJ-16), but for `input-required`: then the log waits for the task's next run, which `submitted` announces. Reads fail
 * with 404 for what is not there (B-TRAJ-6, B-TRAJ-11, B-TRAJ-18), cursor reads with 400 for a cursor past the end.
 *
 * The events of a context are in one order, that of their appending, and no position ever shifts (B-TRAJ-13).
 *
 * @since 0.1.0
 * @category tags
 */
export class Trajectories extends Context.Tag("@effect-agentenv/agent/Trajectories")<Trajectories, Service>() {}

/**
 * How much is kept and answered (B-TRAJ-17, B-TRAJ-10):
 *
 * - `contexts` 1,024 and `bytes` 512 MiB: beyond either, whole contexts are dropped, least recently used first, but never one with an
 *   unfinished task nor the one whose task has just ended;
 * - `pageBytes` 4 MiB: about how much a page holds, which is never less than one event;
 * - `warnBytes` 100 MiB: from where a task's log is worth a warning.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly contexts?: number | undefined
  readonly bytes?: number | undefined
  readonly pageBytes?: number | undefined
  readonly warnBytes?: number | undefined
}

const mebibyte = 1024 ** 2

const refuse = (message: string): Effect.Effect<never, Refused> => Effect.fail(new Refused({ message }))

const missing = (message: string): ExtensionError => new ExtensionError({ status: 404, message })

const noRecord = missing("task_id: there is no finished trajectory of such a task")
const unknownTask = missing("task_id: there is no such task")
const unknownContext = missing("context_id: there is no such context")

const ended = "the task's run has ended: its trajectory takes no more"

const whole = (events: ReadonlyArray<string>): Effect.Effect<string, ExtensionError> => {
  const text = store.joined(events)
  return text === undefined
    ? Effect.fail(new ExtensionError({ status: 413, message: "the trajectory is too large to be read at once" }))
    : Effect.succeed(text)
}

const pageOf = (
  context: store.ContextLog,
  task: store.Task,
  state: State,
  format: string | undefined,
  { events, total }: store.Slice,
  after: number
): Effect.Effect<Page, ExtensionError> => {
  if (after > total) {
    const message = `after: is past the end of the trajectory, which has ${total} events`
    return Effect.fail(new ExtensionError({ status: 400, message }))
  }
  const next = after + events.length
  return Effect.succeed(page.make(
    { context_id: context.id, task_id: task.id, state, format: format ?? null },
    events,
    { next, has_more: next < total }
  ))
}

const notAnObject: Encoded = { ok: false, problem: "it is no JSON object" }

const encoded = (event: unknown): Encoded => isPlainObject(event) ? encodeStrict(event) : notAnObject

/**
 * Trajectories in memory.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Options): Effect.Effect<Service> =>
  Effect.sync(() => {
    const pageBytes = options?.pageBytes ?? 4 * mebibyte
    const warnBytes = options?.warnBytes ?? 100 * mebibyte
    const kept = new store.TrajectoryStore({
      contexts: options?.contexts ?? 1024,
      bytes: options?.bytes ?? 512 * mebibyte
    })

    const warnOnce = (task: store.Task): Effect.Effect<void> => {
      if (task.warned || task.bytes <= warnBytes) return Effect.void
      task.warned = true
      return Effect.annotateLogs(Effect.logWarning(`A running task's trajectory exceeds ${warnBytes} bytes`), {
        task_id: task.id
      })
    }

    const logOf = (task: store.Task): Log => {
      const run = task.run
      return {
        format: (format) =>
          Effect.suspend(() => {
            if (typeof format !== "string" || format.trim() === "") return refuse("the format must not be blank")
            if (task.run !== run) return refuse(ended)
            if (task.events.length > 0 && task.format !== format) {
              return refuse("the format can't change after the first event")
            }
            task.format = format
            task.context.format = format
            return Effect.void
          }),
        append: (...events) =>
          Effect.suspend(() => {
            const texts: Array<string> = []
            for (const event of events) {
              const text = encoded(event)
              if (!text.ok) return refuse(`an event can't be kept: ${text.problem}`)
              texts.push(text.text)
            }
            if (task.run !== run) return refuse(ended)
            if (task.format === undefined) return refuse("name the format before the first event")
            kept.append(task, texts)
            return warnOnce(task)
          })
      }
    }

    const keepNative = (task: store.Task, native: TaskResult.NativeTrajectory): Effect.Effect<void> => {
      const text = encodeLenient(native.payload)
      if (!text.ok) {
        return Effect.logWarning(`A native trajectory can't be kept: ${text.problem}`)
      }
      kept.keepNative(task, text.text)
      return task.events.length === 0
        ? Effect.void
        : Effect.logWarning("A task has appended events and returned a native trajectory, which is its final record")
    }

    const settled: Service["settled"] = (taskId, state, native) =>
      Effect.suspend(() => {
        const task = kept.tasks.get(taskId)
        if (task === undefined || task.ended !== undefined) return Effect.void
        const recorded = native === undefined
          ? Effect.void
          : Effect.annotateLogs(keepNative(task, native), { task_id: taskId })
        if (state === "input-required") kept.pause(task)
        else kept.end(task, state)
        return recorded
      })

    const task = (taskId: string): Effect.Effect<string, ExtensionError> =>
      Effect.suspend(() => {
        const task = kept.tasks.get(taskId)
        if (task?.ended === undefined) return Effect.fail(noRecord)
        kept.touch(task.context)
        if (task.native !== undefined) return Effect.succeed(task.native)
        return task.events.length === 0 ? Effect.fail(noRecord) : whole(task.events)
      })

    const context = (contextId: string): Effect.Effect<string, ExtensionError> =>
      Effect.suspend(() => {
        const context = kept.context(contextId)
        if (context === undefined) return Effect.fail(unknownContext)
        kept.touch(context)
        return whole(context.events)
      })

    const taskPage: Service["taskPage"] = (taskId, after, limit) =>
      Effect.suspend(() => {
        const task = kept.tasks.get(taskId)
        if (task === undefined) return Effect.fail(unknownTask)
        kept.touch(task.context)
        const slice = store.slice(task.events, after, limit, pageBytes)
        return pageOf(task.context, task, store.stateOf(task), task.format, slice, after)
      })

    const contextPage: Service["contextPage"] = (contextId, after, limit) =>
      Effect.suspend(() => {
        const context = kept.context(contextId)
        const task = context === undefined ? undefined : store.currentOf(context)
        if (context === undefined || task === undefined) return Effect.fail(unknownContext)
        kept.touch(context)
        const slice = store.slice(context.events, after, limit, pageBytes)
        return pageOf(context, task, store.contextStateOf(context), context.format, slice, after)
      })

    return {
      submitted: (taskId, contextId) => Effect.sync(() => kept.submit(taskId, contextId)),
      started: (taskId) =>
        Effect.sync(() => {
          const task = kept.tasks.get(taskId)
          if (task === undefined) return lost
          kept.start(task)
          return logOf(task)
        }),
      settled,
      task,
      context,
      taskPage,
      contextPage
    }
  })

/** The log of a task that nobody announced. */
const lost: Log = {
  format: () => refuse("the task is not known"),
  append: () => refuse("the task is not known")
}

/**
 * Trajectories in memory.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Options): Layer.Layer<Trajectories> => Layer.effect(Trajectories, make(options))
