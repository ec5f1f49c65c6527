import * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type BadStatus, SessionLost, type Unreachable } from "../ClientError.ts"
import type { Features, Session, ToolClientError } from "../ToolClient.ts"
import * as features from "./features.ts"
import * as http from "./http.ts"
import * as reply from "./reply.ts"
import * as rpc from "./rpc.ts"

type Json = Readonly<Record<string, unknown>>

/** @internal */
export interface Options {
  readonly url: string
  /** The user's own headers, which no other origin gets to see. */
  readonly headers: Readonly<Record<string, string>>
  readonly callerHeaders: Readonly<Record<string, string>>
  readonly timeout: Duration.Duration
  readonly onSessionLost: "fail" | "reopen"
  readonly features: Features
  readonly clientInfo: Mcp.Implementation
}

/** @internal */
interface Call {
  readonly timeout?: Duration.DurationInput | undefined
  readonly onProgress?: reply.Listener["onProgress"]
  readonly onLog?: reply.Listener["onLog"]
}

/** @internal */
export interface McpSession {
  readonly session: Effect.Effect<Session>
  readonly reopen: Effect.Effect<Session, ToolClientError>
  readonly request: (method: string, params: Json, call?: Call) => Effect.Effect<unknown, ToolClientError>
}

type SendError = Unreachable | BadStatus | SessionLost

const MAX_REDIRECTS = 5

const CLOSE_TIMEOUT = Duration.seconds(5)

const decodeServer = Schema.decodeUnknownOption(Mcp.Implementation)
const decodeCapabilities = Schema.decodeUnknownOption(Mcp.ServerCapabilities)

/** Reads an `initialize` result as far as it can be: all that must be there is an object (B-TSESS-2). */
const sessionOf = (result: Json, id: string | undefined): Session => ({
  id,
  protocolVersion: typeof result["protocolVersion"] === "string"
    ? result["protocolVersion"]
    : Mcp.LATEST_SESSION_VERSION,
  server: Option.getOrUndefined(decodeServer(result["serverInfo"])),
  capabilities: Option.getOrElse(decodeCapabilities(result["capabilities"]), () => ({})),
  instructions: typeof result["instructions"] === "string" ? result["instructions"] : undefined
})

const sessionHeaders = (session: Session | undefined): Readonly<Record<string, string>> =>
  session === undefined ? {} : {
    [Mcp.Header.ProtocolVersion]: session.protocolVersion,
    ...(session.id === undefined ? {} : { [Mcp.Header.SessionId]: session.id })
  }

/** Where a redirect leads, `undefined` for answers that are none: only those that keep verb and body count. */
const redirection = (response: HttpClientResponse.HttpClientResponse, from: string): string | undefined => {
  const location = response.headers["location"]
  if (location === undefined || response.status !== 307 && response.status !== 308) return undefined
  return URL.canParse(location, from) ? new URL(location, from).href : location
}

const isSameOrigin = (one: string, other: string): boolean =>
  one.startsWith("/") || other.startsWith("/") || new URL(one).origin === new URL(other).origin

