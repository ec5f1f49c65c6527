import * as Effect from "effect/Effect"
import type {
  Action,
  Condition,
  ConversationalCondition,
  EnvTriggerCondition,
  StepCondition,
  Trigger
} from "../Trigger.ts"

/** @internal */
export const limits = {
  triggers: 256,
  id: 128,
  text: 8192,
  regex: 4096,
  environmentId: 256,
  environmentTriggerId: 128,
  status: 128,
  bytes: 16_384,
  depth: 250
} as const

/** As deep as a body of the server may nest, and far from where recursion overflows. */
const jsonDepth = 512

/** @internal */
export interface Problem {
  readonly rule: string
  readonly field: string
  readonly reason: string
}

/** What is wrong with a value, before anybody says whose it is. */
interface Flaw {
  readonly field: string
  readonly reason: string
}

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Own keys alone, so that `{"__proto__":{…}}` lends nothing. */
const at = (object: Json, key: string): unknown => Object.hasOwn(object, key) ? object[key] : undefined

/** Characters as Python counts them: code points. */
const exceeds = (text: string, limit: number): boolean => {
  if (text.length <= limit) return false
  if (text.length > 2 * limit) return true
  let count = 0
  for (const _ of text) count++
  return count > limit
}

/** No identifier that may be registered is cut. */
const quoted = (text: string): string =>
  `'${(text.length > 256 ? `${text.slice(0, 256)}…` : text).replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, "\uFFFD")}'`

/** @internal */
export const describe = (id: string): string => `trigger ${quoted(id)}`

/** The middle of a long path helps nobody. */
const shortened = (path: string): string => path.length <= 160 ? path : `${path.slice(0, 80)}…${path.slice(-60)}`

const flaw = (field: string, reason: string): Effect.Effect<never, Flaw> =>
  Effect.fail({ field: shortened(field), reason })

const text = (
  object: Json,
  options: { readonly key: string; readonly name: string; readonly field: string; readonly limit: number }
): Effect.Effect<string, Flaw> => {
  const value = at(object, options.key)
  return typeof value !== "string" || value === ""
    ? flaw(options.field, `${options.name} must be a non-empty string`)
    : exceeds(value, options.limit)
    ? flaw(options.field, `${options.name} must be at most ${options.limit} characters`)
    : Effect.succeed(value)
}

/** An absent type and one that is no text are told apart from a text that means nothing. */
const typeOf = (value: unknown, field: string, what: string): Effect.Effect<readonly [Json, string], Flaw> => {
  const type = isObject(value) ? at(value, "type") : undefined
  return isObject(value) && typeof type === "string"
    ? Effect.succeed([value, type])
    : flaw(field, `${what} must be an object with a 'type' that is a string`)
}

const readStep = (input: Json, field: string): Effect.Effect<StepCondition, Flaw> => {
  const turn = Object.hasOwn(input, "turn") ? input["turn"] : 1
  const cmp = Object.hasOwn(input, "cmp") ? input["cmp"] : "eq"
  if (!Number.isSafeInteger(turn) || (turn as number) < 1) {
    return flaw(field, "step.turn must be a positive integer")
  }
  return cmp === "eq" || cmp === "gte"
    ? Effect.succeed({ type: "step", turn: turn as number, cmp })
    : flaw(field, "step.cmp must be 'eq' or 'gte'")
}

const readEnvTrigger = (input: Json, field: string): Effect.Effect<EnvTriggerCondition, Flaw> =>
  Effect.all({
    type: Effect.succeed("env_trigger" as const),
    env_id: text(input, { key: "env_id", name: "env_trigger.env_id", field, limit: limits.environmentId }),
    trigger_id: text(input, {
      key: "trigger_id",
      name: "env_trigger.trigger_id",
      field,
      limit: limits.environmentTriggerId
    }),
    status: Object.hasOwn(input, "status")
      ? text(input, { key: "status", name: "env_trigger.status", field, limit: limits.status })
      : Effect.succeed("fired")
  })

