/**
 * The routes of an agent's extensions (contract 3).
 *
 * @since 0.1.0
 */
import * as Calls from "@effect-agentenv/server/Calls"
import * as Correlation from "@effect-agentenv/server/Correlation"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import * as Json from "@effect-agentenv/server/Json"
import type * as Route from "@effect-agentenv/server/Route"
import * as Loopback from "@effect-agentenv/transfers/Loopback"
import { isTransferError } from "@effect-agentenv/transfers/TransferError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { ExtensionError } from "./ExtensionError.ts"
import { ExtensionRegistry, type Served } from "./ExtensionRegistry.ts"
import * as issueList from "./internal/issueList.ts"
import { isObject } from "./internal/json.ts"

/**
 * `maxBodyBytes` bounds a request's body: 16 MiB by default, since skills may be sent inline. A larger one is 413.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly maxBodyBytes?: number | undefined
}

/**
 * The bytes that a request's body may have: 16 MiB.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaultMaxBodyBytes: number = 16 * 1024 * 1024

const textHead: ReadonlyArray<string> = ["content-type", "text/plain; charset=utf-8"]
const jsonHead: ReadonlyArray<string> = ["content-type", "application/json"]

const shuttingDown = "the server is shutting down"

type Sent = Readonly<Record<string, unknown>>

const say = (exchange: Exchange.Exchange, status: number, text: string): void => exchange.reply(status, textHead, text)

/** A query's parameters: the value, or the values where it is repeated. */
const queryOf = (text: string): Sent => {
  const query = new Map<string, string | Array<string>>()
  for (const [name, value] of new URLSearchParams(text)) {
    const before = query.get(name)
    if (before === undefined) query.set(name, value)
    else if (typeof before === "string") query.set(name, [before, value])
    else before.push(value)
  }
  return Object.fromEntries(query)
}

const unreadable = (parsed: Exclude<Json.Result, { readonly ok: true }>): string => {
  switch (parsed.reason) {
    case "surrogate":
      return "the body holds half a surrogate pair"
    case "too-deep":
      return `the body nests deeper than ${Json.maxDepth} levels`
    case "utf8":
      return "the body is not UTF-8"
    case "malformed":
      return "the body is not JSON"
  }
}

/** Reads a body that is a JSON object; an empty one is `{}`. */
const readObject = (exchange: Exchange.Exchange, limit: number, then: (sent: Sent) => void): void =>
  exchange.body(limit, (body) => {
    if (body._tag === "Aborted") return
    if (body._tag === "TooLarge") return say(exchange, 413, `the body is larger than ${body.limit} bytes`)
    if (body.bytes.length === 0) return then({})
    const parsed = Json.parse(body.bytes)
    if (!parsed.ok) return say(exchange, 400, unreadable(parsed))
    if (!isObject(parsed.value)) return say(exchange, 400, "the body must be a JSON object")
    then(parsed.value)
  })

/** The failures that have an answer of their own (B-HTTP-2, B-HTTP-4, B-HTTP-7); false for all others. */
const answered = (exchange: Exchange.Exchange, failure: unknown): boolean => {
  if (failure instanceof issueList.Refused) say(exchange, 400, issueList.text(failure.issues))
  else if (failure instanceof ExtensionError) say(exchange, failure.status, failure.message)
  else if (isTransferError(failure)) exchange.reply(failure.status, jsonHead, JSON.stringify(failure.toJSON()))
  else return false
  return true
}

const fail = (exchange: Exchange.Exchange, cause: Cause.Cause<unknown>, calls: Calls.Calls<never>): void => {
  if (Cause.isInterruptedOnly(cause)) {
    if (calls.closing) return say(exchange, 503, shuttingDown)
    // nobody is there to be told
    if (exchange.closed) return
  }
  const failure = Cause.failureOption(cause)
  if (Option.isSome(failure) && answered(exchange, failure.value)) return
  say(exchange, 500, Correlation.report(cause, calls.runtime))
}

type RuntimeOn = (port: number | undefined) => Runtime.Runtime<never>

/** The runtime of the calls that come to a port, which their transfers try first (B-XFER-1); the last one stays at hand. */
const runtimes = (runtime: Runtime.Runtime<never>): RuntimeOn => {
  let last: number | undefined
  let made = runtime
  return (port) => {
    if (port !== last) {
      last = port
      made = port === undefined ? runtime : Calls.withService(runtime, Loopback.ServingPort, port)
    }
    return made
  }
}

const listener = (
  served: Served,
  calls: Calls.Calls<never>,
  runtimeOn: RuntimeOn,
  limit: number
): Exchange.Listener => {
  const name = `extension ${served.name}`
  const run = (exchange: Exchange.Exchange, sent: Sent): void => {
    calls.run(
      exchange,
      Effect.suspend(() => served.call(sent)),
      runtimeOn(exchange.port),
      (exit) => {
        if (Exit.isSuccess(exit)) exchange.reply(200, jsonHead, exit.value)
        else fail(exchange, exit.cause, calls)
      },
      { name, onRefused: () => say(exchange, 503, shuttingDown) }
    )
  }
  if (served.method === "GET") return (exchange) => run(exchange, queryOf(exchange.query))
  return (exchange) =>
    readObject(
      exchange,
      limit,
      (sent) => run(exchange, served.takesNothing ? { ...queryOf(exchange.query), ...sent } : sent)
    )
}

/**
 * The routes of the registry's operations, one for each path. `GET` reads its request from the query, every other verb from a JSON
 * body. Each call is a fiber of its own, which the client's leaving interrupts; handlers that are still running when the scope closes
 * are interrupted and answered 503.
 *
 * What does not fit is 400 with a JSON list of what is wrong where, never the value (B-HTTP-1, B-HTTP-2, B-HTTP-9). An `ExtensionError`
 * has its own status (B-HTTP-4), a `TransferError` its own and its code (B-HTTP-7); any other failure, and an answer that its
 * definition does not allow, is a 500 with a correlation id (B-HTTP-3, B-HTTP-5).
 *
 * @since 0.1.0
 * @category constructors
 */
export const routes = (
  options?: Options | undefined
): Effect.Effect<ReadonlyArray<Route.Route>, never, ExtensionRegistry | Scope.Scope> =>
  Effect.gen(function*() {
    const registry = yield* ExtensionRegistry
    const calls = yield* Calls.make<never>()
    const limit = options?.maxBodyBytes ?? defaultMaxBodyBytes
    const runtimeOn = runtimes(calls.runtime)
    const byPath = new Map<string, Record<string, Exchange.Listener>>()
    for (const served of registry.routes) {
      const methods = byPath.get(served.path) ?? {}
      methods[served.method] = listener(served, calls, runtimeOn, limit)
      byPath.set(served.path, methods)
    }
    return Array.from(byPath, ([path, methods]) => ({ path, methods }))
  })
