/**
 * What `data/get` answers, written once: inline without a grant, uploaded with one.
 *
 * @since 0.1.0
 */
import * as DataObjects from "@effect-agentenv/protocol/DataObjects"
import type { Part } from "@effect-agentenv/protocol/Part"
import * as NamespaceUploader from "@effect-agentenv/transfers/NamespaceUploader"
import * as Source from "@effect-agentenv/transfers/Source"
import type { TransferError } from "@effect-agentenv/transfers/TransferError"
import { InvalidTransfer, TransferTooLarge } from "@effect-agentenv/transfers/TransferError"
import type { Transfers } from "@effect-agentenv/transfers/Transfers"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"
import type { GetRequest } from "./Environment.ts"

/**
 * One object of an export: where it lies below a grant's root, and what it holds. `inline` is what stands for it where there is no
 * grant.
 *
 * @since 0.1.0
 * @category models
 */
export interface Item {
  /** A normalized relative POSIX path, such as `export/state.json`. */
  readonly path: string
  readonly name: string
  readonly mimeType: string
  readonly source: Source.Source
  /** The JSON object that it is, if it is one: it travels as a data part then. */
  readonly data?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Options of `make`. `maxInlineBytes` is what a file may have without a grant (64 MiB): larger ones fail with `TransferTooLarge`,
 * which tells the caller to hand a grant.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly maxInlineBytes?: number | undefined
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/**
 * A value as JSON: an object is a data part without a grant, anything else a file.
 *
 * @since 0.1.0
 * @category constructors
 */
export const json = (path: string, value: unknown): Item => ({
  path,
  name: nameOf(path),
  mimeType: "application/json",
  source: Source.bytes(JSON.stringify(value) ?? "null"),
  data: Predicate.isReadonlyRecord(value) && !Array.isArray(value) ? value : undefined
})

/**
 * Bytes, or a text as UTF-8.
 *
 * @since 0.1.0
 * @category constructors
 */
export const bytes = (
  path: string,
  content: Uint8Array | string,
  mimeType = typeof content === "string" ? "text/plain" : "application/octet-stream"
): Item => ({ path, name: nameOf(path), mimeType, source: Source.bytes(content) })

/**
 * A file on disk, read when it is needed and streamed where there is a grant.
 *
 * @since 0.1.0
 * @category constructors
 */
export const file = (path: string, from: string, mimeType = "application/octet-stream"): Item => ({
  path,
  name: nameOf(path),
  mimeType,
  source: Source.file(from)
})

const collect = (source: Source.Source, max: number): Effect.Effect<Uint8Array, InvalidTransfer | TransferTooLarge> =>
  Effect.scoped(Effect.gen(function*() {
    const size = yield* source.size
    if (size > max) {
      return yield* new TransferTooLarge({ message: `The export is larger than ${max} bytes: hand a write_namespace.` })
    }
    const chunks = yield* source.open
    return yield* Effect.tryPromise({
      try: async () => {
        const read: Array<Uint8Array> = []
        for await (const chunk of chunks) read.push(chunk)
        return Buffer.concat(read)
      },
      catch: (error) =>
        error instanceof InvalidTransfer ? error : new InvalidTransfer({ message: "The source can't be read." })
    })
  }))

const inline = (item: Item, max: number): Effect.Effect<Part, TransferError> =>
  item.data !== undefined
    ? Effect.succeed({ kind: "data", data: item.data })
    : Effect.map(collect(item.source, max), (content) => ({
      kind: "file",
      file: { bytes: Encoding.encodeBase64(content), name: item.name, mimeType: item.mimeType }
    }))

/**
 * The `get` handler of an environment that exports: an object a time uploaded to the caller's namespace and answered by its path
 * (B-DOBJ-5, B-DOBJ-6), or all of them inline when the caller handed no grant (B-DOBJ-2). An environment with it is advertised as
 * one that takes grants (B-DOBJ-1).
 *
 * Fails with a `TransferError`, which holds nothing of the grant.
 *
 * @example
 * import { Export } from "@effect-agentenv/environment"
 * import { Effect, Ref } from "effect"
 *
 * const get = (state: Ref.Ref<{ readonly parcels: ReadonlyArray<string> }>) =>
 *   Export.make(Effect.map(Ref.get(state), (value) => [Export.json("export/state.json", value)]))
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <E, R>(
  items: Effect.Effect<ReadonlyArray<Item>, E, R>,
  options: Options = {}
): (request: GetRequest) => Effect.Effect<ReadonlyArray<Part>, E | TransferError, R | Transfers> =>
({ writeNamespace }) =>
  Effect.gen(function*() {
    const exported = yield* items
    if (writeNamespace === undefined) {
      return yield* Effect.forEach(exported, (item) => inline(item, options.maxInlineBytes ?? 64 * 1024 * 1024))
    }
    const uploader = yield* NamespaceUploader.make(writeNamespace)
    return yield* Effect.forEach(exported, (item) =>
      Effect.map(
        uploader.upload(item.path, item.source),
        (): Part => DataObjects.uploadedPart(item.path, { name: item.name, mimeType: item.mimeType })
      ))
  })
