/**
 * How triggers decide: pure functions over a state that can be kept as JSON. `Triggers` adds the patterns' engine, a store and fairness.
 *
 * @since 0.1.0
 */
import type { DecideResponse, StateResponse } from "@effect-agentenv/protocol/extensions/TriggersV1"
import { LogEntry } from "@effect-agentenv/protocol/extensions/TriggersV1"
import * as Trigger from "@effect-agentenv/protocol/Trigger"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Expression } from "./RegexEngine.ts"

/**
 * How much an agent keeps and takes (B-TRIG-9): `triggers`, `contexts` and entries of the `log`; characters of a context's identifier and
 * of a message. Triggers and contexts beyond are refused, so that none that has fired is forgotten; the log forgets its oldest entries
 * (B-TRIG-14).
 *
 * @since 0.1.0
 * @category constructors
 */
export const limits: {
  readonly triggers: 256
  readonly contexts: 1024
  readonly log: 1024
  readonly contextId: 256
  readonly message: 200_000
} = { triggers: Trigger.limits.triggers, contexts: 1024, log: 1024, contextId: 256, message: 200_000 }

/**
 * What a conversation has behind it: its last turn, and the triggers that have fired in it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContextState {
  readonly lastTurn: number
  readonly fired: ReadonlyArray<string>
}

/**
 * The triggers of an agent in the order in which they were registered, the conversations by their context, and the latest entries of the
 * log, oldest first. `sequence` is that of the last entry there ever was.
 *
 * @since 0.1.0
 * @category models
 */
export interface State {
  readonly rules: ReadonlyArray<Trigger.Rule>
  readonly contexts: HashMap.HashMap<string, ContextState>
  readonly log: ReadonlyArray<LogEntry>
  readonly sequence: number
}

/**
 * A state as JSON.
 *
 * @since 0.1.0
 * @category models
 */
export interface StateEncoded {
  readonly rules: ReadonlyArray<Trigger.Rule>
  readonly contexts: ReadonlyArray<readonly [string, ContextState]>
  readonly log: ReadonlyArray<typeof LogEntry.Encoded>
  readonly sequence: number
}

/** Written by `register` alone, from triggers that were read before: what a rule is needs no second telling. */
const Rule = Schema.declare(
  (value): value is Trigger.Rule =>
    typeof value === "object" && value !== null && ["id", "once", "when", "actions"].every((key) => key in value),
  { identifier: "TriggerRule" }
)

/**
 * A state as JSON, for stores that last.
 *
 * @since 0.1.0
 * @category schemas
 */
export const State: Schema.Schema<State, StateEncoded> = Schema.Struct({
  rules: Schema.Array(Rule),
  contexts: Schema.HashMap({
    key: Schema.String,
    value: Schema.Struct({ lastTurn: Schema.Int, fired: Schema.Array(Schema.String) })
  }),
  log: Schema.Array(LogEntry),
  sequence: Schema.NonNegativeInt
})

/**
 * No triggers and no conversations.
 *
 * @since 0.1.0
 * @category constructors
 */
export const empty: State = { rules: [], contexts: HashMap.empty(), log: [], sequence: 0 }

/**
 * What was asked can't be done, and why: nothing has changed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refused {
  readonly _tag: "Refused"
  readonly reason: string
}

const refused = (reason: string): Refused => ({ _tag: "Refused", reason })

type Unlogged = LogEntry extends infer Entry ? Entry extends LogEntry ? Omit<Entry, "seq" | "ts"> : never : never

const logged = (state: State, entries: ReadonlyArray<Unlogged>, now: number): Pick<State, "log" | "sequence"> => {
  if (entries.length === 0) return { log: state.log, sequence: state.sequence }
  const ts = new Date(now).toISOString()
  // a decision adds at most one entry a trigger and a reset, far fewer than the log holds
  const log = state.log.slice(Math.max(0, state.log.length + entries.length - limits.log))
  for (const [index, entry] of entries.entries()) log.push({ seq: state.sequence + index + 1, ts, ...entry })
  return { log, sequence: state.sequence + entries.length }
}

/**
 * The triggers are registered: `added` are the identifiers of the batch, `all` those of all there are.
 *
 * @since 0.1.0
 * @category models
 */
export interface Registered {
  readonly _tag: "Registered"
  readonly state: State
  readonly added: ReadonlyArray<string>
  readonly all: ReadonlyArray<string>
}

