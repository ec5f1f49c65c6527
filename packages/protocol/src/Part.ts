/**
 * The parts that environments and agents exchange: text, files and JSON objects. One schema serves both protocols.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const Metadata = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const fileFields = {
  mimeType: Schema.optionalWith(Schema.String, { nullable: true }),
  name: Schema.optionalWith(Schema.String, { nullable: true })
}

/**
 * Carries plain text between a task and an environment or agent (`B-ENV-5`).
 *
 * `kind` may be left out of `make`, never on the wire. A `null` `metadata` decodes as absent, and unknown keys are dropped.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TextPart = Schema.Struct({
  kind: Schema.tag("text"),
  text: Schema.String,
  metadata: Schema.optionalWith(Metadata, { nullable: true })
})

/**
 * The value of a `TextPart`: a plain object `{ kind: "text", text, metadata? }`.
 *
 * @since 0.1.0
 * @category models
 */
export interface TextPart extends Schema.Schema.Type<typeof TextPart> {}

/**
 * Holds a file's content inline: `bytes` is base64 text, which is not checked here, as nothing on the wire promises it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FileWithBytes = Schema.Struct({ bytes: Schema.String, ...fileFields })

/**
 * The value of a `FileWithBytes`.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileWithBytes extends Schema.Schema.Type<typeof FileWithBytes> {}

/**
 * Points at a file's content: `uri` is any string, a URL or a path that both sides understand.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FileWithUri = Schema.Struct({ uri: Schema.String, ...fileFields })

/**
 * The value of a `FileWithUri`.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileWithUri extends Schema.Schema.Type<typeof FileWithUri> {}

/**
 * Carries a file, inline (`file.bytes`) or by reference (`file.uri`) (`B-ENV-5`).
 *
 * A file that names both decodes as its bytes. `mimeType`, `name` and `metadata` decode from `null` as absent.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FilePart = Schema.Struct({
  kind: Schema.tag("file"),
  file: Schema.Union(FileWithBytes, FileWithUri),
  metadata: Schema.optionalWith(Metadata, { nullable: true })
})

/**
 * The value of a `FilePart`: a plain object `{ kind: "file", file, metadata? }`.
 *
 * @since 0.1.0
 * @category models
 */
export interface FilePart extends Schema.Schema.Type<typeof FilePart> {}

/**
 * Carries a JSON object, such as the seed or the state of an environment (`B-ENV-5`).
 *
 * `data` is an object: lists, scalars and `null` do not decode.
 *
 * @since 0.1.0
 * @category schemas
 */
export const DataPart = Schema.Struct({
  kind: Schema.tag("data"),
  data: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  metadata: Schema.optionalWith(Metadata, { nullable: true })
})

/**
 * The value of a `DataPart`: a plain object `{ kind: "data", data, metadata? }`.
 *
 * @since 0.1.0
 * @category models
 */
export interface DataPart extends Schema.Schema.Type<typeof DataPart> {}

/**
 * Reads any part, told apart by `kind` (`B-ENV-4`, `B-ENV-5`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Part = Schema.Union(TextPart, FilePart, DataPart)

/**
 * Any part: text, file or data.
 *
 * @since 0.1.0
 * @category models
 */
export type Part = TextPart | FilePart | DataPart
