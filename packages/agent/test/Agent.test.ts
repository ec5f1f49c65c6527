import * as Agent from "@effect-agentenv/agent/Agent"
import * as AgentConfig from "@effect-agentenv/agent/AgentConfig"
import type { TaskRequest } from "@effect-agentenv/agent/TaskRequest"
import * as TaskResult from "@effect-agentenv/agent/TaskResult"
import { Extension } from "@effect-agentenv/protocol"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Ref, Schema, Scope } from "effect"

class Kiln extends Context.Tag("test/Kiln")<Kiln, { readonly heat: number }>() {}

const base = { description: "Fires pots.", version: "1.0.0" }
const Potter = Agent.make("potter", base)

// what a run has from its server, no run here uses
const perRun = Context.empty() as Context.Context<Agent.PerRun>

const runOf = (service: Agent.HandlersService) => Effect.provide(service.run({} as TaskRequest<never>), perRun)

it("an agent that says little has the defaults (B-CARD-2, B-CARD-11)", () => {
  expect(Potter).toMatchObject({
    name: "potter",
    description: "Fires pots.",
    version: "1.0.0",
    url: "/a2a",
    inputModes: ["text"],
    outputModes: ["text"],
    streaming: false,
    skills: [],
    config: AgentConfig.AgentConfig,
    configured: false,
    configReadback: true,
    extensions: []
  })
})

it("an agent is what its author said", () => {
  class PotterConfig extends AgentConfig.extend<PotterConfig>("PotterConfig")({
    model: AgentConfig.field(Schema.String, { default: () => "kestrel-1" })
  }) {}
  const Glaze = Extension.make("urn:pots:glaze/v1", {})
  const options = {
    ...base,
    url: "https://pots.example/custom/a2a",
    inputModes: ["text", "image/png"],
    outputModes: ["text", "application/json"],
    streaming: true,
    skills: [{ name: "fire", description: "Fires.", tags: ["pots"] }],
    provider: { organization: "Pots", url: "https://pots.example" },
    documentationUrl: "https://pots.example/docs",
    iconUrl: "https://pots.example/icon",
    config: PotterConfig,
    configDescription: "Sets the kiln.",
    configReadback: false,
    extensions: [Glaze]
  } as const
  expect(Agent.make("potter", options)).toMatchObject({ ...options, configured: true })
})

it.scoped("a run has the services that were there when its layer was built", () =>
  Effect.gen(function*() {
    const layer = Potter.toLayer(() => Effect.map(Kiln, ({ heat }) => TaskResult.data(heat)))
    const context = yield* Layer.build(Layer.provide(layer, Layer.succeed(Kiln, { heat: 900 })))
    const result = yield* runOf(Context.get(context, Potter.handlers))
    expect(result).toMatchObject({ parts: [{ data: 900 }] })
  }))

it.effect("an effect builds run once, in the scope of its layer", () =>
  Effect.gen(function*() {
    const closed = yield* Ref.make(false)
    const layer = Potter.toLayer(Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      yield* Effect.addFinalizer(() => Ref.set(closed, true))
      return () => Effect.map(Ref.updateAndGet(runs, (n) => n + 1), TaskResult.data)
    }))
    const scope = yield* Scope.make()
    const service = Context.get(yield* Layer.buildWithScope(layer, scope), Potter.handlers)
    yield* runOf(service)
    expect(yield* runOf(service)).toMatchObject({ parts: [{ data: 2 }] })
    expect(yield* Ref.get(closed)).toBe(false)
    yield* Scope.close(scope, Exit.void)
    expect(yield* Ref.get(closed)).toBe(true)
  }))

it.scoped("each place that provides an implementation gets a state of its own", () =>
  Effect.gen(function*() {
    const live = Potter.toLayer(
      Effect.map(Ref.make(0), (runs) => () => Effect.map(Ref.updateAndGet(runs, (n) => n + 1), TaskResult.data))
    )
    class Second extends Context.Tag("test/Second")<Second, Agent.HandlersService>() {}
    const first = Layer.effect(Kiln, Effect.map(Effect.flatMap(Potter.handlers, runOf), () => ({ heat: 1 })))
    const second = Layer.effect(Second, Potter.handlers)
    const context = yield* Layer.build(Layer.merge(Layer.provide(first, live), Layer.provide(second, live)))
    expect(yield* runOf(Context.get(context, Second))).toMatchObject({ parts: [{ data: 1 }] })
  }))

it.scoped("a run that throws before it is an effect dies as one that dies", () =>
  Effect.gen(function*() {
    const context = yield* Layer.build(Potter.toLayer(() => {
      if (Potter.name === "potter") throw new RangeError("cold")
      return Effect.succeed(TaskResult.text("done"))
    }))
    const exit = yield* Effect.exit(runOf(Context.get(context, Potter.handlers)))
    expect(exit).toEqual(Exit.die(new RangeError("cold")))
  }))
