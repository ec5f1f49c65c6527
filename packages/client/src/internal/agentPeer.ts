import * as Card from "@effect-agentenv/protocol/AgentCard"
import * as Headers from "@effect/platform/Headers"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import type { ReadError } from "../AgentClientError.ts"
import { type Unreachable, Unreadable } from "../ClientError.ts"
import * as http from "./http.ts"
import { isObject } from "./rpc.ts"
import * as secrets from "./secrets.ts"

type RequestHeaders = Readonly<Record<string, string | Redacted.Redacted>>

/** @internal */
export interface Options {
  readonly baseUrl: string
  /** Further places that the caller names, which may have its secrets. */
  readonly trusted?: ReadonlyArray<string> | undefined
  readonly headers?: RequestHeaders | undefined
  readonly cardTimeout: Duration.DurationInput
}

/**
 * A card with where it was found: paths on it are below `baseUrl`.
 *
 * @internal
 */
export interface Located {
  readonly card: Card.AgentCard
  /** Its extensions as they stand there, with what the card's schema doesn't know. */
  readonly extensions: ReadonlyArray<{ readonly uri: string; readonly [key: string]: unknown }>
  readonly baseUrl: string
}

/** @internal */
export interface Peer {
  /** Sends a request with the caller's headers, which stay out of errors and spans. */
  readonly execute: (
    request: HttpClientRequest.HttpClientRequest,
    operation: string
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, Unreachable | Unreadable>
  /** Reads a URL; any status but a success is a failure. */
  readonly read: (
    url: string,
    operation: string
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, Exclude<ReadError, { readonly _tag: "Timeout" }>>
  /** Takes the secrets of the headers out of a text, or of an error. */
  readonly clean: (text: string) => string
  readonly hide: <E>(error: E) => E
  /** The card, read once; a failed reading is tried again. */
  readonly located: Effect.Effect<Located, ReadError>
  /** The card, read anew. */
  readonly reload: Effect.Effect<Located, ReadError>
}

const originOf = (url: string): string | undefined => URL.canParse(url) ? new URL(url).origin : undefined

const withoutSlash = (url: string): string => url.replace(/\/+$/, "")

interface Place {
  readonly baseUrl: string
  readonly url: string
}

/**
 * Where a card may be: at the origin of what was given, since it is often given where JSON-RPC is, then below it; at both paths
 * (B-CARD-1). What is the URL of a card already is the only place.
 */
const places = (given: string): ReadonlyArray<Place> => {
  const base = withoutSlash(given.replace(/[?#].*$/s, ""))
  const own = Card.paths.find((path) => base.endsWith(path))
  if (own !== undefined) return [{ baseUrl: base.slice(0, -own.length), url: base }]
  const bases = new Set([originOf(base) ?? base, base])
  return Array.from(bases).flatMap((baseUrl) => Card.paths.map((path) => ({ baseUrl, url: `${baseUrl}${path}` })))
}

const decodeCard = http.decoder(Card.AgentCard)

const extensionsOf = (card: unknown): Located["extensions"] => {
  const capabilities = isObject(card) ? card["capabilities"] : undefined
  const listed = isObject(capabilities) ? capabilities["extensions"] : undefined
  return Array.isArray(listed)
    ? listed.filter((entry): entry is Located["extensions"][number] =>
      isObject(entry) && typeof entry["uri"] === "string"
    )
    : []
}

/** Whether the next place is worth a look after this failure: the peer answered, though not with a card. */
const answered = (error: { readonly _tag: string }): boolean =>
  error._tag === "BadStatus" || error._tag === "Unreadable"

/** Of two failures the one that says more: that nothing is there says least. */
const telling = <E extends { readonly _tag: string; readonly status?: number }>(first: E, next: E): E =>
  first._tag === "BadStatus" && first.status === 404 ? next : first

/** @internal */
export const make = (client: HttpClient.HttpClient, options: Options): Effect.Effect<Peer> =>
  Effect.gen(function*() {
    const headers = Object.entries(options.headers ?? {})
    const plain = headers.map(([name, value]): [string, string] => [
      name,
      Redacted.isRedacted(value) ? Redacted.value(value) : value
    ])
    const secret = headers.flatMap(([name, value]) => Redacted.isRedacted(value) ? [name.toLowerCase()] : [])
    const clean = secrets.clean(secrets.of(options.headers))
    const hide = secrets.hide(options.headers)
    const trusted = new Set([options.baseUrl, ...options.trusted ?? []].map(originOf))

    const execute: Peer["execute"] = (request, operation) =>
      secret.length > 0 && !trusted.has(originOf(request.url))
        ? Effect.fail(
          new Unreadable({
            operation,
            what: "the card",
            issues: "it leads to another origin, where secret headers don't go unless it is named in the options"
          })
        )
        : Effect.mapError(http.execute(client, HttpClientRequest.setHeaders(request, plain), operation), hide).pipe(
          Effect.locallyWith(Headers.currentRedactedNames, (names) => [...names, ...secret])
        )

    const read: Peer["read"] = (url, operation) =>
      Effect.flatMap(
        execute(HttpClientRequest.get(url, { acceptJson: true }), operation),
        (response) => http.isOk(response) ? Effect.succeed(response) : http.badStatus(response, operation, clean)
      )

    const readAt = ({ baseUrl, url }: Place) =>
      read(url, "card").pipe(
        Effect.flatMap((response) => http.json(response, "card", "the card")),
        Effect.flatMap((value) =>
          Effect.map(decodeCard(value, "card", "the card"), (card): Located => ({
            card,
            extensions: extensionsOf(value),
            baseUrl
          }))
        )
      )

    const [first, ...others] = places(options.baseUrl).map(readAt)
    const readCard = others.reduce(
      (before, next) =>
        Effect.catchIf(before, answered, (error) =>
          Effect.mapError(next, (other) =>
            answered(other) ? telling(error, other) : other)),
      // there is a place at least
      first!
    ).pipe(http.within("card", options.cardTimeout))

    const known = yield* Ref.make(Option.none<Located>())
    const one = yield* Effect.makeSemaphore(1)
    const reload = Effect.tap(readCard, (found) =>
      Ref.set(known, Option.some(found)))

    return {
      execute,
      read,
      clean,
      hide,
      reload: one.withPermits(1)(reload),
      located: one.withPermits(1)(
        Effect.flatMap(Ref.get(known), Option.match({ onSome: Effect.succeed, onNone: () => reload }))
      )
    }
  })
