/**
 * Grants: short-lived permissions to read or write an object in a store, and the objects that they are given for
 * (contract section 14). They are closed, and what they must keep secret is `Redacted` from the moment it is decoded.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as issues from "./internal/issues.ts"
import { isNormalized } from "./internal/paths.ts"

const closed = { parseOptions: { onExcessProperty: "error" } } as const

const timestamp = /^(\d{4}-\d{2}-\d{2})[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?)([Zz]|[+-]\d{2}:\d{2})?$/

const instant = (value: string): number => {
  const [, date = "", time = ""] = timestamp.exec(value) ?? []
  return Date.parse(`${date}T${time}Z`)
}

/** `Date` rolls the 30th of February over, so the date has to come out as it went in. */
const exists = (value: string): boolean => {
  const millis = instant(value)
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(value.slice(0, 10))
}

const UtcText = Schema.String.pipe(
  Schema.filter((value) => timestamp.test(value) && exists(value), {
    message: () => "must be an RFC 3339 timestamp in UTC"
  }),
  Schema.filter((value) => timestamp.exec(value)?.[3] !== undefined, {
    message: () => "must be an RFC 3339 timestamp in UTC: it has no time zone"
  }),
  Schema.filter((value) => /^(?:z|[+-]00:00)$/i.test(timestamp.exec(value)?.[3] ?? ""), {
    message: () => "must be an RFC 3339 timestamp in UTC: it has another time zone"
  })
)

/**
 * Reads when a grant ends: an RFC 3339 timestamp that says it is UTC. One without a zone or in another zone is refused, so
 * that nobody guesses (`B-OBJ-1`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Expiry: Schema.Schema<DateTime.Utc, string> = Schema.transform(UtcText, Schema.DateTimeUtcFromSelf, {
  strict: true,
  decode: (value) => DateTime.unsafeMake(instant(value)),
  encode: (value) => DateTime.formatIso(value).replace(".000Z", "Z")
})

const HttpsUrl = Schema.String.pipe(Schema.filter(
  (value) => /^https:\/\/[^\s/?#]/i.test(value) && URL.canParse(value),
  { message: () => "must be an absolute https URL" }
))

const Strings = Schema.Record({ key: Schema.String, value: Schema.String })

const Count = Schema.Int.pipe(Schema.positive({ message: () => "must be a positive integer" }))

const Size = Schema.Int.pipe(Schema.nonNegative({ message: () => "must be a non-negative integer" }))

const FieldName = Schema.String.pipe(Schema.minLength(1, { message: () => "must not be empty" }))

/**
 * Reads a path that stays below its root: relative, POSIX and normalized (`B-OBJ-1`, `B-DOBJ-5`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const RelativePath: Schema.Schema<string> = Schema.String.pipe(
  Schema.filter(isNormalized, { message: () => "must be a normalized relative POSIX path" })
)

/**
 * Reads a media type without wildcards and parameters, such as `application/json` (`B-OBJ-1`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const MediaType: Schema.Schema<string> = Schema.String.pipe(Schema.filter(
  (value) => /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(value),
  { message: () => "must be a concrete media type" }
))

/**
 * Reads a digest as 64 lower-case hexadecimal digits (`B-OBJ-1`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Sha256: Schema.Schema<string> = Schema.String.pipe(
  Schema.filter((value) => /^[0-9a-f]{64}$/.test(value), {
    message: () => "must be 64 lower-case hexadecimal digits"
  })
)

const request = {
  url: Schema.Redacted(HttpsUrl),
  headers: Schema.optionalWith(Schema.Redacted(Strings), { nullable: true })
}

/**
 * Reads the permission to download one object: a signed URL, and headers to send with it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const HttpGetGrant = Schema.Struct({
  kind: Schema.tag("http-get"),
  expires_at: Expiry,
  ...request
}).annotations(closed)

/**
 * The permission to download one object.
 *
 * @since 0.1.0
 * @category models
 */
export interface HttpGetGrant extends Schema.Schema.Type<typeof HttpGetGrant> {}

/**
 * Reads the permission to upload one object with `PUT`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const HttpPutGrant = Schema.Struct({
  kind: Schema.tag("http-put"),
  expires_at: Expiry,
  ...request
}).annotations(closed)

/**
 * The permission to upload one object with `PUT`.
 *
 * @since 0.1.0
 * @category models
 */
export interface HttpPutGrant extends Schema.Schema.Type<typeof HttpPutGrant> {}

/**
 * Reads the permission to upload by a form: `fields` go first, then the object's path as `path_field`, the content as
 * `file_field` last (`B-OBJ-14`). Its expiry is that of the namespace that holds it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const HttpPostPolicyGrant = Schema.Struct({
  kind: Schema.tag("http-post-policy"),
  fields: Schema.Redacted(Strings),
  path_field: FieldName,
  file_field: FieldName,
  ...request
}).annotations(closed)

/**
 * The permission to upload by a form.
 *
 * @since 0.1.0
 * @category models
 */
export interface HttpPostPolicyGrant extends Schema.Schema.Type<typeof HttpPostPolicyGrant> {}

/**
 * Reads the permission to write any number of objects below a path, within limits (`B-OBJ-2`, `B-OBJ-15`). Sizes are bytes.
 *
 * @since 0.1.0
 * @category schemas
 */
export const WriteNamespaceGrant = Schema.Struct({
  root_path: RelativePath,
  expires_at: Expiry,
  max_objects: Count,
  max_object_bytes: Count,
  max_total_bytes: Count,
  write: HttpPostPolicyGrant
}).annotations(closed)

/**
 * The permission to write objects below a path.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteNamespaceGrant extends Schema.Schema.Type<typeof WriteNamespaceGrant> {}

/**
 * Reads an object to download: what it is, how large it may be, and its size and digest where they are known beforehand.
 * Sizes are bytes; a `size_bytes` above `max_bytes` is refused.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ReadObject = Schema.Struct({
  media_type: MediaType,
  max_bytes: Count,
  size_bytes: Schema.optionalWith(Size, { nullable: true }),
  sha256: Schema.optionalWith(Sha256, { nullable: true }),
  read: HttpGetGrant
}).annotations(closed).pipe(
  Schema.filter(({ max_bytes, size_bytes }) => size_bytes === undefined || size_bytes <= max_bytes, {
    message: () => "size_bytes must not exceed max_bytes"
  })
)

/**
 * An object to download.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReadObject extends Schema.Schema.Type<typeof ReadObject> {}

/**
 * Reads an object to upload: what it has to be, and how large it may be, in bytes.
 *
 * @since 0.1.0
 * @category schemas
 */
export const WriteObject = Schema.Struct({
  media_type: MediaType,
  max_bytes: Count,
  write: HttpPutGrant
}).annotations(closed)

/**
 * An object to upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteObject extends Schema.Schema.Type<typeof WriteObject> {}

/**
 * Reads what an upload answers: how many bytes went up, and their digest.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Uploaded = Schema.Struct({
  size_bytes: Size,
  sha256: Schema.optionalWith(Sha256, { nullable: true })
}).annotations(closed)

/**
 * What an upload answers.
 *
 * @since 0.1.0
 * @category models
 */
export interface Uploaded extends Schema.Schema.Type<typeof Uploaded> {}

/**
 * Says why a grant did not decode, one `path: reason` a line, without its URL, headers and field values: the library's own
 * formatters print what they reject, so nothing else may format these errors (`B-OBJ-6`, `B-DOBJ-3`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const formatError = (error: ParseResult.ParseError): string => issues.format(issues.fromIssue(error.issue))
