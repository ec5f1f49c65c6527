/**
 * Typed calls of an agent over A2A, 0.3 or 1.0 as its card says.
 *
 * @since 0.1.0
 */
import type * as A2a from "@effect-agentenv/protocol/A2a"
import type * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import type * as Card from "@effect-agentenv/protocol/AgentCard"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import type { AgentClientError, ReadError } from "./AgentClientError.ts"
import * as internal from "./internal/agent.ts"
import * as answers from "./internal/agentAnswer.ts"

/**
 * How long each call may take (V-16). By default a message that waits for its answer, and `wait`, have 10 minutes (P-PR-3), the card and
 * the health check 10 s, all others 30 s, a stream until it begins. `idle` bounds the silence on a stream, for agents that are known to
 * keep it alive; without it a stream may be silent for as long as its task takes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Timeouts {
  readonly card?: Duration.DurationInput | undefined
  readonly health?: Duration.DurationInput | undefined
  readonly send?: Duration.DurationInput | undefined
  readonly submit?: Duration.DurationInput | undefined
  readonly open?: Duration.DurationInput | undefined
  readonly idle?: Duration.DurationInput | undefined
  readonly get?: Duration.DurationInput | undefined
  readonly cancel?: Duration.DurationInput | undefined
  readonly list?: Duration.DurationInput | undefined
  readonly wait?: Duration.DurationInput | undefined
}

/**
 * What `make` and `layer` take.
 *
 * - `baseUrl`: where the agent is. The card is looked for at its origin, then below it, at both well-known paths (B-CARD-1); a URL
 *   that ends in such a path is the card's own, and the only place.
 * - `rpcUrl`: where JSON-RPC is, for a card that says it wrong.
 * - `wire`: `auto` speaks 1.0 where the card has a JSON-RPC endpoint of it, else 0.3.
 * - `headers`: go along with every request. Those that are `Redacted` stay out of errors and spans, and go to the origins of `baseUrl` and
 *   `rpcUrl` alone: a card that leads elsewhere is an error then.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly baseUrl: string
  readonly rpcUrl?: string | undefined
  readonly wire?: "auto" | "0.3" | "1.0" | undefined
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>> | undefined
  readonly timeouts?: Timeouts | undefined
}

/**
 * What is said to an agent: a text, a part, or several.
 *
 * @since 0.1.0
 * @category models
 */
export type Content = string | A2a.Part | ReadonlyArray<A2a.Part>

/**
 * How a message is sent.
 *
 * - `contextId`: the conversation that it belongs to; a new one without it. `taskId`: the task that it continues.
 * - `messageId`: a random one unless given.
 * - `metadata` is the request's, `messageMetadata` the message's own.
 *
 * @since 0.1.0
 * @category models
 */
export interface MessageOptions {
  readonly contextId?: string | undefined
  readonly taskId?: string | undefined
  readonly messageId?: string | undefined
  readonly referenceTaskIds?: ReadonlyArray<string> | undefined
  readonly extensions?: ReadonlyArray<string> | undefined
  readonly messageMetadata?: A2a.JsonObject | undefined
  readonly metadata?: A2a.JsonObject | undefined
  readonly acceptedOutputModes?: ReadonlyArray<string> | undefined
  readonly historyLength?: number | undefined
}

/**
 * How `send` sends. With `blocking: false` the answer is the task as it is accepted; without it what the run ended with (B-TASK-1).
 * `timeout` holds for this call.
 *
 * @since 0.1.0
 * @category models
 */
export interface SendOptions extends MessageOptions {
  readonly blocking?: boolean | undefined
  readonly timeout?: Duration.DurationInput | undefined
}

/**
 * How `wait` polls: every 2 s for at most 10 minutes, by default. `cancel` cancels the task, as far as that is possible within 10 s, when
 * the time is over or the waiting is interrupted.
 *
 * @since 0.1.0
 * @category models
 */
export interface WaitOptions {
  readonly every?: Duration.DurationInput | undefined
  readonly timeout?: Duration.DurationInput | undefined
  readonly historyLength?: number | undefined
  readonly cancel?: boolean | undefined
}

