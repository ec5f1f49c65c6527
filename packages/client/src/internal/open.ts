import * as AST from "effect/SchemaAST"

const isAnnotated = (ast: AST.AST): boolean => AST.ParseOptionsAnnotationId in ast.annotations

const bare = (annotations: AST.Annotations): AST.Annotations => {
  const { [AST.ParseOptionsAnnotationId]: _, ...rest } = annotations
  return rest
}

const same = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>): boolean =>
  one.every((value, index) => value === other[index])

/**
 * The same schema without the parse options that its author gave it: what is closed for a server's answers is open for a client's
 * reading of them.
 *
 * @internal
 */
export const opened = (root: AST.AST): AST.AST => {
  const done = new Map<AST.AST, AST.AST>()

  const open = (ast: AST.AST): AST.AST => {
    const known = done.get(ast)
    if (known !== undefined) return known
    const copy = rebuild(ast)
    done.set(ast, copy)
    return copy
  }

  const each = <T extends { readonly type: AST.AST }>(
    types: ReadonlyArray<T>,
    make: (old: T, type: AST.AST) => T
  ): ReadonlyArray<T> =>
    types.map((old) => {
      const type = open(old.type)
      return type === old.type ? old : make(old, type)
    })

  const rebuild = (ast: AST.AST): AST.AST => {
    const annotations = bare(ast.annotations)
    switch (ast._tag) {
      case "TypeLiteral": {
        const properties = each(
          ast.propertySignatures,
          (old, type) => new AST.PropertySignature(old.name, type, old.isOptional, old.isReadonly, old.annotations)
        )
        const indexes = each(
          ast.indexSignatures,
          (old, type) => new AST.IndexSignature(old.parameter, type, old.isReadonly)
        )
        return same(properties, ast.propertySignatures) && same(indexes, ast.indexSignatures) && !isAnnotated(ast)
          ? ast
          : new AST.TypeLiteral(properties, indexes, annotations)
      }
      case "TupleType": {
        const elements = each(ast.elements, (old, type) => new AST.OptionalType(type, old.isOptional, old.annotations))
        const rest = each(ast.rest, (old, type) => new AST.Type(type, old.annotations))
        return same(elements, ast.elements) && same(rest, ast.rest) && !isAnnotated(ast)
          ? ast
          : new AST.TupleType(elements, rest, ast.isReadonly, annotations)
      }
      case "Union": {
        const types = ast.types.map(open)
        return same(types, ast.types) && !isAnnotated(ast) ? ast : AST.Union.make(types, annotations)
      }
      case "Refinement": {
        const from = open(ast.from)
        return from === ast.from && !isAnnotated(ast) ? ast : new AST.Refinement(from, ast.filter, annotations)
      }
      case "Transformation": {
        const [from, to] = [open(ast.from), open(ast.to)]
        return from === ast.from && to === ast.to && !isAnnotated(ast)
          ? ast
          : new AST.Transformation(from, to, ast.transformation, annotations)
      }
      case "Suspend":
        return new AST.Suspend(() => open(ast.f()), annotations)
      default:
        return ast
    }
  }

  return open(root)
}
