/**
 * Typed calls of an environment: its card, its data plane and its interface manifests.
 *
 * @since 0.1.0
 */
import type * as Caller from "@effect-agentenv/protocol/Caller"
import * as DataPlane from "@effect-agentenv/protocol/DataPlane"
import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as Grant from "@effect-agentenv/protocol/Grant"
import * as Manifest from "@effect-agentenv/protocol/Manifest"
import * as Part from "@effect-agentenv/protocol/Part"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { BadStatus, RpcError, Timeout, Unreachable, Unreadable } from "./ClientError.ts"
import * as http from "./internal/http.ts"
import * as rpc from "./internal/rpc.ts"
import * as secrets from "./internal/secrets.ts"

/**
 * Every way in which a call of an environment fails.
 *
 * @since 0.1.0
 * @category errors
 */
export type EnvironmentClientError = Unreachable | Timeout | BadStatus | Unreadable | RpcError

/**
 * Every way in which a plain read (card, health, manifests) fails.
 *
 * @since 0.1.0
 * @category errors
 */
export type ReadError = Exclude<EnvironmentClientError, RpcError>

/**
 * The schema of `EnvironmentClientError`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const EnvironmentClientError: Schema.Union<
  [typeof Unreachable, typeof Timeout, typeof BadStatus, typeof Unreadable, typeof RpcError]
> = Schema.Union(Unreachable, Timeout, BadStatus, Unreadable, RpcError)

/**
 * How long each call may take (V-16). By default as the contract says (B-CLI-1, B-CLIENT-4): the card and the health check 10 s,
 * `add` 120 s, all others 30 s.
 *
 * @since 0.1.0
 * @category models
 */
export interface Timeouts {
  readonly card?: Duration.DurationInput | undefined
  readonly health?: Duration.DurationInput | undefined
  readonly reset?: Duration.DurationInput | undefined
  readonly add?: Duration.DurationInput | undefined
  readonly get?: Duration.DurationInput | undefined
  readonly manifest?: Duration.DurationInput | undefined
}

/**
 * What `make` and `layer` take. `baseUrl` is where the environment is mounted; `caller` goes along as headers (B-CTX-8).
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly baseUrl: string
  readonly timeouts?: Timeouts | undefined
  readonly caller?: Partial<Caller.Caller> | undefined
}

/**
 * The calls of one environment.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly baseUrl: string
  /** Reads the card anew each time. */
  readonly card: Effect.Effect<EnvironmentCard.EnvironmentCard, ReadError>
  /** Whether there is a readable card; any failure is `false` (B-CLI-2). */
  readonly supportsV1: Effect.Effect<boolean>
  /** Succeeds when `GET /health` does. */
  readonly health: Effect.Effect<void, ReadError>
  /** Starts an episode afresh. An environment that knows no `seed` ignores it. */
  readonly reset: (options?: { readonly seed?: number | undefined }) => Effect.Effect<void, EnvironmentClientError>
  /** Adds data; the environment refuses an empty list (B-ENV-4). `idempotencyKey` is sent as the header `Idempotency-Key`. */
  readonly add: (
    parts: ReadonlyArray<Part.Part>,
    options?: { readonly idempotencyKey?: string | undefined }
  ) => Effect.Effect<void, EnvironmentClientError>
  /** Exports the state, into the namespace if a grant is given and the environment uses it (B-DOBJ-2, B-DOBJ-4). */
  readonly get: (
    options?: { readonly writeNamespace?: Grant.WriteNamespaceGrant | undefined }
  ) => Effect.Effect<ReadonlyArray<Part.Part>, EnvironmentClientError>
  /** Lists the interfaces that have a manifest (B-MAN-3). */
  readonly interfaces: Effect.Effect<ReadonlyArray<string>, ReadError>
  /** Reads the manifest of an interface (B-MAN-1, B-MAN-3). */
  readonly manifest: (name: string) => Effect.Effect<Manifest.Manifest, ReadError>
}

/**
 * The environment that a program, a trainer or a test works with.
 *
 * @since 0.1.0
 * @category tags
 */
export class EnvironmentClient
  extends Context.Tag("@effect-agentenv/client/EnvironmentClient")<EnvironmentClient, Service>()
{}

const decodeCard = http.decoder(EnvironmentCard.EnvironmentCard)
const decodeEmpty = http.decoder(Schema.Object)
const decodeGet = http.decoder(DataPlane.GetResult)
const decodeNames = http.decoder(Schema.Array(Schema.String))
const decodeManifest = http.decoder(Manifest.Manifest)
const encodeParts = Schema.encodeSync(Schema.Array(Part.Part))
const encodeGrant = Schema.encodeSync(Grant.WriteNamespaceGrant)

