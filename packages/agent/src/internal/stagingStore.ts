import * as Arr from "effect/Array"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createHash, randomUUID } from "node:crypto"
import { constants, rmSync } from "node:fs"
import * as Fs from "node:fs/promises"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import type * as Staging from "../Staging.ts"
import { StagingError, StagingUnavailable } from "../StagingError.ts"
import {
  absent,
  codeOf,
  contentOf,
  etagOf,
  type File,
  io,
  lstat,
  orElse,
  privateDirectory,
  prune,
  pruneBelow,
  walk,
  writeAll
} from "./stagingDisk.ts"
import { check, notFound } from "./stagingPath.ts"

const conflict = new StagingError({ reason: "Conflict", detail: "An object and a prefix cannot have the same name" })
const full = new StagingError({ reason: "Full", detail: "The staging store has no room for this" })
const changed = new StagingError({ reason: "Changed", detail: "The staged object is not the one that If-Match names" })
const otherLength = new StagingError({
  reason: "InvalidBody",
  detail: "The body has another length than Content-Length says"
})

const byPath: Order.Order<Staging.ListedObject> = Order.mapInput(Order.string, ({ path }) => path)

/** The objects of one directory: `objects` holds them, `incoming` what is on its way in or out. */
class Store {
  private readonly objects: string
  private readonly incoming: string
  private readonly maxBytes: number
  // what is stored and what is reserved for those that arrive
  private used: number
  private lastMicros: number
  // whoever changes names does it alone, so that sizes and conflicts hold
  private readonly alone = Effect.unsafeMakeSemaphore(1)

  constructor(objects: string, incoming: string, maxBytes: number, files: ReadonlyArray<File>) {
    this.objects = objects
    this.incoming = incoming
    this.maxBytes = maxBytes
    this.used = files.reduce((sum, file) => sum + file.size, 0)
    this.lastMicros = files.reduce((last, file) => Math.max(last, Number(file.mtimeNs / 1000n)), 0)
  }

  put<E, R>(
    path: string,
    content: Stream.Stream<Uint8Array, E, R>,
    options: Staging.PutOptions | undefined
  ): Effect.Effect<Staging.StagedObject, E | StagingError, R> {
    const declared = options?.size
    const target = Path.join(this.objects, path)
    const put = Effect.gen(this, function*() {
      const reservation = yield* this.reservation
      if (declared !== undefined) yield* reservation.grow(declared)
      yield* this.refuseConflict(target)
      const { file, name } = yield* this.temporary
      const hash = createHash("sha256")
      let size = 0
      yield* Stream.runForEachChunk(content, (received) =>
        Effect.suspend(() => {
          const chunks = Chunk.toReadonlyArray(received)
          const length = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
          size += length
          if (declared !== undefined && size > declared) return Effect.fail(otherLength)
          return Effect.zipRight(
            declared === undefined ? reservation.grow(length) : Effect.void,
            io(() => {
              const written = writeAll(file, chunks, length)
              // the disk works while we hash
              for (const chunk of chunks) hash.update(chunk)
              return written
            })
          )
        }))
      if (declared !== undefined && size < declared) return yield* otherLength
      const micros = yield* this.tick
      const etag = yield* io(async () => {
        // half a step on, so that rounding down gives this very microsecond
        const seconds = (micros + 0.5) / 1e6
        await file.utimes(seconds, seconds)
        return etagOf(await file.stat({ bigint: true }))
      })
      yield* Effect.uninterruptible(this.alone.withPermits(1)(this.commit(name, target, reservation)))
      return { path, size_bytes: size, etag, sha256: hash.digest("hex") }
    })
    return Effect.scoped(Effect.zipRight(check(path), put))
  }

  get(path: string): Effect.Effect<Staging.StagedContent, StagingError, Scope.Scope> {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW
    const open = io(() => orElse(Fs.open(Path.join(this.objects, path), flags), absent, undefined))
    return Effect.gen(function*() {
      yield* check(path)
      const file = yield* Effect.acquireRelease(open, (file) => Effect.promise(async () => file?.close()))
      if (file === undefined) return yield* notFound
      const stat = yield* io(() => file.stat({ bigint: true }))
      if (!stat.isFile()) return yield* notFound
      const size = Number(stat.size)
      return { size_bytes: size, etag: etagOf(stat), content: contentOf(file, size) }
    })
  }

  list(prefix: string): Effect.Effect<ReadonlyArray<Staging.ListedObject>, StagingError> {
    return Effect.zipRight(check(prefix), io(() => walk(Path.join(this.objects, prefix)))).pipe(
      Effect.map((files) => Arr.sort(files.map(({ etag, path, size }) => ({ path, size_bytes: size, etag })), byPath))
    )
  }

  remove(path: string, options: Staging.RemoveOptions | undefined): Effect.Effect<void, StagingError> {
    const target = Path.join(this.objects, path)
    const remove = Effect.gen(this, function*() {
      const stat = yield* io(() => lstat(target))
      if (stat === undefined || stat.isDirectory()) return yield* notFound
      if (options?.ifMatch !== undefined && options.ifMatch !== etagOf(stat)) return yield* changed
      yield* io(() => Fs.unlink(target))
      this.used -= Number(stat.size)
      yield* io(() => prune(this.objects, Path.dirname(target)))
    })
    return Effect.zipRight(check(path), Effect.uninterruptible(this.alone.withPermits(1)(remove)))
  }

