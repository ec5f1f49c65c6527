/**
 * What came of reading a request's body.
 *
 * @since 0.1.0
 */

/**
 * A body that was read whole. `bytes` are what arrived; `text` decodes them as UTF-8 (invalid sequences become U+FFFD)
 * when first asked for. Use `Json.parse(body.bytes)` where validity matters.
 *
 * @since 0.1.0
 * @category models
 */
export class Text {
  /** @since 0.1.0 */
  readonly _tag = "Text"
  /** @since 0.1.0 */
  readonly bytes: Uint8Array
  private decoded: string | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.decoded = undefined
  }

  /** @since 0.1.0 */
  get text(): string {
    return this.decoded ??= Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString()
  }
}

/**
 * A body over the limit, by its declared or by its counted size. It can still be answered (413): the rest is thrown away
 * as it arrives, up to `drainLimit` bytes, instead of resetting the connection under a client that is still sending.
 *
 * @since 0.1.0
 * @category models
 */
export interface TooLarge {
  readonly _tag: "TooLarge"
  /** The limit that was given, in bytes. */
  readonly limit: number
}

/**
 * The client left before the body was complete: there is nobody to answer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Aborted {
  readonly _tag: "Aborted"
}

/**
 * What came of reading a request's body.
 *
 * @since 0.1.0
 * @category models
 */
export type Body = Text | TooLarge | Aborted

/**
 * A body over `limit` bytes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tooLarge = (limit: number): Body => ({ _tag: "TooLarge", limit })

/**
 * The body of a client that left.
 *
 * @since 0.1.0
 * @category constructors
 */
export const aborted: Aborted = { _tag: "Aborted" }

/**
 * The body of a request that has none.
 *
 * @since 0.1.0
 * @category constructors
 */
export const empty: Body = new Text(new Uint8Array(0))

/**
 * The bytes of a refused body that are read and thrown away, so that the client gets to read its 413: 64 MiB. The
 * connection of a client that sends more is closed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const drainLimit: number = 64 * 1024 * 1024
