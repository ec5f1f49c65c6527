import type * as DataPlane from "@effect-agentenv/protocol/DataPlane"
import type * as Extension from "@effect-agentenv/protocol/Extension"
import * as Effect from "effect/Effect"
import type * as Environment from "../Environment.ts"
import type { Serve } from "../EnvironmentServer.ts"
import type { RegistryError } from "../RegistryError.ts"
import { handlerKey, servedOperations } from "./dataPlane.ts"
import type { SurfaceTool } from "./surface.ts"

type Refuse = (subject: string, problem: string, mend: string) => RegistryError

const mend = "serve what there is, each once"

const quoted = (names: Iterable<string>): string => Array.from(names, (name) => `'${name}'`).join(", ")

/** Names that are chosen must be there, and once (B-TOOL-7, B-MULTI-9). */
const check = (
  subject: string,
  chosen: ReadonlyArray<string>,
  offered: ReadonlySet<string>,
  refuse: Refuse
): Effect.Effect<void, RegistryError> => {
  const unknown = chosen.filter((name) => !offered.has(name))
  if (unknown.length > 0) {
    return Effect.fail(refuse(subject, `${quoted(unknown)} to be served, which the environment lacks`, mend))
  }
  const twice = new Set(chosen.filter((name, index) => chosen.indexOf(name) !== index))
  return twice.size === 0 ? Effect.void : Effect.fail(refuse(subject, `${quoted(twice)} to be served twice`, mend))
}

/** The tools that are served, in the order and with the descriptions that were asked for (B-TOOL-6). */
export const tools = (
  all: ReadonlyMap<string, SurfaceTool>,
  chosen: Serve["tools"],
  environment: string,
  refuse: Refuse
): Effect.Effect<ReadonlyMap<string, SurfaceTool>, RegistryError> => {
  if (chosen === undefined) return Effect.succeed(all)
  const choices = chosen.map((choice) => typeof choice === "string" ? { name: choice } : choice)
    .map((choice) => ({ ...choice, name: choice.name.replaceAll("{environment_name}", environment) }))
  return Effect.as(
    check("tools", choices.map(({ name }) => name), new Set(all.keys()), refuse),
    new Map(choices.flatMap(({ description, name }) => {
      const tool = all.get(name)
      if (tool === undefined) return []
      return [[name, description === undefined ? tool : { ...tool, listed: { ...tool.listed, description } }]]
    }))
  )
}

/** An extension that is served, and which of its operations; all without any. */
export interface Chosen {
  readonly extension: Extension.Any
  readonly operations: ReadonlyArray<string> | undefined
}

/** The extensions that are served, in the order that was asked for (B-MULTI-7). */
export const extensions = (
  all: ReadonlyArray<Extension.Any>,
  chosen: Serve["extensions"],
  refuse: Refuse
): Effect.Effect<ReadonlyArray<Chosen>, RegistryError> => {
  if (chosen === undefined) return Effect.succeed(all.map((extension) => ({ extension, operations: undefined })))
  const choices: ReadonlyArray<{ readonly uri: string; readonly operations?: ReadonlyArray<string> | undefined }> =
    chosen.map((choice) => typeof choice === "string" ? { uri: choice } : choice)
  const uris = choices.map(({ uri }) => uri)
  return Effect.as(
    check("extensions", uris, new Set(all.map(({ uri }) => uri)), refuse),
    choices.flatMap(({ operations, uri }) =>
      all.filter((extension) => extension.uri === uri).map((extension) => ({ extension, operations }))
    )
  )
}

/** Operations of one extension that are to be served must have handlers. */
export const operations = (
  { extension, operations }: Chosen,
  implemented: ReadonlyArray<string>,
  refuse: Refuse
): Effect.Effect<void, RegistryError> =>
  operations === undefined
    ? Effect.void
    : check(`extension '${extension.uri}'`, operations, new Set(implemented), refuse)

/** An implementation without the data operations that are not to be served (B-MULTI-8). */
export const dataOperations = (
  service: Environment.HandlersService,
  chosen: ReadonlyArray<DataPlane.Method> | undefined,
  refuse: Refuse
): Effect.Effect<Environment.HandlersService, RegistryError> => {
  if (chosen === undefined) return Effect.succeed(service)
  const offered = servedOperations(service.implementation)
  const left = offered.filter((method) => !chosen.includes(method))
  const absent = Object.fromEntries(left.map((method) => [handlerKey[method], undefined]))
  return Effect.as(check("data operations", chosen, new Set<string>(offered), refuse), {
    ...service,
    implementation: { ...service.implementation, ...absent }
  })
}
