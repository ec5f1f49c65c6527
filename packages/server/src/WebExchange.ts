/**
 * Exchanges over fetch's `Request` and `Response`.
 *
 * @since 0.1.0
 */
import type * as Tracer from "effect/Tracer"
import * as Body from "./Body.ts"
import type * as BodyReader from "./BodyReader.ts"
import type * as BodyWriter from "./BodyWriter.ts"
import * as EventStream from "./EventStream.ts"
import type * as Exchange from "./Exchange.ts"
import { WebBodyReader } from "./internal/bodyReader.ts"
import { doneWriter, WebBodyWriter } from "./internal/bodyWriter.ts"
import { closedStream } from "./internal/closedStream.ts"
import { Closing } from "./internal/closing.ts"
import { WebEventStream } from "./internal/webEventStream.ts"
import type * as NodeExchange from "./NodeExchange.ts"

/**
 * Answers a fetch request with a listener. The request's `signal` is the client's leaving, as is the cancellation of the
 * response's body; a request that is aborted before an answer gets a 499 that nobody reads.
 *
 * @since 0.1.0
 * @category constructors
 */
export const respond = (
  request: Request,
  listener: Exchange.Listener,
  options?: NodeExchange.Options | undefined
): Promise<Response> =>
  new Promise((resolve) => {
    const exchange = new WebExchange(request, resolve, options ?? {})
    try {
      listener(exchange)
    } catch (defect) {
      exchange.fail(defect)
    }
  })

/**
 * An exchange over a fetch `Request`, which gives its `Response` to `resolve`.
 *
 * @since 0.1.0
 * @category models
 */
export class WebExchange implements Exchange.Exchange {
  private readonly request: Request
  private readonly resolve: (response: Response) => void
  private readonly options: NodeExchange.Options
  private readonly closing = new Closing()
  private complete = false
  /** @since 0.1.0 */
  readonly path: string
  /** @since 0.1.0 */
  readonly query: string
  /** @since 0.1.0 */
  answered = false

  constructor(request: Request, resolve: (response: Response) => void, options: NodeExchange.Options) {
    this.request = request
    this.resolve = resolve
    this.options = options
    const url = request.url
    const start = url.indexOf("/", url.indexOf("://") + 3)
    const hash = url.indexOf("#")
    const target = start === -1 ? "/" : hash === -1 ? url.slice(start) : url.slice(start, hash)
    const mark = target.indexOf("?")
    this.path = mark === -1 ? target : target.slice(0, mark)
    this.query = mark === -1 ? "" : target.slice(mark + 1)
    const signal = request.signal
    if (signal.aborted) this.left()
    else signal.addEventListener("abort", this.left, { once: true })
  }

  /** @since 0.1.0 */
  get scheme(): "http" | "https" {
    return this.request.url.startsWith("https:") ? "https" : "http"
  }

  /** @since 0.1.0 */
  get port(): number | undefined {
    return undefined
  }

  /** @since 0.1.0 */
  get method(): string {
    return this.request.method
  }

  /** @since 0.1.0 */
  get span(): Tracer.AnySpan | undefined {
    return undefined
  }

  /** @since 0.1.0 */
  get closed(): boolean {
    return this.closing.fired
  }

  /** @since 0.1.0 */
  header(name: string): string | undefined {
    return this.request.headers.get(name) ?? (name === "host" ? new URL(this.request.url).host : undefined)
  }

  /** @since 0.1.0 */
  body(limit: number, use: (body: Body.Body) => void): void {
    const give = (body: Body.Body): void => {
      try {
        use(body)
      } catch (defect) {
        this.fail(defect)
      }
    }
    if (this.request.bodyUsed || this.closed) return give(Body.aborted)
    if (Number(this.request.headers.get("content-length") ?? 0) > limit) return give(Body.tooLarge(limit))
    if (this.request.body === null) return give(Body.empty)
    read(this.request.body, limit, this.request.signal).then(give, () => give(Body.aborted))
  }

