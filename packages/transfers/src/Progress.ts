/**
 * How far a transfer is, as a callback or a stream.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/**
 * How many bytes of an object have passed in an attempt, counted from 1; `total` is absent if nobody knows it. An attempt that
 * follows a failed one starts again from zero.
 *
 * @since 0.1.0
 * @category models
 */
export interface Progress {
  readonly attempt: number
  readonly bytes: number
  readonly total?: number | undefined
}

/**
 * What a transfer calls as bytes pass: after every MiB, and at the end of an attempt that succeeded. The transfer waits for it.
 *
 * @since 0.1.0
 * @category models
 */
export type OnProgress = (progress: Progress) => Effect.Effect<void>

/**
 * Runs a transfer and emits how far it is; ends when the transfer does, or with its failure. A slow reader misses counts, never
 * the end.
 *
 * @example
 * ```ts
 * import type { ReadObject } from "@effect-agentenv/protocol/Grant"
 * import * as Progress from "@effect-agentenv/transfers/Progress"
 * import { Transfers } from "@effect-agentenv/transfers/Transfers"
 * import { Console, Effect, Stream } from "effect"
 *
 * const watched = (object: ReadObject) =>
 *   Effect.flatMap(Transfers, (transfers) =>
 *     Progress.stream((onProgress) => transfers.download(object, "workspace.tar", { onProgress })).pipe(
 *       Stream.runForEach(({ bytes, total }) => Console.log(`${bytes} of ${total ?? "?"}`))
 *     ))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const stream = <A, E, R>(
  transfer: (onProgress: OnProgress) => Effect.Effect<A, E, R>
): Stream.Stream<Progress, E, R> =>
  Stream.asyncPush<Progress, E, R>(
    (emit) =>
      transfer((progress) => Effect.sync(() => emit.single(progress))).pipe(
        Effect.matchCause({ onFailure: (cause) => emit.halt(cause), onSuccess: () => emit.end() }),
        Effect.forkScoped
      ),
    { bufferSize: 16, strategy: "sliding" }
  )
