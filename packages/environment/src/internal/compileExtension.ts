import * as AgentEnvError from "@effect-agentenv/protocol/AgentEnvError"
import type { ExtensionEntry } from "@effect-agentenv/protocol/EnvironmentCard"
import type * as Extension from "@effect-agentenv/protocol/Extension"
import * as Implementation from "@effect-agentenv/protocol/Implementation"
import type * as Operation from "@effect-agentenv/protocol/Operation"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { scoped } from "./callScope.ts"
import * as codec from "./codec.ts"

/** An operation of an extension, ready to be served. */
export interface CompiledOperation {
  readonly uri: string
  /** Its key in the definition. */
  readonly key: string
  /** Its name on the wire, which is also the `tool` of its `ToolCall` (B-CTX-8). */
  readonly name: string
  readonly verb: Operation.Method
  readonly path: string
  readonly request: WireSchema.ObjectSchema
  readonly query: (query: WireSchema.Query) => Readonly<Record<string, unknown>>
  /** Decodes a request and runs its handler; the answer is encoded. */
  readonly effect: (request: Readonly<Record<string, unknown>>) => Effect.Effect<unknown, unknown>
}

export interface CompiledExtension {
  readonly entry: ExtensionEntry
  readonly operations: ReadonlyArray<CompiledOperation>
  /** The keys of the operations that have handlers, served or not. */
  readonly implemented: ReadonlyArray<string>
}

/** `urn:agentenv:bell/v1` is `bell`, `urn:parcels:kiln/v2` is `parcels/kiln` (B-MULTI-2). */
const slug = (uri: string): string =>
  uri.replace(/^urn:/, "").replace(/^agentenv:/, "").replace(/\/v\d+$/, "").replaceAll(":", "/")

const invalidParams = (message: string): AgentEnvError.AgentEnvError =>
  new AgentEnvError.AgentEnvError({ code: "invalid_params", message })

type Request = Readonly<Record<string, unknown>>
type Handler = (request?: unknown) => Effect.Effect<unknown, unknown>

const takesNothing = (schema: Schema.Schema.All): boolean => schema.ast === Schema.Never.ast

/** Binds a request to one handler: closed, with every field that does not fit named (B-ENV-8). */
const bind = (schema: Schema.Schema.All, handler: Handler) => {
  if (takesNothing(schema)) {
    return (request: Request): Effect.Effect<Effect.Effect<unknown, unknown>, AgentEnvError.AgentEnvError> => {
      const unknown = Object.keys(request)
      return unknown.length === 0
        ? Effect.succeed(Effect.suspend(() => handler()))
        : Effect.fail(invalidParams(unknown.map((name) => `${name}: is unexpected`).join("\n")))
    }
  }
  const decode = codec.decoder(schema, "error")
  const call = (decoded: unknown) => Effect.suspend(() => handler(decoded))
  return (request: Request): Effect.Effect<Effect.Effect<unknown, unknown>, AgentEnvError.AgentEnvError> => {
    const decoded = decode(request)
    if (!Either.isEither(decoded)) {
      return Effect.mapBoth(decoded, { onFailure: (issue) => invalidParams(codec.reasons(issue)), onSuccess: call })
    }
    return Either.isLeft(decoded)
      ? Effect.fail(invalidParams(codec.reasons(decoded.left)))
      : Effect.succeed(call(decoded.right))
  }
}

/** Of several ways to write a request exactly one must fit (B-REG-27). */
const bindVariants = (variants: Operation.Variants, handlers: unknown) => {
  const bound = Object.entries(variants).flatMap(([name, variant]) => {
    const handler = Implementation.at(handlers, name)
    // the types of `toLayer` say what it takes and answers
    return handler === undefined ? [] : [bind(variant.request, handler as Handler)]
  })
  return (request: Request): Effect.Effect<Effect.Effect<unknown, unknown>, AgentEnvError.AgentEnvError> =>
    Effect.flatMap(Effect.forEach(bound, (each) => Effect.either(each(request))), (results) => {
      const fitting = results.filter(Either.isRight)
      const [only] = fitting
      if (only !== undefined && fitting.length === 1) return Effect.succeed(only.right)
      return Effect.fail(invalidParams(
        fitting.length === 0
          ? results.filter(Either.isLeft).map(({ left }) => left.message).join("\nor ")
          : "the request fits several of the operation's variants"
      ))
    })
}

