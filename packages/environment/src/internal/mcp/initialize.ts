import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import { featuresOf } from "./clientRequests.ts"
import type { Engine } from "./engine.ts"
import { isObject, type Json } from "./messages.ts"
import * as methods from "./methods.ts"
import * as replies from "./replies.ts"

const problemOf = (params: Json | undefined): string | undefined => {
  if (typeof params?.["protocolVersion"] !== "string") return "params.protocolVersion must be a string"
  if (!isObject(params["capabilities"])) return "params.capabilities must be an object"
  return isObject(params["clientInfo"]) ? undefined : "params.clientInfo must be an object"
}

const resultOf = (engine: Engine, requested: unknown): Mcp.InitializeResult => ({
  protocolVersion: (Mcp.SESSION_VERSIONS as ReadonlyArray<unknown>).includes(requested)
    ? requested as string
    : Mcp.LATEST_SESSION_VERSION,
  capabilities: methods.capabilities(engine.surface, engine.sessionful && engine.streams),
  serverInfo: engine.serverInfo,
  ...methods.instructions(engine.surface)
})

/** `initialize`: opens a session, where there are any, and agrees on a revision. */
export const initialize = (
  engine: Engine,
  exchange: Exchange.Exchange,
  id: JsonRpc.Id,
  params: Json | undefined
): void => {
  const problem = problemOf(params)
  if (problem !== undefined) return replies.refuse(exchange, id, replies.invalidParams(problem))
  const text = JSON.stringify(JsonRpc.success(id, resultOf(engine, params?.["protocolVersion"])))
  if (!engine.sessionful) return exchange.reply(200, replies.jsonHead, text)
  const session = engine.sessions.open(featuresOf(params?.["capabilities"] as Json))
  if (session === undefined) return replies.refuse(exchange, id, replies.tooManySessions, ["retry-after", "60"])
  exchange.reply(200, [...replies.jsonHead, Mcp.Header.SessionId, session.id], text)
}
