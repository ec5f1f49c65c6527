/**
 * @since 0.1.0
 */
export * as Environment from "./Environment.ts"

/**
 * @since 0.1.0
 */
export * as EnvironmentServer from "./EnvironmentServer.ts"

/**
 * What `data/get` answers, written once: inline without a grant, uploaded with one.
 *
 * @since 0.1.0
 */
export * as Export from "./Export.ts"

/**
 * An environment inside a server that somebody else runs: a fetch handler, or node's and Express'.
 *
 * @since 0.1.0
 */
export * as Handler from "./Handler.ts"

/**
 * What an interceptor of tool calls decides: `Environment.intercept` takes one.
 *
 * @since 0.1.0
 */
export * as Hook from "./Hook.ts"

/**
 * An environment beside an MCP server of one's own.
 *
 * @since 0.1.0
 */
export * as Mount from "./Mount.ts"

/**
 * @since 0.1.0
 */
export * as MountError from "./MountError.ts"

/**
 * @since 0.1.0
 */
export * as Prompt from "./Prompt.ts"

/**
 * @since 0.1.0
 */
export * as RegistryError from "./RegistryError.ts"

/**
 * @since 0.1.0
 */
export * as Resource from "./Resource.ts"

/**
 * Handlers of `data/add` that turn parts into values or files, wherever their content lies.
 *
 * @since 0.1.0
 */
export * as Seed from "./Seed.ts"

/**
 * What is wrong with a seed, said so that the caller who sent it can mend it.
 *
 * @since 0.1.0
 */
export * as SeedError from "./SeedError.ts"

/**
 * Where the files that a seed refers to come from: the file system and HTTPS unless a test or an app says otherwise.
 *
 * @since 0.1.0
 */
export * as SeedSource from "./SeedSource.ts"

/**
 * @since 0.1.0
 */
export * as Tool from "./Tool.ts"

/**
 * Which role may use which tool: rules as a value, and the service that holds them for a server.
 *
 * @since 0.1.0
 */
export * as ToolAccess from "./ToolAccess.ts"

/**
 * @since 0.1.0
 */
export * as ToolCall from "./ToolCall.ts"

/**
 * @since 0.1.0
 */
export * as Tools from "./Tools.ts"
