import * as Caller from "@effect-agentenv/protocol/Caller"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { BadStatus, Timeout, Unreachable, Unreadable } from "../ClientError.ts"

const codes = (cause: unknown, depth = 0): ReadonlyArray<string> => {
  if (depth > 8 || !Predicate.isObject(cause)) return []
  if ("errors" in cause && Array.isArray(cause.errors) && cause.errors.length > 0) {
    return cause.errors.flatMap((each) => codes(each, depth + 1))
  }
  if ("code" in cause && typeof cause.code === "string") return [cause.code]
  return "cause" in cause ? codes(cause.cause, depth + 1) : []
}

/** Whether every address took no connection: then nothing of the request can have reached anybody. */
const isRefused = (error: HttpClientError.HttpClientError): boolean => {
  if (error._tag !== "RequestError" || error.reason !== "Transport") return false
  const found = codes(error.cause)
  return found.length > 0 && found.every((code) => code === "ECONNREFUSED")
}

const innermost = (cause: unknown, depth = 0): string | undefined => {
  if (depth > 8 || !(cause instanceof Error)) return undefined
  return innermost(cause.cause, depth + 1) ?? (cause.message === "" ? codes(cause).join(", ") : cause.message)
}

/**
 * Says what went wrong. The platform's error holds the request, so it must not travel.
 *
 * @internal
 */
export const unreachable = (operation: string) => (error: HttpClientError.HttpClientError): Unreachable =>
  new Unreachable({
    operation,
    reason: innermost(error.cause) ?? error.description ?? error.reason,
    refused: isRefused(error)
  })

/** 50, 100, 200 and 400 ms: five tries in 0.75 s. */
const whileRefused = Schedule.exponential("50 millis").pipe(
  Schedule.intersect(Schedule.recurs(4)),
  Schedule.whileInput((error: Unreachable) => error.refused)
)

/**
 * Sends one request; a refused connection is tried again, nothing that may have run ever is (V-12).
 *
 * @internal
 */
export const execute = (
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  operation: string
): Effect.Effect<HttpClientResponse.HttpClientResponse, Unreachable> =>
  client.execute(request).pipe(Effect.mapError(unreachable(operation)), Effect.retry(whileRefused))

/** @internal */
export const within =
  (operation: string, after: Duration.DurationInput) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | Timeout, R> =>
    Effect.timeoutFail(self, {
      duration: after,
      onTimeout: () => new Timeout({ operation, after: Duration.decode(after) })
    })

/** A URL as errors may show it: without credentials and query. */
const shown = (url: string): string => url.replace(/[?#].*$/s, "").replace(/^([a-z]+:\/\/)[^/@]*@/i, "$1")

/** @internal */
export const isOk = (response: HttpClientResponse.HttpClientResponse): boolean =>
  response.status >= 200 && response.status < 300

/** @internal */
export const badStatus = (
  response: HttpClientResponse.HttpClientResponse,
  operation: string,
  clean: (text: string) => string = identity
): Effect.Effect<never, BadStatus> =>
  Effect.flatMap(Effect.orElseSucceed(response.text, () => ""), (body) =>
    Effect.fail(
      new BadStatus({
        operation,
        url: shown(response.request.url),
        status: response.status,
        body: clean(body).slice(0, 1000)
      })
    ))

/** @internal */
export const parse = (text: string, operation: string, what: string): Effect.Effect<unknown, Unreadable> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => new Unreadable({ operation, what, issues: text === "" ? "it is empty" : "it is no JSON" })
  })

/** @internal */
export const json = (
  response: HttpClientResponse.HttpClientResponse,
  operation: string,
  what: string
): Effect.Effect<unknown, Unreachable | Unreadable> =>
  response.text.pipe(
    Effect.mapError(unreachable(operation)),
    Effect.flatMap((text) => parse(text, operation, what))
  )

/** @internal */
export const decoder = <A, I, R>(
  schema: Schema.Schema<A, I, R>
): (value: unknown, operation: string, what: string) => Effect.Effect<A, Unreadable, R> => {
  const decode = Schema.decodeUnknown(schema)
  return (value, operation, what) =>
    Effect.mapError(
      decode(value),
      (error) => new Unreadable({ operation, what, issues: WireSchema.formatIssues(error) })
    )
}

/**
 * A path or an absolute URL of a card, seen from the base URL.
 *
 * @internal
 */
export const resolve = (baseUrl: string, path: string): string =>
  /^https?:\/\//i.test(path) ? path : `${baseUrl.replace(/\/+$/, "")}${path.startsWith("/") ? "" : "/"}${path}`

/**
 * Who calls, where there is no MCP `_meta` to say it (B-CTX-3, B-CTX-8).
 *
 * @internal
 */
export const callerHeaders = (caller: Partial<Caller.Caller> | undefined): Record<string, string> => {
  const role = Caller.normalizeRole(caller?.role)
  return {
    ...(role === undefined ? {} : { [Caller.ROLE_HEADER]: role }),
    ...(caller?.session === undefined ? {} : { [Caller.SESSION_HEADER]: caller.session })
  }
}
