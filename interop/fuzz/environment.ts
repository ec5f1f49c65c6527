/** An environment with one of everything, for the fuzzer: it runs as a child process and answers `heap` messages. */
import { Environment, EnvironmentServer, Prompt, Resource, Tool, ToolCall } from "@effect-agentenv/environment"
import { AgentEnvError, DataObjects, Extension, Manifest, Operation, type Part } from "@effect-agentenv/protocol"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Logger, LogLevel, Random, Ref, Schema } from "effect"
import { control } from "./control.ts"

class SoldOut extends Schema.TaggedError<SoldOut>()("SoldOut", { shelf: Schema.String }) {}

interface Tree {
  readonly label: string
  readonly children: ReadonlyArray<Tree>
}
const Tree: Schema.Schema<Tree> = Schema.Struct({
  label: Schema.String,
  children: Schema.Array(Schema.suspend(() => Tree))
}).annotations({ identifier: "Tree" })

const Ship = Tool.make("{environment_name}_ship", {
  description: "Ships parcels.",
  parameters: {
    label: Schema.String,
    count: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 1000)), { default: () => 1 }),
    when: Schema.optional(Schema.Date),
    how: Schema.optional(Schema.Literal("slow", "fast"))
  },
  success: Schema.Struct({ shipped: Schema.Int }),
  failure: SoldOut
})
const Echo = Tool.make("echo", {
  description: "Echoes anything.",
  parameters: { value: Schema.Unknown },
  success: Schema.Unknown
})
const Plant = Tool.make("plant", {
  description: "Counts a tree.",
  parameters: { tree: Tree },
  success: Schema.Int,
  strict: true
})
const Wait = Tool.make("wait", {
  description: "Waits, reporting.",
  parameters: { ms: Schema.Number.pipe(Schema.between(0, 20)) },
  timeout: "1 second"
})
const Fail = Tool.make("fail", { description: "Fails in many ways.", parameters: { how: Schema.String } })
const Tag = Extension.single(
  "urn:fuzz:tag/v1",
  "tag",
  Operation.post({
    request: Schema.Struct({
      label: Schema.String,
      upper: Schema.optionalWith(Schema.Boolean, { default: () => false }),
      on: Schema.optional(Schema.Date)
    }),
    response: Schema.Struct({ tagged: Schema.String })
  })
)
const Find = Extension.single(
  "urn:fuzz:find/v1",
  "find",
  Operation.get({
    request: Schema.Struct({
      text: Schema.String,
      limit: Schema.optional(Schema.Int),
      level: Schema.optional(Schema.Literal(1, 2, 3)),
      all: Schema.optional(Schema.Boolean)
    }),
    response: Schema.Struct({ found: Schema.Array(Schema.String) })
  })
)
const Kiln = Extension.make("urn:fuzz:kiln/v2", {
  operations: {
    heat: Operation.get({ response: Schema.Struct({ heat: Schema.Number }) }),
    set: Operation.put({ request: Schema.Struct({ heat: Schema.Number }) }),
    fail: Operation.post({ request: Schema.Struct({ how: Schema.String }) })
  }
})

const fail = (how: string): Effect.Effect<void, Error> => {
  if (how.startsWith("c")) {
    return Effect.fail(new AgentEnvError.AgentEnvError({ code: "refused", message: "not today", status: 409 }))
  }
  if (how.startsWith("p")) return Effect.fail(new Error("kiln failure"))
  if (how.startsWith("d")) return Effect.die(new Error("canary-private-detail"))
  return Effect.void
}

const count = (tree: Tree): number => tree.children.reduce((sum, child) => sum + count(child), 1)

export const Full = Environment.make("full", {
  tools: [Ship, Echo, Plant, Wait, Fail],
  extensions: [Tag, Find, Kiln],
  resources: [
    Resource.make("full://note", { name: "note", mimeType: "text/plain" }),
    Resource.make("full://shelf/{shelf}", { name: "shelf" })
  ],
  prompts: [
    Prompt.make("greet", { arguments: { name: Schema.String, times: Schema.optional(Schema.NumberFromString) } })
  ],
  interfaces: [
    Manifest.Manifest.make({ service: "full", manifest_version: "0.1.0", interface: "cli", entities: [], actions: [] })
  ]
})

const FullLive = Full.toLayer(Effect.gen(function*() {
  const shelf = yield* Ref.make<ReadonlyArray<string>>([])
  return {
    reset: ({ seed }: Environment.ResetRequest) =>
      Effect.zipRight(Effect.asVoid(Effect.succeed(seed)), Ref.set(shelf, [])),
    add: (parts) => Ref.update(shelf, (all) => [...all, ...parts.map((part) => part.kind)].slice(-100)),
    get: ({ writeNamespace }: Environment.GetRequest) =>
      Effect.map(Ref.get(shelf), (kinds): ReadonlyArray<Part.Part> =>
        writeNamespace === undefined
          ? [{ kind: "data", data: { kinds } }]
          : [DataObjects.uploadedPart("export/state.json", { mimeType: "application/json" })]),
    tools: {
      "{environment_name}_ship": ({ count, label }) =>
        label === "none" ? Effect.fail(new SoldOut({ shelf: "b2" })) : Effect.as(Random.nextInt, { shipped: count }),
      echo: ({ value }) => Effect.succeed(value),
      plant: ({ tree }) => Effect.succeed(count(tree)),
      wait: ({ ms }) =>
        Effect.gen(function*() {
          const call = yield* ToolCall.ToolCall
          yield* call.progress({ progress: 1, total: 2, message: "half" })
          yield* call.log("info", { ms })
          yield* Effect.sleep(ms)
        }),
      fail: ({ how }) => fail(how)
    },
    extensions: {
      "urn:fuzz:tag/v1": { tag: ({ label, upper }) => Effect.succeed({ tagged: upper ? label.toUpperCase() : label }) },
      "urn:fuzz:find/v1": {
        find: ({ limit, text }) =>
          Effect.succeed({ found: Array.from({ length: Math.min(Math.max(limit ?? 1, 0), 10) }, () => text) })
      },
      "urn:fuzz:kiln/v2": {
        heat: () => Effect.succeed({ heat: 20 }),
        set: () => Effect.void,
        fail: ({ how }) => fail(how)
      }
    },
    resources: {
      "full://note": Effect.succeed("fragile"),
      "full://shelf/{shelf}": ({ shelf }) => Effect.succeed(new TextEncoder().encode(shelf))
    },
    prompts: { greet: ({ name, times }) => Effect.succeed(`Greet ${name} ${times ?? 1} times.`) }
  }
}))

control.pipe(
  Layer.provide(EnvironmentServer.serve(Full, {
    host: "127.0.0.1",
    port: 0,
    mcp: { sessions: "optional", maxSessions: 500 },
    limits: { mcp: 200_000, dataPlane: 200_000, extension: 100_000 }
  })),
  Layer.provide(FullLive),
  Layer.provide(Logger.minimumLogLevel(LogLevel.None)),
  Layer.launch,
  NodeRuntime.runMain
)
