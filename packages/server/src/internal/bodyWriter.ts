import type { Writable } from "node:stream"
import type * as BodyWriter from "../BodyWriter.ts"

/** The writer of an answer that has nobody reading: it takes everything and says at once that it is done. */
export const doneWriter: BodyWriter.BodyWriter = {
  write: () => true,
  onDrain: () => {},
  end: () => {},
  abort: () => {},
  done: true
}

/** A writer over node's response, or over what is piped into it. */
export class NodeBodyWriter implements BodyWriter.BodyWriter {
  private readonly writable: Writable
  private readonly onEnd: () => void

  constructor(writable: Writable, onEnd: () => void) {
    this.writable = writable
    this.onEnd = onEnd
  }

  get done(): boolean {
    return this.writable.writableEnded || this.writable.destroyed
  }

  write(chunk: Uint8Array): boolean {
    return this.done || this.writable.write(chunk)
  }

  onDrain(listener: () => void): void {
    this.writable.once("drain", listener)
  }

  end(): void {
    if (this.done) return
    this.onEnd()
    this.writable.end()
  }

  abort(): void {
    if (!this.done) this.writable.destroy()
  }
}

/** A writer over a web `ReadableStream`, which keeps at most `highWaterMark` bytes that nobody has read. */
export class WebBodyWriter implements BodyWriter.BodyWriter {
  private controller!: ReadableStreamDefaultController<Uint8Array>
  private drained: (() => void) | undefined = undefined
  private readonly onEnd: () => void
  readonly readable: ReadableStream<Uint8Array>
  done = false

  constructor(onEnd: () => void, onCancel: () => void) {
    this.onEnd = onEnd
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller
        },
        pull: () => {
          const drained = this.drained
          this.drained = undefined
          drained?.()
        },
        cancel: () => {
          this.done = true
          onCancel()
        }
      },
      new ByteLengthQueuingStrategy({ highWaterMark })
    )
  }

  write(chunk: Uint8Array): boolean {
    if (this.done) return true
    this.controller.enqueue(chunk)
    return this.controller.desiredSize! > 0
  }

  onDrain(listener: () => void): void {
    if (this.controller.desiredSize !== null && this.controller.desiredSize > 0) return listener()
    this.drained = listener
  }

  end(): void {
    if (this.done) return
    this.done = true
    this.onEnd()
    this.controller.close()
  }

  abort(): void {
    if (this.done) return
    this.done = true
    this.controller.error(new DOMException("The connection is closed", "AbortError"))
  }
}

const highWaterMark = 64 * 1024
