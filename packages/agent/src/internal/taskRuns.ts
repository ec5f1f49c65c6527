import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type { Emit, Outcome, Runner, Start } from "../TaskEngine.ts"
import { type Entry, TaskStoreError } from "../TaskStore.ts"
import type { Fold } from "./taskFold.ts"
import type { Live, Run, Writer } from "./taskLive.ts"
import type { Turns } from "./taskTurns.ts"

/** What the ends and the utterances of a run are made of. */
export interface RunsOptions<A, E> {
  readonly runner: Runner<A, E>
  readonly writer: Writer
  readonly turns: Turns
  readonly clock: Clock.Clock
  readonly uuid: () => string
  readonly cancelGrace: Duration.DurationInput
}

/** A failure that the framework answers for (B-TASK-8). */
export const infraError = (code: string, message: string): A2a.Part => ({
  kind: "data",
  data: { error_type: "infra_error", error_code: code, error_message: message }
})

const interrupted = Exit.interrupt(FiberId.none)

/** The life of a run: waits for its turn, works, and is brought to an end by itself or by a cancel. */
export class Runs<A, E> {
  private readonly options: RunsOptions<A, E>

  constructor(options: RunsOptions<A, E>) {
    this.options = options
  }

  status(fold: Fold, state: A2a.TaskState, said?: Omit<Outcome, "state">): Entry {
    const { clock, uuid } = this.options
    const messageMetadata = said?.messageMetadata
    return {
      _tag: "Status",
      state,
      at: clock.unsafeCurrentTimeMillis(),
      ...(said === undefined || said.parts.length === 0 && messageMetadata === undefined ? undefined : {
        message: {
          messageId: uuid(),
          role: "agent",
          parts: said.parts,
          contextId: fold.contextId,
          taskId: fold.taskId,
          ...(messageMetadata === undefined ? undefined : { metadata: messageMetadata })
        }
      }),
      ...(said?.metadata === undefined ? undefined : { metadata: said.metadata })
    }
  }

  /** Tells the runner of a run that is in the store. */
  announce(start: Start): Effect.Effect<Exit.Exit<void>> {
    const { submitted } = this.options.runner
    return submitted === undefined ? Effect.succeed(Exit.void) : Effect.exit(Effect.suspend(() => submitted(start)))
  }

  /** The whole of a run, of which only the work can be interrupted: for a fiber that can't be. `announced` is what came of telling of it. */
  body(live: Live, run: Run, start: Start, announced: Exit.Exit<void>): Effect.Effect<void> {
    const { runner, turns, writer } = this.options
    const work: Effect.Effect<A, E> = Effect.matchEffect(
      writer.write(live, run, () => this.status(live.fold, "working")),
      {
        onFailure: Effect.die,
        onSuccess: (begun) => begun ? runner.run(start, this.emit(live, run)) : Effect.interrupt
      }
    )
    const end = (exit: Exit.Exit<A, E>): Effect.Effect<void> => {
      // Whoever claimed the end writes it, and gives the turn back.
      if (run.claimed) return Effect.void
      run.claimed = true
      return Effect.map(this.finish(live, start, exit), () => turns.leave(run.ticket))
    }
    const turn = Effect.suspend(() => turns.has(run.ticket) ? work : Effect.zipRight(turns.wait(run.ticket), work))
    return Effect.matchCauseEffect(
      Effect.interruptible(Exit.isFailure(announced) ? Effect.failCause(announced.cause) : turn),
      {
        onFailure: (cause) => end(Exit.failCause(cause)),
        onSuccess: (value) => end(Exit.succeed(value))
      }
    )
  }

  /** The end of a task whose end has been claimed for a cancel. */
  cancel(live: Live): Effect.Effect<void> {
    const { run } = live
    if (run === undefined) return Effect.asVoid(Effect.uninterruptible(this.abandon(live)))
    const finish = Effect.suspend(() =>
      // Somebody else may have ended it, or its first entry was never taken.
      live.over ? Effect.void : this.finish(live, live.fold.start(), interrupted, "canceled")
    )
    return Effect.zipRight(
      this.stop(live, run),
      Effect.uninterruptible(Effect.map(finish, () => this.options.turns.leave(run.ticket)))
    )
  }

