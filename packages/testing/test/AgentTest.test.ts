import { Agent, AgentConfig, type AgentServer, Task, TaskFailure, TaskResult } from "@effect-agentenv/agent"
import * as AgentClient from "@effect-agentenv/client/AgentClient"
import * as ExtensionClient from "@effect-agentenv/client/ExtensionClient"
import { AgentConfigV1, Extension, McpConfigV1, Operation, SkillConfigV1 } from "@effect-agentenv/protocol"
import * as AgentTest from "@effect-agentenv/testing/AgentTest"
import { HttpClientRequest } from "@effect/platform"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import {
  Chunk,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Option,
  Redacted,
  Ref,
  Schema,
  Stream,
  TestClock
} from "effect"

class PotterConfig extends AgentConfig.extend<PotterConfig>("PotterConfig")({
  glaze: AgentConfig.field(Schema.String, { default: () => "ash" }),
  token: AgentConfig.writeOnly(Schema.NullOr(Schema.String), { default: () => null })
}) {}

const Kiln = Extension.make("urn:pots:kiln/v1", {
  operations: {
    heat: Operation.post({ request: Schema.Struct({ to: Schema.Int }), response: Schema.Struct({ was: Schema.Int }) }),
    crack: Operation.post({ path: "/ext/pots/kiln/crack" })
  }
})

const Potter = Agent.make("potter", {
  description: "Makes pots.",
  version: "1.0.0",
  streaming: true,
  skills: [{ name: "throw", description: "Throws a pot." }],
  config: PotterConfig,
  extensions: [SkillConfigV1, McpConfigV1, Kiln]
})

/** What a test waits for: that a pot is being fired, and how a run that was not finished ended. */
class Fire extends Context.Tag("Fire")<Fire, {
  readonly lit: Deferred.Deferred<void>
  readonly out: Deferred.Deferred<Exit.Exit<unknown, unknown>>
}>() {
  static readonly layer = Layer.effect(Fire, Effect.all({ lit: Deferred.make<void>(), out: Deferred.make<any>() }))
}

const PotterLive = Potter.toLayer(
  Effect.map(Fire, ({ lit, out }) =>
    Potter.of(({ config, history, mcpServers, parts, skills }) => {
      const [command] = parts.flatMap((part) => part.kind === "text" ? [part.text] : [])
      switch (command) {
        case "fire":
          return Effect.gen(function*() {
            yield* Task.progress("lighting the kiln")
            yield* Deferred.succeed(lit, undefined)
            yield* Effect.sleep("1 minute")
            yield* Task.artifact("a bowl", { id: "bowl", name: "bowl" })
            return TaskResult.text(`fired with ${config.glaze}`).pipe(
              TaskResult.withUsage({ toolCallCount: 1 }),
              TaskResult.withStructuredOutput({ pots: 1 })
            )
          }).pipe(Effect.onExit((exit) => Deferred.succeed(out, exit)))
        case "drop":
          return new TaskFailure.TaskFailure({ code: "pot.broken", message: "It broke." })
        case "ask":
          return Effect.succeed(TaskResult.inputRequired("Which glaze?"))
        case "show":
          return Effect.succeed(TaskResult.data({
            glaze: config.glaze,
            token: Redacted.value(config.token) === null ? null : "set",
            skills: skills.map(({ name, skillMd }) => [name, skillMd]),
            servers: Object.keys(mcpServers)
          }))
        default:
          return Effect.succeed(TaskResult.text(`${command} after ${history.length}`))
      }
    }))
)

const heat = Kiln.toLayer(Effect.map(Ref.make(20), (degrees) => ({
  heat: ({ to }) => Effect.map(Ref.getAndSet(degrees, to), (was) => ({ was })),
  crack: () => Effect.die("the kiln cracked")
})))

const shelf = SkillConfigV1.toLayer(Effect.succeed({
  add: { inline: ({ name }) => Effect.succeed({ name }), bundle: ({ name }) => Effect.succeed({ name }) }
}))

