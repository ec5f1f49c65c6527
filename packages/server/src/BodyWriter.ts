/**
 * An answer's body as it is made, for those who do not want it in memory.
 *
 * @since 0.1.0
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type * as Exchange from "./Exchange.ts"

/**
 * Writes the body of an answer whose head is sent. What is written after its end is dropped.
 *
 * @since 0.1.0
 * @category models
 */
export interface BodyWriter {
  /** Writes bytes, which must not change from then on; false asks to wait for `onDrain` before the next. */
  readonly write: (chunk: Uint8Array) => boolean
  /** Calls `listener` once, when there is room again; never when the client leaves. */
  readonly onDrain: (listener: () => void) => void
  /** Ends the answer, which must have its whole length. */
  readonly end: () => void
  /** Cuts the answer, so that the client notices that it is not whole. */
  readonly abort: () => void
  /** Whether nothing can be written any more: it has ended, the client has left, or it wanted the head alone. */
  readonly done: boolean
}

/**
 * Answers with a stream of `length` bytes, at the pace of the client. A stream that fails, is interrupted or has another
 * length cuts the answer short. Interrupts itself when the client leaves.
 *
 * @since 0.1.0
 * @category combinators
 */
export const send = <E, R>(
  exchange: Exchange.Exchange,
  status: number,
  headers: ReadonlyArray<string>,
  length: number,
  content: Stream.Stream<Uint8Array, E, R>
): Effect.Effect<void, E, R> =>
  Effect.suspend(() => {
    const writer = exchange.write(status, headers, length)
    if (writer.done) return exchange.closed ? Effect.interrupt : Effect.void
    let left = length
    return Stream.runForEachChunk(content, (chunks) =>
      Effect.suspend(() => {
        if (exchange.closed) return Effect.interrupt
        let room = true
        for (const chunk of Chunk.toReadonlyArray(chunks)) {
          left -= chunk.byteLength
          if (left < 0) return Effect.dieMessage(`The answer is longer than the ${length} bytes of its head`)
          room = writer.write(chunk)
        }
        return room ? Effect.void : drained(exchange, writer)
      })).pipe(
        Effect.zipRight(Effect.suspend(() =>
          left === 0
            ? Effect.sync(() => writer.end())
            : Effect.dieMessage(`The answer is ${left} bytes short of the ${length} of its head`)
        )),
        Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => writer.abort()))
      )
  })

const drained = (exchange: Exchange.Exchange, writer: BodyWriter): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    writer.onDrain(() => resume(Effect.void))
    exchange.onClose(() => resume(Effect.interrupt))
  })
