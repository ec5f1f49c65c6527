// what must not compile is neither run nor used
// @effect-diagnostics floatingEffect:off
// @effect-diagnostics missingEffectContext:off
// @effect-diagnostics missingEffectError:off
import * as Agent from "@effect-agentenv/agent/Agent"
import * as AgentConfig from "@effect-agentenv/agent/AgentConfig"
import * as Task from "@effect-agentenv/agent/Task"
import { TaskFailure } from "@effect-agentenv/agent/TaskFailure"
import type { TaskRequest } from "@effect-agentenv/agent/TaskRequest"
import * as TaskResult from "@effect-agentenv/agent/TaskResult"
import { Extension, Operation } from "@effect-agentenv/protocol"
import { Context, Effect, type Layer, type Redacted, Ref, Schema, Stream } from "effect"
import { expectTypeOf, test } from "vitest"

class Kiln extends Context.Tag("test/Kiln")<Kiln, { readonly heat: number }>() {}
class KilnCold extends Error {
  readonly _tag = "KilnCold"
}

class MyConfig extends AgentConfig.extend<MyConfig>("MyConfig")({
  model: AgentConfig.field(Schema.String, { default: () => "kestrel-1" }),
  mode: AgentConfig.field(Schema.Literal("fast", "slow"), { default: () => "fast", alias: "run_mode" }),
  token: AgentConfig.writeOnly(Schema.NullOr(Schema.String), { default: () => null, alias: "apiToken" })
}) {
  get label() {
    return `${this.model} ${this.timeoutSeconds}`
  }
}

const base = { description: "Fires pots.", version: "1.0.0" }
const Streaming = Agent.make("streaming", {
  ...base,
  streaming: true,
  config: MyConfig,
  configDescription: "Sets the kiln.",
  configReadback: false
})
const Plain = Agent.make("plain", base)
const done = Effect.succeed(TaskResult.text("done"))

const Standard = Extension.make("urn:pots:standard/v1", {
  operations: { a: Operation.post() },
  configuration: Schema.Struct({ heat: Schema.Int })
})

test("a configuration is a class of its fields and those that all have", () => {
  const config = new MyConfig()
  expectTypeOf(config.model).toBeString()
  expectTypeOf(config.mode).toEqualTypeOf<"fast" | "slow">()
  expectTypeOf(config.token).toEqualTypeOf<Redacted.Redacted<string | null>>()
  expectTypeOf(config.role).toEqualTypeOf<string | null>()
  expectTypeOf(config.timeoutSeconds).toBeNumber()
  expectTypeOf(config.label).toBeString()
  expectTypeOf<keyof typeof MyConfig.Encoded>().toEqualTypeOf<
    "name" | "description" | "role" | "timeout_seconds" | "model" | "run_mode" | "apiToken"
  >()
  expectTypeOf(AgentConfig.decoder(MyConfig)).toEqualTypeOf<
    (set: { readonly [key: string]: unknown }) => Effect.Effect<MyConfig, AgentConfig.InvalidConfig>
  >()
  // @ts-expect-error there is no such field
  void config.temperature
})

test("B-REG-25: a field without a default, or with one of another type, does not compile", () => {
  // @ts-expect-error no default
  AgentConfig.extend<any>("A")({ model: Schema.String })
  // @ts-expect-error no default
  AgentConfig.field(Schema.String, {})
  // @ts-expect-error a default of another type
  AgentConfig.field(Schema.String, { default: () => 1 })
  // @ts-expect-error a default of another type
  AgentConfig.writeOnly(Schema.String, { default: () => null })
})

test("B-REG-25: two fields with one wire name do not compile", () => {
  const text = AgentConfig.field(Schema.String, { default: () => "" })
  const aliased = AgentConfig.field(Schema.String, { default: () => "", alias: "a" })
  const never = () => {
    // @ts-expect-error 'a' is there twice
    AgentConfig.extend<any>("A")({ a: text, b: aliased })
    const wait = AgentConfig.field(Schema.Number, { default: () => 1, alias: "timeout_seconds" })
    // @ts-expect-error a wire name that every configuration has
    AgentConfig.extend<any>("A")({ wait })
    // @ts-expect-error a field that every configuration has
    AgentConfig.extend<any>("A")({ role: text })
  }
  void never
  expectTypeOf<AgentConfig.FieldsProblem<{ a: typeof text; b: typeof aliased }>>().toEqualTypeOf<
    "two fields share the wire name 'a'"
  >()
  expectTypeOf<AgentConfig.FieldsProblem<{ a: typeof Schema.String }>>().toEqualTypeOf<
    "field 'a' has no default: AgentConfig.field(schema, { default })"
  >()
  // @ts-expect-error the class itself is not said
  void (() => class _Anonymous extends AgentConfig.extend("A")({}) {})
})

