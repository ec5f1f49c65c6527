import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import type * as Exchange from "@effect-agentenv/server/Exchange"

/** Why a request is refused: an HTTP status and a JSON-RPC error. */
export interface Refusal {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export const jsonHead: ReadonlyArray<string> = ["content-type", "application/json"]

const none: ReadonlyArray<string> = []

/** The error text of an answer. */
export const errorText = (
  id: JsonRpc.Id | null,
  error: { readonly code: number; readonly message: string; readonly data?: unknown }
): string => JSON.stringify(JsonRpc.failure(id, error))

export const refuse = (
  exchange: Exchange.Exchange,
  id: JsonRpc.Id | null,
  refusal: Refusal,
  headers: ReadonlyArray<string> = none
): void =>
  exchange.reply(
    refusal.status,
    headers.length === 0 ? jsonHead : [...jsonHead, ...headers],
    errorText(id, refusal)
  )

/** The answer to what wants none: a notification, a response, a call that was cancelled. */
export const accepted = (exchange: Exchange.Exchange): void => exchange.reply(202, none, "")

const refusal = (status: number, code: number, message: string): Refusal => ({ status, code, message })

export const shuttingDown: Refusal = refusal(503, JsonRpc.ErrorCode.HandlerFailed, "Server is shutting down")

export const tooManySessions: Refusal = refusal(
  503,
  JsonRpc.ErrorCode.HandlerFailed,
  "Too many sessions are open, try again later"
)

export const sessionMissing: Refusal = refusal(
  400,
  JsonRpc.ErrorCode.HandlerFailed,
  "Bad Request: Mcp-Session-Id header is required"
)

export const sessionUnknown: Refusal = refusal(404, JsonRpc.ErrorCode.SessionNotFound, "Session not found")

export const unsupportedMediaType: Refusal = refusal(
  415,
  JsonRpc.ErrorCode.HandlerFailed,
  "Unsupported Media Type: Content-Type must be application/json"
)

export const notAcceptable: Refusal = refusal(
  406,
  JsonRpc.ErrorCode.HandlerFailed,
  "Not Acceptable: Client must accept text/event-stream"
)

export const secondStream: Refusal = refusal(
  409,
  JsonRpc.ErrorCode.HandlerFailed,
  "Conflict: Only one SSE stream is allowed per session"
)

export const methodNotAllowed: Refusal = refusal(405, JsonRpc.ErrorCode.HandlerFailed, "Method not allowed")

export const alreadyInitialized: Refusal = refusal(
  400,
  JsonRpc.ErrorCode.InvalidRequest,
  "Invalid Request: Server already initialized"
)

export const duplicateId: Refusal = refusal(
  400,
  JsonRpc.ErrorCode.InvalidRequest,
  "Invalid Request: a request with this id is still running in this session"
)

export const parseError: Refusal = refusal(400, JsonRpc.ErrorCode.ParseError, "Parse error: Invalid JSON")

export const invalidUtf8: Refusal = refusal(400, JsonRpc.ErrorCode.ParseError, "Parse error: Invalid UTF-8")

export const tooDeep: Refusal = refusal(400, JsonRpc.ErrorCode.ParseError, "Parse error: nested too deep")

export const tooLarge = (limit: number): Refusal =>
  refusal(413, JsonRpc.ErrorCode.InvalidRequest, `Request body is larger than ${limit} bytes`)

export const invalidRequest = (problem: string): Refusal =>
  refusal(400, JsonRpc.ErrorCode.InvalidRequest, `Invalid Request: ${problem}`)

export const loneSurrogate = (path: string): Refusal => ({
  status: 400,
  code: JsonRpc.ErrorCode.InvalidParams,
  message: "Invalid params: text that is not valid Unicode",
  data: { detail: `${path === "" ? "the message" : path} holds half a surrogate pair` }
})

export const invalidParams = (detail: string): Refusal =>
  refusal(200, JsonRpc.ErrorCode.InvalidParams, `Invalid params: ${detail}`)
