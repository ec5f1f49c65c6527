import type * as A2a from "../A2a.ts"
import type * as A2aWire from "../A2aWire.ts"
import { isJsonObject, nonEmpty } from "./a2aJson.ts"

/** What a version calls the things that plain messages are made of. */
interface Words {
  /** Whether messages and parts say their kind, and what they hold has neither a media type nor a file name. */
  readonly kinds: boolean
  readonly user: string
  readonly agent: string
  /** The field that tells whether the answer waits for the run, and what it says when it does. */
  readonly waits: string
  readonly waiting: boolean
}

const isText = (value: unknown): value is string => typeof value === "string"

const isTextOrAbsent = (value: unknown): value is string | undefined => value === undefined || typeof value === "string"

const isObjectOrAbsent = (value: unknown): value is A2a.JsonObject | undefined =>
  value === undefined || isJsonObject(value)

/** Whether an object has no other fields, as one that was made by a parser. */
const hasOnly = (object: A2a.JsonObject, fields: ReadonlySet<string>): boolean => {
  for (const field in object) if (!fields.has(field)) return false
  return true
}

const paramFields: ReadonlySet<string> = new Set(["message", "configuration", "metadata"])

/**
 * Reads the params of most messages that are sent: texts, with no fields but the usual, spelled the usual way. `undefined` says nothing
 * about the params but that the schema has to read them, which takes several times as long.
 *
 * @internal
 */
export const plainReader = (words: Words): (params: unknown) => A2aWire.SendParams | undefined => {
  const messageFields: ReadonlySet<string> = new Set([
    "messageId",
    "role",
    "parts",
    "contextId",
    "taskId",
    "metadata",
    ...words.kinds ? ["kind"] : []
  ])
  const partFields: ReadonlySet<string> = new Set(words.kinds ? ["kind", "text"] : ["text", "mediaType", "filename"])
  const configurationFields: ReadonlySet<string> = new Set([words.waits, "acceptedOutputModes"])

  const partOf = (part: unknown): A2a.TextPart | undefined => {
    if (!isJsonObject(part) || !hasOnly(part, partFields)) return undefined
    const { filename, kind, mediaType, text } = part
    if (!isText(text) || text === "" || (words.kinds && kind !== "text")) return undefined
    if (mediaType === undefined && filename === undefined) return { kind: "text", text }
    if (!isTextOrAbsent(mediaType) || !isTextOrAbsent(filename)) return undefined
    return {
      kind: "text",
      text,
      ...(nonEmpty(mediaType) === undefined ? undefined : { mediaType }),
      ...(nonEmpty(filename) === undefined ? undefined : { filename })
    } as A2a.TextPart
  }

  const partsOf = (parts: unknown): ReadonlyArray<A2a.Part> | undefined => {
    if (!Array.isArray(parts) || parts.length === 0) return undefined
    const read: Array<A2a.Part> = []
    for (const part of parts) {
      const one = partOf(part)
      if (one === undefined) return undefined
      read.push(one)
    }
    return read
  }

  const messageOf = (message: unknown): A2a.Message | undefined => {
    if (!isJsonObject(message) || !hasOnly(message, messageFields)) return undefined
    const { contextId, kind, messageId, metadata, role, taskId } = message
    if (!isText(messageId) || messageId === "" || (kind !== undefined && kind !== "message")) return undefined
    if (role !== words.user && role !== words.agent) return undefined
    if (!isTextOrAbsent(contextId) || !isTextOrAbsent(taskId) || !isObjectOrAbsent(metadata)) return undefined
    const parts = partsOf(message["parts"])
    if (parts === undefined) return undefined
    const read: { -readonly [K in keyof A2a.Message]: A2a.Message[K] } = {
      messageId,
      role: role === words.user ? "user" : "agent",
      parts
    }
    if (contextId !== undefined && contextId !== "") read.contextId = contextId
    if (taskId !== undefined && taskId !== "") read.taskId = taskId
    if (metadata !== undefined) read.metadata = metadata
    return read
  }

  return (params) => {
    if (!isJsonObject(params) || !hasOnly(params, paramFields)) return undefined
    const { configuration, metadata } = params
    if (!isObjectOrAbsent(configuration) || !isObjectOrAbsent(metadata)) return undefined
    const message = messageOf(params["message"])
    if (message === undefined) return undefined
    const read: { -readonly [K in keyof A2aWire.SendParams]: A2aWire.SendParams[K] } = { message }
    if (configuration !== undefined) {
      if (!hasOnly(configuration, configurationFields)) return undefined
      const { [words.waits]: waits, acceptedOutputModes } = configuration
      if (waits !== undefined) {
        if (typeof waits !== "boolean") return undefined
        read.blocking = waits === words.waiting
      }
      if (acceptedOutputModes !== undefined) {
        if (!Array.isArray(acceptedOutputModes) || !acceptedOutputModes.every(isText)) return undefined
        read.acceptedOutputModes = acceptedOutputModes.slice()
      }
    }
    if (metadata !== undefined) read.metadata = metadata
    return read
  }
}
