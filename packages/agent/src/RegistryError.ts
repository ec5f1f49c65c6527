/**
 * What is wrong with an agent that types can't say.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * An agent can't be served: `subject` is what is wrong (an extension's URI, with its operation where it is about one), `mend` what to
 * do about it. Raised before a port is bound (contract 2).
 *
 * @since 0.1.0
 * @category errors
 */
export class RegistryError
  extends Schema.TaggedError<RegistryError>("@effect-agentenv/agent/RegistryError")("RegistryError", {
    agent: Schema.String,
    subject: Schema.String,
    problem: Schema.String,
    mend: Schema.String
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return `Agent '${this.agent}', ${this.subject}: ${this.problem}; ${this.mend}`
  }
}
