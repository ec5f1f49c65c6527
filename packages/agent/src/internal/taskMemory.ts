import * as A2a from "@effect-agentenv/protocol/A2a"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import type { Entry, MemoryOptions, TaskStore } from "../TaskStore.ts"
import { type InLine, Line } from "./taskLine.ts"
import { sizeOf } from "./taskSize.ts"

interface Journal {
  readonly taskId: string
  readonly contextId: string
  entries: Array<Entry>
  bytes: number
  place: Place | undefined
}

/** Where a task stands among those that have ended, or among those that wait for their callers, and since when. */
interface Place extends InLine {
  readonly taskId: string
  readonly line: Line<Place>
  readonly since: number
}

const stateAfter = (entries: ReadonlyArray<Entry>): A2a.TaskState | undefined => {
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]
    if (entry === undefined || entry._tag === "Artifact") continue
    return entry._tag === "Status" ? entry.state : "submitted"
  }
  return undefined
}

/** Journals in memory. Whatever is done with them is told the time, so that what has expired goes first. */
export class Memory {
  private readonly maxBytes: number
  private readonly maxFinished: number
  private readonly maxAge: number
  private readonly abandonedAfter: number
  private readonly journals = new Map<string, Journal>()
  private readonly finished = new Line<Place>()
  private readonly waiting = new Line<Place>()
  private bytes = 0

  constructor(options: MemoryOptions) {
    this.maxBytes = options.maxBytes ?? 256 * 1024 ** 2
    this.maxFinished = options.maxFinished ?? 10_000
    this.maxAge = Duration.toMillis(options.maxAge ?? "1 hour")
    this.abandonedAfter = Duration.toMillis(options.abandonedAfter ?? "1 day")
  }

  sweep(now: number): void {
    this.expire(this.finished, now - this.maxAge)
    this.expire(this.waiting, now - this.abandonedAfter)
  }

  version(taskId: string): number {
    return this.journals.get(taskId)?.entries.length ?? 0
  }

  /** `false` when the journal is at another version; then nothing is appended. */
  append(now: number, taskId: string, expected: number, entries: ReadonlyArray<Entry>): boolean {
    this.sweep(now)
    let journal = this.journals.get(taskId)
    if ((journal?.entries.length ?? 0) !== expected) return false
    const first = entries[0]
    if (first === undefined) return true
    if (journal === undefined) {
      const contextId = first._tag === "Created" ? first.contextId : ""
      journal = { taskId, contextId, entries: [], bytes: 0, place: undefined }
      this.journals.set(taskId, journal)
    }
    for (const entry of entries) {
      const size = sizeOf(entry)
      journal.bytes += size
      this.bytes += size
      journal.entries.push(entry)
    }
    const state = stateAfter(entries)
    if (state !== undefined) this.file(journal, state, now)
    this.shrink()
    return true
  }

  read(taskId: string, from: number, limit: number | undefined): ReadonlyArray<Entry> | undefined {
    return this.journals.get(taskId)?.entries.slice(from, limit === undefined ? undefined : from + limit)
  }

  list({ before, contextId, limit }: Parameters<TaskStore["Type"]["list"]>[0]): ReadonlyArray<string> {
    const ids: Array<string> = []
    let listing = before === undefined
    for (const [taskId, journal] of Arr.reverse(this.journals)) {
      if (ids.length >= limit) break
      if (listing && (contextId === undefined || journal.contextId === contextId)) ids.push(taskId)
      listing ||= taskId === before
    }
    return ids
  }

  unfinished(): ReadonlyArray<string> {
    return Array.from(this.journals.values())
      .filter(({ place }) => place?.line !== this.finished)
      .map(({ taskId }) => taskId)
  }

  private leave(journal: Journal): void {
    journal.place?.line.remove(journal.place)
    journal.place = undefined
  }

  private drop(taskId: string): void {
    const journal = this.journals.get(taskId)
    if (journal === undefined) return
    this.leave(journal)
    this.journals.delete(taskId)
    this.bytes -= journal.bytes
  }

  private expire(line: Line<Place>, until: number): void {
    for (let place = line.first(); place !== undefined && place.since <= until; place = line.first()) {
      this.drop(place.taskId)
    }
  }

  private shrink(): void {
    const { finished, maxBytes, maxFinished } = this
    for (let place = finished.first(); place !== undefined; place = finished.first()) {
      if (finished.size <= maxFinished && (this.bytes <= maxBytes || finished.size === 1)) return
      this.drop(place.taskId)
    }
  }

  private file(journal: Journal, state: A2a.TaskState, now: number): void {
    this.leave(journal)
    if (!A2a.isSettled(state)) return
    const line = A2a.isTerminal(state) ? this.finished : this.waiting
    // Without the room that a growing array has to spare.
    if (line === this.finished) journal.entries = journal.entries.slice()
    journal.place = { taskId: journal.taskId, line, since: now, gone: false }
    line.push(journal.place)
  }
}

const memories = new WeakMap<TaskStore["Type"], Memory>()

/** Keeps what is behind a store. */
export const behind = (store: TaskStore["Type"], memory: Memory): TaskStore["Type"] => {
  memories.set(store, memory)
  return store
}

/**
 * What is behind a store that is one in memory and nothing else: whoever has it appends within one step of his fiber, where nobody can
 * come in between.
 */
export const memoryOf = (store: TaskStore["Type"]): Memory | undefined => memories.get(store)
