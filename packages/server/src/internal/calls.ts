import * as HttpServerError from "@effect/platform/HttpServerError"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type * as Calls from "../Calls.ts"
import * as Correlation from "../Correlation.ts"
import type * as EventStream from "../EventStream.ts"
import * as Exchange from "../Exchange.ts"

interface Limits {
  readonly silentAfter: number
  readonly keepAliveAfter: number
}

const nativeTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** One fiber that counts seconds for all that is in, and sleeps without a timer while nothing is. */
class Pulse {
  private now = 0
  private readonly entries = new Map<Calls.Tracked, number>()
  private readonly latch = Effect.unsafeMakeLatch(false)
  private readonly onDefect: (defect: unknown) => void

  constructor(onDefect: (defect: unknown) => void) {
    this.onDefect = onDefect
  }

  track(entry: Calls.Tracked): void {
    if (this.entries.size === 0) this.latch.unsafeOpen()
    this.entries.set(entry, this.now)
  }

  untrack(entry: Calls.Tracked): void {
    this.entries.delete(entry)
  }

  private beat(): void {
    this.now++
    for (const [entry, since] of this.entries) {
      try {
        entry.tick(this.now - since)
      } catch (defect) {
        this.entries.delete(entry)
        this.onDefect(defect)
      }
    }
    if (this.entries.size === 0) this.latch.unsafeClose()
  }

  readonly run: Effect.Effect<never> = Effect.suspend(() => this.latch.await).pipe(
    Effect.zipRight(Effect.sleep("1 second")),
    Effect.zipRight(Effect.sync(() => this.beat())),
    Effect.forever
  )
}

class KeepAlive implements Calls.Tracked {
  private writes: number
  private idle = 0
  readonly stream: EventStream.EventStream
  private readonly after: number
  private readonly forget: (self: KeepAlive) => void

  constructor(stream: EventStream.EventStream, after: number, forget: (self: KeepAlive) => void) {
    this.stream = stream
    this.after = after
    this.forget = forget
    this.writes = stream.writes
  }

  tick(): void {
    const stream = this.stream
    if (stream.done) return this.forget(this)
    // A reader that is behind has enough to read.
    if (stream.full || stream.writes !== this.writes) {
      this.idle = 0
    } else if (++this.idle >= this.after) {
      this.idle = 0
      stream.comment("keep-alive")
    }
    this.writes = stream.writes
  }
}

/**
 * A call that runs. What was in a set or a map outlives it in tables that the collector frees late, so it lets go of its fiber by itself.
 */
interface Running {
  fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
}

class CallsImpl<R> implements Calls.Calls<R> {
  closing = false
  readonly runtime: Runtime.Runtime<R>
  private readonly spans: boolean
  private readonly limits: Limits
  private readonly running = new Set<Running>()
  private readonly streams = new Set<KeepAlive>()
  readonly pulse: Pulse

  constructor(runtime: Runtime.Runtime<R>, spans: boolean, limits: Limits) {
    this.runtime = runtime
    this.spans = spans
    this.limits = limits
    this.pulse = new Pulse((defect) => Correlation.report(Cause.die(defect), runtime))
  }

  run<A, E, R2>(
    exchange: Exchange.Exchange,
    effect: Effect.Effect<A, E, R2>,
    runtime: Runtime.Runtime<R2>,
    onExit: (exit: Exit.Exit<A, E>) => void,
    options?: Calls.RunOptions<A, E>
  ): void {
    if (this.closing) return this.refuse(exchange, options)
    const interruptible = options?.interruptOnClose !== false
    if (interruptible && exchange.closed) {
      return this.finish(exchange, onExit, Exit.interrupt(HttpServerError.clientAbortFiberId))
    }
    const fiber = Runtime.runFork(runtime)(this.spans ? traced(exchange, effect, options?.name, options?.path) : effect)
    const exit = fiber.unsafePoll()
    if (exit !== null) return this.finish(exchange, onExit, exit)
    const running: Running = { fiber }
    this.running.add(running)
    const onSilent = options?.onSilent
    const silence = onSilent === undefined ? undefined : this.watch(exchange, onSilent)
    options?.onStart?.(fiber)
    fiber.addObserver((exit) => {
      this.running.delete(running)
      running.fiber = undefined
      if (silence !== undefined) this.pulse.untrack(silence)
      this.finish(exchange, onExit, exit)
    })
    if (interruptible) exchange.onClose(() => fiber.unsafeInterruptAsFork(HttpServerError.clientAbortFiberId))
  }

