/**
 * Moves objects through grants, for handlers that are given some. It is node's own HTTP, since fetch decodes what is to be hashed,
 * follows redirects with credentials in hand and sends known lengths in chunks.
 *
 * @since 0.1.0
 */
import type { HttpPostPolicyGrant, ReadObject, Uploaded, WriteObject } from "@effect-agentenv/protocol/Grant"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { make } from "./internal/transfers.ts"
import type { OnProgress } from "./Progress.ts"
import type { Source } from "./Source.ts"
import type { TransferError } from "./TransferError.ts"

/**
 * How a transfer is watched.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly onProgress?: OnProgress | undefined
}

/**
 * What a download has written: its size in bytes and its SHA-256 digest, 64 lower-case hexadecimal digits.
 *
 * @since 0.1.0
 * @category models
 */
export interface Downloaded {
  readonly size_bytes: number
  readonly sha256: string
}

/**
 * An upload by a form: the grant, its end, the full path of the object in the store, and the most bytes that it may have.
 *
 * @since 0.1.0
 * @category models
 */
export interface FormObject {
  readonly write: HttpPostPolicyGrant
  readonly expires_at: DateTime.Utc
  readonly path: string
  readonly max_bytes: number
}

/**
 * What moves objects. All three try up to three times while the grant lives, refuse redirects, and fail with nothing of the grant
 * in the error.
 *
 * - `download` writes the object's raw bytes to a file: beside the target first, under the target's name once size and digest are
 *   found right, so a failure leaves what was there (`B-OBJ-13`). Missing directories are made.
 * - `upload` sends a source by `PUT`, with its exact length (`B-OBJ-5`); the answer's digest is always there.
 * - `uploadForm` sends one by a form (`B-OBJ-14`); `NamespaceUploader` is it with the namespace's limits.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly download: (
    object: ReadObject,
    target: string,
    options?: Options
  ) => Effect.Effect<Downloaded, TransferError>
  readonly upload: (object: WriteObject, source: Source, options?: Options) => Effect.Effect<Uploaded, TransferError>
  readonly uploadForm: (object: FormObject, source: Source, options?: Options) => Effect.Effect<Uploaded, TransferError>
}

/**
 * What a `Transfers` trusts and how patient it is:
 *
 * - `ca`: certificates (PEM) of the authorities that it trusts in place of node's own and those of `NODE_EXTRA_CA_CERTS`;
 * - `connectTimeout` 30 seconds: how long a connection may take;
 * - `writeTimeout` 60 seconds: how long the store may take no byte of an upload;
 * - `readTimeout` 60 seconds: how long it may say nothing (`B-OBJ-4`);
 * - `attemptTimeout` none: how long an attempt may take, which is never longer than its grant lives.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  readonly ca?: string | ReadonlyArray<string> | undefined
  readonly connectTimeout?: Duration.DurationInput | undefined
  readonly writeTimeout?: Duration.DurationInput | undefined
  readonly readTimeout?: Duration.DurationInput | undefined
  readonly attemptTimeout?: Duration.DurationInput | undefined
}

/**
 * Moves objects through grants.
 *
 * @since 0.1.0
 * @category tags
 */
export class Transfers extends Context.Tag("@effect-agentenv/transfers/Transfers")<Transfers, Service>() {}

/**
 * Transfers over connections that are kept alive until the layer's scope closes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings?: Settings): Layer.Layer<Transfers> => Layer.scoped(Transfers, make(settings ?? {}))