const requestSchema = (
  operation: Operation.Any
): Effect.Effect<WireSchema.ObjectSchema, WireSchema.WireSchemaError> => {
  const variants = Object.values(operation.variants)
  if (variants.length > 0) {
    return Effect.map(
      Effect.forEach(variants, ({ request }) => WireSchema.request(request)),
      (oneOf): WireSchema.ObjectSchema => ({ type: "object", properties: {}, oneOf })
    )
  }
  return takesNothing(operation.request)
    ? Effect.succeed({ type: "object", properties: {} })
    : WireSchema.request(operation.request as Schema.Schema.Any)
}

const compileOperation = (
  extension: Extension.Any,
  key: string,
  operation: Operation.Any,
  handler: unknown
): Effect.Effect<CompiledOperation, WireSchema.WireSchemaError> =>
  Effect.map(requestSchema(operation), (request) => {
    const name = operation.name ?? key
    const encode = codec.encoder(operation.response, `the answer of extension '${extension.uri}' ${name}`)
    const binding = Object.keys(operation.variants).length > 0
      ? bindVariants(operation.variants, handler)
      : bind(operation.request, handler as Handler)
    return {
      uri: extension.uri,
      key,
      name,
      verb: operation.method,
      path: operation.path ?? extension.endpoint
        ?? (extension.form === "single" ? `/agentenv/ext/${name}` : `/agentenv/ext/${slug(extension.uri)}/${name}`),
      request,
      query: takesNothing(operation.request)
        ? (query) => query
        : WireSchema.query(operation.request as Schema.Schema.Any),
      effect: (sent) => Effect.flatMap(binding(sent), (called) => Effect.flatMap(scoped(called), encode))
    }
  })

/** An operation whose handler was given: a feature that was left out is neither advertised nor served. */
const implemented = (
  extension: Extension.Any,
  handlers: unknown
): ReadonlyArray<readonly [string, Operation.Any, unknown]> => {
  const of = (operations: Implementation.Operations, ...path: ReadonlyArray<string>) =>
    Object.entries(operations).flatMap(([key, operation]) => {
      const handler = Implementation.at(handlers, ...path, key)
      return handler === undefined ? [] : [[key, operation, handler] as const]
    })
  return [
    ...of(extension.operations),
    ...Object.entries(extension.features).flatMap(([feature, operations]) => of(operations, feature))
  ]
}

const methods = (operations: ReadonlyArray<CompiledOperation>, endpoints: boolean) =>
  Object.fromEntries(operations.map((operation) => [operation.name, {
    method: operation.verb,
    ...(endpoints ? { endpoint: operation.path } : {}),
    request: operation.request
  }]))

const params = (
  extension: Extension.Any,
  operations: ReadonlyArray<CompiledOperation>
): ExtensionEntry["params"] => {
  const [only] = operations
  if (only === undefined) return extension.params ?? null
  return extension.form === "single"
    ? { ...extension.params, endpoint: only.path, methods: methods(operations, false) }
    : { ...extension.params, methods: methods(operations, true) }
}

/**
 * Compiles an extension and its handlers: the card's entry (B-ENV-6, B-MULTI-1, B-MULTI-6) and what is served of it, which is
 * everything or the operations of these keys (B-MULTI-7).
 */
export const compileExtension = (
  extension: Extension.Any,
  handlers: unknown,
  served?: ReadonlyArray<string> | undefined
): Effect.Effect<CompiledExtension, WireSchema.WireSchemaError> => {
  const all = implemented(extension, handlers)
  return Effect.map(
    Effect.forEach(
      all.filter(([key]) => served === undefined || served.includes(key)),
      ([key, operation, handler]) => compileOperation(extension, key, operation, handler)
    ),
    (operations) => ({
      entry: {
        uri: extension.uri,
        description: extension.description ?? descriptionsOf(extension)[0] ?? null,
        params: params(extension, operations),
        required: extension.required ?? null
      },
      operations,
      implemented: all.map(([key]) => key)
    })
  )
}

/** What is said of an extension's operations, each once: an entry without a description of its own takes it (B-MULTI-5). */
const descriptionsOf = (extension: Extension.Any): ReadonlyArray<string> => {
  const operations = [extension.operations, ...Object.values(extension.features)].flatMap((each) => Object.values(each))
  const given = operations.flatMap(({ description }) => description === undefined ? [] : [description])
  return Array.from(new Set(given))
}

/** What is wrong with an extension that types do not say (B-MULTI-9). */
export const problemOf = (
  extension: Extension.Any,
  { operations }: CompiledExtension
): { readonly problem: string; readonly mend: string } | undefined => {
  const names = operations.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) {
    return { problem: `two of its operations are named '${twice}' on the wire`, mend: "give one of them another name" }
  }
  return extension.description === undefined && descriptionsOf(extension).length > 1
    ? { problem: "its operations have different descriptions", mend: "describe the extension itself" }
    : undefined
}
