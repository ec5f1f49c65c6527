import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as AST from "effect/SchemaAST"

/** @internal */
export interface Issue {
  readonly path: string
  readonly message: string
}

type Path = ReadonlyArray<PropertyKey>

const isList = <A>(value: A | readonly [A, ...Array<A>]): value is readonly [A, ...Array<A>] => Array.isArray(value)

/** Keys come from whoever sent the value, so they are bounded and can't break a line. */
const render = (path: Path): string =>
  path.map((key, index) => {
    if (typeof key === "number") return `[${key}]`
    const name = String(key).slice(0, 64)
    return /^[\w$-]+$/.test(name) ? (index === 0 ? name : `.${name}`) : `[${JSON.stringify(name)}]`
  }).join("")

/** A sentence that a schema wrote itself. It is shown a stand-in for the rejected value, so it can't repeat it. */
const stated = (issue: ParseResult.ParseIssue): string | undefined => {
  if (!("ast" in issue)) return undefined
  const annotation = Option.getOrUndefined(AST.getMessageAnnotation(issue.ast))
  if (annotation === undefined) return undefined
  try {
    const said = annotation(new ParseResult.Type(issue.ast as AST.AST, "a value"))
    const passing = issue._tag === "Composite" ||
      issue._tag === "Refinement" && issue.kind === "From" ||
      issue._tag === "Transformation" && issue.kind !== "Transformation"
    if (typeof said === "string") return passing ? undefined : said
    return "override" in said && typeof said.message === "string" && (said.override || !passing)
      ? said.message
      : undefined
  } catch {
    return undefined
  }
}

/** What a schema says itself when something is not there, else that it is not. */
const missed = (ast: AST.Type): string => {
  const annotation = Option.getOrUndefined(AST.getMissingMessageAnnotation(ast))
  try {
    const said = annotation?.()
    return typeof said === "string" ? said : "is missing"
  } catch {
    return "is missing"
  }
}

const scalars: Partial<Record<AST.AST["_tag"], string>> = {
  StringKeyword: "string",
  NumberKeyword: "number",
  BooleanKeyword: "boolean",
  BigIntKeyword: "bigint",
  ObjectKeyword: "object",
  TemplateLiteral: "string",
  TupleType: "array",
  TypeLiteral: "object",
  UndefinedKeyword: "nothing",
  VoidKeyword: "nothing",
  NeverKeyword: "nothing"
}

const named = (ast: AST.Annotated): string | undefined =>
  Option.getOrUndefined(Option.orElse(AST.getIdentifierAnnotation(ast), () => AST.getTitleAnnotation(ast)))

const values = (ast: AST.AST): ReadonlyArray<string> | undefined => {
  if (AST.isLiteral(ast)) return [typeof ast.literal === "string" ? JSON.stringify(ast.literal) : String(ast.literal)]
  if (AST.isEnums(ast)) return ast.enums.map(([, value]) => JSON.stringify(value))
  if (!AST.isUnion(ast)) return undefined
  const all = ast.types.filter((member) => !AST.isUndefinedKeyword(member)).map(values)
  return all.every((each) => each !== undefined) ? all.flatMap((each) => each ?? []) : undefined
}

const expectation = (ast: AST.AST): string => {
  const literals = values(ast)
  if (literals !== undefined && literals.length > 0) {
    return literals.length === 1 ? literals.join("") : `one of ${literals.join(", ")}`
  }
  if (AST.isUnion(ast)) {
    const members = ast.types.filter((member) => !AST.isUndefinedKeyword(member))
    return [...new Set(members.map(expectation))].join(" or ")
  }
  if (AST.isRefinement(ast)) return named(ast) ?? expectation(ast.from)
  if (AST.isTransformation(ast)) return expectation(ast.from)
  if (AST.isSuspend(ast)) return expectation(ast.f())
  return scalars[ast._tag] ?? named(ast) ?? "another value"
}

const walk = (issue: ParseResult.ParseIssue, path: Path): ReadonlyArray<Issue> => {
  const at = (message: string): ReadonlyArray<Issue> => [{ path: render(path), message }]
  const said = stated(issue)
  if (said !== undefined) return at(said)
  switch (issue._tag) {
    case "Missing":
      return at(missed(issue.ast))
    case "Unexpected":
      return at("is unexpected")
    case "Forbidden":
      return at("can't be read synchronously")
    case "Type":
      return at(`expected ${expectation(issue.ast)}`)
    case "Pointer":
      return walk(issue.issue, path.concat(issue.path))
    case "Refinement":
      return issue.kind === "From"
        ? walk(issue.issue, path)
        : at(`expected ${named(issue.ast) ?? `${expectation(issue.ast.from)} within its limits`}`)
    case "Transformation":
      return issue.kind === "Transformation" && issue.issue._tag === "Type"
        ? at(`expected ${named(issue.ast.to) ?? named(issue.ast) ?? expectation(issue.ast)}`)
        : walk(issue.issue, path)
    case "Composite": {
      const inner = isList(issue.issues) ? issue.issues : [issue.issues]
      if (!AST.isUnion(issue.ast)) return inner.flatMap((each) => walk(each, path))
      // A member that fails at once isn't the one that was meant; one that fails below may be.
      const meant = inner.filter((each) => each._tag !== "Type")
      if (meant.length === 0) return at(`expected ${expectation(issue.ast)}`)
      return meant.length === 1
        ? meant.flatMap((each) => walk(each, path))
        : at(meant.slice(0, 4).map((each) => walk(each, []).map(line).join(", ")).join("; or "))
    }
  }
}

const line = ({ message, path }: Issue): string => path === "" ? message : `${path}: ${message}`

/** @internal */
export const fromIssue = (issue: ParseResult.ParseIssue): ReadonlyArray<Issue> => walk(issue, [])

/** @internal */
export const format = (issues: ReadonlyArray<Issue>): string => issues.map(line).join("\n")
