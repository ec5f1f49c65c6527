/**
 * What an agent is to say, and when: triggers that a platform registers on it and asks to decide, turn by turn (area TRIG of the contract).
 *
 * @since 0.1.0
 */
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../A2a.ts"
import * as Contract from "../Contract.ts"
import type { Extension } from "../Extension.ts"
import * as standard from "../internal/standard.ts"
import * as Operation from "../Operation.ts"
import { TextPart } from "../Part.ts"

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** An object as it came: no copy of it could be trusted with a key like `__proto__`. */
const Untouched: Schema.Schema<JsonObject> = Schema.declare(isObject, {
  identifier: "JsonObject",
  title: "object",
  jsonSchema: { type: "object" }
})

/** What an override may add to an answer. */
const more = { key: Schema.String, value: Schema.Unknown } as const

/**
 * Triggers to register, as JSON: `Trigger.make` writes one, and what is wrong with one the handler says, by its name (B-TRIG-1, B-TRIG-2).
 *
 * @since 0.1.0
 * @category schemas
 */
export const RegisterRequest = Schema.Struct({
  triggers: Schema.propertySignature(Schema.Array(Untouched)).annotations({
    missingMessage: () => "missing required fields: ['triggers']"
  })
})

/**
 * Triggers to register.
 *
 * @since 0.1.0
 * @category models
 */
export interface RegisterRequest extends Schema.Schema.Type<typeof RegisterRequest> {}

/**
 * The identifiers of the triggers of a registration, and of all there are now (B-TRIG-1). An override may add to it; the card doesn't say
 * it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RegisterResponse = Schema.Struct(
  { ok: Schema.Literal(true), added: Schema.Array(Schema.String), all: Schema.Array(Schema.String) },
  more
).annotations(Contract.unlisted)

/**
 * The identifiers of the triggers of a registration, and of all there are now.
 *
 * @since 0.1.0
 * @category models
 */
export type RegisterResponse = typeof RegisterResponse.Type

/** A sign, digits that single underscores may part, and a fraction of zeros. */
const wholeNumber = /^[+-]?\d+(?:_\d+)*(?:\.0+)?$/

const readTurn = (turn: number | string | boolean): number =>
  typeof turn !== "string"
    ? Number(turn)
    : wholeNumber.test(turn.trim())
    ? Number(turn.replaceAll("_", ""))
    : Number.NaN

/**
 * The turn of a conversation, read as laxly as the reference reads it: `"2"` is 2 and `true` is 1 (B-TRIG-11). That it is positive the
 * handler sees to.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Turn: Schema.Schema<number, number | string | boolean> = Schema.transformOrFail(
  Schema.Union(Schema.Number, Schema.String, Schema.Boolean),
  Schema.Number,
  {
    strict: true,
    decode: (turn, _, ast) => {
      const read = readTurn(turn)
      return Number.isSafeInteger(read)
        ? ParseResult.succeed(read)
        : ParseResult.fail(new ParseResult.Type(ast, turn, "expected a whole number"))
    },
    encode: (turn) => ParseResult.succeed(turn)
  }
).annotations({ title: "whole number", jsonSchema: { type: "integer" } })

/**
 * The statuses of the triggers of environments: by environment, then by trigger (B-TRIG-6).
 *
 * @since 0.1.0
 * @category models
 */
export interface EnvTriggers {
  readonly [environmentId: string]: JsonObject
}

/**
 * The statuses of the triggers of environments.
 *
 * @since 0.1.0
 * @category schemas
 */
export const EnvTriggers: Schema.Schema<EnvTriggers> = Schema.declare(
  (value): value is EnvTriggers => isObject(value) && Object.values(value).every(isObject),
  { identifier: "EnvTriggers", title: "object of objects", jsonSchema: { type: "object" } }
)

/**
 * What happened in a turn of a conversation: what the agent said, and how the environments' triggers stand (B-TRIG-10).
 *
 * @since 0.1.0
 * @category schemas
 */
