import type { ReadObject, Uploaded, WriteObject } from "@effect-agentenv/protocol/Grant"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import * as Https from "node:https"
import { loopbackUrl } from "../Loopback.ts"
import type { OnProgress } from "../Progress.ts"
import type { Source } from "../Source.ts"
import type { TransferError } from "../TransferError.ts"
import type { Downloaded, FormObject, Options, Service, Settings } from "../Transfers.ts"
import { Meter, metered, multipart, type Report } from "./content.ts"
import { type Content, exchange, type Limits, type Sockets } from "./exchange.ts"
import { Failed, tooLarge } from "./failures.ts"
import { retrying } from "./retry.ts"
import { commit, partOf, save } from "./save.ts"

type Headers = Readonly<Record<string, string>>

interface Granted {
  readonly url: Redacted.Redacted
  readonly headers?: Redacted.Redacted<Headers> | undefined
}

const destinations = (grant: Granted): Effect.Effect<ReadonlyArray<Redacted.Redacted>> =>
  Effect.map(loopbackUrl(grant.url, grant.headers), (loopback) => [...Option.toArray(loopback), grant.url])

/** The grant's headers, those of ours that it doesn't set, and those that are ours alone: nothing else was signed. */
const headersOf = (grant: Granted, defaults: Headers, fixed: Headers): Headers => {
  const granted = grant.headers === undefined ? {} : Redacted.value(grant.headers)
  const headers = new Map<string, readonly [string, string]>()
  for (const entries of [defaults, granted, fixed]) {
    for (const [name, value] of Object.entries(entries)) headers.set(name.toLowerCase(), [name, value])
  }
  headers.delete("transfer-encoding")
  return Object.fromEntries(headers.values())
}

const step = 1024 * 1024

/** Reports every MiB; without a listener it costs a comparison. */
const reporter = (
  onProgress: OnProgress | undefined,
  attempt: number
): Effect.Effect<(total: number | undefined) => Report> =>
  Effect.map(Effect.runtime(), (runtime) => {
    if (onProgress === undefined) return () => () => undefined
    return (total) => {
      let next = step
      return (bytes) => {
        if (bytes < next) return undefined
        next = bytes + step
        return Runtime.runPromise(runtime)(onProgress({ attempt, bytes, total }))
      }
    }
  })

const finished = (options: Options | undefined, attempt: number, bytes: number): Effect.Effect<void> =>
  options?.onProgress?.({ attempt, bytes, total: bytes }) ?? Effect.void

const failed = (error: TransferError): Failed => new Failed(error)

const measure = (source: Source, max: number): Effect.Effect<number, TransferError> =>
  Effect.filterOrFail(source.size, (size) => size <= max, () => tooLarge(max))

const annotate = (result: Uploaded): Effect.Effect<void> =>
  Effect.annotateCurrentSpan("transfer.size_bytes", result.size_bytes)

const drain = (response: Http.IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    response.once("close", resolve).once("end", resolve).resume()
  })

const millis = (duration: Duration.DurationInput | undefined, otherwise: Duration.DurationInput): number =>
  Duration.toMillis(duration ?? otherwise)

const limitsOf = (settings: Settings): Limits => ({
  connect: millis(settings.connectTimeout, "30 seconds"),
  write: millis(settings.writeTimeout, "60 seconds"),
  read: millis(settings.readTimeout, "60 seconds"),
  attempt: millis(settings.attemptTimeout, Duration.infinity)
})

const sockets = ({ ca, ...settings }: Settings): Effect.Effect<Sockets, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => ({
      secure: new Https.Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca: [ca].flat() }) }),
      plain: new Http.Agent({ keepAlive: true }),
      limits: limitsOf(settings)
    })),
    ({ plain, secure }) =>
      Effect.sync(() => {
        plain.destroy()
        secure.destroy()
      })
  )

