/**
 * @since 0.1.0
 */
export * as Environment from "./Environment.ts"

/**
 * @since 0.1.0
 */
export * as Prompt from "./Prompt.ts"

/**
 * @since 0.1.0
 */
export * as Resource from "./Resource.ts"

/**
 * @since 0.1.0
 */
export * as Tool from "./Tool.ts"

/**
 * @since 0.1.0
 */
export * as ToolCall from "./ToolCall.ts"
