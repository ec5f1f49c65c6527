/**
 * Triggers as authors of scenarios write them: when something is said to an agent, and what (area TRIG of the contract).
 *
 * @since 0.1.0
 */
import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as internal from "./internal/trigger.ts"

/**
 * How much a trigger may hold (B-TRIG-9): characters of its `id`, of a `say.text`, of a `regex`, of an `env_trigger`'s `env_id`,
 * `trigger_id` and `status`; UTF-8 bytes of the whole as compact JSON; levels of nested conditions. `triggers` is how many may be
 * registered.
 *
 * @since 0.1.0
 * @category constructors
 */
export const limits: {
  readonly triggers: 256
  readonly id: 128
  readonly text: 8192
  readonly regex: 4096
  readonly environmentId: 256
  readonly environmentTriggerId: 128
  readonly status: 128
  readonly bytes: 16384
  readonly depth: 250
} = internal.limits

/**
 * What a message is held against: a pattern of Python's `regex` module that is searched anywhere in it, the whole message, or whether
 * there is one that is not empty (B-TRIG-5).
 *
 * @since 0.1.0
 * @category models
 */
export type Predicate =
  | { readonly regex: string }
  | { readonly equals: string }
  | { readonly exists: boolean }

/**
 * The turn of a conversation, from 1: that one (`eq`), or it and all after it (`gte`) (B-TRIG-4).
 *
 * @since 0.1.0
 * @category models
 */
export interface StepCondition {
  readonly type: "step"
  readonly turn: number
  readonly cmp: "eq" | "gte"
}

/**
 * What the agent said last (B-TRIG-5).
 *
 * @since 0.1.0
 * @category models
 */
export interface ConversationalCondition {
  readonly type: "conversational"
  readonly where: { readonly message: Predicate }
}

/**
 * The status of a trigger of an environment, as the caller of `decide` reports it (B-TRIG-6).
 *
 * @since 0.1.0
 * @category models
 */
export interface EnvTriggerCondition {
  readonly type: "env_trigger"
  readonly env_id: string
  readonly trigger_id: string
  readonly status: string
}

/**
 * Every one of several conditions (B-TRIG-7).
 *
 * @since 0.1.0
 * @category models
 */
export interface AllCondition {
  readonly type: "all"
  readonly of: ReadonlyArray<Condition>
}

/**
 * At least one of several conditions (B-TRIG-7).
 *
 * @since 0.1.0
 * @category models
 */
export interface AnyCondition {
  readonly type: "any"
  readonly of: ReadonlyArray<Condition>
}

/**
 * When a trigger fires.
 *
 * @since 0.1.0
 * @category models
 */
export type Condition = StepCondition | ConversationalCondition | EnvTriggerCondition | AllCondition | AnyCondition

/**
 * What happens when a trigger fires: something is said, or the conversation ends (B-TRIG-8).
 *
 * @since 0.1.0
 * @category models
 */
export type Action =
  | { readonly type: "say"; readonly text: string }
  | { readonly type: "end" }

/**
 * A trigger as it stands in JSON, with its defaults written out. Without an `id` it is given one when it is registered; `once` is whether
 * it fires at most once in a conversation (B-TRIG-12).
 *
 * @since 0.1.0
 * @category models
 */
export interface Trigger {
  readonly id?: string | undefined
  readonly once: boolean
  readonly when: Condition
  readonly actions: ReadonlyArray<Action>
}

/**
 * A trigger that has its identifier.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rule extends Trigger {
  readonly id: string
}

/**
 * Why something is no trigger: `rule` says which (`trigger 'late'`, or `trigger[2]` when it has no identifier; empty when it is the list
 * itself that is wrong), `field` where in it. Identifiers and unknown types alone are repeated.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidTrigger
  extends Schema.TaggedError<InvalidTrigger>("@effect-agentenv/protocol/InvalidTrigger")("InvalidTrigger", {
    rule: Schema.String,
    field: Schema.String,
    reason: Schema.String
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return [this.rule, this.field, this.reason].filter((each) => each !== "").join(": ")
  }
}

/**
 * A turn: that one unless `cmp` is `gte`, the first unless told.
 *
 * @since 0.1.0
 * @category constructors
 */
