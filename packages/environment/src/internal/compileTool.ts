import * as AgentEnvError from "@effect-agentenv/protocol/AgentEnvError"
import * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type * as Tool from "../Tool.ts"
import { scoped } from "./callScope.ts"
import * as codec from "./codec.ts"
import * as outcome from "./outcome.ts"
import { isRecord } from "./record.ts"
import type * as Surface from "./surface.ts"

/** A failure that the tool's definition declares, encoded. */
class Declared {
  readonly encoded: unknown
  constructor(encoded: unknown) {
    this.encoded = encoded
  }
}

const text = (value: unknown): Mcp.TextContent => ({
  type: "text",
  text: typeof value === "string" ? value : JSON.stringify(value) ?? "null"
})

const nothing: Mcp.CallToolResult = { content: [], isError: false }

/** How a tool's encoded answer becomes a result (B-TOOL-4, B-TOOL-5). */
const answer = (
  tool: Tool.Any,
  output: WireSchema.Output | undefined
): (encoded: unknown) => Mcp.CallToolResult => {
  if (isCallToolResult(tool.success)) return (encoded) => encoded as Mcp.CallToolResult
  if (!tool.structured) {
    return (encoded) => encoded === undefined ? nothing : { content: [text(encoded)], isError: false }
  }
  if (output === undefined) return () => nothing
  return output.wrapped
    ? (encoded) => ({ content: [text(encoded)], structuredContent: { result: encoded }, isError: false })
    : (encoded) => ({
      content: [text(encoded)],
      structuredContent: encoded as Record<string, unknown>,
      isError: false
    })
}

const isCallToolResult = (schema: Schema.Schema.Any): boolean => schema.ast === Mcp.CallToolResult.ast

const failed = (failure: unknown): Mcp.CallToolResult => {
  if (failure instanceof Declared) {
    return {
      content: [text(failure.encoded)],
      ...(isRecord(failure.encoded) ? { structuredContent: failure.encoded } : {}),
      isError: true
    }
  }
  return Option.match(AgentEnvError.find(failure), {
    onNone: () => outcome.textError(outcome.messageOf(failure)),
    onSome: outcome.codedError
  })
}

/** Tells a declared failure from an undeclared one, and encodes it. An `AgentEnvError` speaks for itself. */
const declaring = (tool: Tool.Any, name: string) => {
  if (tool.failure.ast === Schema.Never.ast) return undefined
  const isDeclared = Schema.is(tool.failure as Schema.Schema<unknown, unknown>)
  const encode = codec.encoder(tool.failure, `the failure of tool '${name}'`)
  return (failure: unknown): Effect.Effect<never, unknown> =>
    AgentEnvError.isAgentEnvError(failure) || !isDeclared(failure)
      ? Effect.fail(failure)
      : Effect.flatMap(encode(failure), (encoded) => Effect.fail(new Declared(encoded)))
}

const listed = (
  name: string,
  tool: Tool.Any,
  inputSchema: WireSchema.ObjectSchema,
  output: WireSchema.Output | undefined
): Mcp.Tool => ({
  name,
  ...(tool.title === undefined ? {} : { title: tool.title }),
  description: tool.description,
  inputSchema,
  ...(output === undefined ? {} : { outputSchema: output.schema }),
  ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
  ...metaOf(tool)
})

const metaOf = ({ hiddenByDefault, meta }: Tool.Any): Pick<Mcp.Tool, "_meta"> => {
  if (hiddenByDefault) return { _meta: { ...meta, [Mcp.MetaKey.HiddenByDefault]: true } }
  return meta === undefined ? {} : { _meta: meta }
}

const refused = (name: string, detail: string): Surface.Prepared => ({
  _tag: "Refused",
  result: outcome.textError(`invalid arguments of '${name}': ${detail}`)
})

/** Compiles a tool and its handler, once for a server's life. */
export const compileTool = (
  name: string,
  tool: Tool.Any,
  handler: (parameters: unknown) => Effect.Effect<unknown, unknown>,
  runtime: Runtime.Runtime<never>
): Effect.Effect<Surface.SurfaceTool, WireSchema.WireSchemaError> =>
  Effect.gen(function*() {
    const inputSchema = yield* WireSchema.toolInput(tool.parameters as Schema.Schema.Any, { strict: tool.strict })
    const answered = isCallToolResult(tool.success) ? tool.output : tool.success
    const output = answered === undefined || !tool.structured
      ? undefined
      : yield* WireSchema.toolOutput(answered, tool.failure)
    const decode = codec.decoder(tool.parameters, tool.strict ? "error" : "ignore")
    const takesNothing = Object.keys(tool.parameters.fields).length === 0
    const encode = codec.encoder(tool.success, `the answer of tool '${name}'`)
    const toResult = answer(tool, output)
    const encodeFailure = declaring(tool, name)
    const finish = (value: unknown): Effect.Effect<Mcp.CallToolResult> => Effect.map(encode(value), toResult)
    const run = (parameters: unknown): Effect.Effect<Mcp.CallToolResult, unknown> => {
      const called = scoped(handler(parameters))
      const typed = encodeFailure === undefined ? called : Effect.catchAll(called, encodeFailure)
      return outcome.within(Effect.flatMap(typed, finish), name, tool.timeout)
    }
    return {
      listed: listed(name, tool, inputSchema, output),
      prepare: (args) => {
        const given = args ?? {}
        if (!isRecord(given)) return refused(name, "expected an object")
        if (takesNothing) {
          const [unknown] = Object.keys(given)
          return tool.strict && unknown !== undefined
            ? refused(name, `${unknown}: is unexpected`)
            : { _tag: "Ready", effect: Effect.suspend(() => run({})) }
        }
        const decoded = decode(given)
        if (!Either.isEither(decoded)) {
          return {
            _tag: "Ready",
            effect: Effect.matchEffect(decoded, {
              onFailure: (error) =>
                Effect.succeed(
                  outcome.textError(`invalid arguments of '${name}': ${codec.reasons(error)}`)
                ),
              onSuccess: run
            })
          }
        }
        if (Either.isLeft(decoded)) return refused(name, codec.reasons(decoded.left))
        const parameters = decoded.right
        return { _tag: "Ready", effect: Effect.suspend(() => run(parameters)) }
      },
      result: (exit) => {
        if (Exit.isSuccess(exit)) return exit.value
        const ended = outcome.classify(exit.cause)
        if (ended._tag === "Failure") return failed(ended.failure)
        if (ended._tag === "Interrupted") return undefined
        return outcome.textError(Correlation.report(exit.cause, runtime))
      }
    } satisfies Surface.SurfaceTool
  })
