import * as AST from "effect/SchemaAST"

type Read = (text: string) => unknown
type Values = string | ReadonlyArray<string>

const numeral = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

const number: Read = (text) => (numeral.test(text.trim()) ? Number(text) : text)

const boolean: Read = (text) => {
  switch (text.trim().toLowerCase()) {
    case "true":
    case "1":
    case "yes":
    case "on":
      return true
    case "false":
    case "0":
    case "no":
    case "off":
      return false
    default:
      return text
  }
}

const verbatim: Read = (text) => text

const byType = (values: ReadonlyArray<unknown>): Read => {
  const types = new Set(values.map((value) => typeof value))
  if (types.size !== 1) return verbatim
  return types.has("number") ? number : types.has("boolean") ? boolean : verbatim
}

const members = (ast: AST.Union): ReadonlyArray<AST.AST> =>
  ast.types.filter((member) => !AST.isUndefinedKeyword(member) && !(AST.isLiteral(member) && member.literal === null))

const scalar = (ast: AST.AST): Read => {
  switch (ast._tag) {
    case "NumberKeyword":
      return number
    case "BooleanKeyword":
      return boolean
    case "Literal":
      return byType([ast.literal])
    case "Enums":
      return byType(ast.enums.map(([, value]) => value))
    case "Refinement":
      return scalar(ast.from)
    case "Suspend":
      return scalar(ast.f())
    case "Union": {
      const types = members(ast)
      if (types.every(AST.isLiteral)) return byType(types.map((member) => member.literal))
      const reads = types.map(scalar)
      return reads.includes(verbatim)
        ? verbatim
        : (text) => reads.map((read) => read(text)).find((value) => typeof value !== "string") ?? text
    }
    default:
      return verbatim
  }
}

/** The element of a list, if the value is one. */
const element = (ast: AST.AST): AST.AST | undefined => {
  if (AST.isRefinement(ast)) return element(ast.from)
  if (AST.isSuspend(ast)) return element(ast.f())
  if (AST.isUnion(ast)) {
    const types = members(ast)
    return types.length === 1 && types[0] !== undefined ? element(types[0]) : undefined
  }
  if (!AST.isTupleType(ast)) return undefined
  const types = [...ast.elements, ...ast.rest].map(({ type }) => type)
  return types.length === 0 ? undefined : AST.Union.make(types)
}

const reader = (ast: AST.AST): (value: Values) => unknown => {
  const inner = element(ast)
  if (inner !== undefined) {
    const read = scalar(inner)
    return (value) => (typeof value === "string" ? [read(value)] : value.map(read))
  }
  const read = scalar(ast)
  return (value) => {
    if (typeof value === "string") return read(value)
    return value.length === 1 && value[0] !== undefined ? read(value[0]) : value
  }
}

const struct = (ast: AST.AST): AST.TypeLiteral | undefined =>
  AST.isTypeLiteral(ast)
    ? ast
    : AST.isRefinement(ast)
    ? struct(ast.from)
    : AST.isSuspend(ast)
    ? struct(ast.f())
    : undefined

/** @internal */
export const coercer = (
  ast: AST.AST
): (query: Readonly<Record<string, Values | undefined>>) => Readonly<Record<string, unknown>> => {
  const encoded = struct(AST.encodedAST(ast))
  const named = new Map(encoded?.propertySignatures.map((each) => [each.name, reader(each.type)]))
  const [index] = encoded?.indexSignatures ?? []
  const other = index === undefined ? undefined : reader(index.type)
  return (query) => {
    const out: Array<[string, unknown]> = []
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined) continue
      out.push([name, (named.get(name) ?? other)?.(value) ?? value])
    }
    return Object.fromEntries(out)
  }
}
