/**
 * The state of an agent in its own form: saved whole, restored, and recorded change by change (area SNAP of the contract).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Extension } from "../Extension.ts"
import * as Grant from "../Grant.ts"
import { closed } from "../internal/json.ts"
import * as standard from "../internal/standard.ts"
import * as Operation from "../Operation.ts"

/** Nobody but the agent itself reads what it saves, so nothing may claim to be of a kind that others could (B-SNAP-2). */
const opaque = { message: () => "media_type must be application/octet-stream" }

const isOpaque = ({ media_type }: { readonly media_type: string }): boolean => media_type === "application/octet-stream"

const OpaqueWrite = Grant.WriteObject.pipe(Schema.filter(isOpaque, opaque))

const OpaqueRead = Grant.ReadObject.pipe(Schema.filter(isOpaque, opaque))

/**
 * Where a snapshot is to be uploaded: the conversation, and the files where the platform wants them.
 *
 * @since 0.1.0
 * @category schemas
 */
export const WriteObjects = Schema.Struct({
  trajectory: OpaqueWrite,
  workspace: Schema.optionalWith(OpaqueWrite, { nullable: true })
}).annotations(closed)

/**
 * Where a snapshot is to be uploaded.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteObjects extends Schema.Schema.Type<typeof WriteObjects> {}

/**
 * Where a snapshot is downloaded.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ReadObjects = Schema.Struct({
  trajectory: OpaqueRead,
  workspace: Schema.optionalWith(OpaqueRead, { nullable: true })
}).annotations(closed)

/**
 * Where a snapshot is downloaded.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReadObjects extends Schema.Schema.Type<typeof ReadObjects> {}

/**
 * What went up of a snapshot.
 *
 * @since 0.1.0
 * @category schemas
 */
export const UploadedObjects = Schema.Struct({
  trajectory: Grant.Uploaded,
  workspace: Schema.optionalWith(Grant.Uploaded, { nullable: true })
}).annotations(closed)

/**
 * What went up of a snapshot.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadedObjects extends Schema.Schema.Type<typeof UploadedObjects> {}

/**
 * Asks for a snapshot of a context (B-SNAP-2).
 *
 * @since 0.1.0
 * @category schemas
 */
export const SaveRequest = Schema.Struct({ context_id: Schema.String, objects: WriteObjects }).annotations(closed)

/**
 * Asks for a snapshot of a context.
 *
 * @since 0.1.0
 * @category models
 */
export interface SaveRequest extends Schema.Schema.Type<typeof SaveRequest> {}

/**
 * What `save` answers (B-SNAP-2).
 *
 * @since 0.1.0
 * @category schemas
 */
export const SaveResponse = Schema.Struct({ context_id: Schema.String, objects: UploadedObjects }).annotations(closed)

/**
 * What `save` answers.
 *
 * @since 0.1.0
 * @category models
 */
export interface SaveResponse extends Schema.Schema.Type<typeof SaveResponse> {}

/**
 * Gives a snapshot back, as the context of this name where one is given (B-SNAP-3).
 *
 * @since 0.1.0
 * @category schemas
 */
export const LoadRequest = Schema.Struct({
  objects: ReadObjects,
  target_context_id: Schema.optionalWith(Schema.String, { nullable: true })
}).annotations(closed)

/**
 * Gives a snapshot back.
 *
 * @since 0.1.0
 * @category models
 */
export interface LoadRequest extends Schema.Schema.Type<typeof LoadRequest> {}

/**
 * What `load` answers: the context that goes on from the snapshot (B-SNAP-3).
 *
 * @since 0.1.0
 * @category schemas
 */
export const LoadResponse = Schema.Struct({ context_id: Schema.String }).annotations(closed)

/**
 * What `load` answers.
 *
 * @since 0.1.0
 * @category models
 */
export interface LoadResponse extends Schema.Schema.Type<typeof LoadResponse> {}

