/**
 * Typed calls of a peer's extensions, from the same definition that its server implements.
 *
 * @since 0.1.0
 */
import type * as Caller from "@effect-agentenv/protocol/Caller"
import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import type * as Extension from "@effect-agentenv/protocol/Extension"
import type { Operations } from "@effect-agentenv/protocol/Implementation"
import type * as Operation from "@effect-agentenv/protocol/Operation"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import {
  BadStatus,
  ExtensionCallError,
  InvalidRequest,
  NotAccepted,
  NotAdvertised,
  Timeout,
  Unreachable,
  Unreadable
} from "./ClientError.ts"
import * as agentExtensions from "./internal/agentExtensions.ts"
import * as environmentExtensions from "./internal/environmentExtensions.ts"
import * as operation from "./internal/operation.ts"
import * as secrets from "./internal/secrets.ts"

/**
 * Every way in which a call of an extension fails; `BadStatus` is the card's.
 *
 * @since 0.1.0
 * @category errors
 */
export type ExtensionClientError =
  | ExtensionCallError
  | NotAdvertised
  | NotAccepted
  | InvalidRequest
  | Unreachable
  | Timeout
  | BadStatus
  | Unreadable

/**
 * The schema of `ExtensionClientError`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ExtensionClientError: Schema.Union<[
  typeof ExtensionCallError,
  typeof NotAdvertised,
  typeof NotAccepted,
  typeof InvalidRequest,
  typeof Unreachable,
  typeof Timeout,
  typeof BadStatus,
  typeof Unreadable
]> = Schema.Union(
  ExtensionCallError,
  NotAdvertised,
  NotAccepted,
  InvalidRequest,
  Unreachable,
  Timeout,
  BadStatus,
  Unreadable
)

/**
 * What one call may say for itself.
 *
 * @since 0.1.0
 * @category models
 */
export interface CallOptions {
  /** How long this call may take, reading the card included when it is the first; 30 s unless the transport says otherwise. */
  readonly timeout?: Duration.DurationInput | undefined
}

/**
 * A call without a definition: which operation (the first on the card by default), and its request as JSON.
 *
 * @since 0.1.0
 * @category models
 */
