/**
 * A `text/event-stream` answer in the making.
 *
 * @since 0.1.0
 */

/**
 * The server's end of an event stream. Writing never waits: what a slow reader leaves behind is buffered up to
 * `maxBuffered`, and past it the connection is destroyed, which the `onClose` listeners hear of. Whoever waits for
 * `onDrain` while the stream is `full` keeps the reader's pace and destroys nothing, however large a single write is.
 * Writes on a stream that has ended or closed do nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface EventStream {
  /** Writes one `message` event; `data` is one JSON text as a rule, and any line breaks in it are kept. */
  readonly send: (data: string) => void
  /** Writes a comment, which readers skip: what keeps a silent connection alive. */
  readonly comment: (text: string) => void
  /** Writes frames that are formatted already (`id: 7\ndata: …\n\n`), for callers that need ids or event names. */
  readonly write: (frames: string) => void
  /** Whether the reader is behind: the moment to wait for `onDrain` before more is made. */
  readonly full: boolean
  /** Calls `listener` once, when there is room again; at once when there is; never when the connection goes. */
  readonly onDrain: (listener: () => void) => void
  /** Ends the answer in good order. */
  readonly end: () => void
  /** Calls `listener` when the connection goes before `end`, at most once; at once when it has gone. */
  readonly onClose: (listener: () => void) => void
  /** How often something was written: `Calls` compares it from second to second to know an idle stream. */
  readonly writes: number
  /** Whether nothing more can be written: ended here, or gone there. */
  readonly done: boolean
}

/**
 * The bytes that a slow reader may leave unread before its connection is destroyed: 8 MiB.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaultMaxBuffered: number = 8 * 1024 * 1024

/**
 * The headers of every event stream, flat, as `Exchange.stream` sends them before the caller's.
 *
 * @since 0.1.0
 * @category constructors
 */
export const headers: ReadonlyArray<string> = [
  "content-type",
  "text/event-stream",
  "cache-control",
  "no-cache, no-transform",
  "x-accel-buffering",
  "no"
]

const lineBreak = /\r\n|\r|\n/g
const hasBreak = (text: string): boolean => text.includes("\n") || text.includes("\r")

/**
 * The text of one `message` event.
 *
 * @since 0.1.0
 * @category combinators
 */
export const message = (data: string): string =>
  `event: message\ndata: ${hasBreak(data) ? data.replace(lineBreak, "\ndata: ") : data}\n\n`

/**
 * The text of a comment.
 *
 * @since 0.1.0
 * @category combinators
 */
export const commentFrame = (text: string): string => `: ${hasBreak(text) ? text.replace(lineBreak, "\n: ") : text}\n\n`
