/**
 * What a running task says in protoLabs' conventions: its costs, tool calls, confidence and deltas, as progress and on what it ends
 * with. Needs `@effect-agentenv/agent`.
 *
 * @since 0.1.0
 */
import * as AgentTask from "@effect-agentenv/agent/Task"
import { TaskFailure } from "@effect-agentenv/agent/TaskFailure"
import * as TaskResult from "@effect-agentenv/agent/TaskResult"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Confidence from "./Confidence.ts"
import * as Cost from "./Cost.ts"
import * as Metadata from "./Metadata.ts"
import type * as Part from "./Part.ts"
import type * as Read from "./Read.ts"
import * as ToolCall from "./ToolCall.ts"
import * as WorldstateDelta from "./WorldstateDelta.ts"

/**
 * How a payload travels.
 *
 * - `carrier`: `metadata` unless told, which is the metadata of the message. A `dataPart` is one of its parts. Either stays in the task's
 *   history with its message.
 * - `text`: what people read of it. Beside metadata it is a short sentence by default, since progress has at least one part; beside a data
 *   part there is none.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly carrier?: Read.Carrier | undefined
  readonly text?: string | undefined
}

interface Concept<in Fields, Payload extends object> {
  readonly make: (fields: Fields) => Effect.Effect<Payload, Read.Malformed>
  readonly toPart: (payload: Payload) => Part.DataPart<Payload>
  readonly toMetadata: (payload: Payload) => Metadata.Metadata
  readonly sentence: (payload: Payload) => string
}

const costs: Concept<Cost.Fields, Cost.Cost> = {
  ...Cost,
  sentence: ({ usage }) => `${usage.input_tokens} tokens read, ${usage.output_tokens} written`
}

const confidences: Concept<Confidence.Fields, Confidence.Confidence> = {
  ...Confidence,
  sentence: ({ confidence }) => `Confidence ${confidence}`
}

const deltas: Concept<Iterable<WorldstateDelta.Delta>, WorldstateDelta.WorldstateDelta> = {
  ...WorldstateDelta,
  sentence: ({ deltas }) => deltas.length === 1 ? "1 change of the world" : `${deltas.length} changes of the world`
}

const toolCalls: Concept<ToolCall.Fields, ToolCall.ToolCall> = {
  ...ToolCall,
  sentence: ({ name, phase }) => `${name}: ${phase}`
}

type Emitter<in Fields> = (
  fields: Fields,
  options?: Options
) => Effect.Effect<void, Read.Malformed, AgentTask.Streaming>

const emitter =
  <Fields, Payload extends object>(concept: Concept<Fields, Payload>): Emitter<Fields> =>
  (fields, { carrier, text } = {}) =>
    Effect.flatMap(concept.make(fields), (payload) => {
      if (carrier !== "dataPart") {
        return AgentTask.progress(text ?? concept.sentence(payload), { messageMetadata: concept.toMetadata(payload) })
      }
      const part = { kind: "data", ...concept.toPart(payload) } as const
      return AgentTask.progress(text === undefined ? part : [{ kind: "text", text }, part])
    })

/**
 * Reports what a turn has cost. Costs add up over a task, so each is said once: not again with the result.
 *
 * @since 0.1.0
 * @category combinators
 */
export const cost: (
  fields: Cost.Fields,
  options?: Options
) => Effect.Effect<void, Read.Malformed, AgentTask.Streaming> = emitter(costs)

/**
 * Reports how sure the agent is so far.
 *
 * @since 0.1.0
 * @category combinators
 */
export const confidence: (
  fields: Confidence.Fields,
  options?: Options
) => Effect.Effect<void, Read.Malformed, AgentTask.Streaming> = emitter(confidences)