/**
 * Registers a batch, whole or not at all (B-TRIG-1). A trigger that is there already counts as added when it says the same, and is refused
 * when it does not. `mint` names those without an identifier; `now` is in milliseconds since 1970.
 *
 * @since 0.1.0
 * @category combinators
 */
export const register = (
  state: State,
  triggers: ReadonlyArray<Trigger.Trigger>,
  options: { readonly now: number; readonly mint: () => string }
): Registered | Refused => {
  const known = new Map(state.rules.map((rule) => [rule.id, rule]))
  const batch = new Map<string, Trigger.Rule>()
  for (const { id = options.mint(), ...trigger } of triggers) {
    const rule = { id, ...trigger }
    const other = known.get(id)
    if (batch.has(id)) return refused(`${Trigger.describe(id)} is in this batch twice`)
    if (other !== undefined && !Trigger.isSame(other, rule)) {
      return refused(`${Trigger.describe(id)} already registered with a different spec (use a new id)`)
    }
    batch.set(id, rule)
  }
  const rules = [...state.rules, ...[...batch.values()].filter(({ id }) => !known.has(id))]
  if (rules.length > limits.triggers) {
    return refused(`an agent may have at most ${limits.triggers} triggers: nothing was registered`)
  }
  const added = [...batch.keys()]
  return {
    _tag: "Registered",
    state: { ...state, rules, ...logged(state, [{ kind: "registered", detail: { added } }], options.now) },
    added,
    all: rules.map(({ id }) => id)
  }
}

/**
 * What happened in a turn of a conversation.
 *
 * @since 0.1.0
 * @category models
 */
export interface Event {
  readonly turn: number
  readonly contextId: string
  readonly message: string
  /** By environment, then by trigger. */
  readonly envTriggers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/**
 * A decision that waits for its patterns: `expressions` are to be evaluated on the event's message, one for each of `candidates`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Plan {
  readonly _tag: "Planned"
  readonly event: Event
  readonly candidates: ReadonlyArray<Trigger.Rule>
  readonly expressions: ReadonlyArray<Expression>
  /** The conversation as it was, and how many triggers there were: what `commit` holds against the state it is given. */
  readonly context: ContextState | undefined
  readonly rules: number
}

const ownValue = (object: Readonly<Record<string, unknown>> | undefined, key: string): unknown =>
  object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined

const statusOf = (event: Event, { env_id, trigger_id }: Trigger.EnvTriggerCondition): unknown =>
  Object.hasOwn(event.envTriggers, env_id) ? ownValue(event.envTriggers[env_id], trigger_id) : undefined

const holds = (predicate: Exclude<Trigger.Predicate, { readonly regex: string }>, message: string): boolean =>
  "equals" in predicate ? message === predicate.equals : (message !== "") === predicate.exists

/**
 * Leaves out what decides nothing, and what stands behind an answer that is known when it is reached: no pattern is evaluated that an
 * evaluation from left to right would not come to, and none is left out that it would.
 */
const combined = (tag: "All" | "Any", of: Iterable<Expression>): Expression => {
  const decisive = tag === "Any"
  const open: Array<Expression> = []
  for (const expression of of) {
    if (expression === !decisive) continue
    if (expression === decisive && open.length === 0) return decisive
    open.push(expression)
    if (expression === decisive) break
  }
  const [first] = open
  return first === undefined ? !decisive : open.length === 1 ? first : { _tag: tag, of: open }
}

const expressionOf = (condition: Trigger.Condition, event: Event): Expression => {
  switch (condition.type) {
    case "step":
      return condition.cmp === "eq" ? event.turn === condition.turn : event.turn >= condition.turn
    case "env_trigger":
      return statusOf(event, condition) === condition.status
    case "conversational": {
      const predicate = condition.where.message
      return "regex" in predicate ? { _tag: "Regex", pattern: predicate.regex } : holds(predicate, event.message)
    }
    case "all":
      return combined("All", condition.of.map((each) => expressionOf(each, event)))
    case "any":
      return combined("Any", condition.of.map((each) => expressionOf(each, event)))
  }
}

const isLongerThan = (text: string, limit: number): boolean =>
  text.length > 2 * limit || text.length > limit && Array.from(text).length > limit

