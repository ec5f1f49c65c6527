import * as EventStream from "../EventStream.ts"
import type { Closing } from "./closing.ts"

const encoder = new TextEncoder()

/** The unread bytes from which on a reader is behind, where the bound is not even lower. */
const behind = 64 * 1024

/** An event stream over a web `ReadableStream`. */
export class WebEventStream implements EventStream.EventStream {
  private controller!: ReadableStreamDefaultController<Uint8Array>
  private readonly closing: Closing
  private readonly maxBuffered: number
  private readonly onEnd: () => void
  private ended = false
  private drained: (() => void) | undefined = undefined
  readonly readable: ReadableStream<Uint8Array>
  writes = 0

  constructor(closing: Closing, maxBuffered: number, onEnd: () => void) {
    this.closing = closing
    this.maxBuffered = maxBuffered
    this.onEnd = onEnd
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller
        },
        // called after each read, since what is unread is less than the mark as a rule
        pull: () => {
          if (this.full) return
          const drained = this.drained
          this.drained = undefined
          drained?.()
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
    const full = this.full
    this.controller.enqueue(encoder.encode(frames))
    if (full && this.unread > this.maxBuffered) this.closing.fire()
  }

  get full(): boolean {
    return !this.done && this.unread > Math.min(behind, this.maxBuffered / 2)
  }

  onDrain(listener: () => void): void {
    if (this.full) this.drained = listener
    else listener()
  }

  private get unread(): number {
    return this.maxBuffered - this.controller.desiredSize!
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
