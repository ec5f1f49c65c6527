/**
 * One HTTP request and the answer to it, as everything above the floor sees them.
 *
 * @since 0.1.0
 */
import type * as Tracer from "effect/Tracer"
import type * as Body from "./Body.ts"
import type * as BodyReader from "./BodyReader.ts"
import type * as BodyWriter from "./BodyWriter.ts"
import type * as EventStream from "./EventStream.ts"

/**
 * One request and its answer, whatever carries them: node's server, a fetch handler, a test's own process. Everything
 * is synchronous or a callback, so that a request that needs no waiting costs no fiber and no promise.
 *
 * @since 0.1.0
 * @category models
 */
export interface Exchange {
  /** The verb in upper case. */
  readonly method: string
  /** The URL up to its `?`, undecoded, without scheme and host. */
  readonly path: string
  /** What follows the `?`, undecoded; `""` when there is none. */
  readonly query: string
  /** The HTTP span that already covers this request, when the platform's router made one. */
  readonly span: Tracer.AnySpan | undefined
  /** The scheme that the client spoke to this server. */
  readonly scheme: "http" | "https"
  /** The port that the request came in by, where there is one. */
  readonly port: number | undefined
  /** A request header by its lower-case name; the joined value when it was repeated. */
  readonly header: (name: string) => string | undefined
  /** Reads the body, at most `limit` bytes of it, and calls `use` exactly once. */
  readonly body: (limit: number, use: (body: Body.Body) => void) => void
  /** Reads the body as it arrives, whatever its size, instead of `body`. Nothing is read before the first `next`. */
  readonly read: () => BodyReader.BodyReader
  /**
   * Answers, `headers` flat (`["content-type", "application/json"]`) and without `content-length`, which is set here.
   * Ignored when already answered or when the client has left.
   */
  readonly reply: (status: number, headers: ReadonlyArray<string>, body: string | Uint8Array) => void
  /**
   * Answers with a body of `length` bytes that is written piece by piece; `headers` as for `reply`. The writer is done
   * already on an exchange that is answered, whose client has left, or that is a `HEAD`.
   */
  readonly write: (status: number, headers: ReadonlyArray<string>, length: number) => BodyWriter.BodyWriter
  /**
   * Answers with an event stream, whose head (`text/event-stream` and the flat `headers`) leaves at once. On an exchange
   * that is already answered, or whose client has left, the stream is a closed one.
   */
  readonly stream: (status: number, headers: ReadonlyArray<string>) => EventStream.EventStream
  /**
   * Calls `listener` when the client leaves before the answer is complete, at most once; at once when it has left.
   */
  readonly onClose: (listener: () => void) => void
  /** Whether a reply was given, or an event stream or a written body begun. */
  readonly answered: boolean
  /** Whether the client left before the answer was complete. */
  readonly closed: boolean
}

/**
 * What answers an exchange: it must lead to one `reply`, `write` or `stream`, now or later.
 *
 * @since 0.1.0
 * @category models
 */
export type Listener = (exchange: Exchange) => void

const jsonHead: ReadonlyArray<string> = ["content-type", "application/json"]

/**
 * Answers with a value as JSON, for the replies that are not worth a module of their own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const json = (exchange: Exchange, status: number, value: unknown, headers?: ReadonlyArray<string>): void =>
  exchange.reply(status, headers === undefined ? jsonHead : [...jsonHead, ...headers], JSON.stringify(value))
