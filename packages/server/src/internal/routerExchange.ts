import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"
import { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { PassThrough } from "node:stream"
import * as Body from "../Body.ts"
import type * as BodyReader from "../BodyReader.ts"
import type * as BodyWriter from "../BodyWriter.ts"
import * as Correlation from "../Correlation.ts"
import * as EventStream from "../EventStream.ts"
import type * as Exchange from "../Exchange.ts"
import { NodeExchange } from "../NodeExchange.ts"
import { WebExchange } from "../WebExchange.ts"
import { ReadBodyReader } from "./bodyReader.ts"
import { doneWriter, NodeBodyWriter, WebBodyWriter } from "./bodyWriter.ts"
import { closedStream } from "./closedStream.ts"
import { Closing } from "./closing.ts"
import { MaxBuffered } from "./limits.ts"
import { leaveToListeners } from "./requests.ts"
import { WebEventStream } from "./webEventStream.ts"

type Resume = (effect: Effect.Effect<HttpServerResponse.HttpServerResponse>) => void

/**
 * The exchange of a listener that runs behind the platform's router: the request is read from its source, the answer is
 * a platform response, so that middleware that reads the one or changes the other works.
 */
class RouterExchange implements Exchange.Exchange {
  private readonly request: HttpServerRequest.HttpServerRequest
  private readonly resume: Resume
  private readonly maxBuffered: number
  private readonly closing = new Closing()
  private complete = false
  readonly span: Tracer.AnySpan | undefined
  answered = false

  constructor(
    request: HttpServerRequest.HttpServerRequest,
    span: Tracer.AnySpan | undefined,
    maxBuffered: number,
    resume: Resume
  ) {
    this.request = request
    this.maxBuffered = maxBuffered
    this.span = span
    this.resume = resume
  }

  get method(): string {
    return this.request.method
  }

  get scheme(): "http" | "https" {
    return this.socket !== undefined && "encrypted" in this.socket ? "https" : "http"
  }

  get port(): number | undefined {
    return this.socket?.localPort
  }

  /** The connection, when the request is one of node's. */
  private get socket(): Socket | undefined {
    const source = this.request.source
    return source instanceof IncomingMessage ? source.socket : undefined
  }

  get path(): string {
    return this.request.url.split("?", 1)[0]!
  }

  get query(): string {
    const mark = this.request.url.indexOf("?")
    return mark === -1 ? "" : this.request.url.slice(mark + 1)
  }

  get closed(): boolean {
    return this.closing.fired
  }

  header(name: string): string | undefined {
    const value: unknown = this.request.headers[name]
    return Array.isArray(value) ? value.join(", ") : value as string | undefined
  }

  body(limit: number, use: (body: Body.Body) => void): void {
    const give = (body: Body.Body): void => {
      try {
        use(body)
      } catch (defect) {
        this.fail(defect)
      }
    }
    const source = this.request.source
    if (isConsumed(source)) {
      this.consumed((bytes) => give(bytes === undefined ? Body.aborted : within(bytes, limit)))
    } else if (isWeb(source)) {
      new WebExchange(source, () => {}, {}).body(limit, give)
    } else {
      const res = NodeHttpServerRequest.toServerResponse(this.request)
      new NodeExchange(NodeHttpServerRequest.toIncomingMessage(this.request), res, {}).body(limit, give)
    }
  }

  read(): BodyReader.BodyReader {
    const source = this.request.source
    if (isConsumed(source)) return new ReadBodyReader((use) => this.consumed(use))
    if (isWeb(source)) return new WebExchange(source, () => {}, {}).read()
    const res = NodeHttpServerRequest.toServerResponse(this.request)
    return new NodeExchange(NodeHttpServerRequest.toIncomingMessage(this.request), res, {}).read()
  }

  // A middleware has read the body; the platform keeps what it read as text.
  private consumed(use: (bytes: Uint8Array | undefined) => void): void {
    Effect.runCallback(this.request.text, {
      onExit: (exit) => use(Exit.isSuccess(exit) ? Buffer.from(exit.value) : undefined)
    })
  }

  reply(status: number, headers: ReadonlyArray<string>, body: string | Uint8Array): void {
    if (this.answered || this.closed) return
    const head = toRecord(headers)
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength
    if (status !== 204 && status !== 304) head["content-length"] = `${length}`
    this.answered = this.complete = true
    this.resume(Effect.succeed(
      length === 0
        ? HttpServerResponse.empty({ status, headers: head })
        : HttpServerResponse.raw(body, { status, headers: head })
    ))
  }

  write(status: number, headers: ReadonlyArray<string>, length: number): BodyWriter.BodyWriter {
    if (this.answered || this.closed) return doneWriter
    const head = toRecord([...headers, "content-length", `${length}`])
    this.answered = true
    const onEnd = (): void => {
      this.complete = true
    }
    if (this.request.method === "HEAD") {
      onEnd()
      this.resume(Effect.succeed(HttpServerResponse.empty({ status, headers: head })))
      return doneWriter
    }
    const [writer, content] = isWeb(this.request.source)
      ? webWriter(this.closing, onEnd)
      : nodeWriter(this.closing, onEnd, this.request)
    this.resume(Effect.succeed(HttpServerResponse.raw(content, { status, headers: head })))
    return writer
  }

  stream(status: number, headers: ReadonlyArray<string>): EventStream.EventStream {
    if (this.answered || this.closed) return closedStream
    const head = toRecord([...EventStream.headers, ...headers])
    this.answered = true
    if (this.request.method === "HEAD") {
      this.complete = true
      this.resume(Effect.succeed(HttpServerResponse.empty({ status, headers: head })))
      return closedStream
    }
    const onEnd = (): void => {
      this.complete = true
    }
    const [stream, content] = isWeb(this.request.source)
      ? web(this.closing, this.maxBuffered, onEnd)
      : node(this.closing, this.maxBuffered, onEnd, this.request)
    // Nothing is sent before the first frame, and a client may wait for the head.
    stream.comment("open")
    this.resume(Effect.succeed(HttpServerResponse.raw(content, { status, headers: head })))
    return stream
  }

  onClose(listener: () => void): void {
    if (!this.complete) this.closing.add(listener)
  }

  left(): void {
    if (!this.complete) this.closing.fire()
  }

  fail(defect: unknown): void {
    if (this.answered) return this.left()
    this.answered = this.complete = true
    this.resume(Effect.map(
      Correlation.reportEffect(Cause.die(defect)),
      (sentence) => HttpServerResponse.text(sentence, { status: 500 })
    ))
  }
}

/** A route handler of the platform's that runs a listener. */
export const handler = (listener: Exchange.Listener) =>
(
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.withFiberRuntime((fiber) => {
    // The listener's calls end with their own layer, which answers them: this fiber only waits for that answer.
    leaveToListeners(fiber)
    const span = fiber.currentContext.unsafeMap.get(Tracer.ParentSpan.key) as Tracer.AnySpan | undefined
    const maxBuffered = Context.get(fiber.currentContext, MaxBuffered)
    return Effect.async<HttpServerResponse.HttpServerResponse>((resume) => {
      const exchange = new RouterExchange(request, span, maxBuffered, resume)
      try {
        listener(exchange)
      } catch (defect) {
        exchange.fail(defect)
      }
      return Effect.sync(() => exchange.left())
    })
  })

const isWeb = (source: unknown): source is Request => source instanceof Request

const isConsumed = (source: unknown): boolean =>
  isWeb(source) ? source.bodyUsed : (source as { readonly readableEnded: boolean }).readableEnded

const within = (bytes: Uint8Array, limit: number): Body.Body =>
  bytes.byteLength > limit ? Body.tooLarge(limit) : new Body.Text(bytes)

const toRecord = (flat: ReadonlyArray<string>): Record<string, string> => {
  const record: Record<string, string> = {}
  for (let i = 1; i < flat.length; i += 2) {
    const name = flat[i - 1]!.toLowerCase()
    record[name] = name in record ? `${record[name]}, ${flat[i]}` : flat[i]!
  }
  return record
}

type Opened = readonly [stream: EventStream.EventStream, content: unknown]

const web = (closing: Closing, maxBuffered: number, onEnd: () => void): Opened => {
  const stream = new WebEventStream(closing, maxBuffered, onEnd)
  return [stream, stream.readable]
}

const node = (
  closing: Closing,
  maxBuffered: number,
  onEnd: () => void,
  request: HttpServerRequest.HttpServerRequest
): Opened => {
  const stream = new PassThroughStream(closing, maxBuffered, onEnd)
  // The response ends without the stream when a middleware has put another in its place.
  NodeHttpServerRequest.toServerResponse(request).once("close", () => stream.through.destroy())
  return [stream, stream.through]
}

const webWriter = (closing: Closing, onEnd: () => void): readonly [BodyWriter.BodyWriter, unknown] => {
  const writer = new WebBodyWriter(onEnd, () => closing.fire())
  closing.add(() => writer.abort())
  return [writer, writer.readable]
}

const nodeWriter = (
  closing: Closing,
  onEnd: () => void,
  request: HttpServerRequest.HttpServerRequest
): readonly [BodyWriter.BodyWriter, unknown] => {
  const through = new PassThrough()
  closing.add(() => through.destroy())
  through.once("close", () => {
    if (!through.writableEnded) closing.fire()
  })
  // As for a stream.
  NodeHttpServerRequest.toServerResponse(request).once("close", () => through.destroy())
  return [new NodeBodyWriter(through, onEnd), through]
}

/** An event stream that the platform pipes into node's response. */
class PassThroughStream implements EventStream.EventStream {
  readonly through = new PassThrough()
  private readonly closing: Closing
  private readonly maxBuffered: number
  private readonly onEnd: () => void
  writes = 0

  constructor(closing: Closing, maxBuffered: number, onEnd: () => void) {
    this.closing = closing
    this.maxBuffered = maxBuffered
    this.onEnd = onEnd
    closing.add(() => this.through.destroy())
    this.through.once("close", () => {
      if (!this.through.writableEnded) closing.fire()
    })
  }

  get done(): boolean {
    return this.through.writableEnded || this.through.destroyed
  }

  send(data: string): void {
    this.write(EventStream.message(data))
  }

  comment(text: string): void {
    this.write(EventStream.commentFrame(text))
  }

  write(frames: string): void {
    if (this.done) return
    this.writes++
    const full = this.full
    this.through.write(frames)
    if (full && this.through.writableLength + this.through.readableLength > this.maxBuffered) {
      this.through.destroy()
    }
  }

  get full(): boolean {
    return this.through.writableNeedDrain
  }

  onDrain(listener: () => void): void {
    if (this.full) this.through.once("drain", listener)
    else listener()
  }

  end(): void {
    if (this.done) return
    this.onEnd()
    this.through.end()
  }

  onClose(listener: () => void): void {
    if (!this.through.writableEnded) this.closing.add(listener)
  }
}
