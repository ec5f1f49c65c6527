/**
 * The messages of the Model Context Protocol, in both of its eras: with sessions (2025-11-25 and before) and without
 * (2026-07-28). Objects of peers are open: fields that we do not know are kept, so that they can travel on.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as JsonRpc from "./JsonRpc.ts"

const Unknowns = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const open = <Fields extends Schema.Struct.Fields>(
  fields: Fields
): Schema.TypeLiteral<Fields, readonly [typeof Unknowns]> => Schema.Struct(fields, Unknowns)

const text = Schema.optional(Schema.String)
const flag = Schema.optional(Schema.Boolean)
const count = Schema.optional(Schema.Number)
const meta = Schema.optional(Unknowns)

// -----------------------------------------------------------------------------
// Versions, headers and names
// -----------------------------------------------------------------------------

/**
 * The revisions that open a session with `initialize`, newest first.
 *
 * @since 0.1.0
 * @category models
 */
export const SESSION_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const

/**
 * The revisions in which every request carries its own envelope and no session exists, newest first.
 *
 * @since 0.1.0
 * @category models
 */
export const SESSIONLESS_VERSIONS = ["2026-07-28"] as const

/**
 * The revision that an `initialize` with an unknown version is answered with.
 *
 * @since 0.1.0
 * @category models
 */
export const LATEST_SESSION_VERSION = "2025-11-25"

/**
 * The revision that our client offers first, and falls back from.
 *
 * @since 0.1.0
 * @category models
 */
export const LATEST_VERSION = "2026-07-28"

/**
 * The revision to assume of a session-era request that names none.
 *
 * @since 0.1.0
 * @category models
 */
export const ASSUMED_VERSION = "2025-03-26"

/**
 * The HTTP headers of the streamable transport, in lower case: the session's id and revision, and for 2026-07-28 the
 * method and name that must agree with the body.
 *
 * @since 0.1.0
 * @category models
 */
export const Header = {
  SessionId: "mcp-session-id",
  ProtocolVersion: "mcp-protocol-version",
  Method: "mcp-method",
  Name: "mcp-name",
  LastEventId: "last-event-id"
} as const

/**
 * The `_meta` keys that MCP and AgentEnv reserve: the envelope of 2026-07-28, and what a gateway may hide (`B-TOOL-3`).
 *
 * @since 0.1.0
 * @category models
 */
export const MetaKey = {
  ProtocolVersion: "io.modelcontextprotocol/protocolVersion",
  ClientInfo: "io.modelcontextprotocol/clientInfo",
  ClientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  LogLevel: "io.modelcontextprotocol/logLevel",
  ServerInfo: "io.modelcontextprotocol/serverInfo",
  HiddenByDefault: "agentenv.io/hiddenByDefault"
} as const

/**
 * The method names of requests and notifications, in either direction.
 *
 * @since 0.1.0
 * @category models
 */
export const Method = {
  Initialize: "initialize",
  Initialized: "notifications/initialized",
  Ping: "ping",
  Discover: "server/discover",
  Cancelled: "notifications/cancelled",
  Progress: "notifications/progress",
  SetLevel: "logging/setLevel",
  Message: "notifications/message",
  ToolsList: "tools/list",
  ToolsCall: "tools/call",
  ToolsChanged: "notifications/tools/list_changed",
  ResourcesList: "resources/list",
  ResourceTemplatesList: "resources/templates/list",
  ResourcesRead: "resources/read",
  PromptsList: "prompts/list",
  PromptsGet: "prompts/get",
  Elicit: "elicitation/create",
  CreateMessage: "sampling/createMessage",
  RootsList: "roots/list"
} as const

/**
 * The error codes that MCP adds to `JsonRpc.ErrorCode`; the last three belong to 2026-07-28.
 *
 * @since 0.1.0
 * @category models
 */
export const ErrorCode = {
  ResourceNotFound: -32002,
  HeaderMismatch: -32020,
  MissingClientCapability: -32021,
  UnsupportedVersion: -32022
} as const

// -----------------------------------------------------------------------------
// Peers and capabilities
// -----------------------------------------------------------------------------

