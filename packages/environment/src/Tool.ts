/**
 * @since 0.1.0
 */
import type { Problem, Settled } from "@effect-agentenv/protocol/Check"
import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"

/**
 * @since 0.1.0
 * @category models
 */
export const TypeId: unique symbol = Symbol.for("@effect-agentenv/environment/Tool")

/**
 * @since 0.1.0
 * @category models
 */
export type TypeId = typeof TypeId

/**
 * A tool as data: what a model reads to call it and what its handler must accept and answer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tool<
  Name extends string,
  Parameters extends Schema.Struct.Fields,
  Success extends Schema.Schema.Any,
  Failure extends Schema.Schema.All
> {
  readonly [TypeId]: TypeId
  readonly name: Name
  readonly title: string | undefined
  readonly description: string
  readonly parameters: Schema.Struct<Parameters>
  readonly success: Success
  readonly failure: Failure
  readonly strict: boolean
  readonly hiddenByDefault: boolean
  readonly structured: boolean
  readonly output: Schema.Schema.Any | undefined
  readonly annotations: Mcp.ToolAnnotations | undefined
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly timeout: Duration.DurationInput | undefined
}

/**
 * Any tool, for constraints.
 *
 * @since 0.1.0
 * @category models
 */
export interface Any {
  readonly [TypeId]: TypeId
  readonly name: string
  readonly title: string | undefined
  readonly description: string
  readonly parameters: Schema.Schema.All & { readonly fields: Schema.Struct.Fields }
  readonly success: Schema.Schema.Any
  readonly failure: Schema.Schema.All
  readonly strict: boolean
  readonly hiddenByDefault: boolean
  readonly structured: boolean
  readonly output: Schema.Schema.Any | undefined
  readonly annotations: Mcp.ToolAnnotations | undefined
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly timeout: Duration.DurationInput | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export type Name<T extends Any> = T["name"]

/**
 * What a tool's handler is given.
 *
 * @since 0.1.0
 * @category models
 */
export type Parameters<T extends Any> = Schema.Schema.Type<T["parameters"]>

/**
 * What a tool's handler answers.
 *
 * @since 0.1.0
 * @category models
 */
export type Success<T extends Any> = Schema.Schema.Type<T["success"]>

/**
 * The failure that a tool declares; `never` without one.
 *
 * @since 0.1.0
 * @category models
 */
export type Failure<T extends Any> = Schema.Schema.Type<T["failure"]>

/**
 * What decoding a tool's arguments and encoding its answers need.
 *
 * @since 0.1.0
 * @category models
 */
export type SchemaContext<T extends Any> = Schema.Schema.Context<T["parameters"] | T["success"] | T["failure"]>

type FieldsOf<P> = P extends Schema.Struct<infer Fields> ? Fields : P extends Schema.Struct.Fields ? P : never

type Resolved<Name extends string> = Name extends `${infer Head}{environment_name}${infer Tail}`
  ? `${Head}${Resolved<Tail>}`
  : Name

type UnresolvedPlaceholder<Name extends string> = Resolved<Name> extends `${string}{${infer Inner}}${string}`
  ? Problem<`'{${Inner}}' is no placeholder: only '{environment_name}' is`>
  : unknown

type OutputOf<Success> = [Success] extends [typeof Mcp.CallToolResult] ? Schema.Schema.Any
  : Problem<"only a tool whose success is Mcp.CallToolResult states its output: others' is derived from success">

/**
 * What `make` takes beside the name.
 *
 * - `parameters`: the arguments as fields or a `Schema.Struct`; none when left out. Unknown arguments are ignored and the JSON
 *   Schema stays open, unless `strict`.
 * - `success`: what the handler answers. A struct is sent as structured content and as JSON text, any other type wrapped as
 *   `{ result }` (a string is its own text), `Mcp.CallToolResult` untouched (B-TOOL-5); nothing when left out.
 * - `structured: false`: the answer is sent as text alone, and no output schema is listed (B-TOOL-4).
 * - `output`: with `success: Mcp.CallToolResult` the schema of the structured content, for the list alone (B-TOOL-5).
 * - `failure`: a typed failure, sent as an MCP tool error. `AgentEnvError` and other `Error`s need no declaration.
 * - `timeout`: past it the handler is interrupted and the call answers `AgentEnvError` `timeout`, `applied: "unknown"`.
 * - `hiddenByDefault`: gateways and tool access hide it from every role until a rule names it (B-TOOL-3, B-ACC-7).
 * - `annotations`, `meta`: hints for clients, listed by `tools/list` (B-TOOL-1, B-TOOL-2).
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<P, Success, Failure> {
  readonly description: string
  readonly title?: string | undefined
  readonly parameters?: P
  readonly success?: Success
  readonly failure?: Failure
  readonly structured?: boolean | undefined
  readonly output?: OutputOf<Success> | undefined
  readonly strict?: boolean | undefined
  readonly hiddenByDefault?: boolean | undefined
  readonly annotations?: Mcp.ToolAnnotations | undefined
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly timeout?: Duration.DurationInput | undefined
}

/**
 * Defines a tool. `{environment_name}` in the name stands for the environment's (B-ENV-12); any other `{…}` does not compile
 * (B-ENV-11), nor do parameters that are no struct.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <
  const Name extends string,
  P extends Schema.Struct.Fields | Schema.Struct<any> = {},
  Success extends Schema.Schema.Any = typeof Schema.Void,
  Failure extends Schema.Schema.All = typeof Schema.Never
>(
  name: UnresolvedPlaceholder<Name> & Name,
  options: Options<P, Success, Failure>
): Tool<Name, FieldsOf<P>, Settled<Success, Schema.Schema.Any>, Settled<Failure, Schema.Schema.All>> => ({
  [TypeId]: TypeId,
  name,
  title: options.title,
  description: options.description,
  // fields or a struct of them: `FieldsOf` says the same to the compiler
  parameters: (Schema.isSchema(options.parameters)
    ? options.parameters
    : Schema.Struct(options.parameters ?? {})) as never,
  // the defaults of the type parameters
  success: (options.success ?? Schema.Void) as never,
  failure: (options.failure ?? Schema.Never) as never,
  strict: options.strict ?? false,
  hiddenByDefault: options.hiddenByDefault ?? false,
  structured: options.structured ?? true,
  // anything else does not compile
  output: options.output as Schema.Schema.Any | undefined,
  annotations: options.annotations,
  meta: options.meta,
  timeout: options.timeout
})
