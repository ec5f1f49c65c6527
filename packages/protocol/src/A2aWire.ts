/**
 * What both versions of the A2A wire have in common: what requests ask for, whatever their spelling, and how reading fails.
 * `A2aV03` and `A2aV1` are the two wires; either module is a `Wire`.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as A2a from "./A2a.ts"

/**
 * The error codes of A2A beside JSON-RPC's own.
 *
 * @since 0.1.0
 * @category models
 */
export const ErrorCode = {
  TaskNotFound: -32001,
  TaskNotCancelable: -32002,
  PushNotificationNotSupported: -32003,
  UnsupportedOperation: -32004,
  ContentTypeNotSupported: -32005,
  InvalidAgentResponse: -32006,
  ExtendedCardNotConfigured: -32007,
  ExtensionSupportRequired: -32008,
  VersionNotSupported: -32009
} as const

/**
 * The request header that names the version of the wire, in the form `major.minor`.
 *
 * @since 0.1.0
 * @category models
 */
export const VERSION_HEADER = "a2a-version"

/**
 * One thing that is wrong with a value, never the value itself.
 *
 * @since 0.1.0
 * @category models
 */
export interface Issue {
  /** Where, from the value's root on: `message.parts[0].text`; `""` is the value itself. */
  readonly path: string
  readonly message: string
}

/**
 * A value that is not what this wire says it must be. It names fields and repeats no value, so it may be answered and logged.
 *
 * @since 0.1.0
 * @category errors
 */
export class A2aWireError extends Schema.TaggedError<A2aWireError>("@effect-agentenv/protocol/A2aWireError")(
  "A2aWireError",
  {
    issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })),
    /** The shape was right: the issue is a sentence of the protocol's own (B-TASK-10), to be answered as it is. */
    stated: Schema.optionalWith(Schema.Boolean, { default: () => false })
  }
) {
  /** @since 0.1.0 */
  override get message(): string {
    return this.issues.map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join("\n")
  }
}

/**
 * What a message is sent with. A server waits for the end of the run unless `blocking` is false, and answers the whole history
 * unless `historyLength` says less (B-TASK-1, B-TASK-2).
 *
 * @since 0.1.0
 * @category models
 */
export interface SendParams {
  readonly message: A2a.Message
  readonly blocking?: boolean | undefined
  readonly historyLength?: number | undefined
  readonly acceptedOutputModes?: ReadonlyArray<string> | undefined
  readonly metadata?: A2a.JsonObject | undefined
  /** The sender asked for push notifications. It is read, and never written. */
  readonly push?: boolean | undefined
}

/**
 * Which task is asked for, canceled or listened to. `historyLength` counts where a task is answered.
 *
 * @since 0.1.0
 * @category models
 */
export interface TaskParams {
  readonly id: string
  readonly historyLength?: number | undefined
  readonly metadata?: A2a.JsonObject | undefined
}

/**
 * Which tasks are asked for, newest first. The 0.3 wire has no such request.
 *
 * @since 0.1.0
 * @category models
 */
export interface ListParams {
  readonly contextId?: string | undefined
  readonly state?: A2a.TaskState | undefined
  /** From 1 to 100. */
  readonly pageSize?: number | undefined
  /** What the page before this one said comes next. */
  readonly pageToken?: string | undefined
  readonly historyLength?: number | undefined
  /** Only tasks whose status is this new, in milliseconds since 1970. */
  readonly since?: number | undefined
  /** Artifacts are left out unless asked for. */
  readonly includeArtifacts?: boolean | undefined
}

/**
 * One page of tasks. `nextPageToken` is `""` on the last.
 *
 * @since 0.1.0
 * @category models
 */
export interface Page {
  readonly tasks: ReadonlyArray<A2a.Task>
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}

/**
 * What a sent message is answered with.
 *
 * @since 0.1.0
 * @category models
 */
export type Reply = Extract<A2a.StreamEvent, { readonly _tag: "Task" | "Message" }>

/**
 * The names of the methods that both versions have.
 *
 * @since 0.1.0
 * @category models
 */
export interface Methods {
  readonly send: string
  readonly stream: string
  readonly get: string
  readonly cancel: string
  readonly resubscribe: string
  readonly extendedCard: string
}

/**
 * The methods that name a task.
 *
 * @since 0.1.0
 * @category models
 */
export type TaskMethod = "get" | "cancel" | "resubscribe"

/**
 * One version of the wire, both directions: the params of requests and their results, without the envelope of JSON-RPC. Decoding
 * fails with the fields that are wrong; nothing here waits.
 *
 * @since 0.1.0
 * @category models
 */
export interface Wire {
  readonly VERSION: "0.3" | "1.0"
  readonly METHODS: Methods
  readonly decodeSend: (params: unknown) => Effect.Effect<SendParams, A2aWireError>
  readonly encodeSend: (params: SendParams) => A2a.JsonObject
  readonly decodeTaskParams: (params: unknown) => Effect.Effect<TaskParams, A2aWireError>
  readonly encodeTaskParams: (method: TaskMethod, params: TaskParams) => A2a.JsonObject
  readonly decodeTask: (result: unknown) => Effect.Effect<A2a.Task, A2aWireError>
  readonly encodeTask: (task: A2a.Task) => A2a.JsonObject
  readonly decodeReply: (result: unknown) => Effect.Effect<Reply, A2aWireError>
  readonly encodeReply: (reply: Reply) => A2a.JsonObject
  readonly decodeEvent: (result: unknown) => Effect.Effect<A2a.StreamEvent, A2aWireError>
  readonly encodeEvent: (event: A2a.StreamEvent) => A2a.JsonObject
}
