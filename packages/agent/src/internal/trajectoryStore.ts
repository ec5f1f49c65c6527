import { constants } from "node:buffer"

/** How a task of the store ended. */
export type Ended = "completed" | "failed" | "canceled"

export interface Task {
  readonly id: string
  readonly context: ContextLog
  /** The JSON text of each event: what was appended can't change any more. */
  readonly events: Array<string>
  format: string | undefined
  /** The record that the task's runtime made itself, as JSON text. */
  native: string | undefined
  ended: Ended | undefined
  /** Waits for its caller: neither ended nor anything that keeps its context. */
  paused: boolean
  started: boolean
  /** Counts the runs, so that a run can't write once another one has begun. */
  run: number
  bytes: number
  warned: boolean
}

/** The tasks of a context and the order of what they said. */
export interface ContextLog {
  readonly id: string
  /** In the order they were appended, whichever task appended them, so no position ever shifts. */
  readonly events: Array<string>
  readonly tasks: Set<Task>
  /** Unfinished tasks, in the order they started; then those whose turn has not come, in the order they came. */
  readonly running: Set<Task>
  readonly waiting: Set<Task>
  /** The last that started, or ended without having. */
  latest: Task | undefined
  format: string | undefined
  bytes: number
}

export interface Limits {
  readonly contexts: number
  readonly bytes: number
}

export interface Slice {
  readonly events: ReadonlyArray<string>
  readonly total: number
}

/** Events from `after` on: at most so many and about so many bytes, but never none where there is one. */
export const slice = (events: ReadonlyArray<string>, after: number, limit: number, maxBytes: number): Slice => {
  const page = events.slice(after, after + limit)
  const total = events.length
  // no character is more than three bytes a unit, so most pages need not be measured
  if (page.reduce((units, event) => units + event.length, 0) * 3 <= maxBytes) return { events: page, total }
  let bytes = 0
  const over = page.findIndex((event, index) => (bytes += Buffer.byteLength(event)) > maxBytes && index > 0)
  return { events: over === -1 ? page : page.slice(0, over), total }
}

/** All events as one JSON array; `undefined` when no string can hold it. */
export const joined = (events: ReadonlyArray<string>): string | undefined => {
  const length = events.reduce((sum, event) => sum + event.length + 1, 1)
  return length > constants.MAX_STRING_LENGTH ? undefined : `[${events.join(",")}]`
}

export const stateOf = (task: Task): Ended | "running" | "pending" =>
  task.ended ?? (task.events.length > 0 ? "running" : "pending")

const first = <A>(set: ReadonlySet<A>): A | undefined => {
  for (const value of set) return value
  return undefined
}

/** The task that a context is at: the first that has not ended, else the latest. */
export const currentOf = (context: ContextLog): Task | undefined =>
  first(context.running) ?? first(context.waiting) ?? context.latest

export const contextStateOf = (context: ContextLog): Ended | "running" | "pending" => {
  for (const task of context.running) if (task.events.length > 0) return "running"
  const { latest, running, waiting } = context
  return latest === undefined || running.size + waiting.size > 0 ? "pending" : stateOf(latest)
}

/** Tasks by id and contexts by id, of which those without an unfinished task are dropped, least recently used first (B-TRAJ-17). */
export class TrajectoryStore {
  readonly tasks: Map<string, Task> = new Map()
  private readonly contexts: Map<string, ContextLog> = new Map()
  /** The contexts that may be dropped, in the order they were used. */
  private readonly idle: Map<string, ContextLog> = new Map()
  private readonly limits: Limits
  private bytes = 0

  constructor(limits: Limits) {
    this.limits = limits
  }

  context(id: string): ContextLog | undefined {
    return this.contexts.get(id)
  }

  /** A task whose turn has not come; one that is there already, paused, waits for its next turn. */
  submit(taskId: string, contextId: string): void {
    const known = this.tasks.get(taskId)
    if (known === undefined) this.create(taskId, contextId)
    else if (known.paused) this.resume(known)
  }

  private create(id: string, contextId: string): void {
    const context = this.contexts.get(contextId) ?? this.open(contextId)
    const task: Task = {
      id,
      context,
      events: [],
      format: undefined,
      native: undefined,
      ended: undefined,
      paused: false,
      started: false,
      run: 0,
      bytes: 0,
      warned: false
    }
    this.tasks.set(id, task)
    context.tasks.add(task)
    context.waiting.add(task)
    this.idle.delete(contextId)
  }

  private open(id: string): ContextLog {
    const context: ContextLog = {
      id,
      events: [],
      tasks: new Set(),
      running: new Set(),
      waiting: new Set(),
      latest: undefined,
      format: undefined,
      bytes: 0
    }
    this.contexts.set(id, context)
    return context
  }

  private resume(task: Task): void {
    task.paused = false
    task.context.waiting.add(task)
    this.idle.delete(task.context.id)
  }

  /** The task's turn has come: it is the latest, and what it says is next. */
  start(task: Task): void {
    if (task.ended !== undefined) return
    if (task.paused) this.resume(task)
    task.started = true
    task.context.waiting.delete(task)
    task.context.running.add(task)
    task.context.latest = task
  }

  append(task: Task, events: ReadonlyArray<string>): void {
    let bytes = 0
    for (const event of events) {
      task.events.push(event)
      task.context.events.push(event)
      bytes += Buffer.byteLength(event)
    }
    task.bytes += bytes
    task.context.bytes += bytes
    this.bytes += bytes
  }

  keepNative(task: Task, native: string): void {
    const bytes = Buffer.byteLength(native) - (task.native === undefined ? 0 : Buffer.byteLength(task.native))
    task.native = native
    task.context.bytes += bytes
    this.bytes += bytes
  }

  pause(task: Task): void {
    task.paused = true
    this.leave(task)
  }

  end(task: Task, state: Ended): void {
    task.ended = state
    task.paused = false
    this.leave(task)
  }

  private leave(task: Task): void {
    task.run += 1
    const { context } = task
    if (!task.started) context.latest = task
    context.running.delete(task)
    context.waiting.delete(task)
    if (context.running.size + context.waiting.size > 0) return
    this.idle.delete(context.id)
    this.idle.set(context.id, context)
    this.evict(context)
  }

  /** Reads make a context the last to be dropped. */
  touch(context: ContextLog): void {
    if (!this.idle.delete(context.id)) return
    this.idle.set(context.id, context)
  }

  private evict(kept: ContextLog): void {
    for (const [id, context] of this.idle) {
      if (this.contexts.size <= this.limits.contexts && this.bytes <= this.limits.bytes) return
      if (context === kept) continue
      this.idle.delete(id)
      this.contexts.delete(id)
      this.bytes -= context.bytes
      for (const task of context.tasks) this.tasks.delete(task.id)
    }
  }
}
