/** An agent that has secrets and talks too much: all that it logs, at every level and in `LOG_FORMAT`, and all its spans are printed. */
import {
  Agent,
  AgentConfig,
  AgentServer,
  ExtensionError,
  SkillBundle,
  Task,
  TaskFailure,
  type TaskRequest,
  TaskResult
} from "@effect-agentenv/agent"
import {
  McpConfigV1,
  PeerAgentsV1,
  SkillConfigV1,
  SnapshotV1,
  TrajectoryV1,
  TriggersV1
} from "@effect-agentenv/protocol"
import { NamespaceUploader, Source, Transfers } from "@effect-agentenv/transfers"
import { HttpServer } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import {
  Cause,
  Config,
  Console,
  type Context,
  Effect,
  Exit,
  Layer,
  Logger,
  LogLevel,
  Option,
  Schema,
  Tracer
} from "effect"
import { inspect } from "node:util"

class KilnConfig extends AgentConfig.extend<KilnConfig>("KilnConfig")({
  providerToken: AgentConfig.writeOnly(Schema.NullOr(Schema.String), { alias: "provider_token", default: () => null }),
  endpoint: AgentConfig.writeOnly(Schema.NullOr(Schema.Struct({ url: Schema.String, key: Schema.String })), {
    default: () => null
  }),
  turns: AgentConfig.field(Schema.Int.pipe(Schema.between(1, 9)), { default: () => 1 })
}) {}

const Kiln = Agent.make("Kiln", {
  description: "Holds secrets.",
  version: "1.0.0",
  streaming: true,
  config: KilnConfig,
  extensions: [
    McpConfigV1,
    PeerAgentsV1,
    SkillConfigV1,
    SnapshotV1,
    TrajectoryV1.configure({ live: true, fallback: "a2a" }),
    TriggersV1
  ]
})

const textOf = ({ parts }: TaskRequest.TaskRequest<unknown>): string => parts[0]?.kind === "text" ? parts[0].text : ""

const KilnLive = Kiln.toLayer(Effect.gen(function*() {
  const apiKey = yield* Config.redacted("LITELLM_API_KEY")
  return (request) =>
    Effect.gen(function*() {
      yield* Effect.logInfo("run", request.mcpServers, apiKey)
      yield* Effect.logDebug(inspect({ servers: request.mcpServers, apiKey }, { depth: 9 }))
      yield* Effect.annotateCurrentSpan({ servers: request.mcpServers, apiKey })
      yield* request.trajectory.format("kiln/1")
      yield* request.trajectory.append({ servers: request.mcpServers, apiKey })
      yield* Task.progress(JSON.stringify({ servers: request.mcpServers, apiKey }))
      switch (textOf(request)) {
        case "die":
          return yield* Effect.die({ servers: request.mcpServers, apiKey })
        case "throw":
          return yield* Effect.die(new TypeError(`no ${String(apiKey)}`))
        case "fail":
          return yield* new TaskFailure.TaskFailure({ code: "kiln.failed", message: `no ${JSON.stringify(apiKey)}` })
      }
      return TaskResult.data({ servers: request.mcpServers, apiKey: String(apiKey) })
    }).pipe(Effect.withSpan("Kiln.run"))
}))

/** Says all that it was given, before it does anything with it. */
const heard = (request: unknown) =>
  Effect.logInfo("handler", request).pipe(
    Effect.zipRight(Effect.logTrace(inspect(request, { depth: 9 }))),
    Effect.zipRight(Effect.annotateCurrentSpan("request", request)),
    Effect.withSpan("Kiln.handler")
  )

const SkillsLive = SkillConfigV1.toLayer(Effect.succeed({
  add: {
    inline: ({ name }) => Effect.succeed({ name }),
    bundle: (request) =>
      heard(request).pipe(
        Effect.zipRight(SkillBundle.install(request)),
        Effect.tapErrorCause((cause) => Effect.logWarning("not installed", cause)),
        Effect.as({ name: request.name })
      )
  }
}))

const SnapshotsLive = SnapshotV1.toLayer(Effect.gen(function*() {
  const transfers = yield* Transfers.Transfers
  return {
    save: (request) =>
      heard(request).pipe(
        Effect.zipRight(transfers.upload(request.objects.trajectory, Source.bytes("saved"))),
        Effect.tapErrorCause((cause) => Effect.logError("not saved", cause)),
        Effect.map((trajectory) => ({ context_id: request.context_id, objects: { trajectory } }))
      ),
    load: (request) =>
      // what an author may do in distress
      Effect.zipRight(heard(request), Effect.die(request)),
    changelog: {
      enable: (request) =>
        Effect.gen(function*() {
          yield* heard(request)
          const uploader = yield* NamespaceUploader.make(request.write_namespace)
          yield* uploader.upload("log.json", Source.bytes("{}"))
          return { roots: [] }
        }).pipe(Effect.tapErrorCause((cause) => Effect.logError("not enabled", cause))),
      apply: (request) =>
        Effect.zipRight(
          heard(request),
          Effect.fail(new ExtensionError.ExtensionError({ status: 409, message: `no ${JSON.stringify(request)}` }))
        )
    }
  }
}))

const PeersLive = PeerAgentsV1.toLayer(Effect.succeed({
  set: () => Effect.succeed({ status: "updated" as const }),
  list: () => Effect.succeed({ peers: [] })
}))

/** Prints each span when it ends, with all that was said of it. */
const tracer = Tracer.make({
  span: (name, parent, context, links, startTime, kind) => {
    const attributes = new Map<string, unknown>()
    const events: Array<unknown> = []
    const span: Tracer.Span = {
      _tag: "Span",
      name,
      spanId: name,
      traceId: "trace",
      parent,
      context: context as Context.Context<never>,
      links,
      kind,
      sampled: true,
      attributes,
      status: { _tag: "Started", startTime },
      attribute: (key, value) => void attributes.set(key, value),
      event: (event, _, more) => void events.push({ event, more }),
      addLinks: () => {},
      end: (_, exit) => {
        const said = [
          inspect({ span: name, attributes, events, exit }, { depth: 9, breakLength: Infinity }),
          JSON.stringify([Object.fromEntries(attributes), events, exit])
        ]
        if (Exit.isFailure(exit)) {
          said.push(Cause.pretty(exit.cause, { renderErrorCause: true }), String(Cause.squash(exit.cause)))
        }
        process.stdout.write(`${said.join("\n")}\n`)
      }
    }
    return span
  },
  context: (f) => f()
})

const announce = Layer.effectDiscard(Effect.flatMap(
  HttpServer.HttpServer,
  ({ address }) => Console.log(address._tag === "TcpAddress" ? address.port : Option.none())
))

announce.pipe(
  Layer.provide(AgentServer.serve(Kiln, { host: "127.0.0.1", port: 0 })),
  Layer.provide([KilnLive, SkillsLive, SnapshotsLive, PeersLive]),
  Layer.provide(Transfers.layer({ connectTimeout: "1 second" })),
  Layer.provide([Layer.setTracer(tracer), Logger.minimumLogLevel(LogLevel.All)]),
  Layer.launch,
  NodeRuntime.runMain
)
