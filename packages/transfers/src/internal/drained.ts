interface Sink {
  on(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
}

const events = ["drain", "error", "close"]

/** Waits until a stream takes more, or never will. */
export const drained = (sink: Sink): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      for (const event of events) sink.off(event, done)
      resolve()
    }
    for (const event of events) sink.on(event, done)
  })
