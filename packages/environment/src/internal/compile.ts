import * as DataObjects from "@effect-agentenv/protocol/DataObjects"
import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as Implementation from "@effect-agentenv/protocol/Implementation"
import * as Intake from "@effect-agentenv/protocol/Intake"
import * as Manifest from "@effect-agentenv/protocol/Manifest"
import type * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Effect from "effect/Effect"
import type * as Runtime from "effect/Runtime"
import type * as Environment from "../Environment.ts"
import { RegistryError } from "../RegistryError.ts"
import type * as Tool from "../Tool.ts"
import type { CompiledExtension } from "./compileExtension.ts"
import { compileExtension } from "./compileExtension.ts"
import { compileTool } from "./compileTool.ts"
import { servedOperations, takesGrant } from "./dataPlane.ts"
import { compileReads } from "./reads.ts"
import type * as Surface from "./surface.ts"

/** Everything that is served of an environment and everything that is said about it, from one definition. */
export interface Compiled {
  readonly surface: Surface.Surface
  readonly extensions: ReadonlyArray<CompiledExtension>
  readonly card: EnvironmentCard.EnvironmentCard
}

const toolName = /^[A-Za-z0-9_.-]{1,128}$/

type Handler = (parameters: unknown) => Effect.Effect<unknown, unknown>

/** Compiles a definition with its implementation, under the name that it is served as (B-ENV-12). */
export const compile = (
  env: Environment.Any,
  service: Environment.HandlersService,
  name: string,
  mcpPath: string,
  runtime: Runtime.Runtime<never>
): Effect.Effect<Compiled, RegistryError> => {
  const refuse = (subject: string, problem: string, mend: string) =>
    new RegistryError({ environment: name, subject, problem, mend })
  const unwritable = (subject: string) => (error: WireSchema.WireSchemaError) =>
    refuse(subject, error.message, "give it a schema that JSON Schema can say")

  const tool = (tool: Tool.Any): Effect.Effect<readonly [string, Surface.SurfaceTool], RegistryError> => {
    const served = tool.name.replaceAll("{environment_name}", name)
    const subject = `tool '${served}'`
    if (!toolName.test(tool.name.replaceAll("{environment_name}", "x"))) {
      return Effect.fail(refuse(
        subject,
        "its name has other characters than letters, digits, '_', '-' and '.', or more than 128 of them",
        "rename it"
      ))
    }
    if (tool.description.trim() === "") {
      return Effect.fail(refuse(subject, "it has no description", "say what it does: models choose by it"))
    }
    // the types of `toLayer` say that it is there, what it takes and what it answers
    const handler = Implementation.at(service.implementation, "tools", tool.name) as Handler
    return Effect.mapBoth(compileTool(served, tool, handler, runtime), {
      onFailure: unwritable(subject),
      onSuccess: (compiled) => [served, compiled] as const
    })
  }

  return Effect.gen(function*() {
    const tools = new Map(yield* Effect.forEach(env.tools, tool))
    if (tools.size < env.tools.length) {
      return yield* refuse("tools", "two of them are served under one name", "rename one of them")
    }
    const extensions = yield* Effect.forEach(env.extensions, (extension) =>
      Effect.mapError(
        compileExtension(extension, Implementation.at(service.implementation, "extensions", extension.uri)),
        unwritable(`extension '${extension.uri}'`)
      ))
    const reads = yield* Effect.mapError(
      compileReads(env, service.implementation, runtime),
      unwritable("prompts")
    )
    const version = env.card["version"]
    const surface: Surface.Surface = {
      name,
      version: typeof version === "string" ? version : "1.0.0",
      instructions: env.instructions,
      tools,
      ...reads
    }
    return { surface, extensions, card: card(env, service, name, mcpPath, surface, extensions) }
  })
}

const entries = (
  env: Environment.Any,
  service: Environment.HandlersService,
  extensions: ReadonlyArray<CompiledExtension>
): ReadonlyArray<EnvironmentCard.ExtensionEntry> => {
  const own = extensions.map(({ entry }) => entry)
  const ours: ReadonlyArray<EnvironmentCard.ExtensionEntry> = [
    ...(env.intake === undefined ? [] : [Intake.extension(env.intake)]),
    ...(env.interfaces.length === 0 ? [] : [Manifest.extension()]),
    ...(takesGrant(service.implementation) ? [DataObjects.extension] : [])
  ]
  // what the author declares under one of these URIs wins (B-ENV-10, B-DOBJ-1)
  return [...own, ...ours.filter(({ uri }) => own.every((entry) => entry.uri !== uri))]
}

const orNull = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> | null => list.length === 0 ? null : list

const card = (
  env: Environment.Any,
  service: Environment.HandlersService,
  name: string,
  mcpPath: string,
  surface: Surface.Surface,
  extensions: ReadonlyArray<CompiledExtension>
): EnvironmentCard.EnvironmentCard => {
  const interfaces = env.card.additionalInterfaces ?? []
  const tools = Array.from(surface.tools.values(), ({ listed }): EnvironmentCard.ToolEntry => ({
    name: listed.name,
    description: listed.description ?? null,
    inputSchema: listed.inputSchema
  }))
  return {
    ...env.card,
    protocolVersion: env.card.protocolVersion ?? EnvironmentCard.PROTOCOL_VERSION,
    name,
    url: EnvironmentCard.RPC_PATH,
    preferredTransport: EnvironmentCard.RPC_TRANSPORT,
    additionalInterfaces: interfaces.some(({ transport }) => transport === EnvironmentCard.MCP_TRANSPORT)
      ? interfaces
      : [...interfaces, { url: mcpPath, transport: EnvironmentCard.MCP_TRANSPORT }],
    capabilities: {
      extensions: orNull(entries(env, service, extensions)),
      tools: orNull(tools),
      operations: servedOperations(service.implementation)
    },
    children_environments: orNull(env.card.children_environments ?? [])
  }
}
