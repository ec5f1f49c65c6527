import type * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import type * as EventStream from "@effect-agentenv/server/EventStream"
import type * as Clock from "effect/Clock"
import type { Json } from "./messages.ts"

/** A request of a session that runs: what may have to stop it. */
export interface Running {
  readonly interrupt: (why: "cancelled" | "session") => void
}

/** A request of ours that the client has not answered; `undefined` is the answer of a session that ended. */
export type Pending = (response: Json | undefined) => void

/** What a session's client can be asked for, as a set of bits. */
export const Feature = { elicit: 1, sample: 2, roots: 4 } as const

const maxRoles = 100

/** One client's session. There may be thousands that idle, so what only a running one needs is made when it is needed. */
export class Session {
  readonly id: string
  readonly features: number
  /** The index of the least severe logging level that is sent: everything, until the client says a level. */
  level = 0
  /** When it was last heard of, in milliseconds. */
  seen: number
  closed = false
  /** The stream of its GET. */
  stream: EventStream.EventStream | undefined = undefined
  private roles: Set<string> | undefined = undefined
  private running: Map<JsonRpc.Id, Running> | undefined = undefined
  private pending: Map<JsonRpc.Id, Pending> | undefined = undefined
  private asked = 0

  constructor(id: string, features: number, now: number) {
    this.id = id
    this.features = features
    this.seen = now
  }

  /** Whether neither a request nor a stream of it is open. */
  get idle(): boolean {
    return this.running === undefined && this.stream === undefined
  }

  /** Remembers that it lists tools in a role: a gateway's session has many. */
  heardAs(role: string): void {
    const roles = this.roles ??= new Set()
    if (roles.size <= maxRoles) roles.add(role)
  }

  /** Tells its stream what has changed for one of its roles; those of a session with too many to remember count as changed. */
  tell(message: string, changedFor: (role: string) => boolean): void {
    const { roles, stream } = this
    if (stream === undefined) return
    if (roles === undefined || roles.size > maxRoles || Array.from(roles).some(changedFor)) stream.send(message)
  }

  runs(id: JsonRpc.Id): boolean {
    return this.running !== undefined && this.running.has(id)
  }

  started(id: JsonRpc.Id, request: Running): void {
    ;(this.running ??= new Map()).set(id, request)
  }

  ended(id: JsonRpc.Id, request: Running, now: number): void {
    const running = this.running
    if (running === undefined || running.get(id) !== request) return
    this.seen = now
    if (running.size === 1) this.running = undefined
    else running.delete(id)
  }

  /** `7` and `"7"` are two ids (M-17). */
  cancel(id: unknown): void {
    this.running?.get(id as JsonRpc.Id)?.interrupt("cancelled")
  }

  expect(pending: Pending): number {
    const id = ++this.asked
    ;(this.pending ??= new Map()).set(id, pending)
    return id
  }

  /** Whether the answer was still awaited. */
  forget(id: JsonRpc.Id): boolean {
    const pending = this.pending
    if (pending === undefined || !pending.delete(id)) return false
    if (pending.size === 0) this.pending = undefined
    return true
  }

  receive(id: JsonRpc.Id | null, response: Json): void {
    if (id === null) return
    const pending = this.pending?.get(id)
    if (pending !== undefined && this.forget(id)) pending(response)
  }

  close(): void {
    this.closed = true
    const { pending, running, stream } = this
    this.pending = this.stream = undefined
    if (pending !== undefined) { for (const fail of pending.values()) fail(undefined) }
    if (running !== undefined) { for (const request of running.values()) request.interrupt("session") }
    stream?.end()
  }
}

/** The sessions that live. */
export class Sessions {
  private readonly all = new Map<string, Session>()
  private readonly clock: Clock.Clock
  private readonly uuid: () => string
  private readonly max: number
  private readonly idleMillis: number

  constructor(clock: Clock.Clock, uuid: () => string, max: number, idleMillis: number) {
    this.clock = clock
    this.uuid = uuid
    this.max = max
    this.idleMillis = idleMillis
  }

  get size(): number {
    return this.all.size
  }

  now(): number {
    return this.clock.unsafeCurrentTimeMillis()
  }

  /** A new session; `undefined` when there are as many as there may be. */
  open(features: number): Session | undefined {
    if (this.all.size >= this.max) return undefined
    const session = new Session(this.uuid(), features, this.now())
    this.all.set(session.id, session)
    return session
  }

  /** The session of that id, which is heard of by this. */
  find(id: string): Session | undefined {
    const session = this.all.get(id)
    if (session !== undefined) session.seen = this.now()
    return session
  }

  end(session: Session): void {
    this.all.delete(session.id)
    session.close()
  }

  /** Tells the open streams of those whom a change concerns. */
  tell(message: string, changedFor: (role: string) => boolean): void {
    for (const session of this.all.values()) session.tell(message, changedFor)
  }

  /** Ends the sessions that idle for too long. */
  sweep(): void {
    const before = this.now() - this.idleMillis
    for (const session of this.all.values()) {
      if (session.seen <= before && session.idle) this.end(session)
    }
  }
}