/**
 * Reads a picture that a client may show beside a name.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Icon = open({
  src: Schema.String,
  mimeType: text,
  sizes: Schema.optional(Schema.Array(Schema.String)),
  theme: Schema.optional(Schema.Literal("light", "dark"))
})

const icons = Schema.optional(Schema.Array(Icon))

/**
 * Reads who a client or a server is.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Implementation = open({
  name: Schema.String,
  version: Schema.String,
  title: text,
  description: text,
  websiteUrl: text,
  icons
})

/**
 * Who a client or a server is.
 *
 * @since 0.1.0
 * @category models
 */
export type Implementation = typeof Implementation.Type

/**
 * Reads what a client can be asked for. A capability is there when its key is, whatever its object holds.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ClientCapabilities = open({
  experimental: meta,
  roots: Schema.optional(open({ listChanged: flag })),
  sampling: Schema.optional(open({ context: meta, tools: meta })),
  elicitation: Schema.optional(open({ form: meta, url: meta }))
})

/**
 * What a client can be asked for.
 *
 * @since 0.1.0
 * @category models
 */
export type ClientCapabilities = typeof ClientCapabilities.Type

/**
 * Reads what a server offers.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ServerCapabilities = open({
  experimental: meta,
  logging: meta,
  completions: meta,
  prompts: Schema.optional(open({ listChanged: flag })),
  resources: Schema.optional(open({ subscribe: flag, listChanged: flag })),
  tools: Schema.optional(open({ listChanged: flag }))
})

/**
 * What a server offers.
 *
 * @since 0.1.0
 * @category models
 */
export type ServerCapabilities = typeof ServerCapabilities.Type

/**
 * Reads the `_meta` of a request: where progress is to be reported, and whatever else its sender stamped on it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RequestMeta = open({ progressToken: Schema.optional(JsonRpc.Id) })

/**
 * The `_meta` of a request.
 *
 * @since 0.1.0
 * @category models
 */
export type RequestMeta = typeof RequestMeta.Type

const requestMeta = Schema.optional(RequestMeta)

/**
 * Reads the envelope that every 2026-07-28 request carries in its `_meta`, in place of a session.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Envelope = open({
  progressToken: Schema.optional(JsonRpc.Id),
  [MetaKey.ProtocolVersion]: Schema.String,
  [MetaKey.ClientInfo]: Schema.optional(Implementation),
  [MetaKey.ClientCapabilities]: ClientCapabilities,
  [MetaKey.LogLevel]: Schema.optional(Schema.String)
})

/**
 * The envelope of a 2026-07-28 request.
 *
 * @since 0.1.0
 * @category models
 */
export type Envelope = typeof Envelope.Type

/**
 * Reads what a client opens a session with.
 *
 * @since 0.1.0
 * @category schemas
 */
export const InitializeParams = open({
  protocolVersion: Schema.String,
  capabilities: ClientCapabilities,
  clientInfo: Implementation,
  _meta: requestMeta
})

/**
 * What a client opens a session with.
 *
 * @since 0.1.0
 * @category models
 */
export type InitializeParams = typeof InitializeParams.Type

/**
 * Reads what a server opens a session with.
 *
 * @since 0.1.0
 * @category schemas
 */
export const InitializeResult = open({
  protocolVersion: Schema.String,
  capabilities: ServerCapabilities,
  serverInfo: Implementation,
  instructions: text,
  _meta: meta
})

/**
 * What a server opens a session with.
 *
 * @since 0.1.0
 * @category models
 */
export type InitializeResult = typeof InitializeResult.Type

/**
 * Reads the answer to `server/discover`, which stands in for `initialize` in 2026-07-28.
 *
 * @since 0.1.0
 * @category schemas
 */
export const DiscoverResult = open({
  supportedVersions: Schema.Array(Schema.String),
  capabilities: ServerCapabilities,
  instructions: text,
  resultType: text,
  ttlMs: count,
  cacheScope: text,
  _meta: meta
})

/**
 * The answer to `server/discover`.
 *
 * @since 0.1.0
 * @category models
 */
export type DiscoverResult = typeof DiscoverResult.Type

