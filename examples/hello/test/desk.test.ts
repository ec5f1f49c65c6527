import { EnvironmentClient, ToolClient } from "@effect-agentenv/client"
import { EnvironmentTest } from "@effect-agentenv/testing"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { ParcelDesk, ParcelDeskLive } from "../src/desk.ts"

const Desk = EnvironmentTest.layer(ParcelDesk).pipe(Layer.provide(ParcelDeskLive))

describe("the parcel desk", () => {
  it.effect("refuses to hand a parcel to somebody else, and says whose it is not", () =>
    Effect.gen(function*() {
      const environment = yield* EnvironmentClient.EnvironmentClient
      yield* environment.add([{ kind: "data", data: { parcels: [{ id: "P-1", recipient: "Ada" }] } }])
      const tools = yield* ToolClient.ToolClient
      const refused = yield* tools.callTool("parcel_desk_hand_over", { parcel: "P-1", recipient: "Grace" })
      expect(refused.isError).toBe(true)
      expect(refused.structuredContent).toMatchObject({ parcel: "P-1", recipient: "Grace" })
    }).pipe(Effect.provide(Desk)))

  it.effect("tells an unknown parcel as an AgentEnvError with a hint", () =>
    Effect.gen(function*() {
      const tools = yield* ToolClient.ToolClient
      const result = yield* tools.callTool("parcel_desk_hand_over", { parcel: "P-9", recipient: "Ada" })
      expect(Option.getOrThrow(ToolClient.failure(result))).toEqual({
        code: "no_such_parcel",
        message: "No parcel P-9 is waiting.",
        retryable: false,
        applied: "no",
        hint: "Look for the recipient's parcels first."
      })
    }).pipe(Effect.provide(Desk)))
})
