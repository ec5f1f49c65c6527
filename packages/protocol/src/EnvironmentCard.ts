/**
 * The card of an environment: what it is called, where it listens, and which operations, tools and extensions it serves.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

const Params = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/**
 * The path of the card below an environment's base URL (`B-ENV-1`).
 *
 * @since 0.1.0
 * @category models
 */
export const PATH = "/.well-known/agent-env.json"

/**
 * The revision of the AgentEnv protocol that a card declares (`B-ENV-1`).
 *
 * @since 0.1.0
 * @category models
 */
export const PROTOCOL_VERSION = "1.0"

/**
 * The path of the data plane unless a card says otherwise (`B-ENV-1`).
 *
 * @since 0.1.0
 * @category models
 */
export const RPC_PATH = "/agentenv"

/**
 * The transport of the data plane (`B-ENV-1`).
 *
 * @since 0.1.0
 * @category models
 */
export const RPC_TRANSPORT = "JSONRPC"

/**
 * The path of the tools' endpoint unless a card says otherwise (`B-CLI-6`).
 *
 * @since 0.1.0
 * @category models
 */
export const MCP_PATH = "/mcp"

/**
 * The transport name of the tools' endpoint among a card's interfaces (`B-ENV-13`).
 *
 * @since 0.1.0
 * @category models
 */
export const MCP_TRANSPORT = "mcp"

/**
 * Reads an endpoint beside the data plane (`B-ENV-13`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Interface = Schema.Struct({ url: Schema.String, transport: Schema.String })

/**
 * An endpoint beside the data plane.
 *
 * @since 0.1.0
 * @category models
 */
export interface Interface extends Schema.Schema.Type<typeof Interface> {}

const nullable = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalWith(Schema.NullOr(schema), { default: () => null })

/**
 * Reads an extension of a card (`B-ENV-1`, `B-ENV-6`, `B-MULTI-1`); absent fields decode as `null`, which is how they are served.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ExtensionEntry = Schema.Struct({
  uri: Schema.String,
  description: nullable(Schema.String),
  params: nullable(Params),
  required: nullable(Schema.Boolean)
})

/**
 * An extension of a card.
 *
 * @since 0.1.0
 * @category models
 */
export interface ExtensionEntry extends Schema.Schema.Type<typeof ExtensionEntry> {}

/**
 * Reads a tool of a card, which has these three fields and no other (`B-TOOL-10`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ToolEntry = Schema.Struct({
  name: Schema.String,
  description: nullable(Schema.String),
  inputSchema: nullable(Params)
})

/**
 * A tool of a card.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolEntry extends Schema.Schema.Type<typeof ToolEntry> {}

/**
 * Reads what an environment can do (`B-ENV-1`, `B-ENV-2`); `null` where there is nothing to list.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Capabilities = Schema.Struct({
  extensions: nullable(Schema.Array(ExtensionEntry)),
  tools: nullable(Schema.Array(ToolEntry)),
  operations: nullable(Schema.Array(Schema.String))
})

/**
 * What an environment can do.
 *
 * @since 0.1.0
 * @category models
 */
export interface Capabilities extends Schema.Schema.Type<typeof Capabilities> {}

/**
 * An environment's card (`B-ENV-1`, `B-ENV-16`). Other declared fields pass through (`B-ENV-12`).
 *
 * @since 0.1.0
 * @category models
 */
export interface EnvironmentCard {
  readonly name: string
  readonly protocolVersion: string
  readonly url: string
  readonly preferredTransport: string
  readonly additionalInterfaces: ReadonlyArray<Interface>
  readonly capabilities: Capabilities
  readonly children_environments: ReadonlyArray<EnvironmentCard> | null
  readonly [key: string]: unknown
}

