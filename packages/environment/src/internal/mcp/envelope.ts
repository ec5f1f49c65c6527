import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import { isObject, type Json, objectAt } from "./messages.ts"
import type { Refusal } from "./replies.ts"

const sessionless: ReadonlySet<unknown> = new Set(Mcp.SESSIONLESS_VERSIONS)

/** The revision that a request's envelope names, `undefined` without an envelope. */
const claimOf = (params: Json | undefined): unknown => objectAt(params, "_meta")?.[Mcp.MetaKey.ProtocolVersion]

/** Whether a message belongs to the era without sessions: its envelope says so, or its header does. */
export const isSessionless = (method: string, params: Json | undefined, header: string | undefined): boolean => {
  const claim = claimOf(params)
  // `initialize` opens a session by definition, whatever an envelope of older times may name
  if (method === Mcp.Method.Initialize) return sessionless.has(claim)
  return claim !== undefined || sessionless.has(header)
}

/** An `initialize` under the header of the era that has none. */
export const isMisplacedInitialize = (method: string, header: string | undefined): boolean =>
  method === Mcp.Method.Initialize && sessionless.has(header)

const invalidEnvelope = (detail: string, envelope: Json): Refusal => ({
  status: 400,
  code: JsonRpc.ErrorCode.InvalidParams,
  message: `Invalid params: ${detail}`,
  data: { envelope }
})

/** Headers and body that say different things; `header` is what the header says. */
export const mismatch = (header: string | undefined, body: string): Refusal => ({
  status: 400,
  code: Mcp.ErrorCode.HeaderMismatch,
  message: `Bad Request: the request headers and body disagree: ${body}`,
  data: { mismatch: { header: header ?? "(missing)", body } }
})

const misshapen = (key: string, problem: string): Refusal =>
  invalidEnvelope(`params._meta["${key}"] ${problem}`, { key, problem })

const checkEnvelope = (meta: Json | undefined): Refusal | undefined => {
  if (meta === undefined) return invalidEnvelope("the envelope params._meta is missing", { missing: ["_meta"] })
  const missing = [Mcp.MetaKey.ProtocolVersion, Mcp.MetaKey.ClientCapabilities].filter((key) => meta[key] === undefined)
  if (missing.length > 0) {
    return invalidEnvelope(`the envelope params._meta has no ${missing.join(" and no ")}`, { missing })
  }
  if (typeof meta[Mcp.MetaKey.ProtocolVersion] !== "string") {
    return misshapen(Mcp.MetaKey.ProtocolVersion, "must be a string")
  }
  for (const key of [Mcp.MetaKey.ClientCapabilities, Mcp.MetaKey.ClientInfo]) {
    if (meta[key] !== undefined && !isObject(meta[key])) return misshapen(key, "must be an object")
  }
  const level = meta[Mcp.MetaKey.LogLevel]
  if (level !== undefined && !(Mcp.LOGGING_LEVELS as ReadonlyArray<unknown>).includes(level)) {
    return misshapen(Mcp.MetaKey.LogLevel, "must be a logging level")
  }
  return undefined
}

// Where the body carries what the `Mcp-Name` header repeats.
const named: ReadonlyMap<string, string> = new Map([
  [Mcp.Method.ToolsCall, "name"],
  [Mcp.Method.PromptsGet, "name"],
  [Mcp.Method.ResourcesRead, "uri"]
])

const base64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/

/** A header's value: what is no visible ASCII travels as `=?base64?…?=`. */
const decodeHeader = (value: string): string | undefined => {
  if (!value.startsWith("=?base64?") || !value.endsWith("?=")) return value
  const encoded = base64.exec(value)?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString()
}

const checkName = (exchange: Exchange.Exchange, method: string, params: Json | undefined): Refusal | undefined => {
  const field = named.get(method)
  if (field === undefined) return undefined
  const value = params?.[field]
  if (typeof value !== "string") return undefined
  const header = exchange.header(Mcp.Header.Name)?.trim()
  if (header === undefined) return mismatch(header, `params.${field} is "${value}" and the Mcp-Name header is absent`)
  const decoded = decodeHeader(header)
  if (decoded === undefined) return mismatch(header, "the Mcp-Name header is no valid Base64 value")
  return decoded === value ? undefined : mismatch(header, `params.${field} is "${value}", unlike the Mcp-Name header`)
}

/** Checks a sessionless request: its envelope, its revision, and that its headers repeat what its body says. */
export const check = (exchange: Exchange.Exchange, method: string, params: Json | undefined): Refusal | undefined => {
  const invalid = checkEnvelope(objectAt(params, "_meta"))
  if (invalid !== undefined) return invalid
  const version = String(claimOf(params))
  const versionHeader = exchange.header(Mcp.Header.ProtocolVersion)?.trim()
  if (versionHeader !== undefined && versionHeader !== version) {
    return mismatch(versionHeader, `the envelope names revision ${version}, unlike the MCP-Protocol-Version header`)
  }
  const methodHeader = exchange.header(Mcp.Header.Method)?.trim()
  if (methodHeader !== undefined && methodHeader !== method) {
    return mismatch(methodHeader, `the method is ${method}, unlike the Mcp-Method header`)
  }
  if (!sessionless.has(version)) {
    return {
      status: 400,
      code: Mcp.ErrorCode.UnsupportedVersion,
      message: `Unsupported protocol version: ${version}`,
      data: { supported: Mcp.SESSIONLESS_VERSIONS, requested: version }
    }
  }
  if (versionHeader === undefined) {
    return mismatch(undefined, `the envelope names revision ${version} and the MCP-Protocol-Version header is absent`)
  }
  if (methodHeader === undefined) {
    return mismatch(undefined, `the method is ${method} and the Mcp-Method header is absent`)
  }
  return checkName(exchange, method, params)
}
