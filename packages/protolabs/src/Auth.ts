/**
 * How protoLabs' agents are called by whom they know: the schemes that a card declares, the check of a request's headers, and the
 * client that stamps them.
 *
 * @since 0.1.0
 */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHash, timingSafeEqual } from "node:crypto"

/**
 * The card's name for the API key.
 *
 * @since 0.1.0
 * @category constructors
 */
export const apiKeySchemeName = "apiKey"

/**
 * The card's name for the bearer token.
 *
 * @since 0.1.0
 * @category constructors
 */
export const bearerSchemeName = "bearer"

/**
 * The header that carries an API key.
 *
 * @since 0.1.0
 * @category constructors
 */
export const apiKeyHeader = "X-API-Key"

/**
 * A scheme as A2A 1.0 writes it on a card.
 *
 * @since 0.1.0
 * @category models
 */
export type SecurityScheme =
  | {
    readonly apiKeySecurityScheme: {
      readonly description?: string
      readonly location: "header"
      readonly name: string
    }
  }
  | { readonly httpAuthSecurityScheme: { readonly description?: string; readonly scheme: string } }

/**
 * A card's schemes by name.
 *
 * @since 0.1.0
 * @category models
 */
export interface SecuritySchemes {
  readonly [name: string]: SecurityScheme
}

/**
 * One way in: all of its schemes are needed. A list of these are alternatives.
 *
 * @since 0.1.0
 * @category models
 */
export interface SecurityRequirement {
  readonly schemes: { readonly [name: string]: { readonly list?: ReadonlyArray<string> } }
}

/**
 * Declares an API key in a header.
 *
 * @since 0.1.0
 * @category constructors
 */
export const apiKeyScheme = (
  options?: { readonly header?: string | undefined; readonly description?: string | undefined }
): SecurityScheme => ({
  apiKeySecurityScheme: {
    ...(options?.description === undefined ? {} : { description: options.description }),
    location: "header",
    name: options?.header ?? apiKeyHeader
  }
})

/**
 * Declares a bearer token.
 *
 * @since 0.1.0
 * @category constructors
 */
export const bearerScheme = (options?: { readonly description?: string | undefined }): SecurityScheme => ({
  httpAuthSecurityScheme: {
    ...(options?.description === undefined ? {} : { description: options.description }),
    scheme: "bearer"
  }
})

/**
 * Declares the API key, and the bearer token beside it if there is one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const securitySchemes = (
  options: { readonly bearer: boolean; readonly apiKeyHeader?: string | undefined }
): SecuritySchemes => ({
  [apiKeySchemeName]: apiKeyScheme({ header: options.apiKeyHeader }),
  ...(options.bearer ? { [bearerSchemeName]: bearerScheme() } : {})
})

/**
 * The ways in that go with `securitySchemes`: the API key, or the bearer token.
 *
 * @since 0.1.0
 * @category constructors
 */
export const securityRequirements = (
  options: { readonly bearer: boolean }
): ReadonlyArray<SecurityRequirement> => [
  { schemes: { [apiKeySchemeName]: {} } },
  ...(options.bearer ? [{ schemes: { [bearerSchemeName]: {} } }] : [])
]

/**
 * What a caller shows.
 *
 * @since 0.1.0
 * @category models
 */
export interface Credentials {
  readonly scheme: "apiKey" | "bearer"
  /** The header that carries it. */
  readonly header: string
  readonly value: Redacted.Redacted
}

/**
 * Shows an API key, in `X-API-Key` unless the card names another header.
 *
 * @since 0.1.0
 * @category constructors
 */
export const apiKey = (
  value: Redacted.Redacted,
  options?: { readonly header?: string | undefined }
): Credentials => ({ scheme: "apiKey", header: options?.header ?? apiKeyHeader, value })

/**
 * Shows a bearer token.
 *
 * @since 0.1.0
 * @category constructors
 */
export const bearer = (value: Redacted.Redacted): Credentials => ({ scheme: "bearer", header: "authorization", value })

/**
 * Puts credentials into headers, in place of what stood there. An empty value changes nothing.
 *
 * @since 0.1.0
 * @category combinators
 */
export const stampHeaders = (headers: Headers.Headers, credentials: Credentials): Headers.Headers => {
  const value = Redacted.value(credentials.value)
  if (value === "") return headers
  return Headers.set(headers, credentials.header, credentials.scheme === "bearer" ? `Bearer ${value}` : value)
}

/**
 * Stamps every request of a client. The header is kept out of spans and logs whatever its name.
 *
 * @since 0.1.0
 * @category combinators
 */
