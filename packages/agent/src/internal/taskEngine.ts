import * as A2a from "@effect-agentenv/protocol/A2a"
import { Ids } from "@effect-agentenv/server/Ids"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { Options, Runner, SendError, SendOptions, Subscription, TaskEngine } from "../TaskEngine.ts"
import { ContextMismatch, TaskBusy, TaskIsTerminal, TaskNotCancelable, TaskNotFound } from "../TaskError.ts"
import { type Entry, TaskStore, TaskStoreError, VersionConflict } from "../TaskStore.ts"
import { Fold, foldOf } from "./taskFold.ts"
import { follow, type FollowOptions } from "./taskFollow.ts"
import { Live, Run, Writer } from "./taskLive.ts"
import { Messages } from "./taskMessages.ts"
import { failRestarted } from "./taskRestart.ts"
import { infraError, Runs } from "./taskRuns.ts"
import { Turns } from "./taskTurns.ts"

const defaultRetry: Schedule.Schedule<unknown> = Schedule.exponential("50 millis").pipe(
  Schedule.union(Schedule.spaced("5 seconds")),
  Schedule.intersect(Schedule.recurs(8))
)

const present = (id: string | undefined): string | undefined => id === "" ? undefined : id

// In the order in which the reference refuses them.
const refusal = (fold: Fold, contextId: string | undefined) => {
  const { state, taskId } = fold
  return A2a.isTerminal(state)
    ? new TaskIsTerminal({ taskId, state })
    : contextId !== undefined && contextId !== fold.contextId
    ? new ContextMismatch({ taskId, contextId })
    : A2a.isSettled(state)
    ? undefined
    : new TaskBusy({ reason: "running" })
}

type Launched<A> = readonly [live: Live, taken: A]

