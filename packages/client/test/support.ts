import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { Effect, Layer } from "effect"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"

/** A request as a fake server sees it; `body` is its JSON. */
export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: any
  readonly signal: AbortSignal
}

export interface Fake {
  readonly log: Array<Received>
  readonly client: HttpClient.HttpClient
  readonly layer: Layer.Layer<HttpClient.HttpClient>
}

/** A server without a port: every request is answered by a function, and remembered. */
export const fake = (
  respond: (received: Received) => Effect.Effect<Response, { readonly code: string }>
): Fake => {
  const log: Array<Received> = []
  const client = HttpClient.make((request, url, signal) => {
    const text = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : undefined
    const received: Received = {
      method: request.method,
      url: url.href,
      headers: { ...request.headers },
      body: text === undefined || text === "" ? undefined : JSON.parse(text),
      signal
    }
    log.push(received)
    return respond(received).pipe(
      Effect.map((response) => HttpClientResponse.fromWeb(request, response)),
      Effect.mapError(({ code }) =>
        new HttpClientError.RequestError({
          request,
          reason: "Transport",
          cause: Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code })
        })
      )
    )
  })
  return { log, client, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } })

export const text = (body: string, status = 200): Response => new Response(body, { status })

export const event = (message: unknown): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`

const eventStream = { headers: { "content-type": "text/event-stream; charset=utf-8" } }

/** An event stream that ends after these texts. */
export const events = (...texts: ReadonlyArray<string>): Response => new Response(texts.join(""), eventStream)

/** An event stream that stays open, to be written to by hand. */
export const liveEvents = () => {
  const encoder = new TextEncoder()
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let isCancelled = false
  const stream = new ReadableStream<Uint8Array>({
    start: (it) => {
      controller = it
    },
    cancel: () => {
      isCancelled = true
    }
  })
  return {
    response: new Response(stream, eventStream),
    send: (message: unknown) => controller?.enqueue(encoder.encode(event(message))),
    isCancelled: () => isCancelled
  }
}

export type Handle = (message: any, received: Received) => Effect.Effect<Response>

export interface FakeMcp extends Fake {
  /** The JSON-RPC messages received, without the opening of sessions. */
  readonly messages: () => ReadonlyArray<any>
  /** Forgets all sessions, as a restart does. */
  readonly restart: () => void
  readonly sessions: () => ReadonlyArray<string>
}

export const result = (message: any, value: unknown): Response =>
  json({ jsonrpc: "2.0", id: message.id, result: value })

export const says = (text: string, more: object = {}) => ({ content: [{ type: "text", text }], ...more })

/** An MCP server with sessions, whose requests are answered by `handle`, and that hears answers to its own. */
export const fakeMcp = (
  handle: Handle,
  onAnswer: (message: any) => Effect.Effect<unknown> = () => Effect.void
): FakeMcp => {
  const sessions = new Set<string>()
  let opened = 0
  const opening = new Set(["initialize", "notifications/initialized"])
  const server = fake((received) => {
    const id = received.headers["mcp-session-id"]
    const message = received.body
    if (received.method === "DELETE") {
      if (id !== undefined) sessions.delete(id)
      return Effect.succeed(new Response(null, { status: 204 }))
    }
    if (message.method === "initialize") {
      const session = `s${++opened}`
      sessions.add(session)
      return Effect.succeed(json(
        {
          jsonrpc: "2.0",
          id: message.id,
          result: {
            protocolVersion: "2025-06-18",
            capabilities: { tools: {} },
            serverInfo: { name: "fake", version: "1" },
            instructions: "Be kind."
          }
        },
        200,
        { "mcp-session-id": session }
      ))
    }
    if (id === undefined || !sessions.has(id)) return Effect.succeed(json({ error: "no session" }, 404))
    if (!("method" in message)) return Effect.as(onAnswer(message), new Response(null, { status: 202 }))
    if (!("id" in message)) return Effect.succeed(new Response(null, { status: 202 }))
    return handle(message, received)
  })
  return {
    ...server,
    messages: () => server.log.flatMap(({ body }) => (body === undefined || opening.has(body.method) ? [] : [body])),
    restart: () => sessions.clear(),
    sessions: () => [...sessions]
  }
}

/** A server on a real port, closed with the scope. */
export const node = (listener: Http.RequestListener) =>
  Effect.acquireRelease(
    Effect.async<Http.Server>((resume) => {
      const server = Http.createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.async<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  ).pipe(Effect.map((server) => ({ server, port: (server.address() as AddressInfo).port })))
