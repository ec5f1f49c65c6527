/**
 * Where and why an episode failed.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The steps of an episode, in their order; without data there is no `add`.
 *
 * @since 0.1.0
 * @category models
 */
export type StepName = "reset" | "add" | "play" | "get" | "score"

/**
 * @since 0.1.0
 * @category schemas
 */
export const StepName: Schema.Literal<["reset", "add", "play", "get", "score"]> = Schema.Literal(
  "reset",
  "add",
  "play",
  "get",
  "score"
)

/**
 * Tells at which step an episode failed, and in which scorer. `cause` is what went wrong there: an error of a client, or what the
 * player or a scorer failed or died with.
 *
 * @since 0.1.0
 * @category errors
 */
export class EpisodeError
  extends Schema.TaggedError<EpisodeError>("@effect-agentenv/client/EpisodeError")("EpisodeError", {
    step: StepName,
    scorer: Schema.optional(Schema.String),
    reason: Schema.String,
    cause: Schema.optional(Schema.Defect)
  })
{
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `${this.step}${this.scorer === undefined ? "" : ` (${this.scorer})`}: ${this.reason}`
  }
}
