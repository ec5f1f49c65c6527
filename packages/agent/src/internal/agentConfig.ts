import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Any, Declaration, FieldTypeId } from "../AgentConfig.ts"
import { RegistryError } from "../RegistryError.ts"
import * as json from "./json.ts"

// not imported, since this module is loaded while the one that declares it is
const fieldTypeId: FieldTypeId = Symbol.for("@effect-agentenv/agent/AgentConfig/Field") as FieldTypeId

/** A field with its names. */
export interface Named extends Declaration {
  readonly property: string
  readonly wire: string
}

const byWire: Order.Order<Named> = Order.mapInput(Order.string, ({ wire }) => wire)

/** The fields, sorted by wire name. */
export const fieldsOf = (config: Any): ReadonlyArray<Named> =>
  Arr.sort(
    Object.entries(config.fields).map(([property, field]): Named => {
      const declaration = (field as unknown as { readonly [_ in FieldTypeId]: Declaration })[fieldTypeId]
      return { ...declaration, property, wire: declaration.alias ?? property }
    }),
    byWire
  )

/** A default that stays out of logs like what is set in its place. */
export const redacted = (value: () => unknown) => (): Redacted.Redacted<unknown> => Redacted.make(value())

/** The card's JSON Schema. */
export const jsonSchema = (config: Any): Effect.Effect<WireSchema.ObjectSchema, WireSchema.WireSchemaError> =>
  Effect.map(
    WireSchema.toolInput(Schema.Struct(config.fields) as Schema.Schema.Any, { strict: true, defaults: false }),
    (schema) => {
      const secret = new Set(fieldsOf(config).filter((field) => field.writeOnly).map((field) => field.wire))
      return {
        ...schema,
        properties: Object.fromEntries(
          Object.entries(schema.properties).map(([name, property]) => [
            name,
            secret.has(name) ? { ...(property as object), writeOnly: true } : property
          ])
        )
      }
    }
  )

type Issues = ReadonlyArray<WireSchema.Issue>

const copied = (value: unknown, path: string): Effect.Effect<unknown, Issues> =>
  Effect.mapError(json.copy(value), ({ message }) => [{ path, message }])

/** A value that nobody can change. */
const isPrimitive = (value: unknown): boolean =>
  typeof value !== "object" && typeof value !== "function" || value === null

/** Computes the default anew, as it would stand on the wire; one that is the same text or number as before is not encoded again. */
const encodedDefault = (field: Named): Effect.Effect<unknown, Issues> => {
  const encode = Schema.encodeUnknown(field.schema)
  // no default is this very object
  let last: unknown = {}
  let written: unknown
  return Effect.suspend(() => {
    let value: unknown
    try {
      value = field.default()
    } catch {
      return Effect.fail([{ path: field.wire, message: "its default can't be computed" }])
    }
    if (Object.is(value, last)) return Effect.succeed(written)
    const encoded = Effect.mapError(encode(value), WireSchema.issues)
    return Effect.flatMap(
      encoded,
      (encoded) =>
        encoded === undefined ? Effect.succeed(undefined) : Effect.map(copied(encoded, field.wire), (copy) => {
          if (isPrimitive(value) && isPrimitive(copy)) {
            last = value
            written = copy
          }
          return copy
        })
    )
  })
}

/**
 * Reads what was set over the defaults. Defaults take the way over the wire like what is set, so that nothing an author holds is
 * ever shared between tasks.
 */
export const decoder = (config: Any): (set: A2a.JsonObject) => Effect.Effect<any, Issues> => {
  const fields = fieldsOf(config).map((field) => ({ wire: field.wire, encoded: encodedDefault(field) }))
  const decode = Schema.decodeUnknown(config, { errors: "all", onExcessProperty: "error" })
  return (set) =>
    Effect.gen(function*() {
      const wire = (yield* copied(set, "")) as Record<string, unknown>
      for (const field of fields) {
        if (Object.hasOwn(wire, field.wire)) continue
        const value = yield* field.encoded
        if (value !== undefined) wire[field.wire] = value
      }
      return yield* Effect.mapError(decode(wire), WireSchema.issues)
    })
}

const sentences = (issues: Issues): string => issues.map(({ message }) => message).join(", ")

const survives = (field: Named): Effect.Effect<boolean, Issues> =>
  Effect.gen(function*() {
    const wire = yield* encodedDefault(field)
    if (wire === undefined) return true
    const decode = Schema.decodeUnknown(field.schema, { errors: "all", onExcessProperty: "error" })
    const value = yield* Effect.mapError(decode(wire), WireSchema.issues)
    const again = yield* Effect.mapError(Schema.encodeUnknown(field.schema)(value), WireSchema.issues)
    return JSON.stringify(wire) === JSON.stringify(again)
  })

/** What types can't say of a configuration (B-REG-25). */
export const check = (agent: string, config: Any): Effect.Effect<void, RegistryError> => {
  const refuse = (subject: string, problem: string, mend: string) =>
    new RegistryError({ agent, subject: `configuration ${subject}`, problem, mend })
  return Effect.gen(function*() {
    for (const field of fieldsOf(config)) {
      const mend = "give a default that its schema encodes to JSON and decodes to the same value"
      const stable = yield* Effect.mapError(
        survives(field),
        (issues) =>
          refuse(`field '${field.property}'`, `its default does not survive the wire (${sentences(issues)})`, mend)
      )
      if (!stable) {
        return yield* refuse(`field '${field.property}'`, "its default does not survive the wire", mend)
      }
    }
    yield* Effect.mapError(
      jsonSchema(config),
      ({ message }) => refuse(`'${config.identifier}'`, message, "use schemas that JSON Schema can say")
    )
  })
}
