import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { ToolCall } from "../../ToolCall.ts"
import { runtimeOf } from "../callScope.ts"
import { roleOf } from "../catalog.ts"
import * as outcome from "../outcome.ts"
import type * as Spans from "../spans.ts"
import { isObject } from "./messages.ts"
import * as replies from "./replies.ts"
import type { Request } from "./request.ts"
import { CallService } from "./toolCallService.ts"

/** Runs what a request asks for, in its place in the episode, with a `ToolCall` of its own. */
const run = <A>(
  request: Request,
  name: string,
  args: unknown,
  effect: Effect.Effect<A, unknown, ToolCall>,
  onExit: (exit: Exit.Exit<A, unknown>, fenced: boolean) => void
): void => {
  const { engine: { calls, trace }, exchange } = request
  const ticket = request.enter(name)
  const service = new CallService(request, name, args)
  const runtime = runtimeOf(calls, ToolCall, service)
  const ended = (exit: Exit.Exit<A, unknown>): void => {
    ticket.leave()
    try {
      onExit(exit, ticket.fenced)
    } catch (defect) {
      request.die(defect)
    }
  }
  if (trace === undefined) calls.run(exchange, ticket.guard(effect), runtime, ended, request)
  else trace(spanOf(request, name, service.callId), calls, exchange, ticket, effect, runtime, ended, request)
}

/** A tool or a prompt is named; what a resource's URI says is the caller's affair. */
const spanOf = (request: Request, name: string, callId: string): Spans.Span => {
  const attributes = { "mcp.method.name": request.method, "agentenv.call.id": callId }
  if (request.method === Mcp.Method.ResourcesRead) return { name: request.method, attributes }
  const key = request.method === Mcp.Method.ToolsCall ? "gen_ai.tool.name" : "gen_ai.prompt.name"
  return { name: `${request.method} ${name}`, attributes: { ...attributes, [key]: name } }
}

const unknownTool = (name: string): string => `Unknown tool: ${name}`

/** `tools/call`. */
export const callTool = (request: Request): void => {
  const { engine, params } = request
  const name = params?.["name"]
  if (typeof name !== "string") return request.fail(replies.invalidParams("params.name must be a string"))
  // clients of languages whose empty map is null send that
  const args = params?.["arguments"] ?? undefined
  if (args !== undefined && !isObject(args)) {
    return request.fail(replies.invalidParams("params.arguments must be an object"))
  }
  const tool = engine.catalog.get(name)
  if (tool === undefined) {
    if (!request.sessionless) return request.result(outcome.textError(unknownTool(name)))
    return request.fail({ status: 200, code: JsonRpc.ErrorCode.InvalidParams, message: unknownTool(name) })
  }
  if (engine.catalog.restricted) {
    const role = roleOf(request.caller.role)
    if (!engine.catalog.allows(role, name)) return request.result(outcome.codedError(outcome.denied(name, role)))
  }
  const sent = args ?? {}
  const prepared = tool.prepare(sent)
  if (prepared._tag === "Refused") return request.result(prepared.result)
  engine.onCallStart?.(name)
  run(request, name, sent, prepared.effect, (exit, fenced) => {
    const result = tool.result(exit)
    if (result !== undefined) request.result(result)
    else if (fenced) request.result(outcome.codedError(outcome.episodeReset(name)))
    else request.cut()
  })
}

const failedRead = (request: Request, name: string, exit: Exit.Failure<unknown, unknown>, fenced: boolean): void => {
  const failure = request.engine.surface.failure(exit)
  if (failure !== undefined) return request.fail({ status: 200, ...failure })
  if (!fenced) return request.cut()
  const { code, message } = outcome.episodeReset(name)
  request.fail({ status: 200, code: JsonRpc.ErrorCode.HandlerFailed, message: `${code}: ${message}` })
}

const read = <A extends object>(
  request: Request,
  name: string,
  args: unknown,
  effect: Effect.Effect<A, unknown, ToolCall>,
  cacheable: boolean
): void =>
  run(request, name, args, effect, (exit, fenced) => {
    if (Exit.isSuccess(exit)) request.result(exit.value, cacheable)
    else failedRead(request, name, exit, fenced)
  })

/** `resources/read`. */
export const readResource = (request: Request): void => {
  const uri = request.params?.["uri"]
  if (typeof uri !== "string") return request.fail(replies.invalidParams("params.uri must be a string"))
  const found = request.engine.surface.readResource(uri)
  if (found._tag === "Invalid") return request.fail(replies.invalidParams(found.detail))
  if (found._tag === "Ready") return read(request, uri, {}, found.effect, true)
  request.fail({
    status: 200,
    code: request.sessionless ? JsonRpc.ErrorCode.InvalidParams : Mcp.ErrorCode.ResourceNotFound,
    message: "Resource not found",
    data: { uri }
  })
}

/** `prompts/get`. */
export const getPrompt = (request: Request): void => {
  const name = request.params?.["name"]
  if (typeof name !== "string") return request.fail(replies.invalidParams("params.name must be a string"))
  const args = request.params?.["arguments"] ?? undefined
  if (args !== undefined && !isObject(args)) {
    return request.fail(replies.invalidParams("params.arguments must be an object"))
  }
  const found = request.engine.surface.getPrompt(name, args ?? {})
  if (found._tag === "Invalid") return request.fail(replies.invalidParams(found.detail))
  if (found._tag === "Ready") return read(request, name, args ?? {}, found.effect, false)
  request.fail(replies.invalidParams(`there is no prompt ${name}`))
}