const served = (options?: AgentTest.Options) =>
  AgentTest.layer(Potter, options).pipe(
    Layer.provide(Layer.mergeAll(PotterLive, heat, shelf)),
    Layer.provideMerge(Fire.layer)
  )

const Served = served()

const client = AgentClient.AgentClient

const taskOf = (reply: Effect.Effect.Success<ReturnType<AgentClient.Service["send"]>>) =>
  reply._tag === "Task" ? reply.task : expect.fail("the agent answered without a task")

const lit = Effect.flatMap(Fire, ({ lit }) => Deferred.await(lit))

const shown = Effect.flatMap(client, (agent) => agent.send("show")).pipe(
  Effect.map((reply) => taskOf(reply).status.message?.parts[0]),
  Effect.map((part) => part?.kind === "data" ? part.data : undefined)
)

for (const wire of ["1.0", "0.3"] as const) {
  describe(`AgentTest, over the ${wire} wire`, () => {
    const Served = served({ wire })

    it.effect("reaches the card, health and runs of the implementation without a port", () =>
      Effect.gen(function*() {
        const agent = yield* client
        expect(yield* agent.card).toMatchObject({ name: "potter", url: "http://localhost/a2a" })
        yield* agent.health
        const reply = yield* agent.send("hello", { contextId: "c1" })
        expect(AgentClient.text(reply)).toBe("hello after 0")
        expect(taskOf(reply)).toMatchObject({ contextId: "c1", status: { state: "completed" } })
        expect((yield* agent.get(taskOf(reply).id)).status.state).toBe("completed")
      }).pipe(Effect.provide(Served)))

    it.effect("streams what a run says, under the test's clock", () =>
      Effect.gen(function*() {
        const agent = yield* client
        const reading = yield* Effect.fork(Stream.runCollect(agent.stream("fire")))
        yield* lit
        yield* TestClock.adjust("1 minute")
        const events = Chunk.toReadonlyArray(yield* Fiber.join(reading))
        expect(events.map((event) => event._tag === "StatusUpdate" ? event.status.state : event._tag)).toEqual([
          "Task",
          "working",
          "working",
          "ArtifactUpdate",
          "completed"
        ])
        expect(AgentClient.text(events[2]!)).toBe("lighting the kiln")
        expect(AgentClient.text(events[3]!)).toBe("a bowl")
        const last = events[4]!
        expect(AgentClient.text(last)).toBe("fired with ash")
        expect(AgentClient.usage(last)).toEqual(Option.some({ toolCallCount: 1 }))
        expect(AgentClient.structuredOutput(last)).toEqual(Option.some({ pots: 1 }))
      }).pipe(Effect.provide(Served)))

    it.effect("goes on with a stream where it was left, while the task goes on by itself", () =>
      Effect.gen(function*() {
        const agent = yield* client
        const first = yield* Stream.runHead(agent.stream("fire"))
        const taskId = first.pipe(
          Option.map((event) => event._tag === "Task" ? event.task.id : ""),
          Option.getOrThrow
        )
        yield* lit
        const whole = yield* Effect.fork(Stream.runCollect(agent.resubscribe(taskId)))
        const rest = yield* Effect.fork(Stream.runCollect(agent.resubscribe(taskId, { lastEventId: "1" })))
        yield* agent.get(taskId)
        yield* TestClock.adjust("1 minute")
        const tags = Effect.map(Fiber.join(whole), (events) => Chunk.toReadonlyArray(events).map(({ _tag }) => _tag))
        expect(yield* tags).toEqual(["Task", "ArtifactUpdate", "StatusUpdate"])
        expect(Chunk.toReadonlyArray(yield* Fiber.join(rest)).map(({ _tag }) => _tag)).toEqual([
          "StatusUpdate",
          "StatusUpdate",
          "ArtifactUpdate",
          "StatusUpdate"
        ])
      }).pipe(Effect.provide(Served)))

    it.effect("cancels a run, which is interrupted, once", () =>
      Effect.gen(function*() {
        const agent = yield* client
        const task = taskOf(yield* agent.send("fire", { blocking: false }))
        expect(task.status.state).toBe("submitted")
        yield* lit
        expect((yield* agent.cancel(task.id)).status.state).toBe("canceled")
        const { out } = yield* Fire
        expect(Exit.isInterrupted(yield* Deferred.await(out))).toBe(true)
        expect(AgentClient.failure(yield* agent.wait(task.id))).toMatchObject(Option.some({ state: "canceled" }))
        expect((yield* Effect.flip(agent.cancel(task.id)))._tag).toBe("TaskNotCancelable")
        expect(yield* Effect.flip(agent.get("none"))).toMatchObject({ _tag: "TaskNotFound", taskId: "none" })
      }).pipe(Effect.provide(Served)))

    it.effect("P-PR-2, P-PR-3: prompts as the platform does, for as long as the test's clock goes on", () =>
      Effect.gen(function*() {
        const agent = yield* client
        const prompting = yield* Effect.fork(agent.prompt("fire"))
        yield* lit
        // a poll is on its way while the clock goes on
        while (Option.isNone(yield* Fiber.poll(prompting))) yield* TestClock.adjust("2 seconds")
        expect(AgentClient.text(yield* Fiber.join(prompting))).toBe("fired with ash")
      }).pipe(Effect.provide(Served)))

    it.effect("tells failures and goes on with a task that asked", () =>
      Effect.gen(function*() {
        const agent = yield* client
        expect(AgentClient.failure(yield* agent.send("drop"))).toMatchObject(
          Option.some({ state: "failed", code: "pot.broken", message: "It broke." })
        )
        const asked = taskOf(yield* agent.send("ask"))
        expect(asked.status.state).toBe("input-required")
        const reply = yield* agent.send("celadon", { taskId: asked.id, contextId: asked.contextId })
        expect(AgentClient.text(reply)).toBe("celadon after 2")
        expect(yield* Effect.flip(agent.send("more", { taskId: "none" }))).toMatchObject({ _tag: "TaskNotFound" })
      }).pipe(Effect.provide(Served)))
  })
}

