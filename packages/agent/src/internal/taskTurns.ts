import type * as Effect from "effect/Effect"
import { Waiters } from "./taskWaiters.ts"

/** A place in a context's queue. Whoever is first has the turn. */
export interface Ticket {
  readonly contextId: string
  readonly called: Waiters
}

/**
 * One turn a context, given in the order in which it was asked for. A context is forgotten when nobody has or awaits its turn.
 */
export class Turns {
  private readonly maxQueued: number
  private readonly maxContexts: number
  private readonly queues = new Map<string, Set<Ticket>>()

  constructor(maxQueued: number, maxContexts: number) {
    this.maxQueued = maxQueued
    this.maxContexts = maxContexts
  }

  get contexts(): number {
    return this.queues.size
  }

  /** `undefined` when there is no room. */
  enter(contextId: string): Ticket | undefined {
    const queue = this.queues.get(contextId)
    if (queue === undefined ? this.queues.size >= this.maxContexts : queue.size > this.maxQueued) return undefined
    const ticket: Ticket = { contextId, called: new Waiters() }
    if (queue === undefined) this.queues.set(contextId, new Set([ticket]))
    else queue.add(ticket)
    return ticket
  }

  wait(ticket: Ticket): Effect.Effect<void> {
    return ticket.called.until(() => this.first(ticket.contextId) === ticket)
  }

  /** Gives the turn, or the place in the queue, back. */
  leave(ticket: Ticket): void {
    const queue = this.queues.get(ticket.contextId)
    if (queue === undefined || !queue.delete(ticket)) return
    if (queue.size === 0) this.queues.delete(ticket.contextId)
    else this.first(ticket.contextId)?.called.wake()
  }

  private first(contextId: string): Ticket | undefined {
    return this.queues.get(contextId)?.values().next().value
  }
}
