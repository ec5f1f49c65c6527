import * as A2aV03 from "@effect-agentenv/protocol/A2aV03"
import * as A2aV1 from "@effect-agentenv/protocol/A2aV1"
import type * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Json from "@effect-agentenv/server/Json"
import { isObject } from "./json.ts"

/** Why a request is refused, in the words of JSON-RPC. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export type Operation = keyof A2aWire.Methods | "list" | "push"

/** A request whose method is known, so that its dialect is. */
export interface Request {
  readonly legacy: boolean
  readonly operation: Operation
  readonly method: string
  readonly id: JsonRpc.Id | null
  readonly params: unknown
}

export type Read =
  | { readonly ok: true; readonly request: Request }
  | { readonly ok: false; readonly id: JsonRpc.Id | null; readonly error: RpcError }

type Known = Pick<Request, "legacy" | "operation">

const known = (legacy: boolean, operation: Operation, name: string): readonly [string, Known] => [
  name,
  { legacy, operation }
]

const methods: ReadonlyMap<string, Known> = new Map([
  ...Object.entries(A2aV03.METHODS).map(([operation, name]) => known(true, operation as Operation, name)),
  ...Object.values(A2aV03.PUSH_METHODS).map((name) => known(true, "push", name)),
  ...Object.entries(A2aV1.METHODS).map(([operation, name]) => known(false, operation as Operation, name)),
  ...Object.values(A2aV1.PUSH_METHODS).map((name) => known(false, "push", name))
])

const refuse = (id: JsonRpc.Id | null, code: number, message: string, data?: unknown): Read => ({
  ok: false,
  id,
  error: { code, message, data }
})

/** A request that is none, in the form of the reference. */
const malformed = (id: JsonRpc.Id | null, loc: ReadonlyArray<string>, msg: string): Read =>
  refuse(id, JsonRpc.ErrorCode.InvalidRequest, "Request payload validation error", [{ loc, msg }])

/** Whether an id can be answered as it came: a number that JSON's readers round can't. */
const isId = (id: unknown): id is JsonRpc.Id => typeof id === "string" || Number.isSafeInteger(id)

const tooDeep = refuse(
  null,
  JsonRpc.ErrorCode.ParseError,
  `The body nests deeper than ${Json.maxDepth} levels`
)

/** Whether a value that is no text any more nests too deep, by a stack of our own. */
const isTooDeep = (root: unknown): boolean => {
  const pending: Array<readonly [value: unknown, depth: number]> = [[root, 1]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, depth] = next
    if (typeof value !== "object" || value === null) continue
    if (depth > Json.maxDepth) return true
    for (const child of Object.values(value)) pending.push([child, depth + 1])
  }
  return false
}

/** Reads a request: JSON as text or bytes, or the value that came of it. */
export const read = (body: unknown): Read => {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) return isTooDeep(body) ? tooDeep : readValue(body)
  const parsed = Json.parse(body)
  if (parsed.ok) return readValue(parsed.value)
  if (parsed.reason === "too-deep") return tooDeep
  if (parsed.reason === "surrogate") {
    const detail = `${parsed.path === "" ? "the body" : parsed.path} holds half a surrogate pair`
    return refuse(idOf(body), JsonRpc.ErrorCode.InvalidParams, `Invalid parameters: ${detail}`)
  }
  return refuse(null, JsonRpc.ErrorCode.ParseError, "The body is not JSON")
}

const readValue = (body: unknown): Read => {
  if (Array.isArray(body)) {
    return refuse(null, JsonRpc.ErrorCode.InvalidRequest, "Batch requests are not supported")
  }
  if (!isObject(body)) return malformed(null, [], "expected object")
  const { id: sent, jsonrpc, method, params } = body
  // a2a-python 0.3 reads an id as pydantic does: false is 0, true is 1
  const given = typeof sent === "boolean" ? Number(sent) : sent
  const absent = given === undefined || given === null
  if (!absent && !isId(given)) return malformed(null, ["id"], "expected string or integer")
  const id = absent ? null : given
  if (jsonrpc !== undefined && jsonrpc !== "2.0") return malformed(id, ["jsonrpc"], "expected \"2.0\"")
  if (typeof method !== "string") return malformed(id, ["method"], "expected string")
  const known = methods.get(method)
  if (known === undefined) {
    return params !== undefined && params !== null && !isObject(params)
      ? malformed(id, ["params"], "expected object")
      : refuse(id, JsonRpc.ErrorCode.MethodNotFound, "Method not found")
  }
  const { legacy, operation } = known
  if (!legacy) {
    if (typeof sent === "boolean") return malformed(null, ["id"], "expected string or integer")
    if (jsonrpc === undefined) return malformed(id, ["jsonrpc"], "is missing")
    if (params !== undefined && typeof params !== "object") return malformed(id, ["params"], "expected object")
    return { ok: true, request: { legacy, operation, method, id, params: params === undefined ? {} : params } }
  }
  if (params !== undefined && params !== null && !isObject(params)) return malformed(id, ["params"], "expected object")
  return absent
    ? refuse(null, JsonRpc.ErrorCode.InvalidParams, "Invalid parameters", [
      { loc: ["id"], msg: "expected string or integer" }
    ])
    : { ok: true, request: { legacy, operation, method, id, params } }
}

/** The id of a request that is not read any further. */
export const idOf = (body: unknown): JsonRpc.Id | null => {
  try {
    const value = typeof body === "string" || body instanceof Uint8Array
      ? JSON.parse(Buffer.from(body).toString())
      : body
    return isObject(value) && isId(value["id"]) ? value["id"] : null
  } catch {
    return null
  }
}
