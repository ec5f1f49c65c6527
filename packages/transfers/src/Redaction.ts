/**
 * Keeps signed URLs out of logs and traces where an author sends them with an HTTP client of their own. Transfers need it not: they
 * never show a URL.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"

const anyUrl = /(https?):\/\/(?:[^/?#@\s"'<>]*@)?([^/?#\s"'<>]+)[^\s"'<>]*/gi

/**
 * Shortens every `http` and `https` URL in a text to `scheme://host/<redacted>`, without its user (`B-OBJ-16`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const text = (value: string): string => value.replace(anyUrl, "$1://$2/<redacted>")

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

const deep = (value: unknown): unknown => {
  if (typeof value === "string") return text(value)
  if (Array.isArray(value)) return value.map(deep)
  if (value instanceof URL) return text(value.href)
  if (value instanceof Error) return text(value.stack ?? String(value))
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner)])) : value
}

const redacting = <Output>(logger: Logger.Logger<unknown, Output>): Logger.Logger<unknown, Output> =>
  Logger.make((options) =>
    logger.log({
      ...options,
      message: deep(options.message),
      cause: Cause.isEmpty(options.cause) ? options.cause : Cause.fail(text(Cause.pretty(options.cause))),
      annotations: HashMap.map(options.annotations, deep)
    })
  )

/**
 * Runs an effect whose log lines show URLs as `text` does, in messages, annotations and causes, and whose HTTP clients make no
 * spans, since those hold URLs too. Nothing outside of the effect is touched (`B-OBJ-16`, `B-XFER-4`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const scope = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  effect.pipe(
    Effect.locally(HttpClient.currentTracerDisabledWhen, () => true),
    Effect.locallyWith(FiberRef.currentLoggers, HashSet.map(redacting))
  )
