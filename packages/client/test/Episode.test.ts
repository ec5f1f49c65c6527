import { Unreachable } from "@effect-agentenv/client/ClientError"
import * as EnvironmentClient from "@effect-agentenv/client/EnvironmentClient"
import * as Episode from "@effect-agentenv/client/Episode"
import { EpisodeError } from "@effect-agentenv/client/EpisodeError"
import * as ToolClient from "@effect-agentenv/client/ToolClient"
import type { Part } from "@effect-agentenv/protocol/Part"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Context, Data, Duration, Effect, FastCheck, Fiber, Layer, Option, Schema, TestClock } from "effect"
import { fakeMcp, json, result, says } from "./support.ts"

const Board = Schema.Struct({ posts: Schema.Array(Schema.String) })

/** A board to post on, whose three operations and one tool take a second each. */
const board = (options: { readonly exported?: ReadonlyArray<Part> } = {}) => {
  let posts: Array<unknown> = ["old"]
  const seen: Array<any> = []
  const server = fakeMcp((message) => {
    const { arguments: args, name } = message.params
    if (name === "hang") return Effect.never
    if (name !== "post") return Effect.succeed(result(message, says("no such tool", { isError: true })))
    posts.push(args.text)
    return Effect.as(Effect.sleep("1 second"), result(message, says("posted")))
  })
  const respond = ({ id, method, params }: any) => {
    seen.push({ method, params })
    if (method === "data/reset") posts = []
    if (method === "data/add") posts.push(...params.parts.map((part: any) => part.data.post))
    const exported = options.exported ?? [{ kind: "data", data: { posts } }]
    return json({ jsonrpc: "2.0", id, result: method === "data/get" ? { parts: exported } : {} })
  }
  const environment = Layer.succeed(EnvironmentClient.EnvironmentClient, {
    baseUrl: "http://fake",
    card: Effect.die("unused"),
    supportsV1: Effect.succeed(true),
    health: Effect.void,
    interfaces: Effect.succeed([]),
    manifest: () => Effect.die("unused"),
    reset: (options) => call("data/reset", options ?? {}),
    add: (parts) => call("data/add", { parts }),
    get: () => Effect.map(call("data/get", {}), (result) => result.parts)
  })
  const call = (method: string, params: unknown): Effect.Effect<any> =>
    Effect.sleep("1 second").pipe(
      Effect.zipRight(Effect.promise(() => respond({ id: 1, method, params }).json())),
      Effect.map((answer: any) => answer.result)
    )
  const layer = Layer.merge(
    environment,
    Layer.provide(ToolClient.layer({ url: "http://fake/mcp" }), server.layer)
  )
  return { seen, server, layer }
}

const score = (verdict: Episode.Verdict | Effect.Effect<Episode.Verdict, unknown>, weight?: number) =>
  Episode.scorer({ data: Board, weight, score: () => verdict })

/** Runs an episode, letting ten seconds pass. */
const running = <A, E>(
  episode: Effect.Effect<A, E, EnvironmentClient.EnvironmentClient | ToolClient.ToolClient>,
  server = board()
) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.provide(episode, server.layer))
    yield* TestClock.adjust("1 second").pipe(Effect.repeatN(9))
    return yield* Fiber.join(fiber)
  })

