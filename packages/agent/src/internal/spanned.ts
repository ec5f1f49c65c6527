import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

const native = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** A span around an effect where a tracer is installed: one that nobody sees costs more than much of what is done within. */
export const spanned = <A, E>(name: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.tracerWith((tracer) =>
    tracer === native ? effect : Effect.withSpan(effect, name, { captureStackTrace: false })
  )