describe("AgentTest", () => {
  it.effect("lists tasks on the wire that the card prefers, which is 1.0", () =>
    Effect.gen(function*() {
      const agent = yield* client
      yield* agent.send("a")
      yield* agent.send("b")
      expect((yield* agent.list({ pageSize: 1 })).tasks).toHaveLength(1)
    }).pipe(Effect.provide(Served)))

  it.effect("sets the configuration, skills and servers that runs see", () =>
    Effect.gen(function*() {
      const config = yield* ExtensionClient.make(AgentConfigV1)
      const skills = yield* ExtensionClient.make(SkillConfigV1)
      const servers = yield* ExtensionClient.make(McpConfigV1)
      expect(yield* shown).toEqual({ glaze: "ash", token: null, skills: [], servers: [] })
      yield* config.set({ glaze: "celadon", token: "a-secret" })
      expect(yield* config.get()).toMatchObject({ config: { glaze: "celadon" } })
      yield* skills.add({ name: "carve", description: "Carves.", skill_md: "# Carve" })
      expect(Object.keys((yield* skills.list()).skills)).toEqual(["throw", "carve"])
      yield* servers.add({
        url: "http://tools/mcp",
        name: "tools",
        headers: Redacted.make({ authorization: "Bearer a-secret" })
      })
      expect(yield* shown).toEqual({
        glaze: "celadon",
        token: "set",
        skills: [["carve", "# Carve"]],
        servers: ["tools"]
      })
      const agent = yield* client
      const listed = (yield* agent.reload).skills.map(({ id }) => id)
      expect(listed).toEqual(["throw", "skill-carve"])
    }).pipe(Effect.provide(Served)))

  it.effect("calls extensions of the agent's own, whose failures are typed", () =>
    Effect.gen(function*() {
      const kiln = yield* ExtensionClient.make(Kiln)
      expect(yield* kiln.heat({ to: 900 })).toEqual({ was: 20 })
      expect(yield* kiln.heat({ to: 20 })).toEqual({ was: 900 })
      const cracked = yield* Effect.flip(kiln.crack())
      expect(cracked).toMatchObject({ _tag: "ExtensionCallError", status: 500 })
      expect(cracked._tag === "ExtensionCallError" && Option.isSome(cracked.correlationId)).toBe(true)
      const config = yield* ExtensionClient.make(AgentConfigV1)
      expect(yield* Effect.flip(config.set({ shade: "a-secret" }))).toMatchObject({
        _tag: "NotAccepted",
        fields: ["shade"]
      })
      const wrong = yield* Effect.flip(config.set({ glaze: 7 }))
      expect(wrong).toMatchObject({ _tag: "ExtensionCallError", status: 400 })
      expect(wrong._tag === "ExtensionCallError" && wrong.detail).toContain("glaze")
    }).pipe(Effect.provide(Served)))

  it.effect("has the wire itself for what clients hide", () =>
    Effect.gen(function*() {
      const wire = yield* AgentTest.Wire
      const answer = yield* wire.execute(
        HttpClientRequest.post("/a2a").pipe(HttpClientRequest.bodyText("{", "application/json"))
      )
      expect(yield* answer.json).toMatchObject({ error: { code: -32700 } })
    }).pipe(Effect.provide(Served)))

  it.effect("reaches the agent wherever its definition or its options say that it is", () =>
    Effect.gen(function*() {
      const Elsewhere = Agent.make("elsewhere", {
        description: "Is elsewhere.",
        version: "1.0.0",
        url: "https://agents.example/x/rpc"
      })
      const text = Effect.gen(function*() {
        const agent = yield* client
        return [(yield* agent.card).url, AgentClient.text(yield* agent.send("hi"))]
      })
      const ElsewhereLive = Elsewhere.toLayer(() => Effect.succeed(TaskResult.text("here")))
      const there = AgentTest.layer(Elsewhere).pipe(Layer.provide(ElsewhereLive))
      expect(yield* Effect.provide(text, there)).toEqual(["https://agents.example/x/rpc", "here"])
      expect(yield* Effect.provide(text, served({ publicUrl: "https://pots.example/p" }))).toEqual([
        "https://pots.example/p/a2a",
        "hi after 0"
      ])
    }))

  it.effect("gives each place that provides it an agent of its own", () =>
    Effect.gen(function*() {
      const set = Effect.flatMap(ExtensionClient.make(AgentConfigV1), (config) => config.set({ glaze: "celadon" }))
      yield* Effect.provide(set, Served)
      expect(yield* Effect.provide(shown, Served)).toMatchObject({ glaze: "ash" })
    }))

  it.effect("ends what runs when the test is over", () =>
    Effect.gen(function*() {
      const { out } = yield* Effect.gen(function*() {
        yield* Effect.flatMap(client, (agent) => agent.send("fire", { blocking: false }))
        yield* lit
        return yield* Fire
      }).pipe(Effect.provide(Served))
      expect(Exit.isInterrupted(yield* Deferred.await(out))).toBe(true)
    }))

  it("requires the implementation of the agent and of its own extensions", () => {
    const layer = AgentTest.layer(Potter)
    expectTypeOf<Layer.Layer.Context<typeof layer>>().toEqualTypeOf<AgentServer.Requires<typeof Potter>>()
    expectTypeOf<Layer.Layer.Success<typeof layer>>().toEqualTypeOf<AgentTest.Clients | AgentTest.Wire>()
    expectTypeOf<Layer.Layer.Error<typeof layer>>().toEqualTypeOf<AgentServer.StartError>()
  })
})
