import type * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"

/** A JSON object as it came. */
export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object under a key; `undefined` when there is none. */
export const objectAt = (json: Json | undefined, key: string): Json | undefined => {
  const value = json?.[key]
  return isObject(value) ? value : undefined
}

/** What a client sent, by hand and not by Schema: this is on every call's path. */
export type Message =
  | {
    readonly _tag: "Request"
    readonly id: JsonRpc.Id
    readonly method: string
    readonly params: Json | undefined
  }
  | { readonly _tag: "Notification"; readonly method: string; readonly params: Json | undefined }
  | { readonly _tag: "Response"; readonly id: JsonRpc.Id | null; readonly body: Json }
  | { readonly _tag: "Invalid"; readonly id: JsonRpc.Id | null; readonly problem: string }

/** A usable id: a text or a whole number, `0` and `""` included. */
export const isId = (value: unknown): value is JsonRpc.Id => typeof value === "string" || Number.isInteger(value)

const idOf = (json: Json): JsonRpc.Id | null => {
  const id = json["id"]
  return isId(id) ? id : null
}

const invalid = (id: JsonRpc.Id | null, problem: string): Message => ({ _tag: "Invalid", id, problem })

/** Tells a request from a notification, a response and what is none of them; keys that we do not know are accepted. */
export const read = (value: unknown): Message => {
  if (Array.isArray(value)) return invalid(null, "batches are not supported, send one message in each request")
  if (!isObject(value)) return invalid(null, "the message must be an object")
  const id = idOf(value)
  if (value["jsonrpc"] !== "2.0") return invalid(id, "jsonrpc must be \"2.0\"")
  const hasId = value["id"] !== undefined
  const method = value["method"]
  if (method === undefined) {
    if (!isObject(value["error"]) && value["result"] === undefined) return invalid(id, "method is missing")
    return { _tag: "Response", id, body: value }
  }
  if (hasId && id === null) return invalid(null, "id must be a string or an integer")
  if (typeof method !== "string") return invalid(id, "method must be a string")
  const params = value["params"]
  if (params !== undefined && !isObject(params)) return invalid(id, "params must be an object")
  return id === null ? { _tag: "Notification", method, params } : { _tag: "Request", id, method, params }
}

const loneSurrogate = /[\uD800-\uDFFF]/u

/** The id of a message that is refused for a text in it, when the id itself can be read. */
export const idOfText = (text: string): JsonRpc.Id | null => {
  const value: unknown = JSON.parse(text)
  const id = isObject(value) ? idOf(value) : null
  return typeof id === "string" && loneSurrogate.test(id) ? null : id
}
