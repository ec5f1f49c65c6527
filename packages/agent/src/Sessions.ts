/**
 * What a run leaves for the next run of its context.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * What `Sessions` does.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly get: (contextId: string) => Effect.Effect<string | undefined>
  readonly set: (contextId: string, sessionRef: string) => Effect.Effect<void>
}

/**
 * The session references of contexts: at most 1,024, the least recently used leaves first (B-TASK-12).
 *
 * @since 0.1.0
 * @category tags
 */
export class Sessions extends Context.Tag("@effect-agentenv/agent/Sessions")<Sessions, Service>() {}

/**
 * How many contexts are remembered, 1,024 unless told.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly capacity?: number | undefined
}

/**
 * Sessions in memory.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Options): Effect.Effect<Service> =>
  Effect.sync(() => {
    const capacity = options?.capacity ?? 1024
    const sessions = new Map<string, string>()

    /** A map lists its keys in the order they were set, so what is set anew is the last to leave. */
    const put = (contextId: string, sessionRef: string): void => {
      sessions.delete(contextId)
      sessions.set(contextId, sessionRef)
    }

    return {
      get: (contextId) =>
        Effect.sync(() => {
          const sessionRef = sessions.get(contextId)
          if (sessionRef !== undefined) put(contextId, sessionRef)
          return sessionRef
        }),
      set: (contextId, sessionRef) =>
        Effect.sync(() => {
          put(contextId, sessionRef)
          if (sessions.size <= capacity) return
          for (const oldest of sessions.keys()) return void sessions.delete(oldest)
        })
    }
  })

/**
 * Sessions in memory.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Options): Layer.Layer<Sessions> => Layer.effect(Sessions, make(options))
