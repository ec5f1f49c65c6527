import * as AgentEnvError from "@effect-agentenv/protocol/AgentEnvError"
import type * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpMethod from "@effect/platform/HttpMethod"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ExtensionCallError } from "../ClientError.ts"
import type { ExtensionClientError, Invocation, Transport } from "../ExtensionClient.ts"
import * as http from "./http.ts"
import { isObject } from "./rpc.ts"

/** The words of the statuses that extensions answer (B-CLIENT-2): the platform doesn't hand on the peer's own. */
const phrases: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  411: "Length Required",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity",
  423: "Locked",
  424: "Failed Dependency",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  507: "Insufficient Storage"
}

/** What of a peer's error is usable; anything else counts as not said. */
const errorFields = (body: unknown) => {
  const said = isObject(body) && isObject(body["error"]) ? body["error"] : {}
  const text = (key: string) => (typeof said[key] === "string" ? said[key] : undefined)
  return {
    code: text("code"),
    detail: text("message"),
    retryable: said["retryable"] === true,
    applied: Option.getOrElse(
      Schema.decodeUnknownOption(AgentEnvError.Applied)(said["applied"]),
      () => "unknown" as const
    ),
    hint: text("hint")
  }
}

const refusal = (
  response: HttpClientResponse.HttpClientResponse,
  uri: string,
  operation: string,
  plain: (response: HttpClientResponse.HttpClientResponse, text: string) => string | undefined
): Effect.Effect<never, ExtensionCallError> =>
  Effect.flatMap(Effect.orElseSucceed(response.text, () => ""), (text) => {
    const { detail, ...rest } = errorFields(Option.getOrUndefined(parseJson(text)))
    const { status } = response
    return Effect.fail(
      new ExtensionCallError({
        uri,
        operation,
        status,
        detail: detail ?? plain(response, text) ?? phrases[status] ?? `HTTP ${status}`,
        ...rest
      })
    )
  })

const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))

const scalar = (value: unknown): string => typeof value === "object" ? JSON.stringify(value) : String(value)

/** The query string of a request: a list is a repeated key, and what is absent or null isn't sent. */
const query = (params: Readonly<Record<string, unknown>>): ReadonlyArray<[string, string]> =>
  Object.entries(params).flatMap(([name, value]): ReadonlyArray<[string, string]> => {
    if (value === undefined || value === null) return []
    return Array.isArray(value) ? value.map((each) => [name, scalar(each)]) : [[name, scalar(value)]]
  })

/**
 * A peer whose extensions are called.
 *
 * @internal
 */
export interface Peer {
  readonly find: (uri: string) => Effect.Effect<Option.Option<EnvironmentCard.ExtensionEntry>, ExtensionClientError>
  /** Where an operation is called, the first of the extension without a name; fails for a request that the card doesn't accept. */
  readonly locate: (
    uri: string,
    name: string | undefined,
    params: Params
  ) => Effect.Effect<Place, ExtensionClientError>
  readonly execute: (
    request: HttpClientRequest.HttpClientRequest,
    operation: string
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, ExtensionClientError>
  /** What a failure that is no JSON says, if it says anything worth telling. */
  readonly plain: (response: HttpClientResponse.HttpClientResponse, text: string) => string | undefined
}

type Params = Readonly<Record<string, unknown>>

/** @internal */
export interface Place {
  readonly name: string
  readonly verb: HttpMethod.HttpMethod
  readonly url: string
}

/** @internal */
export const isVerb = (verb: string): verb is HttpMethod.HttpMethod => HttpMethod.all.has(verb as HttpMethod.HttpMethod)

const request = ({ url, verb }: Place, params: Params): HttpClientRequest.HttpClientRequest =>
  verb === "GET"
    ? HttpClientRequest.get(url, { acceptJson: true, urlParams: query(params) })
    : HttpClientRequest.make(verb)(url, { acceptJson: true }).pipe(
      HttpClientRequest.bodyText(JSON.stringify(params), "application/json")
    )

/** @internal */
export const make = (
  peer: Peer,
  defaultTimeout: Duration.DurationInput = "30 seconds"
): Context.Tag.Service<typeof Transport> => ({
  find: peer.find,
  // without a span: callers know what to take out of a failure before it is in one
  invoke: Effect.fnUntraced(function*(uri: string, invocation: Invocation = {}) {
    const params = invocation.params ?? {}
    return yield* Effect.gen(function*() {
      const place = yield* peer.locate(uri, invocation.method, params)
      const operation = `${uri} ${place.name}`
      const response = yield* peer.execute(request(place, params), operation)
      if (response.status >= 400) return yield* refusal(response, uri, place.name, peer.plain)
      const text = yield* Effect.mapError(response.text, http.unreachable(operation))
      return text === "" ? undefined : yield* http.parse(text, operation, "the answer")
    }).pipe(
      http.within(
        invocation.method === undefined ? uri : `${uri} ${invocation.method}`,
        invocation.timeout ?? defaultTimeout
      )
    )
  })
})
