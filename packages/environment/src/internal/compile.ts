import * as DataObjects from "@effect-agentenv/protocol/DataObjects"
import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as Implementation from "@effect-agentenv/protocol/Implementation"
import * as Intake from "@effect-agentenv/protocol/Intake"
import * as Manifest from "@effect-agentenv/protocol/Manifest"
import type * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Runtime from "effect/Runtime"
import type * as Environment from "../Environment.ts"
import type { Serve } from "../EnvironmentServer.ts"
import { RegistryError } from "../RegistryError.ts"
import type * as Tool from "../Tool.ts"
import * as accessRoutes from "./accessRoutes.ts"
import { Catalog } from "./catalog.ts"
import * as choose from "./choose.ts"
import { type CompiledExtension, compileExtension, problemOf } from "./compileExtension.ts"
import { compileTool } from "./compileTool.ts"
import { servedOperations, takesGrant } from "./dataPlane.ts"
import * as hooks from "./hooks.ts"
import { compileReads } from "./reads.ts"
import type * as Surface from "./surface.ts"

/** Everything that is served of an environment and everything that is said about it, from one definition. */
export interface Compiled {
  readonly surface: Surface.Surface
  readonly catalog: Catalog
  readonly extensions: ReadonlyArray<CompiledExtension>
  /** The card but for its tools, which are the catalog's. */
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
  runtime: Runtime.Runtime<never>,
  serve: Serve
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
      onSuccess: (compiled) =>
        [served, service.hook === undefined ? compiled : hooks.behind(service.hook, compiled)] as const
    })
  }

  const extension = (chosen: choose.Chosen): Effect.Effect<CompiledExtension, RegistryError> =>
    Effect.gen(function*() {
      const { extension } = chosen
      const subject = `extension '${extension.uri}'`
      const handlers = Implementation.at(service.implementation, "extensions", extension.uri)
      const compiled = yield* Effect.mapError(
        compileExtension(extension, handlers, chosen.operations),
        unwritable(subject)
      )
      yield* choose.operations(chosen, compiled.implemented, refuse)
      const wrong = problemOf(extension, compiled)
      return wrong === undefined ? compiled : yield* refuse(subject, wrong.problem, wrong.mend)
    })

  return Effect.gen(function*() {
    const tools = new Map(yield* Effect.forEach(env.tools, tool))
    if (tools.size < env.tools.length) {
      return yield* refuse("tools", "two of them are served under one name", "rename one of them")
    }
    const catalog = new Catalog(yield* choose.tools(tools, serve.tools, name, refuse))
    if (new Set(env.extensions.map(({ uri }) => uri)).size < env.extensions.length) {
      return yield* refuse("extensions", "two of them have one URI", "make them one")
    }
    const extensions = yield* Effect.forEach(
      yield* choose.extensions(env.extensions, serve.extensions, refuse),
      extension
    )
    const reads = yield* Effect.mapError(
      compileReads(env, service.implementation, runtime),
      unwritable("prompts")
    )
    const version = env.card["version"]
    const surface: Surface.Surface = {
      name,
      version: typeof version === "string" ? version : "1.0.0",
      instructions: env.instructions,
      ...reads
    }
    const listed = entries(env, service, catalog, extensions)
    const twice = listed.find(({ uri }, index) => listed.findIndex((each) => each.uri === uri) !== index)
    if (twice !== undefined) {
      return yield* refuse(
        `extension '${twice.uri}'`,
        "it is one of tool access, which is on",
        "leave it to the switch"
      )
    }
    return { surface, catalog, extensions, card: card(env, service, name, mcpPath, listed) }
  })
}

/** Whether tool access is on, which without tools it never is (B-ACC-1). */
export const hasAccess = (env: Environment.Any, catalog: Catalog): boolean => env.toolAccess && catalog.size > 0

const entries = (
  env: Environment.Any,
  service: Environment.HandlersService,
  catalog: Catalog,
  extensions: ReadonlyArray<CompiledExtension>
): ReadonlyArray<EnvironmentCard.ExtensionEntry> => {
  // what is only declared stands after what is served (B-MULTI-6)
  const [declared, served] = Arr.partition(extensions, ({ operations }) => operations.length > 0)
  const own = [...served, ...declared].map(({ entry }) => entry)
  const ours: ReadonlyArray<EnvironmentCard.ExtensionEntry> = [
    ...(env.intake === undefined ? [] : [Intake.extension(env.intake)]),
    ...(env.interfaces.length === 0 ? [] : [Manifest.extension()]),
    ...(takesGrant(service.implementation) ? [DataObjects.extension] : [])
  ]
  // what the author declares under one of these URIs wins (B-ENV-10, B-DOBJ-1)
  return [
    ...own,
    ...ours.filter(({ uri }) => own.every((entry) => entry.uri !== uri)),
    ...(hasAccess(env, catalog) ? accessRoutes.entries : [])
  ]
}

const orNull = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> | null => list.length === 0 ? null : list

const card = (
  env: Environment.Any,
  service: Environment.HandlersService,
  name: string,
  mcpPath: string,
  extensions: ReadonlyArray<EnvironmentCard.ExtensionEntry>
): EnvironmentCard.EnvironmentCard => {
  const interfaces = env.card.additionalInterfaces ?? []
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
      extensions: orNull(extensions),
      tools: null,
      operations: servedOperations(service.implementation)
    },
    children_environments: orNull(env.card.children_environments ?? [])
  }
}
