import { AgentClient, EnvironmentClient } from "@effect-agentenv/client"
import { Command, type CommandExecutor } from "@effect/platform"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"

const main = decodeURIComponent(new URL("../src/main.ts", import.meta.url).pathname)

/** The program as `npm start` runs it. */
const start = (...args: ReadonlyArray<string>) =>
  Command.start(
    Command.make(process.execPath, "--conditions=@effect-agentenv/source", "--import", "tsx", main, ...args)
  )

const linesOf = (running: CommandExecutor.Process) => running.stdout.pipe(Stream.decodeText(), Stream.splitLines)

const ended = (...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const running = yield* start(...args)
    const lines = yield* Stream.runCollect(linesOf(running))
    return { text: Array.from(lines).join("\n"), code: yield* running.exitCode }
  })

describe("npm start", () => {
  it.scoped("plays the episode over HTTP, shows environment, agent, tool calls and score, and ends with 0", () =>
    Effect.gen(function*() {
      const { code, text } = yield* ended()
      expect(text).toMatch(
        /^environment {2}parcel_desk on http:\/\/127\.0\.0\.1:\d+\nagent {8}clerk on http:\/\/127\.0\.0\.1:\d+\n/
      )
      expect(text).toContain("ok   parcel_desk_hand_over {\"parcel\":\"P-3\",\"recipient\":\"Ada\"}")
      expect(text).toContain("Ada's parcels (seed 7): score 0.875")
      expect(code).toBe(0)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("explains itself, and refuses what it doesn't know", () =>
    Effect.gen(function*() {
      const help = yield* ended("--help")
      expect(help.text).toContain("--serve")
      expect(help.code).toBe(0)
      expect((yield* ended("--server")).code).toBe(2)
      expect((yield* ended("--serve", "--port", "65536")).code).toBe(2)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("--serve keeps both up, acquainted with each other, until Ctrl-C", () =>
    Effect.gen(function*() {
      const running = yield* start("--serve", "--port", "0", "--agent-port", "0")
      const up = yield* linesOf(running).pipe(
        Stream.takeUntil((line) => line === "until Ctrl-C"),
        Stream.runCollect,
        Effect.map((all) => Array.from(all).join("\n"))
      )
      const url = (name: string) => new RegExp(`${name} on (\\S+)`).exec(up)?.[1] ?? ""
      const clients = Layer.merge(
        AgentClient.layer({ baseUrl: url("clerk") }),
        EnvironmentClient.layer({ baseUrl: url("parcel_desk") })
      ).pipe(Layer.provide(NodeHttpClient.layer))
      yield* Effect.gen(function*() {
        const environment = yield* EnvironmentClient.EnvironmentClient
        const agent = yield* AgentClient.AgentClient
        yield* environment.add([{ kind: "data", data: { parcels: [{ id: "P-1", recipient: "Ada" }] } }])
        expect(AgentClient.text(yield* agent.send("Ada is at the desk."))).toBe("Ada has P-1.")
      }).pipe(Effect.provide(clients))
      yield* running.kill("SIGINT")
      expect(yield* Effect.option(running.exitCode)).toEqual(Option.some(0))
    }).pipe(Effect.provide(NodeContext.layer)))
})
