/**
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * A definition that cannot be served, found before a port is bound: what types cannot say (schemas without JSON Schema, names that
 * no client takes, routes that collide). It names the piece, what is wrong and how to mend it.
 *
 * @since 0.1.0
 * @category errors
 */
export class RegistryError extends Schema.TaggedError<RegistryError>("@effect-agentenv/environment/RegistryError")(
  "RegistryError",
  {
    environment: Schema.String,
    subject: Schema.String,
    problem: Schema.String,
    mend: Schema.String
  }
) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return `environment '${this.environment}', ${this.subject}: ${this.problem}; ${this.mend}`
  }
}
