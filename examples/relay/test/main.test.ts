import { ToolClient } from "@effect-agentenv/client"
import { EnvironmentTest } from "@effect-agentenv/testing"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, TestClock } from "effect"
import { Courier, CourierLive, Depot, DepotLive, orders } from "../src/main.ts"

const AtTheDepot = EnvironmentTest.layer(Depot).pipe(Layer.provide(DepotLive))

const AtTheCourier = EnvironmentTest.layer(Courier).pipe(Layer.provide(CourierLive), Layer.provide(AtTheDepot))

describe("the courier", () => {
  it.effect("fetches a parcel from the depot, waiting for its dock, and says when there is none", () =>
    Effect.gen(function*() {
      const ordering = yield* Effect.fork(orders)
      yield* TestClock.adjust("1 minute")
      const [first, second] = yield* Fiber.join(ordering)
      expect([first.isError, first.text]).toEqual([
        false,
        "the lamp is off its shelf, leaves by gate 1 and is with Ada"
      ])
      expect(Option.getOrThrow(ToolClient.failure(second))).toMatchObject({
        code: "not_delivered",
        message: "no_such_parcel: there is no lamp",
        applied: "no"
      })
    }).pipe(Effect.provide(AtTheCourier)))
})
