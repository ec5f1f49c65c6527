/**
 * @since 0.1.0
 */
export * as Staging from "./Staging.ts"

/**
 * @since 0.1.0
 */
export * as StagingError from "./StagingError.ts"

/**
 * @since 0.1.0
 */
export * as StagingHttp from "./StagingHttp.ts"
