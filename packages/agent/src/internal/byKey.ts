import * as Effect from "effect/Effect"
import { Lock } from "./lock.ts"

/** @internal */
export type ByKey = <A, E, R>(key: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Runs the effects of a key one after the other, in the order in which they came. A key that nobody waits for is forgotten.
 *
 * @internal
 */
export const byKey: Effect.Effect<ByKey> = Effect.sync(() => {
  const lanes = new Map<string, { readonly lock: Lock; users: number }>()
  return (key, effect) =>
    Effect.uninterruptibleMask((restore) => {
      const lane = lanes.get(key) ?? { lock: new Lock(), users: 0 }
      lane.users++
      lanes.set(key, lane)
      const leave = (): void => {
        lane.users--
        if (lane.users === 0) lanes.delete(key)
      }
      return Effect.matchCauseEffect(restore(lane.lock.within(effect)), {
        onFailure: (cause) => {
          leave()
          return Effect.failCause(cause)
        },
        onSuccess: (value) => {
          leave()
          return Effect.succeed(value)
        }
      })
    })
})
