/**
 * The triggers of an agent: a platform registers them, and asks turn by turn what they make of a conversation (area TRIG of the contract).
 *
 * @since 0.1.0
 */
import type {
  DecideResponse,
  EnvTriggers,
  RegisterRequest,
  RegisterResponse,
  StateResponse
} from "@effect-agentenv/protocol/extensions/TriggersV1"
import * as Trigger from "@effect-agentenv/protocol/Trigger"
import * as Ids from "@effect-agentenv/server/Ids"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ExtensionError } from "./ExtensionError.ts"
import { byKey } from "./internal/byKey.ts"
import { spanned } from "./internal/spanned.ts"
import * as RegexEngine from "./RegexEngine.ts"
import type { RegexEngineError } from "./RegexError.ts"
import * as TriggerEngine from "./TriggerEngine.ts"
import * as TriggerStore from "./TriggerStore.ts"

/**
 * What happened in a turn of a conversation. Without `context_id` it is the conversation `default`, without a message nothing was said.
 *
 * @since 0.1.0
 * @category models
 */
export interface DecideRequest {
  readonly turn: number
  readonly solver_message?: string | undefined
  readonly context_id?: string | undefined
  readonly env_triggers?: EnvTriggers | undefined
}

/**
 * The triggers of an agent while it is served. Provide a layer of it to share it between an override and the server (B-REG-15).
 *
 * - `register` adds a batch, whole or not at all; 400 when one of it is wrong, by its name and field (B-TRIG-1 to B-TRIG-9).
 * - `decide` says what is to be said and whether the conversation ends; 400 when the request or its context can't be taken, 504 when the
 *   patterns of the triggers exhaust their budget: nothing has happened then (B-TRIG-15). The decisions of a context are made one after
 *   the other, and no context has more than one under way, so that none waits for all of another's.
 * - `state` lists the triggers and what became of them (B-TRIG-16).
 *
 * @since 0.1.0
 * @category tags
 */
export class Triggers extends Context.Tag("@effect-agentenv/agent/Triggers")<Triggers, {
  readonly register: (
    request: { readonly triggers: unknown }
  ) => Effect.Effect<RegisterResponse, ExtensionError | TriggerStore.TriggerStoreError>
  readonly decide: (
    request: DecideRequest
  ) => Effect.Effect<DecideResponse, ExtensionError | RegexEngineError | TriggerStore.TriggerStoreError>
  readonly state: Effect.Effect<StateResponse, TriggerStore.TriggerStoreError>
}>() {}

const refuse = (message: string): ExtensionError => new ExtensionError({ status: 400, message })

const make = Effect.gen(function*() {
  const regexes = yield* RegexEngine.RegexEngine
  const store = yield* TriggerStore.TriggerStore
  const inTurn = yield* byKey

  const checkPatterns = (trigger: Trigger.Trigger, index: number): Effect.Effect<void, ExtensionError> =>
    Effect.forEach(
      Trigger.patterns(trigger),
      ({ field, pattern }) =>
        Effect.mapError(regexes.check(pattern), ({ message }) => {
          const rule = trigger.id === undefined ? `trigger[${index}]` : Trigger.describe(trigger.id)
          return refuse(`${rule}: ${field}: ${message}`)
        }),
      { discard: true }
    )

  const register = Effect.fn("Triggers.register")(function*(request: { readonly triggers: unknown }) {
    const triggers = yield* Effect.mapError(Trigger.decodeAll(request.triggers), ({ message }) => refuse(message))
    yield* Effect.annotateCurrentSpan("triggers", triggers.length)
    yield* Effect.forEach(triggers, checkPatterns, { discard: true })
    const ids = yield* Ids.Ids
    const mint = () => `trg_${ids.hex().slice(0, 12)}`
    while (true) {
      const { state, version } = yield* store.get
      const result = TriggerEngine.register(state, triggers, { now: yield* Clock.currentTimeMillis, mint })
      if (result._tag === "Refused") return yield* refuse(result.reason)
      if (yield* store.compareAndSet(version, result.state)) {
        return { ok: true as const, added: result.added, all: result.all }
      }
    }
  })

  const answers = (
    plan: TriggerEngine.Plan
  ): Effect.Effect<ReadonlyArray<boolean>, ExtensionError | RegexEngineError> =>
    plan.expressions.every((expression) => typeof expression === "boolean")
      ? Effect.succeed(plan.expressions)
      : Effect.catchTag(
        regexes.decide(plan.event.message, plan.expressions),
        "RegexBudgetExceeded",
        ({ message }) => new ExtensionError({ status: 504, message: `decide: ${message}` })
      )

  /** Registered triggers and other processes may overtake it; the former are at most 256. */
  const decideEvent = Effect.fnUntraced(function*(event: TriggerEngine.Event) {
    while (true) {
      const plan = TriggerEngine.plan((yield* store.get).state, event)
      if (plan._tag === "Refused") return yield* refuse(plan.reason)
      const found = yield* answers(plan)
      const decision = yield* commit(plan, found)
      if (decision !== undefined) return decision
    }
  })

  const commit = Effect.fnUntraced(function*(plan: TriggerEngine.Plan, found: ReadonlyArray<boolean>) {
    while (true) {
      const { state, version } = yield* store.get
      const result = TriggerEngine.commit(state, plan, found, yield* Clock.currentTimeMillis)
      if (result._tag === "Refused") return yield* refuse(result.reason)
      if (result._tag === "Stale") return undefined
      if (yield* store.compareAndSet(version, result.state)) return result.decision
    }
  })

  const decide = (request: DecideRequest) =>
    Effect.suspend(() => {
      const event: TriggerEngine.Event = {
        turn: request.turn,
        contextId: request.context_id ?? "default",
        message: request.solver_message ?? "",
        envTriggers: request.env_triggers ?? {}
      }
      return spanned("Triggers.decide", inTurn(event.contextId, decideEvent(event)))
    })

  return {
    register,
    decide,
    state: Effect.map(store.get, ({ state }) => TriggerEngine.view(state))
  }
})

/**
 * Triggers in a store.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Triggers, never, RegexEngine.RegexEngine | TriggerStore.TriggerStore> = Layer.effect(
  Triggers,
  make
)

/**
 * Triggers that are forgotten with the process.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<Triggers, never, RegexEngine.RegexEngine> = Layer.provide(
  layer,
  TriggerStore.layerMemory
)

/**
 * The library's answers to the operations of `TriggersV1`, in the form that `TriggersV1.toLayer` takes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const handlers: {
  readonly register: (
    request: RegisterRequest
  ) => Effect.Effect<RegisterResponse, ExtensionError | TriggerStore.TriggerStoreError, Triggers>
  readonly decide: (
    request: DecideRequest
  ) => Effect.Effect<DecideResponse, ExtensionError | RegexEngineError | TriggerStore.TriggerStoreError, Triggers>
  readonly state: () => Effect.Effect<StateResponse, TriggerStore.TriggerStoreError, Triggers>
} = {
  register: (request) => Effect.flatMap(Triggers, (triggers) => triggers.register(request)),
  decide: (request) => Effect.flatMap(Triggers, (triggers) => triggers.decide(request)),
  state: () => Effect.flatMap(Triggers, (triggers) => triggers.state)
}
