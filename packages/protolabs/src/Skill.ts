/**
 * Skills with a structured result: an Effect Schema is at once the tool that a model is forced to call (`submit_<skill>`), the check
 * of its arguments, and the type of the result that peers read. Raw JSON Schemas are checked as well.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as JSONSchema from "effect/JSONSchema"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
import { holders } from "./internal/holders.ts"
import { found } from "./internal/issues.ts"
import { isObject } from "./internal/json.ts"
import { nothing, payloadOf, payloadPath } from "./internal/payload.ts"
import { validatorOf } from "./internal/validator.ts"
import * as Part from "./Part.ts"
import * as Read from "./Read.ts"

const mimePrefix = "application/vnd.protolabs."

/**
 * What the name of a skill's tool begins with.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toolPrefix = "submit_"

/**
 * The name of the tool that a model calls with a skill's result.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toolName = (skillId: string): string => `${toolPrefix}${skillId}`

/**
 * The skill whose result a tool takes, if it is such a tool.
 *
 * @since 0.1.0
 * @category combinators
 */
export const idOfTool = (toolName: string): Option.Option<string> =>
  toolName.startsWith(toolPrefix) && toolName.length > toolPrefix.length
    ? Option.some(toolName.slice(toolPrefix.length))
    : Option.none()

/**
 * The MIME type of a result's data part.
 *
 * @since 0.1.0
 * @category constructors
 */
export const resultMime = (name: string): string => `${mimePrefix}${name}+json`

/**
 * A tool as models are told of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tool {
  readonly type: "function"
  readonly function: {
    readonly name: string
    readonly description: string
    readonly parameters: object
  }
}

/**
 * Makes the tool of a skill from a JSON Schema, which is neither copied nor checked. Without a description it gets one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const rawTool = (
  skillId: string,
  parameters: object,
  options?: { readonly description?: string | undefined }
): Tool => ({
  type: "function",
  function: {
    name: toolName(skillId),
    description: options?.description || `Call this once with the final result of the skill "${skillId}".`,
    parameters
  }
})

/**
 * A skill: its name, and what its result looks like.
 *
 * @since 0.1.0
 * @category models
 */
export interface Skill<A, I = A> {
  readonly id: string
  readonly description: string | undefined
  /** The MIME type of its result. */
  readonly mime: string
  readonly schema: Schema.Schema<A, I>
}

/**
 * Makes a skill. `resultName` is what its MIME type is named after: its id, unless given.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <A, I>(options: {
  readonly id: string
  readonly schema: Schema.Schema<A, I>
  readonly description?: string | undefined
  readonly resultName?: string | undefined
}): Skill<A, I> => ({
  id: options.id,
  description: options.description,
  mime: resultMime(options.resultName ?? options.id),
  schema: options.schema
})

/**
 * Says that a skill's schema has no JSON Schema, so that no model can be told of it.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnsupportedSchema
  extends Schema.TaggedError<UnsupportedSchema>("@effect-agentenv/protolabs/UnsupportedSchema")("UnsupportedSchema", {
    skill: Schema.String,
    reason: Schema.String
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return `the schema of the skill ${JSON.stringify(this.skill)} has no JSON Schema: ${this.reason}`
  }
}

/** Models want an object at the root, so a named schema isn't referred to there. */
const parametersOf = (ast: AST.AST): object => {
  const definitions: Record<string, JSONSchema.JsonSchema7> = {}
  const root = JSONSchema.fromAST(ast, {
    definitions,
    target: "jsonSchema2020-12",
    topLevelReferenceStrategy: "skip"
  })
  return Object.keys(definitions).length === 0 ? root : { ...root, $defs: definitions }
}

/**
 * The tool that a model calls with the skill's result; its parameters are the schema's encoded side.
 *
 * @since 0.1.0
 * @category combinators
 */
