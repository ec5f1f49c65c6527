import * as AgentEnvError from "@effect-agentenv/protocol/AgentEnvError"
import * as Caller from "@effect-agentenv/protocol/Caller"
import type * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import type * as Calls from "@effect-agentenv/server/Calls"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Exchange from "@effect-agentenv/server/Exchange"
import type { Ids } from "@effect-agentenv/server/Ids"
import * as Json from "@effect-agentenv/server/Json"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { ToolCall } from "../ToolCall.ts"
import { runtimeOf } from "./callScope.ts"
import type { CompiledOperation } from "./compileExtension.ts"
import type * as Gate from "./gate.ts"
import * as outcome from "./outcome.ts"
import { isRecord } from "./record.ts"
import { runTicket } from "./runner.ts"
import type * as Spans from "./spans.ts"

const refuse = (exchange: Exchange.Exchange, status: number, error: AgentEnvError.Fields): void =>
  Exchange.json(exchange, status, { ok: false, error })

export const invalidParams = (exchange: Exchange.Exchange, message: string, status = 400): void =>
  refuse(exchange, status, { code: "invalid_params", message, retryable: false, applied: "no" })

export const extensionFailed = (exchange: Exchange.Exchange, message: string): void =>
  refuse(exchange, 500, { code: "extension_failed", message, retryable: false, applied: "unknown" })

export const shuttingDown = (exchange: Exchange.Exchange): void =>
  refuse(exchange, 503, {
    code: "shutting_down",
    message: "the server is shutting down",
    retryable: false,
    applied: "unknown"
  })

/** The failures of an extension: its author's as they are (B-ERR-1), others by their message (B-ERR-2), and no causes (B-ERR-6). */
const answerFailure = (exchange: Exchange.Exchange, failure: unknown): void =>
  AgentEnvError.isAgentEnvError(failure)
    ? refuse(exchange, failure.status, AgentEnvError.fields(failure))
    : extensionFailed(exchange, outcome.messageOf(failure))

/** Reads a body that is a JSON object; an empty one is `{}` (B-MULTI-3). */
export const readObject = (
  exchange: Exchange.Exchange,
  limit: number,
  then: (request: Readonly<Record<string, unknown>>) => void
): void =>
  exchange.body(limit, (body) => {
    if (body._tag === "Aborted") return
    if (body._tag === "TooLarge") {
      return invalidParams(exchange, `the body is larger than ${body.limit} bytes`, 413)
    }
    if (body.bytes.length === 0) return then({})
    const parsed = Json.parse(body.bytes)
    if (!parsed.ok) return invalidParams(exchange, unreadable(parsed))
    if (!isRecord(parsed.value)) return invalidParams(exchange, "the body must be a JSON object")
    then(parsed.value)
  })

const queryOf = (text: string): WireSchema.Query => {
  const query: Record<string, string | ReadonlyArray<string>> = Object.create(null)
  for (const [key, value] of new URLSearchParams(text)) {
    const before = query[key]
    query[key] = before === undefined ? value : typeof before === "string" ? [before, value] : [...before, value]
  }
  return { ...query }
}

const noClient: Context.Tag.Service<ToolCall>["client"] = {
  elicit: Option.none(),
  sample: Option.none(),
  roots: Option.none()
}

/** The listener of one operation of an extension (B-ENV-6, B-MULTI-3). */
export const listener = (
  operation: CompiledOperation,
  calls: Calls.Calls<never>,
  gate: Gate.Gate,
  ids: Context.Tag.Service<typeof Ids>,
  limit: number,
  trace: Spans.Run | undefined
): Exchange.Listener => {
  const run = (exchange: Exchange.Exchange, request: Readonly<Record<string, unknown>>): void => {
    const ticket = gate.call(operation.name)
    const callId = ids.uuid()
    const call = runtimeOf(calls, ToolCall, {
      callId,
      tool: operation.name,
      arguments: request,
      ...Caller.fromHeaders((name) => exchange.header(name)),
      progress: () => Effect.void,
      log: () => Effect.void,
      client: noClient
    })
    runTicket(
      calls,
      exchange,
      ticket,
      operation.effect(request),
      call,
      (exit) => {
        if (Exit.isSuccess(exit)) return Exchange.json(exchange, 200, exit.value ?? {})
        const ended = outcome.classify(exit.cause)
        if (ended._tag === "Failure") return answerFailure(exchange, ended.failure)
        if (ended._tag === "Defect") return extensionFailed(exchange, Correlation.report(exit.cause, calls.runtime))
        if (ticket.fenced) return answerFailure(exchange, outcome.episodeReset(operation.name))
        shuttingDown(exchange)
      },
      () => shuttingDown(exchange),
      trace,
      () => ({
        name: `extension ${operation.name}`,
        attributes: {
          "agentenv.extension.uri": operation.uri,
          "agentenv.extension.operation": operation.name,
          "agentenv.call.id": callId
        }
      })
    )
  }
  return operation.verb === "GET"
    ? (exchange) => run(exchange, operation.query(queryOf(exchange.query)))
    : (exchange) => readObject(exchange, limit, (request) => run(exchange, request))
}

const unreadable = (parsed: Exclude<Json.Result, { readonly ok: true }>): string => {
  if (parsed.reason === "surrogate") return `${parsed.path}: holds half a surrogate pair`
  if (parsed.reason === "too-deep") return `the body nests deeper than ${Json.maxDepth} levels`
  return "the body is not JSON"
}
