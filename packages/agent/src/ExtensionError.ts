/**
 * The failure that an extension's handler chooses itself.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * An answer of a status of one's own: `message` is the body, as plain text (B-HTTP-4). Any other failure of a handler, but for a
 * `TransferError`, is a 500 with a correlation id.
 *
 * @since 0.1.0
 * @category errors
 */
export class ExtensionError
  extends Schema.TaggedError<ExtensionError>("@effect-agentenv/agent/ExtensionError")("ExtensionError", {
    status: Schema.Int.pipe(Schema.between(400, 599)),
    message: Schema.String
  })
{}
