import type * as Grant from "@effect-agentenv/protocol/Grant"
import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import * as Redacted from "effect/Redacted"
import { BadStatus, RpcError, type RpcErrorData, Unreachable, Unreadable } from "../ClientError.ts"
import type { EnvironmentClientError } from "../EnvironmentClient.ts"
import { isObject } from "./rpc.ts"

/** Shorter values occur by chance in any text, and name no secret by themselves. */
const SHORTEST = 6

const longestFirst = Order.reverse(Order.mapInput(Order.number, (secret: string) => secret.length))

const secretsOf = ({ write }: Grant.WriteNamespaceGrant): ReadonlyArray<string> => {
  const url = Redacted.value(write.url)
  return Arr.sort(
    [
      url,
      ...new URL(url).searchParams.values(),
      ...Object.values(write.headers === undefined ? {} : Redacted.value(write.headers)),
      ...Object.values(Redacted.value(write.fields))
    ].filter((secret) => secret.length >= SHORTEST),
    longestFirst
  )
}

/**
 * Takes a grant's secrets out of an error, for a peer that repeats in it what it was sent.
 *
 * @internal
 */
export const hide = (grant: Grant.WriteNamespaceGrant): (error: EnvironmentClientError) => EnvironmentClientError => {
  const found = secretsOf(grant)
  const text = (value: string): string => found.reduce((rest, secret) => rest.replaceAll(secret, "<redacted>"), value)
  const deep = (value: unknown): unknown => {
    if (typeof value === "string") return text(value)
    if (Array.isArray(value)) return value.map(deep)
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [text(k), deep(v)])) : value
  }
  return (error) => {
    switch (error._tag) {
      case "RpcError":
        return new RpcError({
          operation: error.operation,
          code: error.code,
          reason: text(error.reason),
          // an object stays an object, and its `code` a string
          data: deep(error.data) as RpcErrorData
        })
      case "BadStatus":
        return new BadStatus({
          operation: error.operation,
          url: error.url,
          status: error.status,
          // it was cut, maybe within a secret
          body: ""
        })
      case "Unreadable":
        return new Unreadable({ operation: error.operation, what: error.what, issues: text(error.issues) })
      case "Unreachable":
        return new Unreachable({
          operation: error.operation,
          reason: text(error.reason),
          refused: error.refused
        })
      case "Timeout":
        return error
    }
  }
}
