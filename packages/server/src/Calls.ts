/**
 * The calls of a layer: one fiber each, none of them lost, all of them ended with the layer.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type * as EventStream from "./EventStream.ts"
import type * as Exchange from "./Exchange.ts"
import * as internal from "./internal/calls.ts"

/**
 * The calls of one layer. They end with it: on close `closing` turns true, new calls are refused, running ones are
 * interrupted, answered and awaited, then the open event streams end.
 *
 * @since 0.1.0
 * @category models
 */
export interface Calls<R> {
  /** Whether the layer is closing: an interruption is the server's doing then, and the answer a 503. */
  readonly closing: boolean
  /** What the calls of this layer run on; `withService` adds what a single call needs. */
  readonly runtime: Runtime.Runtime<R>
  /**
   * Runs the effect of one call and gives its exit to `onExit`, exactly once, whatever happens. An effect that ends at
   * once is handled before `run` returns. A client that leaves before the answer interrupts it.
   */
  readonly run: <A, E, R2>(
    exchange: Exchange.Exchange,
    effect: Effect.Effect<A, E, R2>,
    runtime: Runtime.Runtime<R2>,
    onExit: (exit: Exit.Exit<A, E>) => void,
    options?: RunOptions<A, E> | undefined
  ) => void
  /** `exchange.stream`, kept alive by a comment whenever it was idle for 14 seconds, and ended with the layer. */
  readonly stream: (
    exchange: Exchange.Exchange,
    status: number,
    headers: ReadonlyArray<string>
  ) => EventStream.EventStream
  /** Tells `entry` of every second that passes while it is in; call what it returns to take it out. */
  readonly track: (entry: Tracked) => () => void
}

/**
 * What a call may want to know while it runs. All of it is optional, and one object may serve many calls.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunOptions<A, E> {
  /** The name of the HTTP server span; `http.server <method>` by default. Used only when a tracer is installed. */
  readonly name?: string | undefined
  /** What the span says of the path, for a path that is a secret; the path itself by default. */
  readonly path?: string | undefined
  /** The fiber of a call that did not end at once, for those who may have to interrupt it. */
  readonly onStart?: ((fiber: Fiber.RuntimeFiber<A, E>) => void) | undefined
  /** The call has run for 10 seconds and nothing was answered yet: the moment to switch from JSON to an event stream. */
  readonly onSilent?: (() => void) | undefined
  /** The layer is closing and the call was not run; a plain 503 by default. `onExit` is not called then. */
  readonly onRefused?: (() => void) | undefined
  /** Whether the client's leaving interrupts the call; true by default. */
  readonly interruptOnClose?: boolean | undefined
}

/**
 * Something that wants to hear of the seconds: the one fiber of a layer that keeps time for all its calls calls `tick`
 * with the number of seconds since it was added.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tracked {
  readonly tick: (seconds: number) => void
}

/**
 * The seconds that a call may run without an answer before `onSilent` is told.
 *
 * @since 0.1.0
 * @category constructors
 */
export const silentAfter: number = 10

/**
 * The seconds that an event stream may be idle before a comment keeps it alive.
 *
 * @since 0.1.0
 * @category constructors
 */
export const keepAliveAfter: number = 14

/**
 * The calls of the layer being built, on its runtime, clock and tracer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <R = never>(): Effect.Effect<Calls<R>, never, R | Scope.Scope> =>
  Effect.flatMap(
    Effect.runtime<R>(),
    (runtime) => internal.make(runtime, { silentAfter, keepAliveAfter })
  )

/**
 * A runtime with one more service: the cheap way to give a single call what is its own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withService: <R, I, S>(
  runtime: Runtime.Runtime<R>,
  tag: Context.Tag<I, S>,
  service: S
) => Runtime.Runtime<R | I> = internal.withService
