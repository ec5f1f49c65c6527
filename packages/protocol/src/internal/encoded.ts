import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/**
 * The encoded side of a schema, for description alone: transformations are gone, filters let everything through, and what
 * authors wrote about either side (descriptions, examples, defaults) is kept, encoded.
 *
 * @internal
 */
export const encodedAst = (root: AST.AST): AST.AST => {
  const suspended = new Map<AST.AST, AST.Suspend>()
  const names = new Set<string>()

  const nameOf = (ast: AST.AST): string => {
    const base = Option.getOrElse(AST.getJSONIdentifier(ast), () => "Recursive").replace(/[^\w.-]+/g, "_")
    let name = base
    for (let n = 2; names.has(name); n++) name = `${base}${n}`
    names.add(name)
    return name
  }

  const property = (ps: AST.PropertySignature, more: AST.Annotations = {}): AST.PropertySignature =>
    new AST.PropertySignature(ps.name, go(ps.type), ps.isOptional, ps.isReadonly, {
      ...documentation(ps, ps.type),
      ...more
    })

  const struct = (
    ast: AST.TypeLiteral,
    annotations: AST.Annotations,
    more: (ps: AST.PropertySignature) => AST.Annotations = () => ({})
  ): AST.TypeLiteral =>
    new AST.TypeLiteral(
      ast.propertySignatures.map((ps) => property(ps, more(ps))),
      ast.indexSignatures.map((is) => new AST.IndexSignature(is.parameter, go(is.type), is.isReadonly)),
      annotations
    )

  const go = (ast: AST.AST): AST.AST => {
    const annotations = { ...ast.annotations, ...documentation(ast, ast) }
    switch (ast._tag) {
      case "TypeLiteral":
        return struct(ast, annotations)
      case "TupleType":
        return new AST.TupleType(
          ast.elements.map((each) =>
            new AST.OptionalType(go(each.type), each.isOptional, documentation(each, each.type))
          ),
          ast.rest.map((each) => new AST.Type(go(each.type), documentation(each, each.type))),
          ast.isReadonly,
          annotations
        )
      case "Union":
        return AST.Union.make(ast.types.map(go), annotations)
      case "Refinement":
        return overTransformation(ast)
          ? annotated(go(ast.from), annotations)
          : new AST.Refinement(go(ast.from), () => Option.none(), {
            ...annotations,
            [AST.JSONSchemaAnnotationId]: constraint(ast)
          })
      case "Suspend": {
        const target = ast.f()
        const known = suspended.get(target)
        if (known !== undefined) return known
        let encoded: AST.AST | undefined
        const made = new AST.Suspend(() => (encoded ??= go(target)), {
          ...annotations,
          [AST.JSONIdentifierAnnotationId]: nameOf(
            ast.annotations[AST.IdentifierAnnotationId] === undefined ? target : ast
          )
        })
        suspended.set(target, made)
        return made
      }
      case "Transformation":
        if (isParseJson(ast)) return annotated(AST.stringKeyword, annotations)
        if (isDate(ast.to) && AST.isStringKeyword(AST.encodedAST(ast.from))) {
          return annotated(AST.stringKeyword, { [AST.JSONSchemaAnnotationId]: dateTime, ...annotations })
        }
        return annotated(
          AST.isTypeLiteralTransformation(ast.transformation) && AST.isTypeLiteral(ast.from)
            ? struct(ast.from, ast.from.annotations, decodedSide(ast.transformation, ast.to))
            : go(ast.from),
          annotations
        )
      default:
        return ast
    }
  }

  return go(root)
}

/** What a property's decoded side says goes to its encoded one, and with it what its absence decodes to. */
const decodedSide =
  (transformation: AST.TypeLiteralTransformation, to: AST.AST) => (ps: AST.PropertySignature): AST.Annotations => {
    const step = transformation.propertySignatureTransformations.find((each) => each.from === ps.name)
    const name = step === undefined ? ps.name : step.to
    const decoded = AST.isTypeLiteral(to) ? to.propertySignatures.find((each) => each.name === name) : undefined
    return {
      ...(decoded === undefined ? {} : documentation(decoded, ps.type)),
      ...(step !== undefined && ps.isOptional ? defaultOf(step, ps.type) : {})
    }
  }

const dateTime = { type: "string", format: "date-time" }

const dates = new Set(["DateFromSelf", "ValidDateFromSelf", "DateTimeUtcFromSelf"])

