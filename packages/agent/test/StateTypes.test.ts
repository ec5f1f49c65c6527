// what must not compile is neither run nor used
// @effect-diagnostics floatingEffect:off
import * as SkillBundle from "@effect-agentenv/agent/SkillBundle"
import type * as Trajectories from "@effect-agentenv/agent/Trajectories"
import type { Extension } from "@effect-agentenv/protocol"
import { SkillConfigV1 } from "@effect-agentenv/protocol/extensions/SkillConfigV1"
import { TrajectoryV1 } from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import type { Transfers } from "@effect-agentenv/transfers"
import { Effect, type Layer, type Scope } from "effect"
import { expectTypeOf, test } from "vitest"

test("B-TRAJ-3: `live` is a boolean, `fallback` is \"a2a\", and nothing else is configured", () => {
  TrajectoryV1.configure({ live: true })
  TrajectoryV1.configure({ live: false, fallback: "a2a" })
  // @ts-expect-error: live is a boolean
  TrajectoryV1.configure({ live: "yes" })
  // @ts-expect-error: there is one fallback
  TrajectoryV1.configure({ fallback: "native" })
  // @ts-expect-error: there is no such option
  TrajectoryV1.configure({ lively: true })
})

test("B-TRAJ-14: context handlers alone are an implementation, and an agent that only lists the extension needs none", () => {
  const layer = TrajectoryV1.toLayer(Effect.succeed({
    get: {
      context: ({ context_id }) => Effect.succeed({ trajectory: context_id }),
      contextObjects: ({ objects }) => {
        expectTypeOf(objects.trajectory.media_type).toEqualTypeOf<string>()
        return Effect.succeed({ objects: { trajectory: { size_bytes: 1 } } })
      }
    }
  }))
  expectTypeOf(layer).toEqualTypeOf<Layer.Layer<Extension.Handlers<"urn:agentenv:trajectory/v1">>>()
  expectTypeOf<Extension.Required<typeof TrajectoryV1>>().toBeNever()
  TrajectoryV1.toLayer(
    // @ts-expect-error: an answer is a trajectory, what was uploaded, or a page
    Effect.succeed({ get: { context: () => Effect.succeed({ context: 1 }) } })
  )
  TrajectoryV1.toLayer(
    // @ts-expect-error: the whole operation is overridden, or none of it
    Effect.succeed({ get: { task: () => Effect.succeed({ trajectory: 1 }) } })
  )
})

test("a log takes events of any type and says how it refuses them", () => {
  expectTypeOf<ReturnType<Trajectories.Log["append"]>>().toEqualTypeOf<Effect.Effect<void, Trajectories.Refused>>()
})

test("the request of the bundle handler can be installed, in the scope of its call", () => {
  SkillConfigV1.toLayer(Effect.succeed({
    add: {
      inline: ({ name }) => Effect.succeed({ name }),
      bundle: (request) => {
        const installed = SkillBundle.install(request)
        expectTypeOf<Effect.Effect.Context<typeof installed>>().toEqualTypeOf<Transfers.Transfers | Scope.Scope>()
        return Effect.as(installed, { name: request.name })
      }
    }
  }))
})
