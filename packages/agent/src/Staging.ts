/**
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as form from "./internal/stagingForm.ts"
import { check } from "./internal/stagingPath.ts"
import * as internal from "./internal/stagingStore.ts"
import type { StagingError, StagingUnavailable } from "./StagingError.ts"

/**
 * What a write answers: the object's path, its size in bytes, its quoted tag and the SHA-256 of its bytes in hex (B-STG-5).
 *
 * @since 0.1.0
 * @category schemas
 */
export const StagedObject = Schema.Struct({
  path: Schema.String,
  size_bytes: Schema.Int,
  etag: Schema.String,
  sha256: Schema.String
})

/**
 * What a write answers.
 *
 * @since 0.1.0
 * @category models
 */
export type StagedObject = typeof StagedObject.Type

/**
 * An object of a listing, its path relative to the listed prefix (B-STG-8).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListedObject = Schema.Struct({ path: Schema.String, size_bytes: Schema.Int, etag: Schema.String })

/**
 * An object of a listing.
 *
 * @since 0.1.0
 * @category models
 */
export type ListedObject = typeof ListedObject.Type

/**
 * An object that is open for reading: what is read is what was there when it was opened, whatever becomes of its name.
 *
 * @since 0.1.0
 * @category models
 */
export interface StagedContent {
  readonly size_bytes: number
  readonly etag: string
  readonly content: Stream.Stream<Uint8Array, StagingError>
}

/**
 * `size`: the bytes that the content must have. Room for them is reserved before the first is read; without it room is reserved as they
 * arrive (B-STG-5, B-STG-11).
 *
 * @since 0.1.0
 * @category models
 */
export interface PutOptions {
  readonly size?: number | undefined
}

/**
 * `ifMatch`: the tag that the object must have (B-STG-9).
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoveOptions {
  readonly ifMatch?: string | undefined
}

/**
 * Where objects wait that the platform brings or fetches: bounded, streaming both ways. Paths are decoded and relative, their first segment
 * the only secret that protects them (B-STG-4, B-STG-15); a prefix is a path without the slash at its end.
 *
 * - `put` stores or replaces: all of it or nothing, visible at its end. Its content's failures are its own.
 * - `get` opens an object until the scope closes.
 * - `list` sorts what is below a prefix, `clear` removes it; neither minds that nothing is there.
 * - `remove` fails with `Changed` when `ifMatch` is not the object's tag.
 *
 * @since 0.1.0
 * @category tags
 */
export class Staging extends Context.Tag("@effect-agentenv/agent/Staging")<Staging, {
  /** The bytes that may be stored and under way together; 0 is a store that is off. */
  readonly maxBytes: number
  readonly put: <E, R>(
    path: string,
    content: Stream.Stream<Uint8Array, E, R>,
    options?: PutOptions
  ) => Effect.Effect<StagedObject, E | StagingError, R>
  readonly get: (path: string) => Effect.Effect<StagedContent, StagingError, Scope.Scope>
  readonly list: (prefix: string) => Effect.Effect<ReadonlyArray<ListedObject>, StagingError>
  readonly remove: (path: string, options?: RemoveOptions) => Effect.Effect<void, StagingError>
  readonly clear: (prefix: string) => Effect.Effect<void, StagingError>
}>() {}

/**
 * An upload in the form of `multipart/form-data`: the value of its `Content-Type` and its bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Form<E = never, R = never> {
  readonly contentType: string | undefined
  readonly content: Stream.Stream<Uint8Array, E, R>
}

/**
 * Stores the field `file` of a form below a prefix, under the name that the field `key` before it says. Fields of other names are
 * ignored, as is what follows the file. At most 32 fields of 64 KiB, 16 KiB of headers a part; else `InvalidForm` (B-STG-10).
 *
 * @since 0.1.0
 * @category combinators
 */
