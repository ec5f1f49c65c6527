import * as Effect from "effect/Effect"
import { type InLine, Line } from "./taskLine.ts"

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Place extends InLine {
  readonly call: () => void
  called: boolean
}

/**
 * Lets those go first who wait for something else that the last holder has given back: a semaphore calls its waiters one turn of the
 * scheduler later, and they take what is theirs another one later.
 */
const aside = Effect.zipRight(Effect.yieldNow(), Effect.yieldNow())

/**
 * One holder at a time, in the order in which they came. Whoever finds it free has it at once, which a semaphore of one permit would
 * make him wait for.
 */
export class Lock {
  private held = false
  private waiting: Line<Place> | undefined

  get isHeld(): boolean {
    return this.held
  }

  /** Runs an effect that is not to be interrupted when its turn has come; whoever waits for his turn can be. */
  hold<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.uninterruptibleMask((restore) => this.take(restore, effect))
  }

  /** Runs an effect when its turn has come. */
  within<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.uninterruptibleMask((restore) => this.take(restore, restore(effect)))
  }

  private take<A, E, R>(restore: Restore, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const holding = Effect.matchCauseEffect(effect, {
      onFailure: (cause) => {
        this.release()
        return Effect.failCause(cause)
      },
      onSuccess: (value) => {
        this.release()
        return Effect.succeed(value)
      }
    })
    if (this.held) return this.turn(restore, Effect.zipRight(aside, holding))
    this.held = true
    return holding
  }

  private turn<A, E, R>(restore: Restore, then: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const waiting = this.waiting ??= new Line()
    let place: Place | undefined = undefined
    const called = Effect.async<void>((resume) => {
      place = { call: () => resume(Effect.void), called: false, gone: false }
      waiting.push(place)
    })
    return Effect.matchCauseEffect(restore(called), {
      // out here, where no interruption can come between a call and what becomes of it
      onFailure: (cause) => {
        // called and interrupted at once: the turn is the next one's
        if (place?.called === true) this.release()
        else if (place !== undefined) waiting.remove(place)
        return Effect.failCause(cause)
      },
      onSuccess: () => then
    })
  }

  private release(): void {
    const next = this.waiting?.first()
    if (next === undefined) {
      this.held = false
      return
    }
    this.waiting?.remove(next)
    next.called = true
    next.call()
  }
}
