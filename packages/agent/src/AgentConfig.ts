/**
 * The configuration of an agent as a class: what the platform may set, under which names, and what holds when it did not.
 *
 * @since 0.1.0
 */
import type * as A2a from "@effect-agentenv/protocol/A2a"
import type { Str, Verdict } from "@effect-agentenv/protocol/Check"
import type * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as internal from "./internal/agentConfig.ts"
import type { RegistryError } from "./RegistryError.ts"

/**
 * @since 0.1.0
 * @category models
 */
export const FieldTypeId: unique symbol = Symbol.for("@effect-agentenv/agent/AgentConfig/Field")

/**
 * @since 0.1.0
 * @category models
 */
export type FieldTypeId = typeof FieldTypeId

/**
 * What a field knows of itself: `schema` reads it from the wire, `default` answers a value of that schema's decoded side.
 *
 * @since 0.1.0
 * @category models
 */
export interface Declaration {
  readonly schema: Schema.Schema<any, any>
  readonly default: () => unknown
  readonly alias: string | undefined
  readonly writeOnly: boolean
}

/**
 * A field of a configuration: it has a default, and `Key` is its name on the wire (`never` when it is the field's own).
 *
 * @since 0.1.0
 * @category models
 */
export interface Field<Type, Encoded, Key extends PropertyKey = never, R = never>
  extends Schema.PropertySignature<":", Type, Key, "?:", Encoded, true, R>
{
  readonly [FieldTypeId]: Declaration
}

/**
 * What `field` and `writeOnly` take. Every field has a default, so that a partial update can be held against the whole (B-REG-25);
 * each task asks for it anew. `alias` is the name on the wire (B-CFG-4), `description` stands in the JSON Schema of the card.
 *
 * @since 0.1.0
 * @category models
 */
export interface FieldOptions<Type> {
  readonly default: () => Type
  readonly alias?: string | undefined
  readonly description?: string | undefined
}

/**
 * The wire name that options give, `never` without one.
 *
 * @since 0.1.0
 * @category models
 */
export type AliasOf<O> = O extends { readonly alias: infer Alias extends string } ? Alias : never

const makeField = (schema: Schema.Schema<any, any>, options: FieldOptions<any>, writeOnly: boolean): any => {
  const optional = Schema.optionalWith(schema, { default: options.default }).annotations(
    options.description === undefined ? {} : { description: options.description }
  )
  const declaration: Declaration = { schema, default: options.default, alias: options.alias, writeOnly }
  return Object.assign(options.alias === undefined ? optional : Schema.fromKey(optional, options.alias), {
    [FieldTypeId]: declaration
  })
}

/**
 * A field that is set and read back under `alias`, or under its own name without one (B-CFG-4).
 *
 * @since 0.1.0
 * @category constructors
 */
export const field = <S extends Schema.Schema.All, const O extends FieldOptions<Schema.Schema.Type<S>>>(
  schema: S,
  options: O
): Field<Schema.Schema.Type<S>, Schema.Schema.Encoded<S>, AliasOf<O>, Schema.Schema.Context<S>> =>
  makeField(Schema.asSchema(schema as Schema.Schema<any, any>), options, false)

/**
 * A secret: a task gets it as `Redacted`, readback shows it as `"***"`, and the JSON Schema says `writeOnly` (B-CFG-6). Its default
 * is the bare value.
 *
 * @since 0.1.0
 * @category constructors
 */
export const writeOnly = <S extends Schema.Schema.All, const O extends FieldOptions<Schema.Schema.Type<S>>>(
  schema: S,
  options: O
): Field<Redacted.Redacted<Schema.Schema.Type<S>>, Schema.Schema.Encoded<S>, AliasOf<O>, Schema.Schema.Context<S>> =>
  makeField(
    Schema.Redacted(schema as Schema.Schema<any, any>),
    { ...options, default: internal.redacted(options.default) },
    true
  )

/**
 * The fields that every configuration has (B-CFG-2).
 *
 * @since 0.1.0
 * @category models
 */
export type BaseFields = {
  readonly name: Field<string | null, string | null>
  readonly description: Field<string | null, string | null>
  readonly role: Field<string | null, string | null>
  readonly timeoutSeconds: Field<number, number, "timeout_seconds">
}

/** Whole seconds, which are written as a number; whoever sends the digits as text, or a truth, is understood as by the reference. */
const Seconds = Schema.Union(
  Schema.Int,
  Schema.transform(
    Schema.Union(Schema.Boolean, Schema.String.pipe(Schema.pattern(/^\s*[+-]?\d{1,15}(\.0*)?\s*$/))),
    Schema.Int,
    {
      strict: true,
      decode: Number,
      encode: String
    }
  )
).annotations({
  jsonSchema: { type: "integer" },
  message: () => ({ message: "expected integer", override: true })
}) as Schema.Schema<any, number> as Schema.Schema<number>

const baseFields: BaseFields = {
  name: field(Schema.NullOr(Schema.String), {
    default: () => null,
    description: "The name that the agent goes by, instead of its own."
  }),
  description: field(Schema.NullOr(Schema.String), {
    default: () => null,
    description: "What the agent is said to do, instead of its own description."
  }),
  role: field(Schema.NullOr(Schema.String), { default: () => null, description: "The role that the agent plays." }),
  timeoutSeconds: field(Seconds, {
    default: () => 600,
    alias: "timeout_seconds",
    description: "How long one task may take."
  })
}