export const stamp =
  (credentials: Credentials) => <E, R>(client: HttpClient.HttpClient.With<E, R>): HttpClient.HttpClient.With<E, R> =>
    client.pipe(
      HttpClient.mapRequest((request) =>
        HttpClientRequest.setHeaders(request, stampHeaders(request.headers, credentials))
      ),
      HttpClient.transform((response) =>
        Effect.locallyWith(response, Headers.currentRedactedNames, (names) => [
          ...names,
          credentials.header.toLowerCase()
        ])
      )
    )

/**
 * The `HttpClient` in context, with every request of it stamped. Credentials go wherever the client is sent; where that is not known
 * beforehand, `redacted` is for clients that keep headers to one origin.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  credentials: Credentials
): Layer.Layer<HttpClient.HttpClient, never, HttpClient.HttpClient> =>
  Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, stamp(credentials)))

/**
 * Credentials as headers whose values stay redacted, for the `headers` of an `AgentClient`, which sends them to its agent's origin alone.
 * An empty value is none.
 *
 * @since 0.1.0
 * @category combinators
 */
export const redacted = (credentials: Credentials): { readonly [header: string]: Redacted.Redacted } =>
  Object.fromEntries(
    Object.entries(stampHeaders(Headers.empty, credentials)).map(([name, value]) => [name, Redacted.make(value)])
  )

/**
 * Says that a request showed nothing that is accepted. What it showed isn't told, nor what would do.
 *
 * @since 0.1.0
 * @category errors
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>("@effect-agentenv/protolabs/Unauthorized")(
  "Unauthorized",
  {
    reason: Schema.Literal("missing", "rejected"),
    /** The schemes that are accepted. */
    schemes: Schema.Array(Schema.Literal("apiKey", "bearer"))
  }
) {
  /** @since 0.1.0 */
  override get message(): string {
    const what = this.reason === "missing" ? "no credentials were shown" : "the credentials are not accepted"
    return `${what} (${this.schemes.join(" or ")})`
  }
}

/**
 * What is accepted: several values of a scheme let keys change without a gap.
 *
 * @since 0.1.0
 * @category models
 */
export interface Accepted {
  readonly apiKeys?: ReadonlyArray<Redacted.Redacted> | undefined
  /** `X-API-Key` unless given. */
  readonly apiKeyHeader?: string | undefined
  readonly bearerTokens?: ReadonlyArray<Redacted.Redacted> | undefined
}

/** Digests are of one length, so that comparing them tells nothing of a secret's. */
const digest = (value: string): Buffer => createHash("sha256").update(value, "utf8").digest()

/** Empty secrets would let in whoever shows nothing. */
const secrets = (values: ReadonlyArray<Redacted.Redacted> = []): ReadonlyArray<string> =>
  values.map((value) => Redacted.value(value)).filter((value) => value !== "")

/**
 * The schemes that let somebody in: those that have a value which isn't empty.
 *
 * @since 0.1.0
 * @category combinators
 */
export const schemes = (accepted: Accepted): ReadonlyArray<"apiKey" | "bearer"> => [
  ...(secrets(accepted.apiKeys).length === 0 ? [] : ["apiKey" as const]),
  ...(secrets(accepted.bearerTokens).length === 0 ? [] : ["bearer" as const])
]

/** Always compares with all, so that time doesn't tell which one it was. */
const matches = (shown: string | undefined, accepted: ReadonlyArray<Buffer>): boolean => {
  const actual = digest(shown ?? "")
  let found = false
  for (const expected of accepted) found = timingSafeEqual(actual, expected) || found
  return found
}

const tokenIn = (header: string | undefined): string | undefined =>
  header !== undefined && header.slice(0, 7).toLowerCase() === "bearer "
    ? header.slice(7).trim() || undefined
    : undefined

/**
 * Makes the check of a request's headers: it answers the scheme that let the request in, in a time that doesn't depend on how much of
 * a secret was right. Without anything accepted, nothing gets in.
 *
 * @since 0.1.0
 * @category constructors
 */
export const checker = (
  accepted: Accepted
): (headers: Headers.Input) => Effect.Effect<"apiKey" | "bearer", Unauthorized> => {
  const keyHeader = (accepted.apiKeyHeader ?? apiKeyHeader).toLowerCase()
  const keys = secrets(accepted.apiKeys).map(digest)
  const tokens = secrets(accepted.bearerTokens).map(digest)
  const accepts = schemes(accepted)
  return (input) =>
    Effect.suspend(() => {
      const headers = Headers.fromInput(input)
      const key = headers[keyHeader] || undefined
      const token = tokenIn(headers["authorization"])
      const byKey = matches(key, keys)
      const byToken = matches(token, tokens)
      if (byKey || byToken) return Effect.succeed(byKey ? "apiKey" : "bearer")
      const shown = keys.length > 0 && key !== undefined || tokens.length > 0 && token !== undefined
      return new Unauthorized({ reason: shown ? "rejected" : "missing", schemes: accepts })
    })
}
