import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/**
 * One call or data operation on its way through the gate. It is made by `call` or `data`, waits if it must, and has to `leave`
 * whatever happens to it.
 */
export interface Ticket {
  readonly name: string
  /** Whether `data/reset` interrupted it: its answer is then `episode_reset`. */
  readonly fenced: boolean
  /** Whether it has entered already: the effect needs no wait. */
  readonly entered: boolean
  /** The effect, behind the wait for its turn where there is one. */
  readonly guard: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Makes a running call known, so that `data/reset` can interrupt it. */
  readonly started: (fiber: Fiber.RuntimeFiber<any, any>) => void
  readonly leave: () => void
}

const State = { waiting: 0, in: 1, out: 2 } as const

class TicketImpl implements Ticket {
  fenced = false
  state: number = State.waiting
  fiber: Fiber.RuntimeFiber<any, any> | undefined = undefined
  resume: (() => void) | undefined = undefined
  readonly name: string
  readonly exclusive: boolean
  private readonly gate: Gate

  constructor(gate: Gate, name: string, exclusive: boolean) {
    this.gate = gate
    this.name = name
    this.exclusive = exclusive
  }

  get entered(): boolean {
    return this.state === State.in
  }

  guard<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return this.entered ? effect : Effect.zipRight(this.wait, effect)
  }

  private readonly wait: Effect.Effect<void> = Effect.suspend(() =>
    this.entered ? Effect.void : Effect.async<void>((resume) => {
      this.resume = () => resume(Effect.void)
    })
  )

  started(fiber: Fiber.RuntimeFiber<any, any>): void {
    this.fiber = fiber
  }

  leave(): void {
    this.gate.leave(this)
  }
}

/**
 * Keeps an episode whole: calls run side by side, data operations alone and in order of arrival, and what arrives behind a waiting
 * data operation waits with it. First come, first served; whoever leaves while waiting passes its place on.
 */
export class Gate {
  private readonly running = new Set<TicketImpl>()
  private readonly waiting = new Set<TicketImpl>()
  private holder: TicketImpl | undefined = undefined
  private whenIdle: (() => void) | undefined = undefined

  /** A call asks to enter; it is in at once unless a data operation holds or waits. */
  call(name: string): Ticket {
    const ticket = new TicketImpl(this, name, false)
    if (this.holder === undefined && this.waiting.size === 0) this.admit(ticket)
    else this.waiting.add(ticket)
    return ticket
  }

  /** A data operation asks for its turn; it is in at once when nothing runs and nobody waits. Calls may still run when it is in. */
  data(name: string): Ticket {
    const ticket = new TicketImpl(this, name, true)
    if (this.holder === undefined && this.waiting.size === 0) this.admit(ticket)
    else this.waiting.add(ticket)
    return ticket
  }

  /** Whether calls run at this moment. */
  get busy(): boolean {
    return this.running.size > 0
  }

  /** Interrupts every call that runs; their answers say so. */
  fence(): void {
    for (const ticket of this.running) {
      ticket.fenced = true
      ticket.fiber?.unsafeInterruptAsFork(ticket.fiber.id())
    }
  }

  /** Waits until no call runs, at most `limit` long; answers the name of a call that still runs then. */
  drain(limit: Duration.DurationInput): Effect.Effect<string | undefined> {
    return Effect.suspend(() => {
      if (!this.busy) return Effect.succeed(undefined)
      const idle = Effect.async<void>((resume) => {
        // it may have become idle before the race's fiber came to run
        if (!this.busy) return resume(Effect.void)
        this.whenIdle = () => resume(Effect.void)
        return Effect.sync(() => {
          this.whenIdle = undefined
        })
      })
      return Effect.map(
        Effect.timeoutOption(idle, limit),
        () => this.running.values().next().value?.name
      )
    })
  }

  /** @internal */
  leave(ticket: TicketImpl): void {
    const state = ticket.state
    if (state === State.out) return
    ticket.state = State.out
    if (state === State.waiting) {
      this.waiting.delete(ticket)
      return this.advance()
    }
    if (ticket === this.holder) {
      this.holder = undefined
    } else {
      this.running.delete(ticket)
      if (this.running.size === 0) this.whenIdle?.()
    }
    this.advance()
  }

  private admit(ticket: TicketImpl): void {
    ticket.state = State.in
    if (ticket.exclusive) this.holder = ticket
    else this.running.add(ticket)
    ticket.resume?.()
  }

  private advance(): void {
    for (const ticket of this.waiting) {
      if (this.holder !== undefined) return
      this.waiting.delete(ticket)
      this.admit(ticket)
    }
  }
}