/** @internal */
export const open = (
  client: HttpClient.HttpClient,
  options: Options
): Effect.Effect<McpSession, ToolClientError, Scope.Scope> =>
  Effect.gen(function*() {
    const current = yield* Ref.make(Option.none<Session>())
    const opening = yield* Effect.makeSemaphore(1)
    const parting = yield* FiberSet.make<void>()
    const patience = Duration.min(options.timeout, CLOSE_TIMEOUT)
    let ids = 0

    const execute = (
      request: HttpClientRequest.HttpClientRequest,
      session: Session | undefined,
      operation: string
    ): Effect.Effect<HttpClientResponse.HttpClientResponse, Unreachable> => {
      const go = (url: string, hops: number): Effect.Effect<HttpClientResponse.HttpClientResponse, Unreachable> =>
        http.execute(
          client,
          HttpClientRequest.setUrl(request, url).pipe(
            HttpClientRequest.setHeaders(isSameOrigin(url, options.url) ? options.headers : {}),
            HttpClientRequest.setHeaders({
              ...options.callerHeaders,
              ...sessionHeaders(session),
              accept: "application/json, text/event-stream"
            })
          ),
          operation
        ).pipe(Effect.flatMap((response) => {
          const next = hops < MAX_REDIRECTS ? redirection(response, url) : undefined
          return next === undefined
            ? Effect.succeed(response)
            : Effect.zipRight(Effect.ignore(response.text), go(next, hops + 1))
        }))
      return go(options.url, 0)
    }

    const post = (
      message: object,
      session: Session | undefined,
      operation: string
    ): Effect.Effect<HttpClientResponse.HttpClientResponse, SendError> =>
      Effect.flatMap(
        execute(
          HttpClientRequest.post(options.url).pipe(
            HttpClientRequest.bodyText(JSON.stringify(message), "application/json")
          ),
          session,
          operation
        ),
        (response): Effect.Effect<HttpClientResponse.HttpClientResponse, SendError> => {
          if (response.status === 404 && session?.id !== undefined) {
            return Effect.zipRight(Effect.ignore(response.text), Effect.fail(new SessionLost({ operation })))
          }
          return http.isOk(response) ? Effect.succeed(response) : http.badStatus(response, operation)
        }
      )

    const notify = (message: object, session: Session, operation: string): Effect.Effect<void, SendError> =>
      Effect.flatMap(post(message, session, operation), (response) => Effect.ignore(response.text))

    const respond = (session: Session | undefined) => (message: Json): Effect.Effect<void> =>
      Effect.flatMap(features.answer(options.features, message), (answer) =>
        Effect.ignoreLogged(Effect.flatMap(post(answer, session, "response"), (response) => response.text)))

    const exchange = (
      message: { readonly id: number; readonly method: string },
      session: Session | undefined,
      call: Call
    ) =>
      Effect.flatMap(post(message, session, message.method), (response) =>
        Effect.map(
          reply.read(response, message.id, message.method, {
            onProgress: call.onProgress,
            onLog: call.onLog,
            onRequest: respond(session)
          }),
          (result) => ({ result, response })
        ))

    const initialize: Effect.Effect<Session, ToolClientError> = Effect.gen(function*() {
      const message = {
        jsonrpc: "2.0",
        id: ++ids,
        method: Mcp.Method.Initialize,
        params: {
          protocolVersion: Mcp.LATEST_SESSION_VERSION,
          capabilities: features.capabilities(options.features),
          clientInfo: options.clientInfo
        }
      }
      const { response, result } = yield* exchange(message, undefined, {})
      const session = sessionOf(yield* rpc.object(result, message.method), response.headers[Mcp.Header.SessionId])
      yield* Ref.set(current, Option.some(session))
      yield* notify({ jsonrpc: "2.0", method: Mcp.Method.Initialized }, session, Mcp.Method.Initialized)
      return session
    }).pipe(http.within(Mcp.Method.Initialize, options.timeout))

    /** The session that came after a lost one, opened once however many calls lost it. */
    const replace = (lost: Session): Effect.Effect<Session, ToolClientError> =>
      opening.withPermits(1)(Effect.flatMap(here, (session) =>
        session === lost ? initialize : Effect.succeed(session)))

    const here: Effect.Effect<Session> = Effect.flatMap(
      Ref.get(current),
      Option.match({
        onSome: Effect.succeed,
        onNone: () => Effect.dieMessage("the tool session is closed: it was used outside its scope")
      })
    )

    /** Says, beside the closing of its POST, that a call is no longer wanted; nobody waits for it but the session's end. */
    const cancel = (id: number, session: Session): Effect.Effect<void> =>
      notify(
        {
          jsonrpc: "2.0",
          method: Mcp.Method.Cancelled,
          params: { requestId: id, reason: "the caller no longer waits" }
        },
        session,
        Mcp.Method.Cancelled
      ).pipe(
        Effect.timeout(patience),
        Effect.ignore,
        Effect.interruptible,
        FiberSet.run(parting),
        Effect.asVoid
      )

    const request: McpSession["request"] = (method, params, call = {}) =>
      Effect.suspend(() => {
        const id = ++ids
        const message = {
          jsonrpc: "2.0",
          id,
          method,
          params: call.onProgress === undefined
            ? params
            : { ...params, _meta: { ...rpc.orEmpty(params["_meta"]), progressToken: id } }
        }
        const attempt = (session: Session) =>
          Effect.onInterrupt(exchange(message, session, call), () => cancel(id, session))
        return Effect.flatMap(here, (session) =>
          attempt(session).pipe(
            Effect.catchTag("SessionLost", (lost): Effect.Effect<{ readonly result: unknown }, ToolClientError> =>
              options.onSessionLost === "reopen" ? Effect.flatMap(replace(session), attempt) : Effect.fail(lost))
          ))
      }).pipe(
        Effect.map(({ result }) =>
          result
        ),
        http.within(method, call.timeout ?? options.timeout)
      )

    const remove = (session: Session) =>
      session.id === undefined
        ? Effect.void
        : Effect.flatMap(execute(HttpClientRequest.del(options.url), session, "close"), (response) =>
          response.text)

    const reopen: Effect.Effect<Session, ToolClientError> = opening.withPermits(1)(Effect.flatMap(
      here,
      (session) => Effect.zipRight(Effect.ignore(Effect.timeout(remove(session), patience)), initialize)
    ))

    const removeLast = Effect.flatMap(
      Ref.getAndSet(current, Option.none()),
      Option.match({ onNone: () => Effect.void, onSome: remove })
    )

    // in a fiber of its own, for the one that closes the scope may have been interrupted
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(FiberSet.awaitEmpty(parting), removeLast).pipe(
        Effect.timeout(patience),
        Effect.ignore,
        Effect.interruptible,
        Effect.forkDaemon,
        Effect.flatMap(Fiber.await)
      )
    )
    yield* initialize
    return { session: here, reopen, request }
  })
