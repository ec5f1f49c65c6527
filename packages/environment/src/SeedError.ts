/**
 * What is wrong with a seed, said so that the caller who sent it can mend it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Why a part could not become a seed:
 *
 * - `missing`: no such file, or HTTP 404 or 410;
 * - `too-large`: larger than `maxBytes`;
 * - `not-base64`: `bytes` is not base64;
 * - `not-json`: the content is not JSON, or is said to be of another type;
 * - `not-text`: a schema of text was given what is not UTF-8;
 * - `wrong-shape`: JSON that the schema does not decode;
 * - `unsupported-uri`: not a `file:` or `https:` URL;
 * - `unreadable`: a file that may not or can't be read, or be kept on disk;
 * - `download-failed`: refused, cut off, redirected or too slow.
 *
 * @since 0.1.0
 * @category models
 */
export type Reason = typeof Reason.Type

/**
 * @since 0.1.0
 * @category schemas
 */
export const Reason: Schema.Literal<[
  "missing",
  "too-large",
  "not-base64",
  "not-json",
  "not-text",
  "wrong-shape",
  "unsupported-uri",
  "unreadable",
  "download-failed"
]> = Schema.Literal(
  "missing",
  "too-large",
  "not-base64",
  "not-json",
  "not-text",
  "wrong-shape",
  "unsupported-uri",
  "unreadable",
  "download-failed"
)

const SeedErrorId = "@effect-agentenv/environment/SeedError"

/**
 * Says which part of a seed is wrong and why, as in `parts[1] (users.json): is larger than 64 MiB`.
 *
 * `part` counts from 0 and `partName` is the name that the caller gave the file. The message travels as the data plane's `-32000`,
 * so it holds no path, no URL and nothing of the content.
 *
 * @since 0.1.0
 * @category errors
 */
export class SeedError extends Schema.TaggedError<SeedError>(SeedErrorId)("SeedError", {
  reason: Reason,
  part: Schema.Int,
  partName: Schema.optionalWith(Schema.String, { exact: true }),
  detail: Schema.String
}) {
  override get message(): string {
    return `parts[${this.part}]${this.partName === undefined ? "" : ` (${this.partName})`}: ${this.detail}`
  }
}
