import { EnvironmentClient, ToolClient } from "@effect-agentenv/client"
import { EnvironmentTest } from "@effect-agentenv/testing"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Museum, MuseumLive, night } from "../src/main.ts"

const Night = EnvironmentTest.layer(Museum).pipe(Layer.provide(MuseumLive))

const roles = Effect.map(ToolClient.ToolClient, (tools) => ({
  guest: tools.as({ role: "guest" }),
  keeper: tools.as({ role: "keeper" })
}))

const quiet = () => Effect.void

const evening = [["museum_look_at"], ["museum_look_at", "museum_open_case"]]

describe("the museum", () => {
  it.effect("shows each role its own tools, and the hidden one to keepers once it is midnight", () =>
    Effect.gen(function*() {
      const { after, alarm, before, refused } = yield* night(quiet, yield* roles)
      expect(before).toEqual(evening)
      expect(Option.getOrThrow(ToolClient.failure(refused))).toMatchObject({ code: "permission_denied", applied: "no" })
      expect(after).toEqual([["museum_look_at"], ["museum_look_at", "museum_open_case", "museum_raise_alarm"]])
      expect(alarm.text).toBe("The keeper raises the alarm: the diamond is gone!")
    }).pipe(Effect.provide(Night)))

  it.effect("is as it was once it is reset", () =>
    Effect.gen(function*() {
      yield* night(quiet, yield* roles)
      const environment = yield* EnvironmentClient.EnvironmentClient
      yield* environment.reset()
      const { before } = yield* night(quiet, yield* roles)
      expect(before).toEqual(evening)
    }).pipe(Effect.provide(Night)))
})
