import type * as Calls from "@effect-agentenv/server/Calls"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type * as Runtime from "effect/Runtime"
import * as Tracer from "effect/Tracer"
import type * as Gate from "./gate.ts"
import { classify } from "./outcome.ts"

/** A span to be: ids and names in its attributes, never what was sent or answered. */
export interface Span {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
}

/** Runs the effect of an operation behind its ticket, in a span below the one of its request. */
export type Run = <A, E, R>(
  span: Span,
  calls: Calls.Calls<never>,
  exchange: Exchange.Exchange,
  ticket: Gate.Ticket,
  effect: Effect.Effect<A, E, R>,
  runtime: Runtime.Runtime<R>,
  onExit: (exit: Exit.Exit<A, E>) => void,
  options: Calls.RunOptions<any, any>
) => void

const nativeTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** What a span tells of a failure: of which kind it was. Messages and bodies are for the caller and the log. */
const failed = (cause: Cause.Cause<unknown>): Cause.Cause<string> => {
  const ended = classify(cause)
  if (ended._tag === "Interrupted") return Cause.interrupt(FiberId.none)
  return Cause.fail(ended._tag === "Defect" ? "Defect" : tagOf(ended.failure))
}

const tagOf = (failure: unknown): string =>
  typeof failure === "object" && failure !== null && "_tag" in failure && typeof failure._tag === "string"
    ? failure._tag
    : "Failure"

const attributesOf = (
  exchange: Exchange.Exchange,
  attributes: Span["attributes"]
): Record<string, unknown> => {
  const size = exchange.header("content-length")
  return size === undefined ? { ...attributes } : { ...attributes, "http.request.body.size": Number(size) }
}

// The exit goes around the spans, so that neither this one nor the request's own ever holds an answer or an error's text.
const run: Run = (span, calls, exchange, ticket, effect, runtime, onExit, options) => {
  let ended: Exit.Exit<any, any> | undefined = undefined
  const traced = Effect.exit(effect).pipe(
    Effect.flatMap((exit) => {
      ended = exit
      return Exit.isSuccess(exit) ? Effect.void : Effect.failCause(failed(exit.cause))
    }),
    Effect.withSpan(span.name, { captureStackTrace: false, attributes: attributesOf(exchange, span.attributes) }),
    Effect.exit
  )
  calls.run(
    exchange,
    ticket.guard(Effect.asVoid(traced)),
    // `withSpan` takes the parent span out of the requirements, where a call has none
    runtime as never,
    (exit) => onExit(Exit.isSuccess(exit) ? ended! : exit),
    options
  )
}

/** How operations are traced, `undefined` unless a tracer is installed. */
export const make: Effect.Effect<Run | undefined> = Effect.map(
  Effect.tracer,
  (tracer) => tracer === nativeTracer ? undefined : run
)
