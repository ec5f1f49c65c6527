import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Scope from "effect/Scope"

/**
 * Runs an effect in a scope of its own, with the services that were there before and those that are added: those of `below` where they
 * are not there, those that `above` sets in any case. All is set and taken back at once, which `Effect.scoped` and `Effect.provide` do
 * one by one.
 */
export const inScope = <A, E>(
  effect: Effect.Effect<A, E, any>,
  below: Context.Context<never> = Context.empty(),
  above?: (services: Map<string, unknown>) => void
): Effect.Effect<A, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Scope.make(), (scope) =>
      Effect.withFiberRuntime<A, E>((fiber) => {
        const outer = fiber.currentContext
        const services = new Map<string, unknown>(below.unsafeMap)
        outer.unsafeMap.forEach((service, key) => services.set(key, service))
        above?.(services)
        services.set(Scope.Scope.key, scope)
        const leave = (exit: Exit.Exit<A, E>): Effect.Effect<void> =>
          Effect.zipRight(FiberRef.set(FiberRef.currentContext, outer), Scope.close(scope, exit))
        return Effect.zipRight(
          FiberRef.set(FiberRef.currentContext, Context.unsafeMake<never>(services)),
          // what the effect needs is there by now
          Effect.matchCauseEffect(restore(effect as Effect.Effect<A, E>), {
            onFailure: (cause) =>
              Effect.matchCauseEffect(leave(Exit.failCause(cause)), {
                onFailure: (late) => Effect.failCause(Cause.sequential(cause, late)),
                onSuccess: () => Effect.failCause(cause)
              }),
            onSuccess: (value) => {
              const exit = Exit.succeed(value)
              return Effect.zipRight(leave(exit), exit)
            }
          })
        )
      }))
  )
