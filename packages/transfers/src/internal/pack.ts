/* oxlint-disable no-await-in-loop -- a directory is packed in its order, one file open at a time */
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { constants, type Dirent } from "node:fs"
import * as FileSystem from "node:fs/promises"
import * as Path from "node:path"
import * as Tar from "tar-stream"
import type { Source } from "../Source.ts"
import type { InvalidTransfer } from "../TransferError.ts"
import { broken, refused, staysInside } from "./archive.ts"
import { drained } from "./drained.ts"
import { changed } from "./failures.ts"

/** See `Workspace.PackOptions`. */
export interface PackOptions {
  readonly exclude?: ((path: string) => boolean) | undefined
}

interface Entry extends Tar.Headers {
  readonly size: number
  readonly type: "file" | "directory" | "symlink"
}

const entryOf = async (root: string, name: string, dirent: Dirent): Promise<Entry> => {
  const path = Path.join(root, name)
  const { mode, mtime, size } = await FileSystem.lstat(path)
  const common = { name, mode: mode & 0o777, mtime, uid: 0, gid: 0 }
  if (dirent.isDirectory()) return { ...common, type: "directory", size: 0 }
  if (dirent.isFile()) return { ...common, type: "file", size }
  if (!dirent.isSymbolicLink()) throw refused(name, "is neither a file, a directory nor a link")
  const linkname = await FileSystem.readlink(path)
  if (!staysInside(name, linkname)) throw refused(name, "is a link that leads out")
  return { ...common, type: "symlink", size: 0, linkname }
}

const list = async (root: string, options: PackOptions): Promise<ReadonlyArray<Entry>> => {
  const entries: Array<Entry> = []
  const walk = async (directory: string): Promise<void> => {
    const dirents = await FileSystem.readdir(Path.join(root, directory), { withFileTypes: true })
    // oxlint-disable-next-line unicorn/no-array-sort -- ours alone, and ES2022 has no other
    for (const dirent of dirents.sort((a, b) => a.name < b.name ? -1 : 1)) {
      const name = directory === "" ? dirent.name : `${directory}/${dirent.name}`
      if (options.exclude?.(name) === true) continue
      if (dirent.name.includes("\\")) throw refused(name, "has a backslash in its name")
      const entry = await entryOf(root, name, dirent)
      entries.push(entry)
      if (entry.type === "directory") await walk(name)
    }
  }
  await walk("")
  return entries
}

type Content = AsyncIterable<Uint8Array> | ReadonlyArray<Uint8Array>

const add = async (pack: Tar.Pack, entry: Entry, content: Content): Promise<void> => {
  const sink = pack.entry({ ...entry, name: entry.type === "directory" ? `${entry.name}/` : entry.name })
  const closed = once(sink, "close")
  closed.catch(() => {})
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    if (size > entry.size || pack.destroyed) throw changed()
    if (!sink.write(chunk)) await drained(sink)
  }
  if (size !== entry.size) throw changed()
  sink.end()
  await closed
}

const tar = async function*(
  entries: ReadonlyArray<Entry>,
  contentOf: (entry: Entry) => Content
): AsyncGenerator<Uint8Array> {
  const pack = Tar.pack()
  const feed = async (): Promise<void> => {
    for (const entry of entries) await add(pack, entry, contentOf(entry))
    pack.finalize()
  }
  feed().catch((error) => pack.destroy(error))
  yield* pack
}

const block = 512

/** Headers have the size that they have for empty files; contents fill up their last block. */
const lengthOf = async (entries: ReadonlyArray<Entry>): Promise<number> => {
  let length = entries.reduce((sum, { size }) => sum + Math.ceil(size / block) * block, 0)
  for await (const chunk of tar(entries.map((entry) => ({ ...entry, size: 0 })), () => [])) length += chunk.length
  return length
}

const contentOf = (root: string) =>
  async function*({ name, type }: Entry): AsyncGenerator<Uint8Array> {
    if (type !== "file") return
    const handle = await FileSystem.open(Path.join(root, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    try {
      yield* handle.createReadStream({ highWaterMark: 256 * 1024, autoClose: false })
    } finally {
      await handle.close()
    }
  }

const unreadable = broken("The directory can't be packed")

const rethrown = async function*(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } catch (error) {
    throw unreadable(error)
  }
}

export const packed = (directory: string, options: PackOptions): Effect.Effect<Source, InvalidTransfer> =>
  Effect.tryPromise({
    try: async () => {
      const entries = await list(directory, options)
      return { entries, length: await lengthOf(entries) }
    },
    catch: unreadable
  }).pipe(
    Effect.map(({ entries, length }) => ({
      size: Effect.succeed(length),
      open: Effect.sync(() => rethrown(tar(entries, contentOf(directory))))
    }))
  )
