import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Data from "effect/Data"
import * as ParseResult from "effect/ParseResult"

/**
 * What is wrong with a request, as its sender reads it: a kind, the place (`[]` is the whole), a sentence, and never the value
 * (B-HTTP-2).
 *
 * @internal
 */
export interface Issue {
  readonly type: "missing" | "extra_forbidden" | "value_error"
  readonly loc: ReadonlyArray<string | number>
  readonly msg: string
}

/**
 * A request that does not fit its contract.
 *
 * @internal
 */
export class Refused extends Data.TaggedError("Refused")<{ readonly issues: ReadonlyArray<Issue> }> {}

/** A body may have as many mistakes as it has bytes. */
const most = 100

const step = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([\w$-]+)/g

const locOf = (path: string): ReadonlyArray<string | number> =>
  Array.from(
    path.matchAll(step),
    ([, index, quoted, name = ""]) =>
      index !== undefined ? Number(index) : quoted !== undefined ? JSON.parse(quoted) : name
  )

const typeOf = (message: string): Issue["type"] =>
  message === "is missing" ? "missing" : message === "is unexpected" ? "extra_forbidden" : "value_error"

/** @internal */
export const issue = (type: Issue["type"], loc: Issue["loc"], msg: string): Issue => ({ type, loc, msg })

/** @internal */
export const missing = (name: string): Issue => issue("missing", [name], "is missing")

/** @internal */
export const unexpected = (name: string): Issue => issue("extra_forbidden", [name.slice(0, 64)], "is unexpected")

/** @internal */
export const fromParseIssue = (parseIssue: ParseResult.ParseIssue): ReadonlyArray<Issue> =>
  WireSchema.issues(ParseResult.parseError(parseIssue)).slice(0, most).map(({ message, path }) =>
    issue(typeOf(message), locOf(path), message)
  )

/**
 * The body of a 400 (B-HTTP-2).
 *
 * @internal
 */
export const text = (issues: ReadonlyArray<Issue>): string => JSON.stringify(issues.slice(0, most))
