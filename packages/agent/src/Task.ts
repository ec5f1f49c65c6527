/**
 * What a run says while it runs: progress to whoever listens, and artifacts.
 *
 * @since 0.1.0
 */
import type * as A2a from "@effect-agentenv/protocol/A2a"
import { Ids } from "@effect-agentenv/server/Ids"
import * as Chunk from "effect/Chunk"
import * as EffectContext from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { NonEmptyParts } from "./TaskResult.ts"

/**
 * What progress says beside its parts. `metadata` stands on the event, and on the task, which keeps the last value of each key (B-TASK-3).
 * `messageMetadata` stands on the event's message, and stays with it in the task's history.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProgressOptions {
  readonly metadata?: A2a.JsonObject | undefined
  readonly messageMetadata?: A2a.JsonObject | undefined
}

/**
 * The service behind `progress`, which the runs of streaming agents have.
 *
 * @since 0.1.0
 * @category tags
 */
export class Streaming extends EffectContext.Tag("@effect-agentenv/agent/Task/Streaming")<Streaming, {
  readonly progress: (parts: NonEmptyParts, options: ProgressOptions) => Effect.Effect<void>
}>() {}

/**
 * The run that is going on, which the runs of all agents have. Beside the artifact's own metadata, `metadata` is its event's.
 *
 * @since 0.1.0
 * @category tags
 */
export class Context extends EffectContext.Tag("@effect-agentenv/agent/Task/Context")<Context, {
  readonly taskId: string
  readonly contextId: string
  readonly artifact: (
    artifact: A2a.Artifact,
    options: {
      readonly append: boolean
      readonly lastChunk: boolean
      readonly metadata: A2a.JsonObject | undefined
    }
  ) => Effect.Effect<void>
}>() {}

/**
 * What can be said: a text, a part, or several.
 *
 * @since 0.1.0
 * @category models
 */
export type Content = string | A2a.Part | NonEmptyParts

const isParts = (content: A2a.Part | NonEmptyParts): content is NonEmptyParts => Array.isArray(content)

const partsOf = (content: Content): NonEmptyParts =>
  typeof content === "string" ? [{ kind: "text", text: content }] : isParts(content) ? content : [content]

/**
 * Reports progress to whoever streams the task, or reads it later (B-TASK-3). Needs `streaming: true` in `Agent.make`. What JSON can't
 * say is a defect.
 *
 * @since 0.1.0
 * @category combinators
 */
export const progress = (
  content: Content,
  options: ProgressOptions = {}
): Effect.Effect<void, never, Streaming> =>
  Effect.flatMap(Streaming, (streaming) => streaming.progress(partsOf(content), options))

/**
 * How an artifact is made. Without an `id` it is a new one; with `append` the parts are added to the one of that `id`. `last` says that
 * it is whole now: by default of one that is made at once, and not of what is appended. `metadata` is the artifact's own, to which what is
 * appended adds; `eventMetadata` is of the event that tells of it, and not kept with the task.
 *
 * @since 0.1.0
 * @category models
 */
export type ArtifactOptions =
  & {
    readonly name?: string | undefined
    readonly description?: string | undefined
    readonly last?: boolean | undefined
    readonly metadata?: A2a.JsonObject | undefined
    readonly eventMetadata?: A2a.JsonObject | undefined
  }
  & (
    | { readonly append?: false | undefined; readonly id?: string | undefined }
    | { readonly append: true; readonly id: string }
  )

/**
 * Makes an artifact of the task, or adds to one, and answers its id. What JSON can't say is a defect.
 *
 * @since 0.1.0
 * @category combinators
 */
export const artifact = (
  content: Content,
  options: ArtifactOptions = {}
): Effect.Effect<string, never, Context> =>
  Effect.gen(function*() {
    const run = yield* Context
    const { description, eventMetadata, metadata, name } = options
    const append = options.append ?? false
    const artifactId = options.id ?? (yield* Ids).uuid()
    yield* run.artifact(
      { artifactId, parts: partsOf(content), name, description, metadata },
      { append, lastChunk: options.last ?? !append, metadata: eventMetadata }
    )
    return artifactId
  })

/**
 * How a stream becomes an artifact. Texts that come within `within` of each other, 50 milliseconds unless told, travel as one event.
 * `metadata` is the artifact's own and travels with its first piece; `eventMetadata` is of every event.
 *
 * @since 0.1.0
 * @category models
 */
export interface StreamOptions {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly metadata?: A2a.JsonObject | undefined
  readonly eventMetadata?: A2a.JsonObject | undefined
  readonly within?: Duration.DurationInput | undefined
}

const maxTexts = 1_024

/** The most UTF-16 units of text in one event. */
const maxLength = 16_384

const isHighSurrogate = (text: string, index: number): boolean => {
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Pieces that are no longer than `maxLength` and end between characters, and what has to wait for its other half. */
const cut = (text: string): { readonly pieces: ReadonlyArray<string>; readonly held: string } => {
  const whole = text !== "" && isHighSurrogate(text, text.length - 1) ? text.slice(0, -1) : text
  const pieces: Array<string> = []
  let from = 0
  while (from < whole.length) {
    const to = Math.min(from + maxLength, whole.length)
    const end = to < whole.length && isHighSurrogate(whole, to - 1) ? to - 1 : to
    pieces.push(whole.slice(from, end))
    from = end
  }
  return { pieces, held: text.slice(whole.length) }
}

/**
 * Streams texts into one artifact and answers its id. Nothing piles up: texts that are ready together become one event of at most
 * 16,384 UTF-16 units, and the stream is drawn on only as fast as events are kept. An empty text ends the artifact.
 *
 * @since 0.1.0
 * @category combinators
 */
export const streamArtifact = <E, R>(
  stream: Stream.Stream<string, E, R>,
  options: StreamOptions = {}
): Effect.Effect<string, E, R | Context> =>
  Effect.gen(function*() {
    const id = options.id ?? (yield* Ids).uuid()
    const { description, eventMetadata, metadata, name } = options
    const emit = (text: string, append: boolean, last: boolean): Effect.Effect<string, never, Context> =>
      artifact(
        text,
        append ? { id, append, last, eventMetadata } : { id, last, eventMetadata, metadata, name, description }
      )
    const end = yield* stream.pipe(
      Stream.groupedWithin(maxTexts, options.within ?? "50 millis"),
      Stream.runFoldEffect({ begun: false, held: "" }, (state, texts) => {
        const { held, pieces } = cut(state.held + Chunk.join(texts, ""))
        return Effect.as(
          Effect.forEach(pieces, (piece, index) => emit(piece, state.begun || index > 0, false), { discard: true }),
          { begun: state.begun || pieces.length > 0, held }
        )
      })
    )
    // a half that stayed alone is no character
    return yield* emit(end.held === "" ? "" : "\uFFFD", end.begun, true)
  })