// -----------------------------------------------------------------------------
// Content
// -----------------------------------------------------------------------------

/**
 * Reads who speaks in a prompt or a sampled conversation.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Role = Schema.Literal("user", "assistant")

/**
 * Reads hints for the one who shows a piece of content: for whom it is and how much it matters (0 to 1).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Annotations = open({
  audience: Schema.optional(Schema.Array(Role)),
  priority: count,
  lastModified: text
})

const shown = { annotations: Schema.optional(Annotations), _meta: meta }

/**
 * Reads a block of text.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TextContent = open({ type: Schema.Literal("text"), text: Schema.String, ...shown })

/**
 * A block of text.
 *
 * @since 0.1.0
 * @category models
 */
export type TextContent = typeof TextContent.Type

/**
 * Reads an inline image: `data` is base64.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ImageContent = open({
  type: Schema.Literal("image"),
  data: Schema.String,
  mimeType: Schema.String,
  ...shown
})

/**
 * An inline image.
 *
 * @since 0.1.0
 * @category models
 */
export type ImageContent = typeof ImageContent.Type

/**
 * Reads inline sound: `data` is base64.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AudioContent = open({
  type: Schema.Literal("audio"),
  data: Schema.String,
  mimeType: Schema.String,
  ...shown
})

/**
 * Inline sound.
 *
 * @since 0.1.0
 * @category models
 */
export type AudioContent = typeof AudioContent.Type

const resource = { name: Schema.String, title: text, description: text, mimeType: text, icons, ...shown }

/**
 * Reads a resource that a server can be asked for; `size` is in bytes.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Resource = open({ uri: Schema.String, size: count, ...resource })

/**
 * A resource that a server can be asked for.
 *
 * @since 0.1.0
 * @category models
 */
export type Resource = typeof Resource.Type

/**
 * Reads a pointer to a resource, as content.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ResourceLink = open({
  type: Schema.Literal("resource_link"),
  uri: Schema.String,
  size: count,
  ...resource
})

/**
 * A pointer to a resource, as content.
 *
 * @since 0.1.0
 * @category models
 */
export type ResourceLink = typeof ResourceLink.Type

const contents = { uri: Schema.String, mimeType: text, _meta: meta }

/**
 * Reads what a resource holds: `text`, or `blob` as base64.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ResourceContents = Schema.Union(
  open({ text: Schema.String, ...contents }),
  open({ blob: Schema.String, ...contents })
)

/**
 * What a resource holds.
 *
 * @since 0.1.0
 * @category models
 */
export type ResourceContents = typeof ResourceContents.Type

/**
 * Reads a resource with its contents, as content.
 *
 * @since 0.1.0
 * @category schemas
 */
export const EmbeddedResource = open({ type: Schema.Literal("resource"), resource: ResourceContents, ...shown })

/**
 * A resource with its contents, as content.
 *
 * @since 0.1.0
 * @category models
 */
export type EmbeddedResource = typeof EmbeddedResource.Type

/**
 * Reads one block of a tool's result or of a prompt.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContentBlock = Schema.Union(TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource)

/**
 * One block of a tool's result or of a prompt.
 *
 * @since 0.1.0
 * @category models
 */
export type ContentBlock = typeof ContentBlock.Type

// -----------------------------------------------------------------------------
// Tools
// -----------------------------------------------------------------------------

const cursor = { cursor: text, _meta: requestMeta }
const page = {
  nextCursor: text,
  resultType: text,
  ttlMs: count,
  cacheScope: text,
  _meta: meta
}

/**
 * Reads the JSON Schema of a tool's arguments or result, which is always an object's.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ObjectSchema = open({
  type: Schema.Literal("object"),
  properties: Schema.optional(Unknowns),
  required: Schema.optional(Schema.Array(Schema.String))
})

/**
 * The JSON Schema of a tool's arguments or result.
 *
 * @since 0.1.0
 * @category models
 */
export type ObjectSchema = typeof ObjectSchema.Type

/**
 * Reads hints about a tool's behaviour (`B-TOOL-1`); no client may rely on them.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ToolAnnotations = open({
  title: text,
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag
})

/**
 * Hints about a tool's behaviour.
 *
 * @since 0.1.0
 * @category models
 */
