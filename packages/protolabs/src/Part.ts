/**
 * A2A's parts in all three envelopes that peers use: flat (A2A 1.0 on the wire), `content.$case` (the SDKs' memory, and the older
 * package's own shape) and `kind` (A2A 0.3). Readers take every one; writers write the flat one.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import { isObject, type JsonObject, own } from "./internal/json.ts"
import { nothing, payloadOf } from "./internal/payload.ts"
import * as Read from "./Read.ts"

/**
 * The key of a part's metadata that tells what its data is.
 *
 * @since 0.1.0
 * @category constructors
 */
export const mimeKey = "mimeType"

/**
 * The `mediaType` of every data part; it tells nothing about the payload.
 *
 * @since 0.1.0
 * @category constructors
 */
export const dataMediaType = "application/json"

/**
 * A text part as A2A 1.0 has it on the wire.
 *
 * @since 0.1.0
 * @category models
 */
export interface TextPart {
  readonly text: string
  readonly mediaType?: string
}

/**
 * A data part as A2A 1.0 has it on the wire.
 *
 * @since 0.1.0
 * @category models
 */
export interface DataPart<out A = unknown> {
  readonly data: A
  readonly metadata?: { readonly [key: string]: unknown }
  readonly mediaType: string
}

/**
 * A part whose member is named by `content.$case`: what the SDKs hold in memory. It isn't legal on the wire.
 *
 * @since 0.1.0
 * @category models
 */
export interface CasePart {
  readonly content?: { readonly $case: string; readonly value: unknown }
  readonly metadata?: { readonly [key: string]: unknown }
  readonly filename?: string
  readonly mediaType?: string
}

/**
 * What a data part holds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Data {
  readonly mimeType: string | undefined
  readonly payload: unknown
}

/**
 * Makes a text part.
 *
 * @since 0.1.0
 * @category constructors
 */
export const text = (text: string, options?: { readonly mediaType?: string | undefined }): TextPart =>
  options?.mediaType === undefined ? { text } : { text, mediaType: options.mediaType }

/**
 * Makes a data part, told apart by `mimeType`. The payload is kept by reference.
 *
 * @since 0.1.0
 * @category constructors
 */
export const data = <A>(payload: A, mimeType?: string): DataPart<A> =>
  mimeType === undefined
    ? { data: payload, mediaType: dataMediaType }
    : { data: payload, metadata: { [mimeKey]: mimeType }, mediaType: dataMediaType }

const members = ["text", "raw", "url", "data"] as const

type Member = readonly [name: string, value: unknown]

/** A file of A2A 0.3 names its bytes and its place otherwise. */
const fileMember = (file: JsonObject): Member | undefined =>
  Object.hasOwn(file, "bytes")
    ? ["raw", file["bytes"]]
    : Object.hasOwn(file, "uri")
    ? ["url", file["uri"]]
    : undefined

const member = (part: JsonObject): Member | undefined => {
  const content = part["content"]
  if (isObject(content) && typeof content["$case"] === "string" && members.some((name) => name === content["$case"])) {
    return [content["$case"], own(content, "value") ?? null]
  }
  const name = members.find((name) => Object.hasOwn(part, name))
  if (name !== undefined) return [name, part[name]]
  return isObject(part["file"]) ? fileMember(part["file"]) : undefined
}

const textOf = (value: unknown): string => typeof value === "string" ? value : ""

const envelope = (part: JsonObject) => {
  const file = isObject(part["file"]) ? part["file"] : {}
  const metadata = part["metadata"]
  return {
    member: member(part),
    metadata: isObject(metadata) ? metadata : undefined,
    filename: textOf(part["filename"]) || textOf(file["name"]),
    mediaType: textOf(part["mediaType"]) || textOf(file["mimeType"])
  }
}

/**
 * Rewrites a part of any envelope as the wire of A2A 1.0 has it: member, metadata, then `filename` and `mediaType` unless they are
 * empty. A part without a member keeps the rest.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toFlat = (part: { readonly [key: string]: unknown } | CasePart): { readonly [key: string]: unknown } => {
  const { filename, mediaType, member, metadata } = envelope(part as JsonObject)
  return {
    ...(member === undefined ? {} : { [member[0]]: member[1] }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(filename === "" ? {} : { filename }),
    ...(mediaType === "" ? {} : { mediaType })
  }
}

/**
 * Rewrites a part of any envelope with `content.$case`, for those who hand parts to an SDK or to code that was written for the older
 * package. Never send it: the SDKs lose the content on the wire.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toCase = (
  part: { readonly [key: string]: unknown } | TextPart | DataPart | CasePart
): CasePart => {
  const { filename, mediaType, member, metadata } = envelope(part as JsonObject)
  return {
    ...(member === undefined ? {} : { content: { $case: member[0], value: member[1] } }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(filename === "" && mediaType === "" ? {} : { filename, mediaType })
  }
}

const notAPart = () => new Read.Malformed({ concept: "part", path: [], reason: "expected an object" })

/**
 * Reads a part's text. An empty text is a text; a text member that holds no string is malformed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const readText = (part: unknown): Read.Read<string> => {
  if (!isObject(part)) return notAPart()
  const content = part["content"]
  const named = isObject(content) && content["$case"] === "text"
  const value = named ? content["value"] : own(part, "text")
  if (typeof value === "string") return Read.present(value, "dataPart")
  if (named) return new Read.Malformed({ concept: "part", path: ["content", "value"], reason: "expected string" })
  return value === undefined
    ? Read.absent
    : new Read.Malformed({ concept: "part", path: ["text"], reason: "expected string" })
}

/**
 * Reads what a data part holds, whatever its type: `content.$case` wins over a `data` key. `mediaType` isn't asked.
 *
 * @since 0.1.0
 * @category combinators
 */
export const readData = (part: unknown): Read.Read<Data> => {
  if (!isObject(part)) return notAPart()
  const payload = payloadOf(part)
  if (payload === nothing) return Read.absent
  const mimeType = isObject(part["metadata"]) ? own(part["metadata"], mimeKey) : undefined
  return mimeType === undefined || typeof mimeType === "string"
    ? Read.present({ mimeType, payload }, "dataPart")
    : new Read.Malformed({ concept: "part", path: ["metadata", mimeKey], reason: "expected string" })
}

/**
 * Reads the MIME type in a part's metadata, whatever the part holds.
 *
 * @since 0.1.0
 * @category combinators
 */
export const mime = (part: unknown): Option.Option<string> => {
  const mimeType = lenient.mime(part)
  return typeof mimeType === "string" ? Option.some(mimeType) : Option.none()
}

/**
 * All text of a list of parts, put together without anything between.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toText = (parts: Iterable<unknown>): string => {
  let all = ""
  for (const part of parts) {
    const read = readText(part)
    if (Read.isPresent(read)) all += read.value
  }
  return all
}

/**
 * Reads as the older packages do: nothing is checked, and a MIME type may be anything.
 *
 * @since 0.1.0
 * @category combinators
 */
export const lenient: {
  readonly readText: (part: unknown) => Option.Option<string>
  readonly readData: (part: unknown) => Option.Option<{ readonly mimeType: unknown; readonly payload: unknown }>
  readonly mime: (part: unknown) => unknown
} = {
  readText: (part) => Read.toOption(readText(part)),
  readData: (part) => {
    const payload = isObject(part) ? payloadOf(part) : nothing
    return payload === nothing ? Option.none() : Option.some({ mimeType: lenient.mime(part), payload })
  },
  mime: (part) => isObject(part) && isObject(part["metadata"]) ? own(part["metadata"], mimeKey) : undefined
}