/**
 * The calls of one agent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly baseUrl: string
  /** The card, which is read once; a failed reading is tried again. */
  readonly card: Effect.Effect<Card.AgentCard, ReadError>
  /** Reads the card anew, and speaks to the agent as it says from then on. */
  readonly reload: Effect.Effect<Card.AgentCard, ReadError>
  /** Succeeds when `GET /health` does, below where the card is. */
  readonly health: Effect.Effect<void, ReadError>
  /** Sends a message and answers the task, or the one message that some agents answer without a task. */
  readonly send: (content: Content, options?: SendOptions) => Effect.Effect<A2aWire.Reply, AgentClientError>
  /** Sends a message as the platform does: without waiting for the answer, and then polls for it (P-PR-2, P-PR-3). */
  readonly prompt: (
    content: Content,
    options?: MessageOptions & WaitOptions
  ) => Effect.Effect<A2aWire.Reply, AgentClientError>
  /**
   * Sends a message and follows its task: the task as it begins, then all that happens to it, up to the final event. A stream that ends
   * before it fails with `StreamCut`. Whoever stops reading leaves the task as it is.
   */
  readonly stream: (content: Content, options?: MessageOptions) => Stream.Stream<A2a.StreamEvent, AgentClientError>
  /** Follows a task that is there: from its present state on, or from behind the event `lastEventId`, which `StreamCut` names. */
  readonly resubscribe: (
    taskId: string,
    options?: { readonly lastEventId?: string | undefined }
  ) => Stream.Stream<A2a.StreamEvent, AgentClientError>
  readonly get: (
    taskId: string,
    options?: { readonly historyLength?: number | undefined }
  ) => Effect.Effect<A2a.Task, AgentClientError>
  readonly cancel: (
    taskId: string,
    options?: { readonly metadata?: A2a.JsonObject | undefined }
  ) => Effect.Effect<A2a.Task, AgentClientError>
  /** One page of tasks, newest first. The 0.3 wire has no such method: `UnsupportedOperation`. */
  readonly list: (params?: A2aWire.ListParams) => Effect.Effect<A2aWire.Page, AgentClientError>
  /**
   * Polls a task until its run has ended, which it has too when it waits for its caller (`input-required`). An agent that doesn't answer
   * for a while, or whose gateway says 502, 503 or 504, is given three polls and a minute; all else fails at once (P-PR-3).
   */
  readonly wait: (taskId: string, options?: WaitOptions) => Effect.Effect<A2a.Task, AgentClientError>
}

/**
 * The agent that a program or a test works with.
 *
 * @since 0.1.0
 * @category tags
 */
export class AgentClient extends Context.Tag("@effect-agentenv/client/AgentClient")<AgentClient, Service>() {}

/**
 * Makes the calls of the agent at `baseUrl`, over the `HttpClient` in context. It asks nothing yet.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service, never, HttpClient.HttpClient> =>
  Effect.flatMap(HttpClient.HttpClient, (client) => internal.make(client, options))

/**
 * The agent at `baseUrl`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<AgentClient, never, HttpClient.HttpClient> =>
  Layer.effect(AgentClient, make(options))

/**
 * What an answer is read from: a task, a message, the answer to `send`, or an event of a stream.
 *
 * @since 0.1.0
 * @category models
 */
export type Answer = A2a.Task | A2a.Message | A2a.StreamEvent

/**
 * The answer in words: the last text that came with the state of the task (P-PR-4), else the text of the last artifact that has some;
 * `""` when there is none.
 *
 * @since 0.1.0
 * @category combinators
 */
export const text: (answer: Answer) => string = answers.text

/**
 * What a run cost, as far as the agent says it.
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
 * Reads what a run cost from the data that came with the state (P-PR-4). What is no count is left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const usage: (answer: Answer) => Option.Option<Usage> = answers.usage

/**
 * Reads the structured answer, which is any JSON value (P-PR-4).
 *
 * @since 0.1.0
 * @category combinators
 */
export const structuredOutput: (answer: Answer) => Option.Option<unknown> = answers.structuredOutput

/**
 * Why a task has no answer, in the agent's words. `message` is `""` where it said nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly state: "failed" | "rejected" | "canceled"
  readonly message: string
  readonly type: string | undefined
  readonly code: string | undefined
  readonly class: string | undefined
}

/**
 * Reads why a task failed, was rejected or canceled; `none` for all other states (P-PR-4).
 *
 * @since 0.1.0
 * @category combinators
 */
export const failure: (answer: Answer) => Option.Option<Failure> = answers.failure