describe("run", () => {
  it.effect("resets with the seed, adds the data, plays, exports and scores", () =>
    Effect.gen(function*() {
      const server = board()
      const events: Array<Episode.Progress> = []
      const report = yield* running(
        Episode.run({
          name: "posting",
          seed: 7,
          data: [{ kind: "data", data: { post: "seeded" } }],
          player: (tools) =>
            Effect.gen(function*() {
              yield* tools.callTool("post", { text: "hi" })
              const { isError } = yield* tools.as({ role: "judge" }).callTool("smash")
              return isError ? "one failed" : "fine"
            }),
          scorers: {
            posted: Episode.scorer({
              data: Board,
              weight: 3,
              score: ({ posts }, { parts, played }) =>
                posts.includes("hi") && posts.includes("seeded") && parts.length === 1 && Option.isSome(played)
            }),
            brief: Episode.scorer({
              data: Board,
              score: ({ posts }) => ({ score: 1 / posts.length, detail: `${posts.length} posts` })
            })
          },
          onProgress: (event) => Effect.sync(() => void events.push(event))
        }),
        server
      )
      expect(server.seen).toEqual([
        { method: "data/reset", params: { seed: 7 } },
        { method: "data/add", params: { parts: [{ kind: "data", data: { post: "seeded" } }] } },
        { method: "data/get", params: {} }
      ])
      const second = Duration.seconds(1)
      expect(report).toEqual({
        name: "posting",
        seed: 7,
        steps: ["reset", "add", "play", "get"].map((step) => ({ step, ok: true, duration: second })).concat([
          { step: "score", ok: true, duration: Duration.zero }
        ]),
        calls: [
          { name: "post", args: { text: "hi" }, ok: true, duration: second },
          { name: "smash", args: {}, ok: false, duration: Duration.zero }
        ],
        parts: [{ kind: "data", data: { posts: ["seeded", "hi"] } }],
        played: Option.some("one failed"),
        scores: { posted: { score: 1, weight: 3 }, brief: { score: 0.5, weight: 1, detail: "2 posts" } },
        score: 0.875
      })
      expect(events.map((event) => `${event._tag} ${event._tag === "ToolCalled" ? event.name : event.step}`)).toEqual([
        "StepStarted reset",
        "StepFinished reset",
        "StepStarted add",
        "StepFinished add",
        "StepStarted play",
        "ToolCalled post",
        "ToolCalled smash",
        "StepFinished play",
        "StepStarted get",
        "StepFinished get",
        "StepStarted score",
        "StepFinished score"
      ])
    }))

  it.effect("adds nothing when there is no data, and scores nothing as 0", () =>
    Effect.gen(function*() {
      const server = board()
      const report = yield* running(Episode.run({ player: () => Effect.void, scorers: {} }), server)
      expect(server.seen.map(({ method }) => method)).toEqual(["data/reset", "data/get"])
      expect(report).toMatchObject({ name: "episode", score: 0, scores: {} })
    }))

  it.effect("fails at the step that failed, with its cause", () =>
    Effect.gen(function*() {
      const cause = new Unreachable({ operation: "data/reset", reason: "gone", refused: true })
      const episode = Effect.gen(function*() {
        const environment = yield* EnvironmentClient.EnvironmentClient
        return yield* Effect.provideService(
          Episode.run({ player: () => Effect.void, scorers: {} }),
          EnvironmentClient.EnvironmentClient,
          { ...environment, reset: () => Effect.fail(cause) }
        )
      })
      const error = yield* Effect.flip(running(episode))
      expect(error).toBeInstanceOf(EpisodeError)
      expect(error).toMatchObject({ step: "reset", reason: cause.message, cause })
    }))
})

class Stuck extends Data.TaggedError("Stuck")<{ readonly at: number }> {}

