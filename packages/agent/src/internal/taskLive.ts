import * as A2a from "@effect-agentenv/protocol/A2a"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Schedule from "effect/Schedule"
import { type Entry, type TaskStore, TaskStoreError, type VersionConflict } from "../TaskStore.ts"
import { Lock } from "./lock.ts"
import type { Fold } from "./taskFold.ts"
import { type Memory, memoryOf } from "./taskMemory.ts"
import type { Ticket } from "./taskTurns.ts"
import { Waiters } from "./taskWaiters.ts"

/** How many entries a live task keeps at hand for its listeners, who read the journal when they are further behind. */
const tailLength = 128

/** One run of a task, from its place in the queue to its end. */
export class Run {
  readonly ticket: Ticket
  /** Somebody has taken it upon himself to write the end; nothing else is written of this run any more. */
  claimed = false
  exited = false
  readonly onExit = new Waiters()
  private fiber: Fiber.RuntimeFiber<void> | undefined

  constructor(ticket: Ticket) {
    this.ticket = ticket
  }

  begin(fiber: Fiber.RuntimeFiber<void>): void {
    this.fiber = fiber
    // Also told of a fiber that was interrupted before its first step.
    fiber.addObserver(() => this.exit())
    if (this.claimed) this.interrupt()
  }

  interrupt(): void {
    this.fiber?.unsafeInterruptAsFork(FiberId.none)
  }

  exit(): void {
    this.exited = true
    // Whoever still has the run needs nothing of its fiber any more, which is the larger part of it.
    this.fiber = undefined
    this.onExit.wake()
  }
}

/** A task while it runs: its fold, the end of its journal, and who waits for it. It never changes again once it is `over`. */
export class Live {
  readonly fold: Fold
  readonly run: Run | undefined
  /** One writer at a time. */
  readonly lock = new Lock()
  tail: Array<Entry> = []
  /** The version before the tail. */
  base: number
  canceling = false
  over: boolean
  /** Why it is over though nothing was written. */
  failure: TaskStoreError | undefined
  readonly onChange = new Waiters()
  readonly onEnd = new Waiters()

  private readonly onOver: (() => void) | undefined

  /** Without `onOver` it is a task that nobody runs here: over from the beginning. */
  constructor(fold: Fold, run?: Run | undefined, onOver?: (() => void) | undefined) {
    this.fold = fold
    this.run = run
    this.base = fold.version
    this.onOver = onOver
    this.over = onOver === undefined
  }

  /** What was appended is told to everybody who listens. */
  publish(entries: ReadonlyArray<Entry>): void {
    for (const entry of entries) {
      this.fold.apply(entry)
      this.tail.push(entry)
    }
    if (this.tail.length > 2 * tailLength) {
      this.base += this.tail.length - tailLength
      this.tail = this.tail.slice(-tailLength)
    }
    if (A2a.isSettled(this.fold.state)) this.end()
    else this.onChange.wake()
  }

  end(): void {
    this.over = true
    this.onOver?.()
    this.onChange.wake()
    this.onEnd.wake()
  }

  get ended(): Effect.Effect<void> {
    return this.onEnd.until(() => this.over)
  }
}

/** Appends an entry, then publishes it. */
export class Writer {
  private readonly store: TaskStore["Type"]
  private readonly memory: Memory | undefined
  private readonly retry: Schedule.Schedule<unknown>
  private readonly clock: Clock.Clock

  constructor(store: TaskStore["Type"], retry: Schedule.Schedule<unknown>, clock: Clock.Clock) {
    this.store = store
    this.memory = memoryOf(store)
    this.retry = retry
    this.clock = clock
  }

  /** The first entry of a run. Whoever comes in between wins. */
  first(live: Live, entry: Entry): Effect.Effect<void, VersionConflict | TaskStoreError> {
    const { fold } = live
    const from = fold.version
    return Effect.suspend(() => {
      if (this.isFree(live) && this.append(live, entry)) return Effect.void
      const append = Effect.suspend(() => this.store.append(fold.taskId, from, [entry]))
      return live.lock.hold(Effect.map(append, () => live.publish([entry])))
    })
  }

  /**
   * What a run says, unless its end is claimed; without a run, the end itself. `false` when it came too late. A store that doesn't take it
   * is tried again, a journal that has moved on is caught up with.
   */
  write(live: Live, run: Run | undefined, make: () => Entry): Effect.Effect<boolean, TaskStoreError> {
    return Effect.suspend(() => {
      if (!this.isFree(live)) return this.await(live, run, make)
      if (live.over || run?.claimed === true) return Effect.succeed(false)
      const made = make()
      return this.append(live, made) ? Effect.succeed(true) : this.await(live, run, () => made)
    })
  }

  /** Whether an entry can be appended within this very step. */
  private isFree(live: Live): boolean {
    return this.memory !== undefined && !live.lock.isHeld
  }

  /** `false` when the journal has moved on. */
  private append(live: Live, entry: Entry): boolean {
    const { taskId, version } = live.fold
    if (this.memory?.append(this.clock.unsafeCurrentTimeMillis(), taskId, version, [entry]) !== true) return false
    live.publish([entry])
    return true
  }

  private await(live: Live, run: Run | undefined, make: () => Entry): Effect.Effect<boolean, TaskStoreError> {
    const append = (entry: () => Entry): Effect.Effect<boolean, TaskStoreError> => {
      if (live.over || run?.claimed === true) return Effect.succeed(false)
      const made = entry()
      return Effect.matchEffect(this.store.append(live.fold.taskId, live.fold.version, [made]), {
        onSuccess: () => {
          live.publish([made])
          return Effect.succeed(true)
        },
        onFailure: (error) =>
          error._tag === "VersionConflict"
            ? Effect.flatMap(this.catchUp(live, error), () => append(() => made))
            : Effect.fail(error)
      })
    }
    const attempt = Effect.suspend(() => append(make))
    const again = Effect.catchAll(attempt, () => Effect.retry(attempt, this.retry))
    return live.lock.hold(again)
  }

  private catchUp(live: Live, conflict: VersionConflict): Effect.Effect<void, TaskStoreError> {
    const { taskId, version } = live.fold
    return Effect.flatMap(this.store.read(taskId, version), (entries) => {
      if (entries === undefined || entries.length === 0) {
        return Effect.fail(new TaskStoreError({ operation: "append", cause: conflict }))
      }
      live.publish(entries)
      if (live.over) live.run?.interrupt()
      return Effect.void
    })
  }
}