const readConversational = (input: Json, field: string): Effect.Effect<ConversationalCondition, Flaw> => {
  const where = at(input, "where")
  if (!isObject(where) || Object.keys(where).length === 0) {
    return flaw(field, "conversational.where must be an object with a 'message'")
  }
  if (Object.keys(where).some((key) => key !== "message")) {
    return flaw(field, "conversational.where takes no other field than 'message'")
  }
  const message = at(where, "message")
  const name = "where.message"
  if (
    !isObject(message) || ["regex", "equals", "exists"].filter((key) => Object.hasOwn(message, key)).length !== 1
  ) {
    return flaw(field, `${name} must have exactly one of 'regex', 'equals' and 'exists'`)
  }
  if (Object.hasOwn(message, "regex")) {
    const regex = message["regex"]
    if (typeof regex !== "string") return flaw(field, `${name}.regex must be a string`)
    if (exceeds(regex, limits.regex)) {
      return flaw(field, `${name}.regex must be at most ${limits.regex} characters`)
    }
  }
  if (Object.hasOwn(message, "exists") && typeof message["exists"] !== "boolean") {
    return flaw(field, `${name}.exists must be a boolean`)
  }
  // kept whole, with what else stands in it: the reference compares and measures that too
  return Effect.succeed({ type: "conversational", where: { message } } as never)
}

const readCondition = (input: unknown, field: string, depth: number): Effect.Effect<Condition, Flaw> =>
  Effect.flatMap(typeOf(input, field, "a condition"), ([condition, type]): Effect.Effect<Condition, Flaw> => {
    switch (type) {
      case "step":
        return readStep(condition, field)
      case "env_trigger":
        return readEnvTrigger(condition, field)
      case "conversational":
        return readConversational(condition, field)
      case "all":
      case "any": {
        const of = at(condition, "of")
        if (!Array.isArray(of) || of.length === 0) return flaw(field, `${type}.of must be a non-empty list`)
        if (depth === limits.depth) return flaw(field, `conditions may nest at most ${limits.depth} deep`)
        return Effect.map(
          Effect.forEach(of, (each, index) => readCondition(each, `${field}.of[${index}]`, depth + 1)),
          (conditions) => ({ type, of: conditions })
        )
      }
      default:
        return flaw(field, `unknown when.type ${quoted(type)}`)
    }
  })

const readAction = (input: unknown, field: string): Effect.Effect<Action, Flaw> =>
  Effect.flatMap(typeOf(input, field, "an action"), ([action, type]): Effect.Effect<Action, Flaw> => {
    switch (type) {
      case "say":
        return Effect.map(
          text(action, { key: "text", name: "say.text", field, limit: limits.text }),
          (said) => ({ type, text: said })
        )
      case "end":
        return Effect.succeed({ type })
      default:
        return flaw(field, `unknown action.type ${quoted(type)}`)
    }
  })

/** Why a value can't be kept as JSON, if it can't. A walk with a stack of its own: the value may nest as deep as it likes. */
const notJson = (root: unknown): string | undefined => {
  const waiting: Array<readonly [unknown, number]> = [[root, 0]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [value, depth] = next
    if (depth > jsonDepth) return `must nest at most ${jsonDepth} deep`
    switch (typeof value) {
      case "string":
        if (/\p{Cs}/u.test(value)) return "must not hold half a surrogate pair"
        break
      case "number":
        if (!Number.isFinite(value)) return "must be JSON"
        break
      case "object":
        if (value === null) break
        if (Array.isArray(value)) { for (const each of value) waiting.push([each, depth + 1]) }
        else for (const entry of Object.entries(value)) waiting.push([entry[0], depth], [entry[1], depth + 1])
        break
      case "bigint":
      case "function":
      case "symbol":
        return "must be JSON"
    }
  }
  return undefined
}

/** As long as an identifier that is minted, which counts as the trigger's own. */
const unminted = "trg_000000000000"

