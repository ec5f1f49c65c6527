import * as Effect from "effect/Effect"

/**
 * Those who wait for something to become true. Whoever makes it so wakes them all, and the condition is looked at once more as a waiter
 * is entered, so that no wake-up is lost between looking and waiting.
 */
export class Waiters {
  private waiting: Set<() => void> | undefined

  until(ready: () => boolean): Effect.Effect<void> {
    return Effect.suspend(() =>
      ready() ? Effect.void : Effect.async<void>((resume) => {
        if (ready()) return resume(Effect.void)
        const wake = () => resume(Effect.void)
        const waiting = (this.waiting ??= new Set())
        waiting.add(wake)
        return Effect.sync(() => {
          waiting.delete(wake)
        })
      })
    )
  }

  wake(): void {
    const { waiting } = this
    if (waiting === undefined) return
    this.waiting = undefined
    for (const wake of waiting) wake()
  }
}