const isDate = (ast: AST.AST): boolean =>
  AST.isRefinement(ast)
    ? isDate(ast.from)
    : AST.isDeclaration(ast) && Option.exists(AST.getIdentifierAnnotation(ast), (name) => dates.has(name))

const isParseJson = (ast: AST.Transformation): boolean =>
  ast.from.annotations[AST.SchemaIdAnnotationId] === AST.ParseJsonSchemaId ||
  ast.annotations[AST.SchemaIdAnnotationId] === AST.ParseJsonSchemaId

const overTransformation = (ast: AST.Refinement): boolean =>
  AST.isTransformation(ast.from) || AST.isRefinement(ast.from) && overTransformation(ast.from)

const docs = [AST.TitleAnnotationId, AST.DescriptionAnnotationId]

/** A schema that the author wrote replaces ours; a constraint of the decoded side does not hold on the encoded one. */
const ownSchema = (annotations: AST.Annotations): Option.Option<object> =>
  annotations[AST.SchemaIdAnnotationId] === Schema.IntSchemaId
    ? Option.none()
    : Option.filter(
      AST.getJSONSchemaAnnotation({ annotations }),
      (schema) => ["type", "anyOf", "oneOf", "$ref"].some((key) => key in schema)
    )

const keywords = [
  [AST.TitleAnnotationId, "title"],
  [AST.DescriptionAnnotationId, "description"],
  [AST.DefaultAnnotationId, "default"],
  [AST.ExamplesAnnotationId, "examples"]
] as const

const annotated = (ast: AST.AST, annotations: AST.Annotations): AST.AST => {
  const kept: Record<symbol, unknown> = {}
  const written: Record<string, unknown> = {}
  for (const [id, keyword] of keywords) {
    if (annotations[id] === undefined) continue
    kept[id] = annotations[id]
    written[keyword] = annotations[id]
  }
  const schema = Option.orElse(ownSchema(annotations), () => AST.getJSONSchemaAnnotation(ast))
  if (Option.isSome(schema)) kept[AST.JSONSchemaAnnotationId] = { ...schema.value, ...written }
  return Object.getOwnPropertySymbols(kept).length === 0 ? ast : AST.annotations(ast, kept)
}

/** A pattern loses its flags on the wire, so one that needs them would refuse what the decoder takes. */
const constraint = (ast: AST.Refinement): object => {
  const schema = Option.getOrElse(AST.getJSONSchemaAnnotation(ast), () => ({}))
  const regex = (ast.annotations[Schema.PatternSchemaId] as { readonly regex?: RegExp } | undefined)?.regex
  if (regex === undefined || !/[ims]/.test(regex.flags) || !("pattern" in schema)) return schema
  const { pattern: _, ...rest } = schema
  return rest
}

const encode = (ast: AST.AST, value: unknown): Option.Option<unknown> => {
  try {
    return Schema.encodeUnknownOption(Schema.make(ast))(value)
  } catch {
    return Option.none()
  }
}

/** Titles and descriptions as they are, defaults and examples encoded by the schema they were written on. */
const documentation = (annotated: AST.Annotated, ast: AST.AST): AST.Annotations => {
  const out: Record<symbol, unknown> = {}
  for (const id of docs) {
    if (annotated.annotations[id] !== undefined) out[id] = annotated.annotations[id]
  }
  const examples = Option.getOrUndefined(AST.getExamplesAnnotation(annotated))
  if (examples !== undefined) {
    out[AST.ExamplesAnnotationId] = examples.flatMap((each) => Option.toArray(encode(ast, each)))
  }
  if (Object.hasOwn(annotated.annotations, AST.DefaultAnnotationId)) {
    const value = encode(ast, annotated.annotations[AST.DefaultAnnotationId])
    out[AST.DefaultAnnotationId] = Option.getOrUndefined(value)
  }
  return out
}

/** A default that differs from one call to the next is no constant, so it isn't promised. */
const defaultOf = (step: AST.PropertySignatureTransformation, from: AST.AST): AST.Annotations => {
  const once = (): Option.Option<unknown> =>
    Option.flatMap(
      step.decode(Option.none()),
      (value) => Option.flatMap(step.encode(Option.some(value)), (inner) => encode(from, inner))
    )
  try {
    const [first, second] = [once(), once()]
    return Option.isSome(first) && Option.isSome(second) && JSON.stringify(first.value) === JSON.stringify(second.value)
      ? { [AST.DefaultAnnotationId]: first.value }
      : {}
  } catch {
    return {}
  }
}