  private emit(live: Live, run: Run): Emit {
    const write = (make: () => Entry): Effect.Effect<void> =>
      Effect.matchEffect(this.options.writer.write(live, run, make), {
        onFailure: Effect.die,
        onSuccess: () => Effect.void
      })
    return {
      status: (parts, options) =>
        Effect.suspend(() => {
          const said = {
            parts: parts.slice(),
            metadata: copied(options?.metadata),
            messageMetadata: copied(options?.messageMetadata)
          }
          return write(() => this.status(live.fold, "working", said))
        }),
      artifact: (artifact, options) =>
        Effect.suspend(() => {
          const metadata = copied(options?.metadata)
          const own = copied(artifact.metadata)
          const made = {
            ...artifact,
            parts: artifact.parts.slice(),
            ...(own === undefined ? undefined : { metadata: own })
          }
          return write(() => ({
            _tag: "Artifact",
            artifact: made,
            // A piece of what isn't there is its beginning: peers drop it otherwise.
            append: options?.append === true && live.fold.has(artifact.artifactId),
            lastChunk: options?.lastChunk ?? options?.append === undefined,
            ...(metadata === undefined ? undefined : { metadata })
          }))
        })
    }
  }

  /** Interrupts a run and waits for it, but not for long. */
  private stop(live: Live, run: Run): Effect.Effect<void> {
    run.interrupt()
    return Effect.flatMap(
      Effect.timeoutOption(run.onExit.until(() => run.exited), this.options.cancelGrace),
      Option.match({
        onSome: () => Effect.void,
        onNone: () =>
          Effect.annotateLogs(
            Effect.logWarning("A canceled run went on after its time to stop; its task is canceled all the same"),
            "task_id",
            live.fold.taskId
          )
      })
    )
  }

  private settled(start: Start, exit: Exit.Exit<A, E>): Effect.Effect<Outcome> {
    return Effect.catchAllCause(
      Effect.suspend(() => this.options.runner.settle(start, exit)),
      (cause) =>
        Effect.map(Correlation.reportEffect(cause), (sentence): Outcome => ({
          state: "failed",
          parts: [infraError("framework.unhandled_exception", sentence)]
        }))
    )
  }

  /** Settles and writes the end. When the store doesn't take it, it is told to those who wait for it at least. */
  private finish(live: Live, start: Start, exit: Exit.Exit<A, E>, state?: "canceled"): Effect.Effect<void> {
    return Effect.flatMap(this.settled(start, exit), (outcome) => {
      const said = state === undefined || outcome.state === state ? outcome : undefined
      const make = () => this.status(live.fold, state ?? outcome.state, said)
      return Effect.catchAllCause(
        this.options.writer.write(live, undefined, make),
        (cause) =>
          Effect.zipRight(
            Effect.annotateLogs(
              Effect.logError("The end of a task could not be stored", cause),
              "task_id",
              live.fold.taskId
            ),
            Effect.sync(() => live.publish([make()]))
          )
      )
    })
  }

  /** Cancels a task that doesn't run. When the store doesn't take it, nothing has happened. */
  private abandon(live: Live): Effect.Effect<unknown> {
    return Effect.flatMap(this.settled(live.fold.start(), interrupted), (outcome) => {
      const said = outcome.state === "canceled" ? outcome : undefined
      const canceled = () => this.status(live.fold, "canceled", said)
      return Effect.catchAllCause(this.options.writer.write(live, undefined, canceled), (cause) =>
        Effect.sync(() => {
          const error = Cause.squash(cause)
          live.failure = error instanceof TaskStoreError
            ? error
            : new TaskStoreError({ operation: "append", cause: error })
          live.end()
        }))
    })
  }
}

const copied = (metadata: A2a.JsonObject | undefined): A2a.JsonObject | undefined =>
  metadata === undefined ? undefined : { ...metadata }
