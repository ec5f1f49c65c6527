import * as Implementation from "@effect-agentenv/protocol/Implementation"
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import type * as Runtime from "effect/Runtime"
import type * as Environment from "../Environment.ts"
import type * as Prompt from "../Prompt.ts"
import type * as Resource from "../Resource.ts"
import { scoped } from "./callScope.ts"
import * as codec from "./codec.ts"
import * as outcome from "./outcome.ts"
import type * as Surface from "./surface.ts"

const described = <Place extends object>(place: Place, resource: Resource.Any) => ({
  ...place,
  name: resource.name,
  ...(resource.title === undefined ? {} : { title: resource.title }),
  ...(resource.description === undefined ? {} : { description: resource.description }),
  ...(resource.mimeType === undefined ? {} : { mimeType: resource.mimeType })
})

const isTemplate = (resource: Resource.Any): boolean => resource.uri.includes("{")

/** The variables of a URI that a template matches: each stands for one segment. */
const matcher = (template: string): (uri: string) => Record<string, string> | undefined => {
  const names: Array<string> = []
  const pattern = template.split(/(\{[^}]*\})/).map((piece) => {
    if (!piece.startsWith("{")) return piece.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    names.push(piece.slice(1, -1))
    return "([^/?#]+)"
  })
  const regex = new RegExp(`^${pattern.join("")}$`, "u")
  return (uri) => {
    const match = regex.exec(uri)
    if (match === null) return undefined
    try {
      return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(match[i + 1]!)]))
    } catch {
      return undefined
    }
  }
}

const content = (uri: string, mimeType: string | undefined, value: string | Uint8Array): Mcp.ResourceContents => ({
  uri,
  ...(mimeType === undefined ? {} : { mimeType }),
  ...(typeof value === "string" ? { text: value } : { blob: Encoding.encodeBase64(value) })
})

const contents = (resource: Resource.Any, uri: string, read: Resource.Content): Mcp.ReadResourceResult => ({
  contents: typeof read === "string" || read instanceof Uint8Array
    ? [content(uri, resource.mimeType, read)]
    : read.map((item) => content(item.uri, item.mimeType ?? resource.mimeType, item.content))
})

const ready = <A>(effect: Effect.Effect<A, unknown>): Surface.Read<A> => ({ _tag: "Ready", effect })
const unknown: Surface.Read<never> = { _tag: "Unknown" }

const resources = (env: Environment.Any, implementation: object): Surface.Surface["readResource"] => {
  const found = env.resources.map((resource) => ({
    resource,
    // the types of `toLayer` say that it is there and what it answers
    handler: Implementation.at(implementation, "resources", resource.uri) as
      | Effect.Effect<Resource.Content, unknown>
      | ((variables: Record<string, string>) => Effect.Effect<Resource.Content, unknown>),
    match: isTemplate(resource) ? matcher(resource.uri) : undefined
  }))
  return (uri) => {
    for (const { handler, match, resource } of found) {
      const variables = match === undefined ? (resource.uri === uri ? {} : undefined) : match(uri)
      if (variables === undefined) continue
      return ready(
        Effect.suspend(() =>
          scoped(
            Effect.map(typeof handler === "function" ? handler(variables) : handler, (content) =>
              contents(resource, uri, content))
          )
        )
      )
    }
    return unknown
  }
}

const promptArguments = (prompt: Prompt.Any): Effect.Effect<Mcp.Prompt["arguments"], WireSchema.WireSchemaError> =>
  Effect.map(
    WireSchema.toolInput(prompt.arguments as never),
    (schema) =>
      Object.entries(schema.properties).map(([name, property]) => {
        const description = (property as { readonly description?: unknown }).description
        return {
          name,
          ...(typeof description === "string" ? { description } : {}),
          required: schema.required?.includes(name) === true
        }
      })
  )

const getPrompt = (env: Environment.Any, implementation: object): Surface.Surface["getPrompt"] => {
  const found = new Map(env.prompts.map((prompt) => [prompt.name, {
    prompt,
    decode: codec.decoder(prompt.arguments, "error"),
    // the types of `toLayer` say that it is there and what it answers
    handler: Implementation.at(implementation, "prompts", prompt.name) as (
      args: unknown
    ) => Effect.Effect<Prompt.Messages, unknown>
  }]))
  return (name, args) => {
    const entry = found.get(name)
    if (entry === undefined) return unknown
    const answer = (decoded: unknown): Effect.Effect<Mcp.GetPromptResult, unknown> =>
      scoped(Effect.map(entry.handler(decoded), (messages) => ({
        ...(entry.prompt.description === undefined ? {} : { description: entry.prompt.description }),
        messages: typeof messages === "string"
          ? [{ role: "user" as const, content: { type: "text" as const, text: messages } }]
          : messages
      })))
    const decoded = entry.decode(args ?? {})
    if (!Either.isEither(decoded)) return ready(Effect.flatMap(decoded, answer))
    return Either.isLeft(decoded)
      ? { _tag: "Invalid", detail: codec.reasons(decoded.left) }
      : ready(Effect.suspend(() => answer(decoded.right)))
  }
}

/** What MCP serves of an environment beside its tools. */
export const compileReads = (
  env: Environment.Any,
  implementation: object,
  runtime: Runtime.Runtime<never>
): Effect.Effect<Omit<Surface.Surface, "name" | "version" | "instructions" | "tools">, WireSchema.WireSchemaError> =>
  Effect.gen(function*() {
    const prompts = yield* Effect.forEach(
      env.prompts,
      (prompt) =>
        Effect.map(promptArguments(prompt), (args): Mcp.Prompt => ({
          name: prompt.name,
          ...(prompt.title === undefined ? {} : { title: prompt.title }),
          ...(prompt.description === undefined ? {} : { description: prompt.description }),
          arguments: args
        }))
    )
    return {
      resources: env.resources.filter((resource) => !isTemplate(resource))
        .map((resource) => described({ uri: resource.uri }, resource)),
      resourceTemplates: env.resources.filter(isTemplate)
        .map((resource) => described({ uriTemplate: resource.uri }, resource)),
      readResource: resources(env, implementation),
      prompts,
      getPrompt: getPrompt(env, implementation),
      failure: (exit) => {
        const ended = outcome.classify(exit.cause)
        if (ended._tag === "Interrupted") return undefined
        return {
          code: JsonRpc.ErrorCode.InternalError,
          message: ended._tag === "Failure"
            ? outcome.messageOf(ended.failure)
            : Correlation.report(exit.cause, runtime)
        }
      }
    }
  })
