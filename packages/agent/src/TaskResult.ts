/**
 * What a run ends with.
 *
 * @since 0.1.0
 */
import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as Encoding from "effect/Encoding"
import { dual } from "effect/Function"
import * as Pipeable from "effect/Pipeable"

/**
 * What a run cost. Counts are non-negative integers, `costUsd` a non-negative number; what is left out is not sent (Appendix A).
 *
 * @since 0.1.0
 * @category models
 */
export interface Usage {
  readonly toolCallCount?: number | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly totalTokens?: number | undefined
  readonly costUsd?: number | undefined
  readonly providerDetails?: A2a.JsonObject | undefined
}

/**
 * The record of a run in the words of the runtime that made it. `payload` is any JSON value and all that is served.
 *
 * @since 0.1.0
 * @category models
 */
export interface NativeTrajectory {
  readonly format: string
  readonly payload: unknown
  /** The version of the format, 1 or more; 1 by default. */
  readonly version?: number | undefined
}

/**
 * Parts, of which there is at least one.
 *
 * @since 0.1.0
 * @category models
 */
export type NonEmptyParts = readonly [A2a.Part, ...ReadonlyArray<A2a.Part>]

/**
 * What a run ends with: its parts, of which there is at least one (B-TASK-11), and what else is known of it. With `state`
 * `input-required` the task waits for its caller's next message, which starts another run with the task's history.
 *
 * @since 0.1.0
 * @category models
 */
export interface TaskResult extends Pipeable.Pipeable {
  readonly _tag: "TaskResult"
  readonly state: "completed" | "input-required"
  readonly parts: NonEmptyParts
  readonly usage: Usage | undefined
  readonly sessionRef: string | undefined
  readonly trajectory: NativeTrajectory | undefined
  readonly metadata: A2a.JsonObject | undefined
  readonly messageMetadata: A2a.JsonObject | undefined
}

/**
 * What `make` takes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly parts: NonEmptyParts
  readonly state?: "completed" | "input-required" | undefined
  readonly usage?: Usage | undefined
  readonly sessionRef?: string | undefined
  readonly trajectory?: NativeTrajectory | undefined
  readonly metadata?: A2a.JsonObject | undefined
  readonly messageMetadata?: A2a.JsonObject | undefined
}

interface PartOptions {
  readonly metadata?: A2a.JsonObject | undefined
}

/**
 * A result of any parts.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): TaskResult =>
  Object.assign(Object.create(Pipeable.Prototype) as Pipeable.Pipeable, {
    _tag: "TaskResult" as const,
    state: options.state ?? "completed",
    parts: options.parts,
    usage: options.usage,
    sessionRef: options.sessionRef,
    trajectory: options.trajectory,
    metadata: options.metadata,
    messageMetadata: options.messageMetadata
  })

/**
 * A result of parts, of which there is at least one (B-TASK-11).
 *
 * @since 0.1.0
 * @category constructors
 */
export const parts = (parts: NonEmptyParts): TaskResult => make({ parts })

/**
 * A result of one text.
 *
 * @since 0.1.0
 * @category constructors
 */
export const text = (text: string, options?: PartOptions | undefined): TaskResult =>
  make({ parts: [{ kind: "text", text, metadata: options?.metadata }] })

/**
 * A result of one JSON value.
 *
 * @since 0.1.0
 * @category constructors
 */
export const data = (data: unknown, options?: PartOptions | undefined): TaskResult =>
  make({ parts: [{ kind: "data", data, metadata: options?.metadata }] })

/**
 * A file: its bytes, raw or as base64 text, or where to find it.
 *
 * @since 0.1.0
 * @category models
 */
export type File =
  & { readonly name?: string | undefined; readonly mimeType?: string | undefined }
  & (
    | { readonly bytes: Uint8Array | string; readonly uri?: undefined }
    | { readonly uri: string; readonly bytes?: undefined }
  )

/**
 * A result of one file.
 *
 * @since 0.1.0
 * @category constructors
 */
export const file = (file: File, options?: PartOptions | undefined): TaskResult => {
  const named = {
    ...(file.name === undefined ? {} : { name: file.name }),
    ...(file.mimeType === undefined ? {} : { mimeType: file.mimeType })
  }
  const content = file.uri !== undefined
    ? { ...named, uri: file.uri }
    : { ...named, bytes: typeof file.bytes === "string" ? file.bytes : Encoding.encodeBase64(file.bytes) }
  return make({ parts: [{ kind: "file", file: content, metadata: options?.metadata }] })
}

/**
 * Ends this run with a question. The caller's next message of the task starts another run, whose request has what was said before as
 * its `history`; nothing waits meanwhile.
 *
 * @since 0.1.0
 * @category constructors
 */
export const inputRequired = (question: string | NonEmptyParts): TaskResult =>
  make({
    state: "input-required",
    parts: typeof question === "string" ? [{ kind: "text", text: question }] : question
  })

/**
 * Says what the run cost; it travels as the last data part (B-TASK-6).
 *
 * @since 0.1.0
 * @category combinators
 */
export const withUsage: {
  (usage: Usage): (self: TaskResult) => TaskResult
  (self: TaskResult, usage: Usage): TaskResult
} = dual(2, (self: TaskResult, usage: Usage): TaskResult => make({ ...self, usage }))

/**
 * Leaves a reference for the next task of the context; it never travels (B-TASK-12).
 *
 * @since 0.1.0
 * @category combinators
 */
export const withSessionRef: {
  (sessionRef: string | undefined): (self: TaskResult) => TaskResult
  (self: TaskResult, sessionRef: string | undefined): TaskResult
} = dual(2, (self: TaskResult, sessionRef: string | undefined): TaskResult => make({ ...self, sessionRef }))

/**
 * Adds the record of the run in the runtime's own words.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withTrajectory: {
  (trajectory: NativeTrajectory): (self: TaskResult) => TaskResult
  (self: TaskResult, trajectory: NativeTrajectory): TaskResult
} = dual(2, (self: TaskResult, trajectory: NativeTrajectory): TaskResult => make({ ...self, trajectory }))

/**
 * Appends what AgentEnv reads as the structured answer: a data part `{ "structured_output": value }` (B-TASK-6).
 *
 * @since 0.1.0
 * @category combinators
 */
export const withStructuredOutput: {
  (value: unknown): (self: TaskResult) => TaskResult
  (self: TaskResult, value: unknown): TaskResult
} = dual(
  2,
  (self: TaskResult, value: unknown): TaskResult =>
    make({ ...self, parts: [...self.parts, { kind: "data", data: { structured_output: value } }] })
)

/**
 * Sets the metadata of the event that ends the run; the task keeps it too.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withMetadata: {
  (metadata: A2a.JsonObject): (self: TaskResult) => TaskResult
  (self: TaskResult, metadata: A2a.JsonObject): TaskResult
} = dual(2, (self: TaskResult, metadata: A2a.JsonObject): TaskResult => make({ ...self, metadata }))

/**
 * Sets the metadata of the message that ends the run, where peers look for what an extension says of an answer.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withMessageMetadata: {
  (messageMetadata: A2a.JsonObject): (self: TaskResult) => TaskResult
  (self: TaskResult, messageMetadata: A2a.JsonObject): TaskResult
} = dual(2, (self: TaskResult, messageMetadata: A2a.JsonObject): TaskResult => make({ ...self, messageMetadata }))