export const step = (
  options: { readonly turn?: number | undefined; readonly cmp?: "eq" | "gte" | undefined } = {}
): StepCondition => ({ type: "step", turn: options.turn ?? 1, cmp: options.cmp ?? "eq" })

/**
 * The agent's last message: `{ regex }`, `{ equals }` or `{ exists }`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const conversational = (message: Predicate): ConversationalCondition => ({
  type: "conversational",
  where: { message }
})

/**
 * A trigger of an environment that has a status, `fired` unless told.
 *
 * @since 0.1.0
 * @category constructors
 */
export const envTrigger = (options: {
  readonly envId: string
  readonly triggerId: string
  readonly status?: string | undefined
}): EnvTriggerCondition => ({
  type: "env_trigger",
  env_id: options.envId,
  trigger_id: options.triggerId,
  status: options.status ?? "fired"
})

/**
 * All of the conditions.
 *
 * @since 0.1.0
 * @category constructors
 */
export const all = (of: Arr.NonEmptyReadonlyArray<Condition>): AllCondition => ({ type: "all", of })

/**
 * Any of the conditions.
 *
 * @since 0.1.0
 * @category constructors
 */
export const any = (of: Arr.NonEmptyReadonlyArray<Condition>): AnyCondition => ({ type: "any", of })

/**
 * Says a text to the agent. What several triggers say in one decision is joined, a line each (B-TRIG-10).
 *
 * @since 0.1.0
 * @category constructors
 */
export const say = (text: string): Action => ({ type: "say", text })

/**
 * Ends the conversation.
 *
 * @since 0.1.0
 * @category constructors
 */
export const end: Action = { type: "end" }

/**
 * A trigger, as it is sent to `register`. It fires once in a conversation unless `once` is `false`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: {
  readonly id?: string | undefined
  readonly when: Condition
  readonly actions: Arr.NonEmptyReadonlyArray<Action>
  readonly once?: boolean | undefined
}): Trigger => ({
  ...(options.id === undefined ? {} : { id: options.id }),
  once: options.once ?? true,
  when: options.when,
  actions: options.actions
})

/**
 * Reads a trigger from JSON and fills in its defaults. Keys that mean nothing are dropped. Whether its patterns are any, an engine for
 * them tells. `index` is its place in a list, which names it while it has no identifier.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decode = (input: unknown, index: number = 0): Effect.Effect<Trigger, InvalidTrigger> =>
  Effect.mapError(Effect.suspend(() => internal.readTrigger(input, index)), (problem) => new InvalidTrigger(problem))

/**
 * Reads a list of 1 to 256 triggers from JSON (B-TRIG-2, B-TRIG-9): the first that is wrong fails all.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeAll = (input: unknown): Effect.Effect<ReadonlyArray<Trigger>, InvalidTrigger> =>
  Effect.mapError(Effect.suspend(() => internal.readTriggers(input)), (problem) => new InvalidTrigger(problem))

/**
 * The patterns of a trigger and where they stand in it, in their order.
 *
 * @since 0.1.0
 * @category combinators
 */
export const patterns: (trigger: Trigger) => ReadonlyArray<{ readonly field: string; readonly pattern: string }> =
  internal.patterns

/**
 * How error messages call a trigger: `trigger 'late'`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const describe: (id: string) => string = internal.describe

/**
 * Whether two triggers say the same, in whatever order their keys stand (Appendix A of the contract).
 *
 * @since 0.1.0
 * @category guards
 */
export const isSame: (self: Trigger, that: Trigger) => boolean = internal.isSame
