import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Cause, ConfigProvider, Effect, Exit, Fiber, Layer, Redacted, Stream, TestClock } from "effect"
import * as Model from "../src/Model.ts"
import * as ModelServer from "../src/ModelServer.ts"

const fromEnv = (env: Readonly<Record<string, string>>) =>
  Layer.provide(
    Model.layerConfig,
    Layer.merge(NodeHttpClient.layer, Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))))
  )

const Test = Layer.provideMerge(
  Layer.unwrapEffect(
    Effect.map(
      ModelServer.ModelServer,
      ({ baseUrl }) => fromEnv({ LITELLM_API_KEY: "sk-own", LITELLM_BASE_URL: baseUrl })
    )
  ),
  ModelServer.layer
)

const request: Model.Request = { model: "m", messages: [{ role: "user", content: "Hi" }] }

describe("the model client", () => {
  it.effect("B-EX-2: needs LITELLM_API_KEY and LITELLM_BASE_URL", () =>
    Effect.gen(function*() {
      const started = (env: Readonly<Record<string, string>>) => Effect.exit(Effect.scoped(Layer.build(fromEnv(env))))
      const incomplete: ReadonlyArray<[Readonly<Record<string, string>>, string]> = [
        [{ LITELLM_BASE_URL: "http://127.0.0.1:9" }, "LITELLM_API_KEY"],
        [{ LITELLM_BASE_URL: "http://127.0.0.1:9", LITELLM_API_KEY: "" }, "LITELLM_API_KEY"],
        [{ LITELLM_API_KEY: "sk-own" }, "LITELLM_BASE_URL"]
      ]
      for (const [env, missing] of incomplete) {
        const exit = yield* started(env)
        expect(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "").toContain(missing)
      }
      expect(Exit.isSuccess(yield* started({ LITELLM_API_KEY: "k", LITELLM_BASE_URL: "http://127.0.0.1:9" }))).toBe(
        true
      )
    }))

  it("B-EX-2: asks at /v1/chat/completions below a base URL that may say /v1 itself", () => {
    const bases = ["http://h", "http://h/", "http://h/v1", "http://h/v1/", "http://h/proxy", "http://h/proxy/v1"]
    expect(bases.map(Model.endpoint)).toEqual([
      "http://h/v1/chat/completions",
      "http://h/v1/chat/completions",
      "http://h/v1/chat/completions",
      "http://h/v1/chat/completions",
      "http://h/proxy/v1/chat/completions",
      "http://h/proxy/v1/chat/completions"
    ])
  })

  it.effect("B-EX-2: sends metadata only when there is some, and the request's key instead of its own", () =>
    Effect.gen(function*() {
      const model = yield* Model.Model
      const server = yield* ModelServer.ModelServer
      const answered = yield* model.complete(request)
      expect(answered).toEqual({
        text: "You said: Hi",
        toolCalls: [],
        usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 }
      })
      expect(yield* server.next).toEqual({
        path: "/v1/chat/completions",
        authorization: "Bearer sk-own",
        body: request
      })
      yield* model.complete({ ...request, metadata: {}, apiKey: Redacted.make("sk-callers") })
      expect(yield* server.next).toMatchObject({ authorization: "Bearer sk-callers", body: request })
      yield* model.complete({ ...request, metadata: { trial: 7 } })
      expect((yield* server.next).body).toEqual({ ...request, metadata: { trial: 7 } })
    }).pipe(Effect.provide(Test)))

  it.effect("B-EX-2: gives a model 120 seconds, to answer or to go on", () =>
    Effect.gen(function*() {
      const model = yield* Model.Model
      const server = yield* ModelServer.ModelServer
      const calls = [model.complete(request), Stream.runDrain(model.stream(request))]
      for (const call of calls) {
        yield* server.reply("silence")
        const fiber = yield* Effect.fork(Effect.flip(call))
        yield* server.next
        yield* TestClock.adjust("119 seconds")
        expect(fiber.unsafePoll()).toBe(null)
        yield* TestClock.adjust("1 seconds")
        expect((yield* Fiber.join(fiber)).reason).toBe("timeout")
      }
    }).pipe(Effect.provide(Test)))

  it.effect("streams an answer text by text, and tells one that was cut", () =>
    Effect.gen(function*() {
      const model = yield* Model.Model
      const server = yield* ModelServer.ModelServer
      const texts = yield* Stream.runCollect(model.stream(request))
      expect(Array.from(texts)).toEqual(["You ", "said: ", "Hi"])
      expect((yield* server.next).body.stream).toBe(true)
      yield* server.reply({ texts: ["half"], cut: true })
      expect((yield* Effect.flip(Stream.runDrain(model.stream(request)))).reason).toBe("unreadable")
    }).pipe(Effect.provide(Test)))

  it.effect("carries calls of tools both ways", () =>
    Effect.gen(function*() {
      const model = yield* Model.Model
      const server = yield* ModelServer.ModelServer
      const call: Model.ToolCall = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } }
      const tool = { name: "look", description: "Looks.", parameters: { type: "object" } }
      yield* server.reply({ toolCalls: [call] })
      expect((yield* model.complete({ ...request, tools: [tool] })).toolCalls).toEqual([call])
      expect((yield* server.next).body.tools).toEqual([{ type: "function", function: tool }])
    }).pipe(Effect.provide(Test)))

  it.effect("tells why a model did not answer, and nothing of the key", () =>
    Effect.gen(function*() {
      const model = yield* Model.Model
      const server = yield* ModelServer.ModelServer
      yield* server.reply(
        { status: 401, json: { error: { message: "bad key sk-own" } } },
        { status: 200, json: { choices: [] } },
        { status: 200, json: "nothing" }
      )
      const errors = yield* Effect.forEach([1, 2, 3], () => Effect.flip(model.complete(request)))
      expect(errors.map(({ reason }) => reason)).toEqual(["refused", "unreadable", "unreadable"])
      expect(errors.map(Model.toTaskFailure)).toMatchObject([
        {
          code: "model.refused",
          message: "The model's server refused the request with status 401.",
          errorType: "infra_error"
        },
        { code: "model.unreadable" },
        { code: "model.unreadable" }
      ])
      expect(JSON.stringify(errors)).not.toContain("sk-own")
    }).pipe(Effect.provide(Test)))

  it.effect("says that a server can't be reached", () =>
    Effect.gen(function*() {
      const model = yield* Model.Model
      expect((yield* Effect.flip(model.complete(request))).reason).toBe("unreachable")
    }).pipe(Effect.provide(fromEnv({ LITELLM_API_KEY: "k", LITELLM_BASE_URL: "http://127.0.0.1:9" }))))
})
