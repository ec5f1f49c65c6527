import type * as A2a from "@effect-agentenv/protocol/A2a"
import type * as Extension from "@effect-agentenv/protocol/Extension"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { AddResponse, SkillConfigV1 } from "@effect-agentenv/protocol/extensions/SkillConfigV1"
import { TrajectoryV1 } from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import * as Implementation from "@effect-agentenv/protocol/Implementation"
import type { Transfers } from "@effect-agentenv/transfers/Transfers"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ConfigState } from "../ConfigState.ts"
import { McpServers } from "../McpServers.ts"
import * as Skills from "../Skills.ts"
import type { Trajectories } from "../Trajectories.ts"
import * as trajectoryDefaults from "./trajectoryDefaults.ts"

/** The state that the library's own handlers serve. */
export type Services = ConfigState | McpServers | Skills.Skills | Trajectories | Transfers

export interface Options {
  /** Whether what was set can be read back (B-CFG-10). */
  readonly configReadback: boolean
  /** What the agent lists: the configuration of its extensions says what is served. */
  readonly extensions: ReadonlyArray<Extension.Any>
  /** Where a task is looked up, for trajectories that are made of its messages and artifacts. */
  readonly task: (taskId: string) => Effect.Effect<A2a.Task | undefined>
}

const agentConfig = (readback: boolean) =>
  Effect.map(ConfigState, (state) => ({
    set: (update: A2a.JsonObject) => Effect.as(state.set(update), { status: "updated" as const }),
    ...(readback ? { get: () => Effect.map(state.readback, (config) => ({ config })) } : {})
  }))

const mcpConfig = Effect.map(McpServers, (servers) =>
  McpConfigV1.of({
    add: (request) => Effect.map(servers.add(request), (added) => ({ status: "added" as const, ...added })),
    list: () =>
      Effect.map(servers.current, (current) => ({
        mcp_servers: Object.fromEntries(
          Object.entries(current).map(([name, { headers, url }]) => [name, { url, has_headers: headers !== undefined }])
        )
      }))
  }))

const skillConfig = Effect.map(
  Skills.Skills,
  (skills) => SkillConfigV1.of({ list: () => Effect.map(skills.list, (listed) => ({ skills: listed })) })
)

/** The library's own handlers by the URI of their extension, each in the shape of `toLayer`'s argument. */
export const make = (options: Options): Effect.Effect<Readonly<Record<string, unknown>>, never, Services> =>
  Effect.all({
    [AgentConfigV1.uri]: agentConfig(options.configReadback),
    [McpConfigV1.uri]: mcpConfig,
    [SkillConfigV1.uri]: skillConfig,
    [TrajectoryV1.uri]: trajectoryDefaults.make(
      options.extensions.find(({ uri }) => uri === TrajectoryV1.uri)?.configuration ?? {},
      options.task
    )
  })

type Add = (request: {
  readonly name: string
  readonly description: string
  readonly skill_md?: string | undefined
}) => Effect.Effect<unknown, unknown, unknown>

const answer = Schema.validate(AddResponse, { onExcessProperty: "error" })

/**
 * The author's installation of skills with the library's bookkeeping around it: a name is installed once, and is a skill when the
 * handler has answered well (B-SKILL-4, B-SKILL-6).
 */
export const recorded = (
  service: Extension.HandlersService,
  skills: Skills.Service
): Extension.HandlersService => {
  const add = Implementation.at(service.implementation, "add")
  if (typeof add !== "object" || add === null) return service
  const around = (handler: Add): Add => (request) =>
    skills.install(
      { name: request.name, description: request.description, skillMd: request.skill_md },
      // an answer that the wire can't take is a failure, so nothing is recorded
      Effect.tap(Effect.suspend(() => handler(request)), (given) => Effect.orDie(answer(given)))
    )
  return {
    ...service,
    implementation: {
      ...(service.implementation as object),
      add: Object.fromEntries(Object.entries(add).map(([variant, handler]) => [variant, around(handler as Add)]))
    }
  }
}
