import type { FilePart, Part } from "@effect-agentenv/protocol/Part"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Options, PartInfo } from "../Seed.ts"
import { type Reason, SeedError } from "../SeedError.ts"
import { SeedSource, type SeedSourceError } from "../SeedSource.ts"
import { base64, displayName, formatBytes, mayBeJson } from "./seedContent.ts"

export interface Settings extends Options {
  readonly maxBytes: number
  readonly timeout: Duration.Duration
}

export const settings = (options: Options | undefined): Settings => ({
  ...options,
  maxBytes: options?.maxBytes ?? 64 * 1024 * 1024,
  timeout: Duration.decode(options?.timeout ?? "5 minutes")
})

export const describe = (part: Part, index: number): PartInfo => ({
  part: index,
  kind: part.kind,
  name: part.kind === "file" ? part.file.name : undefined,
  mimeType: part.kind === "file" ? part.file.mimeType : undefined,
  metadata: part.metadata
})

export const errorOf = (info: PartInfo, reason: Reason, detail: string): SeedError => {
  const partName = info.name === undefined ? undefined : displayName(info.name)
  return new SeedError({ reason, part: info.part, detail, ...(partName === undefined ? {} : { partName }) })
}

const fromSource = (info: PartInfo) => (error: SeedSourceError): SeedError => errorOf(info, error.reason, error.detail)

/** What is about to be read: its size if known, and what to say if it turns out to be another. */
interface Incoming {
  readonly size: number | undefined
  readonly mismatch: readonly [Reason, string]
  readonly bytes: Stream.Stream<Uint8Array, SeedError>
}

const inMemory = (bytes: Uint8Array): Incoming => ({
  size: bytes.byteLength,
  mismatch: ["unreadable", "could not be read"],
  bytes: Stream.make(bytes)
})

const tooLarge = (info: PartInfo, settings: Settings): SeedError =>
  errorOf(info, "too-large", `is larger than ${formatBytes(settings.maxBytes)}`)

const openBytes = (text: string, info: PartInfo, settings: Settings): Effect.Effect<Incoming, SeedError> => {
  const parsed = base64(text)
  if (parsed === undefined) return Effect.fail(errorOf(info, "not-base64", "its bytes are not base64"))
  if (parsed.size > settings.maxBytes) return Effect.fail(tooLarge(info, settings))
  return Effect.sync(() => inMemory(Buffer.from(parsed.body, "base64")))
}

const locate = (uri: string, info: PartInfo, settings: Settings): Effect.Effect<URL, SeedError> => {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  const supported = url !== undefined &&
    (url.protocol === "file:" || url.protocol === "https:" || (url.protocol === "http:" && settings.allowHttp === true))
  return supported
    ? Effect.succeed(url)
    : Effect.fail(errorOf(
      info,
      "unsupported-uri",
      settings.allowHttp === true ? "its uri is no file, https or http URL" : "its uri is no file or https URL"
    ))
}

const openUrl = (
  url: URL,
  info: PartInfo,
  settings: Settings
): Effect.Effect<Incoming, SeedError, Scope.Scope> =>
  SeedSource.pipe(
    Effect.flatMap((source) => source.open(Redacted.make(url), { directories: settings.directories })),
    Effect.mapError(fromSource(info)),
    Effect.map(({ bytes, size }): Incoming => ({
      size,
      mismatch: url.protocol === "file:"
        ? ["unreadable", "changed while it was read"]
        : ["download-failed", "was cut off while it was downloaded"],
      bytes: Stream.mapError(bytes, fromSource(info))
    }))
  )