export interface Invocation extends CallOptions {
  readonly method?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/**
 * How a client reaches its peer's extensions: what the peer advertises, and one call.
 *
 * @since 0.1.0
 * @category tags
 */
export class Transport extends Context.Tag("@effect-agentenv/client/ExtensionClient/Transport")<Transport, {
  /** The entry of an extension on the peer's card, `none` where there is no such entry. */
  readonly find: (uri: string) => Effect.Effect<Option.Option<EnvironmentCard.ExtensionEntry>, ExtensionClientError>
  /** Calls an operation; the answer is its JSON, `undefined` for an empty one. */
  readonly invoke: (uri: string, invocation?: Invocation) => Effect.Effect<unknown, ExtensionClientError>
}>() {}

/**
 * What `layer` takes. `baseUrl` is where the environment is mounted, `child` the name of one of its children whose extensions are
 * meant, `caller` goes along as headers (B-CTX-8), and `timeout` holds for calls that say nothing themselves (30 s).
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly baseUrl: string
  readonly child?: string | undefined
  readonly caller?: Partial<Caller.Caller> | undefined
  readonly timeout?: Duration.DurationInput | undefined
  readonly cardTimeout?: Duration.DurationInput | undefined
}

/**
 * Reaches the extensions of the environment at `baseUrl`. Its card is read once, by the first call that needs it; a failed
 * reading is tried again by the next.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<Transport, never, HttpClient.HttpClient> =>
  Layer.effect(
    Transport,
    Effect.flatMap(HttpClient.HttpClient, (client) => environmentExtensions.make(client, options))
  )

/**
 * What `layerAgent` takes: `baseUrl`, by which the card is found, and `headers` as `AgentClient` takes them, and how long calls and the
 * card may take (30 s, 10 s).
 *
 * @since 0.1.0
 * @category models
 */
export interface AgentOptions {
  readonly baseUrl: string
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>> | undefined
  readonly timeout?: Duration.DurationInput | undefined
  readonly cardTimeout?: Duration.DurationInput | undefined
}

/**
 * Reaches the extensions of the agent at `baseUrl`. Its card is read once, and says where what is called, and with which fields: a
 * request that it doesn't accept is never sent (B-OBJ-17).
 *
 * @since 0.1.0
 * @category layers
 */
export const layerAgent = (options: AgentOptions): Layer.Layer<Transport, never, HttpClient.HttpClient> =>
  Layer.effect(
    Transport,
    Effect.flatMap(HttpClient.HttpClient, (client) => agentExtensions.make(client, options))
  )

/**
 * Calls an extension of which there is no definition: GET sends `params` as the query string, other verbs as JSON (B-CLI-5).
 *
 * @since 0.1.0
 * @category combinators
 */
export const invoke = (
  uri: string,
  invocation?: Invocation
): Effect.Effect<unknown, ExtensionClientError, Transport> =>
  Effect.withSpan(Effect.flatMap(Transport, (transport) => transport.invoke(uri, invocation)), "ExtensionClient.invoke")

/**
 * A typed call of an operation.
 *
 * @since 0.1.0
 * @category models
 */
export type Call<O extends Operation.Any> = [Operation.Request<O>] extends [never]
  ? (options?: CallOptions) => Effect.Effect<Operation.Response<O>, ExtensionClientError>
  : (
    request: Operation.Request<O>,
    options?: CallOptions
  ) => Effect.Effect<Operation.Response<O>, ExtensionClientError>

/**
 * The typed calls of an extension; a feature is `some` when the peer advertises all of it.
 *
 * @since 0.1.0
 * @category models
 */
export type ExtensionClient<E extends Extension.Any> =
  & { readonly [K in keyof E["operations"]]: Call<E["operations"][K]> }
  & {
    readonly [F in keyof E["features"]]: Option.Option<
      { readonly [K in keyof E["features"][F]]: Call<E["features"][F][K]> }
    >
  }

/**
 * Makes the typed calls of a definition's operations. Features need the card, so only a definition that has some can fail here.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <E extends Extension.Any>(
  extension: E
): Effect.Effect<
  ExtensionClient<E>,
  [keyof E["features"]] extends [never] ? never : ExtensionClientError,
  Transport | Extension.SchemaContext<E>
> =>
  Effect.gen(function*() {
    const { find, invoke } = yield* Transport
    const context = yield* Effect.context<never>()

    const calls = (operations: Operations) =>
      Object.fromEntries(
        Object.entries(operations).map(([key, definition]) => {
          const method = definition.name ?? key
          const codec = operation.codec(definition)
          const send = (request: unknown, options: CallOptions | undefined) =>
            codec.encode(request).pipe(
              Effect.mapError((issues) => new InvalidRequest({ uri: extension.uri, operation: method, issues })),
              Effect.flatMap((params) => invoke(extension.uri, { method, params, timeout: options?.timeout })),
              Effect.flatMap((answer) => codec.decode(answer, `${extension.uri} ${method}`)),
              Effect.mapError(secrets.hide(request)),
              Effect.withSpan("ExtensionClient.invoke"),
              // what the schemas need is in the context that `make` was run in
              Effect.provide(context as Context.Context<unknown>)
            )
          return [
            key,
            codec.takesNothing
              ? (options?: CallOptions) => send(undefined, options)
              : (request: unknown, options?: CallOptions) => send(request, options)
          ]
        })
      )

    const features: Array<[string, Option.Option<unknown>]> = []
    for (const [name, operations] of Object.entries(extension.features)) {
      const entry = yield* find(extension.uri)
      const advertised = Option.match(entry, {
        onNone: (): ReadonlyArray<string> => [],
        onSome: EnvironmentCard.methodNames
      })
      const whole = Object.entries(operations).every(([key, { name }]) => advertised.includes(name ?? key))
      features.push([name, whole ? Option.some(calls(operations)) : Option.none()])
    }
    return { ...calls(extension.operations), ...Object.fromEntries(features) }
    // the keys are those of the definition, and without features nothing fails
  }) as never

/**
 * Whether a failed call may be repeated without being asked for: its peer said both that a repetition may succeed and that nothing
 * was done (B-ERR-8). No other failure says so, not even a timeout.
 *
 * @since 0.1.0
 * @category guards
 */
export const isRetryable = (error: unknown): error is ExtensionCallError =>
  error instanceof ExtensionCallError && error.retryable && error.applied === "no"

/**
 * How `retry` waits between attempts: 100 ms, then twice as long each time with some jitter, four times at most.
 *
 * @since 0.1.0
 * @category constructors
 */
export const retrySchedule: Schedule.Schedule<unknown> = Schedule.exponential("100 millis").pipe(
  Schedule.jittered,
  Schedule.intersect(Schedule.recurs(4))
)

/**
 * Repeats a call for as long as its failure allows (see `isRetryable`) and the schedule goes on; any other failure ends it at once.
 *
 * @since 0.1.0
 * @category combinators
 */
export const retry =
  <R1 = never>(schedule: Schedule.Schedule<unknown, ExtensionCallError, R1> = retrySchedule) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | R1> =>
    Effect.retry(self, {
      while: isRetryable,
      // `while` ends what the schedule does not take
      schedule: schedule as Schedule.Schedule<unknown, unknown, R1>
    })