export const tool = <A, I>(skill: Skill<A, I>): Effect.Effect<Tool, UnsupportedSchema> =>
  Effect.map(
    Effect.try({
      try: () => parametersOf(skill.schema.ast),
      catch: (error) => new UnsupportedSchema({ skill: skill.id, reason: error instanceof Error ? error.message : "" })
    }),
    (parameters) => rawTool(skill.id, parameters, { description: skill.description })
  )

/** Keys joined as the originals join them. */
const label = (path: Read.Path): string => path.length === 0 ? "<root>" : path.join("/")

/**
 * Says what is wrong with a model's arguments, each line with the place: `berths/0/length: expected number`. The lines are made to be
 * given back to the model.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidArguments
  extends Schema.TaggedError<InvalidArguments>("@effect-agentenv/protolabs/InvalidArguments")("InvalidArguments", {
    issues: Schema.Array(Schema.String)
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return this.issues.join("; ")
  }
}

const tooDeep = "is nested too deeply"

/** Schemas that contain themselves follow a value however deep it is, until the stack ends. */
const whenTooDeep = <E>(error: () => E) => <A, E0>(effect: Effect.Effect<A, E0>): Effect.Effect<A, E | E0> =>
  Effect.catchSomeDefect(
    effect,
    (defect) => defect instanceof RangeError ? Option.some(Effect.fail(error())) : Option.none()
  )

const invalid = (error: ParseResult.ParseError): InvalidArguments =>
  new InvalidArguments({ issues: found(error.issue).map(({ path, reason }) => `${label(path)}: ${reason}`) })

/**
 * Reads a model's arguments as the skill's result.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decodeArguments = <A, I>(skill: Skill<A, I>, args: unknown): Effect.Effect<A, InvalidArguments> =>
  Effect.suspend(() => Schema.decodeUnknown(skill.schema, { errors: "all" })(args)).pipe(
    Effect.mapError(invalid),
    whenTooDeep(() => new InvalidArguments({ issues: [`<root>: ${tooDeep}`] }))
  )

const malformed = (skill: { readonly id: string }, path: Read.Path, reason: string) =>
  new Read.Malformed({ concept: `skill ${skill.id}`, path, reason })

const malformedBy = (skill: { readonly id: string }, issue: ParseResult.ParseIssue, path: Read.Path) => {
  const [first] = found(issue)
  return malformed(skill, [...path, ...first?.path ?? []], first?.reason ?? "is not valid")
}

/**
 * Makes the data part that carries a result.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toPart = <A, I>(skill: Skill<A, I>, result: A): Effect.Effect<Part.DataPart<I>, Read.Malformed> =>
  Effect.suspend(() => Schema.encode(skill.schema)(result)).pipe(
    Effect.mapBoth({
      onFailure: ({ issue }) => malformedBy(skill, issue, []),
      onSuccess: (encoded) => Part.data(encoded, skill.mime)
    }),
    whenTooDeep(() => malformed(skill, [], tooDeep))
  )

const decodePart = <A, I>(skill: Skill<A, I>) => {
  const decode = ParseResult.decodeUnknownEither(skill.schema)
  return (part: unknown, path: Read.Path): Read.Read<A> => {
    if (!isObject(part) || Part.lenient.mime(part) !== skill.mime) return Read.absent
    const payload = payloadOf(part)
    if (payload === nothing) return malformed(skill, path, "expected a data part")
    const at = [...path, ...payloadPath(part)]
    try {
      const result = decode(payload)
      return result._tag === "Right"
        ? Read.present(result.right, "dataPart")
        : malformedBy(skill, result.left, at)
    } catch (error) {
      if (error instanceof RangeError) return malformed(skill, at, tooDeep)
      throw error
    }
  }
}

/**
 * Reads a result from one part of any envelope. A schema that decodes asynchronously can't be read by.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromPart = <A, I>(skill: Skill<A, I>): (part: unknown) => Read.Read<A> => {
  const decode = decodePart(skill)
  return (part) => isObject(part) ? decode(part, []) : malformed(skill, [], "expected an object")
}

/**
 * Reads the first result in a list of parts, a message, an artifact, a task or an event of either A2A wire.
 *
 * @since 0.1.0
 * @category combinators
 */