test("B-REG-26: a value for a field that is not declared does not compile", () => {
  // @ts-expect-error no such field
  void new MyConfig({ temperature: 1 })
})

test("run gets the request of its agent, and what it needs is needed by the layer", () => {
  const layer = Streaming.toLayer((request) =>
    Effect.gen(function*() {
      expectTypeOf(request).toEqualTypeOf<TaskRequest<MyConfig>>()
      yield* Kiln
      yield* Task.progress("thinking")
      expectTypeOf(yield* Task.artifact({ kind: "text", text: "a" })).toBeString()
      yield* Task.streamArtifact(Stream.make("a"))
      yield* Effect.addFinalizer(() => Effect.void)
      if (request.config.model === "") return yield* new TaskFailure({ code: "x", message: "x" })
      if (request.config.mode === "slow") return yield* Effect.fail(new KilnCold())
      return TaskResult.text("done").pipe(TaskResult.withUsage({ toolCallCount: 1 }))
    })
  )
  expectTypeOf(layer).toEqualTypeOf<Layer.Layer<Agent.Handlers<"streaming">, never, Kiln>>()
  const plain = Plain.toLayer((request) => {
    expectTypeOf(request.config).toEqualTypeOf<AgentConfig.AgentConfig>()
    return done
  })
  expectTypeOf(plain).toEqualTypeOf<Layer.Layer<Agent.Handlers<"plain">>>()
})

test("an effect builds run with what it needs", () => {
  const layer = Streaming.toLayer(Effect.gen(function*() {
    const kiln = yield* Kiln
    const fired = yield* Ref.make(0)
    yield* Effect.addFinalizer(() => Effect.void)
    if (kiln.heat < 0) return yield* Effect.fail(new KilnCold())
    return (request) =>
      Effect.gen(function*() {
        expectTypeOf(request).toEqualTypeOf<TaskRequest<MyConfig>>()
        yield* Task.progress("firing")
        return TaskResult.text(String(yield* Ref.updateAndGet(fired, (n) => n + 1)))
      })
  }))
  expectTypeOf(layer).toEqualTypeOf<Layer.Layer<Agent.Handlers<"streaming">, KilnCold, Kiln>>()
  // @ts-expect-error the agent is not streaming
  Plain.toLayer(Effect.succeed(() => Effect.as(Task.progress("thinking"), TaskResult.text("done"))))
  // @ts-expect-error no run
  Plain.toLayer(Effect.succeed("done"))
  // @ts-expect-error an effect of a result is no run
  Plain.toLayer(done)
})

test("B-REG-1: an agent without run does not compile", () => {
  const never = () => {
    // @ts-expect-error no run
    Plain.toLayer()
    // @ts-expect-error no run
    Plain.toLayer({})
    // @ts-expect-error no run
    Plain.toLayer(undefined)
  }
  void never
})

test("B-REG-2: a run that answers no effect does not compile", () => {
  // @ts-expect-error a plain function
  Plain.toLayer(() => TaskResult.text("done"))
  // @ts-expect-error a promise is no effect
  Plain.toLayer(async () => TaskResult.text("done"))
  // @ts-expect-error an effect of something else
  Plain.toLayer(() => Effect.succeed("done"))
  // @ts-expect-error an effect of nothing
  Plain.toLayer(() => Effect.void)
  // @ts-expect-error a failure that is no Error
  Plain.toLayer(() => Effect.fail("no"))
})

test("B-REG-3: a run of more than one argument does not compile", () => {
  // @ts-expect-error two arguments
  Plain.toLayer((_request: TaskRequest<AgentConfig.AgentConfig>, _second: string) => done)
})

test("B-REG-4: a run of something else than a request does not compile", () => {
  // @ts-expect-error a text
  Plain.toLayer((_request: string) => done)
  // @ts-expect-error a request that has more
  Plain.toLayer((_request: TaskRequest<AgentConfig.AgentConfig> & { readonly more: string }) => done)
})