/** The bytes of what was opened, held to the limit and to the size that was announced. */
const metered = (incoming: Incoming, info: PartInfo, settings: Settings): Stream.Stream<Uint8Array, SeedError> =>
  Stream.suspend(() => {
    let received = 0
    const counted = Stream.mapEffect(incoming.bytes, (chunk) => {
      received += chunk.byteLength
      if (received > settings.maxBytes) return Effect.fail(tooLarge(info, settings))
      const progress = { part: info.part, received, ...(incoming.size === undefined ? {} : { total: incoming.size }) }
      return Effect.as(settings.onProgress?.(progress) ?? Effect.void, chunk)
    })
    const checked = Effect.suspend(() =>
      incoming.size === undefined || received === incoming.size
        ? Effect.void
        : Effect.fail(errorOf(info, ...incoming.mismatch))
    )
    return Stream.concat(counted, Stream.drain(Stream.fromEffect(checked)))
  })

export type Consume<A> = (bytes: Stream.Stream<Uint8Array, SeedError>) => Effect.Effect<A, SeedError>

export const consume = <A, R>(
  opened: Effect.Effect<Incoming, SeedError, R>,
  info: PartInfo,
  settings: Settings,
  use: Consume<A>
): Effect.Effect<A, SeedError, Exclude<R, Scope.Scope>> =>
  Effect.scoped(Effect.flatMap(
    opened,
    (incoming) =>
      incoming.size !== undefined && incoming.size > settings.maxBytes
        ? Effect.fail(tooLarge(info, settings))
        : use(metered(incoming, info, settings))
  ))

export const readFile = <A>(
  file: FilePart["file"],
  info: PartInfo,
  settings: Settings,
  use: Consume<A>
): Effect.Effect<A, SeedError> =>
  "bytes" in file
    ? consume(openBytes(file.bytes, info, settings), info, settings, use)
    : Effect.flatMap(locate(file.uri, info, settings), (url) => {
      const read = consume(openUrl(url, info, settings), info, settings, use)
      return url.protocol === "file:" ? read : Effect.timeoutFail(read, {
        duration: settings.timeout,
        onTimeout: () =>
          errorOf(info, "download-failed", `was not downloaded within ${Duration.format(settings.timeout)}`)
      })
    })

export const readText = (text: string, info: PartInfo, settings: Settings): Effect.Effect<Incoming, SeedError> =>
  Buffer.byteLength(text) > settings.maxBytes
    ? Effect.fail(tooLarge(info, settings))
    : Effect.sync(() => inMemory(Buffer.from(text)))

const collect: Consume<Uint8Array> = (bytes) =>
  Effect.map(
    Effect.suspend(() => {
      const chunks: Array<Uint8Array> = []
      return Effect.as(Stream.runForEach(bytes, (chunk) => Effect.sync(() => chunks.push(chunk))), chunks)
    }),
    (chunks) => chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  )

const decodeText = (bytes: Uint8Array, info: PartInfo, reason: Reason): Effect.Effect<string, SeedError> =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => errorOf(info, reason, "is not UTF-8 text")
  })

const parseJson = (text: string, info: PartInfo): Effect.Effect<unknown, SeedError> =>
  Effect.try({ try: (): unknown => JSON.parse(text), catch: () => errorOf(info, "not-json", "is not JSON") })

/** What the schema is to decode: a part's data, its text, or the JSON of either. */
export const contentOf = (
  part: Part,
  info: PartInfo,
  asText: boolean,
  settings: Settings
): Effect.Effect<unknown, SeedError> => {
  if (part.kind === "data") return Effect.succeed(part.data)
  if (part.kind === "file" && !asText && !mayBeJson(info.mimeType, info.name)) {
    return Effect.fail(errorOf(info, "not-json", "is not JSON, by its media type"))
  }
  const bytes = part.kind === "text"
    ? consume(readText(part.text, info, settings), info, settings, collect)
    : readFile(part.file, info, settings, collect)
  return bytes.pipe(
    Effect.flatMap((bytes) => decodeText(bytes, info, asText ? "not-text" : "not-json")),
    Effect.flatMap((text): Effect.Effect<unknown, SeedError> => asText ? Effect.succeed(text) : parseJson(text, info))
  )
}
