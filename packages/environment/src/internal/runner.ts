import type * as Calls from "@effect-agentenv/server/Calls"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Runtime from "effect/Runtime"
import type * as Gate from "./gate.ts"
import type * as Spans from "./spans.ts"

/** Runs an effect behind its ticket on an exchange; the ticket is given back before the exit is answered. */
export const runTicket = <A, E, R>(
  calls: Calls.Calls<never>,
  exchange: Exchange.Exchange,
  ticket: Gate.Ticket,
  effect: Effect.Effect<A, E, R>,
  runtime: Runtime.Runtime<R>,
  onExit: (exit: Exit.Exit<A, E>) => void,
  onRefused: () => void,
  trace: Spans.Run | undefined,
  span: () => Spans.Span
): void => {
  if (calls.closing) {
    ticket.leave()
    return onRefused()
  }
  const ended = (exit: Exit.Exit<A, E>): void => {
    ticket.leave()
    onExit(exit)
  }
  const options: Calls.RunOptions<unknown, unknown> = { onStart: (fiber) => ticket.started(fiber) }
  if (trace === undefined) calls.run(exchange, ticket.guard(effect), runtime, ended, options)
  else trace(span(), calls, exchange, ticket, effect, runtime, ended, options)
}
