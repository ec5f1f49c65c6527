/**
 * Event streams (`text/event-stream`), as MCP and A2A servers answer them.
 *
 * @since 0.1.0
 */

/**
 * One event of a stream: its name, `message` when it has none, its data lines joined by newlines, and the id that it goes on from, which
 * is that of an earlier event when it has none of its own.
 *
 * @since 0.1.0
 * @category models
 */
export interface Event {
  readonly event: string
  readonly data: string
  readonly id?: string | undefined
}

/**
 * Reads an event stream chunk by chunk, wherever the chunks are cut: each chunk gives the events that it completes. What no empty
 * line ends is never an event (B-TCL-4).
 *
 * @since 0.1.0
 * @category models
 */
export interface Parser {
  readonly push: (chunk: Uint8Array) => ReadonlyArray<Event>
}

/**
 * Makes the parser of one stream, from its first byte on. Comments, events without data, and the field `retry` are skipped.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (): Parser => {
  // it keeps the bytes of a character that a chunk cuts, and drops the byte order mark
  const decoder = new TextDecoder()
  let rest = ""
  let afterReturn = false
  let name = ""
  let id: string | undefined
  let data: Array<string> = []

  const line = (text: string, events: Array<Event>): void => {
    if (text === "") {
      if (data.length > 0) {
        const event = { event: name === "" ? "message" : name, data: data.join("\n") }
        events.push(id === undefined ? event : { ...event, id })
      }
      name = ""
      data = []
      return
    }
    const colon = text.indexOf(":")
    const field = colon === -1 ? text : text.slice(0, colon)
    if (field !== "data" && field !== "event" && field !== "id") return
    const value = colon === -1 ? "" : text.slice(text.startsWith(" ", colon + 1) ? colon + 2 : colon + 1)
    if (field === "data") data.push(value)
    else if (field === "event") name = value
    // an id with a NUL is none
    else if (!value.includes("\0")) id = value === "" ? undefined : value
  }

  return {
    push: (chunk) => {
      const events: Array<Event> = []
      let text = decoder.decode(chunk, { stream: true })
      if (text === "") return events
      if (afterReturn && text.startsWith("\n")) text = text.slice(1)
      afterReturn = text === "" ? false : text.endsWith("\r")
      const lines = text.split(/\r\n|\n|\r/)
      lines[0] = rest + lines[0]
      rest = lines.pop() ?? ""
      for (const each of lines) line(each, events)
      return events
    }
  }
}