export type ToolAnnotations = typeof ToolAnnotations.Type

/**
 * Reads a tool as `tools/list` names it (`B-TOOL-1` to `B-TOOL-4`). From 2026-07-28 on an output schema may be any schema.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Tool = open({
  name: Schema.String,
  title: text,
  description: text,
  inputSchema: ObjectSchema,
  outputSchema: meta,
  annotations: Schema.optional(ToolAnnotations),
  icons,
  _meta: meta
})

/**
 * A tool as `tools/list` names it.
 *
 * @since 0.1.0
 * @category models
 */
export type Tool = typeof Tool.Type

/**
 * Reads which page of a list is wanted: the `nextCursor` of the page before, or nothing for the first.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListParams = open(cursor)

/**
 * Which page of a list is wanted.
 *
 * @since 0.1.0
 * @category models
 */
export type ListParams = typeof ListParams.Type

/**
 * Reads one page of tools.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListToolsResult = open({ tools: Schema.Array(Tool), ...page })

/**
 * One page of tools.
 *
 * @since 0.1.0
 * @category models
 */
export type ListToolsResult = typeof ListToolsResult.Type

/**
 * Reads a call of a tool; absent `arguments` are no arguments.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CallToolParams = open({ name: Schema.String, arguments: meta, _meta: requestMeta })

/**
 * A call of a tool.
 *
 * @since 0.1.0
 * @category models
 */
export type CallToolParams = typeof CallToolParams.Type

/**
 * Reads a tool's answer; a failed call is one with `isError` (`B-ERR-4`, `B-ERR-5`). Absent `content` decodes as none.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CallToolResult = open({
  content: Schema.optionalWith(Schema.Array(ContentBlock), { default: () => [] }),
  structuredContent: meta,
  isError: flag,
  resultType: text,
  _meta: meta
})

/**
 * A tool's answer: blocks for a model, `structuredContent` for a program.
 *
 * @since 0.1.0
 * @category models
 */
export type CallToolResult = typeof CallToolResult.Type

// -----------------------------------------------------------------------------
// Progress, logging, cancellation
// -----------------------------------------------------------------------------

/**
 * Reads how far a call has come; `progressToken` is the one that its request named.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ProgressParams = open({
  progressToken: JsonRpc.Id,
  progress: Schema.Number,
  total: count,
  message: text,
  _meta: meta
})

/**
 * How far a call has come.
 *
 * @since 0.1.0
 * @category models
 */
export type ProgressParams = typeof ProgressParams.Type

/**
 * The logging levels, from the least to the most severe.
 *
 * @since 0.1.0
 * @category models
 */
export const LOGGING_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency"
] as const

/**
 * Reads the severity of a log message.
 *
 * @since 0.1.0
 * @category schemas
 */
export const LoggingLevel = Schema.Literal(...LOGGING_LEVELS)

/**
 * The severity of a log message.
 *
 * @since 0.1.0
 * @category models
 */
export type LoggingLevel = typeof LoggingLevel.Type

/**
 * Reads from which level on a client wants log messages.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SetLevelParams = open({ level: LoggingLevel, _meta: requestMeta })

/**
 * Reads a log message; `data` is any JSON value.
 *
 * @since 0.1.0
 * @category schemas
 */
export const LoggingMessageParams = open({ level: LoggingLevel, logger: text, data: Schema.Unknown, _meta: meta })

/**
 * A log message.
 *
 * @since 0.1.0
 * @category models
 */
export type LoggingMessageParams = typeof LoggingMessageParams.Type

/**
 * Reads which request its sender no longer wants answered.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CancelledParams = open({ requestId: Schema.optional(JsonRpc.Id), reason: text, _meta: meta })

/**
 * Which request its sender no longer wants answered.
 *
 * @since 0.1.0
 * @category models
 */
export type CancelledParams = typeof CancelledParams.Type

// -----------------------------------------------------------------------------
// Resources and prompts
// -----------------------------------------------------------------------------

/**
 * Reads a family of resources, named by an RFC 6570 template.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ResourceTemplate = open({ uriTemplate: Schema.String, ...resource })

/**
 * A family of resources.
 *
 * @since 0.1.0
 * @category models
 */