describe("a player", () => {
  it.effect("that fails or dies is an error of the step `play` that carries the cause", () =>
    Effect.gen(function*() {
      const fails = (player: Effect.Effect<never, unknown>) =>
        Effect.flip(running(Episode.run({ player: () => player, scorers: {} })))
      expect(yield* fails(Effect.fail(new Stuck({ at: 3 })))).toMatchObject({
        _tag: "EpisodeError",
        step: "play",
        cause: { _tag: "Stuck", at: 3 }
      })
      expect(yield* fails(Effect.die(new Error("oops")))).toMatchObject({ step: "play", reason: "oops" })
      expect(yield* fails(Effect.interrupt)).toMatchObject({ step: "play" })
      const thrown = Episode.run({
        player: () => {
          throw new Error("at once")
        },
        scorers: {}
      })
      expect(yield* Effect.flip(running(thrown))).toMatchObject({ step: "play", reason: "at once" })
    }))

  it.effect("that fails is scored anyway when that is asked for", () =>
    Effect.gen(function*() {
      const report = yield* running(Episode.run({
        player: (tools) => Effect.zipRight(tools.callTool("post", { text: "hi" }), Effect.fail(new Stuck({ at: 1 }))),
        scorers: {
          posted: Episode.scorer({
            data: Board,
            score: ({ posts }, { played }) => Option.isNone(played) && posts[0] === "hi"
          })
        },
        onPlayerFailure: "score"
      }))
      expect(report.score).toBe(1)
      expect(report.played).toEqual(Option.none())
      expect(report.steps.map(({ ok, step }) => [step, ok])).toContainEqual(["play", false])
    }))

  it.effect("that takes too long is cut, and its calls are cancelled on the server", () =>
    Effect.gen(function*() {
      const server = board()
      const error = yield* Effect.flip(running(
        Episode.run({
          player: (tools) => tools.callTool("hang"),
          scorers: {},
          timeouts: { player: "5 seconds" }
        }),
        server
      ))
      expect(error).toMatchObject({ step: "play", reason: "the player didn't end within 5 s" })
      expect(server.server.messages().at(-1)).toMatchObject({ method: "notifications/cancelled" })
    }))

  it.effect("that is interrupted with the episode cancels its calls, which are told too", () =>
    Effect.gen(function*() {
      const server = board()
      const events: Array<Episode.Progress> = []
      const fiber = yield* Effect.fork(Effect.provide(
        Episode.run({
          player: (tools) => tools.callTool("hang", { a: 1 }),
          scorers: {},
          onProgress: (event) => Effect.sync(() => void events.push(event))
        }),
        server.layer
      ))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.interrupt(fiber)
      expect(events.slice(-2)).toMatchObject([
        { _tag: "ToolCalled", name: "hang", args: { a: 1 }, ok: false },
        { _tag: "StepFinished", step: "play", ok: false }
      ])
      expect(server.server.messages().at(-1)).toMatchObject({ method: "notifications/cancelled" })
    }))
})

const judged = (scorer: Episode.Scorer<unknown>, exported?: ReadonlyArray<Part>) =>
  running(
    Episode.run({ player: () => Effect.void, scorers: { mine: scorer } }),
    board(exported === undefined ? {} : { exported })
  )

const reason = (scorer: Episode.Scorer<unknown>, exported?: ReadonlyArray<Part>) =>
  Effect.map(Effect.flip(judged(scorer, exported)), (error) => {
    expect(error).toMatchObject({ _tag: "EpisodeError", step: "score", scorer: "mine" })
    return error._tag === "EpisodeError" ? error.reason : error._tag
  })

describe("a scorer", () => {
  it.effect("sees the first data part, or the first inline JSON file", () =>
    Effect.gen(function*() {
      const bytes = Buffer.from(JSON.stringify({ posts: ["é"] })).toString("base64")
      const text: Part = { kind: "text", text: "{}" }
      const exports: ReadonlyArray<ReadonlyArray<Part>> = [
        [text, { kind: "data", data: { posts: ["é"] } }, { kind: "data", data: {} }],
        [text, { kind: "file", file: { bytes, mimeType: "application/json; charset=utf-8" } }],
        [{ kind: "file", file: { uri: "a.json" } }, { kind: "file", file: { bytes, name: "state.JSON" } }],
        [{ kind: "file", file: { bytes: "AAAA", mimeType: "image/png" } }, { kind: "file", file: { bytes } }]
      ]
      for (const exported of exports) {
        const { score } = yield* judged(
          Episode.scorer({ data: Board, score: ({ posts }) => posts[0] === "é" }),
          exported
        )
        expect(score).toBe(1)
      }
    }))

  it.effect("whose state is missing or doesn't decode fails with places and reasons", () =>
    Effect.gen(function*() {
      expect(yield* reason(score(1), [{ kind: "text", text: "canary" }])).toContain("neither a data part nor")
      const wrong = yield* reason(score(1), [{ kind: "data", data: { posts: ["a", { canary: 1 }] } }])
      expect(wrong).toContain("posts[1]: expected string")
      expect(wrong).not.toContain("canary")
    }))

  it.effect("may be an effect, and fails as the step `score` when that does", () =>
    Effect.gen(function*() {
      expect((yield* judged(score(Effect.as(Effect.sleep("2 seconds"), 0.25)))).score).toBe(0.25)
      expect(yield* reason(score(Effect.fail("no")))).toBe("it failed")
      expect(yield* reason(score(Effect.die("no")))).toBe("it failed")
    }))

  it.effect("that says something outside 0..1 fails", () =>
    Effect.gen(function*() {
      for (const wrong of [-0.1, 1.1, NaN, Infinity]) {
        expect(yield* reason(score(wrong))).toContain("not within 0..1")
      }
      for (const [right, expected] of [[0, 0], [1, 1], [true, 1], [false, 0]] as const) {
        expect((yield* judged(score(right))).score).toBe(expected)
      }
    }))

  it.effect.prop(
    "counts with its weight, and the mean stays within 0..1",
    [FastCheck.array(
      FastCheck.record({
        score: FastCheck.double({ min: 0, max: 1, noNaN: true }),
        weight: FastCheck.integer({ min: 0, max: 5 })
      }),
      { minLength: 1, maxLength: 6 }
    )],
    ([given]) =>
      Effect.gen(function*() {
        const scorers = Object.fromEntries(given.map((each, n) => [`s${n}`, score(each.score, each.weight)]))
        const report = yield* running(Episode.run({ player: () => Effect.void, scorers }))
        const weight = given.reduce((sum, each) => sum + each.weight, 0)
        const expected = weight === 0 ? 0 : given.reduce((sum, each) => sum + each.score * each.weight, 0) / weight
        expect(report.score).toBeCloseTo(expected)
        expect(report.score).toBeGreaterThanOrEqual(0)
        expect(report.score).toBeLessThanOrEqual(1)
      }),
    { fastCheck: { numRuns: 20 }, timeout: 20_000 }
  )
})

