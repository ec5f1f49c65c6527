import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Features } from "../ToolClient.ts"

type Result = Effect.Effect<unknown, { readonly code: number; readonly message: string }>

const failed = (error: Error) => ({ code: JsonRpc.ErrorCode.InternalError, message: error.message })

const handle = <A, I>(
  schema: Schema.Schema<A, I>,
  params: unknown,
  handler: (params: A) => Effect.Effect<unknown, Error>
): Result =>
  Effect.matchEffect(Schema.decodeUnknown(schema)(params), {
    onFailure: (error) =>
      Effect.fail({ code: JsonRpc.ErrorCode.InvalidParams, message: WireSchema.formatIssues(error) }),
    onSuccess: (decoded) => Effect.mapError(handler(decoded), failed)
  })

const dispatch = (features: Features, method: unknown, params: unknown): Result => {
  if (method === Mcp.Method.Ping) return Effect.succeed({})
  if (method === Mcp.Method.Elicit && features.elicit !== undefined) {
    return handle(Mcp.ElicitParams, params, features.elicit)
  }
  if (method === Mcp.Method.CreateMessage && features.sample !== undefined) {
    return handle(Mcp.CreateMessageParams, params, features.sample)
  }
  if (method === Mcp.Method.RootsList && features.roots !== undefined) return Effect.mapError(features.roots, failed)
  return Effect.fail({ code: JsonRpc.ErrorCode.MethodNotFound, message: "this client has no such method" })
}

/** @internal */
export const capabilities = (features: Features): Mcp.ClientCapabilities => ({
  ...(features.elicit === undefined ? {} : { elicitation: {} }),
  ...(features.sample === undefined ? {} : { sampling: {} }),
  ...(features.roots === undefined ? {} : { roots: {} })
})

/**
 * Answers a request of the server; what the client has no handler for is `-32601`.
 *
 * @internal
 */
export const answer = (
  features: Features,
  message: Readonly<Record<string, unknown>>
): Effect.Effect<object> => {
  const id = JsonRpc.idOf(message)
  return dispatch(features, message["method"], message["params"]).pipe(
    Effect.match({
      onFailure: (error): object => JsonRpc.failure(id, error),
      onSuccess: (result): object => JsonRpc.success(id, result)
    }),
    Effect.catchAllDefect((defect) =>
      Effect.as(
        Effect.logError("a feature of the tool client died", defect),
        JsonRpc.failure(id, { code: JsonRpc.ErrorCode.InternalError, message: "the client failed" })
      )
    )
  )
}
