import * as Caller from "@effect-agentenv/protocol/Caller"
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as Calls from "@effect-agentenv/server/Calls"
import * as Correlation from "@effect-agentenv/server/Correlation"
import type * as EventStream from "@effect-agentenv/server/EventStream"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import * as Cause from "effect/Cause"
import type * as Fiber from "effect/Fiber"
import type { Ticket } from "../gate.ts"
import type { Engine } from "./engine.ts"
import { isId, type Json, objectAt } from "./messages.ts"
import * as replies from "./replies.ts"
import type { Running, Session } from "./sessions.ts"

const noHeaders: ReadonlyArray<string> = []

/**
 * One request and the way back to its sender (M-4): one JSON answer, or an event stream as soon as something is said before the
 * answer, or when the request is silent for long (M-16), provided that the sender reads event streams.
 */
export class Request implements Running, Calls.RunOptions<unknown, unknown> {
  readonly engine: Engine
  readonly exchange: Exchange.Exchange
  readonly id: JsonRpc.Id
  readonly method: string
  readonly params: Json | undefined
  readonly session: Session | undefined
  /** Whether it belongs to the era without sessions, whose results are a little different. */
  readonly sessionless: boolean
  ended = false
  private stream: EventStream.EventStream | undefined = undefined
  private ticket: Ticket | undefined = undefined
  private fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined = undefined
  private interrupted: "cancelled" | "session" | undefined = undefined
  private resolved: Caller.Caller | undefined = undefined

  constructor(
    engine: Engine,
    exchange: Exchange.Exchange,
    message: { readonly id: JsonRpc.Id; readonly method: string; readonly params: Json | undefined },
    session: Session | undefined,
    sessionless: boolean
  ) {
    this.engine = engine
    this.exchange = exchange
    this.id = message.id
    this.method = message.method
    this.params = message.params
    this.session = session
    this.sessionless = sessionless
  }

  get meta(): Json | undefined {
    return objectAt(this.params, "_meta")
  }

  /** Who sent it (B-CTX-3). */
  get caller(): Caller.Caller {
    const { exchange, meta } = this
    return this.resolved ??= Caller.resolve({ meta, header: (name) => exchange.header(name) })
  }

  /** Where progress is wanted, if it is. */
  get progressToken(): JsonRpc.Id | undefined {
    const token = this.meta?.["progressToken"]
    return isId(token) ? token : undefined
  }

  /** The index of the least severe logging level that the sender wants. */
  get level(): number {
    if (!this.sessionless) return this.session?.level ?? 0
    const level = (Mcp.LOGGING_LEVELS as ReadonlyArray<unknown>).indexOf(this.meta?.[Mcp.MetaKey.LogLevel])
    return level === -1 ? Infinity : level
  }

  /** Whether anything can be said before the answer. */
  get canStream(): boolean {
    return this.stream !== undefined ||
      this.engine.streams && /\btext\/event-stream\b/i.test(this.exchange.header("accept") ?? "")
  }

  // -- before the answer

  /** Says something before the answer; nothing to a sender that does not read event streams. */
  say(message: object): void {
    if (this.ended || !this.canStream) return
    this.open().send(JSON.stringify(message))
  }

  notify(method: string, params: object): void {
    this.say({ jsonrpc: "2.0", method, params })
  }

  get onSilent(): () => void {
    return () => {
      if (!this.ended && this.canStream) this.open()
    }
  }

  private open(): EventStream.EventStream {
    return this.stream ??= this.engine.calls.stream(this.exchange, 200, noHeaders)
  }

  // -- while it runs

  /** Ties the request to its place in the episode. */
  enter(name: string): Ticket {
    return this.ticket = this.engine.gate.call(name)
  }

  onStart(fiber: Fiber.RuntimeFiber<unknown, unknown>): void {
    this.fiber = fiber
    this.ticket?.started(fiber)
    this.session?.started(this.id, this)
  }

  interrupt(why: "cancelled" | "session"): void {
    this.interrupted ??= why
    this.fiber?.unsafeInterruptAsFork(this.fiber.id())
  }

  // -- the answer

  /** Answers with a result; one that cannot be written as JSON throws, and nothing is answered. */
  result(result: object, cacheable = false): void {
    this.end(
      200,
      JSON.stringify(JsonRpc.success(this.id, this.sessionless ? this.complete(result, cacheable) : result))
    )
  }

  /** Answers with a result that is the JSON of an object with keys already, and may be kept. */
  written(json: string): void {
    const result = this.sessionless ? `${json.slice(0, -1)},${JSON.stringify(this.complete({}, true)).slice(1)}` : json
    this.end(200, `{"jsonrpc":"2.0","id":${JSON.stringify(this.id)},"result":${result}}`)
  }

  fail(refusal: replies.Refusal): void {
    this.end(refusal.status, replies.errorText(this.id, refusal))
  }

  /** Answers a mistake in the making of an answer: the sender may be reading a stream, which must not be left open. */
  die(defect: unknown): void {
    const message = Correlation.report(Cause.die(defect), this.engine.calls.runtime)
    this.fail({ status: 200, code: JsonRpc.ErrorCode.InternalError, message })
  }

  /** Answers an interruption, which is not a reset's: it depends on who did it. */
  cut(): void {
    if (this.interrupted === "cancelled") return this.cancelled()
    if (this.interrupted === "session") return this.fail(sessionEnded)
    this.fail(this.engine.calls.closing ? replies.shuttingDown : interruptedWithin)
  }

  // What a result of the era without sessions says besides.
  private complete(result: { readonly _meta?: unknown }, cacheable: boolean): object {
    return {
      ...result,
      resultType: "complete",
      ...(cacheable ? { ttlMs: 0, cacheScope: "private" } : undefined),
      _meta: { ...(result._meta as object | undefined), [Mcp.MetaKey.ServerInfo]: this.engine.serverInfo }
    }
  }

  // A cancelled request has no answer, but its exchange ends.
  private cancelled(): void {
    this.leave()
    if (this.stream === undefined) replies.accepted(this.exchange)
    else this.stream.end()
  }

  private end(status: number, text: string): void {
    this.leave()
    if (this.stream === undefined) return this.exchange.reply(status, replies.jsonHead, text)
    this.stream.send(text)
    this.stream.end()
  }

  private leave(): void {
    this.ended = true
    if (this.fiber !== undefined) this.session?.ended(this.id, this, this.engine.sessions.now())
  }
}

const sessionEnded: replies.Refusal = {
  status: 200,
  code: JsonRpc.ErrorCode.HandlerFailed,
  message: "The session ended while the request ran"
}

const interruptedWithin: replies.Refusal = {
  status: 200,
  code: JsonRpc.ErrorCode.InternalError,
  message: "The request was interrupted"
}