test("B-REG-5: a run for a parent of the configuration compiles, for an unrelated one not", () => {
  class Local extends MyConfig.extend<Local>("Local")({
    glaze: AgentConfig.field(Schema.String, { default: () => "none" })
  }) {}
  const LocalAgent = Agent.make("local", { ...base, config: Local })
  LocalAgent.toLayer((_request: TaskRequest<Local>) => done)
  LocalAgent.toLayer((_request: TaskRequest<MyConfig>) => done)
  LocalAgent.toLayer((_request: TaskRequest<AgentConfig.AgentConfig>) => done)
  LocalAgent.toLayer((_request: TaskRequest<unknown>) => done)
  // @ts-expect-error an unrelated one
  LocalAgent.toLayer((_request: TaskRequest<{ readonly other: string }>) => done)
  // @ts-expect-error a child of it
  Streaming.toLayer((_request: TaskRequest<Local>) => done)
})

test("B-REG-6: a configuration that is none does not compile", () => {
  class Foreign extends Schema.Class<Foreign>("Foreign")({ model: Schema.String }) {}
  // @ts-expect-error no configuration
  Agent.make("a", { ...base, config: Foreign })
  // @ts-expect-error no class
  Agent.make("a", { ...base, config: { model: "kestrel-1" } })
})

test("B-REG-7: an agent declares neither capabilities nor an executor", () => {
  // @ts-expect-error capabilities are computed (B-CARD-5)
  Agent.make("a", { ...base, capabilities: {} })
  // @ts-expect-error the engine is the server's
  Agent.make("a", { ...base, executor: () => done })
})

test("B-REG-16: an extension under the library's namespace that is not its own does not compile", () => {
  const Foreign = Extension.make("urn:agentenv:snapshot/v1", { description: "Not the library's." })
  // @ts-expect-error reserved
  Agent.make("a", { ...base, extensions: [Foreign] })
  // @ts-expect-error reserved under whatever name
  Agent.make("a", { ...base, extensions: [Extension.make("urn:agentenv:mine/v1", {})] })
  Agent.make("a", { ...base, extensions: [Extension.make("urn:pots:glaze/v1", {})] })
  expectTypeOf<Agent.ExtensionProblem<typeof Foreign>>().toEqualTypeOf<
    "'urn:agentenv:snapshot/v1' is reserved: agents define extensions under a URI of their own"
  >()
})

test("an extension that is listed twice, or unconfigured, does not compile", () => {
  const Glaze = Extension.make("urn:pots:glaze/v1", {})
  // @ts-expect-error twice
  Agent.make("a", { ...base, extensions: [Glaze, Extension.describe(Glaze, "Mine.")] })
  // @ts-expect-error unconfigured
  Agent.make("a", { ...base, extensions: [Standard] })
  Agent.make("a", { ...base, extensions: [Standard.configure({ heat: 1 })] })
})

test("B-REG-24: the configuration's extension is not listed, and nothing is said of one that is not there", () => {
  type Config = Extension.Extension<"urn:agentenv:agent-config/v1", {}, {}, never, "standard">
  type Overridden = Extension.Extension<"urn:agentenv:agent-config/v1", {}, {}, never, "standard", true>
  const listed = (extension: Config) =>
    // @ts-expect-error it comes with 'config'
    Agent.make("a", { ...base, config: MyConfig, extensions: [extension] })
  const alone = (extension: Config) =>
    // @ts-expect-error it comes with 'config'
    Agent.make("a", { ...base, extensions: [extension] })
  const overridden = (extension: Overridden) => Agent.make("a", { ...base, config: MyConfig, extensions: [extension] })
  void [listed, alone, overridden]
  // @ts-expect-error a description of no configuration
  Agent.make("a", { ...base, configDescription: "Sets the kiln." })
  // @ts-expect-error readback of no configuration
  Agent.make("a", { ...base, configReadback: false })
  // @ts-expect-error a flag that is none
  Agent.make("a", { ...base, config: MyConfig, configReadback: "no" })
})

test("B-CARD-4: a URL that is neither a rooted path nor of HTTP does not compile", () => {
  // @ts-expect-error not rooted
  Agent.make("a", { ...base, url: "a2a" })
  // @ts-expect-error another scheme
  Agent.make("a", { ...base, url: "ftp://pots.example/a2a" })
  Agent.make("a", { ...base, url: "/custom/a2a" })
  Agent.make("a", { ...base, url: "https://pots.example/custom/a2a" })
})

