/**
 * A world state that follows its deltas: one place to read it, to change it, and to hear of every change.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type * as Read from "./Read.ts"
import * as WorldstateDelta from "./WorldstateDelta.ts"

/**
 * Holds the world.
 *
 * @since 0.1.0
 * @category tags
 */
export class WorldState extends Context.Tag("@effect-agentenv/protolabs/WorldState")<WorldState, {
  readonly get: Effect.Effect<WorldstateDelta.World>
  /** Applies deltas at once: nobody sees the world between them. Answers what was applied and what was not. */
  readonly apply: (deltas: Iterable<unknown>) => Effect.Effect<WorldstateDelta.Applied>
  /** The world as it is now, then as it is after each change. */
  readonly changes: Stream.Stream<WorldstateDelta.World>
  /** Applies the deltas in an agent's events, each once, and answers what came of each payload. */
  readonly follow: <E, R>(
    events: Stream.Stream<unknown, E, R>
  ) => Stream.Stream<WorldstateDelta.Applied, E | Read.Malformed, R>
}>() {}

/**
 * Makes a world that begins with `world`. Only its domains can be changed, as deltas make none.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (world: WorldstateDelta.World): Effect.Effect<Context.Tag.Service<WorldState>> =>
  Effect.map(SubscriptionRef.make(world), (ref) => {
    const apply = (deltas: Iterable<unknown>) =>
      SubscriptionRef.modify(ref, (world) => {
        const applied = WorldstateDelta.apply(world, deltas)
        return [applied, applied.world] as const
      })
    return {
      get: SubscriptionRef.get(ref),
      apply,
      changes: Stream.changesWith(ref.changes, (a, b) => a === b),
      follow: (events) => Stream.mapEffect(WorldstateDelta.fromEvents(events), ({ deltas }) => apply(deltas))
    }
  })

/**
 * Provides a world that begins with `world`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (world: WorldstateDelta.World): Layer.Layer<WorldState> => Layer.effect(WorldState, make(world))
