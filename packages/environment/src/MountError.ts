/**
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * An MCP server that an environment cannot be mounted on (B-ENV-14, B-CTX-7). Nothing of the server has been changed.
 *
 * - `AlreadyMounted`: it has an environment, whose scope is open.
 * - `Unanswered`: it did not tell its tools; `detail` says why.
 *
 * @since 0.1.0
 * @category errors
 */
export class MountError extends Schema.TaggedError<MountError>("@effect-agentenv/environment/MountError")(
  "MountError",
  {
    environment: Schema.String,
    reason: Schema.Literal("AlreadyMounted", "Unanswered"),
    detail: Schema.String
  }
) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `environment '${this.environment}' cannot be mounted: ${this.detail}`
  }
}
