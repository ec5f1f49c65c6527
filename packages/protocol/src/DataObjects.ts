/**
 * State that an environment uploads instead of answering it inline: an extension of `data/get` (area DOBJ of the contract).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { ExtensionEntry } from "./EnvironmentCard.ts"
import { isNormalized } from "./internal/paths.ts"
import type { FilePart, Part } from "./Part.ts"

/**
 * The URI of the extension, and the key of its marker in a part's `metadata` (`B-DOBJ-1`, `B-DOBJ-5`).
 *
 * @since 0.1.0
 * @category models
 */
export const URI = "urn:agentenv:data-objects/v1"

/**
 * What a card shows of an environment whose `data/get` takes a write grant (`B-DOBJ-1`).
 *
 * @since 0.1.0
 * @category models
 */
export const extension: ExtensionEntry = {
  uri: URI,
  description: "data/get takes a write_namespace grant and can upload its state there, answering where it lies.",
  params: null,
  required: null
}

/**
 * Tells that a part names no object below the namespace's root: its marker is no object, or its path is not normalized.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidDataObject extends Schema.TaggedError<InvalidDataObject>(
  "@effect-agentenv/protocol/InvalidDataObject"
)("InvalidDataObject", { reason: Schema.Literal("marker", "path") }) {
  /**
   * @since 0.1.0
   */
  override get message(): string {
    return this.reason === "marker"
      ? `the metadata "${URI}" of a part must be an object with a path`
      : "an uploaded object's path must be a normalized relative POSIX path"
  }
}

/**
 * Builds the part that answers `data/get` for an object uploaded to `path`, relative to the namespace's root (`B-DOBJ-5`).
 *
 * Throws `InvalidDataObject` for a path that is not normalized; no upload to such a path can have succeeded.
 *
 * @since 0.1.0
 * @category constructors
 */
export const uploadedPart = (
  path: string,
  options?: { readonly name?: string | undefined; readonly mimeType?: string | undefined }
): FilePart => {
  if (!isNormalized(path)) throw new InvalidDataObject({ reason: "path" })
  return {
    kind: "file",
    file: {
      uri: path,
      ...(options?.mimeType === undefined ? {} : { mimeType: options.mimeType }),
      ...(options?.name === undefined ? {} : { name: options.name })
    },
    metadata: { [URI]: { path } }
  }
}

/**
 * Reads where a part's object was uploaded, relative to the namespace's root: `undefined` for a part that isn't such an object
 * (`B-DOBJ-5`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const path = (part: Part): Effect.Effect<string | undefined, InvalidDataObject> => {
  const marker = part.kind === "file" ? part.metadata?.[URI] : undefined
  if (marker === undefined || marker === null) return Effect.succeed(undefined)
  if (!Predicate.isReadonlyRecord(marker)) return Effect.fail(new InvalidDataObject({ reason: "marker" }))
  const found = marker["path"]
  return typeof found === "string" && isNormalized(found)
    ? Effect.succeed(found)
    : Effect.fail(new InvalidDataObject({ reason: "path" }))
}
