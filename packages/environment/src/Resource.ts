/**
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 * @category models
 */
export const TypeId: unique symbol = Symbol.for("@effect-agentenv/environment/Resource")

/**
 * @since 0.1.0
 * @category models
 */
export type TypeId = typeof TypeId

/**
 * What reading a resource answers: text, bytes, or several contents with a URI of their own.
 *
 * @since 0.1.0
 * @category models
 */
export type Content =
  | string
  | Uint8Array
  | ReadonlyArray<{
    readonly uri: string
    readonly mimeType?: string | undefined
    readonly content: string | Uint8Array
  }>

/**
 * An MCP resource as data: something a client may read by its URI. A `{variable}` in the URI makes it a template, whose handler
 * is given the variables.
 *
 * @since 0.1.0
 * @category models
 */
export interface Resource<Uri extends string> {
  readonly [TypeId]: TypeId
  readonly uri: Uri
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly mimeType: string | undefined
}

/**
 * Any resource, for constraints.
 *
 * @since 0.1.0
 * @category models
 */
export interface Any extends Resource<string> {}

/**
 * The names of a template's variables; `never` for a plain URI.
 *
 * @since 0.1.0
 * @category models
 */
export type Variables<Uri extends string> = Uri extends `${string}{${infer Name}}${infer Rest}` ? Name | Variables<Rest>
  : never

/**
 * Defines a resource. A variable stands for one segment: `parcels://shelf/{shelf}` matches `parcels://shelf/b2`, percent-decoded.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <const Uri extends string>(uri: Uri, options: {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
}): Resource<Uri> => ({
  [TypeId]: TypeId,
  uri,
  name: options.name,
  title: options.title,
  description: options.description,
  mimeType: options.mimeType
})
