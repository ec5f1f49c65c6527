/**
 * The vocabulary of A2A that agents, clients and conventions share, whatever the version of the wire: a superset of 0.3 and 1.0.
 * `A2aV03` and `A2aV1` read and write it.
 *
 * @since 0.1.0
 */
import type { FileWithBytes, FileWithUri } from "./Part.ts"

/**
 * A JSON object that travels on as it is.
 *
 * @since 0.1.0
 * @category models
 */
export interface JsonObject {
  readonly [key: string]: unknown
}

/**
 * Text. `mediaType` and `filename` exist on the 1.0 wire alone.
 *
 * @since 0.1.0
 * @category models
 */
export interface TextPart {
  readonly kind: "text"
  readonly text: string
  readonly metadata?: JsonObject | undefined
  readonly mediaType?: string | undefined
  readonly filename?: string | undefined
}

/**
 * A file: base64 text that is kept as it came, or where to find it (B-TASK-16).
 *
 * @since 0.1.0
 * @category models
 */
export interface FilePart {
  readonly kind: "file"
  readonly file: FileWithBytes | FileWithUri
  readonly metadata?: JsonObject | undefined
}

/**
 * Any JSON value. The 0.3 wire knows objects alone, and carries others as both SDKs do.
 *
 * @since 0.1.0
 * @category models
 */
export interface DataPart {
  readonly kind: "data"
  readonly data: unknown
  readonly metadata?: JsonObject | undefined
  readonly mediaType?: string | undefined
  readonly filename?: string | undefined
}

/**
 * What messages and artifacts are made of. The parts of the data plane are such parts too.
 *
 * @since 0.1.0
 * @category models
 */
export type Part = TextPart | FilePart | DataPart

/**
 * One message of a conversation. A message that starts a task has no `taskId`, one that continues it has.
 *
 * @since 0.1.0
 * @category models
 */
export interface Message {
  readonly messageId: string
  readonly role: "user" | "agent"
  readonly parts: ReadonlyArray<Part>
  readonly contextId?: string | undefined
  readonly taskId?: string | undefined
  readonly metadata?: JsonObject | undefined
  readonly extensions?: ReadonlyArray<string> | undefined
  readonly referenceTaskIds?: ReadonlyArray<string> | undefined
}

/**
 * Something that a task made.
 *
 * @since 0.1.0
 * @category models
 */
export interface Artifact {
  readonly artifactId: string
  readonly parts: ReadonlyArray<Part>
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly metadata?: JsonObject | undefined
  readonly extensions?: ReadonlyArray<string> | undefined
}

/**
 * Where a task stands. `completed`, `failed`, `canceled` and `rejected` are final.
 *
 * @since 0.1.0
 * @category models
 */
export type TaskState =
  | "submitted"
  | "working"
  | "input-required"
  | "auth-required"
  | "completed"
  | "failed"
  | "canceled"
  | "rejected"
  | "unknown"

/**
 * Whether a task in this state never changes again.
 *
 * @since 0.1.0
 * @category guards
 */
export const isTerminal = (state: TaskState): state is "completed" | "failed" | "canceled" | "rejected" =>
  state === "completed" || state === "failed" || state === "canceled" || state === "rejected"

/**
 * Whether a run of the task has ended: a final state, or one that waits for the caller.
 *
 * @since 0.1.0
 * @category guards
 */
export const isSettled = (state: TaskState): boolean =>
  isTerminal(state) || state === "input-required" || state === "auth-required"

/**
 * The state of a task with what was said when it was entered. `at` is in milliseconds since 1970; a submitted task has none.
 *
 * @since 0.1.0
 * @category models
 */
export interface TaskStatus {
  readonly state: TaskState
  readonly at?: number | undefined
  readonly message?: Message | undefined
}

/**
 * A task as it was at one moment; it never changes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly history: ReadonlyArray<Message>
  readonly artifacts: ReadonlyArray<Artifact>
  readonly metadata?: JsonObject | undefined
}

/**
 * A task entered a state, or said something about it. `final` on the last event of a run's stream.
 *
 * @since 0.1.0
 * @category models
 */
export interface StatusUpdate {
  readonly _tag: "StatusUpdate"
  readonly taskId: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly final: boolean
  readonly metadata?: JsonObject | undefined
}

/**
 * A task made an artifact, or with `append` a further piece of one; `lastChunk` says that it is whole.
 *
 * @since 0.1.0
 * @category models
 */
export interface ArtifactUpdate {
  readonly _tag: "ArtifactUpdate"
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  readonly append: boolean
  readonly lastChunk: boolean
  readonly metadata?: JsonObject | undefined
}

/**
 * What happens to a task.
 *
 * @since 0.1.0
 * @category models
 */
export type TaskEvent = StatusUpdate | ArtifactUpdate

/**
 * What a stream carries: the task as it was when the stream began, then what happens to it; or one message and nothing else.
 *
 * @since 0.1.0
 * @category models
 */
export type StreamEvent =
  | { readonly _tag: "Task"; readonly task: Task }
  | { readonly _tag: "Message"; readonly message: Message }
  | TaskEvent
