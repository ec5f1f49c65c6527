import { AgentClient, ExtensionClient } from "@effect-agentenv/client"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { AgentTest } from "@effect-agentenv/testing"
import { afterAll, describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Option, Redacted, Stream } from "effect"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Scribe, ScribeLive } from "../src/main.ts"

const Test = Layer.provide(AgentTest.layer(Scribe), ScribeLive)

const configured = (update: Readonly<Record<string, unknown>>) =>
  Effect.flatMap(ExtensionClient.make(AgentConfigV1), (config) => config.set({ api_token: "tok-secret", ...update }))

const send = (text: string) => Effect.flatMap(AgentClient.AgentClient, (agent) => agent.send(text))

const failure = (text: string) => Effect.map(send(text), (reply) => Option.getOrThrow(AgentClient.failure(reply)))

/** Gives the agent a server on a free port, for the program to ask. */
const asked = (respond: RequestListener) =>
  Effect.gen(function*() {
    const server = createServer(respond)
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
    )
    const { port } = server.address() as AddressInfo
    const mcp = yield* ExtensionClient.make(McpConfigV1)
    yield* mcp.add({
      url: `http://127.0.0.1:${port}/mcp`,
      name: "desk",
      headers: Redacted.make({ "x-key": "k-secret" })
    })
  })

/** The temporary directory of this process alone, so that nothing in it is anybody else's. */
const temporary = mkdtempSync(join(tmpdir(), "cli-agent-test-"))
process.env["TMPDIR"] = temporary
afterAll(() => rmSync(temporary, { recursive: true }))

const leftBehind = () => readdirSync(temporary)

describe.sequential("the scribe", () => {
  it.effect("hands its configuration to the program as arguments and environment", () =>
    Effect.gen(function*() {
      yield* configured({ style: "upper", environment: { SCRIBE_SIGNATURE: "Ada" } })
      expect(AgentClient.text(yield* send("Dear reader,\nhello."))).toBe("DEAR READER,\nHELLO.\n-- ADA")
      const config = yield* ExtensionClient.make(AgentConfigV1)
      expect(yield* config.get()).toEqual({ config: { style: "upper", api_token: "***", environment: "***" } })
    }).pipe(Effect.provide(Test)))

  it.effect("refuses variables that would change how the program is run", () =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(configured({ environment: { NODE_OPTIONS: "--require /tmp/evil.js" } }))
      expect(refused).toMatchObject({ _tag: "ExtensionCallError", status: 400 })
      expect(refused.message).not.toContain("evil")
    }).pipe(Effect.provide(Test)))

  it.effect("reports what the program says as progress", () =>
    Effect.gen(function*() {
      yield* configured({})
      const agent = yield* AgentClient.AgentClient
      const events = yield* Stream.runCollect(agent.stream("Dear reader"))
      const said = Array.from(events).flatMap((event) =>
        event._tag === "StatusUpdate" && event.status.message !== undefined ? [AgentClient.text(event)] : []
      )
      expect(said).toEqual(["Reading 2 words", "Dear reader"])
    }).pipe(Effect.provide(Test)))

  it.scoped("writes the MCP servers and their headers to the program's configuration file, which is gone afterwards", () =>
    Effect.gen(function*() {
      yield* configured({})
      yield* asked(({ headers, url }, response) => response.end(`${url} ${headers["x-key"]}`))
      expect(AgentClient.text(yield* send("It says:\nfetch desk"))).toBe("It says:\n/mcp k-secret")
      expect(leftBehind()).toEqual([])
    }).pipe(Effect.provide(Test)))

  it.scoped("ends the program and the processes that it started when its task is canceled", () =>
    Effect.gen(function*() {
      yield* configured({})
      const reached = yield* Deferred.make<void>()
      const left = yield* Deferred.make<void>()
      // it never answers, so only the end of the process that asks ends the question
      yield* asked((_, response) => {
        Deferred.unsafeDone(reached, Effect.void)
        response.on("close", () => Deferred.unsafeDone(left, Effect.void))
      })
      const agent = yield* AgentClient.AgentClient
      const begun = yield* agent.send("fetch desk", { blocking: false })
      if (begun._tag !== "Task") return expect.fail("the agent answers with a task")
      yield* Deferred.await(reached)
      expect((yield* agent.cancel(begun.task.id)).status.state).toBe("canceled")
      yield* Deferred.await(left)
      expect(leftBehind()).toEqual([])
    }).pipe(Effect.provide(Test)))

  it.effect("tells the program's exit codes apart as failures of its own", () =>
    Effect.gen(function*() {
      yield* configured({ api_token: "" })
      expect(yield* failure("Hi")).toMatchObject({ code: "scribe.no_token", type: "agent_error" })
      yield* configured({ max_words: 1 })
      expect(yield* failure("One two")).toMatchObject({ code: "scribe.too_long", type: "agent_error" })
      yield* configured({ style: "gothic" })
      expect(yield* failure("Hi")).toMatchObject({ code: "scribe.bad_arguments", type: "agent_error" })
      yield* configured({ style: "plain", max_words: 200 })
      // there is no server of that name
      const crashed = yield* failure("fetch nobody")
      expect(crashed).toMatchObject({ code: "scribe.crashed", type: "infra_error" })
      expect(JSON.stringify(crashed)).not.toContain("secret")
    }).pipe(Effect.provide(Test)))
})