  stream(exchange: Exchange.Exchange, status: number, headers: ReadonlyArray<string>): EventStream.EventStream {
    const stream = exchange.stream(status, headers)
    if (this.closing) {
      stream.end()
    } else if (!stream.done) {
      const entry = new KeepAlive(stream, this.limits.keepAliveAfter, (self) => {
        this.streams.delete(self)
        this.pulse.untrack(self)
      })
      this.streams.add(entry)
      this.pulse.track(entry)
    }
    return stream
  }

  track(entry: Calls.Tracked): () => void {
    this.pulse.track(entry)
    return () => this.pulse.untrack(entry)
  }

  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.closing = true
    return Fiber.interruptAll(Array.from(this.running).flatMap(({ fiber }) => fiber ?? []))
  }).pipe(Effect.zipRight(Effect.sync(() => {
    for (const entry of this.streams) entry.stream.end()
    this.streams.clear()
  })))

  private watch(exchange: Exchange.Exchange, onSilent: () => void): Calls.Tracked {
    const silence: Calls.Tracked = {
      tick: (seconds) => {
        if (seconds < this.limits.silentAfter) return
        this.pulse.untrack(silence)
        if (!exchange.answered) onSilent()
      }
    }
    this.pulse.track(silence)
    return silence
  }

  private refuse<A, E>(exchange: Exchange.Exchange, options: Calls.RunOptions<A, E> | undefined): void {
    if (options?.onRefused !== undefined) return options.onRefused()
    Exchange.json(exchange, 503, { detail: "Server is shutting down" })
  }

  // What handles an exit is ours, but a mistake in it must neither escape into the fiber's loop nor leave a client waiting.
  private finish<A, E>(
    exchange: Exchange.Exchange,
    onExit: (exit: Exit.Exit<A, E>) => void,
    exit: Exit.Exit<A, E>
  ): void {
    try {
      onExit(exit)
    } catch (defect) {
      exchange.reply(500, textHead, Correlation.report(Cause.die(defect), this.runtime))
    }
  }
}

const textHead: ReadonlyArray<string> = ["content-type", "text/plain; charset=utf-8"]

const traceParent = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/

const traced = <A, E, R>(
  exchange: Exchange.Exchange,
  effect: Effect.Effect<A, E, R>,
  name: string | undefined,
  path: string | undefined
): Effect.Effect<A, E, R> => {
  // `withSpan` takes the parent span out of the requirements, where a call has none.
  if (exchange.span !== undefined) return Effect.withParentSpan(effect, exchange.span) as Effect.Effect<A, E, R>
  const parent = traceParent.exec(exchange.header("traceparent") ?? "")
  return Effect.withSpan(effect, name ?? `http.server ${exchange.method}`, {
    kind: "server",
    captureStackTrace: false,
    attributes: { "http.request.method": exchange.method, "url.path": path ?? exchange.path },
    ...(parent === null ? undefined : {
      parent: Tracer.externalSpan({
        traceId: parent[1]!,
        spanId: parent[2]!,
        sampled: (Number.parseInt(parent[3]!, 16) & 1) === 1
      })
    })
  }) as Effect.Effect<A, E, R>
}

export const make = <R>(
  runtime: Runtime.Runtime<R>,
  limits: Limits
): Effect.Effect<Calls.Calls<R>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const calls = new CallsImpl(runtime, (yield* Effect.tracer) !== nativeTracer, limits)
    yield* Effect.forkScoped(calls.pulse.run)
    yield* Effect.addFinalizer(() => calls.close)
    return calls
  })

export const withService = <R, I, S>(
  runtime: Runtime.Runtime<R>,
  tag: Context.Tag<I, S>,
  service: S
): Runtime.Runtime<R | I> =>
  Runtime.make({
    context: Context.add(runtime.context, tag, service),
    fiberRefs: runtime.fiberRefs,
    runtimeFlags: runtime.runtimeFlags
  })
