/**
 * @since 0.1.0
 */
import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * How far a call has come: `progress` rises with every report, `total` is its end when known.
 *
 * @since 0.1.0
 * @category models
 */
export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/**
 * A request to the MCP client that it refused, could not answer or left unanswered because it went away.
 *
 * @since 0.1.0
 * @category errors
 */
export class ClientRequestError
  extends Schema.TaggedError<ClientRequestError>("@effect-agentenv/environment/ClientRequestError")(
    "ClientRequestError",
    {
      method: Schema.String,
      code: Schema.optionalWith(Schema.Number, { exact: true }),
      message: Schema.String
    }
  )
{}

/**
 * What the calling MCP client can do for a tool: each is there when the client said so in its capabilities, the call came in a
 * session and its answer can be streamed. Extensions and sessionless calls have none.
 *
 * @since 0.1.0
 * @category models
 */
export interface ClientFeatures {
  /** Asks the person at the client (`elicitation/create`). */
  readonly elicit: Option.Option<(request: Mcp.ElicitParams) => Effect.Effect<Mcp.ElicitResult, ClientRequestError>>
  /** Asks the client's model (`sampling/createMessage`). */
  readonly sample: Option.Option<
    (request: Mcp.CreateMessageParams) => Effect.Effect<Mcp.CreateMessageResult, ClientRequestError>
  >
  /** The client's roots (`roots/list`). */
  readonly roots: Option.Option<Effect.Effect<Mcp.ListRootsResult, ClientRequestError>>
}

/**
 * The call that is being answered: who calls, under which id, and how to speak to the caller meanwhile. The server provides it to
 * every handler of a tool or an extension (B-CTX-4, B-CTX-8); it never shows in a schema.
 *
 * @since 0.1.0
 * @category tags
 */
export class ToolCall extends Context.Tag("@effect-agentenv/environment/ToolCall")<ToolCall, {
  /** Unique for each call (B-CTX-5). */
  readonly callId: string
  /** The tool's name, or the operation's in an extension. */
  readonly tool: string
  /** The arguments as they were sent, before decoding. */
  readonly arguments: unknown
  /** The caller's role (B-CTX-2, B-CTX-3); none means the role `default`. */
  readonly role: string | undefined
  /** The caller's session: the MCP session, or the one that a gateway stamped (B-CTX-3). */
  readonly session: string | undefined
  /** Reports progress to a client that asked for it; nothing to others. */
  readonly progress: (progress: number | Progress) => Effect.Effect<void>
  /** Sends a log message to a client whose level admits it; nothing to others. */
  readonly log: (level: Mcp.LoggingLevel, data: unknown, logger?: string) => Effect.Effect<void>
  readonly client: ClientFeatures
}>() {}
