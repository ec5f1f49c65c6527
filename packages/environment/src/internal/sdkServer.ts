import type { ToolEntry } from "@effect-agentenv/protocol/EnvironmentCard"

/** The part of an SDK server, of either major, that speaks the protocol. */
export interface Protocol {
  connect(transport: never): Promise<void>
  close(): Promise<void>
  readonly transport?: unknown
}

type Ask = (request: object, signal: AbortSignal) => unknown

const method = "tools/list"

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const told = (): Promise<void> => Promise.resolve()
const asked = (): Promise<never> => Promise.reject(new Error(`${method} was asked for by a mount, not by a client`))

/** What handlers of both majors are told of their request. There is no client behind it that could be asked for anything. */
const extra = (signal: AbortSignal) => ({
  signal,
  requestId: 0,
  sendNotification: told,
  sendRequest: asked,
  mcpReq: { id: 0, method, signal, notify: told, send: asked }
})

/**
 * Asks the server's own handler, which changes nothing, connected or not. `undefined` when the server keeps its handlers elsewhere
 * than both majors do.
 */
const handlerOf = (protocol: Protocol): Ask | undefined => {
  const handlers: unknown = Reflect.get(protocol, "_requestHandlers")
  if (!(handlers instanceof Map)) return undefined
  return (request, signal) => {
    const handler: unknown = handlers.get(method) ?? Reflect.get(protocol, "fallbackRequestHandler")
    return typeof handler === "function" ? handler(request, extra(signal)) : { tools: [] }
  }
}

/** A transport in memory whose other end is a single question. */
class Question {
  onclose?: () => void
  onmessage?: (message: unknown) => void
  private answered: ((message: Record<string, unknown>) => void) | undefined = undefined

  start(): Promise<void> {
    return Promise.resolve()
  }
  close(): Promise<void> {
    this.onclose?.()
    return Promise.resolve()
  }
  send(message: unknown): Promise<void> {
    if (isObject(message) && message["id"] === 0) this.answered?.(message)
    return Promise.resolve()
  }
  ask(request: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      this.answered = resolve
      signal.addEventListener("abort", () => reject(new Error("it was asked no longer")), { once: true })
      this.onmessage?.({ jsonrpc: "2.0", id: 0, ...request })
    })
  }
}

/** Asks over a transport for as long as the answer takes; the author's `onclose` hears nothing of it. */
const overTransport = (protocol: Protocol): Ask => async (request, signal) => {
  if (protocol.transport !== undefined) throw new Error("it is connected already")
  const question = new Question()
  const onclose: unknown = Reflect.get(protocol, "onclose")
  Reflect.set(protocol, "onclose", undefined)
  try {
    // the parameter is `never` so that servers of either major fit, whose transports differ
    await protocol.connect(question as never)
    const { error, result } = await question.ask(request, signal)
    if (isObject(error)) throw new Error(String(error["message"]))
    return result
  } finally {
    await protocol.close()
    Reflect.set(protocol, "onclose", onclose)
  }
}

const toEntry = (tool: unknown): ToolEntry => {
  if (!isObject(tool) || typeof tool["name"] !== "string" || !isObject(tool["inputSchema"])) {
    throw new Error(`its answer to ${method} lists something that is no tool`)
  }
  const { description, inputSchema, name } = tool
  return { name, description: typeof description === "string" ? description : null, inputSchema }
}

/** The tools of a server as a card lists them (B-ENV-15), asked for page by page. */
const list = (ask: Ask) => async (signal: AbortSignal): Promise<ReadonlyArray<ToolEntry>> => {
  const entries: Array<ToolEntry> = []
  let cursor: string | undefined = undefined
  do {
    const request: object = { method, params: cursor === undefined ? {} : { cursor } }
    // A page names the next one.
    // oxlint-disable-next-line no-await-in-loop
    const page: unknown = await ask(request, signal)
    if (!isObject(page) || !Array.isArray(page["tools"])) throw new Error(`its answer to ${method} has no tools`)
    entries.push(...page["tools"].map(toEntry))
    cursor = typeof page["nextCursor"] === "string" ? page["nextCursor"] : undefined
  } while (cursor !== undefined && !signal.aborted)
  return entries
}

/** How to ask a server for its tools: at any time (`live`), or once, before it is connected. */
export const tools = (
  protocol: Protocol
): { readonly live: boolean; readonly list: (signal: AbortSignal) => Promise<ReadonlyArray<ToolEntry>> } => {
  const handler = handlerOf(protocol)
  return { live: handler !== undefined, list: list(handler ?? overTransport(protocol)) }
}
