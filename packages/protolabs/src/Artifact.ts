/**
 * Artifacts as protoLabs' agents name them: the answer's text, and data beside it.
 *
 * @since 0.1.0
 */
import * as Part from "./Part.ts"

/**
 * An artifact as A2A 1.0 has it on the wire.
 *
 * @since 0.1.0
 * @category models
 */
export interface Artifact {
  readonly artifactId: string
  readonly name: string
  readonly parts?: ReadonlyArray<unknown>
  readonly metadata?: { readonly [key: string]: unknown }
}

/**
 * What an artifact is called by.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly artifactId: string
  readonly name?: string | undefined
}

/**
 * Makes an artifact of a text, named `answer` unless it has another name.
 *
 * @since 0.1.0
 * @category constructors
 */
export const text = (text: string, options: Options): Artifact => ({
  artifactId: options.artifactId,
  name: options.name ?? "answer",
  parts: [Part.text(text, { mediaType: "text/plain" })]
})

/**
 * Makes an artifact of parts in any envelope, named `data` unless it has another name. An empty list isn't written.
 *
 * @since 0.1.0
 * @category constructors
 */
export const data = (parts: ReadonlyArray<{ readonly [key: string]: unknown }>, options: Options): Artifact => ({
  artifactId: options.artifactId,
  name: options.name ?? "data",
  ...(parts.length === 0 ? {} : { parts: parts.map((part) => Part.toFlat(part)) })
})
