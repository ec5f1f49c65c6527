import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { BadStatus, ExtensionCallError, RpcError, type RpcErrorData, Unreachable, Unreadable } from "../ClientError.ts"
import { isObject } from "./rpc.ts"

/** Shorter values occur by chance in any text, and name no secret by themselves. */
const SHORTEST = 6

/** Requests nest less, and what a peer nests deeper is none of their texts. */
const DEEPEST = 64

/**
 * The characters that are kept of what a peer says in a plain text.
 *
 * @internal
 */
export const MAX_DETAIL = 1000

const longestFirst = Order.reverse(Order.mapInput(Order.number, (secret: string) => secret.length))

/** The texts of all `Redacted` values, at any place of a value. */
const collect = (value: unknown, secret: boolean, depth: number, into: Array<string>): void => {
  if (depth > DEEPEST) return
  if (typeof value === "string") {
    if (!secret) return
    into.push(value, value.trim())
    if (URL.canParse(value)) into.push(...new URL(value).searchParams.values())
  } else if (Redacted.isRedacted(value)) {
    collect(Redacted.value(value), true, depth + 1, into)
  } else if (Predicate.isObject(value)) {
    for (const each of Object.values(value)) collect(each, secret, depth + 1, into)
  }
}

/**
 * The secrets that a value holds, the longest first.
 *
 * @internal
 */
export const of = (holder: unknown): ReadonlyArray<string> => {
  const found: Array<string> = []
  collect(holder, false, 0, found)
  return Arr.sort(new Set(found.filter((secret) => secret.length >= SHORTEST)), longestFirst)
}

/**
 * Takes secrets out of a text.
 *
 * @internal
 */
export const clean = (found: ReadonlyArray<string>) => (text: string): string =>
  found.reduce((rest, secret) => rest.replaceAll(secret, "<redacted>"), text)

/** Takes out what may be the beginning of a secret, at the end of a text that was cut there. */
const cleanEnd = (found: ReadonlyArray<string>, text: string): string => {
  for (const secret of found) {
    for (let length = secret.length - 1; length >= SHORTEST; length--) {
      if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}<redacted>`
    }
  }
  return text
}

const cleaned = <E>(error: E, found: ReadonlyArray<string>): unknown => {
  const text = clean(found)
  const optional = (value: string | undefined) => value === undefined ? undefined : text(value)
  const deep = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return text(value)
    if (depth > DEEPEST) return "<omitted>"
    if (Array.isArray(value)) return value.map((each) => deep(each, depth + 1))
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([k, v]) => [text(k), deep(v, depth + 1)]))
      : value
  }
  if (error instanceof RpcError) {
    return new RpcError({
      operation: error.operation,
      code: error.code,
      reason: text(error.reason),
      // an object stays an object, and its `code` a string
      data: deep(error.data, 0) as RpcErrorData
    })
  }
  // it was cut, maybe within a secret
  if (error instanceof BadStatus) return new BadStatus({ ...error, body: "" })
  if (error instanceof Unreadable) return new Unreadable({ ...error, issues: text(error.issues) })
  if (error instanceof Unreachable) return new Unreachable({ ...error, reason: text(error.reason) })
  if (error instanceof ExtensionCallError) {
    return new ExtensionCallError({
      ...error,
      code: optional(error.code),
      detail: error.detail.length < MAX_DETAIL ? text(error.detail) : cleanEnd(found, text(error.detail)),
      hint: optional(error.hint)
    })
  }
  return error
}

/**
 * Takes the secrets that a value holds out of an error, for a peer that repeats in it what it was sent.
 *
 * @internal
 */
export const hide = (holder: unknown) => <E>(error: E): E => {
  const found = of(holder)
  // an error stays of its class
  return found.length === 0 ? error : cleaned(error, found) as E
}
