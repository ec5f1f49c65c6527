/**
 * Where the triggers of an agent are kept, with what has become of them.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as TriggerEngine from "./TriggerEngine.ts"

/**
 * The store could not be reached or refused to work; nothing was changed.
 *
 * @since 0.1.0
 * @category errors
 */
export class TriggerStoreError
  extends Schema.TaggedError<TriggerStoreError>("@effect-agentenv/agent/TriggerStoreError")("TriggerStoreError", {
    operation: Schema.Literal("get", "compareAndSet"),
    cause: Schema.Defect
  })
{}

/**
 * A state and how often it was set before.
 *
 * @since 0.1.0
 * @category models
 */
export interface Versioned {
  readonly version: number
  readonly state: TriggerEngine.State
}

/**
 * The state of one agent's triggers. `TriggerEngine.State` writes it as JSON.
 *
 * - `get` answers it with its version; an empty one of version 0 when nothing was set yet.
 * - `compareAndSet` sets it if it still has that version, which grows by one then, and answers whether it did.
 *
 * @since 0.1.0
 * @category tags
 */
export class TriggerStore extends Context.Tag("@effect-agentenv/agent/TriggerStore")<TriggerStore, {
  readonly get: Effect.Effect<Versioned, TriggerStoreError>
  readonly compareAndSet: (version: number, state: TriggerEngine.State) => Effect.Effect<boolean, TriggerStoreError>
}>() {}

/**
 * A store that lives as long as its layer.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<TriggerStore> = Layer.effect(
  TriggerStore,
  Effect.map(Ref.make<Versioned>({ version: 0, state: TriggerEngine.empty }), (ref) => ({
    get: Ref.get(ref),
    compareAndSet: (version, state) =>
      Ref.modify(
        ref,
        (current) => current.version === version ? [true, { version: version + 1, state }] : [false, current]
      )
  }))
)
