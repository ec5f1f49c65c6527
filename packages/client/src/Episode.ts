/**
 * One rollout from beginning to end: reset and seed an environment, let a player use its tools, read the state, and score it.
 *
 * @since 0.1.0
 */
import type { Part } from "@effect-agentenv/protocol/Part"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { Namespace } from "./DataExport.ts"
import { EnvironmentClient } from "./EnvironmentClient.ts"
import type { EpisodeError, StepName } from "./EpisodeError.ts"
import * as report from "./internal/episodeReport.ts"
import * as runner from "./internal/episodeRun.ts"
import * as scoring from "./internal/episodeScore.ts"
import * as ToolClient from "./ToolClient.ts"

/**
 * What a scorer may say: how good the state is, from 0 to 1 (`true` is 1), and in words why.
 *
 * @since 0.1.0
 * @category models
 */
export type Verdict = number | boolean | { readonly score: number | boolean; readonly detail?: string | undefined }

/**
 * What a scorer sees beside the state: the export as a whole, and what the player ended with, `none` if it failed and
 * `onPlayerFailure` is `score`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Played<A> {
  readonly played: Option.Option<A>
  readonly parts: ReadonlyArray<Part>
}

/**
 * Judges the state that an episode left behind. It counts with its weight in the episode's score.
 *
 * @since 0.1.0
 * @category models
 */
export interface Scorer<in A, out R = never> {
  readonly weight: number
  readonly judge: (name: string, context: Played<A>) => Effect.Effect<Score, EpisodeError, R>
}

/**
 * One scorer's part of a report; `score` is within 0..1.
 *
 * @since 0.1.0
 * @category models
 */
export interface Score {
  readonly score: number
  readonly weight: number
  readonly detail?: string | undefined
}

/**
 * Makes a scorer of typed state: `data` decodes the export's first data part, or first JSON file with inline bytes. The weight is
 * 1 unless said; `score` may be an effect and may fail, which is an `EpisodeError` naming the scorer, as is a state that doesn't
 * decode and a score outside 0..1.
 *
 * @since 0.1.0
 * @category constructors
 */
export const scorer: <S, I, RS = never, A = unknown, R = never>(options: {
  readonly data: Schema.Schema<S, I, RS>
  readonly weight?: number | undefined
  readonly score: (state: S, context: Played<A>) => Verdict | Effect.Effect<Verdict, unknown, R>
}) => Scorer<A, RS | R> = scoring.make

/**
 * One call that the player made. `ok` is false for a failed call and for a result with `isError`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Call {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly ok: boolean
  readonly duration: Duration.Duration
}

/**
 * One step that was made, and how long it took.
 *
 * @since 0.1.0
 * @category models
 */
export interface Step {
  readonly step: StepName
  readonly ok: boolean
  readonly duration: Duration.Duration
}

/**
 * What an episode says while it runs.
 *
 * @since 0.1.0
 * @category models
 */
export type Progress =
  | { readonly _tag: "StepStarted"; readonly step: StepName }
  | ({ readonly _tag: "StepFinished" } & Step)
  | ({ readonly _tag: "ToolCalled" } & Call)

/**
 * What an episode came to. `score` is the mean of all scores by weight, within 0..1, and 0 where nothing has weight; `played` is
 * what the player ended with.
 *
 * @since 0.1.0
 * @category models
 */
export interface Report<A, Names extends string = string> {
  readonly name: string
  readonly seed: number | undefined
  readonly steps: ReadonlyArray<Step>
  readonly calls: ReadonlyArray<Call>
  readonly parts: ReadonlyArray<Part>
  readonly played: Option.Option<A>
  readonly scores: { readonly [Name in Names]: Score }
  readonly score: number
}

/**
 * What `run` takes. `Needs` has the services that each scorer needs, by its name.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<A, E, R, Needs> {
  /** How the report calls it, `episode` by default. */
  readonly name?: string | undefined
  readonly seed?: number | undefined
  readonly data?: ReadonlyArray<Part> | undefined
  /** Where a large export may be uploaded, and how it is read there; without it the export comes inline. */
  readonly namespace?: Namespace<unknown, never> | undefined
  /** Plays with the tools it is given, whose calls are reported. When it is interrupted, so are the calls that still run. */
  readonly player: (tools: ToolClient.Service) => Effect.Effect<A, E, R>
  /** A scorer that looks at `played` says of whom: `(state, { played }: Episode.Played<number>) => …`. */
  readonly scorers: { readonly [Name in keyof Needs]: Scorer<A, Needs[Name]> }
  readonly timeouts?: { readonly player?: Duration.DurationInput | undefined } | undefined
  /** A failed player ends the episode (`fail`, the default), or is scored by the state it left (`score`). */
  readonly onPlayerFailure?: "fail" | "score" | undefined
  readonly onProgress?: ((event: Progress) => Effect.Effect<void>) | undefined
}

/**
 * Runs an episode: `data/reset`, `data/add` if there is data, the player, `data/get`, the scorers. Any step that fails ends it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const run = <A, E = never, R = never, Needs = {}>(
  options: Options<A, E, R, Needs>
): Effect.Effect<
  Report<A, Extract<keyof Needs, string>>,
  EpisodeError,
  EnvironmentClient | ToolClient.ToolClient | R | Needs[keyof Needs]
> =>
  Effect.gen(function*() {
    const environment = yield* EnvironmentClient
    const tools = yield* ToolClient.ToolClient
    return yield* runner.run(environment, tools, options)
  }).pipe(Effect.withSpan("Episode.run"))

/**
 * Writes a report for a terminal: steps, calls, scores.
 *
 * @since 0.1.0
 * @category combinators
 */
export const format: (report: Report<unknown>) => string = report.format
