/**
 * What an environment says it takes on `data/add` and answers on `data/get`, and whether some data would fit (areas INTK and PRE
 * of the contract).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { type EnvironmentCard, type ExtensionEntry, extensionParams } from "./EnvironmentCard.ts"

/**
 * The URI of the declaration, which has no route (`B-INTK-1`).
 *
 * @since 0.1.0
 * @category models
 */
export const URI = "urn:agentenv:intake/v1"

const text = Schema.optionalWith(Schema.String, { nullable: true })

/**
 * Reads one format of parts: its name, how a load treats what is there already, and for `data` the collections with the
 * fields that their items need (`B-INTK-1`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const IntakeFormat = Schema.Struct({
  part: Schema.Literal("data", "file", "text"),
  format: Schema.String,
  mimeTypes: Schema.optionalWith(Schema.Array(Schema.String), { nullable: true }),
  load: Schema.optionalWith(Schema.Literal("additive", "replace"), { nullable: true }),
  bundleLayout: text,
  tables: Schema.optionalWith(
    Schema.Record({ key: Schema.String, value: Schema.Record({ key: Schema.String, value: Schema.Unknown }) }),
    { nullable: true }
  )
})

/**
 * One format of parts.
 *
 * @since 0.1.0
 * @category models
 */
export interface IntakeFormat extends Schema.Schema.Type<typeof IntakeFormat> {}

/**
 * Reads what an environment declares: the formats it takes and those it answers (`B-INTK-1`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const IntakeDeclaration = Schema.Struct({
  add: Schema.optionalWith(Schema.Array(IntakeFormat), { nullable: true }),
  get: Schema.optionalWith(Schema.Array(IntakeFormat), { nullable: true })
})

/**
 * What an environment declares.
 *
 * @since 0.1.0
 * @category models
 */
export interface IntakeDeclaration extends Schema.Schema.Type<typeof IntakeDeclaration> {}

/**
 * The description that a declaration has unless its author gives one.
 *
 * @since 0.1.0
 * @category models
 */
export const DESCRIPTION = "Names the data that this environment loads and returns."

/**
 * Builds the card's entry of a declaration, without the fields that say nothing (`B-INTK-1`).
 *
 * @since 0.1.0
 * @category constructors
 */
export const extension = (
  declaration: IntakeDeclaration,
  options?: { readonly description?: string | undefined }
): ExtensionEntry => ({
  uri: URI,
  description: options?.description ?? DESCRIPTION,
  params: {
    ...(declaration.add === undefined ? {} : { add: declaration.add.map(said) }),
    ...(declaration.get === undefined ? {} : { get: declaration.get.map(said) })
  },
  required: null
})

const said = (format: IntakeFormat): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(format).filter(([, value]) => value !== undefined))

/**
 * Reads a card's declaration: `undefined`, which is no claim, when there is none or it is empty (`B-INTK-2`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromCard = (
  card: EnvironmentCard
): Effect.Effect<IntakeDeclaration | undefined, ParseResult.ParseError> => {
  const params = extensionParams(card, URI)
  return Object.keys(params).length === 0 ? Effect.succeed(undefined) : decode(params)
}

const decode = Schema.decodeUnknown(IntakeDeclaration)

/**
 * Lists why a data part would not fit, before it is sent; an empty list says that nothing speaks against it (`B-PRE-1`).
 *
 * No declaration claims nothing, so everything fits. Only lists at the top level are collections; their items may have more
 * fields than those required.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fitCheck = (
  declaration: IntakeDeclaration | undefined,
  data: Readonly<Record<string, unknown>>,
  options?: { readonly format?: string | undefined }
): ReadonlyArray<string> => {
  if (declaration === undefined || Object.values(declaration).every((formats) => formats === undefined)) return []
  const format = options?.format ?? "json"
  const declared = declaration.add ?? []
  const fitting = declared.filter((each) => each.part === "data" && each.format === format)
  if (fitting.length === 0) {
    const names = declared.map((each) => `${each.part}/${each.format}`).join(", ")
    return [`data/add does not accept part=data format=${format} (it declares ${names || "nothing"})`]
  }
  const checked = fitting.map(({ tables }) => unfit(tables ?? {}, data))
  return checked.find((problems) => problems.length === 0) ?? checked[0] ?? []
}

const unfit = (
  tables: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  data: Readonly<Record<string, unknown>>
): ReadonlyArray<string> => {
  if (Object.keys(tables).length === 0) return []
  return Object.entries(data).flatMap(([collection, items]) => {
    if (!Array.isArray(items)) return []
    if (!Object.hasOwn(tables, collection)) {
      return [`collection '${collection}' is not accepted (declared: ${Object.keys(tables).join(", ")})`]
    }
    const required = tables[collection]?.["required"]
    const fields = Array.isArray(required) ? required.filter(Predicate.isString) : []
    return items.flatMap((item: unknown, index) => {
      if (!Predicate.isReadonlyRecord(item)) return []
      const missing = fields.filter((field) => !Object.hasOwn(item, field))
      return missing.length === 0 ? [] : [`${collection}[${index}]: missing required field ${missing.join(", ")}`]
    })
  })
}
