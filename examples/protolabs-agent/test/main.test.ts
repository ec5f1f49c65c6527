import { AgentClient } from "@effect-agentenv/client"
import { AgentCard, Auth, ExtensionUri, type WorldState } from "@effect-agentenv/protolabs"
import { HttpServer } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, type Console, Effect, Layer, Logger, LogLevel, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Client from "../src/client.ts"
import { orders, serve } from "../src/main.ts"

const key = Redacted.make("k-91")

const served = <A, E, R>(use: (url: string) => Effect.Effect<A, E, R>) =>
  HttpServer.addressFormattedWith(use).pipe(
    Effect.provide(serve({ port: 0, key })),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map())),
    Logger.withMinimumLogLevel(LogLevel.None)
  )

/** What a program prints. */
const printed = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const console = { ...(yield* Effect.console), log: (line: string) => Effect.sync(() => void lines.push(line)) }
    yield* Effect.withConsole(program, console as Console.Console)
    return lines
  })

const asked = <A, E>(program: Effect.Effect<A, E, AgentClient.AgentClient | WorldState.WorldState>) =>
  served((url) =>
    Effect.withConfigProvider(
      Effect.provide(program, Layer.merge(Client.Agent, Client.World)),
      ConfigProvider.fromMap(new Map([["AGENT_URL", url], ["AGENT_API_KEY", Redacted.value(key)]]))
    )
  )

describe("the harbor master", () => {
  it.effect("prints the bill as it grows, and a world that follows its deltas, until no berth is free", () =>
    Effect.gen(function*() {
      const lines = yield* asked(printed(orders))
      const starting = (start: string) => lines.filter((line) => line.startsWith(start)).map((line) => line.trim())
      expect(starting("  bill")).toEqual([
        "bill so far: 6 tokens written, $0.0002 spent",
        "bill so far: 11 tokens written, $0.0030 spent",
        "bill so far: 6 tokens written, $0.0002 spent",
        "bill so far: 11 tokens written, $0.0030 spent",
        "bill so far: 6 tokens written, $0.0002 spent"
      ])
      expect(starting("  world")).toEqual([
        "world: {\"dock\":{\"freeBerths\":1,\"ships\":[\"Aster\"]}}",
        "world: {\"dock\":{\"freeBerths\":0,\"ships\":[\"Aster\",\"Bree\"]}}"
      ])
      expect(starting("  tool").slice(-2)).toEqual(["tool: take_berth is started", "tool: take_berth is failed"])
      expect(starting("  answer")).toEqual([
        "answer: The Aster has berth 1. (confidence 0.98, the berth was free)",
        "answer: The Bree has berth 2. (confidence 0.98, the berth was free)",
        "answer: No berth is free for the Corvid. (confidence 1, all berths are taken)"
      ])
    }))

  it.effect("says on its open card what it speaks and what it asks for, and lets in nobody without it", () =>
    served((baseUrl) =>
      Effect.gen(function*() {
        const agent = yield* AgentClient.make({ baseUrl })
        const card = yield* agent.card
        expect(AgentCard.extensionUris(card)).toEqual(expect.arrayContaining([...ExtensionUri.all]))
        expect(card["security"]).toEqual([{ apiKey: [] }])
        expect(yield* Effect.flip(agent.send("Berth the Aster"))).toMatchObject({ _tag: "BadStatus", status: 401 })
        const { send } = yield* AgentClient.make({
          baseUrl,
          headers: Auth.redacted(Auth.apiKey(Redacted.make("guess")))
        })
        expect(yield* Effect.flip(send("Berth the Aster"))).toMatchObject({ _tag: "BadStatus", status: 401 })
      })
    ).pipe(Effect.provide(NodeHttpClient.layer)))

  it.effect("gives ships that come at once a berth each", () =>
    Effect.gen(function*() {
      const ships = ["Aster", "Bree", "Corvid", "Dunlin"]
      const texts = yield* asked(
        Effect.flatMap(AgentClient.AgentClient, (agent) =>
          Effect.forEach(ships, (ship) =>
            Effect.map(agent.send(`Berth the ${ship}`), AgentClient.text), {
            concurrency: "unbounded"
          }))
      )
      expect(
        texts.filter((text) =>
          text.includes("has berth")
        ).map((text) => text.slice(-2))
      ).toEqual(
        expect.arrayContaining(["1.", "2."])
      )
      expect(texts.filter((text) => text.startsWith("No berth"))).toHaveLength(2)
    }))
})

it("is the agent of the package's README, whose program is its client", () => {
  const read = (...path: ReadonlyArray<string>) => readFileSync(join(import.meta.dirname, ...path), "utf8")
  const [, program] = /```ts\n([\s\S]*?)```/.exec(read("../../../packages/protolabs/README.md")) ?? []
  // but for its header
  expect(program).toBe(read("../src/client.ts").replace(/^\/\*\*[\s\S]*?\*\/\n/, ""))
})
