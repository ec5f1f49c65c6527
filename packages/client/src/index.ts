/**
 * Typed calls of an agent over A2A, 0.3 or 1.0 as its card says.
 *
 * @since 0.1.0
 */
export * as AgentClient from "./AgentClient.ts"

/**
 * How calls of an agent fail, beside the ways that all clients share (`ClientError`). Nothing here holds a request.
 *
 * @since 0.1.0
 */
export * as AgentClientError from "./AgentClientError.ts"

/**
 * How calls of a peer fail, shared by all clients. Nothing here holds a request: what a caller sent (grants, headers, arguments)
 * stays out of errors.
 *
 * @since 0.1.0
 */
export * as ClientError from "./ClientError.ts"

/**
 * Taking an export whichever way it came: inline, or uploaded to a namespace of the caller's.
 *
 * @since 0.1.0
 */
export * as DataExport from "./DataExport.ts"

/**
 * Typed calls of an environment: its card, its data plane and its interface manifests.
 *
 * @since 0.1.0
 */
export * as EnvironmentClient from "./EnvironmentClient.ts"

/**
 * One rollout from beginning to end: reset and seed an environment, let a player use its tools, read the state, and score it.
 *
 * @since 0.1.0
 */
export * as Episode from "./Episode.ts"

/**
 * Where and why an episode failed.
 *
 * @since 0.1.0
 */
export * as EpisodeError from "./EpisodeError.ts"

/**
 * Typed calls of a peer's extensions, from the same definition that its server implements.
 *
 * @since 0.1.0
 */
export * as ExtensionClient from "./ExtensionClient.ts"

/**
 * Event streams (`text/event-stream`), as MCP and A2A servers answer them.
 *
 * @since 0.1.0
 */
export * as Sse from "./Sse.ts"

/**
 * An environment's tools, called over MCP (streamable HTTP, the era of sessions).
 *
 * @since 0.1.0
 */
export * as ToolClient from "./ToolClient.ts"
