import * as EventStream from "../EventStream.ts"
import type { Closing } from "./closing.ts"

const encoder = new TextEncoder()

/** An event stream over a web `ReadableStream`. */
export class WebEventStream implements EventStream.EventStream {
  private controller!: ReadableStreamDefaultController<Uint8Array>
  private readonly closing: Closing
  private readonly onEnd: () => void
  private ended = false
  readonly readable: ReadableStream<Uint8Array>
  writes = 0

  constructor(closing: Closing, maxBuffered: number, onEnd: () => void) {
    this.closing = closing
    this.onEnd = onEnd
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller
        },
        cancel: () => closing.fire()
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxBuffered })
    )
    closing.add(() => {
      if (!this.ended) this.controller.error(new DOMException("The connection is closed", "AbortError"))
    })
  }

  get done(): boolean {
    return this.ended || this.closing.fired
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
    this.controller.enqueue(encoder.encode(frames))
    if (this.controller.desiredSize! < 0) this.closing.fire()
  }

  end(): void {
    if (this.done) return
    this.ended = true
    this.onEnd()
    this.controller.close()
  }

  onClose(listener: () => void): void {
    if (!this.ended) this.closing.add(listener)
  }
}
