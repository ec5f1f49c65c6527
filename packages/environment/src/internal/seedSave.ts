import type { Part } from "@effect-agentenv/protocol/Part"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as FileSystem from "node:fs/promises"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import type { PartInfo, SeedFile } from "../Seed.ts"
import type { SeedError } from "../SeedError.ts"
import { type Consume, consume, describe, errorOf, readFile, readText, type Settings } from "./seedRead.ts"

const storing = <A>(info: PartInfo, operation: () => Promise<A>): Effect.Effect<A, SeedError> =>
  Effect.tryPromise({
    try: operation,
    catch: () => errorOf(info, "unreadable", "could not be kept on this machine's disk")
  })

const close = (handle: FileSystem.FileHandle): Effect.Effect<void> => Effect.promise(() => handle.close())

const save = (path: string, info: PartInfo): Consume<SeedFile> => (bytes) =>
  Effect.acquireUseRelease(
    storing(info, () => FileSystem.open(path, "wx", 0o600)),
    (handle) =>
      Stream.runFoldEffect(
        bytes,
        0,
        (size, chunk) => Effect.as(storing(info, () => handle.appendFile(chunk)), size + chunk.byteLength)
      ),
    close
  ).pipe(Effect.map((size): SeedFile => ({ ...info, path, size })))

export const directory: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => FileSystem.mkdtemp(Path.join(tmpdir(), "agentenv-seed-"))),
  (path) => Effect.promise(() => FileSystem.rm(path, { recursive: true, force: true }))
)

const extensionOf = (name: string | undefined): string => /\.[A-Za-z0-9]{1,16}$/.exec(name ?? "")?.[0] ?? ""

const withType = (info: PartInfo, name: string, mimeType: string): PartInfo => ({ ...info, name, mimeType })

export const saveAs = (
  part: Part,
  index: number,
  folder: string,
  settings: Settings
): Effect.Effect<SeedFile, SeedError> => {
  const described = describe(part, index)
  // The caller's name is not to choose a path.
  const at = (info: PartInfo) => save(Path.join(folder, `${index}${extensionOf(info.name)}`), info)
  if (part.kind === "file") return readFile(part.file, described, settings, at(described))
  const [info, text] = part.kind === "text"
    ? [withType(described, "part.txt", "text/plain"), part.text]
    : [withType(described, "part.json", "application/json"), JSON.stringify(part.data)]
  return consume(readText(text, described, settings), described, settings, at(info))
}