const Base: Schema.Class<
  AgentConfig,
  BaseFields,
  Schema.Struct.Encoded<BaseFields>,
  never,
  Schema.Struct.Constructor<BaseFields>,
  {},
  {}
> = Schema.Class<AgentConfig>("@effect-agentenv/agent/AgentConfig")(baseFields) as never

/**
 * The configuration of an agent that declares none, and the parent of every other. The agent itself applies `timeoutSeconds` to what
 * it runs.
 *
 * @since 0.1.0
 * @category models
 */
export class AgentConfig extends Base {}

/**
 * Any configuration class, for constraints.
 *
 * @since 0.1.0
 * @category models
 */
export interface Any extends Schema.Schema<any, any> {
  readonly identifier: string
  readonly fields: Schema.Struct.Fields
  new(...args: any): AgentConfig
}

/**
 * What `extend` answers: a class to extend, so that it has a name.
 *
 * @since 0.1.0
 * @category models
 */
export type Extended<Self, F extends Schema.Struct.Fields> = Schema.Class<
  Self,
  BaseFields & F,
  Schema.Struct.Encoded<BaseFields & F>,
  Schema.Struct.Context<F>,
  Schema.Struct.Constructor<BaseFields & F>,
  AgentConfig,
  {}
>

type WireName<K, F> = F extends Schema.PropertySignature<any, any, infer Key, any, any, any, any>
  ? [Key] extends [never] ? K : Key
  : K

type WireNames<F, Other> = { readonly [K in keyof F]: WireName<K, F[K]> }[Exclude<keyof F, Other>]

type SharedWireName<K extends keyof F, F> = K extends keyof BaseFields ? `every configuration has a field '${Str<K>}'`
  : WireName<K, F[K]> extends WireNames<F, K> | WireNames<BaseFields, never>
    ? `two fields share the wire name '${Str<WireName<K, F[K]>>}'`
  : never

/**
 * What is wrong with the fields of a configuration: one without a default, one that every configuration has, two with one wire name.
 *
 * @since 0.1.0
 * @category models
 */
export type FieldsProblem<F> = {
  readonly [K in keyof F]: F[K] extends { readonly [FieldTypeId]: unknown } ? SharedWireName<K, F>
    : `field '${Str<K>}' has no default: AgentConfig.field(schema, { default })`
}[keyof F]

/**
 * Declares a configuration: `class MyConfig extends AgentConfig.extend<MyConfig>("MyConfig")({ … }) {}`. A field without a default,
 * or two fields with one wire name, do not compile (B-REG-25); wire names that only the run knows throw when they clash.
 *
 * @since 0.1.0
 * @category constructors
 */
export const extend = <Self = never>(identifier: string) =>
<const F extends Schema.Struct.Fields>(
  fields: Verdict<FieldsProblem<F>> & F
): [Self] extends [never] ? "say the class itself: AgentConfig.extend<MyConfig>(\"MyConfig\")({ … })"
  : Extended<Self, F> => AgentConfig.extend<any>(identifier)(fields as never) as never

/**
 * One field as the wire sees it.
 *
 * @since 0.1.0
 * @category models
 */
export interface FieldInfo {
  readonly property: string
  readonly wire: string
  readonly writeOnly: boolean
}

/**
 * The fields of a configuration, the inherited ones too, sorted by their wire names.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fields = (config: Any): ReadonlyArray<FieldInfo> =>
  internal.fieldsOf(config).map(({ property, wire, writeOnly }) => ({ property, wire, writeOnly }))

/**
 * The wire names that can be set, sorted (B-CFG-1).
 *
 * @since 0.1.0
 * @category combinators
 */
export const wireNames = (config: Any): ReadonlyArray<string> => internal.fieldsOf(config).map(({ wire }) => wire)

/**
 * The JSON Schema of a configuration as the card shows it: closed, without any default at whatever depth (B-CFG-3), by wire names
 * (B-CFG-4), with `"writeOnly": true` on secrets (B-CFG-6).
 *
 * @since 0.1.0
 * @category combinators
 */
export const jsonSchema = (config: Any): Effect.Effect<WireSchema.ObjectSchema, WireSchema.WireSchemaError> =>
  internal.jsonSchema(config)

/**
 * What was set is no part of a valid configuration: where and why, never with a value.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidConfig
  extends Schema.TaggedError<InvalidConfig>("@effect-agentenv/agent/AgentConfig/InvalidConfig")("InvalidConfig", {
    issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return this.issues.map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join("\n")
  }
}

/**
 * Compiles the reading of a configuration: what was set, by wire names, over the defaults. Each reading is a copy of its own, down to
 * its nested values (B-CFG-11). Names that are no field's are refused (B-CFG-4, B-CFG-7).
 *
 * @since 0.1.0
 * @category combinators
 */
export const decoder = <C extends Any>(
  config: C
): (set: A2a.JsonObject) => Effect.Effect<InstanceType<C>, InvalidConfig> => {
  const decode = internal.decoder(config)
  return (set) => Effect.mapError(decode(set), (issues) => new InvalidConfig({ issues }))
}

/**
 * What types can't say of a configuration: that every default survives the way to the wire and back, and that there is a JSON Schema
 * (B-REG-25).
 *
 * @since 0.1.0
 * @category combinators
 */
export const check = (agent: string, config: Any): Effect.Effect<void, RegistryError> => internal.check(agent, config)
