import * as Agent from "@effect-agentenv/agent/Agent"
import * as AgentConfig from "@effect-agentenv/agent/AgentConfig"
import { ConfigState } from "@effect-agentenv/agent/ConfigState"
import { McpServers } from "@effect-agentenv/agent/McpServers"
import { Sessions } from "@effect-agentenv/agent/Sessions"
import { Skills } from "@effect-agentenv/agent/Skills"
import type { Start } from "@effect-agentenv/agent/TaskEngine"
import type { TaskRequest } from "@effect-agentenv/agent/TaskRequest"
import { Trajectories } from "@effect-agentenv/agent/Trajectories"
import type * as A2a from "@effect-agentenv/protocol/A2a"
import { expect } from "@effect/vitest"
import { Context, Effect, Layer, Logger, LogLevel, Redacted, Schema } from "effect"
import * as agentRunner from "../src/internal/agentRunner.ts"

export class Kiln extends AgentConfig.extend<Kiln>("Kiln")({
  extras: AgentConfig.field(Schema.Record({ key: Schema.String, value: Schema.Unknown }), {
    default: () => ({ tags: ["a"] })
  }),
  token: AgentConfig.writeOnly(Schema.String, { default: () => "none" })
}) {}

const KilnAgent = Agent.make("kiln", { description: "Fires.", version: "1.0.0", config: Kiln, streaming: true })

export interface Event {
  readonly kind: "status" | "artifact"
  readonly value: unknown
  readonly options: unknown
}

/** What the services of an agent were told, in order. */
type Told = Array<string>

const services = (told: Told, set: A2a.JsonObject) =>
  Layer.mergeAll(
    Layer.mock(ConfigState, {
      current: Effect.orDie(AgentConfig.decoder(Kiln)(set)),
      card: () => ({ name: undefined, description: undefined }),
      onChange: () => {}
    }),
    Layer.mock(McpServers, {
      current: Effect.succeed({
        one: { url: "http://one", headers: Redacted.make({ authorization: "hdr-5150" }) },
        two: { url: "http://two", headers: undefined }
      })
    }),
    Layer.mock(Skills, {
      installed: () => [{ name: "glaze", description: "Glazes.", skillMd: "# Glaze" }],
      onChange: () => {}
    }),
    Layer.effect(
      Sessions,
      Effect.sync(() => {
        const kept = new Map<string, string>()
        return {
          get: (contextId: string) =>
            Effect.sync(() => {
              told.push(`session read of ${contextId}`)
              return kept.get(contextId)
            }),
          set: (contextId: string, sessionRef: string) =>
            Effect.sync(() => {
              told.push(`session of ${contextId} is ${sessionRef}`)
              kept.set(contextId, sessionRef)
            })
        }
      })
    ),
    Layer.mock(Trajectories, {
      submitted: (taskId, contextId) => Effect.sync(() => void told.push(`${taskId} of ${contextId} submitted`)),
      started: (taskId) =>
        Effect.sync(() => {
          told.push(`${taskId} started`)
          return { format: () => Effect.void, append: () => Effect.void }
        }),
      settled: (taskId, state, native) =>
        Effect.sync(() =>
          void told.push(`${taskId} ${state}${native === undefined ? "" : ` ${JSON.stringify(native)}`}`)
        )
    })
  )

export const startOf = (message: Partial<A2a.Message> = {}, more: Partial<Start> = {}): Start => ({
  taskId: "t1",
  contextId: "c1",
  history: [],
  metadata: undefined,
  message: { messageId: "m1", role: "user", parts: [{ kind: "text", text: "fire" }], ...message },
  ...more
})

export type KilnRun = Effect.Effect<unknown, unknown, Agent.PerRun>

/** The runner of an agent whose author's function is this, whatever its type. */
export const runnerOf = (
  run: (request: TaskRequest<Kiln>) => KilnRun,
  { set = {}, agent = KilnAgent }: { readonly set?: A2a.JsonObject; readonly agent?: Agent.Any } = {}
) =>
  Effect.gen(function*() {
    const told: Told = []
    const events: Array<Event> = []
    const logged: Array<string> = []
    const logger = Logger.make(({ annotations, cause, message }) => {
      logged.push(JSON.stringify([message, cause, [...annotations]]))
    })
    // also what the types refuse
    const layer = KilnAgent.toLayer(run as never) as Layer.Layer<Agent.Handlers<"kiln">>
    const handlers = Context.get(yield* Layer.build(layer), KilnAgent.handlers)
    const runner = yield* Effect.provide(agentRunner.make(agent, handlers), services(told, set))
    const emit = {
      status: (value: unknown, options: unknown) =>
        Effect.sync(() => void events.push({ kind: "status", value, options })),
      artifact: (value: unknown, options: unknown) =>
        Effect.sync(() => void events.push({ kind: "artifact", value, options }))
    }
    const logging = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.provide(
        effect,
        Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.All))
      )
    const drive = (start: Start = startOf()) =>
      logging(Effect.flatMap(Effect.exit(runner.run(start, emit)), (exit) => runner.settle(start, exit)))
    return { runner, told, events, logged, emit, drive, logging }
  })

export const data = (data: A2a.JsonObject) => ({ kind: "data", data })

export const unexpected = {
  state: "failed",
  parts: [
    {
      kind: "text",
      text: expect.stringMatching(/^An unexpected framework error occurred\. Correlation ID: [0-9a-f]{32}$/)
    },
    data({
      error_type: "infra_error",
      error_code: "framework.unhandled_exception",
      error_message: expect.stringMatching(/^An unexpected framework error occurred\. Correlation ID: [0-9a-f]{32}$/)
    })
  ]
}
