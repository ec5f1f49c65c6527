/**
 * Where the files that a seed refers to come from: the file system and HTTPS unless a test or an app says otherwise.
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { constants } from "node:fs"
import * as FileSystem from "node:fs/promises"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"

const SeedSourceErrorId = "@effect-agentenv/environment/SeedSourceError"

/**
 * Tells why a file could not be had. `detail` is read after the part's name, as in `was answered with HTTP 403`, and travels to
 * the caller, so it names no path and no URL.
 *
 * @since 0.1.0
 * @category errors
 */
export class SeedSourceError extends Schema.TaggedError<SeedSourceError>(SeedSourceErrorId)("SeedSourceError", {
  reason: Schema.Literal("missing", "unsupported-uri", "unreadable", "download-failed"),
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}

/**
 * A file that was opened: its size in bytes if it is known before it is read, and its bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Content {
  readonly size: number | undefined
  readonly bytes: Stream.Stream<Uint8Array, SeedSourceError>
}

/**
 * What limits the opening of a file: the `directories` that `file:` URLs must lie in once links are followed, any if absent.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenOptions {
  readonly directories?: ReadonlyArray<string> | undefined
}

/**
 * Opens a `file:`, `https:` or, where an author allows it, `http:` URL; closing the scope frees what it holds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly open: (
    location: Redacted.Redacted<URL>,
    options: OpenOptions
  ) => Effect.Effect<Content, SeedSourceError, Scope.Scope>
}

/** The system's name for what went wrong (`ENOENT`), the only thing of a system error that names neither path nor host. */
const codeOf = (error: unknown): string | undefined => {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined
  return typeof code === "string" && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : undefined
}

const withCode = (detail: string, error: unknown): string => {
  const code = codeOf(error)
  return code === undefined ? detail : `${detail} (${code})`
}

const fileError = (error: unknown): SeedSourceError => {
  const code = codeOf(error)
  return code === "ENOENT" || code === "ENOTDIR"
    ? new SeedSourceError({ reason: "missing", detail: "does not exist" })
    : new SeedSourceError({ reason: "unreadable", detail: withCode("could not be read", error) })
}

const io = <A>(operation: () => Promise<A>): Effect.Effect<A, SeedSourceError> =>
  Effect.tryPromise({ try: operation, catch: fileError })

const contains = (directory: string, path: string): boolean => {
  const relative = Path.relative(directory, path)
  return relative !== "" && relative !== ".." && !relative.startsWith(`..${Path.sep}`) && !Path.isAbsolute(relative)
}

const assertWithin = (
  path: string,
  directories: ReadonlyArray<string>
): Effect.Effect<void, SeedSourceError> =>
  Effect.flatMap(
    Effect.forEach(directories, (directory) => Effect.option(io(() => FileSystem.realpath(directory)))),
    (resolved) =>
      resolved.some((directory) => Option.isSome(directory) && contains(directory.value, path))
        ? Effect.void
        : Effect.fail(
          new SeedSourceError({ reason: "unreadable", detail: "lies outside the directories that seeds may come from" })
        )
  )

const chunkSize = 64 * 1024

const readAll = (handle: FileSystem.FileHandle): Stream.Stream<Uint8Array, SeedSourceError> =>
  Stream.repeatEffectOption(
    io(() => handle.read(Buffer.allocUnsafe(chunkSize), 0, chunkSize)).pipe(
      Effect.mapError(Option.some),
      Effect.flatMap(({ buffer, bytesRead }) =>
        bytesRead === 0 ? Effect.fail(Option.none()) : Effect.succeed(buffer.subarray(0, bytesRead))
      )
    )
  )

// Neither waits for the writer of a pipe nor follows a link that replaced the file after its path was resolved.
const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)

const openFile = (url: URL, options: OpenOptions): Effect.Effect<Content, SeedSourceError, Scope.Scope> =>
  Effect.gen(function*() {
    const named = yield* Effect.try({
      try: () => fileURLToPath(url),
      catch: () => new SeedSourceError({ reason: "unsupported-uri", detail: "is not a file of this machine" })
    })
    const path = yield* io(() => FileSystem.realpath(named))
    if (options.directories !== undefined) yield* assertWithin(path, options.directories)
    const handle = yield* Effect.acquireRelease(
      io(() => FileSystem.open(path, openFlags)),
      (handle) => Effect.ignore(io(() => handle.close()))
    )
    const stat = yield* io(() => handle.stat())
    if (!stat.isFile()) {
      return yield* new SeedSourceError({ reason: "unreadable", detail: "is not a regular file" })
    }
    return { size: stat.size, bytes: readAll(handle) }
  })

const failed = (detail: string): SeedSourceError => new SeedSourceError({ reason: "download-failed", detail })

const transportError = (detail: string) => (error: HttpClientError.HttpClientError): SeedSourceError =>
  failed(withCode(detail, error.cause))

const statusError = (status: number): SeedSourceError => {
  if (status === 404 || status === 410) {
    return new SeedSourceError({ reason: "missing", detail: `was answered with HTTP ${status}` })
  }
  return failed(
    status >= 300 && status < 400
      ? `was answered with a redirect (HTTP ${status}), which is not followed`
      : `was answered with HTTP ${status}`
  )
}

const openUrl = (url: URL): Effect.Effect<Content, SeedSourceError, Scope.Scope> =>
  Effect.gen(function*() {
    const context = yield* Layer.build(NodeHttpClient.layer)
    // A span would show the URL, and its propagation would tell the store of our traces.
    const client = HttpClient.withTracerDisabledWhen(Context.get(context, HttpClient.HttpClient), () => true)
    const response = yield* client.execute(
      // The text, since a `URL` has its query parsed and written anew, which breaks signatures.
      HttpClientRequest.get(url.href, { headers: { "accept-encoding": "identity" } })
    ).pipe(Effect.mapError(transportError("could not be downloaded")))
    if (response.status !== 200) return yield* statusError(response.status)
    if ((response.headers["content-encoding"] ?? "identity") !== "identity") {
      return yield* failed("was answered compressed, which was not asked for")
    }
    const length = response.headers["content-length"]
    return {
      size: length === undefined ? undefined : Number(length),
      bytes: Stream.mapError(response.stream, transportError("was cut off while it was downloaded"))
    }
  })

/**
 * Opens what seeds refer to; nobody has to provide it. Replace it with `Effect.provideService` or `Layer.succeed` to seed from
 * memory in tests or through a store of one's own.
 *
 * The default reads regular files and downloads with `GET`, asks for no compression, follows no redirect and takes only an
 * answer of 200.
 *
 * @since 0.1.0
 * @category tags
 */
export class SeedSource extends Context.Reference<SeedSource>()("@effect-agentenv/environment/SeedSource", {
  defaultValue: (): Service => ({
    open: (location, options) => {
      const url = Redacted.value(location)
      return url.protocol === "file:" ? openFile(url, options) : openUrl(url)
    }
  })
}) {}
