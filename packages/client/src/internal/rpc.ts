import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { RpcError, type RpcErrorData, Unreadable } from "../ClientError.ts"

type Json = Readonly<Record<string, unknown>>

/** @internal */
export const isObject = (value: unknown): value is Json => Predicate.isReadonlyRecord(value) && !Array.isArray(value)

/** @internal */
export const orEmpty = (value: unknown): Json => (isObject(value) ? value : {})

const decodeError = Schema.decodeUnknownOption(JsonRpc.ErrorObject)

const errorData = (data: unknown): RpcErrorData => {
  if (data === undefined || data === null) return {}
  if (!isObject(data)) return { detail: data }
  const { code, ...rest } = data
  return typeof code === "string" ? { code, ...rest } : rest
}

/**
 * What an answer carries: its result, or its error as a failure. The error counts where both are there.
 *
 * @internal
 */
export const result = (answer: unknown, operation: string): Effect.Effect<unknown, RpcError | Unreadable> => {
  const unreadable = (issues: string) => Effect.fail(new Unreadable({ operation, what: "the answer", issues }))
  if (!isObject(answer)) return unreadable("it is no JSON-RPC object")
  if (answer["error"] !== undefined && answer["error"] !== null) {
    const error = decodeError(answer["error"])
    return error._tag === "None" ? unreadable("its error has no code and message") : Effect.fail(
      new RpcError({
        operation,
        code: error.value.code,
        reason: error.value.message,
        data: errorData(error.value.data)
      })
    )
  }
  return "result" in answer ? Effect.succeed(answer["result"]) : unreadable("it has neither a result nor an error")
}

/**
 * A result that has to be an object (B-TCL-6).
 *
 * @internal
 */
export const object = (value: unknown, operation: string): Effect.Effect<Json, Unreadable> =>
  isObject(value)
    ? Effect.succeed(value)
    : Effect.fail(new Unreadable({ operation, what: "the result", issues: "it is no object" }))
