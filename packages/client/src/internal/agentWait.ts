import * as A2a from "@effect-agentenv/protocol/A2a"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { AgentClientError } from "../AgentClientError.ts"
import { isPassing } from "./agentRpc.ts"
import * as http from "./http.ts"

/** An agent is given up after so many polls in silence, and so much time, whichever is later (P-PR-3). */
const silentPolls = 3
const silence = Duration.toMillis("1 minute")

/** @internal */
export interface Options {
  readonly every: Duration.DurationInput
  readonly timeout: Duration.DurationInput
}

/**
 * Polls until the run has ended.
 *
 * @internal
 */
export const settled = (
  get: Effect.Effect<A2a.Task, AgentClientError>,
  { every, timeout }: Options
): Effect.Effect<A2a.Task, AgentClientError> =>
  Effect.gen(function*() {
    let heard = yield* Clock.currentTimeMillis
    let silent = 0
    const poll: Effect.Effect<A2a.Task | undefined, AgentClientError> = Effect.gen(function*() {
      const task = yield* get
      heard = yield* Clock.currentTimeMillis
      silent = 0
      return A2a.isSettled(task.status.state) ? task : undefined
    })
    const tolerant = Effect.catchIf(poll, isPassing, (error) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        ++silent >= silentPolls && now - heard >= silence ? Effect.fail(error) : Effect.succeed(undefined)))
    while (true) {
      const task = yield* tolerant
      if (task !== undefined) {
        return task
      }
      yield* Effect.sleep(every)
    }
  }).pipe(http.within("wait", timeout))
