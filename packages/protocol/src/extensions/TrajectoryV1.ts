/**
 * What tasks did, in the words of the runtimes that ran them: whole when a task has ended, page by page while it runs (area TRAJ of the
 * contract).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Extension } from "../Extension.ts"
import { Uploaded, WriteObject } from "../Grant.ts"
import * as standard from "../internal/standard.ts"
import * as Operation from "../Operation.ts"

const closed = { parseOptions: { onExcessProperty: "error" } } as const

const JsonObjectToWrite = WriteObject.pipe(
  Schema.filter(({ media_type }) => media_type === "application/json", {
    message: () => "its media_type must be application/json"
  })
)

/**
 * Where the trajectory is to be uploaded, as JSON (B-TRAJ-5).
 *
 * @since 0.1.0
 * @category schemas
 */
export const WriteObjects = Schema.Struct({ trajectory: JsonObjectToWrite }).annotations(closed)

/**
 * Where the trajectory is to be uploaded.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteObjects extends Schema.Schema.Type<typeof WriteObjects> {}

/**
 * Asks for the trajectory of a task that has ended (B-TRAJ-4).
 *
 * @since 0.1.0
 * @category schemas
 */
export const TaskRequest = Schema.Struct({ task_id: Schema.String }).annotations(closed)

/**
 * Asks for the trajectory of a task.
 *
 * @since 0.1.0
 * @category models
 */
export interface TaskRequest extends Schema.Schema.Type<typeof TaskRequest> {}

/**
 * Asks for the upload of the trajectory of a task that has ended (B-TRAJ-5).
 *
 * @since 0.1.0
 * @category schemas
 */
export const TaskObjectsRequest = Schema.Struct({ task_id: Schema.String, objects: WriteObjects }).annotations(closed)

/**
 * Asks for the upload of the trajectory of a task.
 *
 * @since 0.1.0
 * @category models
 */
export interface TaskObjectsRequest extends Schema.Schema.Type<typeof TaskObjectsRequest> {}

/**
 * Asks for the trajectory of a context (B-TRAJ-2).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContextRequest = Schema.Struct({ context_id: Schema.String }).annotations(closed)

/**
 * Asks for the trajectory of a context.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContextRequest extends Schema.Schema.Type<typeof ContextRequest> {}

/**
 * Asks for the upload of the trajectory of a context (B-TRAJ-2).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContextObjectsRequest = Schema.Struct({ context_id: Schema.String, objects: WriteObjects })
  .annotations(closed)

/**
 * Asks for the upload of the trajectory of a context.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContextObjectsRequest extends Schema.Schema.Type<typeof ContextObjectsRequest> {}

const cursor = {
  after: Schema.Int.pipe(Schema.nonNegative({ message: () => "must be a non-negative integer" })),
  limit: Schema.optionalWith(
    Schema.Int.pipe(Schema.between(1, 1000, { message: () => "must be an integer from 1 to 1000" })),
    { nullable: true }
  )
}

/**
 * Asks for the events of a task from the position `after` on, at most `limit` of them (1,000), whether it has ended or not (B-TRAJ-9,
 * B-TRAJ-10).
 *
 * @since 0.1.0
 * @category schemas
 */
export const TaskPageRequest = Schema.Struct({ task_id: Schema.String, ...cursor }).annotations(closed)

/**
 * Asks for a page of the events of a task.
 *
 * @since 0.1.0
 * @category models
 */
export interface TaskPageRequest extends Schema.Schema.Type<typeof TaskPageRequest> {}

/**
 * The same of all tasks of a context (B-TRAJ-13).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContextPageRequest = Schema.Struct({ context_id: Schema.String, ...cursor }).annotations(closed)

/**
 * Asks for a page of the events of a context.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContextPageRequest extends Schema.Schema.Type<typeof ContextPageRequest> {}

/**
 * A trajectory as it is: any JSON value.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Inline = Schema.Struct({ trajectory: Schema.Unknown })

/**
 * A trajectory as it is.
 *
 * @since 0.1.0
 * @category models
 */
export interface Inline extends Schema.Schema.Type<typeof Inline> {}

/**
 * What was uploaded.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Objects = Schema.Struct({ objects: Schema.Struct({ trajectory: Uploaded }) })

/**
 * What was uploaded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Objects extends Schema.Schema.Type<typeof Objects> {}

/**
 * How a trajectory stands: `pending` before its first event, `running` while more may come (B-TRAJ-9).
 *
 * @since 0.1.0
 * @category schemas
 */
export const State = Schema.Literal("pending", "running", "completed", "failed", "canceled")

/**
 * How a trajectory stands.
 *
 * @since 0.1.0
 * @category models
 */
export type State = typeof State.Type

/**
 * Events from a position on. `next` is the position to read from next, `has_more` says that there are events at it already (B-TRAJ-9).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Page = Schema.Struct({
  context_id: Schema.String,
  task_id: Schema.String,
  state: State,
  format: Schema.NullOr(Schema.String),
  events: Schema.Array(Schema.Unknown),
  next: Schema.Int,
  has_more: Schema.Boolean
})

/**
 * Events from a position on.
 *
 * @since 0.1.0
 * @category models
 */
export interface Page extends Schema.Schema.Type<typeof Page> {}

/**
 * What `configure` takes:
 *
 * - `live`: tasks can be read while they run, and contexts as a whole, without any handler of the author's (B-TRAJ-3);
 * - `fallback`: `"a2a"` answers for a task that has ended without a trajectory of its own with the messages and artifacts of the task;
 *   without it such a task has none (B-TRAJ-18).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Configuration = Schema.Struct({
  live: Schema.optional(Schema.Boolean),
  fallback: Schema.optional(Schema.Literal("a2a"))
})

/**
 * What `configure` takes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Configuration extends Schema.Schema.Type<typeof Configuration> {}

const operations = {
  get: Operation.post({
    owner: "sdk",
    variants: {
      task: Operation.variant(TaskRequest),
      taskObjects: Operation.variant(TaskObjectsRequest),
      context: Operation.optionalVariant(ContextRequest),
      contextObjects: Operation.optionalVariant(ContextObjectsRequest),
      taskPage: Operation.optionalVariant(TaskPageRequest, { owner: "sdk" }),
      contextPage: Operation.optionalVariant(ContextPageRequest, { owner: "sdk" })
    },
    // `Inline` takes any answer, since a missing `trajectory` is no other than an unknown one
    response: Schema.Union(Objects, Page, Inline)
  })
} as const

/**
 * The trajectories of an agent. The library answers for tasks, and for contexts and pages where it is configured to be live; an author's
 * handlers of `context` and `contextObjects` win over it (B-TRAJ-14).
 *
 * @since 0.1.0
 * @category constructors
 */
export const TrajectoryV1: Extension<"urn:agentenv:trajectory/v1", typeof operations, {}, Configuration, "standard"> =
  standard.make("urn:agentenv:trajectory/v1", {
    description: "Says what the agent's tasks did.",
    endpoint: "/ext/trajectory",
    operations,
    configuration: Configuration
  })
