import { Staging, type StagingError, StagingHttp } from "@effect-agentenv/agent"
import type { Route } from "@effect-agentenv/server"
import type { HttpLayerRouter } from "@effect/platform"
import { type ConfigError, Context, Effect, type Layer, Stream } from "effect"
import { expectTypeOf, test } from "vitest"

test("a write fails with what its content fails with, and needs what it needs", () => {
  class Source extends Context.Tag("Source")<Source, string>() {}
  const content = Stream.fromEffect(Effect.flatMap(Source, () => Effect.fail("broken" as const)))
  expectTypeOf(Effect.flatMap(Staging.Staging, (staging) => staging.put("a", content))).toEqualTypeOf<
    Effect.Effect<Staging.StagedObject, "broken" | StagingError.StagingError, Staging.Staging | Source>
  >()
  expectTypeOf(Staging.post("a", { contentType: undefined, content })).toEqualTypeOf<
    Effect.Effect<Staging.StagedObject, "broken" | StagingError.StagingError, Staging.Staging | Source>
  >()
  // @ts-expect-error: content is bytes
  void Effect.map(Staging.Staging, (staging) => staging.put("a", Stream.make("text")))
})

test("the routes need a store and a router, a store from the environment nothing", () => {
  expectTypeOf(StagingHttp.routes).toEqualTypeOf<
    Layer.Layer<never, Route.RouteCollision, Staging.Staging | HttpLayerRouter.HttpRouter>
  >()
  expectTypeOf(Staging.layerConfig).toEqualTypeOf<
    Layer.Layer<Staging.Staging, ConfigError.ConfigError | StagingError.StagingUnavailable>
  >()
})
