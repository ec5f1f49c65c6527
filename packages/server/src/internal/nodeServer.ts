import * as Effect from "effect/Effect"
import type { Server } from "node:http"

/** Node's server with an end that comes: no new connections, idle ones closed, all of them after the grace. */
export class NodeServer {
  readonly node: Server
  private readonly grace: number
  private timers: Array<ReturnType<typeof setTimeout>> = []
  private closed = false
  private waiting: (() => void) | undefined = undefined
  /** Whether the server takes leave: answers say so, and nothing new is begun. */
  stopping = false

  constructor(node: Server, grace: number) {
    this.node = node
    this.grace = grace
  }

  /** Stops accepting and starts the grace, without waiting. */
  stop(): void {
    if (this.stopping || !this.node.listening) return
    this.stopping = true
    this.node.close(() => {
      this.closed = true
      this.timers.forEach(clearInterval)
      this.waiting?.()
    })
    this.timers = [
      // A connection is closed as soon as it is idle: node does it for those that are idle now.
      setInterval(() => this.node.closeIdleConnections(), 10),
      setTimeout(() => this.node.closeAllConnections(), this.grace)
    ]
  }

  /** Ends when every connection has. */
  readonly awaitClosed: Effect.Effect<void> = Effect.async((resume) => {
    if (this.closed || !this.stopping) return resume(Effect.void)
    this.waiting = () => resume(Effect.void)
  })
}
