import { EnvironmentClient, ToolClient } from "@effect-agentenv/client"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { makeApp } from "../src/main.ts"

const listening = Effect.gen(function*() {
  const { app, dispose } = makeApp()
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  const server = yield* Effect.acquireRelease(
    Effect.async<Server>((resume) => {
      const server = app.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

const Pantry = Layer.unwrapScoped(
  Effect.map(listening, (baseUrl) => Layer.merge(EnvironmentClient.layer({ baseUrl }), ToolClient.layer({ baseUrl })))
).pipe(
  Layer.provide(NodeHttpClient.layer)
)

describe("the pantry", () => {
  it.effect("shows the tools of the author's MCP server on its card, and what the environment adds", () =>
    Effect.gen(function*() {
      const { card } = yield* EnvironmentClient.EnvironmentClient
      const { capabilities, name } = yield* card
      expect(name).toBe("pantry")
      expect(capabilities.tools?.map((tool) => tool.name)).toEqual(["pantry_look", "pantry_take"])
      expect(capabilities.operations).toEqual(["data/reset", "data/add", "data/get"])
      expect(capabilities.extensions?.map(({ uri }) => uri)).toEqual(["urn:pantry:spoil/v1"])
    }).pipe(Effect.provide(Pantry)))

  it.effect("seeds, plays and resets one pantry over both servers", () =>
    Effect.gen(function*() {
      const environment = yield* EnvironmentClient.EnvironmentClient
      const tools = yield* ToolClient.ToolClient
      yield* environment.add([{ kind: "data", data: { jam: 2, rice: 1 } }])
      expect((yield* tools.callTool("pantry_take", { item: "jam" })).text).toBe("Took one jam; 1 left.")
      expect((yield* tools.callTool("pantry_look", {})).text).toBe("1 jam, 1 rice")
      expect(yield* environment.get()).toMatchObject([{ kind: "data", data: { jam: 1, rice: 1 } }])
      yield* environment.reset()
      expect((yield* tools.callTool("pantry_look", {})).text).toBe("nothing")
      expect((yield* tools.callTool("pantry_take", { item: "jam" })).isError).toBe(true)
    }).pipe(Effect.provide(Pantry)))

  it.scoped("leaves the app's own routes alone, and serves the extension beside them", () =>
    Effect.gen(function*() {
      const url = yield* listening
      const send = (path: string, body?: object) =>
        Effect.promise(async () => {
          const response = await fetch(
            `${url}${path}`,
            body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
          )
          return [response.status, await response.text()] as const
        })
      expect(yield* send("/")).toEqual([200, "The pantry is open."])
      expect((yield* send("/cellar"))[0]).toBe(404)
      const [status, text] = yield* send("/agentenv/ext/pantry/spoil/spoil", { item: "jam" })
      expect([status, JSON.parse(text).error.code]).toEqual([404, "no_such_item"])
    }))
})