export const DecideRequest = Schema.Struct({
  turn: Turn,
  solver_message: Schema.optionalWith(Schema.String, { default: () => "" }),
  context_id: Schema.optionalWith(Schema.String, { default: () => "default" }),
  env_triggers: Schema.optionalWith(EnvTriggers, { nullable: true })
})

/**
 * What happened in a turn of a conversation.
 *
 * @since 0.1.0
 * @category models
 */
export interface DecideRequest extends Schema.Schema.Type<typeof DecideRequest> {}

/**
 * What to do about it: say `parts`, end the conversation when `done`; `fired` are the triggers behind it, in the order in which they were
 * registered (B-TRIG-10, B-TRIG-17). An override may add to it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const DecideResponse = Schema.Struct(
  { parts: Schema.Array(TextPart), done: Schema.Boolean, fired: Schema.Array(Schema.String) },
  more
)

/**
 * What to do about it.
 *
 * @since 0.1.0
 * @category models
 */
export type DecideResponse = typeof DecideResponse.Type

const entry = { seq: Schema.Number, ts: Schema.String }

/**
 * One entry of the firing log: a batch was registered, a trigger fired, or a conversation went back to a turn that it had seen. `seq` counts
 * from 1 and never starts again, `ts` is ISO 8601 in UTC (B-TRIG-14, B-TRIG-16).
 *
 * @since 0.1.0
 * @category schemas
 */
export const LogEntry = Schema.Union(
  Schema.Struct({
    ...entry,
    kind: Schema.Literal("registered"),
    detail: Schema.Struct({ added: Schema.Array(Schema.String) })
  }),
  Schema.Struct({
    ...entry,
    kind: Schema.Literal("fired"),
    trigger_id: Schema.String,
    turn: Schema.Number,
    context_id: Schema.String
  }),
  Schema.Struct({ ...entry, kind: Schema.Literal("reset"), context_id: Schema.String, turn: Schema.Number })
)

/**
 * One entry of the firing log.
 *
 * @since 0.1.0
 * @category models
 */
export type LogEntry = typeof LogEntry.Type

const Listed = Schema.Struct({
  id: Schema.String,
  when_type: Schema.Literal("step", "conversational", "env_trigger", "all", "any"),
  once: Schema.Boolean
})

/**
 * The triggers in the order in which they were registered, and the latest entries of the log, oldest first (B-TRIG-16). The log alone is
 * promised on the card (B-TRIG-17). An override may add to it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const StateResponse = Schema.compose(
  Schema.Struct({ firing_log: Schema.Array(Schema.Unknown) }, more),
  Schema.Struct({
    triggers: Schema.optionalWith(Schema.Array(Listed), { default: () => [] }),
    firing_log: Schema.Array(LogEntry)
  }, more),
  { strict: false }
)

/**
 * The triggers and the latest entries of the log.
 *
 * @since 0.1.0
 * @category models
 */
export type StateResponse = typeof StateResponse.Type

const operations = {
  register: Operation.post({ owner: "sdk", request: RegisterRequest, response: RegisterResponse }),
  decide: Operation.post({
    owner: "sdk",
    path: "/ext/triggers/decide",
    request: DecideRequest,
    response: DecideResponse
  }),
  state: Operation.get({ owner: "sdk", response: StateResponse })
} as const

/**
 * The triggers of an agent. The library answers all of it; an agent that answers it itself overrides the three operations together
 * (B-REG-14), and may ask the service `Triggers` for what the library would have answered (B-REG-15).
 *
 * @since 0.1.0
 * @category constructors
 */
export const TriggersV1: Extension<"urn:agentenv:triggers/v1", typeof operations, {}, never, "standard"> = standard
  .make(
    "urn:agentenv:triggers/v1",
    {
      description: "Takes triggers for a conversation, and decides turn by turn what they make of it.",
      endpoint: "/ext/triggers",
      operations
    }
  )