interface Sending {
  readonly method: "PUT" | "POST"
  readonly grant: Granted
  readonly expiresAt: DateTime.Utc
  readonly maxBytes: number
  /** What the content travels as. */
  readonly wrap: (file: Content) => Content & { readonly headers: Headers; readonly fixed: Headers }
}

/** Moves objects over connections that are the scope's. */
export const make = (settings: Settings): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.map(sockets(settings), (sockets) => {
    const send = (sending: Sending, source: Source, options: Options | undefined) =>
      Effect.gen(function*() {
        const size = yield* measure(source, sending.maxBytes)
        const urls = yield* destinations(sending.grant)
        const uploaded = yield* retrying(sending.expiresAt, (attempt) =>
          Effect.scoped(Effect.gen(function*() {
            const opened = yield* Effect.mapError(source.open, failed)
            const report = yield* reporter(options?.onProgress, attempt)
            const meter = new Meter()
            const content = sending.wrap({ length: size, chunks: metered(opened, size, meter, report(size)) })
            yield* exchange(sockets, {
              method: sending.method,
              urls,
              headers: headersOf(sending.grant, content.headers, {
                ...content.fixed,
                "Content-Length": String(content.length)
              }),
              content,
              expiry: DateTime.toEpochMillis(sending.expiresAt),
              receive: drain
            })
            yield* finished(options, attempt, size)
            return { size_bytes: size, sha256: meter.digest() }
          })))
        yield* annotate(uploaded)
        return uploaded
      })

    const upload = Effect.fn("Transfers.upload")(
      (object: WriteObject, source: Source, options?: Options): Effect.Effect<Uploaded, TransferError> =>
        send(
          {
            method: "PUT",
            grant: object.write,
            expiresAt: object.write.expires_at,
            maxBytes: object.max_bytes,
            wrap: (file) => ({ ...file, headers: { "Content-Type": object.media_type }, fixed: {} })
          },
          source,
          options
        )
    )

    const uploadForm = Effect.fn("Transfers.uploadForm")(
      (object: FormObject, source: Source, options?: Options): Effect.Effect<Uploaded, TransferError> => {
        const { fields, file_field, path_field } = object.write
        const granted = Object.entries(Redacted.value(fields)).filter(([name]) => name !== path_field)
        const typed = granted.some(([name]) => name.toLowerCase() === "content-type")
        const form = {
          fields: [
            ...granted,
            [path_field, object.path] as const,
            ...(typed ? [] : [["Content-Type", "application/octet-stream"] as const])
          ],
          fileField: file_field,
          fileName: object.path.slice(object.path.lastIndexOf("/") + 1)
        }
        return send(
          {
            method: "POST",
            grant: object.write,
            expiresAt: object.expires_at,
            maxBytes: object.max_bytes,
            wrap: (file) => {
              const { contentType, ...content } = multipart(form, file)
              return { ...content, headers: {}, fixed: { "Content-Type": contentType } }
            }
          },
          source,
          options
        )
      }
    )

    const download = Effect.fn("Transfers.download")(
      function*(object: ReadObject, target: string, options?: Options) {
        const urls = yield* destinations(object.read)
        const downloaded = yield* retrying(object.read.expires_at, (attempt) =>
          Effect.scoped(Effect.gen(function*() {
            const part = yield* Effect.mapError(partOf(target), failed)
            const report = yield* reporter(options?.onProgress, attempt)
            const saved: Downloaded = yield* exchange(sockets, {
              method: "GET",
              urls,
              headers: headersOf(object.read, { "Accept-Encoding": "identity" }, {}),
              expiry: DateTime.toEpochMillis(object.read.expires_at),
              receive: (response, touch) => save(object, response, part, touch, report)
            })
            yield* finished(options, attempt, saved.size_bytes)
            yield* Effect.mapError(commit(part, target), failed)
            return saved
          })))
        yield* annotate(downloaded)
        return downloaded
      }
    )

    return { download, upload, uploadForm }
  })
