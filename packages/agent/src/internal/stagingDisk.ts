import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Fs from "node:fs/promises"
import * as Path from "node:path"
import { StagingError } from "../StagingError.ts"
import { invalid } from "./stagingPath.ts"

export const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "UNKNOWN"

// The system's messages name the path, which is a secret.
const toError = (cause: unknown): StagingError => {
  const code = codeOf(cause)
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return new StagingError({
        reason: "DiskFull",
        detail: "The disk of the staging store is full",
        cause: new Error(code)
      })
    case "ENAMETOOLONG":
      return invalid
    default:
      return new StagingError({ reason: "Io", detail: "The staging store failed", cause: new Error(code) })
  }
}

export const io = <A>(evaluate: () => Promise<A>): Effect.Effect<A, StagingError> =>
  Effect.tryPromise({ try: evaluate, catch: toError })

/** The value that stands for a failure with one of these codes. */
export const orElse = async <A, B>(promise: Promise<A>, codes: ReadonlyArray<string>, value: B): Promise<A | B> => {
  try {
    return await promise
  } catch (cause) {
    if (codes.includes(codeOf(cause))) return value
    throw cause
  }
}

export const absent = ["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]

export const lstat = (path: string) => orElse(Fs.lstat(path, { bigint: true }), absent, undefined)

export const etagOf = (stat: { readonly mtimeNs: bigint; readonly size: bigint }): string =>
  `"${stat.mtimeNs.toString(16)}-${stat.size.toString(16)}"`

export interface File {
  readonly path: string
  readonly size: number
  readonly mtimeNs: bigint
  readonly etag: string
}

/** The files below a directory, and nothing for one that is gone. */
export const walk = async (directory: string, below = ""): Promise<Array<File>> => {
  const entries = await orElse(Fs.readdir(directory, { withFileTypes: true }), absent, [])
  const found = await Promise.all(entries.map(async (entry): Promise<Array<File>> => {
    const path = Path.join(directory, entry.name)
    if (entry.isDirectory()) return walk(path, `${below}${entry.name}/`)
    const stat = entry.isFile() ? await lstat(path) : undefined
    return stat === undefined
      ? []
      : [{ path: below + entry.name, size: Number(stat.size), mtimeNs: stat.mtimeNs, etag: etagOf(stat) }]
  }))
  return found.flat()
}

/** Removes a directory and those above it, as long as they are empty, up to `root`. */
export const prune = async (root: string, directory: string): Promise<void> => {
  if (directory === root) return
  const gone = await Fs.rmdir(directory).then(() => true, (cause) => codeOf(cause) === "ENOENT")
  if (gone) await prune(root, Path.dirname(directory))
}

/** Removes the empty directories that a killed server has left. */
export const pruneBelow = async (root: string, directory: string): Promise<void> => {
  const entries = await Fs.readdir(directory, { withFileTypes: true })
  const directories = entries.filter((entry) => entry.isDirectory())
  await Promise.all(directories.map((entry) => pruneBelow(root, Path.join(directory, entry.name))))
  if (directory !== root && directories.length === entries.length) await Fs.rmdir(directory).catch(() => {})
}

export const privateDirectory = async (path: string): Promise<string> => {
  await Fs.mkdir(path, { recursive: true, mode: 0o700 })
  await Fs.chmod(path, 0o700)
  return path
}

export const writeAll = async (file: Fs.FileHandle, chunks: ReadonlyArray<Uint8Array>, size: number): Promise<void> => {
  const { bytesWritten } = await file.writev(chunks)
  if (bytesWritten === size) return
  const rest = Buffer.concat(chunks).subarray(bytesWritten)
  return writeAll(file, [rest], rest.length)
}

const readSize = 256 * 1024

export const contentOf = (file: Fs.FileHandle, size: number): Stream.Stream<Uint8Array, StagingError> =>
  Stream.unfoldEffect(0, (position) =>
    position === size ? Effect.succeedNone : Effect.flatMap(
      io(() => {
        const length = Math.min(readSize, size - position)
        return file.read(Buffer.allocUnsafeSlow(length), 0, length, position)
      }),
      ({ buffer, bytesRead }) =>
        bytesRead === 0
          ? Effect.fail(new StagingError({ reason: "Io", detail: "A staged object was cut from outside" }))
          : Effect.succeed(Option.some([buffer.subarray(0, bytesRead), position + bytesRead] as const))
    ))
