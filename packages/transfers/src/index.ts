/**
 * Uploads to a namespace.
 *
 * @since 0.1.0
 */
export * as NamespaceUploader from "./NamespaceUploader.ts"

/**
 * The short way to objects of this very process' agent.
 *
 * @since 0.1.0
 */
export * as Loopback from "./Loopback.ts"

/**
 * How far a transfer is.
 *
 * @since 0.1.0
 */
export * as Progress from "./Progress.ts"

/**
 * Keeps signed URLs out of an author's own logs.
 *
 * @since 0.1.0
 */
export * as Redaction from "./Redaction.ts"

/**
 * What an upload reads.
 *
 * @since 0.1.0
 */
export * as Source from "./Source.ts"

/**
 * How transfers fail.
 *
 * @since 0.1.0
 */
export * as TransferError from "./TransferError.ts"

/**
 * Uploads and downloads through grants.
 *
 * @since 0.1.0
 */
export * as Transfers from "./Transfers.ts"

/**
 * Directories as tar archives.
 *
 * @since 0.1.0
 */
export * as Workspace from "./Workspace.ts"