export type ResourceTemplate = typeof ResourceTemplate.Type

/**
 * Reads one page of resources.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListResourcesResult = open({ resources: Schema.Array(Resource), ...page })

/**
 * Reads one page of resource templates.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListResourceTemplatesResult = open({ resourceTemplates: Schema.Array(ResourceTemplate), ...page })

/**
 * Reads which resource is wanted.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ReadResourceParams = open({ uri: Schema.String, _meta: requestMeta })

/**
 * Reads what a resource holds; a directory may hold several.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ReadResourceResult = open({
  contents: Schema.Array(ResourceContents),
  resultType: text,
  ttlMs: count,
  cacheScope: text,
  _meta: meta
})

/**
 * What a resource holds.
 *
 * @since 0.1.0
 * @category models
 */
export type ReadResourceResult = typeof ReadResourceResult.Type

/**
 * Reads a prompt as `prompts/list` names it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Prompt = open({
  name: Schema.String,
  title: text,
  description: text,
  arguments: Schema.optional(
    Schema.Array(open({ name: Schema.String, title: text, description: text, required: flag }))
  ),
  icons,
  _meta: meta
})

/**
 * A prompt as `prompts/list` names it.
 *
 * @since 0.1.0
 * @category models
 */
export type Prompt = typeof Prompt.Type

/**
 * Reads one page of prompts.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListPromptsResult = open({ prompts: Schema.Array(Prompt), ...page })

/**
 * Reads which prompt is wanted; its arguments are strings.
 *
 * @since 0.1.0
 * @category schemas
 */
export const GetPromptParams = open({
  name: Schema.String,
  arguments: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })),
  _meta: requestMeta
})

/**
 * Reads one message of a prompt.
 *
 * @since 0.1.0
 * @category schemas
 */
export const PromptMessage = open({ role: Role, content: ContentBlock })

/**
 * One message of a prompt.
 *
 * @since 0.1.0
 * @category models
 */
export type PromptMessage = typeof PromptMessage.Type

/**
 * Reads a prompt's messages.
 *
 * @since 0.1.0
 * @category schemas
 */
export const GetPromptResult = open({
  description: text,
  messages: Schema.Array(PromptMessage),
  resultType: text,
  _meta: meta
})

/**
 * A prompt's messages.
 *
 * @since 0.1.0
 * @category models
 */
export type GetPromptResult = typeof GetPromptResult.Type

// -----------------------------------------------------------------------------
// What a server may ask of a client
// -----------------------------------------------------------------------------

/**
 * Reads a question to the user: a form whose fields are scalars, or a page to visit.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ElicitParams = Schema.Union(
  open({
    mode: Schema.Literal("url"),
    message: Schema.String,
    elicitationId: Schema.String,
    url: Schema.String,
    _meta: requestMeta
  }),
  open({
    mode: Schema.optional(Schema.Literal("form")),
    message: Schema.String,
    requestedSchema: ObjectSchema,
    _meta: requestMeta
  })
)

/**
 * A question to the user.
 *
 * @since 0.1.0
 * @category models
 */
export type ElicitParams = typeof ElicitParams.Type

/**
 * Reads what the user did with a question; `content` comes with `accept` alone.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ElicitResult = open({
  action: Schema.Literal("accept", "decline", "cancel"),
  content: Schema.optional(Schema.Record({
    key: Schema.String,
    value: Schema.Union(Schema.String, Schema.Number, Schema.Boolean, Schema.Array(Schema.String))
  })),
  _meta: meta
})

/**
 * What the user did with a question.
 *
 * @since 0.1.0
 * @category models
 */
export type ElicitResult = typeof ElicitResult.Type

/**
 * Reads one block of a sampled conversation: what a model can say, and the tools it used.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SamplingContent = Schema.Union(
  TextContent,
  ImageContent,
  AudioContent,
  open({ type: Schema.Literal("tool_use"), id: Schema.String, name: Schema.String, input: Unknowns, _meta: meta }),
  open({
    type: Schema.Literal("tool_result"),
    toolUseId: Schema.String,
    content: Schema.optionalWith(Schema.Array(ContentBlock), { default: () => [] }),
    structuredContent: meta,
    isError: flag,
    _meta: meta
  })
)

/**
 * One block of a sampled conversation.
 *
 * @since 0.1.0
 * @category models
 */