/**
 * What decodes as an `EnvironmentCard`: only `name` must be there, and lists may be `null`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Encoded {
  readonly name: string
  readonly protocolVersion?: string | null | undefined
  readonly url?: string | null | undefined
  readonly preferredTransport?: string | null | undefined
  readonly additionalInterfaces?: ReadonlyArray<Interface> | null | undefined
  readonly capabilities?: typeof Capabilities.Encoded | null | undefined
  readonly children_environments?: ReadonlyArray<Encoded> | null | undefined
  readonly [key: string]: unknown
}

const noCapabilities: Capabilities = { extensions: null, tools: null, operations: null }

/**
 * Reads a peer's card: absent or `null` fields take the protocol's defaults, unknown fields stay (`B-ENV-1`, `B-CLI-3`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const EnvironmentCard: Schema.Schema<EnvironmentCard, Encoded> = Schema.Struct(
  {
    name: Schema.String,
    protocolVersion: Schema.optionalWith(Schema.String, { default: () => PROTOCOL_VERSION, nullable: true }),
    url: Schema.optionalWith(Schema.String, { default: () => RPC_PATH, nullable: true }),
    preferredTransport: Schema.optionalWith(Schema.String, { default: () => RPC_TRANSPORT, nullable: true }),
    additionalInterfaces: Schema.optionalWith(Schema.Array(Interface), { default: () => [], nullable: true }),
    capabilities: Schema.optionalWith(Capabilities, { default: () => noCapabilities, nullable: true }),
    children_environments: nullable(
      Schema.Array(Schema.suspend((): Schema.Schema<EnvironmentCard, Encoded> => EnvironmentCard))
    )
  },
  Params
).annotations({ identifier: "EnvironmentCard" })

/**
 * Finds a card's own extension, `undefined` when it has none of that URI; its children are not searched (`B-CLI-3`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const findExtension = (card: EnvironmentCard, uri: string): ExtensionEntry | undefined =>
  card.capabilities.extensions?.find((entry) => entry.uri === uri)

/**
 * Finds a card's own tool, `undefined` when it has none of that name; its children are not searched (`B-CLI-3`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const findTool = (card: EnvironmentCard, name: string): ToolEntry | undefined =>
  card.capabilities.tools?.find((entry) => entry.name === name)

/**
 * Finds a direct child of an environment by name (`B-CLI-3`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const findChild = (card: EnvironmentCard, name: string): EnvironmentCard | undefined =>
  card.children_environments?.find((child) => child.name === name)

/**
 * Reads an extension's parameters, `{}` where it is absent or has none (`B-CLI-3`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const extensionParams = (card: EnvironmentCard, uri: string): Readonly<Record<string, unknown>> =>
  findExtension(card, uri)?.params ?? {}

/**
 * Lists the names of an extension's methods in the order of its card, for calls and for messages (`B-CLI-5`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const methodNames = (entry: ExtensionEntry): ReadonlyArray<string> => Object.keys(methods(entry))

/**
 * Where and how to call a method of an extension.
 *
 * @since 0.1.0
 * @category models
 */
export interface Method {
  readonly name: string
  readonly verb: string
  readonly endpoint: string
}

/**
 * Finds where and how to call a method, the first one listed when no name is given (`B-CLI-4`, `B-CLI-5`).
 *
 * The endpoint is the method's own, else the extension's; the verb is upper-case, `POST` where none is named. `undefined`
 * when there is no such method or nowhere to call it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const method = (entry: ExtensionEntry, name?: string | undefined): Method | undefined => {
  const listed = methods(entry)
  const chosen = name ?? Object.keys(listed)[0]
  const found = chosen !== undefined && Object.hasOwn(listed, chosen) ? listed[chosen] : undefined
  if (chosen === undefined || !isObject(found)) return undefined
  const endpoint = found["endpoint"] ?? entry.params?.["endpoint"]
  const verb = found["method"] ?? "POST"
  return typeof endpoint === "string" && typeof verb === "string"
    ? { name: chosen, verb: verb.toUpperCase(), endpoint }
    : undefined
}

/**
 * Finds the tools' endpoint: the first `mcp` interface with a path, else `/mcp` (`B-CLI-6`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const mcpPath = (card: EnvironmentCard): string => {
  const declared = card.additionalInterfaces.find((entry) => entry.transport === MCP_TRANSPORT && entry.url !== "")
  return declared?.url ?? MCP_PATH
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isReadonlyRecord(value) && !Array.isArray(value)

const methods = (entry: ExtensionEntry): Readonly<Record<string, unknown>> => {
  const listed = entry.params?.["methods"]
  return isObject(listed) ? listed : {}
}