test("progress in an agent that does not stream does not compile, artifacts do", () => {
  const run = () => Effect.as(Task.progress("thinking"), TaskResult.text("done"))
  // @ts-expect-error the agent is not streaming
  Plain.toLayer(run)
  expectTypeOf<Agent.RunProblem<typeof run, false>>().toEqualTypeOf<
    "Task.progress needs 'streaming: true' in Agent.make"
  >()
  expectTypeOf<Agent.RunProblem<typeof run, true>>().toBeNever()
  const off = Agent.make("off", { ...base, streaming: false })
  // @ts-expect-error nor is this one
  off.toLayer(run)
  expectTypeOf(Plain.toLayer(() => Effect.as(Task.artifact("a"), TaskResult.text("done")))).toEqualTypeOf<
    Layer.Layer<Agent.Handlers<"plain">>
  >()
})

test("a run that is written away from toLayer is typed by 'of'", () => {
  const run = Streaming.of((request) => {
    expectTypeOf(request.config).toEqualTypeOf<MyConfig>()
    return Effect.as(Kiln, TaskResult.text("done"))
  })
  expectTypeOf(Streaming.toLayer(run)).toEqualTypeOf<Layer.Layer<Agent.Handlers<"streaming">, never, Kiln>>()
})

test("B-TASK-11: a result without parts does not compile", () => {
  // @ts-expect-error no parts
  TaskResult.parts([])
  // @ts-expect-error no parts
  TaskResult.make({ parts: [] })
  // @ts-expect-error a question without parts
  TaskResult.inputRequired([])
  // @ts-expect-error maybe no parts
  TaskResult.parts([] as ReadonlyArray<{ readonly kind: "text"; readonly text: string }>)
  // @ts-expect-error a part of no kind
  TaskResult.parts([{ kind: "smoke" }])
  // @ts-expect-error nothing to report
  Task.progress([])
  // @ts-expect-error appended to nothing
  Task.artifact("a", { append: true })
  const never = () => {
    // @ts-expect-error neither bytes nor a uri
    TaskResult.file({ name: "pot.png" })
    // @ts-expect-error both
    TaskResult.file({ bytes: "", uri: "" })
  }
  void never
})

test("metadata is an object, of an event, a message or an artifact, and of no other place", () => {
  expectTypeOf(TaskResult.text("a").pipe(TaskResult.withMessageMetadata({ a: 1 }))).toEqualTypeOf<
    TaskResult.TaskResult
  >()
  expectTypeOf(TaskResult.withMessageMetadata(TaskResult.text("a"), { a: 1 })).toEqualTypeOf<TaskResult.TaskResult>()
  expectTypeOf<Parameters<typeof Task.progress>[1]>().toEqualTypeOf<Task.ProgressOptions | undefined>()
  expectTypeOf<TaskFailure["messageMetadata"]>().toEqualTypeOf<TaskResult.TaskResult["messageMetadata"]>()
  Task.progress("a", { metadata: { a: 1 }, messageMetadata: { a: 1 } })
  Task.artifact("a", { metadata: { a: 1 }, eventMetadata: { a: 1 } })
  Task.streamArtifact(Stream.make("a"), { metadata: { a: 1 }, eventMetadata: { a: 1 } })
  // @ts-expect-error no object
  Task.progress("a", { messageMetadata: "a" })
  // @ts-expect-error progress makes no artifact
  Task.progress("a", { artifactMetadata: { a: 1 } })
  // @ts-expect-error an artifact has no message
  Task.artifact("a", { messageMetadata: { a: 1 } })
  // @ts-expect-error no object
  TaskResult.withMessageMetadata(TaskResult.text("a"), 1)
})

test("B-TASK-7: a failure has a code and a message, one of two types, and no details", () => {
  const never = () => {
    // @ts-expect-error no message
    void new TaskFailure({ code: "x" })
    // @ts-expect-error another type
    void new TaskFailure({ code: "x", message: "x", errorType: "user_error" })
    // @ts-expect-error details
    void new TaskFailure({ code: "x", message: "x", details: {} })
  }
  void never
})

test("combinators of a result are dual", () => {
  const result = TaskResult.text("a")
  expectTypeOf(TaskResult.withUsage(result, {})).toEqualTypeOf<TaskResult.TaskResult>()
  expectTypeOf(result.pipe(TaskResult.withSessionRef("s"))).toEqualTypeOf<TaskResult.TaskResult>()
  // @ts-expect-error no such count
  TaskResult.withUsage({ tokens: 1 })
})