export const make = <A, E>(
  runner: Runner<A, E>,
  options: Options
): Effect.Effect<TaskEngine["Type"], TaskStoreError, TaskStore | Scope.Scope> =>
  Effect.gen(function*() {
    const store = yield* TaskStore
    const { uuid } = yield* Ids
    const clock = yield* Effect.clock
    // Tasks are the engine's: a fork of the request's fiber would keep the request for as long as its task runs.
    // Nothing of it can be interrupted but what says so.
    const runFork = Runtime.runFork(
      Runtime.disableRuntimeFlag(yield* Effect.runtime<never>(), RuntimeFlags.Interruption)
    )
    const fork = (effect: Effect.Effect<void>) => runFork(effect, { immediate: false })
    const retry = options.storeRetry ?? defaultRetry
    const cancelGrace = options.cancelGrace ?? "2 seconds"
    const turns = new Turns(options.maxQueuedPerContext ?? 1024, options.maxContexts ?? Infinity)
    const writer = new Writer(store, retry, clock)
    const runs = new Runs({ runner, writer, turns, clock, uuid, cancelGrace })
    const messages = options.idempotent === true ? new Messages() : undefined
    const running = new Map<string, Live>()
    let closing = false

    const enter = (fold: Fold, run?: Run): Live => {
      const live: Live = new Live(fold, run, () => {
        if (running.get(fold.taskId) === live) running.delete(fold.taskId)
      })
      running.set(fold.taskId, live)
      return live
    }

    /** A task that runs here. What has no version yet is nobody's to know. */
    const runningOf = (taskId: string): Live | undefined => {
      const live = running.get(taskId)
      return live !== undefined && live.fold.version > 0 ? live : undefined
    }

    const load = (taskId: string): Effect.Effect<Fold, TaskNotFound | TaskStoreError> =>
      Effect.flatMap(store.read(taskId, 0), (journal) =>
        journal === undefined || journal.length === 0
          ? Effect.fail(new TaskNotFound({ taskId }))
          : Effect.succeed(foldOf(taskId, journal)))

    /** The task to look at, as it runs or as it was left. */
    const attach = (taskId: string): Effect.Effect<Live, TaskNotFound | TaskStoreError> =>
      Effect.suspend(() => {
        const live = runningOf(taskId)
        return live === undefined ? Effect.map(load(taskId), (fold) => new Live(fold)) : Effect.succeed(live)
      })

    const listen = (live: Live, options: FollowOptions): Subscription => follow(live, store, retry, options)

    const claim = (live: Live): void => {
      live.canceling = true
      if (live.run !== undefined) live.run.claimed = true
      // After the run's first entry, should that be on its way.
      fork(Effect.interruptible(Effect.zipRight(live.lock.hold(Effect.void), runs.cancel(live))))
    }

    /** Writes the first entry of a run and sets it going. What is taken of the task is taken before it runs. */
    const launch = <B>(
      fold: Fold,
      contextId: string,
      entry: Entry,
      take: (live: Live) => B
    ): Effect.Effect<Launched<B>, TaskBusy | VersionConflict | TaskStoreError> =>
      Effect.uninterruptible(Effect.suspend((): ReturnType<typeof launch<B>> => {
        const { taskId, version } = fold
        if (closing) return Effect.fail(new TaskBusy({ reason: "closing" }))
        if (running.has(taskId)) return Effect.fail(new VersionConflict({ taskId, actual: version }))
        const ticket = turns.enter(contextId)
        if (ticket === undefined) return Effect.fail(new TaskBusy({ reason: "queue" }))
        const run = new Run(ticket)
        const live = enter(fold, run)
        return Effect.matchCauseEffect(writer.first(live, entry), {
          onFailure: (cause) => {
            turns.leave(ticket)
            run.exit()
            live.end()
            return Effect.failCause(cause)
          },
          onSuccess: () => {
            const start = fold.start()
            return Effect.map(runs.announce(start), (announced): Launched<B> => {
              const taken = take(live)
              // Later, so that whoever sent the message is answered first.
              run.begin(fork(runs.body(live, run, start, announced)))
              return [live, taken]
            })
          }
        })
      }))

    const once = <B, E1>(
      message: A2a.Message,
      contextId: string | undefined,
      take: (live: Live) => B,
      first: Effect.Effect<Launched<B>, E1>
    ): Effect.Effect<Launched<B>, E1 | TaskStoreError> => {
      // A message of no context is the first of a new one.
      if (messages === undefined || contextId === undefined) return first
      return messages.once(
        JSON.stringify([contextId, present(message.taskId) ?? "", message.messageId]),
        first,
        ([live]) => live.fold.taskId,
        (taskId) =>
          attach(taskId).pipe(
            Effect.map((live): Launched<B> => [live, take(live)]),
            Effect.catchTag("TaskNotFound", () => Effect.succeed(undefined))
          )
      )
    }

    const create = <B>(
      message: A2a.Message,
      metadata: A2a.JsonObject | undefined,
      take: (live: Live) => B
    ): Effect.Effect<Launched<B>, TaskBusy | TaskStoreError> =>
      Effect.suspend(() => {
        const taskId = uuid()
        const contextId = present(message.contextId) ?? uuid()
        const entry: Entry = {
          _tag: "Created",
          contextId,
          message: { ...message, taskId, contextId },
          at: clock.unsafeCurrentTimeMillis(),
          ...(metadata === undefined ? undefined : { metadata })
        }
        return Effect.catchTag(
          launch(new Fold(taskId), contextId, entry, take),
          "VersionConflict",
          (cause) => Effect.fail(new TaskStoreError({ operation: "append", cause }))
        )
      })

    const proceed = <B>(
      message: A2a.Message,
      taskId: string,
      metadata: A2a.JsonObject | undefined,
      take: (live: Live) => B
    ): Effect.Effect<Launched<B>, SendError> =>
      Effect.suspend(() => {
        const again = Effect.suspend(() => proceed(message, taskId, metadata, take))
        const given = present(message.contextId)
        const live = runningOf(taskId)
        if (live?.canceling === true) return Effect.zipRight(live.ended, again)
        if (live !== undefined) return Effect.fail(refusal(live.fold, given) ?? new TaskBusy({ reason: "running" }))
        return Effect.flatMap(load(taskId), (fold) => {
          const refused = refusal(fold, given)
          if (refused !== undefined) return Effect.fail(refused)
          const { contextId } = fold
          const entry: Entry = {
            _tag: "Continued",
            message: { ...message, taskId, contextId },
            at: clock.unsafeCurrentTimeMillis(),
            ...(metadata === undefined ? undefined : { metadata })
          }
          return Effect.catchTag(launch(fold, contextId, entry, take), "VersionConflict", () => again)
        })
      })

    const accept = <B>(
      message: A2a.Message,
      { metadata }: SendOptions,
      take: (live: Live) => B
    ): Effect.Effect<Launched<B>, SendError> => {
      const taskId = present(message.taskId)
      if (taskId === undefined) {
        return once(message, present(message.contextId), take, create(message, metadata, take))
      }
      const first = proceed(message, taskId, metadata, take)
      return messages === undefined ? first : Effect.flatMap(
        attach(taskId),
        // With another context than the task's it is refused every time.
        ({ fold }) =>
          once(message, present(message.contextId) === undefined ? fold.contextId : message.contextId, take, first)
      )
    }

    const cancelRunning = (live: Live): ReturnType<typeof cancel> => {
      const { taskId } = live.fold
      // A run that is at its end has the better claim.
      if (!live.canceling && live.run?.claimed !== true) claim(live)
      const mine = live.canceling
      return Effect.flatMap(live.ended, () => {
        const { state } = live.fold
        if (live.failure !== undefined) return Effect.fail(live.failure)
        if (mine && state === "canceled") return Effect.succeed(live.fold.task(undefined))
        return A2a.isTerminal(state) ? Effect.fail(new TaskNotCancelable({ taskId, state })) : cancel(taskId)
      })
    }

    const cancel = (taskId: string): Effect.Effect<A2a.Task, TaskNotFound | TaskNotCancelable | TaskStoreError> =>
      Effect.suspend(() => {
        const live = runningOf(taskId)
        if (live !== undefined) return cancelRunning(live)
        return Effect.flatMap(load(taskId), (fold) => {
          const { state } = fold
          if (A2a.isTerminal(state)) return Effect.fail(new TaskNotCancelable({ taskId, state }))
          return cancelRunning(running.get(taskId) ?? enter(fold))
        })
      })

    const list: TaskEngine["Type"]["list"] = ({ before, contextId, historyLength, limit, state }) => {
      const page = (
        before: string | undefined,
        found: Array<A2a.Task>
      ): Effect.Effect<Array<A2a.Task>, TaskStoreError> =>
        Effect.flatMap(store.list({ contextId, limit, before }), (taskIds) =>
          Effect.flatMap(
            Effect.forEach(
              taskIds,
              (taskId) => Effect.catchTag(attach(taskId), "TaskNotFound", () => Effect.succeed(undefined))
            ),
            (tasks) => {
              for (const live of tasks) {
                if (live === undefined || (state !== undefined && live.fold.state !== state)) continue
                if (found.push(live.fold.task(historyLength)) >= limit) return Effect.succeed(found)
              }
              return taskIds.length < limit ? Effect.succeed(found) : page(taskIds.at(-1), found)
            }
          ))
      return limit < 1 ? Effect.succeed([]) : Effect.suspend(() => page(before, []))
    }

    const drained: Effect.Effect<void> = Effect.suspend(() => {
      const lives = Array.from(running.values())
      if (lives.length === 0) return Effect.void
      for (const live of lives) if (!live.canceling && live.run?.claimed !== true) claim(live)
      return Effect.zipRight(
        Effect.forEach(lives, (live) => live.ended, { concurrency: "unbounded", discard: true }),
        drained
      )
    })
    const drain = Effect.suspend(() => {
      closing = true
      return drained
    })

    yield* failRestarted(store, (fold) =>
      runs.status(fold, "failed", {
        parts: [infraError("framework.restarted", "The server stopped while the task ran.")]
      }))
    yield* Effect.addFinalizer(() => drain)

    return {
      send: (message, options = {}) =>
        options.blocking === false
          ? Effect.map(accept(message, options, (live) => live.fold.task(options.historyLength)), ([, task]) => task)
          : Effect.flatMap(
            accept(message, options, () => undefined),
            ([live]) => Effect.map(live.ended, () => live.fold.task(options.historyLength))
          ),
      stream: (message, options = {}) =>
        Effect.map(
          accept(message, options, (live) => listen(live, { historyLength: options.historyLength })),
          ([, subscription]) => subscription
        ),
      get: (taskId, options) => Effect.map(attach(taskId), ({ fold }) => fold.task(options?.historyLength)),
      list,
      cancel,
      resubscribe: (taskId, options = {}) =>
        Effect.flatMap(attach(taskId), (live) => {
          const { state, version } = live.fold
          const missed = options.from !== undefined && options.from < version
          return A2a.isTerminal(state) && !missed
            ? Effect.fail(new TaskIsTerminal({ taskId, state }))
            : Effect.succeed(listen(live, options))
        }),
      drain
    }
  })
