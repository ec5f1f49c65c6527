/**
 * An environment's tools, called over MCP (streamable HTTP, the era of sessions).
 *
 * @since 0.1.0
 */
import * as AgentEnvError from "@effect-agentenv/protocol/AgentEnvError"
import * as Caller from "@effect-agentenv/protocol/Caller"
import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { BadStatus, RpcError, SessionLost, Timeout, Unreachable, Unreadable } from "./ClientError.ts"
import * as http from "./internal/http.ts"
import * as mcp from "./internal/mcpSession.ts"
import * as rpc from "./internal/rpc.ts"
import * as definitions from "./internal/toolDefinitions.ts"

/**
 * Every way in which a call on the session fails (B-TCL-6, B-TSESS-4). A tool that fails is no error but a result with `isError`.
 *
 * @since 0.1.0
 * @category errors
 */
export type ToolClientError = Unreachable | Timeout | BadStatus | Unreadable | RpcError | SessionLost

/**
 * The schema of `ToolClientError`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ToolClientError: Schema.Union<
  [typeof Unreachable, typeof Timeout, typeof BadStatus, typeof Unreadable, typeof RpcError, typeof SessionLost]
> = Schema.Union(Unreachable, Timeout, BadStatus, Unreadable, RpcError, SessionLost)

/**
 * What a server may ask of this client while it answers a call: each one that is given is offered to the server, any other is
 * refused. A failure is told to the server by its message.
 *
 * @since 0.1.0
 * @category models
 */
export interface Features {
  readonly elicit?: ((params: Mcp.ElicitParams) => Effect.Effect<Mcp.ElicitResult, Error>) | undefined
  readonly sample?: ((params: Mcp.CreateMessageParams) => Effect.Effect<Mcp.CreateMessageResult, Error>) | undefined
  readonly roots?: Effect.Effect<Mcp.ListRootsResult, Error> | undefined
}

/**
 * Where the tools are: the endpoint itself, or an environment's base URL and the path below it (`/mcp`, see
 * `EnvironmentCard.mcpPath`).
 *
 * @since 0.1.0
 * @category models
 */
export type Address =
  | { readonly url: string }
  | { readonly baseUrl: string; readonly mcpPath?: string | undefined }

type Headers = Readonly<Record<string, string>>

/**
 * What `make` and `layer` take.
 *
 * @since 0.1.0
 * @category models
 */
export type Options = Address & {
  /** Sent as the header `AgentEnv-Role`, unless it is blank (B-TSESS-3). */
  readonly role?: string | undefined
  /**
   * Sent along, plain or as the secrets that they may be, except that `Accept` is the client's (B-TSESS-3); another origin that the
   * server redirects to doesn't see them.
   */
  readonly headers?: Headers | Redacted.Redacted<Headers> | undefined
  /** How long any request may take, 600 s by default (B-TCL-2); the closing of the session takes 5 s at most. */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * What to do when the server has forgotten the session, which means that it was restarted: `fail` with `SessionLost`, as the
   * episode is gone (the default), or `reopen`: open another one and repeat the request that was refused unrun (M-31).
   */
  readonly onSessionLost?: "fail" | "reopen" | undefined
  readonly features?: Features | undefined
  /** Who the server is told is calling; the protocol's own name by default (B-TSESS-1). */
  readonly clientInfo?: Mcp.Implementation | undefined
}

/**
 * What the server said of itself when the session was opened.
 *
 * @since 0.1.0
 * @category models
 */
export interface Session {
  readonly id: string | undefined
  readonly protocolVersion: string
  readonly server: Mcp.Implementation | undefined
  readonly capabilities: Mcp.ServerCapabilities
  readonly instructions: string | undefined
}

const Unknowns = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/**
 * Reads a tool as any server lists it: only the name must be there, and a missing schema is an object's.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Tool = Schema.Struct({
  name: Schema.String,
  title: Schema.optionalWith(Schema.String, { nullable: true }),
  description: Schema.optionalWith(Schema.String, { nullable: true }),
  inputSchema: Schema.optionalWith(Unknowns, { nullable: true, default: () => ({ type: "object", properties: {} }) }),
  outputSchema: Schema.optionalWith(Unknowns, { nullable: true }),
  annotations: Schema.optionalWith(Mcp.ToolAnnotations, { nullable: true }),
  _meta: Schema.optionalWith(Unknowns, { nullable: true })
}, Unknowns)

/**
 * A tool of the server.
 *
 * @since 0.1.0
 * @category models
 */
export type Tool = typeof Tool.Type

