import * as A2a from "@effect-agentenv/protocol/A2a"
import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import type { Subscription, Versioned } from "../TaskEngine.ts"
import type { Entry, TaskStore } from "../TaskStore.ts"
import type { Live } from "./taskLive.ts"

/** How many entries a listener gets at once. */
const batchLength = 128

export interface FollowOptions {
  readonly from?: number | undefined
  readonly historyLength?: number | undefined
}

/** A version of the task's: what is none counts as the nearest that is. */
const versionOf = (from: number | undefined, last: number): number =>
  from === undefined || from >= last ? last : from >= 0 ? Math.floor(from) : 0

/**
 * Listens to a task: to what is at hand of it, and from the journal to what is not. Nothing is kept for a listener, so it may stop reading
 * whenever it likes.
 */
export const follow = (
  live: Live,
  store: TaskStore["Type"],
  retry: Schedule.Schedule<unknown>,
  options: FollowOptions
): Subscription => {
  const { fold } = live
  const first = versionOf(options.from, fold.version)
  let at = first
  let closed = false

  const told = (entries: ReadonlyArray<Entry>): ReadonlyArray<Versioned> => {
    const events: Array<Versioned> = []
    for (const entry of entries) {
      at++
      const event = fold.event(entry)
      if (event === undefined) continue
      events.push({ version: at, event })
      if (event._tag === "StatusUpdate" && event.final) {
        closed = true
        break
      }
    }
    return events
  }
  // Where the journal is gone, what the task has come to is all that can be told.
  const outcome = (): ReadonlyArray<Versioned> => {
    at = fold.version
    closed = live.over
    const { contextId, taskId } = fold
    const final = A2a.isSettled(fold.state)
    return [{ version: at, event: { _tag: "StatusUpdate", taskId, contextId, status: fold.status(), final } }]
  }
  const read = Effect.suspend(() => store.read(fold.taskId, at, batchLength))
  const behind: Effect.Effect<ReadonlyArray<Versioned>> = Effect.match(Effect.retry(read, retry), {
    onFailure: outcome,
    onSuccess: (entries) => entries === undefined || entries.length === 0 ? outcome() : told(entries)
  })
  const next: Subscription["next"] = Effect.suspend(() => {
    if (closed || (live.over && at >= fold.version)) return Effect.succeed(undefined)
    if (at >= fold.version) {
      return Effect.zipRight(live.onChange.until(() => live.over || fold.version > at), next)
    }
    const events = at < live.base
      ? behind
      : Effect.sync(() => told(live.tail.slice(at - live.base, at - live.base + batchLength)))
    return Effect.flatMap(events, (events) => events.length === 0 ? next : Effect.succeed(events))
  })
  return { snapshot: fold.task(options.historyLength), version: first, next }
}
