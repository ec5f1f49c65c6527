import type * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Runtime from "effect/Runtime"

/** A `Random` that can start over; whoever holds it draws from the episode that runs. */
export interface EpisodeRandom extends Random.Random {
  /** Starts over from a seed, the same draws for the same seed; without one from an unforeseeable place. */
  readonly restart: (seed: number | undefined) => void
}

class EpisodeRandomImpl implements EpisodeRandom {
  readonly [Random.RandomTypeId]: Random.RandomTypeId = Random.RandomTypeId
  private current: Random.Random
  private readonly entropy: () => number

  constructor(entropy: () => number) {
    this.entropy = entropy
    this.current = Random.make(entropy())
  }

  restart(seed: number | undefined): void {
    this.current = Random.make(seed ?? this.entropy())
  }

  readonly next = Effect.suspend(() => this.current.next)
  readonly nextBoolean = Effect.suspend(() => this.current.nextBoolean)
  readonly nextInt = Effect.suspend(() => this.current.nextInt)

  nextRange(min: number, max: number): Effect.Effect<number> {
    return Effect.suspend(() => this.current.nextRange(min, max))
  }

  nextIntBetween(min: number, max: number): Effect.Effect<number> {
    return Effect.suspend(() => this.current.nextIntBetween(min, max))
  }

  shuffle<A>(elements: Iterable<A>): Effect.Effect<Chunk.Chunk<A>> {
    return Effect.suspend(() => this.current.shuffle(elements))
  }
}

/** One of its own for each implementation: it draws its start from the surrounding `Random`, never the other way round. */
export const make: Effect.Effect<EpisodeRandom> = Effect.flatMap(
  Effect.runtime<never>(),
  (runtime) =>
    Effect.randomWith((outer) => Effect.succeed(new EpisodeRandomImpl(() => Runtime.runSync(runtime)(outer.nextInt))))
)