/**
 * What a call of a tool answered. `text` joins the text blocks with newlines (B-TCL-5).
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolResult {
  readonly content: ReadonlyArray<Mcp.ContentBlock>
  readonly isError: boolean
  readonly structuredContent?: Readonly<Record<string, unknown>> | undefined
  readonly text: string
}

/**
 * What one call may say for itself. The handlers run while the call does, one message at a time.
 *
 * @since 0.1.0
 * @category models
 */
export interface CallOptions {
  readonly timeout?: Duration.DurationInput | undefined
  readonly onProgress?: ((progress: Mcp.ProgressParams) => Effect.Effect<void>) | undefined
  readonly onLog?: ((message: Mcp.LoggingMessageParams) => Effect.Effect<void>) | undefined
}

/**
 * A session with an environment's tools. Calls may run side by side. Interrupting a call, or its timeout, cancels it on the server
 * and leaves the session usable.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** The session as it is now; `reopen` replaces it, as does a lost one with `onSessionLost: "reopen"`. */
  readonly session: Effect.Effect<Session>
  /**
   * Ends the session, waiting 5 s at most for the server to forget it, and opens another in its place, for this service and all that
   * `as` made of it (B-TSESS-6). Calls in flight may fail with `SessionLost`; where no other can be opened, all later ones do.
   */
  readonly reopen: Effect.Effect<Session, ToolClientError>
  /** Lists all tools, page by page (B-TCL-3). */
  readonly listTools: Effect.Effect<ReadonlyArray<Tool>, ToolClientError>
  /** Calls a tool. One that fails or doesn't exist answers a result with `isError` (B-TCL-5). */
  readonly callTool: (
    name: string,
    args?: Readonly<Record<string, unknown>>,
    options?: CallOptions
  ) => Effect.Effect<ToolResult, ToolClientError>
  readonly listResources: Effect.Effect<ReadonlyArray<Mcp.Resource>, ToolClientError>
  readonly listResourceTemplates: Effect.Effect<ReadonlyArray<Mcp.ResourceTemplate>, ToolClientError>
  readonly readResource: (uri: string) => Effect.Effect<ReadonlyArray<Mcp.ResourceContents>, ToolClientError>
  readonly listPrompts: Effect.Effect<ReadonlyArray<Mcp.Prompt>, ToolClientError>
  readonly getPrompt: (
    name: string,
    args?: Readonly<Record<string, string>>
  ) => Effect.Effect<Mcp.GetPromptResult, ToolClientError>
  /**
   * The same session on behalf of someone: requests carry role and session in `_meta`, which counts before any header (B-CTX-3).
   * Without a role the caller is nobody in particular, even where the session itself has one.
   */
  readonly as: (caller: Partial<Caller.Caller>) => Service
}

/**
 * The tools that a player, a trainer or a test works with.
 *
 * @since 0.1.0
 * @category tags
 */
export class ToolClient extends Context.Tag("@effect-agentenv/client/ToolClient")<ToolClient, Service>() {}

const TIMEOUT = Duration.seconds(600)

const CLIENT_INFO: Mcp.Implementation = { name: "agentenv-protocol", version: "1.0" }

const decodeCall = http.decoder(Mcp.CallToolResult)
const decodeRead = http.decoder(Mcp.ReadResourceResult)
const decodePrompt = http.decoder(Mcp.GetPromptResult)
const decodeCursor = http.decoder(
  Schema.Struct({ nextCursor: Schema.optionalWith(Schema.String, { nullable: true }) })
)
const decodeTools = http.decoder(Schema.Struct({ tools: Schema.Array(Tool) }))
const decodeResources = http.decoder(Schema.Struct({ resources: Schema.Array(Mcp.Resource) }))
const decodeTemplates = http.decoder(Schema.Struct({ resourceTemplates: Schema.Array(Mcp.ResourceTemplate) }))
const decodePrompts = http.decoder(Schema.Struct({ prompts: Schema.Array(Mcp.Prompt) }))

/** What a gateway would stamp for this caller. The role is always said, since its key is what makes headers not count. */
const stamp = (caller: Partial<Caller.Caller>): Readonly<Record<string, string>> => ({
  [Caller.ROLE_META_KEY]: Caller.normalizeRole(caller.role) ?? Caller.DEFAULT_ROLE,
  ...(caller.session === undefined ? {} : { [Caller.SESSION_META_KEY]: caller.session })
})

const toResult = ({ content, isError, structuredContent }: Mcp.CallToolResult): ToolResult => ({
  content,
  isError: isError ?? false,
  ...(structuredContent === undefined ? {} : { structuredContent }),
  text: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
})

