import * as A2aV03 from "@effect-agentenv/protocol/A2aV03"
import * as A2aV1 from "@effect-agentenv/protocol/A2aV1"
import * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import type * as TaskError from "../TaskError.ts"
import type { Operation, RpcError } from "./a2aRequest.ts"

/** What the engine refuses for a reason that the caller is told. */
export type Refusal =
  | TaskError.TaskNotFound
  | TaskError.TaskIsTerminal
  | TaskError.TaskNotCancelable
  | TaskError.ContextMismatch
  | TaskError.TaskBusy

/** A wire with its way to say no. */
export interface Dialect {
  readonly legacy: boolean
  readonly wire: A2aWire.Wire
  readonly invalid: (error: A2aWire.A2aWireError) => RpcError
  readonly refused: (refusal: Refusal, operation: Operation) => RpcError
  readonly noStreaming: RpcError
  readonly noPush: (method: string) => RpcError
  readonly noExtendedCard: RpcError
}

const { InternalError, InvalidParams } = JsonRpc.ErrorCode
const { TaskNotCancelable, TaskNotFound, UnsupportedOperation } = A2aWire.ErrorCode

const noStreaming = "Streaming is not supported by the agent"
const noPush = "Push notifications are not supported by the agent"

/** The path of an issue as its steps: `message.parts[0]` is three. */
const steps = (path: string): ReadonlyArray<string | number> =>
  (path.match(/[^.[\]]+/g) ?? []).map((step) => /^\d+$/.test(step) ? Number(step) : step)

/** The reference repeats the caller's id, which is short in any honest request. */
const shown = (taskId: string): string => taskId.slice(0, 128)

const terminal = ({ state, taskId }: TaskError.TaskIsTerminal): string =>
  `Task ${shown(taskId)} is in terminal state: ${state}`

/** The words of a2a-python 0.3. */
const v03: Dialect = {
  legacy: true,
  wire: A2aV03,
  invalid: ({ issues, stated }) =>
    stated
      ? { code: InvalidParams, message: issues.map(({ message }) => message).join("\n") }
      : {
        code: InvalidParams,
        message: "Invalid parameters",
        data: issues.map(({ message, path }) => ({ loc: ["params", ...steps(path)], msg: message }))
      },
  refused: (refusal, operation) => {
    switch (refusal._tag) {
      case "TaskNotFound":
        return {
          code: TaskNotFound,
          message: operation === "send" || operation === "stream"
            ? `Task ${shown(refusal.taskId)} was specified but does not exist`
            : "Task not found"
        }
      case "TaskIsTerminal":
        return { code: InvalidParams, message: terminal(refusal) }
      case "TaskNotCancelable":
        return {
          code: TaskNotCancelable,
          message: `Task cannot be canceled - current state: TaskState.${refusal.state.replace("-", "_")}`
        }
      case "ContextMismatch":
        return { code: InvalidParams, message: "bad context id" }
      case "TaskBusy":
        return refusal.reason === "running"
          ? { code: UnsupportedOperation, message: refusal.message }
          : { code: InternalError, message: refusal.message }
    }
  },
  noStreaming: { code: InternalError, message: noStreaming },
  noPush: (method) =>
    method === A2aV03.PUSH_METHODS.set
      ? { code: InternalError, message: noPush }
      : { code: UnsupportedOperation, message: "This operation is not supported" },
  noExtendedCard: { code: InternalError, message: "Authenticated card not supported" }
}

/** An error of 1.0 says its reason for programs too. */
const detailed = (code: number, reason: string, message: string, more: ReadonlyArray<unknown> = []): RpcError => ({
  code,
  message,
  data: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" }, ...more]
})

/** The codes of the 1.0 specification in the words of a2a-python 1.1. */
const v1: Dialect = {
  legacy: false,
  wire: A2aV1,
  invalid: ({ issues, stated }) =>
    detailed(
      InvalidParams,
      "INVALID_PARAMS",
      stated ? issues.map(({ message }) => message).join("\n") : "Validation failed",
      [{
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: issues.map(({ message, path }) => ({ field: path, description: message }))
      }]
    ),
  refused: (refusal, operation) => {
    switch (refusal._tag) {
      case "TaskNotFound":
        return detailed(
          TaskNotFound,
          "TASK_NOT_FOUND",
          operation === "send" || operation === "stream" ? `Task ${shown(refusal.taskId)} not found` : "Task not found"
        )
      case "TaskIsTerminal":
        return detailed(UnsupportedOperation, "UNSUPPORTED_OPERATION", terminal(refusal))
      case "TaskNotCancelable":
        return detailed(TaskNotCancelable, "TASK_NOT_CANCELABLE", "Task cannot be canceled")
      case "ContextMismatch":
        return detailed(InvalidParams, "INVALID_PARAMS", refusal.message)
      case "TaskBusy":
        return refusal.reason === "running"
          ? detailed(UnsupportedOperation, "UNSUPPORTED_OPERATION", refusal.message)
          : detailed(InternalError, "INTERNAL_ERROR", refusal.message)
    }
  },
  noStreaming: detailed(UnsupportedOperation, "UNSUPPORTED_OPERATION", noStreaming),
  noPush: () => detailed(A2aWire.ErrorCode.PushNotificationNotSupported, "PUSH_NOTIFICATION_NOT_SUPPORTED", noPush),
  noExtendedCard: detailed(
    UnsupportedOperation,
    "UNSUPPORTED_OPERATION",
    "The agent does not support authenticated extended cards"
  )
}

/** What a peer of a later major version is told. */
export const versionNotSupported: RpcError = detailed(
  A2aWire.ErrorCode.VersionNotSupported,
  "VERSION_NOT_SUPPORTED",
  "The version of A2A-Version is not supported: this agent speaks 1.0 and 0.3"
)

export const dialectOf = (legacy: boolean): Dialect => legacy ? v03 : v1