export type SamplingContent = typeof SamplingContent.Type

const spoken = {
  role: Role,
  content: Schema.Union(SamplingContent, Schema.Array(SamplingContent)),
  _meta: meta
}

/**
 * Reads one turn of a sampled conversation.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SamplingMessage = open(spoken)

/**
 * One turn of a sampled conversation.
 *
 * @since 0.1.0
 * @category models
 */
export type SamplingMessage = typeof SamplingMessage.Type

/**
 * Reads a conversation that a client's model is to continue; `maxTokens` bounds its answer.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreateMessageParams = open({
  messages: Schema.Array(SamplingMessage),
  maxTokens: Schema.Number,
  systemPrompt: text,
  temperature: count,
  stopSequences: Schema.optional(Schema.Array(Schema.String)),
  includeContext: Schema.optional(Schema.Literal("none", "thisServer", "allServers")),
  modelPreferences: Schema.optional(open({
    hints: Schema.optional(Schema.Array(open({ name: text }))),
    costPriority: count,
    speedPriority: count,
    intelligencePriority: count
  })),
  tools: Schema.optional(Schema.Array(Tool)),
  toolChoice: Schema.optional(open({ mode: Schema.optional(Schema.Literal("auto", "required", "none")) })),
  metadata: meta,
  _meta: requestMeta
})

/**
 * A conversation that a client's model is to continue.
 *
 * @since 0.1.0
 * @category models
 */
export type CreateMessageParams = typeof CreateMessageParams.Type

/**
 * Reads the turn that a client's model answered.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreateMessageResult = open({ ...spoken, model: Schema.String, stopReason: text })

/**
 * The turn that a client's model answered.
 *
 * @since 0.1.0
 * @category models
 */
export type CreateMessageResult = typeof CreateMessageResult.Type

/**
 * Reads the directories that a client lets a server work in.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListRootsResult = open({
  roots: Schema.Array(open({ uri: Schema.String, name: text, _meta: meta })),
  _meta: meta
})

/**
 * The directories that a client lets a server work in.
 *
 * @since 0.1.0
 * @category models
 */
export type ListRootsResult = typeof ListRootsResult.Type

// -----------------------------------------------------------------------------
// 2026-07-28
// -----------------------------------------------------------------------------

/**
 * Reads the `resultType` of a 2026-07-28 result: done, or to be asked again with what it requires.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ResultType = Schema.Literal("complete", "input_required")

/**
 * The `resultType` of a 2026-07-28 result.
 *
 * @since 0.1.0
 * @category models
 */
export type ResultType = typeof ResultType.Type

/**
 * Reads an answer that asks before it answers: the client repeats its call with `inputResponses` under the same keys, and
 * with `requestState` unchanged. This is how 2026-07-28 elicits, samples and lists roots.
 *
 * @since 0.1.0
 * @category schemas
 */
export const InputRequiredResult = open({
  resultType: Schema.Literal("input_required"),
  inputRequests: Schema.optional(Schema.Record({
    key: Schema.String,
    value: open({ method: Schema.String, params: meta })
  })),
  requestState: text,
  _meta: meta
})

/**
 * An answer that asks before it answers.
 *
 * @since 0.1.0
 * @category models
 */
export type InputRequiredResult = typeof InputRequiredResult.Type

/**
 * Reads the `data` of `ErrorCode.UnsupportedVersion`: the revisions to choose from, and the one that was asked for.
 *
 * @since 0.1.0
 * @category schemas
 */
export const UnsupportedVersionData = open({ supported: Schema.Array(Schema.String), requested: Schema.String })

/**
 * Reads the `data` of `ErrorCode.MissingClientCapability`: only what is missing.
 *
 * @since 0.1.0
 * @category schemas
 */
export const MissingClientCapabilityData = open({ requiredCapabilities: ClientCapabilities })
