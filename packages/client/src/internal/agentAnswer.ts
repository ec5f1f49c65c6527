import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as Arr from "effect/Array"
import * as Option from "effect/Option"
import type { Answer, Failure, Usage } from "../AgentClient.ts"
import { isObject } from "./rpc.ts"

type Parts = ReadonlyArray<A2a.Part>

interface Said {
  /** What was said with the state, or by the message. */
  readonly parts: Parts
  /** What was made. */
  readonly artifacts: ReadonlyArray<A2a.Artifact>
  readonly state: A2a.TaskState | undefined
}

const ofTask = ({ artifacts, status }: A2a.Task): Said => ({
  parts: status.message?.parts ?? [],
  artifacts,
  state: status.state
})

const ofMessage = ({ parts }: A2a.Message): Said => ({ parts, artifacts: [], state: undefined })

const said = (answer: Answer): Said => {
  if (!("_tag" in answer)) return "status" in answer ? ofTask(answer) : ofMessage(answer)
  switch (answer._tag) {
    case "Task":
      return ofTask(answer.task)
    case "Message":
      return ofMessage(answer.message)
    case "StatusUpdate":
      return { parts: answer.status.message?.parts ?? [], artifacts: [], state: answer.status.state }
    case "ArtifactUpdate":
      return { parts: [], artifacts: [answer.artifact], state: undefined }
  }
}

const texts = (parts: Parts): ReadonlyArray<string> => parts.flatMap((part) => part.kind === "text" ? [part.text] : [])

/** The objects of the data parts, the last one first: what was said last counts. */
const objects = (parts: Parts): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  Arr.reverse(parts).flatMap((part) => part.kind === "data" && isObject(part.data) ? [part.data] : [])

const first = (from: ReadonlyArray<Readonly<Record<string, unknown>>>, key: string): Option.Option<unknown> =>
  Option.map(Arr.findFirst(from, (object) => Object.hasOwn(object, key) && object[key] !== null), (found) => found[key])

/** @internal */
export const text = (answer: Answer): string => {
  const { artifacts, parts } = said(answer)
  const last = texts(parts).at(-1)
  if (last !== undefined) return last
  const made = artifacts.map(({ parts }) => texts(parts))
  return Option.match(Arr.findLast(made, (found) => found.length > 0), {
    onNone: () => "",
    onSome: (found) => found.join("")
  })
}

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined

/** @internal */
export const usage = (answer: Answer): Option.Option<Usage> => {
  const found = objects(said(answer).parts)
  const told = first(found, "usage").pipe(
    Option.filter(isObject),
    Option.getOrElse(() => ({} as Record<string, unknown>))
  )
  const details = told["provider_details"]
  const read: Usage = {
    toolCallCount: count(told["tool_call_count"]) ?? count(Option.getOrUndefined(first(found, "tool_call_count"))),
    inputTokens: count(told["input_tokens"]),
    outputTokens: count(told["output_tokens"]),
    totalTokens: count(told["total_tokens"]),
    costUsd: count(told["cost_usd"]),
    providerDetails: isObject(details) ? details : undefined
  }
  const known = Object.entries(read).filter(([, value]) => value !== undefined)
  return known.length === 0 ? Option.none() : Option.some(Object.fromEntries(known))
}

/** @internal */
export const structuredOutput = (answer: Answer): Option.Option<unknown> =>
  first(objects(said(answer).parts), "structured_output")

/** @internal */
export const failure = (answer: Answer): Option.Option<Failure> => {
  const { parts, state } = said(answer)
  if (state !== "failed" && state !== "rejected" && state !== "canceled") return Option.none()
  const found = objects(parts)
  const field = (key: string): string | undefined => {
    const value = Option.getOrUndefined(first(found, key))
    return typeof value === "string" ? value : undefined
  }
  return Option.some({
    state,
    message: field("error_message") ?? texts(parts).at(-1) ?? "",
    type: field("error_type"),
    code: field("error_code"),
    class: field("error_class")
  })
}
