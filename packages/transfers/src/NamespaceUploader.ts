/**
 * Uploads many objects below one path, within the limits of one grant.
 *
 * @since 0.1.0
 */
import { RelativePath, type Uploaded, type WriteNamespaceGrant } from "@effect-agentenv/protocol/Grant"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { namespaceFull, tooLarge } from "./internal/failures.ts"
import type { Source } from "./Source.ts"
import { InvalidTransfer, type TransferError } from "./TransferError.ts"
import { type Options, Transfers } from "./Transfers.ts"

/**
 * What a namespace holds of what was uploaded: how many objects, and their bytes. A path that was uploaded twice counts once, with
 * its last size; uploads that failed don't count (`B-OBJ-15`).
 *
 * @since 0.1.0
 * @category models
 */
export interface Usage {
  readonly objects: number
  readonly bytes: number
}

/**
 * Uploads to one namespace, one object after the other, however many fibers ask (`B-OBJ-15`).
 *
 * - `upload` takes a path below the grant's `root_path`; one that isn't relative, POSIX and normalized is `InvalidTransfer`, and what
 *   would exceed the limits is `TransferTooLarge`, both before a request is made.
 * - `usage` says how much of the grant is used.
 *
 * @since 0.1.0
 * @category models
 */
export interface NamespaceUploader {
  readonly upload: (path: string, source: Source, options?: Options) => Effect.Effect<Uploaded, TransferError>
  readonly usage: Effect.Effect<Usage>
}

const isRelative = Schema.is(RelativePath)

/**
 * Begins to upload to a namespace. The uploader counts what it has uploaded itself, so make one for each grant and keep it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (grant: WriteNamespaceGrant): Effect.Effect<NamespaceUploader, never, Transfers> =>
  Effect.gen(function*() {
    const transfers = yield* Transfers
    const turn = yield* Effect.makeSemaphore(1)
    const sizes = new Map<string, number>()
    let total = 0

    const admit = (path: string, size: number): Effect.Effect<void, TransferError> => {
      if (size > grant.max_object_bytes) return Effect.fail(tooLarge(grant.max_object_bytes))
      if (!sizes.has(path) && sizes.size >= grant.max_objects) return Effect.fail(namespaceFull("object limit"))
      return total - (sizes.get(path) ?? 0) + size > grant.max_total_bytes
        ? Effect.fail(namespaceFull("total-byte limit"))
        : Effect.void
    }

    const upload = Effect.fn("NamespaceUploader.upload")(
      function*(path: string, source: Source, options?: Options) {
        if (!isRelative(path) || path.includes("\0")) {
          return yield* new InvalidTransfer({ message: "The path must be relative, POSIX and normalized." })
        }
        const size = yield* source.size
        yield* admit(path, size)
        const object = {
          write: grant.write,
          expires_at: grant.expires_at,
          path: `${grant.root_path}/${path}`,
          max_bytes: grant.max_object_bytes
        }
        const uploaded = yield* transfers.uploadForm(
          object,
          { size: Effect.succeed(size), open: source.open },
          options
        )
        total += uploaded.size_bytes - (sizes.get(path) ?? 0)
        sizes.set(path, uploaded.size_bytes)
        return uploaded
      },
      turn.withPermits(1)
    )

    return { upload, usage: Effect.sync(() => ({ objects: sizes.size, bytes: total })) }
  })
