/**
 * Exchanges over node's own server.
 *
 * @since 0.1.0
 */
import type * as Tracer from "effect/Tracer"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Body from "./Body.ts"
import type * as BodyReader from "./BodyReader.ts"
import type * as BodyWriter from "./BodyWriter.ts"
import * as EventStream from "./EventStream.ts"
import type * as Exchange from "./Exchange.ts"
import { NodeBodyReader } from "./internal/bodyReader.ts"
import { doneWriter, NodeBodyWriter } from "./internal/bodyWriter.ts"
import { closedStream } from "./internal/closedStream.ts"
import { Closing } from "./internal/closing.ts"

/**
 * What all exchanges of a server share.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The bytes that the reader of an event stream may leave unread; 8 MiB by default. */
  readonly maxBuffered?: number | undefined
  /** Takes note of what a listener threw, and says what its client is told (a 500 as plain text). */
  readonly onDefect?: ((defect: unknown) => string) | undefined
}

const link = Symbol("@effect-agentenv/server/NodeExchange")

// Listeners are shared functions that find their exchange on the emitter, so that a request makes no closures.
type Linked<A> = A & { [link]?: NodeExchange }

function onData(this: Linked<IncomingMessage>, chunk: Buffer): void {
  this[link]!.push(chunk)
}
function onEnd(this: Linked<IncomingMessage>): void {
  this[link]!.bodyEnd()
}
function onResponseClose(this: Linked<ServerResponse>): void {
  this[link]!.left()
}

/**
 * An exchange over node's request and response: one object a request.
 *
 * @since 0.1.0
 * @category models
 */
export class NodeExchange implements Exchange.Exchange {
  private readonly req: Linked<IncomingMessage>
  private readonly res: Linked<ServerResponse>
  private readonly options: Options
  private closing: Closing | undefined = undefined
  private watching = false
  private complete = false
  private pathEnd = -1

  // the body, while it is read
  private use: ((body: Body.Body) => void) | undefined = undefined
  private limit = 0
  private size = 0
  private first: Buffer | undefined = undefined
  private chunks: Array<Buffer> | undefined = undefined

  /** @since 0.1.0 */
  answered = false

  constructor(req: IncomingMessage, res: ServerResponse, options: Options) {
    this.req = req
    this.res = res
    this.options = options
  }

  /** @since 0.1.0 */
  get method(): string {
    return this.req.method!
  }

  /** @since 0.1.0 */
  get path(): string {
    const url = this.req.url!
    return url.slice(0, this.split(url))
  }

  /** @since 0.1.0 */
  get query(): string {
    const url = this.req.url!
    return url.slice(this.split(url) + 1)
  }

  /** @since 0.1.0 */
  get scheme(): "http" | "https" {
    return "encrypted" in this.req.socket ? "https" : "http"
  }

  /** @since 0.1.0 */
  get port(): number | undefined {
    return this.req.socket.localPort
  }

  /** @since 0.1.0 */
  get span(): Tracer.AnySpan | undefined {
    return undefined
  }

  /** @since 0.1.0 */
  get closed(): boolean {
    return !this.complete && this.res.destroyed
  }

  /** @since 0.1.0 */
  header(name: string): string | undefined {
    const value = this.req.headers[name]
    return Array.isArray(value) ? value.join(", ") : value
  }

  /** @since 0.1.0 */
  body(limit: number, use: (body: Body.Body) => void): void {
    const req = this.req
    if (req.destroyed || req.readableEnded) return this.give(use, Body.aborted)
    this.limit = limit
    this.use = use
    req[link] = this
    this.watch()
    if (Number(req.headers["content-length"] ?? 0) > limit) this.refuse()
    req.on("data", onData)
    req.on("end", onEnd)
  }

  /** @since 0.1.0 */
  read(): BodyReader.BodyReader {
    return new NodeBodyReader(this.req, this.res)
  }

  /** @internal */
  push(chunk: Buffer): void {
    this.size += chunk.length
    if (this.use === undefined) {
      if (this.size > this.limit + Body.drainLimit) this.req.destroy()
    } else if (this.size > this.limit) {
      this.refuse()
    } else if (this.first === undefined) {
      this.first = chunk
    } else {
      ;(this.chunks ??= [this.first]).push(chunk)
    }
  }

  /** @internal */
  bodyEnd(): void {
    const { chunks, first, use } = this
    this.chunks = this.first = this.use = undefined
    if (use === undefined) return
    this.give(
      use,
      chunks !== undefined ?
        new Body.Text(Buffer.concat(chunks, this.size))
        : first === undefined ?
        Body.empty
        : new Body.Text(first)
    )
  }

