import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type InLine, Line } from "./taskLine.ts"
import { Waiters } from "./taskWaiters.ts"

const maxRemembered = 10_000

interface Seen extends InLine {
  readonly key: string
  taskId: string | undefined
  /** Whether it is known what became of the message. */
  known: boolean
  readonly onKnown: Waiters
}

/** Which messages have come, and the task of each: so that one that comes again is answered with it. The oldest are forgotten. */
export class Messages {
  private readonly seen = new Map<string, Seen>()
  private readonly line = new Line<Seen>()

  /** `first` unless the message has come before, then `again` of its task, or `first` after all when that is gone. */
  once<A, E, E2>(
    key: string,
    first: Effect.Effect<A, E>,
    taskIdOf: (value: A) => string,
    again: (taskId: string) => Effect.Effect<A | undefined, E2>
  ): Effect.Effect<A, E | E2> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.suspend((): Effect.Effect<A, E | E2> => {
        const before = this.seen.get(key)
        if (before === undefined) return this.remember(key, restore(first), taskIdOf)
        const retry = Effect.suspend(() => {
          this.forget(before)
          return this.once(key, first, taskIdOf, again)
        })
        return restore(Effect.flatMap(before.onKnown.until(() => before.known), () =>
          before.taskId === undefined
            ? retry
            : Effect.flatMap(again(before.taskId), (value) => value === undefined ? retry : Effect.succeed(value))))
      })
    )
  }

  private remember<A, E>(key: string, first: Effect.Effect<A, E>, taskIdOf: (value: A) => string): Effect.Effect<A, E> {
    const seen: Seen = { key, taskId: undefined, known: false, onKnown: new Waiters(), gone: false }
    this.seen.set(key, seen)
    this.line.push(seen)
    const oldest = this.line.first()
    if (this.line.size > maxRemembered && oldest !== undefined) this.forget(oldest)
    return Effect.onExit(first, (exit) =>
      Effect.sync(() => {
        seen.known = true
        if (Exit.isSuccess(exit)) seen.taskId = taskIdOf(exit.value)
        else this.forget(seen)
        seen.onKnown.wake()
      }))
  }

  private forget(seen: Seen): void {
    if (this.line.remove(seen)) this.seen.delete(seen.key)
  }
}
