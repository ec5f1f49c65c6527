/**
 * The interface manifest: how a command line can present an environment's tools as entities with commands (area MAN of the
 * contract).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { ExtensionEntry } from "./EnvironmentCard.ts"

/**
 * The URI under which a card says where manifests are served (`B-MAN-3`).
 *
 * @since 0.1.0
 * @category models
 */
export const URI = "urn:agentenv:get-interfaces/v1"

/**
 * The path that lists the names of an environment's interfaces; a manifest is served below it, by name (`B-MAN-3`).
 *
 * @since 0.1.0
 * @category models
 */
export const ENDPOINT = "/agentenv/interface-manifest"

/**
 * The revision of the manifest that this module writes (`B-MAN-1`).
 *
 * @since 0.1.0
 * @category models
 */
export const VERSION = "0.1.0"

/**
 * The interface that manifests describe.
 *
 * @since 0.1.0
 * @category models
 */
export const INTERFACE = "cli"

const text = Schema.optionalWith(Schema.String, { nullable: true })

const list = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(Schema.Array(schema), { default: () => [] })

/**
 * Reads a parameter of a command; `item_type` is that of a list's items.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Param = Schema.Struct({
  name: Schema.String,
  type: Schema.String,
  item_type: text,
  required: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  enum: Schema.optionalWith(Schema.Array(Schema.String), { nullable: true })
})

/**
 * A parameter of a command.
 *
 * @since 0.1.0
 * @category models
 */
export interface Param extends Schema.Schema.Type<typeof Param> {}

/**
 * Reads a command of an entity: the tool that carries it out, and its parameters.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Command = Schema.Struct({
  tool: Schema.String,
  summary: text,
  description: text,
  params: list(Param)
})

/**
 * A command of an entity.
 *
 * @since 0.1.0
 * @category models
 */
export interface Command extends Schema.Schema.Type<typeof Command> {}

/**
 * Reads an entity with its commands by name.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Entity = Schema.Struct({
  entity: Schema.String,
  commands: Schema.Record({ key: Schema.String, value: Command })
})

/**
 * An entity with its commands by name.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entity extends Schema.Schema.Type<typeof Entity> {}

/**
 * Reads a command that belongs to no entity.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Action = Schema.Struct({
  name: Schema.String,
  tool: Schema.String,
  params: list(Param),
  summary: text,
  description: text
})

/**
 * A command that belongs to no entity.
 *
 * @since 0.1.0
 * @category models
 */
export interface Action extends Schema.Schema.Type<typeof Action> {}

/**
 * Reads a manifest: unknown fields are ignored, and absent lists are empty (`B-MAN-1`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Manifest = Schema.Struct({
  service: Schema.String,
  manifest_version: Schema.optionalWith(Schema.String, { default: () => VERSION }),
  interface: Schema.optionalWith(Schema.String, { default: () => INTERFACE }),
  entities: list(Entity),
  actions: list(Action)
})

/**
 * An interface manifest.
 *
 * @since 0.1.0
 * @category models
 */
export interface Manifest extends Schema.Schema.Type<typeof Manifest> {}

/**
 * Builds the card's entry of an environment that serves manifests (`B-MAN-3`).
 *
 * @since 0.1.0
 * @category constructors
 */
export const extension = (options?: {
  readonly endpoint?: string | undefined
  readonly description?: string | undefined
}): ExtensionEntry => ({
  uri: URI,
  description: options?.description ?? "Serves how a command line can present the tools of this environment.",
  params: { endpoint: options?.endpoint ?? ENDPOINT },
  required: null
})

/**
 * What an operation does to an entity.
 *
 * @since 0.1.0
 * @category models
 */
export type OperationKind = "list" | "read" | "create" | "update" | "delete"

const commands: Readonly<Record<OperationKind, string>> = {
  list: "list",
  read: "get",
  create: "create",
  update: "update",
  delete: "delete"
}

/**
 * Names the command of a kind of operation: `read` is `get`, the others keep their name (`B-MAN-3`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const commandName = (kind: OperationKind): string => commands[kind]

const version = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(?:0|[1-9]\d*)$/

/**
 * Says whether a served revision can be read by one who knows `supported`: the same major, and before 1.0 the same minor
 * (`B-MAN-2`). What is no `x.y.z` can't.
 *
 * @since 0.1.0
 * @category guards
 */
export const compatible = (served: unknown, supported: string = VERSION): boolean => {
  const theirs = typeof served === "string" ? version.exec(served) : null
  const ours = version.exec(supported)
  if (theirs === null || ours === null || theirs[1] !== ours[1]) return false
  return ours[1] !== "0" || theirs[2] === ours[2]
}

const encode = Schema.encodeSync(Manifest)

/**
 * Writes a manifest as indented JSON with a newline at its end and without absent fields (`B-MAN-1`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const serialize = (manifest: Manifest): string => `${JSON.stringify(encode(manifest), null, 2)}\n`