  /** @internal */
  left(): void {
    const use = this.use
    this.chunks = this.first = this.use = undefined
    if (use !== undefined) this.give(use, Body.aborted)
    if (!this.complete) this.closing?.fire()
  }

  /** @since 0.1.0 */
  reply(status: number, headers: ReadonlyArray<string>, body: string | Uint8Array): void {
    const res = this.res
    if (this.answered || res.destroyed) return
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength
    res.writeHead(status, status === 204 || status === 304 ? [...headers] : [...headers, "content-length", `${length}`])
    this.answered = this.complete = true
    res.end(body)
  }

  /** @since 0.1.0 */
  write(status: number, headers: ReadonlyArray<string>, length: number): BodyWriter.BodyWriter {
    const res = this.res
    if (this.answered || res.destroyed) return doneWriter
    res.writeHead(status, [...headers, "content-length", `${length}`])
    this.answered = true
    if (this.req.method === "HEAD") {
      this.finish()
      return doneWriter
    }
    return new NodeBodyWriter(res, () => {
      this.complete = true
    })
  }

  /** @since 0.1.0 */
  stream(status: number, headers: ReadonlyArray<string>): EventStream.EventStream {
    const res = this.res
    if (this.answered || res.destroyed) return closedStream
    res.writeHead(status, [...EventStream.headers, ...headers])
    this.answered = true
    if (this.req.method === "HEAD") {
      this.finish()
      return closedStream
    }
    res.flushHeaders()
    return new NodeEventStream(this, res, this.options.maxBuffered ?? EventStream.defaultMaxBuffered)
  }

  /** @since 0.1.0 */
  onClose(listener: () => void): void {
    if (this.complete) return
    if (this.res.destroyed && this.closing?.fired !== false) return listener()
    this.watch()
    ;(this.closing ??= new Closing()).add(listener)
  }

  /**
   * Answers for a listener that threw.
   *
   * @internal
   */
  fail(defect: unknown): void {
    const text = this.options.onDefect?.(defect) ?? "Internal Server Error"
    if (this.answered) this.res.destroy()
    else this.reply(500, textHead, text)
  }

  /** @internal */
  finish(): void {
    this.complete = true
    this.res.end()
  }

  /** @since 0.1.0 */
  private split(url: string): number {
    if (this.pathEnd === -1) {
      const mark = url.indexOf("?")
      this.pathEnd = mark === -1 ? url.length : mark
    }
    return this.pathEnd
  }

  /** @since 0.1.0 */
  private watch(): void {
    if (this.watching) return
    this.watching = true
    this.res[link] = this
    this.res.on("close", onResponseClose)
  }

  /** @since 0.1.0 */
  private refuse(): void {
    const use = this.use!
    this.chunks = this.first = this.use = undefined
    this.give(use, Body.tooLarge(this.limit))
  }

  /** @since 0.1.0 */
  private give(use: (body: Body.Body) => void, body: Body.Body): void {
    try {
      use(body)
    } catch (defect) {
      this.fail(defect)
    }
  }
}

const textHead: ReadonlyArray<string> = ["content-type", "text/plain; charset=utf-8"]

class NodeEventStream implements EventStream.EventStream {
  private readonly exchange: NodeExchange
  private readonly res: ServerResponse
  private readonly maxBuffered: number
  writes = 0

  constructor(exchange: NodeExchange, res: ServerResponse, maxBuffered: number) {
    this.exchange = exchange
    this.res = res
    this.maxBuffered = maxBuffered
  }

  get done(): boolean {
    return this.res.writableEnded || this.res.destroyed
  }

  send(data: string): void {
    this.write(EventStream.message(data))
  }

  comment(text: string): void {
    this.write(EventStream.commentFrame(text))
  }

  write(frames: string): void {
    const res = this.res
    if (res.writableEnded || res.destroyed) return
    this.writes++
    const full = this.full
    res.write(frames)
    if (full && res.writableLength > this.maxBuffered) res.destroy()
  }

  get full(): boolean {
    return this.res.writableNeedDrain
  }

  onDrain(listener: () => void): void {
    if (this.full) this.res.once("drain", listener)
    else listener()
  }

  end(): void {
    if (!this.done) this.exchange.finish()
  }

  onClose(listener: () => void): void {
    this.exchange.onClose(listener)
  }
}
