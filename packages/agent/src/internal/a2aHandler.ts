import type * as A2aModel from "@effect-agentenv/protocol/A2a"
import * as A2aV03 from "@effect-agentenv/protocol/A2aV03"
import * as A2aV1 from "@effect-agentenv/protocol/A2aV1"
import type * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import { VERSION_HEADER } from "@effect-agentenv/protocol/A2aWire"
import { wireOf } from "@effect-agentenv/protocol/AgentCard"
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as A2a from "../A2a.ts"
import type { Subscription, TaskEngine, Versioned } from "../TaskEngine.ts"
import type { TaskStoreError } from "../TaskStore.ts"
import { type Dialect, dialectOf, type Refusal, versionNotSupported } from "./a2aDialect.ts"
import { list } from "./a2aList.ts"
import * as Requests from "./a2aRequest.ts"

type Id = JsonRpc.Id | null

const success = (id: Id, result: unknown): A2a.Reply => ({
  _tag: "Json",
  status: 200,
  text: JSON.stringify(JsonRpc.success(id, result))
})

const failure = (id: Id, error: Requests.RpcError, status: 200 | 503 = 200): A2a.Reply => ({
  _tag: "Json",
  status,
  text: JSON.stringify(JsonRpc.failure(id, error))
})

/** An error on a stream of 0.3, which clients of that version take from a frame alone. */
const failureFrame = (id: Id, error: Requests.RpcError): A2a.Reply => {
  let frame: string | undefined = `data: ${JSON.stringify(JsonRpc.failure(id, error))}\n\n`
  return {
    _tag: "Stream",
    next: Effect.sync(() => {
      const next = frame
      frame = undefined
      return next
    })
  }
}

/** What nobody expected is told as an id, and logged. */
const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<Requests.RpcError> =>
  Effect.map(Correlation.reportEffect(cause), (message) => ({ code: JsonRpc.ErrorCode.InternalError, message }))

/** The characters of frames that are made at once: enough for a packet, little to keep for a reader that stalls. */
const pieceLength = 64 * 1024

/** The frames of a subscription, as they are asked for. */
class Frames {
  private readonly dialect: Dialect
  private readonly id: Id
  private readonly head: string
  private readonly subscription: Subscription
  private opened: boolean
  private ended = false
  private events: ReadonlyArray<Versioned> = []
  private told = 0

