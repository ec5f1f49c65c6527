/**
 * An object store for tests: real TLS, signed grants of all six shapes, S3's strictness, and faults by name.
 *
 * @since 0.1.0
 */
import type * as Grant from "@effect-agentenv/protocol/Grant"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { start } from "./internal/objectServer.ts"
import { policyOf, signature, type Signed } from "./internal/signing.ts"

/**
 * What the store does to a request instead of what was asked:
 *
 * - `reset`: drops the connection in the middle of the body, be it up or down;
 * - `slow`: waits for `delay` (2 seconds) by the test's clock before it answers rightly; `stall`: never answers;
 * - `late-403`: reads all of an upload, waits for `delay` (none), then refuses it; `early-403` refuses before it reads;
 * - `unavailable`: 503, with `retryAfter` as its header if given; `status` answers any other status with an XML error;
 * - `redirect`: 307 to `location`;
 * - `gzip`: sends the object compressed, with `Content-Encoding: gzip`;
 * - `truncated`: sends half the object under its whole length; `cut` half of it without a length;
 * - `wrong-length`: sends one byte less than the object has, under a length that fits;
 * - `corrupt`: sends other bytes of the same length;
 * - `expired`, `request-timeout`, `not-implemented`: the XML errors of S3 and R2 (403, 400, 501).
 *
 * @since 0.1.0
 * @category models
 */
export type Fault =
  | { readonly name: "slow" | "late-403"; readonly delay?: Duration.DurationInput | undefined }
  | { readonly name: "unavailable"; readonly retryAfter?: string | undefined }
  | { readonly name: "status"; readonly status: number }
  | { readonly name: "redirect"; readonly location: string }
  | {
    readonly name:
      | "reset"
      | "stall"
      | "early-403"
      | "gzip"
      | "truncated"
      | "cut"
      | "wrong-length"
      | "corrupt"
      | "expired"
      | "request-timeout"
      | "not-implemented"
  }

/**
 * A request as the store saw it: header names in lower case, the object's key, the connection that it came over (counted from 1), the
 * names of a form's fields in their order, and the status of the answer, absent if there was none.
 *
 * @since 0.1.0
 * @category models
 */
export interface Seen {
  readonly method: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  readonly connection: number
  readonly fields: ReadonlyArray<string>
  readonly status: number | undefined
}

/**
 * How long a grant lives (an hour) by the test's clock, and the headers that it asks for, which are signed.
 *
 * @since 0.1.0
 * @category models
 */