/**
 * Makes the calls of the environment at `baseUrl`, over the `HttpClient` in context. It opens nothing and asks nothing yet.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const headers = http.callerHeaders(options.caller)
    const timeouts = options.timeouts ?? {}
    let ids = 0

    const read = <A>(
      operation: string,
      path: string,
      timeout: Duration.DurationInput,
      decode: (
        response: HttpClientResponse.HttpClientResponse
      ) => Effect.Effect<A, Unreachable | Unreadable>
    ): Effect.Effect<A, ReadError> =>
      http.execute(
        client,
        HttpClientRequest.get(http.resolve(options.baseUrl, path), { headers, acceptJson: true }),
        operation
      ).pipe(
        Effect.flatMap((response): Effect.Effect<A, ReadError> =>
          http.isOk(response) ? decode(response) : http.badStatus(response, operation)
        ),
        http.within(operation, timeout)
      )

    const call = (
      method: DataPlane.Method,
      params: Readonly<Record<string, unknown>>,
      timeout: Duration.DurationInput,
      extra: Readonly<Record<string, string>> = {}
    ): Effect.Effect<unknown, EnvironmentClientError> =>
      Effect.suspend(() => {
        const body = JSON.stringify({ jsonrpc: "2.0", id: ++ids, method, params })
        const request = HttpClientRequest.post(http.resolve(options.baseUrl, EnvironmentCard.RPC_PATH), {
          headers: { ...headers, ...extra },
          acceptJson: true
        }).pipe(HttpClientRequest.bodyText(body, "application/json"))
        return http.execute(client, request, method)
      }).pipe(
        Effect.flatMap((response): Effect.Effect<unknown, EnvironmentClientError> =>
          http.isOk(response)
            ? Effect.flatMap(http.json(response, method, "the answer"), (answer) => rpc.result(answer, method))
            : http.badStatus(response, method)
        ),
        http.within(method, timeout)
      )

    const card = read(
      "card",
      EnvironmentCard.PATH,
      timeouts.card ?? "10 seconds",
      (response) =>
        Effect.flatMap(http.json(response, "card", "the card"), (value) => decodeCard(value, "card", "the card"))
    )

    const manifests = Effect.map(card, (found) => {
      const endpoint = EnvironmentCard.extensionParams(found, Manifest.URI)["endpoint"]
      return typeof endpoint === "string" ? endpoint : Manifest.ENDPOINT
    })

    const manifest = <A>(
      operation: string,
      path: string,
      decode: (value: unknown, operation: string, what: string) => Effect.Effect<A, Unreadable>
    ) =>
      Effect.flatMap(
        manifests,
        (endpoint) =>
          read(operation, `${endpoint}${path}`, timeouts.manifest ?? "30 seconds", (response) =>
            Effect.flatMap(http.json(response, operation, "the answer"), (value) =>
              decode(value, operation, "the answer")))
      )

    return {
      baseUrl: options.baseUrl,
      card,
      supportsV1: Effect.isSuccess(card),
      health: read(
        "health",
        "/health",
        timeouts.health ?? "10 seconds",
        (response) => Effect.asVoid(Effect.mapError(response.text, http.unreachable("health")))
      ),
      reset: Effect.fn("EnvironmentClient.reset")(function*(options) {
        const seed = options?.seed
        const answer = yield* call(
          DataPlane.Method.Reset,
          seed === undefined ? {} : { seed },
          timeouts.reset ?? "30 seconds"
        )
        yield* decodeEmpty(answer, DataPlane.Method.Reset, "the result")
      }),
      add: Effect.fn("EnvironmentClient.add")(function*(parts, options) {
        const key = options?.idempotencyKey
        const answer = yield* call(
          DataPlane.Method.Add,
          { parts: encodeParts(parts) },
          timeouts.add ?? "120 seconds",
          key === undefined ? {} : { "idempotency-key": key }
        )
        yield* decodeEmpty(answer, DataPlane.Method.Add, "the result")
      }),
      get: Effect.fn("EnvironmentClient.get")(function*(options) {
        const grant = options?.writeNamespace
        const timeout = timeouts.get ?? "30 seconds"
        const answer = yield* (grant === undefined
          ? call(DataPlane.Method.Get, {}, timeout)
          : Effect.suspend(() => call(DataPlane.Method.Get, { write_namespace: encodeGrant(grant) }, timeout)).pipe(
            Effect.mapError(secrets.hide(grant))
          ))
        return (yield* decodeGet(answer, DataPlane.Method.Get, "the result")).parts
      }),
      interfaces: manifest("interfaces", "", decodeNames),
      manifest: (name) => manifest("manifest", `/${encodeURIComponent(name)}`, decodeManifest)
    }
  })

/**
 * The environment at `baseUrl`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<EnvironmentClient, never, HttpClient.HttpClient> =>
  Layer.effect(EnvironmentClient, make(options))
