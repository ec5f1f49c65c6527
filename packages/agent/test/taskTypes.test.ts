import * as TaskEngine from "@effect-agentenv/agent/TaskEngine"
import * as TaskStore from "@effect-agentenv/agent/TaskStore"
import type { A2a } from "@effect-agentenv/protocol"
import { Context, Effect, type Layer, type Schema, type Scope } from "effect"
import { expectTypeOf, test } from "vitest"

class Model extends Context.Tag("Model")<Model, string>() {}

const runner = Effect.zipRight(
  Effect.zipRight(Model, Effect.addFinalizer(() => Effect.void)),
  Effect.fail("no model" as const) as Effect.Effect<TaskEngine.Runner<string, number>, "no model">
)

test("an engine needs a store and what its runner needs, and fails with what that fails with", () => {
  expectTypeOf(TaskEngine.layer(runner)).toEqualTypeOf<
    Layer.Layer<TaskEngine.TaskEngine, "no model" | TaskStore.TaskStoreError, TaskStore.TaskStore | Model>
  >()
  expectTypeOf(TaskEngine.make({} as TaskEngine.Runner<string, number>)).toEqualTypeOf<
    Effect.Effect<TaskEngine.TaskEngine["Type"], TaskStore.TaskStoreError, TaskStore.TaskStore | Scope.Scope>
  >()
  expectTypeOf(TaskStore.layerMemory({ maxAge: "1 hour" })).toEqualTypeOf<Layer.Layer<TaskStore.TaskStore>>()
})

test("a run settles what it exits with", () => {
  const run = () => Effect.succeed(1)
  // @ts-expect-error: the run's result is no string
  const wrong: TaskEngine.Runner<string, never> = { run, settle: () => Effect.never }
  void wrong
})

test("a send fails with what a message can be refused for, a read with less", () => {
  const engine = {} as TaskEngine.TaskEngine["Type"]
  expectTypeOf<Effect.Effect.Error<ReturnType<typeof engine.stream>>>().toEqualTypeOf<TaskEngine.SendError>()
  expectTypeOf<Effect.Effect.Error<ReturnType<typeof engine.get>>>().toEqualTypeOf<
    TaskEngine.TaskNotFound | TaskStore.TaskStoreError
  >()
  expectTypeOf(TaskStore.Entry).toEqualTypeOf<Schema.Schema<TaskStore.Entry>>()
  expectTypeOf<TaskEngine.Subscription["snapshot"]>().toEqualTypeOf<A2a.Task>()
})
