/**
 * @since 0.1.0
 */
import type { Settled, Str, Verdict } from "@effect-agentenv/protocol/Check"
import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as Schema from "effect/Schema"

/**
 * @since 0.1.0
 * @category models
 */
export const TypeId: unique symbol = Symbol.for("@effect-agentenv/environment/Prompt")

/**
 * @since 0.1.0
 * @category models
 */
export type TypeId = typeof TypeId

/**
 * What a prompt answers: one message of the user, or messages of both sides.
 *
 * @since 0.1.0
 * @category models
 */
export type Messages = string | ReadonlyArray<Mcp.PromptMessage>

/**
 * An MCP prompt as data.
 *
 * @since 0.1.0
 * @category models
 */
export interface Prompt<Name extends string, Args extends Schema.Struct.Fields> {
  readonly [TypeId]: TypeId
  readonly name: Name
  readonly title: string | undefined
  readonly description: string | undefined
  readonly arguments: Schema.Struct<Args>
}

/**
 * Any prompt, for constraints.
 *
 * @since 0.1.0
 * @category models
 */
export interface Any {
  readonly [TypeId]: TypeId
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly arguments: Schema.Schema.All & { readonly fields: Schema.Struct.Fields }
}

type Textual<Args extends Schema.Struct.Fields> = {
  readonly [K in keyof Args]: [Schema.Struct.Encoded<Args>[K & keyof Schema.Struct.Encoded<Args>]] extends
    [string | undefined] ? never
    : `argument '${Str<K>}' is not encoded as text, which is all that MCP sends`
}[keyof Args]

/**
 * Defines a prompt. MCP sends its arguments as text, so each is a schema that decodes from a string.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <const Name extends string, Args extends Schema.Struct.Fields = {}>(name: Name, options: {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly arguments?: Verdict<Textual<Args>> & Args
} = {}): Prompt<Name, Settled<Args, Schema.Struct.Fields>> => ({
  [TypeId]: TypeId,
  name,
  title: options.title,
  description: options.description,
  // no arguments are an empty struct, as the type parameter's default says
  arguments: Schema.Struct(options.arguments ?? {}) as never
})
