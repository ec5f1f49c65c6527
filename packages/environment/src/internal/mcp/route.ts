import * as Caller from "@effect-agentenv/protocol/Caller"
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as Body from "@effect-agentenv/server/Body"
import type * as Calls from "@effect-agentenv/server/Calls"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import { Ids } from "@effect-agentenv/server/Ids"
import * as Json from "@effect-agentenv/server/Json"
import type * as Route from "@effect-agentenv/server/Route"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Catalog, roleOf } from "../catalog.ts"
import type { Gate } from "../gate.ts"
import type * as Spans from "../spans.ts"
import type { Surface } from "../surface.ts"
import type { Engine } from "./engine.ts"
import * as envelope from "./envelope.ts"
import { initialize } from "./initialize.ts"
import * as messages from "./messages.ts"
import * as methods from "./methods.ts"
import * as replies from "./replies.ts"
import { Request } from "./request.ts"
import { type Session, Sessions } from "./sessions.ts"

/** How MCP is served. */
export interface Options<R> {
  readonly surface: Surface
  readonly catalog: Catalog
  readonly gate: Gate
  readonly calls: Calls.Calls<R>
  readonly path: string
  /**
   * Whether a request of the session era needs a session: `required`, the default, refuses one without; `optional` runs it
   * without; `off` gives nobody a session. The era without sessions is served in any case.
   */
  readonly sessions?: "required" | "optional" | "off" | undefined
  /** How long a session may idle; 30 minutes by default. */
  readonly idleTimeout?: Duration.DurationInput | undefined
  /** How many sessions may live at once; 10 000 by default. */
  readonly maxSessions?: number | undefined
  /** The bytes of a request's body; 4 MiB by default. */
  readonly bodyLimit?: number | undefined
  /** Never answers with an event stream: progress and logs are dropped, clients are asked for nothing. */
  readonly json?: boolean | undefined
  /** How calls are traced; not at all by default. */
  readonly trace?: Spans.Run | undefined
  /** Hears of every tool call that is about to run. */
  readonly onCallStart?: ((tool: string) => void) | undefined
}

/** The route of MCP, and how many sessions live. */
export interface McpRoute extends Route.Route {
  readonly liveSessions: () => number
}

const isJson = (contentType: string | undefined): boolean =>
  contentType === "application/json" ||
  contentType !== undefined && contentType.split(";", 1)[0]!.trim().toLowerCase() === "application/json"

const toolsChanged = JSON.stringify({ jsonrpc: "2.0", method: Mcp.Method.ToolsChanged })

const sessionVersions: ReadonlySet<string> = new Set(Mcp.SESSION_VERSIONS)

const unsupportedVersion = (version: string): replies.Refusal => ({
  status: 400,
  code: JsonRpc.ErrorCode.HandlerFailed,
  message: `Bad Request: Unsupported protocol version: ${version} (supported versions: ${
    Mcp.SESSION_VERSIONS.join(", ")
  })`
})

class Listeners {
  private readonly engine: Engine
  private readonly required: boolean
  private readonly bodyLimit: number

  constructor(engine: Engine, required: boolean, bodyLimit: number) {
    this.engine = engine
    this.required = required
    this.bodyLimit = bodyLimit
  }

  readonly post: Exchange.Listener = (exchange) => {
    if (!isJson(exchange.header("content-type"))) return replies.refuse(exchange, null, replies.unsupportedMediaType)
    exchange.body(this.bodyLimit, (body) => this.received(exchange, body))
  }

  readonly get: Exchange.Listener = (exchange) => {
    if (exchange.header(Mcp.Header.ProtocolVersion) === Mcp.LATEST_VERSION) {
      return replies.refuse(exchange, null, replies.methodNotAllowed, ["allow", "POST"])
    }
    if (!/\btext\/event-stream\b/i.test(exchange.header("accept") ?? "")) {
      return replies.refuse(exchange, null, replies.notAcceptable)
    }
    const session = this.sessionOf(exchange, null, true)
    if (session === "refused" || session === undefined) return
    if (this.engine.calls.closing) return replies.refuse(exchange, null, replies.shuttingDown)
    if (session.stream !== undefined) return replies.refuse(exchange, null, replies.secondStream)
    const stream = this.engine.calls.stream(exchange, 200, [])
    session.stream = stream
    if (this.engine.catalog.restricted) {
      session.heardAs(roleOf(Caller.normalizeRole(exchange.header(Caller.ROLE_HEADER))))
    }
    stream.onClose(() => {
      if (session.stream !== stream) return
      session.stream = undefined
      session.seen = this.engine.sessions.now()
    })
  }

  readonly delete: Exchange.Listener = (exchange) => {
    const session = this.sessionOf(exchange, null, true)
    if (session === "refused" || session === undefined) return
    this.engine.sessions.end(session)
    exchange.reply(200, [], "")
  }

  private received(exchange: Exchange.Exchange, body: Body.Body): void {
    if (body._tag === "Aborted") return
    if (body._tag === "TooLarge") return replies.refuse(exchange, null, replies.tooLarge(body.limit))
    const parsed = Json.parse(body.bytes)
    if (!parsed.ok) return unreadable(exchange, parsed, body)
    const message = messages.read(parsed.value)
    switch (message._tag) {
      case "Request":
        return this.request(exchange, message)
      case "Notification":
        return this.notification(exchange, message)
      case "Response":
        return this.response(exchange, message)
      case "Invalid":
        return replies.refuse(exchange, message.id, replies.invalidRequest(message.problem))
    }
  }

