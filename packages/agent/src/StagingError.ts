/**
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const statuses = {
  InvalidPath: 400,
  InvalidBody: 400,
  InvalidForm: 400,
  NotFound: 404,
  PrefixOnly: 405,
  Conflict: 409,
  Changed: 412,
  Full: 413,
  Io: 500,
  DiskFull: 507
} as const

/**
 * Why the staging store refused, each with the status that a client sees (B-STG-4, 5, 9, 10, 11, 12): `InvalidPath`, `InvalidBody` and
 * `InvalidForm` 400, `NotFound` 404, `PrefixOnly` 405, `Conflict` 409, `Changed` 412, `Full` 413, `Io` 500, `DiskFull` 507.
 *
 * @since 0.1.0
 * @category models
 */
export type Reason = keyof typeof statuses

/**
 * The staging store refused or could not do what it was asked to. No path is in it, since the first segment of a path is a secret
 * (B-STG-15): `cause`, if any, has the system's code alone.
 *
 * @since 0.1.0
 * @category errors
 */
export class StagingError
  extends Schema.TaggedError<StagingError>("@effect-agentenv/agent/StagingError")("StagingError", {
    reason: Schema.Literal(...Object.keys(statuses) as [Reason, ...Array<Reason>]),
    detail: Schema.String,
    cause: Schema.optional(Schema.Defect)
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return this.detail
  }

  /**
   * The HTTP status that says it.
   *
   * @since 0.1.0
   */
  get status(): number {
    return statuses[this.reason]
  }
}

/**
 * The directory of a staging store cannot be used, which is known when its layer is built. `code` is the system's (`EACCES`, `ENOTDIR`, …).
 *
 * @since 0.1.0
 * @category errors
 */
export class StagingUnavailable
  extends Schema.TaggedError<StagingUnavailable>("@effect-agentenv/agent/StagingUnavailable")("StagingUnavailable", {
    directory: Schema.String,
    code: Schema.String
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return `Cannot stage objects in ${this.directory} (AGENTENV_STAGING_DIR): ${this.code}`
  }
}
