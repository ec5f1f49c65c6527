/**
 * Handlers of `data/add` that turn parts into values or files, wherever their content lies.
 *
 * @since 0.1.0
 */
import type { Part } from "@effect-agentenv/protocol/Part"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { readsText } from "./internal/seedContent.ts"
import { contentOf, describe, errorOf, settings } from "./internal/seedRead.ts"
import { directory, saveAs } from "./internal/seedSave.ts"
import type { SeedError } from "./SeedError.ts"

/**
 * Which part a value came from: its place in `parts`, counted from 0, its kind, and what the caller said of a file.
 *
 * @since 0.1.0
 * @category models
 */
export interface PartInfo {
  readonly part: number
  readonly kind: Part["kind"]
  readonly name: string | undefined
  readonly mimeType: string | undefined
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

/**
 * A part as a file on this machine: `size` in bytes, and a `path` that is valid until the handler ends.
 *
 * @since 0.1.0
 * @category models
 */
export interface SeedFile extends PartInfo {
  readonly path: string
  readonly size: number
}

/**
 * How much of a part has been read, in bytes; `total` is absent if the source does not say.
 *
 * @since 0.1.0
 * @category models
 */
export interface Progress {
  readonly part: number
  readonly received: number
  readonly total?: number | undefined
}

/**
 * What a seed may be and how it is watched:
 *
 * - `maxBytes` 64 MiB: the largest part, checked before it is read where its size is known, and while it is read;
 * - `timeout` 5 minutes: how long a download may take;
 * - `onProgress`: called after every chunk that is read, once for an inline part; `load` has nothing to read of a `DataPart`;
 * - `directories`: where `file:` URLs may point once links are followed, anywhere if absent;
 * - `allowHttp` false: takes `http:` URLs beside `https:`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly maxBytes?: number | undefined
  readonly timeout?: Duration.DurationInput | undefined
  readonly onProgress?: ((progress: Progress) => Effect.Effect<void>) | undefined
  readonly directories?: ReadonlyArray<string> | undefined
  readonly allowHttp?: boolean | undefined
}

/**
 * The handler that an environment gives as its `add` (`B-ENV-4`).
 *
 * @since 0.1.0
 * @category models
 */
export type Handler<E, R> = (parts: ReadonlyArray<Part>) => Effect.Effect<void, E, R>

/**
 * Seeds an environment from values: every part becomes a value of the schema, then `use` is run for each, in their order.
 *
 * - A `DataPart` is its data.
 * - A file is its content, be it inline (`bytes`) or at a `file:` or `https:` URL, read as JSON (`P-ENV-5`). One whose `mimeType` is
 *   of another kind is refused, unless its name ends in `.json`.
 * - A `TextPart` is its text, read as JSON.
 * - If the schema's encoded side is text (`Schema.String`, `Schema.parseJson(...)`), files and texts are handed to it as they are.
 *
 * It is all or nothing: `use` is not run before every part has been read and decoded. What it does adds up (`B-ENV-17`), and its
 * failures are the handler's.
 *
 * @example
 * ```ts
 * import * as Seed from "@effect-agentenv/environment/Seed"
 * import { Effect, Ref, Schema } from "effect"
 *
 * const Users = Schema.Struct({ users: Schema.Array(Schema.String) })
 *
 * const handlers = Effect.gen(function*() {
 *   const state = yield* Ref.make<ReadonlyArray<string>>([])
 *   return {
 *     reset: Ref.set(state, []),
 *     add: Seed.load(Users, ({ users }) => Ref.update(state, (known) => [...known, ...users]), {
 *       directories: ["/data"],
 *       onProgress: ({ part, received, total }) => Effect.logDebug("seeding", { part, received, total })
 *     })
 *   }
 * })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const load = <A, I, R, X, E, R2>(
  schema: Schema.Schema<A, I, R>,
  use: (value: A, part: PartInfo) => Effect.Effect<X, E, R2>,
  options?: Options
): Handler<E | SeedError, R | R2> => {
  const configured = settings(options)
  const asText = readsText(schema.ast)
  const decode = Schema.decodeUnknown(schema)

  const decoded = (content: unknown, info: PartInfo): Effect.Effect<A, SeedError, R> =>
    Effect.suspend(() => decode(content)).pipe(
      Effect.mapError((error) => errorOf(info, "wrong-shape", WireSchema.formatIssues(error).replaceAll("\n", "; "))),
      // A recursive schema follows the content's depth, which is the caller's to choose.
      Effect.catchSomeDefect((defect) =>
        defect instanceof RangeError && defect.message.includes("call stack")
          ? Option.some(Effect.fail(errorOf(info, "wrong-shape", "is nested too deeply")))
          : Option.none()
      )
    )

  return (parts) =>
    Effect.forEach(parts, (part, index) => {
      const info = describe(part, index)
      return contentOf(part, info, asText, configured).pipe(
        Effect.flatMap((content) => decoded(content, info)),
        Effect.map((value) => [value, info] as const)
      )
    }).pipe(
      Effect.flatMap((values) => Effect.forEach(values, ([value, info]) => use(value, info), { discard: true }))
    )
}

/**
 * Seeds an environment from files, whatever they hold: every part becomes a file in a temporary directory, then `use` is run for
 * each, in their order. Texts become `text/plain` and data `application/json`, so seeds of mixed kinds can be told apart.
 *
 * Content goes to disk as it arrives, so memory stays flat. It is all or nothing: `use` is not run before every part is on disk.
 * The directory is removed when the handler ends, so a file that shall stay is to be moved or copied. The name and type of a file
 * are the caller's and do not bind its content.
 *
 * @since 0.1.0
 * @category constructors
 */
export const files = <X, E, R>(
  use: (file: SeedFile) => Effect.Effect<X, E, R>,
  options?: Options
): Handler<E | SeedError, Exclude<R, Scope.Scope>> => {
  const configured = settings(options)
  return (parts) =>
    directory.pipe(
      Effect.flatMap((folder) => Effect.forEach(parts, (part, index) => saveAs(part, index, folder, configured))),
      Effect.flatMap((saved) => Effect.forEach(saved, (file) => use(file), { discard: true })),
      Effect.scoped
    )
}
