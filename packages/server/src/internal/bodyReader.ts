import type { IncomingMessage, ServerResponse } from "node:http"
import * as Body from "../Body.ts"
import * as BodyReader from "../BodyReader.ts"

type Use = (read: BodyReader.Read) => void

// Enough to read on while the last bytes are worked on. What waits when the collector comes by outlives its purpose: with twice as much
// a large upload holds 70 MB of it instead of 45.
const maxQueued = 128 * 1024

/** A reader over node's request, which is paused as soon as enough is waiting. */
export class NodeBodyReader implements BodyReader.BodyReader {
  private readonly req: IncomingMessage
  private readonly res: ServerResponse
  private queue: Array<Uint8Array> = []
  private queued = 0
  private use: Use | undefined = undefined
  private state: "idle" | "reading" | "ended" | "aborted" | "cancelled" = "idle"
  private thrownAway = 0

  constructor(req: IncomingMessage, res: ServerResponse) {
    this.req = req
    this.res = res
  }

  next(use: Use): void {
    if (this.state === "idle") this.start()
    this.use = use
    this.give()
  }

  cancel(): void {
    if (this.state === "idle") this.start()
    if (this.state !== "reading") return
    this.state = "cancelled"
    this.use = undefined
    this.queue = []
    this.req.resume()
  }

  private start(): void {
    const req = this.req
    if (req.destroyed) {
      // A request that was read whole is destroyed as well.
      this.state = req.readableEnded ? "ended" : "aborted"
      return
    }
    this.state = "reading"
    req.on("data", (chunk: Buffer) => this.push(chunk))
    req.once("end", () => this.finish("ended"))
    req.once("close", () => this.finish("aborted"))
    this.res.once("close", () => this.finish("aborted"))
  }

  private push(chunk: Buffer): void {
    if (this.state === "cancelled") {
      this.thrownAway += chunk.length
      if (this.thrownAway > Body.drainLimit) this.req.destroy()
      return
    }
    this.queue.push(chunk)
    this.queued += chunk.length
    this.give()
    if (this.queued >= maxQueued) this.req.pause()
  }

  private finish(state: "ended" | "aborted"): void {
    if (this.state !== "reading") return
    this.state = state
    if (state === "aborted") this.queue = []
    this.give()
  }

  private give(): void {
    const use = this.use
    if (use === undefined) return
    if (this.queue.length > 0) {
      const chunks = this.queue
      const full = this.queued >= maxQueued
      this.queue = []
      this.queued = 0
      this.use = undefined
      if (full && this.state === "reading") this.req.resume()
      use({ _tag: "Chunks", chunks })
    } else if (this.state === "ended") {
      this.use = undefined
      use(BodyReader.end)
    } else if (this.state === "aborted") {
      this.use = undefined
      use(Body.aborted)
    }
  }
}

/** A reader over a fetch request's body. */
export class WebBodyReader implements BodyReader.BodyReader {
  private readonly request: Request
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined
  private cancelled = false

  constructor(request: Request) {
    this.request = request
  }

  next(use: Use): void {
    const signal = this.request.signal
    if (signal.aborted) return use(Body.aborted)
    if (this.request.body === null) return use(BodyReader.end)
    if (this.reader === undefined) {
      if (this.request.bodyUsed) return use(Body.aborted)
      this.reader = this.request.body.getReader()
    }
    let told = false
    const tell = (read: BodyReader.Read): void => {
      if (told) return
      told = true
      signal.removeEventListener("abort", onAbort)
      if (!this.cancelled) use(read)
    }
    const onAbort = (): void => tell(Body.aborted)
    signal.addEventListener("abort", onAbort, { once: true })
    this.reader.read().then(
      (next) => tell(next.done ? BodyReader.end : { _tag: "Chunks", chunks: [next.value] }),
      () => tell(Body.aborted)
    )
  }

  cancel(): void {
    if (this.cancelled) return
    this.cancelled = true
    if (this.reader !== undefined) this.reader.cancel().catch(() => {})
    else if (!this.request.bodyUsed) this.request.body?.cancel().catch(() => {})
  }
}

/** A reader of what somebody else has read already. */
export class ReadBodyReader implements BodyReader.BodyReader {
  private readonly load: (use: (bytes: Uint8Array | undefined) => void) => void
  private state: "idle" | "ended" | "cancelled" = "idle"

  constructor(load: (use: (bytes: Uint8Array | undefined) => void) => void) {
    this.load = load
  }

  next(use: Use): void {
    if (this.state !== "idle") return use(BodyReader.end)
    this.state = "ended"
    this.load((bytes) => {
      if (this.state === "cancelled") return
      if (bytes === undefined) return use(Body.aborted)
      if (bytes.byteLength === 0) return use(BodyReader.end)
      use({ _tag: "Chunks", chunks: [bytes] })
    })
  }

  cancel(): void {
    this.state = "cancelled"
  }
}