describe("format", () => {
  it("writes a report for a terminal", () => {
    expect(Episode.format({
      name: "posting",
      seed: 7,
      steps: [{ step: "reset", ok: true, duration: Duration.millis(12) }, {
        step: "play",
        ok: false,
        duration: Duration.millis(2500)
      }],
      calls: [{ name: "post", args: { text: "x".repeat(80) }, ok: false, duration: Duration.millis(3) }],
      parts: [],
      played: Option.none(),
      scores: { posted: { score: 0.5, weight: 2, detail: "half" }, brief: { score: 1, weight: 1 } },
      score: 2 / 3
    })).toBe(
      [
        "posting (seed 7): score 0.667",
        "steps",
        "  ok   reset 12 ms",
        "  FAIL play  2.5 s",
        "calls",
        `  FAIL post {"text":"${"x".repeat(50)}… 3 ms`,
        "scores",
        "  posted 0.500 x 2  half",
        "  brief  1.000 x 1"
      ].join("\n")
    )
  })
})

describe("types", () => {
  class Judge extends Context.Tag("Judge")<Judge, { readonly judge: Effect.Effect<number> }>() {}
  class Hand extends Context.Tag("Hand")<Hand, string>() {}

  it("follow the player, the scorers and their services", () => {
    const episode = Episode.run({
      player: () => Effect.map(Hand, (hand) => hand.length),
      scorers: {
        typed: Episode.scorer({
          data: Board,
          score: ({ posts }, { played }: Episode.Played<number>) => {
            expectTypeOf(posts).toEqualTypeOf<ReadonlyArray<string>>()
            expectTypeOf(played).toEqualTypeOf<Option.Option<number>>()
            return true
          }
        }),
        judged: Episode.scorer({ data: Board, score: () => Effect.flatMap(Judge, ({ judge }) => judge) })
      }
    })
    expectTypeOf(episode).toEqualTypeOf<
      Effect.Effect<
        Episode.Report<number, "typed" | "judged">,
        EpisodeError,
        EnvironmentClient.EnvironmentClient | ToolClient.ToolClient | Judge | Hand
      >
    >()
  })

  it("refuse a scorer of another player and a score that is none", () => {
    const lengths: Episode.Scorer<string> = Episode.scorer({
      data: Board,
      score: (_, { played }: Episode.Played<string>) => Option.isSome(played)
    })
    const wrong = () => [
      // @ts-expect-error this player ends with a number
      Episode.run({ player: () => Effect.succeed(1), scorers: { lengths } }),
      // @ts-expect-error a string is no score
      Episode.scorer({ data: Board, score: () => "high" })
    ]
    expectTypeOf(wrong).toBeFunction()
  })
})
