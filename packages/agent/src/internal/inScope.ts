import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Scope from "effect/Scope"

/**
 * Runs an effect in a scope of its own, with the services that were there before and those that are added: `below` where they are not
 * there, `above` in any case. All is set and taken back at once, which `Effect.scoped` and `Effect.provide` do one by one.
 */
export const inScope = <A, E>(
  effect: Effect.Effect<A, E, any>,
  below: ReadonlyArray<Context.Context<never>> = [],
  above: ReadonlyArray<Context.Context<never>> = []
): Effect.Effect<A, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Scope.make(), (scope) =>
      Effect.contextWithEffect((outer: Context.Context<never>) => {
        const services = new Map<string, unknown>()
        for (const context of [...below, outer, ...above]) {
          for (const [key, service] of context.unsafeMap) services.set(key, service)
        }
        const inner = Context.unsafeMake<never>(services.set(Scope.Scope.key, scope))
        return Effect.zipRight(
          FiberRef.set(FiberRef.currentContext, inner),
          // what the effect needs is there by now
          Effect.onExit(restore(effect as Effect.Effect<A, E>), (exit) =>
            Effect.zipRight(FiberRef.set(FiberRef.currentContext, outer), Scope.close(scope, exit)))
        )
      }))
  )
