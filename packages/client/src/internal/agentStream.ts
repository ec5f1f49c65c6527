import * as A2a from "@effect-agentenv/protocol/A2a"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type AgentClientError, StreamCut } from "../AgentClientError.ts"
import * as Sse from "../Sse.ts"
import type { Peer } from "./agentPeer.ts"
import * as agentRpc from "./agentRpc.ts"
import * as http from "./http.ts"

/** What is known of a stream while it is read. */
class Progress {
  private readonly operation: string
  private taskId: string | undefined
  private lastEventId: string | undefined
  settled = false

  constructor({ method, taskId }: agentRpc.Call) {
    this.operation = method
    this.taskId = taskId
  }

  seen(event: A2a.StreamEvent, id: string | undefined): void {
    this.lastEventId = id ?? this.lastEventId
    switch (event._tag) {
      case "Task":
        this.taskId = event.task.id
        this.settled = A2a.isSettled(event.task.status.state)
        return
      case "Message":
        this.settled = true
        return
      case "StatusUpdate":
        this.taskId = event.taskId
        this.settled = event.final || A2a.isTerminal(event.status.state)
        return
      case "ArtifactUpdate":
        this.taskId = event.taskId
    }
  }

  cut(reason: string): StreamCut {
    const { lastEventId, operation, taskId } = this
    return new StreamCut({
      operation,
      reason,
      ...(taskId === undefined ? {} : { taskId }),
      ...(lastEventId === undefined ? {} : { lastEventId })
    })
  }
}

/** Whether nothing can follow: what an agent says after a state that it doesn't call final is still heard. */
const isLast = (event: A2a.StreamEvent): boolean =>
  event._tag === "Message" || (event._tag === "StatusUpdate" && event.final)

const isEventStream = (response: HttpClientResponse.HttpClientResponse): boolean =>
  response.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() === "text/event-stream"

/** @internal */
export interface Timeouts {
  readonly open: Duration.DurationInput
  readonly idle: Duration.DurationInput | undefined
}

/**
 * One call that is answered with events. Whoever stops reading closes the connection.
 *
 * @internal
 */
export const events = (
  peer: Peer,
  target: agentRpc.Target,
  call: agentRpc.Call,
  id: number,
  timeouts: Timeouts
): Stream.Stream<A2a.StreamEvent, AgentClientError> => {
  const read = (
    text: string,
    eventId: string | undefined,
    progress: Progress
  ): Effect.Effect<A2a.StreamEvent, AgentClientError> =>
    http.parse(text, call.method, "an event").pipe(
      Effect.flatMap((answer) => agentRpc.result(peer, call, id, answer)),
      Effect.flatMap((value) => agentRpc.decoded(target.wire.decodeEvent(value), call.method)),
      Effect.tap((event) => Effect.sync(() => progress.seen(event, eventId)))
    )

  const framesOf = (response: HttpClientResponse.HttpClientResponse, progress: Progress) => {
    const parser = Sse.make()
    const bytes = response.stream.pipe(
      Stream.mapError((error): AgentClientError => progress.cut(peer.hide(http.unreachable(call.method)(error)).reason))
    )
    const { idle } = timeouts
    return (idle === undefined ? bytes : Stream.timeoutFail(bytes, () => progress.cut("nothing came in time"), idle))
      .pipe(
        Stream.mapConcat(parser.push),
        Stream.mapEffect(({ data, id }) => read(data, id, progress))
      )
  }

  // an agent that refuses answers JSON, and one that can't stream may answer all at once
  const wholeOf = (response: HttpClientResponse.HttpClientResponse, progress: Progress) =>
    Stream.fromEffect(
      response.text.pipe(
        Effect.mapError((error) => peer.hide(http.unreachable(call.method)(error))),
        Effect.flatMap((text) => read(text, undefined, progress))
      )
    )

  const headers = { accept: "text/event-stream, application/json", ...call.headers }
  return Stream.unwrap(
    agentRpc.post(peer, target, { ...call, headers }, id).pipe(
      http.within(call.method, timeouts.open),
      Effect.map((response) => {
        const progress = new Progress(call)
        const answered: Stream.Stream<A2a.StreamEvent, AgentClientError> = isEventStream(response)
          ? framesOf(response, progress)
          : wholeOf(response, progress)
        return Stream.takeUntil(answered, isLast).pipe(
          Stream.concat(
            Stream.suspend(() => progress.settled ? Stream.empty : Stream.fail(progress.cut("the agent said no more")))
          )
        )
      })
    )
  )
}
