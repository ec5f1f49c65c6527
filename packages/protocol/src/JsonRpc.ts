/**
 * JSON-RPC 2.0 messages, as the data plane, MCP and A2A speak them.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Reads the id that ties a response to its request: a string or a number, `0` and `""` included.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Id: Schema.Union<[typeof Schema.String, typeof Schema.Number]> = Schema.Union(Schema.String, Schema.Number)

/**
 * The id of a request. Compare it with `undefined` or `null`, never by truth: `0` and `""` are ids.
 *
 * @since 0.1.0
 * @category models
 */
export type Id = string | number

/**
 * Reads a call that wants an answer.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Request = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Id,
  method: Schema.String,
  params: Schema.optional(Schema.Unknown)
})

/**
 * A call that wants an answer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Request extends Schema.Schema.Type<typeof Request> {}

/**
 * Reads a message that wants no answer: it has no `id`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Notification = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  method: Schema.String,
  params: Schema.optional(Schema.Unknown)
})

/**
 * A message that wants no answer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Notification extends Schema.Schema.Type<typeof Notification> {}

/**
 * Reads why a call failed: a number for programs, a sentence for people, and any JSON value beside them.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ErrorObject = Schema.Struct({
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optional(Schema.Unknown)
})

/**
 * Why a call failed.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorObject extends Schema.Schema.Type<typeof ErrorObject> {}

/**
 * Reads an answer that carries a result.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Success = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.NullOr(Id),
  result: Schema.Unknown.pipe(Schema.filter((result) => result !== undefined, { message: () => "is missing" }))
})

/**
 * An answer that carries a result; `id` is `null` only where the call's own was.
 *
 * @since 0.1.0
 * @category models
 */
export interface Success extends Schema.Schema.Type<typeof Success> {}

/**
 * Reads an answer that carries an error.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Failure = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.optionalWith(Schema.NullOr(Id), { default: () => null }),
  error: ErrorObject
})

/**
 * An answer that carries an error; `id` is `null` when the call could not be read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure extends Schema.Schema.Type<typeof Failure> {}

/**
 * Reads the answer to a request.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Response = Schema.Union(Failure, Success)

/**
 * The answer to a request.
 *
 * @since 0.1.0
 * @category models
 */
export type Response = Success | Failure

/**
 * The error codes that our servers answer: JSON-RPC's own, and those that the data plane and MCP add (`B-ENV-3`).
 *
 * @since 0.1.0
 * @category models
 */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  HandlerFailed: -32000,
  SessionNotFound: -32001
} as const

/**
 * One of the codes of `ErrorCode`.
 *
 * @since 0.1.0
 * @category models
 */
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode]

/**
 * Builds the answer that carries `result`, as a plain object: this is on every call's path.
 *
 * @since 0.1.0
 * @category constructors
 */
export const success = <A>(id: Id | null, result: A): {
  readonly jsonrpc: "2.0"
  readonly id: Id | null
  readonly result: A
} => ({ jsonrpc: "2.0", id, result })

/**
 * Builds the answer that carries an error, without a `data` key where there is none.
 *
 * @since 0.1.0
 * @category constructors
 */
export const failure = (
  id: Id | null,
  error: { readonly code: number; readonly message: string; readonly data?: unknown }
): Failure => ({
  jsonrpc: "2.0",
  id,
  error: error.data === undefined
    ? { code: error.code, message: error.message }
    : { code: error.code, message: error.message, data: error.data }
})

/**
 * Reads the id of whatever was received, so that a refusal can name it: `null` unless it is an object with a usable id.
 *
 * @since 0.1.0
 * @category guards
 */
export const idOf = (message: unknown): Id | null => {
  if (typeof message !== "object" || message === null || !("id" in message)) return null
  return typeof message.id === "string" || typeof message.id === "number" ? message.id : null
}
