import type * as EventStream from "../EventStream.ts"

/** The stream of an exchange that has nobody listening: it takes everything and says at once that it is closed. */
export const closedStream: EventStream.EventStream = {
  send: () => {},
  comment: () => {},
  write: () => {},
  full: false,
  onDrain: (listener) => listener(),
  end: () => {},
  onClose: (listener) => listener(),
  writes: 0,
  done: true
}
