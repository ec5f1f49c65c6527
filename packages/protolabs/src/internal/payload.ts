import { isObject, type JsonObject } from "./json.ts"

/** What a part holds that holds no data. @internal */
export const nothing: unique symbol = Symbol.for("@effect-agentenv/protolabs/nothing")

/** The payload of a data part: `content.$case` wins over a `data` key, which flat parts and those of A2A 0.3 share. @internal */
export const payloadOf = (part: JsonObject): unknown => {
  const content = part["content"]
  if (isObject(content) && content["$case"] === "data") return content["value"]
  return Object.hasOwn(part, "data") ? part["data"] : nothing
}

/** Where `payloadOf` looks. @internal */
export const payloadPath = (part: JsonObject): ReadonlyArray<string> =>
  isObject(part["content"]) && part["content"]["$case"] === "data" ? ["content", "value"] : ["data"]