  clear(prefix: string): Effect.Effect<void, StagingError> {
    const target = Path.join(this.objects, prefix)
    const trash = Path.join(this.incoming, randomUUID())
    // at once for all who look, however long the removal takes
    const detach = io(async () => {
      const stat = await lstat(target)
      if (stat === undefined || !stat.isDirectory()) return false
      await Fs.rename(target, trash)
      await prune(this.objects, Path.dirname(target))
      return true
    })
    const empty = io(async () => {
      const files = await walk(trash)
      await Fs.rm(trash, { recursive: true, force: true })
      for (const file of files) this.used -= file.size
    })
    return check(prefix).pipe(
      Effect.zipRight(Effect.uninterruptible(Effect.flatMap(
        this.alone.withPermits(1)(detach),
        (detached) => detached ? empty : Effect.void
      )))
    )
  }

  private readonly reservation: Effect.Effect<Reservation, never, Scope.Scope> = Effect.acquireRelease(
    Effect.sync((): Reservation => {
      let held = 0
      return {
        grow: (bytes) =>
          Effect.suspend(() => {
            if (this.used + bytes > this.maxBytes) return Effect.fail(full)
            this.used += bytes
            held += bytes
            return Effect.void
          }),
        keep: () => {
          held = 0
        },
        release: () => {
          this.used -= held
        }
      }
    }),
    (reservation) => Effect.sync(reservation.release)
  )

  private readonly temporary = Effect.acquireRelease(
    io(async () => {
      const name = Path.join(this.incoming, randomUUID())
      return { name, file: await Fs.open(name, "wx", 0o600) }
    }),
    ({ file, name }) =>
      Effect.promise(async () => {
        await file.close().catch(() => {})
        await Fs.rm(name, { force: true }).catch(() => {})
      })
  )

  /** A microsecond that no write of this store has had, so that no two have one tag (B-STG-7). */
  private readonly tick: Effect.Effect<number> = Effect.map(
    Clock.currentTimeMillis,
    (now) => this.lastMicros = Math.max(now * 1000, this.lastMicros + 1)
  )

  // What can be refused before the body is sent, is; `commit` has the last word.
  private refuseConflict(target: string): Effect.Effect<void, StagingError> {
    return Effect.flatMap(
      io(() => orElse(Fs.lstat(target).then((stat) => stat.isDirectory()), ["ENOENT"], false).catch(onConflict)),
      (isConflict) => isConflict ? Effect.fail(conflict) : Effect.void
    )
  }

  private commit(name: string, target: string, reservation: Reservation): Effect.Effect<void, StagingError> {
    const parent = Path.dirname(target)
    const rename = async (): Promise<boolean> => {
      await Fs.mkdir(parent, { recursive: true, mode: 0o700 })
      const old = await lstat(target)
      await Fs.rename(name, target)
      this.used -= Number(old?.size ?? 0n)
      reservation.keep()
      return false
    }
    return Effect.flatMap(
      io(() =>
        rename().catch(async (cause) => {
          await prune(this.objects, parent)
          return onConflict(cause)
        })
      ),
      (isConflict) => isConflict ? Effect.fail(conflict) : Effect.void
    )
  }
}

interface Reservation {
  readonly grow: (bytes: number) => Effect.Effect<void, StagingError>
  readonly keep: () => void
  readonly release: () => void
}

const onConflict = (cause: unknown): boolean => {
  if (["ENOTDIR", "EEXIST", "EISDIR", "ENOTEMPTY"].includes(codeOf(cause))) return true
  throw cause
}

const prepare = async (root: string, maxBytes: number): Promise<Store> => {
  await Fs.mkdir(root, { recursive: true })
  const objects = await privateDirectory(Path.join(root, "objects"))
  const incoming = await privateDirectory(Path.join(root, "incoming"))
  // what a killed server has left on its way (B-STG-14)
  await Promise.all(
    (await Fs.readdir(incoming)).map((name) => Fs.rm(Path.join(incoming, name), { recursive: true, force: true }))
  )
  await pruneBelow(objects, objects)
  return new Store(objects, incoming, maxBytes, await walk(objects))
}

/** A directory that ends with the scope, or with the process if that ends without it. */
const temporaryRoot: Effect.Effect<string, StagingError, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    io(async () => {
      const root = await Fs.mkdtemp(Path.join(tmpdir(), "agentenv-staging-"))
      const onExit = (): void => rmSync(root, { recursive: true, force: true })
      process.once("exit", onExit)
      return { root, onExit }
    }),
    ({ onExit, root }) =>
      Effect.promise(async () => {
        process.off("exit", onExit)
        await Fs.rm(root, { recursive: true, force: true }).catch(() => {})
      })
  ),
  ({ root }) => root
)

export const make = (
  options: { readonly directory: string | undefined; readonly maxBytes: number }
): Effect.Effect<Staging.Staging["Type"], StagingUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    const { directory, maxBytes } = options
    const scope = yield* Effect.scope
    let store: Effect.Effect<Store, StagingError>
    if (directory === undefined || maxBytes === 0) {
      store = yield* Effect.cached(Effect.uninterruptible(Effect.flatMap(
        Scope.extend(temporaryRoot, scope),
        (root) => io(() => prepare(root, maxBytes))
      )))
    } else {
      store = Effect.succeed(
        yield* Effect.tryPromise({
          try: () => prepare(directory, maxBytes),
          catch: (cause) => new StagingUnavailable({ directory, code: codeOf(cause) })
        })
      )
    }
    return {
      maxBytes,
      put: (path, content, options) => Effect.flatMap(store, (store) => store.put(path, content, options)),
      get: (path) => Effect.flatMap(store, (store) => store.get(path)),
      list: (prefix) => Effect.flatMap(store, (store) => store.list(prefix)),
      remove: (path, options) => Effect.flatMap(store, (store) => store.remove(path, options)),
      clear: (prefix) => Effect.flatMap(store, (store) => store.clear(prefix))
    }
  })