  private request(exchange: Exchange.Exchange, message: messages.Message & { readonly _tag: "Request" }): void {
    const { engine } = this
    const { id, method, params } = message
    if (engine.calls.closing) return replies.refuse(exchange, id, replies.shuttingDown)
    const version = exchange.header(Mcp.Header.ProtocolVersion)
    if (params?.["_meta"] !== undefined && !messages.isObject(params["_meta"])) {
      return replies.refuse(exchange, id, replies.invalidParams("params._meta must be an object"))
    }
    if (envelope.isSessionless(method, params, version)) {
      const refusal = envelope.check(exchange, method, params)
      if (refusal !== undefined) return replies.refuse(exchange, id, refusal)
      return methods.dispatch(new Request(engine, exchange, message, undefined, true))
    }
    if (method === Mcp.Method.Initialize) return this.initialize(exchange, id, params, version)
    const session = this.sessionOf(exchange, id, this.required)
    if (session === "refused") return
    if (version !== undefined && !sessionVersions.has(version)) {
      return replies.refuse(exchange, id, unsupportedVersion(version))
    }
    if (session !== undefined && session.runs(id)) return replies.refuse(exchange, id, replies.duplicateId)
    methods.dispatch(new Request(engine, exchange, message, session, false))
  }

  private initialize(
    exchange: Exchange.Exchange,
    id: JsonRpc.Id,
    params: messages.Json | undefined,
    version: string | undefined
  ): void {
    if (envelope.isMisplacedInitialize(Mcp.Method.Initialize, version)) {
      return replies.refuse(
        exchange,
        id,
        envelope.mismatch(version, "initialize opens a session, which its revision lacks")
      )
    }
    const session = this.sessionOf(exchange, id, false)
    if (session === "refused") return
    if (session !== undefined) return replies.refuse(exchange, id, replies.alreadyInitialized)
    initialize(this.engine, exchange, id, params)
  }

  private notification(
    exchange: Exchange.Exchange,
    message: messages.Message & { readonly _tag: "Notification" }
  ): void {
    const version = exchange.header(Mcp.Header.ProtocolVersion)
    // without sessions nothing is left to be said by a notification: a call is cancelled by closing its POST
    if (envelope.isSessionless(message.method, message.params, version)) return replies.accepted(exchange)
    const session = this.sessionOf(exchange, null, this.required)
    if (session === "refused") return
    if (message.method === Mcp.Method.Cancelled) session?.cancel(message.params?.["requestId"])
    replies.accepted(exchange)
  }

  private response(exchange: Exchange.Exchange, message: messages.Message & { readonly _tag: "Response" }): void {
    const session = this.sessionOf(exchange, message.id, this.required)
    if (session === "refused") return
    session?.receive(message.id, message.body)
    replies.accepted(exchange)
  }

  /** The session that a request names; refuses one that lives no more (M-1), and one without a name where it is needed. */
  private sessionOf(
    exchange: Exchange.Exchange,
    id: JsonRpc.Id | null,
    required: boolean
  ): Session | undefined | "refused" {
    if (!this.engine.sessionful) return undefined
    const name = exchange.header(Mcp.Header.SessionId)
    if (name === undefined && !required) return undefined
    const session = name === undefined ? undefined : this.engine.sessions.find(name)
    if (session !== undefined) return session
    replies.refuse(exchange, id, name === undefined ? replies.sessionMissing : replies.sessionUnknown)
    return "refused"
  }
}

const unreadable = (
  exchange: Exchange.Exchange,
  reason: Json.Result & { readonly ok: false },
  body: Body.Text
): void => {
  switch (reason.reason) {
    case "malformed":
      return replies.refuse(exchange, null, replies.parseError)
    case "utf8":
      return replies.refuse(exchange, null, replies.invalidUtf8)
    case "too-deep":
      return replies.refuse(exchange, null, replies.tooDeep)
    case "surrogate":
      return replies.refuse(exchange, messages.idOfText(body.text), replies.loneSurrogate(reason.path))
  }
}

/** The route of MCP over streamable HTTP, in both of its eras. Sessions that idle end with the scope or before. */
export const make = <R>(options: Options<R>): Effect.Effect<McpRoute, never, Scope.Scope> =>
  Effect.gen(function*() {
    const mode = options.sessions ?? "required"
    const ids = yield* Ids
    const idleMillis = Duration.toMillis(options.idleTimeout ?? "30 minutes")
    const sessions = new Sessions(yield* Effect.clock, ids.uuid, options.maxSessions ?? 10_000, idleMillis)
    const { catalog, surface } = options
    const streams = options.json !== true
    const sessionful = mode !== "off"
    const listeners = new Listeners(
      {
        surface,
        catalog,
        gate: options.gate,
        calls: options.calls,
        sessions,
        uuid: ids.uuid,
        streams,
        sessionful,
        serverInfo: { name: surface.name, version: surface.version },
        trace: options.trace,
        onCallStart: options.onCallStart
      },
      mode === "required",
      options.bodyLimit ?? 4 * 1024 * 1024
    )
    if (sessionful) {
      catalog.onChange((changedFor) => sessions.tell(toolsChanged, changedFor))
      // as often as the timeout asks for, between a second and a minute
      const every = Math.min(Math.max(idleMillis, 1_000), 60_000)
      yield* Effect.sync(() => sessions.sweep()).pipe(Effect.delay(every), Effect.forever, Effect.forkScoped)
    }
    return {
      path: options.path,
      head: false,
      methods: {
        ...(sessionful && streams ? { GET: listeners.get } : {}),
        POST: listeners.post,
        ...(sessionful ? { DELETE: listeners.delete } : {})
      },
      liveSessions: () => sessions.size
    }
  })
