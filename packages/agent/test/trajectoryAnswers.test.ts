import { ExtensionError } from "@effect-agentenv/agent/ExtensionError"
import * as ExtensionRegistry from "@effect-agentenv/agent/ExtensionRegistry"
import * as Trajectories from "@effect-agentenv/agent/Trajectories"
import { TrajectoryV1 } from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import * as Transfers from "@effect-agentenv/transfers/Transfers"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, Schema } from "effect"
import * as trajectoryDefaults from "../src/internal/trajectoryDefaults.ts"

const transfers = Layer.mock(Transfers.Transfers, {})

/** The text that a server answers a request for a trajectory with. */
const answer = (sent: Readonly<Record<string, unknown>>) =>
  Effect.gen(function*() {
    const extension = TrajectoryV1.configure({ live: true })
    const registry = yield* ExtensionRegistry.make({
      agent: "Kestrel Desk",
      extensions: [extension],
      implementations: {},
      defaults: {
        [extension.uri]: yield* trajectoryDefaults.make({ live: true }, () => Effect.sync(() => undefined))
      },
      reserved: []
    })
    const [route] = registry.routes
    return route === undefined ? yield* Effect.dieMessage("no route") : yield* route.call(sent)
  })

const encoded = Schema.encodeUnknown(TrajectoryV1.operations.get.response, { onExcessProperty: "error" })

const begin = (taskId: string) =>
  Effect.flatMap(
    Trajectories.Trajectories,
    (trajectories) => Effect.zipRight(trajectories.submitted(taskId, "ctx"), trajectories.started(taskId))
  )

describe("answers with trajectories", () => {
  it.effect.prop(
    "B-TRAJ-9: a page is answered as its schema writes it, whatever its events hold",
    [
      FastCheck.array(FastCheck.dictionary(FastCheck.string({ unit: "binary" }), FastCheck.jsonValue())),
      FastCheck.nat(3),
      FastCheck.string({ minLength: 1 }).filter((text) => text.trim() !== "")
    ],
    ([events, after, format]) =>
      Effect.gen(function*() {
        const log = yield* begin("task")
        yield* log.format(format)
        yield* log.append(...events)
        const trajectories = yield* Trajectories.Trajectories
        const from = Math.min(after, events.length)
        const page = yield* trajectories.taskPage("task", from, 2)
        const text = yield* answer({ task_id: "task", after: from, limit: 2 })
        expect(text).toBe(JSON.stringify(yield* encoded(page)))
        expect(yield* answer({ context_id: "ctx", after: from, limit: 2 })).toBe(text)
        expect(yield* answer({ context_id: "ctx" })).toBe(`{"trajectory":${yield* trajectories.context("ctx")}}`)
      }).pipe(Effect.provide([Trajectories.layer(), transfers]))
  )

  it.effect("B-TRAJ-9: a page of other services is written too, and one that was changed as it is now", () =>
    Effect.gen(function*() {
      const log = yield* begin("task")
      yield* log.format("kiln-events/1")
      yield* log.append({ secret: "kiln" })
      const kept = yield* Trajectories.Trajectories
      const masking: Trajectories.Service = {
        ...kept,
        taskPage: (taskId, after, limit) =>
          Effect.map(kept.taskPage(taskId, after, limit), (page) => ({
            ...page,
            events: page.events.map(() => ({ secret: "***" }))
          })),
        contextPage: () => Effect.fail(new ExtensionError({ status: 404, message: "not here" }))
      }
      const call = (sent: Readonly<Record<string, unknown>>) =>
        Effect.provideService(answer(sent), Trajectories.Trajectories, masking)
      expect(JSON.parse(yield* call({ task_id: "task", after: 0 }))).toMatchObject({
        events: [{ secret: "***" }],
        next: 1
      })
      expect(yield* Effect.flip(call({ context_id: "ctx", after: 0 }))).toMatchObject({ status: 404 })
    }).pipe(Effect.provide([Trajectories.layer(), transfers])))
})
