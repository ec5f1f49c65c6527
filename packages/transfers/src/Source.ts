/**
 * What an upload reads: a file, bytes, or a stream whose length is known. Every attempt opens it anew.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { BigIntStats } from "node:fs"
import * as FileSystem from "node:fs/promises"
import { changed, codeOf } from "./internal/failures.ts"
import { InvalidTransfer } from "./TransferError.ts"

/**
 * Content to upload: `size` says how many bytes it has, and `open` reads them from the start, as often as it is run.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source {
  readonly size: Effect.Effect<number, InvalidTransfer>
  readonly open: Effect.Effect<AsyncIterable<Uint8Array>, InvalidTransfer, Scope.Scope>
}

/** Large enough that the cost of a chunk is that of its bytes. */
const chunkSize = 256 * 1024

const unreadable = (error: unknown): InvalidTransfer => {
  const code = codeOf(error)
  return new InvalidTransfer({ message: `The source can't be read${code === undefined ? "" : ` (${code})`}.` })
}

const io = <A>(operation: () => Promise<A>): Effect.Effect<A, InvalidTransfer> =>
  Effect.tryPromise({ try: operation, catch: unreadable })

const mustBeFile = (isFile: boolean): Effect.Effect<void, InvalidTransfer> =>
  isFile ? Effect.void : Effect.fail(new InvalidTransfer({ message: "The source is not a regular file." }))

const sameContent = (before: BigIntStats, after: BigIntStats): boolean =>
  before.size === after.size && before.mtimeNs === after.mtimeNs

/** A byte more than there should be, so that a file that has grown is seen. */
const readSmall = async (handle: FileSystem.FileHandle, size: number): Promise<Uint8Array> => {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(size + 1), 0, size + 1, 0)
  return buffer.subarray(0, bytesRead)
}

const readFile = async function*(handle: FileSystem.FileHandle, before: BigIntStats): AsyncGenerator<Uint8Array> {
  try {
    if (before.size < chunkSize) yield await readSmall(handle, Number(before.size))
    else yield* handle.createReadStream({ highWaterMark: chunkSize, autoClose: false })
    if (!sameContent(before, await handle.stat({ bigint: true }))) throw changed()
  } catch (error) {
    throw error instanceof InvalidTransfer ? error : unreadable(error)
  }
}

/**
 * Uploads a regular file. One that is written while it is read fails the upload with `InvalidTransfer` (`B-OBJ-7`).
 *
 * @since 0.1.0
 * @category constructors
 */
export const file = (path: string): Source => ({
  size: io(() => FileSystem.stat(path)).pipe(
    Effect.tap((stat) => mustBeFile(stat.isFile())),
    Effect.map((stat) => stat.size)
  ),
  open: Effect.gen(function*() {
    const handle = yield* Effect.acquireRelease(
      io(() => FileSystem.open(path, "r")),
      (handle) => Effect.ignore(io(() => handle.close()))
    )
    const before = yield* io(() => handle.stat({ bigint: true }))
    yield* mustBeFile(before.isFile())
    return readFile(handle, before)
  })
})

const slices = async function*(content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < content.length; offset += chunkSize) yield content.subarray(offset, offset + chunkSize)
}

/**
 * Uploads bytes, or a text as UTF-8. The bytes must not be written to before the upload ends.
 *
 * @since 0.1.0
 * @category constructors
 */
export const bytes = (content: Uint8Array | string): Source => {
  const encoded = typeof content === "string" ? new TextEncoder().encode(content) : content
  return { size: Effect.succeed(encoded.length), open: Effect.sync(() => slices(encoded)) }
}

/**
 * Uploads a stream of exactly `size` bytes, which is run again for every attempt. A stream that fails, ends early or goes on
 * fails the upload with `InvalidTransfer`; its own failure is not shown, since nobody knows what it holds.
 *
 * @since 0.1.0
 * @category constructors
 */
export const stream = <E>(content: Stream.Stream<Uint8Array, E>, options: { readonly size: number }): Source => ({
  size: Effect.succeed(options.size),
  open: Effect.gen(function*() {
    const pull = yield* Stream.toPull(content)
    const runtime = yield* Effect.runtime()
    const closed = new AbortController()
    yield* Effect.addFinalizer(() => Effect.sync(() => closed.abort()))
    const next = Effect.exit(pull)
    return (async function*(): AsyncGenerator<Uint8Array> {
      while (true) {
        // oxlint-disable-next-line no-await-in-loop
        const exit = await Runtime.runPromise(runtime)(next, { signal: closed.signal })
        if (Exit.isSuccess(exit)) yield* exit.value
        else if (Option.exists(Cause.failureOption(exit.cause), Option.isNone)) return
        else throw new InvalidTransfer({ message: "The source failed while it was read." })
      }
    })()
  })
})
