/**
 * The MCP servers that the platform gives an agent.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Contract from "../Contract.ts"
import type { Extension } from "../Extension.ts"
import { closed } from "../internal/json.ts"
import * as standard from "../internal/standard.ts"
import * as Operation from "../Operation.ts"

/**
 * What `add` takes: a URL, headers to send with every request, and the name under which tasks see the server (B-MCP-1). Header values
 * are secrets.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AddRequest = Schema.Struct({
  url: Schema.String,
  headers: Schema.optionalWith(Schema.Redacted(Schema.Record({ key: Schema.String, value: Schema.String })), {
    nullable: true
  }),
  name: Schema.optionalWith(Schema.String, { nullable: true })
}).annotations(closed)

/**
 * What `add` takes.
 *
 * @since 0.1.0
 * @category models
 */
export interface AddRequest extends Schema.Schema.Type<typeof AddRequest> {}

/**
 * What `add` answers: the server's name, minted when none was given (B-MCP-2, B-MCP-3). An override may add to it; the card doesn't
 * say it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AddResponse = Schema.Struct(
  { status: Schema.Literal("added"), name: Schema.String, url: Schema.String },
  { key: Schema.String, value: Schema.Unknown }
).annotations(Contract.unlisted)

/**
 * What `add` answers.
 *
 * @since 0.1.0
 * @category models
 */
export type AddResponse = typeof AddResponse.Type

/**
 * A server as `list` shows it: whether it has headers, never which (B-MCP-4).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListedServer = Schema.Struct({ url: Schema.String, has_headers: Schema.Boolean })

/**
 * A server as `list` shows it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ListedServer extends Schema.Schema.Type<typeof ListedServer> {}

/**
 * What `list` answers: the servers by name (B-MCP-4). An override may add to it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListResponse = Schema.Struct(
  { mcp_servers: Schema.Record({ key: Schema.String, value: ListedServer }) },
  { key: Schema.String, value: Schema.Unknown }
)

/**
 * What `list` answers.
 *
 * @since 0.1.0
 * @category models
 */
export type ListResponse = typeof ListResponse.Type

const operations = {
  add: Operation.post({ request: AddRequest, response: AddResponse, owner: "sdk" }),
  list: Operation.get({ response: ListResponse, owner: "sdk" })
} as const

/**
 * The MCP servers that the platform gives an agent. The library keeps them.
 *
 * @since 0.1.0
 * @category constructors
 */
export const McpConfigV1: Extension<"urn:agentenv:mcp-config/v1", typeof operations, {}, never, "standard"> = standard
  .make("urn:agentenv:mcp-config/v1", {
    description: "Registers MCP servers for the agent's tasks.",
    endpoint: "/ext/mcp-config",
    operations
  })