export interface GrantOptions {
  readonly lifetime?: Duration.DurationInput | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * What is granted of an object: its media type (`application/octet-stream`), its largest size (1 GiB), and, of one to read, what is
 * promised of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ObjectOptions extends GrantOptions {
  readonly mediaType?: string | undefined
  readonly maxBytes?: number | undefined
  readonly sizeBytes?: number | undefined
  readonly sha256?: string | undefined
}

/**
 * The limits of a namespace: 1,000 objects of 1 GiB each and 10 GiB in all.
 *
 * @since 0.1.0
 * @category models
 */
export interface NamespaceOptions extends GrantOptions {
  readonly maxObjects?: number | undefined
  readonly maxObjectBytes?: number | undefined
  readonly maxTotalBytes?: number | undefined
}

/**
 * A store that runs.
 *
 * - `url` and `ca`: where it is, and the certificate (PEM) of its authority;
 * - `put`, `get`, `keys`: its objects, past all grants;
 * - `httpGet`, `httpPut`, `httpPostPolicy`, `readObject`, `writeObject`, `writeNamespace`: grants;
 * - `inject`: what the next request, or the next `times`, suffer, after those injected before; `"none"` lets some pass in between;
 * - `requests`: what came so far; `arrived` waits until so many requests have come.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly url: string
  readonly ca: string
  readonly put: (key: string, content: Uint8Array | string) => Effect.Effect<void>
  readonly get: (key: string) => Effect.Effect<Option.Option<Uint8Array>>
  readonly keys: Effect.Effect<ReadonlyArray<string>>
  readonly httpGet: (key: string, options?: GrantOptions) => Effect.Effect<Grant.HttpGetGrant>
  readonly httpPut: (key: string, options?: GrantOptions) => Effect.Effect<Grant.HttpPutGrant>
  readonly httpPostPolicy: (root: string, options?: NamespaceOptions) => Effect.Effect<Grant.HttpPostPolicyGrant>
  readonly readObject: (key: string, options?: ObjectOptions) => Effect.Effect<Grant.ReadObject>
  readonly writeObject: (key: string, options?: ObjectOptions) => Effect.Effect<Grant.WriteObject>
  readonly writeNamespace: (root: string, options?: NamespaceOptions) => Effect.Effect<Grant.WriteNamespaceGrant>
  readonly inject: (fault: Fault | SimpleFault | "none", times?: number) => Effect.Effect<void>
  readonly requests: Effect.Effect<ReadonlyArray<Seen>>
  readonly arrived: (count: number) => Effect.Effect<void>
}

/**
 * The faults that need no more than their name.
 *
 * @since 0.1.0
 * @category models
 */
export type SimpleFault = Exclude<Fault["name"], "redirect" | "status">

/**
 * An object store of a test.
 *
 * @since 0.1.0
 * @category tags
 */
export class ObjectStore extends Context.Tag("@effect-agentenv/testing/ObjectStore")<ObjectStore, Service>() {}

const gibibyte = 1024 ** 3

const headersOf = (headers: GrantOptions["headers"]) => headers === undefined ? {} : { headers: Redacted.make(headers) }

const expiry = (options: GrantOptions | undefined) =>
  Effect.map(DateTime.now, (now) => DateTime.addDuration(now, Duration.decode(options?.lifetime ?? "1 hour")))

/**
 * Starts a store on a free port of 127.0.0.1. Objects above 1 MiB lie in a temporary directory, others in memory, and all are gone
 * with the scope.
 *
 * A signed request answers 403 when its signature, its time or its signed headers are not as granted, 411 without a length, 400
 * when a form's key doesn't come before its file. It goes by the clock of the effect that starts it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Service, never, Scope.Scope> = Effect.gen(function*() {
  const server = yield* start

  const signedUrl = (signed: Signed): Redacted.Redacted => {
    const path = signed.key.split("/").map(encodeURIComponent).join("/")
    const query = new URLSearchParams({
      "X-Expires": String(signed.expires),
      "X-SignedHeaders": Object.keys(signed.headers).join(";"),
      "X-Signature": signature(server.secret, signed)
    })
    return Redacted.make(`${server.url}/${path}?${query}`)
  }

  const grant = <const K extends "http-get" | "http-put">(
    kind: K,
    key: string,
    options: GrantOptions | undefined,
    implied: Readonly<Record<string, string>>
  ) =>
    Effect.map(expiry(options), (expires_at) => {
      const headers = { ...implied, ...options?.headers }
      const signed = { method: kind === "http-get" ? "GET" : "PUT", key, expires: expires_at.epochMillis, headers }
      return { kind, url: signedUrl(signed), expires_at, ...headersOf(options?.headers) }
    })

  const postPolicy = (
    root: string,
    options: NamespaceOptions | undefined,
    expires: number
  ): Grant.HttpPostPolicyGrant => {
    const policy = policyOf({ root, expires, maxBytes: options?.maxObjectBytes ?? gibibyte })
    const fields = { policy, "x-signature": signature(server.secret, policy) }
    return {
      kind: "http-post-policy",
      url: Redacted.make(`${server.url}/`),
      fields: Redacted.make(fields),
      path_field: "key",
      file_field: "file",
      ...headersOf(options?.headers)
    }
  }

  const httpGet: Service["httpGet"] = (key, options) => grant("http-get", key, options, {})

  return {
    ...server,
    httpGet,
    httpPut: (key, options) => grant("http-put", key, options, {}),
    httpPostPolicy: (root, options) =>
      Effect.map(expiry(options), ({ epochMillis }) => postPolicy(root, options, epochMillis)),
    readObject: (key, options) =>
      Effect.map(httpGet(key, options), (read) => ({
        media_type: options?.mediaType ?? "application/octet-stream",
        max_bytes: options?.maxBytes ?? gibibyte,
        ...(options?.sizeBytes === undefined ? {} : { size_bytes: options.sizeBytes }),
        ...(options?.sha256 === undefined ? {} : { sha256: options.sha256 }),
        read
      })),
    writeObject: (key, options) => {
      const media_type = options?.mediaType ?? "application/octet-stream"
      return Effect.map(grant("http-put", key, options, { "content-type": media_type }), (write) => ({
        media_type,
        max_bytes: options?.maxBytes ?? gibibyte,
        write
      }))
    },
    writeNamespace: (root, options) =>
      Effect.map(expiry(options), (expires_at) => ({
        root_path: root,
        expires_at,
        max_objects: options?.maxObjects ?? 1000,
        max_object_bytes: options?.maxObjectBytes ?? gibibyte,
        max_total_bytes: options?.maxTotalBytes ?? 10 * gibibyte,
        write: postPolicy(root, options, expires_at.epochMillis)
      }))
  }
})

/**
 * A store for as long as a test, or a block of tests, runs.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ObjectStore> = Layer.scoped(ObjectStore, make)