/**
 * Reports what has changed in the shared world state; see `WorldState` for a place that keeps it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const worldstateDelta: (
  deltas: Iterable<WorldstateDelta.Delta>,
  options?: Options
) => Effect.Effect<void, Read.Malformed, AgentTask.Streaming> = emitter(deltas)

/**
 * Reports one phase of a tool call. `withToolCall` reports them all.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toolCall: (
  fields: ToolCall.Fields,
  options?: Options
) => Effect.Effect<void, Read.Malformed, AgentTask.Streaming> = emitter(toolCalls)

/**
 * How an effect is reported as a tool call.
 *
 * - `toolCallId`: a random one unless given.
 * - `args`, and `result` for what the effect succeeds with: JSON that peers are shown. Neither is shown unless given.
 * - `error`: what peers are told of a failure; the message of an expected `Error` unless given, and nothing of a defect.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolCallOptions<in A, in E> {
  readonly name: string
  readonly toolCallId?: string | undefined
  readonly args?: unknown
  readonly result?: ((value: A) => unknown) | undefined
  readonly error?: ((error: E) => string) | undefined
  readonly carrier?: Read.Carrier | undefined
}

const randomId: Effect.Effect<string> = Effect.map(
  Effect.replicateEffect(Random.nextIntBetween(0, 2 ** 32), 4),
  (words) => words.map((word) => word.toString(16).padStart(8, "0")).join("")
)

const messageOf = (error: unknown): string => error instanceof Error && error.message !== "" ? error.message : "failed"

const errorOf = <A, E>(cause: Cause.Cause<E>, { error }: ToolCallOptions<A, E>): string =>
  Cause.isInterruptedOnly(cause)
    ? "interrupted"
    : Option.match(Cause.failureOption(cause), { onNone: () => "failed unexpectedly", onSome: error ?? messageOf })

const reported = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options: ToolCallOptions<A, E>
): Effect.Effect<A, E, R | AgentTask.Streaming> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const { args, carrier, name } = options
      const toolCallId = options.toolCallId ?? (yield* randomId)
      // a name and an id that are no strings are the author's defects
      const report = (phase: Omit<ToolCall.Fields, "toolCallId" | "name">) =>
        Effect.orDie(toolCall({ toolCallId, name, ...phase }, { carrier }))
      yield* report({ phase: "started", args })
      return yield* Effect.onExit(
        restore(effect),
        Exit.match({
          onFailure: (cause) => report({ phase: "failed", error: errorOf(cause, options) }),
          onSuccess: (value) => report({ phase: "completed", result: options.result?.(value) })
        })
      )
    })
  )

/**
 * Reports an effect as a tool call: that it started, and then once that it completed or failed, which an interruption is too.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withToolCall: {
  <A, E>(
    options: ToolCallOptions<A, E>
  ): <R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | AgentTask.Streaming>
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    options: ToolCallOptions<A, E>
  ): Effect.Effect<A, E, R | AgentTask.Streaming>
} = dual(2, reported)

/**
 * What a run ends with, and what can carry payloads: they stand in the metadata of its last message, or among its parts.
 *
 * @since 0.1.0
 * @category models
 */
export type Ending = TaskResult.TaskResult | TaskFailure

const failureWith = (failure: TaskFailure, more: Pick<TaskFailure, "messageMetadata" | "parts">): TaskFailure =>
  new TaskFailure({
    code: failure.code,
    message: failure.message,
    errorType: failure.errorType,
    usage: failure.usage,
    sessionRef: failure.sessionRef,
    trajectory: failure.trajectory,
    metadata: failure.metadata,
    ...more
  })

const withPart = (ending: Ending, part: TaskResult.NonEmptyParts[number]): Ending => {
  if (ending instanceof TaskFailure) {
    // without parts of its own a failure shows its message
    const { message, messageMetadata, parts = [{ kind: "text", text: message }] } = ending
    return failureWith(ending, { messageMetadata, parts: [...parts, part] })
  }
  return TaskResult.make({ ...ending, parts: [...ending.parts, part] })
}

const withMetadata = (ending: Ending, added: Metadata.Metadata): Ending => {
  const messageMetadata = Metadata.merge(ending.messageMetadata ?? {}, added)
  return ending instanceof TaskFailure
    ? failureWith(ending, { messageMetadata, parts: ending.parts })
    : TaskResult.withMessageMetadata(ending, messageMetadata)
}

/**
 * How a payload travels with what a run ends with; `metadata` unless told.
 *
 * @since 0.1.0
 * @category models
 */
export type EndingOptions = Pick<Options, "carrier">

interface Attach<in Fields> {
  (fields: Fields, options?: EndingOptions): <A extends Ending>(self: A) => Effect.Effect<A, Read.Malformed>
  <A extends Ending>(self: A, fields: Fields, options?: EndingOptions): Effect.Effect<A, Read.Malformed>
}

const isEnding = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "_tag" in value &&
  (value._tag === "TaskResult" || value instanceof TaskFailure)

const attacher = <Fields, Payload extends object>(concept: Concept<Fields, Payload>): Attach<Fields> =>
  dual(
    (args) => isEnding(args[0]),
    (self: Ending, fields: Fields, { carrier }: EndingOptions = {}): Effect.Effect<Ending, Read.Malformed> =>
      Effect.map(concept.make(fields), (payload) =>
        carrier === "dataPart"
          ? withPart(self, { kind: "data", ...concept.toPart(payload) })
          : withMetadata(self, concept.toMetadata(payload)))
  )

/**
 * Says what the run's last turn has cost, with the result or the failure that ends it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withCost: {
  (fields: Cost.Fields, options?: EndingOptions): <A extends Ending>(self: A) => Effect.Effect<A, Read.Malformed>
  <A extends Ending>(self: A, fields: Cost.Fields, options?: EndingOptions): Effect.Effect<A, Read.Malformed>
} = attacher(costs)

/**
 * Says how sure the agent is of what ends the run.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withConfidence: {
  (fields: Confidence.Fields, options?: EndingOptions): <A extends Ending>(self: A) => Effect.Effect<A, Read.Malformed>
  <A extends Ending>(self: A, fields: Confidence.Fields, options?: EndingOptions): Effect.Effect<A, Read.Malformed>
} = attacher(confidences)

/**
 * Says what has changed in the world with what ends the run.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withWorldstateDelta: {
  (
    deltas: Iterable<WorldstateDelta.Delta>,
    options?: EndingOptions
  ): <A extends Ending>(self: A) => Effect.Effect<A, Read.Malformed>
  <A extends Ending>(
    self: A,
    deltas: Iterable<WorldstateDelta.Delta>,
    options?: EndingOptions
  ): Effect.Effect<A, Read.Malformed>
} = attacher(deltas)
