import { ToolCall } from "@effect-agentenv/environment/ToolCall"
import { AgentEnvError, type Mcp } from "@effect-agentenv/protocol"
import { Calls, InProcess } from "@effect-agentenv/server"
import { Cause, type Context, Effect, Exit, type Scope } from "effect"
import { Catalog } from "../src/internal/catalog.ts"
import { Gate } from "../src/internal/gate.ts"
import * as mcp from "../src/internal/mcp/route.ts"
import type { Read, Surface as Rest, SurfaceTool } from "../src/internal/surface.ts"

type Call = Context.Tag.Service<typeof ToolCall>

export const textResult = (text: string): Mcp.CallToolResult => ({ content: [{ type: "text", text }] })

const errorResult = (text: string): Mcp.CallToolResult => ({ ...textResult(text), isError: true })

/** A tool by hand: its handler is given the arguments and the `ToolCall`. */
export const tool = (
  name: string,
  handler: (args: any, call: Call) => Effect.Effect<Mcp.CallToolResult, unknown>,
  listed: Partial<Mcp.Tool> = {}
): readonly [string, SurfaceTool] => [name, {
  listed: { name, description: `The tool ${name}.`, inputSchema: { type: "object" }, ...listed },
  prepare: (args) =>
    (args as { refuse?: boolean }).refuse === true
      ? { _tag: "Refused", result: errorResult("refuse: must not be true") }
      : { _tag: "Ready", effect: Effect.flatMap(ToolCall, (call) => handler(args, call)) },
  result: (exit) => {
    if (Exit.isSuccess(exit)) return exit.value
    return Cause.isInterruptedOnly(exit.cause) ? undefined : errorResult("it failed")
  }
}]

/** What a test serves: a surface, and its tools. */
export interface Surface extends Rest {
  readonly tools: ReadonlyMap<string, SurfaceTool>
}

export const surface = (
  tools: ReadonlyArray<readonly [string, SurfaceTool]>,
  more: Partial<Surface> = {}
): Surface => ({
  name: "parcels",
  version: "1.2.3",
  instructions: undefined,
  tools: new Map(tools),
  resources: [],
  resourceTemplates: [],
  readResource: () => ({ _tag: "Unknown" }),
  prompts: [],
  getPrompt: () => ({ _tag: "Unknown" }),
  failure: (exit) =>
    Cause.isInterruptedOnly(exit.cause)
      ? undefined
      : { code: -32000, message: AgentEnvError.isAgentEnvError(Cause.squash(exit.cause)) ? "typed" : "it failed" },
  ...more
})

export const ready = <A>(effect: Effect.Effect<A, unknown, ToolCall>): Read<A> => ({ _tag: "Ready", effect })

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON of the body, `undefined` when there is none. */
  readonly json: any
}

/** The events of a stream, one by one. */
interface Events {
  readonly status: number
  readonly headers: Headers
  /** The next event's JSON; `undefined` at the end. */
  readonly next: Effect.Effect<any>
  /** All text that has come so far. */
  readonly seen: () => string
  readonly leave: () => void
}

export const both = "application/json, text/event-stream"

type HeaderValues = Readonly<Record<string, string>>

interface Client {
  readonly fetch: (init: RequestInit) => Promise<Response>
  /** Sends a body as it is. */
  readonly send: (body: string | Uint8Array, headers?: HeaderValues, method?: string) => Effect.Effect<Answer>
  readonly post: (message: unknown, headers?: HeaderValues) => Effect.Effect<Answer>
  /** Sends a request whose answer is read as a stream. */
  readonly stream: (message: unknown, headers?: HeaderValues, method?: string) => Effect.Effect<Events>
  readonly get: (headers?: HeaderValues) => Effect.Effect<Answer>
  readonly delete: (headers?: HeaderValues) => Effect.Effect<Answer>
}

// An empty value is a header that is not sent.
const given = (headers: HeaderValues): HeaderValues =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""))

const init = (body: string | Uint8Array, headers: HeaderValues): RequestInit => ({
  method: "POST",
  body: body as string,
  headers: given({ "content-type": "application/json", ...headers })
})

