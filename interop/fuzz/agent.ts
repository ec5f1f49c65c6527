/** An agent with one of everything, for the fuzzer: it runs as a child process and answers `heap` messages. */
import {
  Agent,
  AgentConfig,
  AgentServer,
  ExtensionError,
  SkillBundle,
  Task,
  TaskFailure,
  type TaskRequest,
  TaskResult,
  Trajectories
} from "@effect-agentenv/agent"
import {
  AttributionProbeV1,
  Extension,
  InstallV1,
  McpConfigV1,
  Operation,
  PeerAgentsV1,
  SkillConfigV1,
  SnapshotV1,
  TrajectoryV1,
  TriggersV1
} from "@effect-agentenv/protocol"
import type { PeerAgent } from "@effect-agentenv/protocol/extensions/PeerAgentsV1"
import { Source, Transfers } from "@effect-agentenv/transfers"
import { NodeRuntime } from "@effect/platform-node"
import { ConfigProvider, Effect, Layer, Logger, LogLevel, Ref, Schema, Stream } from "effect"
import { mkdtempSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { control } from "./control.ts"

class Broken extends Schema.TaggedError<Broken>()("Broken", { message: Schema.String }) {}

class Config extends AgentConfig.extend<Config>("Config")({
  model: AgentConfig.field(Schema.String, { default: () => "kestrel-1" }),
  providerToken: AgentConfig.writeOnly(Schema.NullOr(Schema.String), { default: () => null }),
  turns: AgentConfig.field(Schema.Int.pipe(Schema.between(1, 9)), { default: () => 1 })
}) {}

const Find = Extension.make("urn:fuzz:find/v1", {
  description: "Finds.",
  operations: {
    find: Operation.get({
      path: "/ext/find",
      request: Schema.Struct({
        text: Schema.String,
        limit: Schema.optional(Schema.Int),
        level: Schema.optional(Schema.Literal(1, 2, 3)),
        all: Schema.optional(Schema.Boolean)
      }),
      response: Schema.Struct({ found: Schema.Array(Schema.String) })
    }),
    fail: Operation.post({ path: "/ext/fail", request: Schema.Struct({ how: Schema.String }) })
  }
})

const Kestrel = Agent.make("Kestrel", {
  description: "Has one of everything.",
  version: "1.0.0",
  streaming: true,
  inputModes: ["text", "image/png"],
  skills: [{ id: "built-in", name: "built-in", description: "Comes with it.", tags: ["t"] }],
  config: Config,
  extensions: [
    McpConfigV1,
    SkillConfigV1,
    SnapshotV1,
    PeerAgentsV1,
    AttributionProbeV1,
    InstallV1.configure({ installCommands: ["npm install {container}"] }),
    TrajectoryV1.configure({ live: true, fallback: "a2a" }),
    TriggersV1,
    Find
  ]
})

const textOf = ({ parts }: TaskRequest.TaskRequest<unknown>): string => parts[0]?.kind === "text" ? parts[0].text : ""

const KestrelLive = Kestrel.toLayer((request) =>
  Effect.gen(function*() {
    switch (textOf(request)) {
      case "steps":
        yield* Effect.forEach([1, 2, 3], (n) => Task.progress(`step ${n}`, { metadata: { n } }), { discard: true })
        break
      case "stream":
        yield* Task.streamArtifact(Stream.make("a", "é", "\u{1f3fa}"), { name: "it", within: "1 millis" })
        break
      case "artifact":
        yield* Task.artifact({ kind: "data", data: { made: true } }, { name: "it" })
        break
      case "ask":
        return TaskResult.inputRequired("what?")
      case "fail":
        return yield* new TaskFailure.TaskFailure({ code: "kiln.failed", message: "it failed" })
      case "die":
        return yield* Effect.dieMessage("canary-private-detail")
      case "wait":
        yield* Effect.sleep("5 millis")
        break
      case "hold":
        yield* Effect.sleep("30 millis")
        break
      case "echo": {
        const [first, ...rest] = request.parts
        return first === undefined ? TaskResult.text("nothing") : TaskResult.parts([first, ...rest])
      }
      case "log":
        yield* request.trajectory.format("kestrel/1")
        yield* request.trajectory.append({ step: 1 }, { servers: Object.keys(request.mcpServers).length })
    }
    return TaskResult.text("ok").pipe(
      TaskResult.withUsage({ toolCallCount: 1 }),
      TaskResult.withStructuredOutput({ model: request.config.model })
    )
  })
)

const SkillsLive = SkillConfigV1.toLayer(Effect.succeed({
  add: {
    inline: ({ name }) => Effect.succeed({ name }),
    bundle: (request) =>
      Effect.gen(function*() {
        const { directory } = yield* SkillBundle.install(request)
        yield* Effect.promise(() => rm(join(directory, ".."), { recursive: true, force: true }))
        return { name: request.name }
      })
  }
}))

const SnapshotsLive = SnapshotV1.toLayer(Effect.gen(function*() {
  const transfers = yield* Transfers.Transfers
  const kept = mkdtempSync(join(tmpdir(), "fuzz-agent-"))
  yield* Effect.addFinalizer(() => Effect.promise(() => rm(kept, { recursive: true, force: true })))
  return {
    save: ({ context_id, objects }) =>
      Effect.map(transfers.upload(objects.trajectory, Source.bytes("saved")), (trajectory) => ({
        context_id,
        objects: { trajectory }
      })),
    load: ({ objects, target_context_id }) =>
      Effect.as(transfers.download(objects.trajectory, join(kept, "loaded")), {
        context_id: target_context_id ?? "ctx-new"
      }),
    changelog: {
      enable: ({ roots }) => Effect.succeed({ roots: roots ?? [] }),
      apply: ({ increments }) => Effect.succeed({ count: increments.length })
    }
  }
}))

const PeersLive = PeerAgentsV1.toLayer(Effect.gen(function*() {
  const known = yield* Ref.make<ReadonlyArray<PeerAgent>>([])
  return {
    set: ({ peers }) => Effect.as(Ref.set(known, peers), { status: "updated" as const }),
    list: () => Effect.map(Ref.get(known), (peers) => ({ peers }))
  }
}))

const ProbeLive = AttributionProbeV1.toLayer(Effect.succeed({
  probe: () => Effect.succeed({ last_seen_attribution: { task: "t" } })
}))

const FindLive = Find.toLayer(Effect.succeed({
  find: ({ limit, text }) =>
    Effect.succeed({ found: Array.from({ length: Math.min(Math.max(limit ?? 1, 0), 10) }, () => text) }),
  fail: ({ how }) => {
    if (how.startsWith("c")) {
      return Effect.fail(new ExtensionError.ExtensionError({ message: "not today", status: 409 }))
    }
    if (how.startsWith("p")) return Effect.fail(new Broken({ message: "canary-private-detail" }))
    return how.startsWith("d") ? Effect.dieMessage("canary-private-detail") : Effect.void
  }
}))

control.pipe(
  Layer.provide(AgentServer.serve(Kestrel, {
    host: "127.0.0.1",
    port: 0,
    limits: { a2a: 200_000, extension: 100_000 },
    store: { maxFinished: 200, maxBytes: 4_000_000, abandonedAfter: "1 second" }
  })),
  Layer.provide([KestrelLive, SkillsLive, SnapshotsLive, PeersLive, ProbeLive, FindLive]),
  Layer.provide([Transfers.layer(), Trajectories.layer({ contexts: 100, bytes: 4_000_000 })]),
  Layer.provide([
    Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["AGENTENV_STAGING_MAX_BYTES", "10000000"]]))),
    Logger.minimumLogLevel(LogLevel.None)
  ]),
  Layer.launch,
  NodeRuntime.runMain
)
