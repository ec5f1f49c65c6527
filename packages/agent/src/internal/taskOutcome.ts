import type * as A2a from "@effect-agentenv/protocol/A2a"
import type { Outcome } from "../TaskEngine.ts"
import type { TaskFailure } from "../TaskFailure.ts"
import type { NativeTrajectory, TaskResult, Usage } from "../TaskResult.ts"
import { isObject, NoJson, unsafeCopy } from "./json.ts"

const refuse = (message: string): never => {
  throw new NoJson({ message })
}

const metadataOf = (value: unknown, what: string): { readonly metadata?: A2a.JsonObject } =>
  value === undefined ? {} : { metadata: isObject(value) ? unsafeCopy(value) : refuse(`${what} is no object`) }

const text = (value: unknown, what: string): string => typeof value === "string" ? value : refuse(`${what} is no text`)

const optionalText = <K extends string>(key: K, value: unknown, what: string): { readonly [_ in K]?: string } =>
  value === undefined ? {} : { [key]: text(value, `${what}.${key}`) } as { readonly [_ in K]: string }

const fileOf = (file: unknown): A2a.FilePart["file"] => {
  if (!isObject(file)) return refuse("a file part has no file")
  const named = {
    ...optionalText("name", file["name"], "a file"),
    ...optionalText("mimeType", file["mimeType"], "a file")
  }
  const { bytes, uri } = file
  if ((bytes === undefined) === (uri === undefined)) return refuse("a file has either bytes or a uri")
  return bytes === undefined
    ? { ...named, uri: text(uri, "a file's uri") }
    : { ...named, bytes: text(bytes, "a file's bytes") }
}

const partOf = (part: unknown): A2a.Part => {
  if (!isObject(part)) return refuse("a part is no object")
  const metadata = metadataOf(part["metadata"], "a part's metadata")
  const named = {
    ...optionalText("mediaType", part["mediaType"], "a part"),
    ...optionalText("filename", part["filename"], "a part")
  }
  switch (part["kind"]) {
    case "text":
      return { kind: "text", text: text(part["text"], "a text part's text"), ...metadata, ...named }
    case "file":
      return { kind: "file", file: fileOf(part["file"]), ...metadata }
    case "data":
      return { kind: "data", data: unsafeCopy(part["data"]), ...metadata, ...named }
    default:
      return refuse("a part is neither text, file nor data")
  }
}

const partsOf = (parts: unknown): ReadonlyArray<A2a.Part> =>
  Array.isArray(parts) ? parts.map(partOf) : refuse("parts are no list")

/** Copies of the parts of an author, or throws: there is one at least, and the wire can say them all. */
export const nonEmptyParts = (parts: unknown): ReadonlyArray<A2a.Part> => {
  const copied = partsOf(parts)
  return copied.length === 0 ? refuse("there is no part") : copied
}

/** A copy of an artifact of an author, or throws. */
export const artifact = (value: A2a.Artifact): A2a.Artifact => ({
  artifactId: text(value.artifactId, "an artifact's id"),
  parts: nonEmptyParts(value.parts),
  ...optionalText("name", value.name, "an artifact"),
  ...optionalText("description", value.description, "an artifact"),
  ...metadataOf(value.metadata, "an artifact's metadata")
})

/** A copy of the metadata of an author, or throws. */
export const metadata = (value: unknown): { readonly metadata?: A2a.JsonObject } => metadataOf(value, "metadata")

/** Copies of what an author says of a status and of its message, or throws. */
export const statusMetadata = (
  said: { readonly metadata?: unknown; readonly messageMetadata?: unknown }
): { readonly metadata?: A2a.JsonObject; readonly messageMetadata?: A2a.JsonObject } => {
  const ofMessage = metadataOf(said.messageMetadata, "a message's metadata").metadata
  return { ...metadata(said.metadata), ...(ofMessage === undefined ? undefined : { messageMetadata: ofMessage }) }
}

const counts = [
  ["toolCallCount", "tool_call_count"],
  ["inputTokens", "input_tokens"],
  ["outputTokens", "output_tokens"],
  ["totalTokens", "total_tokens"]
] as const

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