/** A copy that nobody else holds, made from the JSON whose size is limited. */
const settled = (trigger: Trigger): Effect.Effect<Trigger, Flaw> => {
  const reason = notJson(trigger)
  if (reason !== undefined) return flaw("", reason)
  const { id, ...rest } = trigger
  const json = JSON.stringify({ id: id ?? unminted, ...rest })
  if (new TextEncoder().encode(json).length > limits.bytes) {
    return flaw("", `must be at most ${limits.bytes} bytes of JSON`)
  }
  const copy = JSON.parse(json) as Trigger
  return Effect.succeed(id === undefined ? { once: copy.once, when: copy.when, actions: copy.actions } : copy)
}

const readIdentifier = (input: Json): Effect.Effect<string | undefined, Flaw> => {
  const id = at(input, "id")
  return id === undefined || id === null
    ? Effect.succeed(undefined)
    : typeof id !== "string" || id === ""
    ? flaw("id", "must be a non-empty string")
    : exceeds(id, limits.id)
    ? flaw("id", `must be at most ${limits.id} characters`)
    : Effect.succeed(id)
}

const readRest = (input: Json, id: string | undefined): Effect.Effect<Trigger, Flaw> => {
  const once = Object.hasOwn(input, "once") ? input["once"] : true
  const actions = at(input, "actions")
  return typeof once !== "boolean"
    ? flaw("once", "must be a boolean")
    : Effect.flatMap(
      readCondition(at(input, "when"), "when", 0),
      (when) =>
        !Array.isArray(actions) || actions.length === 0
          ? flaw("actions", "must be a non-empty list")
          : Effect.flatMap(
            Effect.forEach(actions, (each, index) => readAction(each, `actions[${index}]`)),
            (read) => settled({ ...(id === undefined ? {} : { id }), once, when, actions: read })
          )
    )
}

/** @internal */
export const readTrigger = (input: unknown, index: number): Effect.Effect<Trigger, Problem> => {
  const named = (rule: string) => (problem: Flaw): Problem => ({ rule, ...problem })
  const unnamed = `trigger[${index}]`
  return isObject(input)
    ? Effect.flatMap(
      Effect.mapError(readIdentifier(input), named(unnamed)),
      (id) => Effect.mapError(readRest(input, id), named(id === undefined ? unnamed : describe(id)))
    )
    : Effect.fail({ rule: unnamed, field: "", reason: "must be an object" })
}

/** @internal */
export const readTriggers = (input: unknown): Effect.Effect<ReadonlyArray<Trigger>, Problem> =>
  !Array.isArray(input) || input.length === 0
    ? Effect.fail({ rule: "", field: "", reason: "'triggers' must be a non-empty list" })
    : input.length > limits.triggers
    ? Effect.fail({ rule: "", field: "", reason: `'triggers' may hold at most ${limits.triggers}` })
    : Effect.forEach(input, readTrigger)

const patternsOf = (
  condition: Condition,
  field: string
): ReadonlyArray<{ readonly field: string; readonly pattern: string }> => {
  switch (condition.type) {
    case "conversational":
      return "regex" in condition.where.message
        ? [{ field: shortened(`${field}.where.message.regex`), pattern: condition.where.message.regex }]
        : []
    case "all":
    case "any":
      return condition.of.flatMap((each, index) => patternsOf(each, `${field}.of[${index}]`))
    default:
      return []
  }
}

/** @internal */
export const patterns = (trigger: Trigger): ReadonlyArray<{ readonly field: string; readonly pattern: string }> =>
  patternsOf(trigger.when, "when")

const isSameJson = (self: unknown, that: unknown): boolean => {
  if (Array.isArray(self)) {
    return Array.isArray(that) && self.length === that.length &&
      self.every((each, index) => isSameJson(each, that[index]))
  }
  if (!isObject(self)) return self === that
  if (!isObject(that)) return false
  const keys = Object.keys(self)
  return keys.length === Object.keys(that).length &&
    keys.every((key) => Object.hasOwn(that, key) && isSameJson(self[key], that[key]))
}

/** @internal */
export const isSame = (self: Trigger, that: Trigger): boolean => isSameJson(self, that)