export const post = <E, R>(
  prefix: string,
  upload: Form<E, R>
): Effect.Effect<StagedObject, E | StagingError, Staging | R> =>
  Effect.scoped(Effect.gen(function*() {
    const staging = yield* Staging
    yield* check(prefix)
    const { file, key } = yield* form.parse(upload)
    return yield* staging.put(`${prefix}/${key}`, file)
  }))

/**
 * `directory`: where the objects live, for one process alone; without it a private temporary directory, made when first used and removed
 * with the layer. `maxBytes`: 16 GiB by default; 0 turns the store off (B-STG-2).
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly directory?: string | undefined
  readonly maxBytes?: number | undefined
}

/**
 * The bytes that a store takes when nobody says otherwise: 16 GiB (B-STG-2).
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaultMaxBytes: number = 16 * 1024 ** 3

/**
 * A store in a directory. What is there already counts; what a killed server left half written is removed (B-STG-14). The store's own
 * folders are its user's alone, the directory itself is left as it is (B-STG-13).
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<Staging, StagingUnavailable> =>
  Layer.scoped(
    Staging,
    internal.make({ directory: options.directory, maxBytes: options.maxBytes ?? defaultMaxBytes })
  )

const blankAsNone = (name: string): Config.Config<Option.Option<string>> =>
  Config.map(
    Config.option(Config.string(name)),
    Option.flatMap((text) => text.trim() === "" ? Option.none() : Option.some(text.trim()))
  )

const limitName = "AGENTENV_STAGING_MAX_BYTES"

const parseLimit = (text: Option.Option<string>): Either.Either<number, ConfigError.ConfigError> => {
  if (Option.isNone(text)) return Either.right(defaultMaxBytes)
  const limit = /^\+?\d+$/.test(text.value) ? Number(text.value) : -1
  return Number.isSafeInteger(limit) && limit >= 0
    ? Either.right(limit)
    : Either.left(ConfigError.InvalidData(
      [limitName],
      `${limitName} is a number of bytes from 0 (off) to 2^53 - 1, not '${text.value}'`
    ))
}

/**
 * What the variables `AGENTENV_STAGING_DIR` and `AGENTENV_STAGING_MAX_BYTES` say; a blank one says nothing (B-STG-2).
 *
 * @since 0.1.0
 * @category constructors
 */
export const config: Config.Config<Options> = Config.map(
  Config.all({
    directory: blankAsNone("AGENTENV_STAGING_DIR"),
    maxBytes: Config.mapOrFail(blankAsNone(limitName), parseLimit)
  }),
  ({ directory, maxBytes }) => ({ directory: Option.getOrUndefined(directory), maxBytes })
)

/**
 * The store that the environment's variables describe. A limit that is negative or no number fails with an error that names its variable.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig: Layer.Layer<Staging, ConfigError.ConfigError | StagingUnavailable> = Layer.unwrapEffect(
  Effect.map(config, layer)
)

/**
 * The identifier of the extension.
 *
 * @since 0.1.0
 * @category constructors
 */
export const uri = "urn:agentenv:staging/v1" as const

/**
 * The path that all staged objects are below (B-STG-3).
 *
 * @since 0.1.0
 * @category constructors
 */
export const endpoint = "/ext/staging" as const

/**
 * The entry of an agent's card, the last of its extensions (B-STG-1, B-CARD-6).
 *
 * @since 0.1.0
 * @category models
 */
export interface CardExtension {
  readonly uri: typeof uri
  readonly description: string
  readonly params: { readonly endpoint: typeof endpoint; readonly max_bytes: number }
}

/**
 * The card's entry for a store, unless it is off.
 *
 * @since 0.1.0
 * @category combinators
 */
export const extension = (staging: Staging["Type"]): Option.Option<CardExtension> =>
  staging.maxBytes === 0 ? Option.none() : Option.some({
    uri,
    description: "Objects that wait here for the agent, or for the platform to fetch them.",
    params: { endpoint, max_bytes: staging.maxBytes }
  })
