import type * as Calls from "@effect-agentenv/server/Calls"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import type * as Exit from "effect/Exit"
import { pipeArguments } from "effect/Pipeable"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"

/** The scope of one call. Most calls acquire nothing, so the real one is made when something is asked of it. */
class CallScope implements Scope.CloseableScope {
  readonly [Scope.ScopeTypeId]: Scope.ScopeTypeId = Scope.ScopeTypeId
  readonly [Scope.CloseableScopeTypeId]: Scope.CloseableScopeTypeId = Scope.CloseableScopeTypeId
  private inner: Scope.CloseableScope | undefined = undefined
  private ended: Exit.Exit<unknown, unknown> | undefined = undefined
  /** Whether a handler runs, or ran, in it. */
  taken = false

  get strategy(): ExecutionStrategy.ExecutionStrategy {
    return ExecutionStrategy.sequential
  }

  // not of the interface, but `Effect.forkIn` looks at it
  get state(): unknown {
    return (this.real as Scope.CloseableScope & { readonly state: unknown }).state
  }

  fork(strategy: ExecutionStrategy.ExecutionStrategy): Effect.Effect<Scope.CloseableScope> {
    return Scope.fork(this.real, strategy)
  }

  addFinalizer(finalizer: Scope.Scope.Finalizer): Effect.Effect<void> {
    return Scope.addFinalizerExit(this.real, finalizer)
  }

  close(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> {
    this.ended = exit
    return this.inner === undefined ? Effect.void : Scope.close(this.inner, exit)
  }

  pipe(): unknown {
    return pipeArguments(this, arguments)
  }

  private get real(): Scope.CloseableScope {
    if (this.inner === undefined) {
      this.inner = Effect.runSync(Scope.make())
      // whoever comes when the call has ended finds a closed one
      if (this.ended !== undefined) Effect.runSync(Scope.close(this.inner, this.ended))
    }
    return this.inner
  }
}

/** The runtime of one call: with a scope for `scoped`, and the service of the call where it has one. */
export const runtimeOf: {
  (calls: Calls.Calls<never>): Runtime.Runtime<never>
  <I, S>(calls: Calls.Calls<never>, tag: Context.Tag<I, S>, service: S): Runtime.Runtime<I>
} = <I, S>(calls: Calls.Calls<never>, tag?: Context.Tag<I, S>, service?: S): Runtime.Runtime<I> => {
  const { context, fiberRefs, runtimeFlags } = calls.runtime
  const services = new Map(context.unsafeMap).set(Scope.Scope.key, new CallScope())
  if (tag !== undefined) services.set(tag.key, service)
  return Runtime.make({ context: Context.unsafeMake<I>(services), fiberRefs, runtimeFlags })
}

/**
 * `Effect.scoped` on the path of every call: it takes the scope that the call's runtime brought, which spares the fiber the change
 * of its context and back.
 */
export const scoped = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.contextWithEffect((context: Context.Context<never>) => {
    const scope: unknown = context.unsafeMap.get(Scope.Scope.key)
    if (!(scope instanceof CallScope) || scope.taken) return Effect.scoped(effect)
    scope.taken = true
    // the scope that it needs is in the context
    return Effect.onExit(effect, (exit) => scope.close(exit)) as Effect.Effect<A, E, Exclude<R, Scope.Scope>>
  })