export const find = <A, I>(skill: Skill<A, I>): (source: unknown) => Read.Read<A> => {
  const decode = decodePart(skill)
  return (source) => {
    for (const { parts, partsPath } of holders(source, false)) {
      for (let index = 0; index < parts.length; index++) {
        const read = decode(parts[index], [...partsPath, index])
        if (read._tag !== "Absent") return read
      }
    }
    return Read.absent
  }
}

/**
 * What is wrong with arguments by a raw JSON Schema.
 *
 * @since 0.1.0
 * @category models
 */
export type Problem =
  | { readonly _tag: "SchemaNotObject" }
  /** `got` is named as Python does: `null`, `list`, `str`, `int`, `float`, `bool`. */
  | { readonly _tag: "ArgumentsNotObject"; readonly got: string }
  | { readonly _tag: "InvalidSchema"; readonly message: string }
  | { readonly _tag: "Violation"; readonly path: Read.Path; readonly message: string }

const pythonType = (value: unknown): string => {
  if (value === null || value === undefined) return "null"
  if (Array.isArray(value)) return "list"
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float"
  return typeof value === "boolean" ? "bool" : "str"
}

/**
 * Checks a model's arguments by a raw JSON Schema, of the dialect that it names in `$schema`: 2020-12 (also when it names none),
 * 2019-09 or draft-07. The compiled schema is kept, so don't change it afterwards. Arguments are objects, whatever the schema says.
 *
 * @since 0.1.0
 * @category combinators
 */
export const problems = (args: unknown, schema: unknown): ReadonlyArray<Problem> => {
  if (!isObject(schema)) return [{ _tag: "SchemaNotObject" }]
  if (!isObject(args)) return [{ _tag: "ArgumentsNotObject", got: pythonType(args) }]
  const validator = validatorOf(schema)
  return validator._tag === "Invalid"
    ? [{ _tag: "InvalidSchema", message: validator.message }]
    : validator.validate(args).map((violation) => ({ _tag: "Violation" as const, ...violation }))
}

const sentence = (problem: Problem): string => {
  switch (problem._tag) {
    case "SchemaNotObject":
      return "the schema is not an object"
    case "ArgumentsNotObject":
      return `<root>: expected an object, got ${problem.got}`
    case "InvalidSchema":
      return `invalid schema: ${problem.message}`
    case "Violation":
      return `${label(problem.path)}: ${problem.message}`
  }
}

/**
 * The same as sentences, each with its place; none when the arguments are valid.
 *
 * @since 0.1.0
 * @category combinators
 */
export const validate = (args: unknown, schema: unknown): ReadonlyArray<string> => problems(args, schema).map(sentence)

/**
 * Makes and reads results as the older packages do, without a schema.
 *
 * @since 0.1.0
 * @category combinators
 */
export const lenient: {
  readonly toPart: <A>(result: A, mime: string) => Part.DataPart<A>
  /**
   * Reads a result of exactly this MIME type; without one, of any that begins as protoLabs' do, which those of extensions do too. A
   * result `null` is none.
   */
  readonly fromPart: (part: unknown, mime?: string) => Option.Option<unknown>
  readonly find: (parts: Iterable<unknown>, mime: string) => Option.Option<unknown>
} = {
  toPart: (result, mime) => Part.data(result, mime),
  fromPart: (part, mime) => {
    const actual = Part.lenient.mime(part)
    const wanted = mime === undefined
      ? typeof actual === "string" && actual.startsWith(mimePrefix)
      : actual === mime
    const payload = wanted && isObject(part) ? payloadOf(part) : nothing
    return payload === nothing ? Option.none() : Option.fromNullable(payload)
  },
  find: (parts, mime) => {
    for (const part of parts) {
      const result = lenient.fromPart(part, mime)
      if (Option.isSome(result)) return result
    }
    return Option.none()
  }
}
