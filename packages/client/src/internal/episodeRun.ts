import type { Part } from "@effect-agentenv/protocol/Part"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as DataExport from "../DataExport.ts"
import type * as EnvironmentClient from "../EnvironmentClient.ts"
import type * as Episode from "../Episode.ts"
import { EpisodeError, type StepName } from "../EpisodeError.ts"
import type * as ToolClient from "../ToolClient.ts"
import { mean } from "./episodeScore.ts"

type Say = (event: Episode.Progress) => Effect.Effect<void>

/** Runs an effect and tells how it ended and how long it took, also when it is interrupted. */
const measured = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  tell: (exit: Exit.Exit<A, E>, duration: Duration.Duration) => Effect.Effect<void>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    Clock.currentTimeNanos,
    (start) =>
      Effect.onExit(self, (exit) =>
        Effect.flatMap(Clock.currentTimeNanos, (end) => tell(exit, Duration.nanos(end - start))))
  )

/** The same tools, every call of which is told. */
const observed = (
  tools: ToolClient.Service,
  tell: (call: Episode.Call) => Effect.Effect<void>
): ToolClient.Service => ({
  ...tools,
  callTool: (name, args = {}, options) =>
    measured(
      tools.callTool(name, args, options),
      (exit, duration) => tell({ name, args, ok: Exit.isSuccess(exit) && !exit.value.isError, duration })
    ),
  as: (caller) => observed(tools.as(caller), tell)
})

const failing = (step: StepName) => <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.catchAllCause(self, (cause) => {
    const error = Cause.squash(cause)
    return Effect.fail(
      error instanceof EpisodeError
        ? error
        : new EpisodeError({ step, reason: error instanceof Error ? error.message : "it failed", cause: error })
    )
  })

/** @internal */
export const run = <A, E, R, Needs>(
  environment: EnvironmentClient.Service,
  tools: ToolClient.Service,
  options: Episode.Options<A, E, R, Needs>
): Effect.Effect<Episode.Report<A, Extract<keyof Needs, string>>, EpisodeError, R | Needs[keyof Needs]> =>
  Effect.gen(function*() {
    const say: Say = options.onProgress ?? (() => Effect.void)
    const steps: Array<Episode.Step> = []
    const calls: Array<Episode.Call> = []

    const step = <A, E, R>(
      name: StepName,
      self: Effect.Effect<A, E, R>
    ): Effect.Effect<A, EpisodeError, R> =>
      Effect.zipRight(
        say({ _tag: "StepStarted", step: name }),
        measured(failing(name)(self), (exit, duration) => {
          const finished = { step: name, ok: Exit.isSuccess(exit), duration }
          steps.push(finished)
          return say({ _tag: "StepFinished", ...finished })
        })
      )

    const play = Effect.suspend(() =>
      options.player(observed(tools, (call) => {
        calls.push(call)
        return say({ _tag: "ToolCalled", ...call })
      }))
    ).pipe((self) => {
      const limit = options.timeouts?.player
      return limit === undefined ? self : Effect.timeoutFail(self, {
        duration: limit,
        onTimeout: () =>
          new EpisodeError({
            step: "play",
            reason: `the player didn't end within ${Duration.toSeconds(limit)} s`
          })
      })
    })

    yield* step("reset", environment.reset({ seed: options.seed }))
    if (options.data !== undefined) yield* step("add", environment.add(options.data))
    const played = yield* step("play", play).pipe(
      Effect.map(Option.some),
      Effect.catchAll((error) =>
        options.onPlayerFailure === "score" ? Effect.succeed(Option.none<A>()) : Effect.fail(error)
      )
    )
    const parts: ReadonlyArray<Part> = yield* step(
      "get",
      options.namespace === undefined ? environment.get() : DataExport.take(environment, options.namespace)
    )
    const scores = yield* step(
      "score",
      Effect.forEach(
        Object.entries<Episode.Scorer<A, Needs[keyof Needs]>>(options.scorers),
        ([name, scorer]) => Effect.map(scorer.judge(name, { played, parts }), (score) => [name, score] as const)
      )
    )
    return {
      name: options.name ?? "episode",
      seed: options.seed,
      steps,
      calls,
      parts,
      played,
      // the entries are those of the options, under the same names
      scores: Object.fromEntries(scores) as Episode.Report<A, Extract<keyof Needs, string>>["scores"],
      score: mean(scores.map(([, score]) => score))
    }
  })
