import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

interface Waiter {
  readonly fiber: Fiber.RuntimeFiber<void>
  readonly wake: () => void
}

/** How many wait before it is looked for those that were interrupted. */
const few = 16

/**
 * Those who wait for something to become true. Whoever makes it so wakes them all, and the condition is looked at once more as a waiter
 * is entered, so that no wake-up is lost between looking and waiting.
 *
 * Who is interrupted is not taken out, as that would cost everybody else more than the waiting; he is left out when there are twice as
 * many as were there the last time it was looked.
 */
export class Waiters {
  private waiting: Array<Waiter> | undefined
  private room = few

  until(ready: () => boolean): Effect.Effect<void> {
    return Effect.withFiberRuntime<void>((fiber) =>
      ready() ? Effect.void : Effect.async<void>((resume) => {
        if (ready()) resume(Effect.void)
        else this.enter({ fiber, wake: () => resume(Effect.void) })
      })
    )
  }

  wake(): void {
    const { waiting } = this
    if (waiting === undefined) return
    this.waiting = undefined
    this.room = few
    for (const { wake } of waiting) wake()
  }

  /** Those who are entered, some of whom may have been interrupted. */
  get size(): number {
    return this.waiting?.length ?? 0
  }

  private enter(waiter: Waiter): void {
    let waiting = this.waiting ?? []
    if (waiting.length >= this.room) {
      waiting = waiting.filter(({ fiber }) => fiber.unsafePoll() === null)
      this.room = Math.max(few, 2 * waiting.length)
    }
    waiting.push(waiter)
    this.waiting = waiting
  }
}