const isCost = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0

/** `usage` by wire names; nothing when nothing was said. */
const usageOf = (usage: Usage | undefined): { readonly usage?: A2a.JsonObject } => {
  if (usage === undefined) return {}
  if (!isObject(usage)) return refuse("usage is no object")
  const out: Record<string, unknown> = {}
  for (const [property, wire] of counts) {
    const value = usage[property]
    if (value === undefined) continue
    out[wire] = isCount(value) ? value : refuse(`usage.${property} is no non-negative integer`)
  }
  const { costUsd, providerDetails } = usage
  if (costUsd !== undefined) {
    out["cost_usd"] = isCost(costUsd)
      ? costUsd
      : refuse("usage.costUsd is no non-negative number")
  }
  if (providerDetails !== undefined) {
    const details = isObject(providerDetails)
      ? unsafeCopy(providerDetails)
      : refuse("usage.providerDetails is no object")
    if (Object.keys(details).length > 0) out["provider_details"] = details
  }
  return Object.keys(out).length === 0 ? {} : { usage: out }
}

/** The payload is left to those who keep it, and who have their own way with what JSON can't say. */
const trajectoryOf = (trajectory: NativeTrajectory | undefined): NativeTrajectory | undefined => {
  if (trajectory === undefined) return undefined
  if (!isObject(trajectory)) return refuse("a trajectory is no object")
  const { format, payload, version = 1 } = trajectory
  if (!Number.isSafeInteger(version) || version < 1) return refuse("a trajectory's version is no positive integer")
  return { format: text(format, "a trajectory's format"), payload, version }
}

const sessionRefOf = (sessionRef: unknown): string | undefined =>
  sessionRef === undefined ? undefined : text(sessionRef, "a session reference")

/** An outcome with what stays at home. */
export interface Settled {
  readonly outcome: Outcome & { readonly state: "completed" | "failed" | "input-required" }
  readonly sessionRef: string | undefined
  readonly trajectory: NativeTrajectory | undefined
}

const data = (data: A2a.JsonObject): A2a.DataPart => ({ kind: "data", data })

const isResult = (value: unknown): value is TaskResult =>
  isObject(value) && value["_tag"] === "TaskResult" &&
  (value["state"] === "completed" || value["state"] === "input-required")

/** The outcome of a run that answered (B-TASK-6), or throws. */
export const fromResult = (value: unknown): Settled => {
  if (!isResult(value)) return refuse("run answered no TaskResult")
  const usage = usageOf(value.usage)
  const parts = nonEmptyParts(value.parts)
  return {
    outcome: {
      state: value.state,
      parts: usage.usage === undefined ? parts : [...parts, data(usage)],
      ...statusMetadata(value)
    },
    sessionRef: sessionRefOf(value.sessionRef),
    trajectory: trajectoryOf(value.trajectory)
  }
}

const errorParts = (
  error: { readonly type: string; readonly code: string; readonly message: string },
  usage: { readonly usage?: A2a.JsonObject },
  parts?: ReadonlyArray<A2a.Part> | undefined
): ReadonlyArray<A2a.Part> => [
  ...(parts ?? [{ kind: "text" as const, text: error.message }]),
  data({ ...usage, error_type: error.type, error_code: error.code, error_message: error.message })
]

/** The outcome of a failure that the author declared (B-TASK-7), or throws. */
export const fromFailure = (failure: TaskFailure): Settled => ({
  outcome: {
    state: "failed",
    parts: errorParts(
      { type: failure.errorType ?? "agent_error", code: failure.code, message: failure.message },
      usageOf(failure.usage),
      failure.parts === undefined ? undefined : partsOf(failure.parts)
    ),
    ...statusMetadata(failure)
  },
  sessionRef: sessionRefOf(failure.sessionRef),
  trajectory: trajectoryOf(failure.trajectory)
})

/** The outcome of what nobody expected: the sentence names a correlation id and nothing else (B-TASK-8). */
export const unexpected = (sentence: string): Outcome => ({
  state: "failed",
  parts: errorParts({ type: "infra_error", code: "framework.unhandled_exception", message: sentence }, {})
})
