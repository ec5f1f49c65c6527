import type * as Effect from "effect/Effect"
import { type InLine, Line } from "./taskLine.ts"
import { Waiters } from "./taskWaiters.ts"

/** A place in a context's queue. Whoever is first has the turn. */
export interface Ticket extends InLine {
  readonly contextId: string
  readonly called: Waiters
}

/**
 * One turn a context, given in the order in which it was asked for. A context is forgotten when nobody has or awaits its turn.
 */
export class Turns {
  private readonly maxQueued: number
  private readonly maxContexts: number
  private readonly queues = new Map<string, Line<Ticket>>()

  constructor(maxQueued: number, maxContexts: number) {
    this.maxQueued = maxQueued
    this.maxContexts = maxContexts
  }

  /** `undefined` when there is no room. */
  enter(contextId: string): Ticket | undefined {
    const queue = this.queues.get(contextId)
    if (queue === undefined ? this.queues.size >= this.maxContexts : queue.size > this.maxQueued) return undefined
    const ticket: Ticket = { contextId, called: new Waiters(), gone: false }
    const line = queue ?? new Line<Ticket>()
    line.push(ticket)
    if (queue === undefined) this.queues.set(contextId, line)
    return ticket
  }

  has(ticket: Ticket): boolean {
    return this.queues.get(ticket.contextId)?.first() === ticket
  }

  wait(ticket: Ticket): Effect.Effect<void> {
    return ticket.called.until(() => this.has(ticket))
  }

  /** Gives the turn, or the place in the queue, back. */
  leave(ticket: Ticket): void {
    const queue = this.queues.get(ticket.contextId)
    if (queue === undefined || !queue.remove(ticket)) return
    if (queue.size === 0) this.queues.delete(ticket.contextId)
    else queue.first()?.called.wake()
  }
}
