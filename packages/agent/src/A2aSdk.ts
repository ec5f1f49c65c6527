/**
 * The task engine behind the request handler of `@a2a-js/sdk`, for those who serve with that SDK's transports. It needs the SDK's 1.x
 * release, an optional peer dependency, so it is imported by its own path: `@effect-agentenv/agent/A2aSdk`.
 *
 * @since 0.1.0
 */
import * as Sdk from "@a2a-js/sdk"
import * as SdkError from "@a2a-js/sdk/errors"
import type { A2ARequestHandler } from "@a2a-js/sdk/server"
import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as A2aV1 from "@effect-agentenv/protocol/A2aV1"
import * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import type * as AgentCard from "@effect-agentenv/protocol/AgentCard"
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Json from "@effect-agentenv/server/Json"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import { dialectOf, type Refusal } from "./internal/a2aDialect.ts"
import { list } from "./internal/a2aList.ts"
import type { Operation, RpcError } from "./internal/a2aRequest.ts"
import type { SendOptions, Subscription, TaskEngine } from "./TaskEngine.ts"
import type { TaskStoreError } from "./TaskStore.ts"

type Failure = Refusal | A2aWire.A2aWireError | TaskStoreError

const dialect = dialectOf(false)
const { ErrorCode } = A2aWire

/** The SDK's error for a code of 1.0. What is not here is an internal error, which is the class that all others extend. */
const classes: ReadonlyMap<number, new(message: string) => SdkError.A2AError> = new Map([
  [ErrorCode.TaskNotFound, SdkError.TaskNotFoundError],
  [ErrorCode.TaskNotCancelable, SdkError.TaskNotCancelableError],
  [ErrorCode.UnsupportedOperation, SdkError.UnsupportedOperationError],
  [ErrorCode.PushNotificationNotSupported, SdkError.PushNotificationNotSupportedError],
  [JsonRpc.ErrorCode.InvalidParams, SdkError.RequestMalformedError]
])

const errorOf = ({ code, message }: RpcError): SdkError.A2AError =>
  new (classes.get(code) ?? SdkError.A2AError)(message)

/** What nobody expected is told as an id, and logged. */
const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<never, SdkError.A2AError> =>
  Effect.flatMap(Correlation.reportEffect(cause), (message) => Effect.fail(new SdkError.A2AError(message)))

/** The same work, failing as the SDK's transports expect. */
const translated = <A>(effect: Effect.Effect<A, Failure>, operation: Operation): Effect.Effect<A, SdkError.A2AError> =>
  effect.pipe(
    Effect.catchAll((error) => {
      switch (error._tag) {
        case "A2aWireError":
          // the SDK sends no more than the message, so that names the fields
          return Effect.fail(new SdkError.RequestMalformedError(error.message))
        case "TaskStoreError":
          return unexpected(Cause.fail(error))
        default:
          return Effect.fail(errorOf(dialect.refused(error, operation)))
      }
    }),
    Effect.catchAllDefect((defect) => unexpected(Cause.die(defect)))
  )

// Both sides have a codec for the same JSON, so the shape of the SDK's messages stays its own affair.
const toSdkTask = (task: A2a.Task): Sdk.Task => Sdk.Task.fromJSON(A2aV1.encodeTask(task))

const toSdkEvent = (event: A2a.StreamEvent): Sdk.StreamResponse => Sdk.StreamResponse.fromJSON(A2aV1.encodeEvent(event))

const sendOptions = ({ blocking, historyLength, metadata }: A2aWire.SendParams): SendOptions => ({
  blocking: blocking ?? true,
  historyLength,
  metadata
})

const refuse = (path: string, message: string): Effect.Effect<never, A2aWire.A2aWireError> =>
  Effect.fail(new A2aWire.A2aWireError({ issues: [{ path, message }] }))

const tooDeep = refuse("", `it nests deeper than ${Json.maxDepth} levels`)

/** Reads a request as its JSON would have been read, since the SDK's transports take what would break a peer further on. */
const read = <A>(
  write: () => unknown,
  decode: (params: unknown) => Effect.Effect<A, A2aWire.A2aWireError>
): Effect.Effect<A, A2aWire.A2aWireError> =>
  Effect.try({ try: () => JSON.stringify(write()), catch: (error) => error instanceof RangeError }).pipe(
    Effect.catchAll((isDeep) => isDeep ? tooDeep : refuse("", "it is no request of this method")),
    Effect.flatMap((text) => {
      const parsed = Json.parse(text)
      if (parsed.ok) return decode(parsed.value)
      return parsed.reason === "surrogate" ? refuse(parsed.path, "it holds half a surrogate pair") : tooDeep
    })
  )

const sent = (params: Sdk.SendMessageRequest) => read(() => Sdk.SendMessageRequest.toJSON(params), A2aV1.decodeSend)

const asked = (params: () => unknown) => read(params, A2aV1.decodeTaskParams)

const noPush = (): Promise<never> => Promise.reject(errorOf(dialect.noPush("")))

type Step = IteratorResult<Sdk.StreamResponse, void>
const done: Step = { done: true, value: undefined }