const reject = ({ contextId, message, turn }: Event): string | undefined =>
  !Number.isSafeInteger(turn) || turn < 1
    ? "decide: 'turn' must be a positive integer"
    : contextId === ""
    ? "decide: 'context_id' must be a non-empty string"
    : isLongerThan(contextId, limits.contextId)
    ? `decide: 'context_id' must be at most ${limits.contextId} characters`
    : isLongerThan(message, limits.message)
    ? `decide: 'solver_message' must be at most ${limits.message} characters`
    : undefined

/** A turn that is not greater than the last one starts the conversation anew (B-TRIG-13). */
const isReset = (event: Event, context: ContextState | undefined): boolean =>
  context !== undefined && event.turn <= context.lastTurn

/**
 * Finds out which triggers may fire, and what their patterns have to say (B-TRIG-10, B-TRIG-12, B-TRIG-13).
 *
 * @since 0.1.0
 * @category combinators
 */
export const plan = (state: State, event: Event): Plan | Refused => {
  const reason = reject(event)
  if (reason !== undefined) return refused(reason)
  const context = Option.getOrUndefined(HashMap.get(state.contexts, event.contextId))
  if (context === undefined && HashMap.size(state.contexts) >= limits.contexts) {
    return refused(`decide: an agent may have at most ${limits.contexts} contexts`)
  }
  const fired = new Set(isReset(event, context) ? [] : context?.fired)
  const candidates = state.rules.filter(({ id, once }) => !once || !fired.has(id))
  return {
    _tag: "Planned",
    event,
    candidates,
    expressions: candidates.map(({ when }) => expressionOf(when, event)),
    context,
    rules: state.rules.length
  }
}

/**
 * The decision is made, and the state knows.
 *
 * @since 0.1.0
 * @category models
 */
export interface Committed {
  readonly _tag: "Committed"
  readonly state: State
  readonly decision: DecideResponse
}

/**
 * Since it was planned, the conversation went on or triggers were added: the decision is to be planned again.
 *
 * @since 0.1.0
 * @category models
 */
export interface Stale {
  readonly _tag: "Stale"
}

const isSameContext = (self: ContextState | undefined, that: ContextState | undefined): boolean =>
  self === that ||
  self !== undefined && that !== undefined && self.lastTurn === that.lastTurn &&
    self.fired.length === that.fired.length && self.fired.every((id, index) => id === that.fired[index])

/**
 * Makes a planned decision with what its expressions came to, an answer each. The state may have moved on meanwhile, in other
 * conversations.
 *
 * @since 0.1.0
 * @category combinators
 */
export const commit = (
  state: State,
  planned: Plan,
  answers: ReadonlyArray<boolean>,
  now: number
): Committed | Refused | Stale => {
  const { context, event } = planned
  const { contextId: context_id, turn } = event
  const current = Option.getOrUndefined(HashMap.get(state.contexts, context_id))
  if (planned.rules !== state.rules.length || !isSameContext(context, current)) return { _tag: "Stale" }
  if (current === undefined && HashMap.size(state.contexts) >= limits.contexts) {
    return refused(`decide: an agent may have at most ${limits.contexts} contexts`)
  }
  const rules = planned.candidates.filter((_, index) => answers[index] === true)
  const fired = rules.map(({ id }) => id)
  const actions = rules.flatMap((rule) => rule.actions)
  const texts = actions.flatMap((action) => action.type === "say" ? [action.text] : [])
  const reset = isReset(event, context)
  return {
    _tag: "Committed",
    state: {
      rules: state.rules,
      contexts: HashMap.set(state.contexts, context_id, {
        lastTurn: turn,
        fired: [...new Set([...reset ? [] : context?.fired ?? [], ...fired])]
      }),
      ...logged(state, [
        ...(reset ? [{ kind: "reset" as const, context_id, turn }] : []),
        ...fired.map((trigger_id) => ({ kind: "fired" as const, trigger_id, turn, context_id }))
      ], now)
    },
    decision: {
      parts: texts.length === 0 ? [] : [{ kind: "text", text: texts.join("\n") }],
      done: actions.some(({ type }) => type === "end"),
      fired
    }
  }
}

/**
 * What the agent tells of its triggers (B-TRIG-16).
 *
 * @since 0.1.0
 * @category combinators
 */
export const view = (state: State): StateResponse => ({
  triggers: state.rules.map(({ id, once, when }) => ({ id, when_type: when.type, once })),
  firing_log: state.log
})
