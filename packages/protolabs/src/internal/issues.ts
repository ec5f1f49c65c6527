import type * as ParseResult from "effect/ParseResult"
import type * as AST from "effect/SchemaAST"

/** @internal */
export interface Found {
  readonly path: ReadonlyArray<string | number>
  readonly reason: string
}

type Keys = ReadonlyArray<PropertyKey>

const longest = 200

/** What a schema asks for, never what it was given. */
const expectation = (ast: AST.Annotated): string => {
  const text = String(ast)
  return `expected ${text.length > longest ? `${text.slice(0, longest)}…` : text}`
}

const key = (key: PropertyKey): string | number => typeof key === "symbol" ? String(key) : key

interface Pending {
  readonly issue: ParseResult.ParseIssue
  readonly path: Keys
}

const isList = <A>(value: A | ReadonlyArray<A>): value is ReadonlyArray<A> => Array.isArray(value)

const toList = <A>(value: A | ReadonlyArray<A>): ReadonlyArray<A> => isList(value) ? value : [value]

/** Whether an issue lies below the value itself, so that it says more than its siblings. */
const isBelow = (issue: ParseResult.ParseIssue): boolean => {
  for (let at = issue;;) {
    if (at._tag === "Pointer") return true
    if (at._tag === "Composite") return toList(at.issues).some((child) => child._tag === "Pointer")
    if (at._tag !== "Refinement" && at._tag !== "Transformation") return false
    at = at.issue
  }
}

/** Of a union's members the one that came furthest speaks for it; when none did, the union does. */
const ofUnion = (issue: ParseResult.Composite): ParseResult.ParseIssue | undefined => toList(issue.issues).find(isBelow)

/**
 * The places where a value isn't what its schema asks for, in order, with what was expected there. The value itself is never
 * repeated, and no nesting of issues overflows the stack.
 *
 * @internal
 */
export const found = (root: ParseResult.ParseIssue): ReadonlyArray<Found> => {
  const all: Array<Found> = []
  const pending: Array<Pending> = [{ issue: root, path: [] }]
  const report = (path: Keys, reason: string) => all.push({ path: path.map(key), reason })
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { issue, path } = next
    switch (issue._tag) {
      case "Pointer":
        pending.push({ issue: issue.issue, path: [...path, ...toList(issue.path)] })
        break
      case "Composite": {
        if (issue.ast._tag === "Union") {
          const chosen = ofUnion(issue)
          if (chosen === undefined) report(path, expectation(issue.ast))
          else pending.push({ issue: chosen, path })
          break
        }
        // the last goes in first, to come out last
        const children = toList(issue.issues)
        for (let index = children.length - 1; index >= 0; index--) {
          const child = children[index]
          if (child !== undefined) pending.push({ issue: child, path })
        }
        break
      }
      case "Refinement":
        if (issue.kind === "Predicate") report(path, expectation(issue.ast))
        else pending.push({ issue: issue.issue, path })
        break
      case "Transformation":
        if (issue.kind === "Transformation") report(path, expectation(issue.ast))
        else pending.push({ issue: issue.issue, path })
        break
      case "Missing":
        report(path, "is missing")
        break
      case "Unexpected":
        report(path, "is not expected")
        break
      default:
        report(path, expectation(issue.ast))
    }
  }
  return all
}
