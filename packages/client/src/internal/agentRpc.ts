import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as A2aV03 from "@effect-agentenv/protocol/A2aV03"
import * as A2aV1 from "@effect-agentenv/protocol/A2aV1"
import * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import * as Card from "@effect-agentenv/protocol/AgentCard"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import {
  type AgentClientError,
  ContentTypeNotSupported,
  InvalidMessage,
  type ReadError,
  TaskNotCancelable,
  TaskNotFound,
  UnsupportedOperation,
  VersionNotSupported
} from "../AgentClientError.ts"
import { type BadStatus, type RpcError, type Unreachable, Unreadable } from "../ClientError.ts"
import type { Peer } from "./agentPeer.ts"
import * as http from "./http.ts"
import * as rpc from "./rpc.ts"

type Version = A2aWire.Wire["VERSION"]

const wires: { readonly [V in Version]: A2aWire.Wire } = { "0.3": A2aV03, "1.0": A2aV1 }

/**
 * Where an agent speaks which wire.
 *
 * @internal
 */
export interface Target {
  readonly url: string
  readonly wire: A2aWire.Wire
  readonly tenant?: string | undefined
}

/** @internal */
export interface TargetOptions {
  readonly wire: "auto" | Version
  readonly rpcUrl: string | undefined
}

/**
 * The endpoint of the wanted wire, of 1.0 where the card leaves the choice. A forced wire is spoken wherever the card has an endpoint.
 *
 * @internal
 */
export const target = (peer: Peer, { rpcUrl, wire }: TargetOptions): Effect.Effect<Target, ReadError> => {
  if (rpcUrl !== undefined && wire !== "auto") return Effect.succeed({ url: rpcUrl, wire: wires[wire] })
  return Effect.flatMap(peer.located, ({ baseUrl, card }): Effect.Effect<Target, ReadError> => {
    const found = Card.endpoint(card, wire === "auto" ? "1.0" : wire)
    if (found === undefined && rpcUrl === undefined) {
      const issues = "it has no JSON-RPC endpoint of A2A 0.3 or 1.0"
      return Effect.fail(new Unreadable({ operation: "card", what: "the card", issues }))
    }
    return Effect.succeed({
      url: rpcUrl ?? http.resolve(baseUrl, found?.url ?? ""),
      wire: wires[wire === "auto" ? found?.version ?? "0.3" : wire],
      tenant: found?.tenant
    })
  })
}

/** @internal */
export interface Call {
  readonly method: string
  readonly params: A2a.JsonObject
  /** The task that is asked for, for errors. */
  readonly taskId?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The error of JSON-RPC in the class that A2A has for its code. */
const classified = (error: RpcError, taskId: string | undefined): AgentClientError => {
  const { code, data, operation, reason } = error
  const fields = { code, data, operation, reason }
  const ofTask = taskId === undefined ? fields : { ...fields, taskId }
  switch (code) {
    case A2aWire.ErrorCode.TaskNotFound:
      return new TaskNotFound(ofTask)
    case A2aWire.ErrorCode.TaskNotCancelable:
      return new TaskNotCancelable(ofTask)
    case A2aWire.ErrorCode.UnsupportedOperation:
      return new UnsupportedOperation(ofTask)
    case A2aWire.ErrorCode.ContentTypeNotSupported:
      return new ContentTypeNotSupported(fields)
    case A2aWire.ErrorCode.VersionNotSupported:
      return new VersionNotSupported(fields)
    default:
      return error
  }
}

/**
 * Reads the result out of an answer of JSON-RPC, be it a body or a frame of a stream.
 *
 * @internal
 */
export const result = (
  peer: Peer,
  { method, taskId }: Call,
  id: number,
  answer: unknown
): Effect.Effect<unknown, AgentClientError> => {
  const given = rpc.isObject(answer) ? answer["id"] : undefined
  if (given !== undefined && given !== null && given !== id) {
    return Effect.fail(
      new Unreadable({ operation: method, what: "the answer", issues: "it answers another request" })
    )
  }
  return Effect.mapError(
    rpc.result(answer, method),
    (error) => error._tag === "RpcError" ? classified(peer.hide(error), taskId) : error
  )
}

/**
 * Reads a result as the wire has it.
 *
 * @internal
 */
export const decoded = <A>(
  value: Effect.Effect<A, A2aWire.A2aWireError>,
  operation: string
): Effect.Effect<A, Unreadable> =>
  Effect.mapError(value, ({ message }) => new Unreadable({ operation, what: "the result", issues: message }))

const gatewayStatuses = new Set([502, 503, 504])

/**
 * Whether a failure may pass by itself: the way to the agent is broken, or the agent is not there at the moment (P-PR-3).
 *
 * @internal
 */
export const isPassing = (error: AgentClientError): boolean =>
  error._tag === "Unreachable" || error._tag === "Timeout" ||
  (error._tag === "BadStatus" && gatewayStatuses.has(error.status))

/**
 * A status that is no success, unless the body says more about it in JSON-RPC; what a gateway may have answered is left as it is.
 */
const refused = (
  peer: Peer,
  call: Call,
  id: number,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<never, AgentClientError> => {
  const status: Effect.Effect<never, BadStatus> = http.badStatus(response, call.method, peer.clean)
  if (gatewayStatuses.has(response.status)) return status
  return http.json(response, call.method, "the answer").pipe(
    Effect.matchEffect({
      onFailure: () => status,
      onSuccess: (answer) =>
        rpc.isObject(answer) && rpc.isObject(answer["error"])
          ? Effect.catchTag(result(peer, call, id, answer), "Unreadable", () => status)
          : status
    }),
    Effect.zipRight(status)
  )
}

/** @internal */
export const post = (
  peer: Peer,
  { tenant, url, wire }: Target,
  call: Call,
  id: number
): Effect.Effect<HttpClientResponse.HttpClientResponse, AgentClientError> =>
  Effect.try({
    try: () =>
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        method: call.method,
        params: tenant === undefined ? call.params : { ...call.params, tenant }
      }),
    catch: () => new InvalidMessage({ operation: call.method, issues: "JSON can't say it" })
  }).pipe(
    Effect.flatMap((body): Effect.Effect<HttpClientResponse.HttpClientResponse, Unreachable | Unreadable> =>
      peer.execute(
        HttpClientRequest.post(url, {
          headers: {
            // agents of 0.3 know no such header, and some refuse it
            ...wire.VERSION === "1.0" ? { [A2aWire.VERSION_HEADER]: wire.VERSION } : {},
            ...call.headers
          }
        }).pipe(HttpClientRequest.bodyText(body, "application/json")),
        call.method
      )
    ),
    Effect.flatMap((response) => http.isOk(response) ? Effect.succeed(response) : refused(peer, call, id, response))
  )

/**
 * One call with one answer.
 *
 * @internal
 */
export const request = (
  peer: Peer,
  target: Target,
  call: Call,
  id: number,
  timeout: Duration.DurationInput
): Effect.Effect<unknown, AgentClientError> =>
  post(peer, target, { ...call, headers: { accept: "application/json", ...call.headers } }, id).pipe(
    Effect.flatMap((response) => http.json(response, call.method, "the answer")),
    Effect.flatMap((answer) => result(peer, call, id, answer)),
    http.within(call.method, timeout)
  )
