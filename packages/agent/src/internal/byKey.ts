import * as Effect from "effect/Effect"

/** @internal */
export type ByKey = <A, E, R>(key: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Runs the effects of a key one after the other, in the order in which they came. A key that nobody waits for is forgotten.
 *
 * @internal
 */
export const byKey: Effect.Effect<ByKey> = Effect.sync(() => {
  const lanes = new Map<string, { readonly semaphore: Effect.Semaphore; users: number }>()
  return (key, effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const lane = lanes.get(key) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
        lane.users++
        lanes.set(key, lane)
        return lane
      }),
      ({ semaphore }) => semaphore.withPermits(1)(effect),
      (lane) =>
        Effect.sync(() => {
          lane.users--
          if (lane.users === 0) lanes.delete(key)
        })
    )
})