/** The events of a subscription as they are asked for. An iterator of our own, since a generator can't be left while it waits. */
class Events implements AsyncGenerator<Sdk.StreamResponse, void, undefined> {
  private readonly runtime: Runtime.Runtime<never>
  private readonly subscribe: Effect.Effect<Subscription, SdkError.A2AError>
  private readonly left = new AbortController()
  private subscription: Subscription | undefined
  private ready: Array<Sdk.StreamResponse> = []
  private last: Promise<unknown> = Promise.resolve()

  constructor(runtime: Runtime.Runtime<never>, subscribe: Effect.Effect<Subscription, SdkError.A2AError>) {
    this.runtime = runtime
    this.subscribe = subscribe
  }

  private readonly step: Effect.Effect<Step, SdkError.A2AError> = Effect.suspend(() => {
    const ready = this.ready.shift()
    if (ready !== undefined) return Effect.succeed<Step>({ value: ready })
    if (this.subscription === undefined) {
      return Effect.map(this.subscribe, (subscription): Step => {
        this.subscription = subscription
        return { value: toSdkEvent({ _tag: "Task", task: subscription.snapshot }) }
      })
    }
    return Effect.flatMap(this.subscription.next, (events) => {
      if (events === undefined) return Effect.succeed(done)
      this.ready = events.map(({ event }) => toSdkEvent(event))
      return this.step
    })
  })

  private async pull(): Promise<Step> {
    const { signal } = this.left
    if (signal.aborted) return done
    const exit = await Runtime.runPromiseExit(this.runtime)(
      Effect.catchAllDefect(this.step, (defect) => unexpected(Cause.die(defect))),
      { signal }
    )
    if (Exit.isSuccess(exit) && exit.value.done !== true) return exit.value
    this.left.abort()
    if (Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)) return done
    throw Cause.squash(exit.cause)
  }

  next(): Promise<Step> {
    const step = this.last.then(() => this.pull())
    this.last = step.catch(() => {})
    return step
  }

  return(): Promise<Step> {
    this.left.abort()
    return Promise.resolve(done)
  }

  throw(error: unknown): Promise<Step> {
    this.left.abort()
    return Promise.reject(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/**
 * An `A2ARequestHandler` over an engine, for the SDK's Express handlers of JSON-RPC and REST and its gRPC service. It answers as this
 * package's own JSON-RPC of 1.0 does, failing with the errors of `@a2a-js/sdk/errors`; streams are served when the card says so, and
 * push notifications are refused. A card that changes is given as a function, which is asked at every request.
 *
 * Who leaves a stream leaves its task as it is. A request runs with the services of the fiber that made the handler.
 *
 * @since 0.1.0
 * @category constructors
 */
export const requestHandler = (
  engine: TaskEngine["Type"],
  card: AgentCard.AgentCard | (() => AgentCard.AgentCard)
): Effect.Effect<A2ARequestHandler> =>
  Effect.map(Effect.runtime<never>(), (runtime): A2ARequestHandler => {
    const current = typeof card === "function" ? card : () => card

    const run = async <A>(effect: Effect.Effect<A, Failure>, operation: Operation): Promise<A> => {
      const exit = await Runtime.runPromiseExit(runtime)(translated(effect, operation))
      if (Exit.isSuccess(exit)) return exit.value
      throw Cause.squash(exit.cause)
    }
    const events = (subscribe: Effect.Effect<Subscription, Failure>, operation: Operation): Events =>
      new Events(
        runtime,
        Effect.suspend(() =>
          current().capabilities.streaming === true
            ? translated(subscribe, operation)
            : Effect.fail(errorOf(dialect.noStreaming))
        )
      )

    return {
      getAgentCard: async () => Sdk.AgentCard.fromJSON(current()),
      getAuthenticatedExtendedAgentCard: () => Promise.reject(errorOf(dialect.noExtendedCard)),
      sendMessage: (params) =>
        run(
          Effect.flatMap(sent(params), (send) => Effect.map(engine.send(send.message, sendOptions(send)), toSdkTask)),
          "send"
        ),
      sendMessageStream: (params) =>
        events(Effect.flatMap(sent(params), (send) => engine.stream(send.message, sendOptions(send))), "stream"),
      getTask: (params) =>
        run(
          Effect.flatMap(
            asked(() => Sdk.GetTaskRequest.toJSON(params)),
            ({ historyLength, id }) => Effect.map(engine.get(id, { historyLength }), toSdkTask)
          ),
          "get"
        ),
      listTasks: (params) =>
        run(
          read(() => Sdk.ListTasksRequest.toJSON(params), A2aV1.decodeListParams).pipe(
            Effect.flatMap((params) => list(engine, params)),
            Effect.map((page) => Sdk.ListTasksResponse.fromJSON(A2aV1.encodePage(page)))
          ),
          "list"
        ),
      cancelTask: (params) =>
        run(
          Effect.flatMap(
            asked(() => Sdk.CancelTaskRequest.toJSON(params)),
            ({ id }) => Effect.map(engine.cancel(id), toSdkTask)
          ),
          "cancel"
        ),
      resubscribe: (params) =>
        events(
          Effect.flatMap(asked(() => Sdk.SubscribeToTaskRequest.toJSON(params)), ({ id }) => engine.resubscribe(id)),
          "resubscribe"
        ),
      createTaskPushNotificationConfig: noPush,
      getTaskPushNotificationConfig: noPush,
      listTaskPushNotificationConfigs: noPush,
      deleteTaskPushNotificationConfig: noPush
    }
  })