  /** @since 0.1.0 */
  read(): BodyReader.BodyReader {
    return new WebBodyReader(this.request)
  }

  /** @since 0.1.0 */
  reply(status: number, headers: ReadonlyArray<string>, body: string | Uint8Array): void {
    if (this.answered || this.closed) return
    const head = toHeaders(headers)
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength
    const bodyless = status === 204 || status === 304
    if (!bodyless) head.set("content-length", `${length}`)
    // `Uint8Array` is a body everywhere; the type asks for one that is not over shared memory.
    const content = bodyless || this.request.method === "HEAD" ? null : body as string | Uint8Array<ArrayBuffer>
    const response = new Response(content, { status, headers: head })
    this.answered = true
    this.finish()
    this.resolve(response)
  }

  /** @since 0.1.0 */
  write(status: number, headers: ReadonlyArray<string>, length: number): BodyWriter.BodyWriter {
    if (this.answered || this.closed) return doneWriter
    const head = toHeaders([...headers, "content-length", `${length}`])
    this.answered = true
    if (this.request.method === "HEAD") {
      this.finish()
      this.resolve(new Response(null, { status, headers: head }))
      return doneWriter
    }
    const writer = new WebBodyWriter(() => this.finish(), () => this.closing.fire())
    this.closing.add(() => writer.abort())
    this.resolve(new Response(writer.readable, { status, headers: head }))
    return writer
  }

  /** @since 0.1.0 */
  stream(status: number, headers: ReadonlyArray<string>): EventStream.EventStream {
    if (this.answered || this.closed) return closedStream
    const head = toHeaders([...EventStream.headers, ...headers])
    this.answered = true
    if (this.request.method === "HEAD") {
      this.finish()
      this.resolve(new Response(null, { status, headers: head }))
      return closedStream
    }
    const stream = new WebEventStream(this.closing, this.options.maxBuffered ?? EventStream.defaultMaxBuffered, () => {
      this.finish()
    })
    this.resolve(new Response(stream.readable, { status, headers: head }))
    return stream
  }

  /** @since 0.1.0 */
  onClose(listener: () => void): void {
    if (!this.complete) this.closing.add(listener)
  }

  /**
   * Answers for a listener that threw.
   *
   * @internal
   */
  fail(defect: unknown): void {
    const text = this.options.onDefect?.(defect) ?? "Internal Server Error"
    if (this.answered) this.left()
    else this.reply(500, ["content-type", "text/plain; charset=utf-8"], text)
  }

  private readonly left = (): void => {
    if (this.complete) return
    if (!this.answered) this.resolve(new Response(null, { status: 499 }))
    this.closing.fire()
  }

  /** @since 0.1.0 */
  private finish(): void {
    this.complete = true
    this.request.signal.removeEventListener("abort", this.left)
  }
}

const toHeaders = (flat: ReadonlyArray<string>): Headers => {
  const headers = new Headers()
  for (let i = 1; i < flat.length; i += 2) headers.append(flat[i - 1]!, flat[i]!)
  return headers
}

const read = async (stream: ReadableStream<Uint8Array>, limit: number, signal: AbortSignal): Promise<Body.Body> => {
  const reader = stream.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener("abort", cancel, { once: true })
  const chunks: Array<Uint8Array> = []
  let size = 0
  try {
    while (true) {
      // Chunks come one after the other by nature.
      // oxlint-disable-next-line no-await-in-loop
      const next = await reader.read()
      if (signal.aborted) return Body.aborted
      if (next.done) {
        return size === 0
          ? Body.empty
          : new Body.Text(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
      }
      size += next.value.byteLength
      if (size > limit) {
        cancel()
        return Body.tooLarge(limit)
      }
      chunks.push(next.value)
    }
  } finally {
    signal.removeEventListener("abort", cancel)
  }
}
