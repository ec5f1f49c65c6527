/**
 * The task engine behind the request handler of `@a2a-js/sdk`, for those who serve with that SDK's transports. Needs its 1.x release,
 * an optional peer dependency, so it is imported by its own path: `@effect-agentenv/agent/A2aSdk`.
 *
 * @since 0.1.0
 */
import * as Sdk from "@a2a-js/sdk"
import * as SdkError from "@a2a-js/sdk/errors"
import type { A2ARequestHandler } from "@a2a-js/sdk/server"
import type * as A2aModel from "@effect-agentenv/protocol/A2a"
import * as A2aV1 from "@effect-agentenv/protocol/A2aV1"
import * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import type * as Card from "@effect-agentenv/protocol/AgentCard"
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { dialectOf, type Refusal } from "./internal/a2aDialect.ts"
import { list } from "./internal/a2aList.ts"
import type { Operation, RpcError } from "./internal/a2aRequest.ts"
import { Events } from "./internal/a2aSdkEvents.ts"
import type { Subscription, TaskEngine } from "./TaskEngine.ts"
import type { TaskStoreError } from "./TaskStore.ts"

type Failure = Refusal | A2aWire.A2aWireError | TaskStoreError

const dialect = dialectOf(false)
const { ErrorCode } = A2aWire

/** The SDK's error for a code of 1.0; its base class is an internal error. */
const classes: ReadonlyMap<number, new(message: string) => SdkError.A2AError> = new Map([
  [ErrorCode.TaskNotFound, SdkError.TaskNotFoundError],
  [ErrorCode.TaskNotCancelable, SdkError.TaskNotCancelableError],
  [ErrorCode.UnsupportedOperation, SdkError.UnsupportedOperationError],
  [ErrorCode.PushNotificationNotSupported, SdkError.PushNotificationNotSupportedError],
  [JsonRpc.ErrorCode.InvalidParams, SdkError.RequestMalformedError]
])

const errorOf = ({ code, message }: RpcError): SdkError.A2AError =>
  new (classes.get(code) ?? SdkError.A2AError)(message)

/** The SDK makes short work of its messages, so the fields that are wrong are named in it. */
const malformed = (error: A2aWire.A2aWireError): SdkError.A2AError => new SdkError.RequestMalformedError(error.message)

/** What nobody expected is told as an id, and logged. */
const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<never, SdkError.A2AError> =>
  Effect.flatMap(Correlation.reportEffect(cause), (message) => Effect.fail(new SdkError.A2AError(message)))

/** Fails with the SDK's errors alone. */
const translated = <A>(
  effect: Effect.Effect<A, Failure>,
  operation: Operation
): Effect.Effect<A, SdkError.A2AError> =>
  effect.pipe(
    Effect.catchAllDefect((defect) => unexpected(Cause.die(defect))),
    Effect.catchAll((error) => {
      if (error instanceof SdkError.A2AError) return Effect.fail(error)
      switch (error._tag) {
        case "A2aWireError":
          return Effect.fail(malformed(error))
        case "TaskStoreError":
          return unexpected(Cause.fail(error))
        default:
          return Effect.fail(errorOf(dialect.refused(error, operation)))
      }
    })
  )

// Both sides have a codec for the same JSON, so what the SDK's classes look like is the SDK's affair.
const sdkTask = (task: A2aModel.Task): Sdk.Task => Sdk.Task.fromJSON(A2aV1.encodeTask(task))
const sdkEvent = (event: A2aModel.StreamEvent): Sdk.StreamResponse =>
  Sdk.StreamResponse.fromJSON(A2aV1.encodeEvent(event))

/** What can happen before there are events: the request is read as on the wire, the engine asked. */
const read = <A>(params: () => unknown, decode: (params: unknown) => Effect.Effect<A, A2aWire.A2aWireError>) =>
  Effect.suspend(() => decode(params()))

const options = ({ blocking, historyLength, metadata }: A2aWire.SendParams) => ({
  blocking: blocking ?? true,
  historyLength,
  metadata
})

/**
 * An `A2ARequestHandler` over an engine, for the SDK's Express JSON-RPC and REST handlers and its gRPC service. It answers as this
 * package's own JSON-RPC of 1.0 does, with the errors of `@a2a-js/sdk/errors`; push notifications are refused. Streaming is served when
 * the card says so. A card that changes is given as a function, which is asked again for every request.
 *
 * @since 0.1.0
 * @category constructors
 */
export const requestHandler = (
  engine: TaskEngine["Type"],
  card: Card.AgentCard | (() => Card.AgentCard)
): Effect.Effect<A2ARequestHandler> =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    const currentCard = typeof card === "function" ? card : () => card
    const run = <A>(effect: Effect.Effect<A, Failure>, operation: Operation): Promise<A> =>
      Events.promise(runtime, translated(effect, operation))

    const noPush = (): Promise<never> => Promise.reject(errorOf(dialect.noPush("")))
    const events = (subscribed: Effect.Effect<Subscription, Failure>, operation: Operation) =>
      new Events(
        runtime,
        translated(
          Effect.suspend(() =>
            currentCard().capabilities.streaming === true
              ? subscribed
              : Effect.fail(errorOf(dialect.noStreaming)) as never
          ),
          operation
        ),
        sdkEvent,
        unexpected
      )

    return {
      getAgentCard: () => Promise.resolve(Sdk.AgentCard.fromJSON(currentCard())),
      getAuthenticatedExtendedAgentCard: () => Promise.reject(errorOf(dialect.noExtendedCard)),
      sendMessage: (params) =>
        run(
          Effect.flatMap(
            read(() => Sdk.SendMessageRequest.toJSON(params), A2aV1.decodeSend),
            (sent) => Effect.map(engine.send(sent.message, options(sent)), sdkTask)
          ),
          "send"
        ),
      sendMessageStream: (params) =>
        events(
          Effect.flatMap(
            read(() => Sdk.SendMessageRequest.toJSON(params), A2aV1.decodeSend),
            (sent) => engine.stream(sent.message, options(sent))
          ),
          "stream"
        ),
      getTask: (params) =>
        run(
          Effect.flatMap(
            read(() => Sdk.GetTaskRequest.toJSON(params), A2aV1.decodeTaskParams),
            ({ historyLength, id }) => Effect.map(engine.get(id, { historyLength }), sdkTask)
          ),
          "get"
        ),
      listTasks: (params) =>
        run(
          Effect.flatMap(
            read(() => Sdk.ListTasksRequest.toJSON(params), A2aV1.decodeListParams),
            (asked) =>
              Effect.map(list(engine, asked), (page) => Sdk.ListTasksResponse.fromJSON(A2aV1.encodePage(page)))
          ),
          "list"
        ),
      cancelTask: (params) =>
        run(
          Effect.flatMap(
            read(() => Sdk.CancelTaskRequest.toJSON(params), A2aV1.decodeTaskParams),
            ({ id }) => Effect.map(engine.cancel(id), sdkTask)
          ),
          "cancel"
        ),
      resubscribe: (params) =>
        events(
          Effect.flatMap(
            read(() => Sdk.SubscribeToTaskRequest.toJSON(params), A2aV1.decodeTaskParams),
            ({ id }) => engine.resubscribe(id)
          ),
          "resubscribe"
        ),
      createTaskPushNotificationConfig: noPush,
      getTaskPushNotificationConfig: noPush,
      listTaskPushNotificationConfigs: noPush,
      deleteTaskPushNotificationConfig: noPush
    }
  })
