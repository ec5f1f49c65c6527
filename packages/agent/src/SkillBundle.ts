/**
 * Skills that come as bundles: files behind grants, downloaded into a directory.
 *
 * @since 0.1.0
 */
import {
  type BundleRequest,
  SkillBundle as Bundle,
  SkillName
} from "@effect-agentenv/protocol/extensions/SkillConfigV1"
import { InvalidTransfer, type TransferError } from "@effect-agentenv/transfers/TransferError"
import { Transfers } from "@effect-agentenv/transfers/Transfers"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as FileSystem from "node:fs/promises"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { ExtensionError } from "./ExtensionError.ts"

/**
 * What is installed: the request of `SkillConfigV1`'s bundle handler has all of it (B-SKILL-8).
 *
 * @since 0.1.0
 * @category models
 */
export type Request = Pick<BundleRequest, "name" | "skill_bundle">

/**
 * Where bundles go: below `root`, under the skill's name. Without one each goes into a temporary directory of its own.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly root?: string | undefined
}

/**
 * A bundle on disk: its directory, and its files by their paths in it, in the order of the request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Installed {
  readonly directory: string
  readonly files: ReadonlyArray<{ readonly path: string; readonly size_bytes: number }>
}

/**
 * A directory for a bundle could not be made: `code` is the system's.
 *
 * @since 0.1.0
 * @category errors
 */
export class DirectoryError
  extends Schema.TaggedError<DirectoryError>("@effect-agentenv/agent/SkillBundle/DirectoryError")("DirectoryError", {
    code: Schema.String
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return `The directory of a skill can't be made (${this.code})`
  }
}

/** Downloads at a time. */
const concurrency = 4

const codeOf = (error: unknown): string => error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN"

const io = <A>(operation: () => Promise<A>): Effect.Effect<A, DirectoryError> =>
  Effect.tryPromise({ try: operation, catch: (error) => new DirectoryError({ code: codeOf(error) }) })

/** A fresh directory: `directory` for the files, `all` to remove when they are not wanted. */
interface Fresh {
  readonly directory: string
  readonly all: string
}

const temporary = (name: string): Effect.Effect<Fresh, DirectoryError> =>
  io(async () => {
    const all = await FileSystem.mkdtemp(Path.join(tmpdir(), "agentenv-skill-"))
    const directory = Path.join(all, name)
    await FileSystem.mkdir(directory)
    return { all, directory }
  })

const exists = new ExtensionError({ status: 409, message: "name: there is a directory of that name already" })

const below = (root: string, name: string): Effect.Effect<Fresh, DirectoryError | ExtensionError> => {
  const directory = Path.resolve(root, name)
  return Effect.zipRight(
    io(() => FileSystem.mkdir(Path.dirname(directory), { recursive: true })),
    Effect.mapBoth(io(() => FileSystem.mkdir(directory)), {
      onFailure: (error) => error.code === "EEXIST" ? exists : error,
      onSuccess: () => ({ all: directory, directory })
    })
  )
}

const remove = ({ all }: Fresh): Effect.Effect<void> =>
  io(() => FileSystem.rm(all, { recursive: true, force: true })).pipe(
    Effect.catchAll(({ code }) =>
      Effect.logWarning(`The directory of a skill that was given up can't be removed (${code})`)
    )
  )

const isName = Schema.is(SkillName)
const isBundle = Schema.is(Bundle)

/** Whether a file stands where another one needs a directory. */
const overlap = (paths: ReadonlyArray<string>): boolean => {
  const files = new Set(paths)
  return paths.some((path) => {
    const segments = path.split("/")
    return segments.some((_, index) => index > 0 && files.has(segments.slice(0, index).join("/")))
  })
}

/**
 * A decoded request is sound but for what only a disk minds, so this is also for those who make one themselves: nothing leaves the
 * directory, and the limits fit.
 */
const isSound = ({ name, skill_bundle }: Request): boolean => {
  if (!isName(name) || !isBundle(skill_bundle)) return false
  const paths = skill_bundle.files.map(({ path }) => path)
  return !paths.some((path) => path.includes("\0")) && !overlap(paths)
}

/**
 * Downloads a bundle into a fresh directory, four files at a time, their sizes and digests checked. The directory stays when the scope
 * closes well, and is gone when it closes with a failure or an interruption. The scope of a handler's call is such a one, so a handler
 * that fails leaves nothing behind.
 *
 * Fails with 409 if there is a directory of the skill's name below `root` already.
 *
 * @example
 * ```ts
 * import * as SkillBundle from "@effect-agentenv/agent/SkillBundle"
 * import { SkillConfigV1 } from "@effect-agentenv/protocol/extensions/SkillConfigV1"
 * import { Effect } from "effect"
 *
 * export const Skills = SkillConfigV1.toLayer(Effect.succeed({
 *   add: {
 *     inline: ({ name }) => Effect.succeed({ name }),
 *     bundle: (request) =>
 *       Effect.gen(function*() {
 *         const { directory } = yield* SkillBundle.install(request, { root: "/skills" })
 *         yield* Effect.logInfo(`installed in ${directory}`)
 *         return { name: request.name }
 *       })
 *   }
 * }))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const install = (
  request: Request,
  options?: Options
): Effect.Effect<Installed, TransferError | DirectoryError | ExtensionError, Transfers | Scope.Scope> =>
  Effect.gen(function*() {
    if (!isSound(request)) {
      return yield* new InvalidTransfer({
        message: "The name or the paths and limits of the skill's files can't be taken."
      })
    }
    const transfers = yield* Transfers
    const { directory } = yield* Effect.acquireRelease(
      options?.root === undefined ? temporary(request.name) : below(options.root, request.name),
      (fresh, exit) => Exit.isSuccess(exit) ? Effect.void : remove(fresh)
    )
    const files = yield* Effect.forEach(
      request.skill_bundle.files,
      ({ object, path }) =>
        Effect.map(transfers.download(object, Path.join(directory, path)), ({ size_bytes }) => ({ path, size_bytes })),
      { concurrency }
    )
    return { directory, files }
  }).pipe(Effect.withSpan("SkillBundle.install", { attributes: { "skill.name": request.name } }))