export const client = (handler: (request: Request) => Promise<Response>): Client => {
  const url = "http://localhost/mcp"
  const fetch = (init: RequestInit) => handler(new Request(url, init))
  const answer = (init: RequestInit): Effect.Effect<Answer> =>
    Effect.promise(async (signal) => {
      const response = await fetch({ ...init, signal })
      const text = await response.text()
      const isJson = response.headers.get("content-type") === "application/json"
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: isJson && text !== "" ? JSON.parse(text) : undefined
      }
    })
  const send: Client["send"] = (body, headers = {}, method = "POST") => answer({ ...init(body, headers), method })
  return {
    fetch,
    send,
    post: (message, headers) => send(JSON.stringify(message), headers),
    stream: (message, headers = {}, method = "POST") =>
      Effect.promise(async () => {
        const controller = new AbortController()
        const base = message === undefined ? { headers } : init(JSON.stringify(message), { accept: both, ...headers })
        const response = await fetch({ ...base, method, signal: controller.signal })
        return events(response, () => controller.abort())
      }),
    get: (headers = {}) => answer({ method: "GET", headers }),
    delete: (headers = {}) => answer({ method: "DELETE", headers })
  }
}

const events = (response: Response, leave: () => void): Events => {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ""
  let rest = ""
  const read = async (): Promise<any> => {
    while (true) {
      const end = rest.indexOf("\n\n")
      if (end !== -1) {
        const frame = rest.slice(0, end)
        rest = rest.slice(end + 2)
        const data = frame.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6))
        if (data.length > 0) return JSON.parse(data.join("\n"))
      } else {
        // The events come one after the other by nature.
        // oxlint-disable-next-line no-await-in-loop
        const next = await reader.read()
        if (next.done) return undefined
        seen += next.value
        rest += next.value
      }
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    next: Effect.promise(read),
    seen: () => seen,
    leave
  }
}

export interface Served extends Client {
  readonly gate: Gate
  readonly calls: Calls.Calls<never>
  readonly liveSessions: () => number
  /** Opens a session and answers the header that names it. */
  readonly open: (capabilities?: object, version?: string) => Effect.Effect<{ readonly "mcp-session-id": string }>
}

export type Options = Omit<Partial<mcp.Options<never>>, "surface" | "catalog" | "gate" | "calls" | "path">

export const initialize = (capabilities: object = {}, protocolVersion = "2025-11-25") => ({
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: { protocolVersion, capabilities, clientInfo: { name: "test", version: "1" } }
})

/** Serves a surface without a port. */
export const serve = (surface: Surface, options: Options = {}): Effect.Effect<Served, never, Scope.Scope> =>
  Effect.gen(function*() {
    const gate = new Gate()
    const calls = yield* Calls.make()
    const route = yield* mcp.make({
      surface,
      catalog: new Catalog(surface.tools),
      gate,
      calls,
      path: "/mcp",
      ...options
    })
    const it = client(InProcess.fetch([route]))
    return {
      ...it,
      gate,
      calls,
      liveSessions: route.liveSessions,
      open: (capabilities, version) =>
        Effect.map(it.post(initialize(capabilities, version)), ({ headers }) => ({
          "mcp-session-id": headers.get("mcp-session-id")!
        }))
    }
  })

export const request = (id: unknown, method: string, params?: unknown) =>
  params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params }

export const call = (id: unknown, name: string, args: object = {}, meta?: object) =>
  request(id, "tools/call", { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) })

export const notify = (method: string, params?: unknown) =>
  params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params }

export const cancelled = (requestId: unknown) => notify("notifications/cancelled", { requestId })

export const version = "2026-07-28"

/** A request of the era without sessions, and the headers that repeat what it says. */
export const sessionless = (id: unknown, method: string, params: any = {}, meta: object = {}) => {
  const message = request(id, method, {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
      ...meta
    }
  })
  const name = params.name ?? params.uri
  return [message, {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": name })
  }] as const
}

/** Gives promises and fibers of other parties their turn. */
export const settle: Effect.Effect<void> = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
