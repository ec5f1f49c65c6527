/**
 * Directories as tar archives, so that a workspace travels as one object: packed as it is uploaded, unpacked without trust.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { packed, type PackOptions } from "./internal/pack.ts"
import { unpacked } from "./internal/unpack.ts"
import type { Source } from "./Source.ts"
import type { InvalidTransfer, TransferTooLarge } from "./TransferError.ts"

export type {
  /**
   * What is packed: `exclude` is asked with each path, relative and POSIX, and leaves out what it says yes to, directories with all
   * that is in them.
   *
   * @since 0.1.0
   * @category models
   */
  PackOptions
}

/**
 * What an archive may hold: `maxBytes` (5 GiB) of content in all, `maxEntries` (1,000,000) files, directories and links.
 *
 * @since 0.1.0
 * @category models
 */
export interface UnpackOptions {
  readonly maxBytes?: number | undefined
  readonly maxEntries?: number | undefined
}

/**
 * What came out of an archive: how many files, directories and links, and the bytes of the files.
 *
 * @since 0.1.0
 * @category models
 */
export interface Unpacked {
  readonly entries: number
  readonly bytes: number
}

/**
 * Makes a directory a source to upload: a tar archive that is written as it is sent, so it takes no room, with its length known
 * beforehand. It lists the directory once, sorted by path; files that change their size afterwards fail the upload. Links that lead
 * out of the directory, devices, pipes and sockets are refused with `InvalidTransfer`.
 *
 * @example
 * ```ts
 * import type { WriteObject } from "@effect-agentenv/protocol/Grant"
 * import { Transfers } from "@effect-agentenv/transfers/Transfers"
 * import * as Workspace from "@effect-agentenv/transfers/Workspace"
 * import { Effect } from "effect"
 *
 * const save = (object: WriteObject) =>
 *   Effect.gen(function*() {
 *     const transfers = yield* Transfers
 *     const archive = yield* Workspace.pack("/workspace", { exclude: (path) => path === ".cache" })
 *     return yield* transfers.upload(object, archive)
 *   })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const pack = (directory: string, options?: PackOptions): Effect.Effect<Source, InvalidTransfer> =>
  packed(directory, options ?? {})

/**
 * Unpacks a tar archive, uncompressed, into a directory, which is made if it is missing; files that are there already are
 * replaced. The archive is read twice: nothing is written before all of it has been checked.
 *
 * Absolute paths, `..`, links that lead out, devices, pipes and archives that break off are refused with `InvalidTransfer`, more
 * than the options allow with `TransferTooLarge`. Nothing is written through a link. Owners and set-id bits are dropped.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unpack = (
  archive: Source,
  directory: string,
  options?: UnpackOptions
): Effect.Effect<Unpacked, InvalidTransfer | TransferTooLarge> =>
  unpacked(archive, directory, {
    maxBytes: options?.maxBytes ?? 5 * 1024 ** 3,
    maxEntries: options?.maxEntries ?? 1_000_000
  }).pipe(Effect.withSpan("Workspace.unpack"))
