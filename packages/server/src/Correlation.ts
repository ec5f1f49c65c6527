/**
 * What a peer is told of an error that nobody expected: an id, and nothing else.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { Ids } from "./Ids.ts"

/**
 * The sentence for a peer (B-HTTP-3): it names the correlation id, 32 lower-case hexadecimal digits, and nothing of what
 * went wrong.
 *
 * @since 0.1.0
 * @category constructors
 */
export const sentence = (id: string): string => `An unexpected framework error occurred. Correlation ID: ${id}`

const log = (cause: Cause.Cause<unknown>, id: string): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logError("Unexpected framework error", cause), "correlation_id", id)

/**
 * Mints a correlation id, logs the cause under it on the given runtime, and returns the sentence for the peer.
 *
 * @since 0.1.0
 * @category combinators
 */
export const report = <R>(cause: Cause.Cause<unknown>, runtime: Runtime.Runtime<R>): string => {
  const id = Context.get(runtime.context as Context.Context<never>, Ids).hex()
  Runtime.runFork(runtime)(log(cause, id))
  return sentence(id)
}

/**
 * `report` for those who are inside an effect.
 *
 * @since 0.1.0
 * @category combinators
 */
export const reportEffect = (cause: Cause.Cause<unknown>): Effect.Effect<string> =>
  Effect.flatMap(Ids, (ids) => {
    const id = ids.hex()
    return Effect.as(log(cause, id), sentence(id))
  })
