import * as AgentEnvError from "@effect-agentenv/protocol/AgentEnvError"
import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpMethod from "@effect/platform/HttpMethod"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { ExtensionCallError, NotAdvertised, Unreadable } from "../ClientError.ts"
import * as EnvironmentClient from "../EnvironmentClient.ts"
import type { ExtensionClientError, Invocation, Options, Transport } from "../ExtensionClient.ts"
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
  operation: string
): Effect.Effect<never, ExtensionCallError> =>
  Effect.flatMap(Effect.orElseSucceed(response.json, () => undefined), (body) => {
    const { code, detail = phrases[response.status] ?? `HTTP ${response.status}`, hint, ...rest } = errorFields(body)
    return Effect.fail(
      new ExtensionCallError({ uri, operation, status: response.status, code, detail, hint, ...rest })
    )
  })

const scalar = (value: unknown): string => typeof value === "object" ? JSON.stringify(value) : String(value)

/** The query string of a request: a list is a repeated key, and what is absent or null isn't sent. */
const query = (params: Readonly<Record<string, unknown>>): ReadonlyArray<[string, string]> =>
  Object.entries(params).flatMap(([name, value]): ReadonlyArray<[string, string]> => {
    if (value === undefined || value === null) return []
    return Array.isArray(value) ? value.map((each) => [name, scalar(each)]) : [[name, scalar(value)]]
  })

const isVerb = (verb: string): verb is HttpMethod.HttpMethod => HttpMethod.all.has(verb as HttpMethod.HttpMethod)

/** @internal */
export const make = (
  client: HttpClient.HttpClient,
  options: Options
): Effect.Effect<Context.Tag.Service<typeof Transport>> =>
  Effect.gen(function*() {
    const headers = http.callerHeaders(options.caller)
    const environment = yield* EnvironmentClient.make({
      baseUrl: options.baseUrl,
      timeouts: { card: options.cardTimeout },
      caller: options.caller
    }).pipe(Effect.provideService(HttpClient.HttpClient, client))
    const known = yield* Ref.make(Option.none<EnvironmentCard.EnvironmentCard>())
    const one = yield* Effect.makeSemaphore(1)

    const readCard = Effect.flatMap(environment.card, (card) => {
      if (options.child === undefined) return Effect.succeed(card)
      const child = EnvironmentCard.findChild(card, options.child)
      return child === undefined
        ? Effect.fail(
          new Unreadable({ operation: "card", what: "the card", issues: `it has no child "${options.child}"` })
        )
        : Effect.succeed(child)
    })

    const card = one.withPermits(1)(Effect.flatMap(
      Ref.get(known),
      Option.match({
        onSome: Effect.succeed,
        onNone: () => Effect.tap(readCard, (found) => Ref.set(known, Option.some(found)))
      })
    ))

    const find = (uri: string) =>
      Effect.map(card, (card) => Option.fromNullable(EnvironmentCard.findExtension(card, uri)))

    const locate = (
      uri: string,
      name: string | undefined
    ): Effect.Effect<EnvironmentCard.Method, ExtensionClientError> =>
      Effect.flatMap(card, (card) => {
        const entry = EnvironmentCard.findExtension(card, uri)
        if (entry === undefined) {
          const advertised = (card.capabilities.extensions ?? []).map((each) => each.uri)
          return Effect.fail(new NotAdvertised({ uri, advertised }))
        }
        const method = EnvironmentCard.method(entry, name)
        return method !== undefined && isVerb(method.verb) ? Effect.succeed(method) : Effect.fail(
          new NotAdvertised({ uri, operation: name ?? "(first)", advertised: EnvironmentCard.methodNames(entry) })
        )
      })

    const request = (
      { endpoint, verb }: EnvironmentCard.Method,
      params: Readonly<Record<string, unknown>>
    ): HttpClientRequest.HttpClientRequest => {
      const url = http.resolve(options.baseUrl, endpoint)
      return verb === "GET"
        ? HttpClientRequest.get(url, { headers, acceptJson: true, urlParams: query(params) })
        // `locate` answers nothing but verbs
        : HttpClientRequest.make(verb as HttpMethod.HttpMethod)(url, { headers, acceptJson: true }).pipe(
          HttpClientRequest.bodyText(JSON.stringify(params), "application/json")
        )
    }

    const invoke = Effect.fn("ExtensionClient.invoke")(function*(uri: string, invocation: Invocation = {}) {
      const timeout = invocation.timeout ?? options.timeout ?? "30 seconds"
      return yield* Effect.gen(function*() {
        const method = yield* locate(uri, invocation.method)
        const operation = `${uri} ${method.name}`
        const response = yield* http.execute(client, request(method, invocation.params ?? {}), operation)
        if (response.status >= 400) return yield* refusal(response, uri, method.name)
        const text = yield* Effect.mapError(response.text, http.unreachable(operation))
        return text === "" ? undefined : yield* http.parse(text, operation, "the answer")
      }).pipe(http.within(invocation.method === undefined ? uri : `${uri} ${invocation.method}`, timeout))
    })

    return { find, invoke }
  })
