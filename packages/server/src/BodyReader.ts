/**
 * A request's body as it arrives, for those who do not want it in memory.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Body from "./Body.ts"

/**
 * The bytes that arrived since the last read, at least one chunk of them.
 *
 * @since 0.1.0
 * @category models
 */
export interface Chunks {
  readonly _tag: "Chunks"
  readonly chunks: ReadonlyArray<Uint8Array>
}

/**
 * The body is complete.
 *
 * @since 0.1.0
 * @category models
 */
export interface End {
  readonly _tag: "End"
}

/**
 * What came of one read.
 *
 * @since 0.1.0
 * @category models
 */
export type Read = Chunks | End | Body.Aborted

/**
 * Reads a body piece by piece. What is not asked for stays with the client: only the little that was under way is kept.
 *
 * @since 0.1.0
 * @category models
 */
export interface BodyReader {
  /** Calls `use` once: with what arrived, now or later. One read at a time. */
  readonly next: (use: (read: Read) => void) => void
  /**
   * Gives the rest up: it is thrown away as it arrives, up to `Body.drainLimit`, so that the client gets to read its
   * answer. A read that waits is never told.
   */
  readonly cancel: () => void
}

/**
 * The end of a body.
 *
 * @since 0.1.0
 * @category constructors
 */
export const end: Read = { _tag: "End" }

/**
 * The client left before its body was complete.
 *
 * @since 0.1.0
 * @category errors
 */
export class BodyAborted extends Schema.TaggedError<BodyAborted>("@effect-agentenv/server/BodyAborted")(
  "BodyAborted",
  {}
) {
  /** @since 0.1.0 */
  override get message(): string {
    return "The client left before the body was complete"
  }
}

/**
 * The body as a stream, which gives up the rest when it ends early. Fails with `BodyAborted`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toStream = (reader: BodyReader): Stream.Stream<Uint8Array, BodyAborted> =>
  Stream.repeatEffectChunkOption(
    Effect.async<Chunk.Chunk<Uint8Array>, Option.Option<BodyAborted>>((resume) =>
      reader.next((read) => resume(toExit(read)))
    )
  ).pipe(Stream.ensuring(Effect.sync(() => reader.cancel())))

const ended = Exit.fail(Option.none())

const toExit = (read: Read): Exit.Exit<Chunk.Chunk<Uint8Array>, Option.Option<BodyAborted>> => {
  switch (read._tag) {
    case "Chunks":
      return Exit.succeed(Chunk.unsafeFromArray(read.chunks))
    case "End":
      return ended
    case "Aborted":
      return Exit.failCause(Cause.fail(Option.some(new BodyAborted())))
  }
}