/**
 * Asks for a record of the changes below `roots`, or below what the agent thinks best: an object for each tool call that changed
 * something, named by its position in six digits, such as `000042.tar` (B-SNAP-4, B-SNAP-7).
 *
 * @since 0.1.0
 * @category schemas
 */
export const EnableChangelogRequest = Schema.Struct({
  write_namespace: Grant.WriteNamespaceGrant,
  roots: Schema.optionalWith(Schema.Array(Schema.String), { nullable: true })
}).annotations(closed)

/**
 * Asks for a record of changes.
 *
 * @since 0.1.0
 * @category models
 */
export interface EnableChangelogRequest extends Schema.Schema.Type<typeof EnableChangelogRequest> {}

/**
 * What `enable-changelog` answers: the roots whose changes are recorded (B-SNAP-4).
 *
 * @since 0.1.0
 * @category schemas
 */
export const EnableChangelogResponse = Schema.Struct({ roots: Schema.Array(Schema.String) }).annotations(closed)

/**
 * What `enable-changelog` answers.
 *
 * @since 0.1.0
 * @category models
 */
export interface EnableChangelogResponse extends Schema.Schema.Type<typeof EnableChangelogResponse> {}

/**
 * A recorded change, and its place among the others.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Increment = Schema.Struct({
  sequence: Schema.Int.pipe(Schema.nonNegative({ message: () => "must be a non-negative integer" })),
  object: OpaqueRead
}).annotations(closed)

/**
 * A recorded change, and its place among the others.
 *
 * @since 0.1.0
 * @category models
 */
export interface Increment extends Schema.Schema.Type<typeof Increment> {}

/**
 * Gives recorded changes back, in their order; some may be missing (B-SNAP-5).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ApplyChangelogRequest = Schema.Struct({
  increments: Schema.Array(Increment).pipe(
    Schema.filter(
      (increments) =>
        increments.every(({ sequence }, index) => index === 0 || (increments[index - 1]?.sequence ?? 0) < sequence),
      { message: () => "the sequences must be strictly increasing" }
    )
  ),
  resume_conversation: Schema.optional(Schema.Boolean),
  target_context_id: Schema.optionalWith(Schema.String, { nullable: true })
}).annotations(closed)

/**
 * Gives recorded changes back.
 *
 * @since 0.1.0
 * @category models
 */
export interface ApplyChangelogRequest extends Schema.Schema.Type<typeof ApplyChangelogRequest> {}

/**
 * What `apply-changelog` answers: how many changes were applied, and the context that goes on from them, if one does (B-SNAP-5).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ApplyChangelogResponse = Schema.Struct({
  count: Schema.Int.pipe(Schema.nonNegative({ message: () => "must be a non-negative integer" })),
  context_id: Schema.optionalWith(Schema.String, { nullable: true })
}).annotations(closed)

/**
 * What `apply-changelog` answers.
 *
 * @since 0.1.0
 * @category models
 */
export interface ApplyChangelogResponse extends Schema.Schema.Type<typeof ApplyChangelogResponse> {}

const operations = {
  save: Operation.post({ request: SaveRequest, response: SaveResponse }),
  load: Operation.put({ request: LoadRequest, response: LoadResponse })
} as const

const features = {
  changelog: {
    enable: Operation.post({
      name: "enable-changelog",
      path: "/ext/snapshot/changelog",
      request: EnableChangelogRequest,
      response: EnableChangelogResponse
    }),
    apply: Operation.put({
      name: "apply-changelog",
      path: "/ext/snapshot/changelog",
      request: ApplyChangelogRequest,
      response: ApplyChangelogResponse
    })
  }
} as const

/**
 * The state of an agent in its own form (B-SNAP-1). The author saves and restores it, and may record its changes too.
 *
 * @since 0.1.0
 * @category constructors
 */
export const SnapshotV1: Extension<
  "urn:agentenv:snapshot/v1",
  typeof operations,
  typeof features,
  never,
  "standard"
> = standard.make("urn:agentenv:snapshot/v1", {
  description: "Saves and restores the agent's own state.",
  endpoint: "/ext/snapshot",
  operations,
  features
})