  constructor(dialect: Dialect, id: Id, subscription: Subscription, resumed: boolean) {
    this.dialect = dialect
    this.id = id
    this.head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`
    this.subscription = subscription
    this.opened = resumed
  }

  readonly next: Effect.Effect<string | undefined> = Effect.catchAllDefect(
    Effect.suspend(() => {
      if (this.ended) return Effect.succeed(undefined)
      if (!this.opened) {
        this.opened = true
        const { snapshot, version } = this.subscription
        return Effect.succeed(this.frame(version, { _tag: "Task", task: snapshot }))
      }
      if (this.told < this.events.length) return Effect.succeed(this.piece())
      return Effect.map(this.subscription.next, (events) => {
        if (events === undefined) return undefined
        this.events = events
        this.told = 0
        return this.piece()
      })
    }),
    (defect) =>
      Effect.map(unexpected(Cause.die(defect)), (error) => {
        this.ended = true
        return `data: ${JSON.stringify(JsonRpc.failure(this.id, error))}\n\n`
      })
  )

  private piece(): string {
    let piece = ""
    while (this.told < this.events.length && piece.length < pieceLength) {
      const { event, version } = this.events[this.told++]!
      piece += this.frame(version, event)
    }
    return piece
  }

  private frame(version: number, event: A2aModel.StreamEvent): string {
    return `id: ${version}\ndata: ${this.head}${JSON.stringify(this.dialect.wire.encodeEvent(event))}}\n\n`
  }
}

/** The version that the last event had which a reader saw, if it says so. */
const lastSeen = (headers: A2a.Headers | undefined): number | undefined => {
  const id = headers?.("last-event-id")
  return id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : undefined
}

const speaks = (headers: A2a.Headers | undefined): boolean => {
  const version = headers?.(VERSION_HEADER)
  return version === undefined || version.trim() === "" || wireOf(version) !== undefined
}

type Failure = A2aWire.A2aWireError | Refusal | TaskStoreError

class Handler {
  private readonly engine: TaskEngine["Type"]
  private readonly streaming: boolean

  constructor(engine: TaskEngine["Type"], options: A2a.Options) {
    this.engine = engine
    this.streaming = options.streaming ?? true
  }

  handle(body: unknown, headers: A2a.Headers | undefined): Effect.Effect<A2a.Reply> {
    const read = Requests.read(body)
    if (!read.ok) return Effect.succeed(failure(read.id, read.error))
    const { request } = read
    if (!request.legacy && !speaks(headers)) return Effect.succeed(failure(request.id, versionNotSupported))
    const dialect = dialectOf(request.legacy)
    return Effect.catchAll(
      this.run(request, dialect, headers),
      (error) => this.failed(request, dialect, error)
    )
  }

  private run(
    request: Requests.Request,
    dialect: Dialect,
    headers: A2a.Headers | undefined
  ): Effect.Effect<A2a.Reply, Failure> {
    const { engine } = this
    const { id, params } = request
    const { wire } = dialect
    const task = (task: A2aModel.Task): A2a.Reply => success(id, wire.encodeTask(task))
    switch (request.operation) {
      case "send":
        return Effect.flatMap(wire.decodeSend(params), (sent) =>
          Effect.map(
            engine.send(sent.message, options(sent)),
            (task) => success(id, wire.encodeReply({ _tag: "Task", task }))
          ))
      case "stream":
        if (!this.streaming) {
          // params of another shape come first, what a message may not say doesn't
          return Effect.catchIf(wire.decodeSend(params), (error) => error.stated === true, () => Effect.void).pipe(
            Effect.as(failure(id, dialect.noStreaming))
          )
        }
        return Effect.flatMap(wire.decodeSend(params), (sent) =>
          Effect.map(
            engine.stream(sent.message, options(sent)),
            (subscription): A2a.Reply => ({
              _tag: "Stream",
              next: new Frames(dialect, id, subscription, false).next
            })
          ))
      case "get":
        return Effect.flatMap(
          wire.decodeTaskParams(params),
          ({ historyLength, id }) => Effect.map(engine.get(id, { historyLength: bounded(historyLength) }), task)
        )
      case "cancel":
        return Effect.flatMap(wire.decodeTaskParams(params), ({ id }) => Effect.map(engine.cancel(id), task))
      case "resubscribe":
        return Effect.flatMap(wire.decodeTaskParams(params), ({ historyLength, id: taskId }) => {
          // the reference of 0.3 lets everybody listen again
          if (!this.streaming && !dialect.legacy) return Effect.succeed(failure(id, dialect.noStreaming))
          const from = lastSeen(headers)
          return Effect.map(
            engine.resubscribe(taskId, { from, historyLength: bounded(historyLength) }),
            (subscription): A2a.Reply => ({
              _tag: "Stream",
              next: new Frames(dialect, id, subscription, from !== undefined).next
            })
          )
        })
      case "list":
        return Effect.flatMap(
          A2aV1.decodeListParams(params),
          (params) => Effect.map(list(engine, params), (page) => success(id, A2aV1.encodePage(page)))
        )
      case "push":
        // the reference of 0.3 reads the params of what it refuses, too
        return dialect.legacy && request.method !== A2aV03.PUSH_METHODS.set
          ? Effect.map(wire.decodeTaskParams(params), () => failure(id, dialect.noPush(request.method)))
          : Effect.succeed(failure(id, dialect.noPush(request.method)))
      case "extendedCard":
        return Effect.succeed(failure(id, dialect.noExtendedCard))
    }
  }

  private failed(request: Requests.Request, dialect: Dialect, error: Failure): Effect.Effect<A2a.Reply> {
    const { id, operation } = request
    const told = (error: Requests.RpcError): A2a.Reply =>
      dialect.legacy && (operation === "stream" || operation === "resubscribe")
        ? failureFrame(id, error)
        : failure(id, error)
    switch (error._tag) {
      case "A2aWireError":
        // params of another shape are refused before there is a stream, as the reference does
        return Effect.succeed(error.stated ? told(dialect.invalid(error)) : failure(id, dialect.invalid(error)))
      case "TaskStoreError":
        return Effect.map(unexpected(Cause.fail(error)), told)
      case "TaskBusy":
        if (error.reason === "closing") {
          return Effect.succeed(failure(id, dialect.refused(error, operation), 503))
        }
        return Effect.succeed(told(dialect.refused(error, operation)))
      default:
        return Effect.succeed(told(dialect.refused(error, operation)))
    }
  }
}

/** Less than none is none. */
const bounded = (historyLength: number | undefined): number | undefined =>
  historyLength === undefined ? undefined : Math.max(0, historyLength)

const options = ({ blocking, historyLength, metadata }: A2aWire.SendParams) => ({
  blocking: blocking ?? true,
  historyLength: bounded(historyLength),
  metadata
})

export const make = (engine: TaskEngine["Type"], options: A2a.Options): A2a.A2a["Type"] => {
  const handler = new Handler(engine, options)
  return {
    handle: (body, headers) =>
      Effect.catchAllDefect(
        Effect.suspend(() => handler.handle(body, headers)),
        (defect) => Effect.map(unexpected(Cause.die(defect)), (error) => failure(Requests.idOf(body), error))
      )
  }
}