const service = (
  { reopen, request, session }: mcp.McpSession,
  meta: Readonly<Record<string, string>> | undefined
): Service => {
  const ask = (method: string, params: Readonly<Record<string, unknown>>, options?: CallOptions) =>
    Effect.flatMap(
      request(method, meta === undefined ? params : { ...params, _meta: meta }, options),
      (result) => rpc.object(result, method)
    )

  const pages = <Page, A>(
    method: string,
    decode: (value: unknown, operation: string, what: string) => Effect.Effect<Page, Unreadable>,
    items: (page: Page) => ReadonlyArray<A>
  ): Effect.Effect<ReadonlyArray<A>, ToolClientError> =>
    Effect.gen(function*() {
      const all: Array<A> = []
      const seen = new Set<string>()
      let cursor: string | undefined
      do {
        const result = yield* ask(method, cursor === undefined ? {} : { cursor })
        all.push(...items(yield* decode(result, method, "the result")))
        cursor = (yield* decodeCursor(result, method, "the result")).nextCursor
        if (cursor !== undefined && seen.has(cursor)) {
          return yield* new Unreadable({ operation: method, what: "the result", issues: "its pages go in a circle" })
        }
        if (cursor !== undefined) seen.add(cursor)
      } while (cursor !== undefined)
      return all
    })

  return {
    session,
    reopen,
    listTools: pages(Mcp.Method.ToolsList, decodeTools, ({ tools }) => tools),
    callTool: Effect.fn("ToolClient.callTool")(function*(name, args = {}, options) {
      yield* Effect.annotateCurrentSpan("tool", name)
      const result = yield* ask(Mcp.Method.ToolsCall, { name, arguments: args }, options)
      return toResult(yield* decodeCall(result, Mcp.Method.ToolsCall, "the result"))
    }),
    listResources: pages(Mcp.Method.ResourcesList, decodeResources, ({ resources }) => resources),
    listResourceTemplates: pages(
      Mcp.Method.ResourceTemplatesList,
      decodeTemplates,
      ({ resourceTemplates }) => resourceTemplates
    ),
    readResource: (uri) =>
      ask(Mcp.Method.ResourcesRead, { uri }).pipe(
        Effect.flatMap((result) => decodeRead(result, Mcp.Method.ResourcesRead, "the result")),
        Effect.map(({ contents }) => contents)
      ),
    listPrompts: pages(Mcp.Method.PromptsList, decodePrompts, ({ prompts }) => prompts),
    getPrompt: (name, args = {}) =>
      Effect.flatMap(
        ask(Mcp.Method.PromptsGet, { name, arguments: args }),
        (result) => decodePrompt(result, Mcp.Method.PromptsGet, "the result")
      ),
    as: (caller) => service({ reopen, request, session }, stamp(caller))
  }
}

/**
 * Opens a session, which ends with the scope: calls in flight there are cancelled, and the server is told that it may forget it
 * (B-TCL-7).
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: Options
): Effect.Effect<Service, ToolClientError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const session = yield* mcp.open(client, {
      url: "url" in options ? options.url : http.resolve(options.baseUrl, options.mcpPath ?? EnvironmentCard.MCP_PATH),
      headers: Redacted.isRedacted(options.headers) ? Redacted.value(options.headers) : options.headers ?? {},
      callerHeaders: http.callerHeaders({ role: options.role }),
      timeout: Duration.decode(options.timeout ?? TIMEOUT),
      onSessionLost: options.onSessionLost ?? "fail",
      features: options.features ?? {},
      clientInfo: options.clientInfo ?? CLIENT_INFO
    })
    return service(session, undefined)
  })

/**
 * A session as a service, for as long as the layer lives.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<ToolClient, ToolClientError, HttpClient.HttpClient> =>
  Layer.scoped(ToolClient, make(options))

const decodeFields = Schema.decodeUnknownOption(AgentEnvError.Fields)

/**
 * Reads the `AgentEnvError` of a failed call: `none` for a success, and for a tool that failed with text alone (B-ERR-4, B-ERR-5).
 *
 * @since 0.1.0
 * @category combinators
 */
export const failure = (
  result: Pick<ToolResult, "isError" | "structuredContent">
): Option.Option<AgentEnvError.Fields> => result.isError ? decodeFields(result.structuredContent) : Option.none()

/**
 * A tool as each model API wants it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Definitions {
  readonly openai_chat: {
    readonly type: "function"
    readonly function: {
      readonly name: string
      readonly description: string
      readonly parameters: Record<string, unknown>
    }
  }
  readonly openai_responses: {
    readonly type: "function"
    readonly name: string
    readonly description: string
    readonly parameters: Record<string, unknown>
  }
  readonly anthropic: {
    readonly name: string
    readonly description: string
    readonly input_schema: Record<string, unknown>
  }
}

/**
 * Writes tools for a model API (B-TCL-8); a tool without a description gets an empty one. Schemas are copies.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toolDefinitions: <Api extends keyof Definitions>(
  tools: ReadonlyArray<Tool>,
  api: Api
) => Array<Definitions[Api]> = definitions.write
