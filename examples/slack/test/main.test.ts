import { EnvironmentClient, ExtensionClient, ToolClient } from "@effect-agentenv/client"
import { EnvironmentTest } from "@effect-agentenv/testing"
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SetErrors, Slack, SlackLive } from "../src/main.ts"

const Workspace = EnvironmentTest.layer(Slack).pipe(Layer.provide(SlackLive), Layer.merge(NodeContext.layer))

const seed = { channels: ["random"], messages: [{ channel: "general", author: "ada", text: "Hello!" }] }

const exported = Effect.gen(function*() {
  const environment = yield* EnvironmentClient.EnvironmentClient
  const parts = yield* environment.get()
  return parts[0]?.kind === "data" ? parts[0].data : undefined
})

describe("slack", () => {
  it.effect("is seeded from data, from inline bytes and from a file alike", () =>
    Effect.gen(function*() {
      const environment = yield* EnvironmentClient.EnvironmentClient
      const directory = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const path = (yield* Path.Path).join(directory, "workspace.json")
      const text = JSON.stringify(seed)
      yield* (yield* FileSystem.FileSystem).writeFileString(path, text)
      const url = yield* (yield* Path.Path).toFileUrl(path)

      const from = (part: Parameters<typeof environment.add>[0][number]) =>
        environment.reset().pipe(Effect.zipRight(environment.add([part])), Effect.zipRight(exported))

      const workspace = { channels: ["random", "general"], messages: seed.messages }
      const bytes = Buffer.from(text).toString("base64")
      expect(yield* from({ kind: "data", data: seed })).toEqual(workspace)
      expect(yield* from({ kind: "file", file: { bytes, mimeType: "application/json" } })).toEqual(workspace)
      expect(yield* from({ kind: "file", file: { uri: url.href, name: "workspace.json" } })).toEqual(workspace)
    }).pipe(Effect.scoped, Effect.provide(Workspace)))

  it.effect("refuses a seed of another shape, names the part and keeps what it has", () =>
    Effect.gen(function*() {
      const environment = yield* EnvironmentClient.EnvironmentClient
      yield* environment.add([{ kind: "data", data: seed }])
      const error = yield* Effect.flip(environment.add([
        { kind: "data", data: { channels: ["new"] } },
        { kind: "data", data: { channels: "all" } }
      ]))
      expect(error.message).toContain("parts[1]")
      expect(yield* exported).toMatchObject({ channels: ["random", "general"] })
    }).pipe(Effect.provide(Workspace)))

  it.effect("signs messages with the caller's role, and reads the newest ones", () =>
    Effect.gen(function*() {
      const tools = yield* ToolClient.ToolClient
      yield* tools.callTool("slack_create_channel", { name: "general" })
      yield* tools.callTool("slack_send_message", { channel: "general", text: "One" })
      yield* Effect.flatMap(
        ToolClient.ToolClient,
        (tools) => tools.callTool("slack_send_message", { channel: "general", text: "Two" })
      ).pipe(EnvironmentTest.asCaller({ role: "boss" }))
      const newest = yield* tools.callTool("slack_read_messages", { channel: "general", limit: 1 })
      expect(newest.structuredContent).toEqual({ result: [{ channel: "general", author: "boss", text: "Two" }] })
      expect(yield* exported).toMatchObject({ messages: [{ author: "agent" }, { author: "boss" }] })
    }).pipe(Effect.provide(Workspace)))

  it.effect("answers an unknown channel with the channels there are", () =>
    Effect.gen(function*() {
      const environment = yield* EnvironmentClient.EnvironmentClient
      yield* environment.add([{ kind: "data", data: seed }])
      const tools = yield* ToolClient.ToolClient
      const result = yield* tools.callTool("slack_send_message", { channel: "generl", text: "Hi" })
      expect(result.isError).toBe(true)
      expect(result.structuredContent).toMatchObject({ channel: "generl", channels: ["random", "general"] })
    }).pipe(Effect.provide(Workspace)))

  it.effect("makes every second call fail on purpose, until it is told otherwise", () =>
    Effect.gen(function*() {
      const { set_errors } = yield* ExtensionClient.make(SetErrors)
      const tools = yield* ToolClient.ToolClient
      const call = tools.callTool("slack_list_channels")
      expect(
        yield* set_errors({
          tool_name: "slack_list_channels",
          every_nth: 2,
          transient: true,
          error_type: "rate_limit"
        })
      ).toEqual({ tool_name: "slack_list_channels", active: true })
      expect((yield* call).isError).toBe(false)
      expect(ToolClient.failure(yield* call)).toMatchObject(
        Option.some({ code: "rate_limit", retryable: true, applied: "no" })
      )
      expect((yield* call).isError).toBe(false)
      yield* set_errors({ tool_name: "slack_list_channels", transient: true, error_type: "rate_limit" })
      const results = yield* Effect.all([call, call, call])
      expect(results.some(({ isError }) => isError)).toBe(false)
    }).pipe(Effect.provide(Workspace)))

  it.effect("fails the same calls for the same seed", () =>
    Effect.gen(function*() {
      const environment = yield* EnvironmentClient.EnvironmentClient
      const { set_errors } = yield* ExtensionClient.make(SetErrors)
      const tools = yield* ToolClient.ToolClient
      const episode = Effect.gen(function*() {
        yield* environment.reset({ seed: 5 })
        yield* set_errors({ tool_name: "slack_list_channels", error_rate: 0.5, transient: true, error_type: "flaky" })
        const results = yield* Effect.replicateEffect(tools.callTool("slack_list_channels"), 20)
        return results.map(({ isError }) => isError)
      })
      const first = yield* episode
      expect(new Set(first).size).toBe(2)
      expect(yield* episode).toEqual(first)
    }).pipe(Effect.provide(Workspace)))
})
