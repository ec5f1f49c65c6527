/* oxlint-disable no-await-in-loop -- an archive is read in its order */
import { RelativePath } from "@effect-agentenv/protocol/Grant"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createWriteStream } from "node:fs"
import * as FileSystem from "node:fs/promises"
import * as Path from "node:path"
import { pipeline } from "node:stream/promises"
import * as Tar from "tar-stream"
import type { Source } from "../Source.ts"
import { type InvalidTransfer, TransferTooLarge } from "../TransferError.ts"
import type { Unpacked } from "../Workspace.ts"
import { broken, refused, staysInside } from "./archive.ts"
import { drained } from "./drained.ts"
import { codeOf } from "./failures.ts"

interface Limits {
  readonly maxBytes: number
  readonly maxEntries: number
}

interface Entry {
  readonly path: string
  readonly header: Tar.Headers
  readonly content: AsyncIterable<Uint8Array>
}

const isNormalized = Schema.is(RelativePath)

/** Without what packers put around a path: `./` before, `/` after directories; empty for the root itself. */
const pathOf = (name: string): string => {
  const path = name.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "")
  if (path === "" || path === ".") {
    if (!name.startsWith("/")) return ""
    throw refused(name, "leaves the directory")
  }
  if (!isNormalized(path) || path.includes("\0")) throw refused(name, "leaves the directory")
  return path
}

const check = (path: string, header: Tar.Headers): void => {
  switch (header.type) {
    case "file":
    case "contiguous-file":
    case "directory":
      return
    case "symlink":
      if (!staysInside(path, header.linkname ?? "")) throw refused(path, "is a link that leads out")
      return
    case "link":
      if (pathOf(header.linkname ?? "") === "") throw refused(path, "is a link that leads out")
      return
    default:
      throw refused(path, "is neither a file, a directory nor a link")
  }
}

const tooMuch = (what: string): TransferTooLarge =>
  new TransferTooLarge({ message: `The archive holds more than ${what}.` })

/** Headers, padding and the end; more than that around the content is no archive. */
const overhead = ({ maxEntries }: Limits): number => maxEntries * 4096 + 1024 * 1024

const feed = async (chunks: AsyncIterable<Uint8Array>, extract: Tar.Extract, limits: Limits): Promise<void> => {
  let fed = 0
  for await (const chunk of chunks) {
    fed += chunk.length
    if (extract.destroyed) return
    if (fed > limits.maxBytes + overhead(limits)) throw tooMuch(`${limits.maxBytes} bytes`)
    if (!extract.write(chunk)) await drained(extract)
  }
  extract.end()
}

/** Goes through an archive; what it may not hold ends it. */
const walk = async (
  chunks: AsyncIterable<Uint8Array>,
  limits: Limits,
  signal: AbortSignal,
  visit: (entry: Entry) => Promise<void>
): Promise<Unpacked> => {
  const extract = Tar.extract()
  const stop = () => extract.destroy()
  signal.addEventListener("abort", stop)
  feed(chunks, extract, limits).catch((error) => extract.destroy(error))
  let entries = 0
  let bytes = 0
  try {
    for await (const content of extract) {
      const { header } = content
      entries += 1
      bytes += header.size ?? 0
      if (entries > limits.maxEntries) throw tooMuch(`${limits.maxEntries} entries`)
      if (bytes > limits.maxBytes) throw tooMuch(`${limits.maxBytes} bytes`)
      const path = pathOf(header.name)
      check(path, header)
      if (path === "" && header.type !== "directory") throw refused(header.name, "leaves the directory")
      if (path !== "") await visit({ path, header, content })
      content.resume()
    }
  } finally {
    signal.removeEventListener("abort", stop)
  }
  return { entries, bytes }
}

const statOf = (path: string) =>
  FileSystem.lstat(path).catch((error) => {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  })

/** Makes the directories that a path lies in, none of which may be a link. */
const parents = async (root: string, path: string, made: Set<string>): Promise<void> => {
  let directory = root
  for (const segment of path.split("/").slice(0, -1)) {
    directory = Path.join(directory, segment)
    if (made.has(directory)) continue
    const stat = await statOf(directory)
    if (stat === undefined) await FileSystem.mkdir(directory)
    else if (!stat.isDirectory()) throw refused(path, "lies below what is no directory")
    made.add(directory)
  }
}

const extractTo = (root: string) => {
  const made = new Set<string>()
  return async ({ content, header, path }: Entry): Promise<void> => {
    await parents(root, path, made)
    const target = Path.join(root, path)
    const stat = await statOf(target)
    const mode = (header.mode ?? 0o644) & 0o777
    if (header.type === "directory") {
      if (stat === undefined) await FileSystem.mkdir(target)
      else if (!stat.isDirectory()) throw refused(path, "is a file there already")
      return FileSystem.chmod(target, mode | 0o700)
    }
    if (stat?.isDirectory() === true) throw refused(path, "is a directory there already")
    if (header.type === "link") {
      const linked = pathOf(header.linkname ?? "")
      await parents(root, linked, made)
      const source = Path.join(root, linked)
      if (source === target || (await statOf(source))?.isFile() !== true) {
        throw refused(path, "is a link to what is no file")
      }
      await FileSystem.rm(target, { force: true })
      return FileSystem.link(source, target)
    }
    await FileSystem.rm(target, { force: true })
    if (header.type === "symlink") return FileSystem.symlink(header.linkname ?? "", target)
    await pipeline(content, createWriteStream(target, { flags: "wx", mode: mode | 0o600, highWaterMark: 1024 * 1024 }))
    if (header.mtime !== undefined) await FileSystem.utimes(target, header.mtime, header.mtime)
  }
}

const unreadable = broken("The archive can't be unpacked")

const asError = (error: unknown): InvalidTransfer | TransferTooLarge =>
  error instanceof TransferTooLarge ? error : unreadable(error)

export const unpacked = (
  archive: Source,
  directory: string,
  limits: Limits
): Effect.Effect<Unpacked, InvalidTransfer | TransferTooLarge> => {
  const pass = (visit: (entry: Entry) => Promise<void>) =>
    Effect.scoped(
      Effect.flatMap(archive.open, (chunks) =>
        Effect.tryPromise({
          try: (signal) => walk(chunks, limits, signal, visit),
          catch: asError
        }))
    )
  return Effect.gen(function*() {
    yield* pass(() => Promise.resolve())
    const root = yield* Effect.tryPromise({
      try: async () => {
        await FileSystem.mkdir(directory, { recursive: true })
        return FileSystem.realpath(directory)
      },
      catch: unreadable
    })
    return yield* pass(extractTo(root))
  })
}
