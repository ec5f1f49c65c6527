/**
 * Python's regular expressions, searched for in texts within a budget of time.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { runHere } from "./internal/regex/inProcess.ts"
import { inPlace, type Known, Patterns } from "./internal/regex/patterns.ts"
import { compile, run } from "./internal/regex/program.ts"
import { Refusal } from "./internal/regex/refusal.ts"
import { search, sight } from "./internal/regex/search.ts"
import * as worker from "./internal/regex/worker.ts"
import {
  InvalidRegex,
  InvalidRegexBudget,
  RegexBudgetExceeded,
  RegexEngineError,
  type RegexRefused,
  UnsupportedRegex
} from "./RegexError.ts"

/**
 * What a decision asks of a text: an answer that is known already, a pattern that is searched anywhere in it, or all or any of several.
 *
 * @since 0.1.0
 * @category models
 */
export type Expression =
  | boolean
  | { readonly _tag: "Regex"; readonly pattern: string }
  | { readonly _tag: "All" | "Any"; readonly of: ReadonlyArray<Expression> }

/**
 * `budget`: how long the patterns of one decision may take together, 1 second unless told (B-TRIG-15). It is measured by the wall, so that
 * a busy machine has less of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly budget?: Duration.DurationInput | undefined
}

/**
 * Searches patterns of Python's `regex` module (version 0 behaviour) in texts (B-TRIG-5).
 *
 * - `check` fails with why a pattern is not taken: it is invalid, over 4,096 characters, or cannot be given Python's meaning here.
 * - `decide` answers an expression each, in their order. They are evaluated from left to right and no further than their answers need,
 *   all under one budget, which begins when the first is looked at: decisions wait for one another at no cost of theirs.
 *
 * @since 0.1.0
 * @category tags
 */
export class RegexEngine extends Context.Tag("@effect-agentenv/agent/RegexEngine")<RegexEngine, {
  readonly check: (pattern: string) => Effect.Effect<void, RegexRefused>
  readonly decide: (
    text: string,
    expressions: ReadonlyArray<Expression>
  ) => Effect.Effect<ReadonlyArray<boolean>, RegexBudgetExceeded | RegexEngineError>
}>() {}

const refused = ({ kind, position, what }: Refusal): RegexRefused =>
  kind === "invalid"
    ? new InvalidRegex({ detail: what, position })
    : new UnsupportedRegex({ construct: what, position })

const first = (pattern: string): string => Array.from(pattern.slice(0, 160)).slice(0, 80).join("")

const millisOf = (options: Options | undefined): Effect.Effect<number, InvalidRegexBudget> =>
  Effect.suspend(() => {
    // a number that is none, or a negative one, becomes no time at all
    const budget = Duration.decodeUnknown(options?.budget ?? "1 second")
    const millis = Option.match(budget, { onNone: () => 0, onSome: Duration.toMillis })
    // a timer of node cannot wait longer
    return millis > 0 && millis < 2 ** 31 - 1 ? Effect.succeed(millis) : Effect.fail(new InvalidRegexBudget())
  })

const engine = (
  budgetMillis: number,
  submit: (job: worker.Job) => Effect.Effect<worker.Outcome>
): Context.Tag.Service<RegexEngine> => {
  const translations = new Patterns()

  const decide = (
    text: string,
    expressions: ReadonlyArray<Expression>
  ): Effect.Effect<ReadonlyArray<boolean>, RegexBudgetExceeded | RegexEngineError> =>
    Effect.suspend(() => {
      const program = compile(expressions)
      const known: Array<Known> = []
      for (const pattern of program.patterns) {
        const found = translations.get(pattern)
        if (found instanceof Refusal) return Effect.fail(new RegexEngineError({ detail: refused(found).message }))
        known.push(found)
      }
      // an empty text asks whether patterns can be compiled, which a large one takes too much for
      if (text !== "" && inPlace(known, text)) {
        const seen = sight(text)
        const searchFor = (pattern: number) => search(known[pattern]!, seen)
        return Effect.succeed(run(program.instructions, searchFor, [], () => false)!)
      }
      const patterns = known.map(({ written }) => written)
      return Effect.flatMap(
        submit({ instructions: program.instructions, patterns, text }),
        (outcome): Effect.Effect<ReadonlyArray<boolean>, RegexBudgetExceeded | RegexEngineError> => {
          switch (outcome._tag) {
            case "Answered":
              return Effect.succeed(outcome.answers)
            case "Expired":
              return Effect.fail(
                new RegexBudgetExceeded({
                  pattern: first(program.patterns[outcome.pattern] ?? ""),
                  unevaluated: expressions.length - outcome.answered,
                  budgetMillis
                })
              )
            case "Failed":
              return Effect.fail(new RegexEngineError({ detail: outcome.detail }))
          }
        }
      )
    })

  return {
    decide,
    check: (pattern) =>
      Effect.suspend(() => {
        const found = translations.get(pattern)
        if (found instanceof Refusal) return Effect.fail(refused(found))
        // JavaScript compiles a pattern when it is first used, and some are too large for it
        return Effect.mapError(
          Effect.asVoid(decide("", [{ _tag: "Regex", pattern }])),
          () => new UnsupportedRegex({ construct: "a pattern that takes too much to compile", position: 0 })
        )
      })
  }
}

/**
 * An engine whose patterns run on a thread of its own, which stays warm from one decision to the next and is ended with the scope. Where
 * a decision takes too long the thread is ended and replaced. A pattern whose shape proves that it takes no time is searched in place.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Options
): Effect.Effect<Context.Tag.Service<RegexEngine>, InvalidRegexBudget, Scope.Scope> =>
  Effect.gen(function*() {
    const budgetMillis = yield* millisOf(options)
    const runner = yield* Effect.acquireRelease(
      Effect.sync(() => worker.make()),
      (runner) => Effect.promise(() => runner.close())
    )
    const turns = yield* Effect.makeSemaphore(1)
    return engine(budgetMillis, (job) =>
      turns.withPermits(1)(
        Effect.async<worker.Outcome>((resume) => {
          const cancel = runner.submit(job, budgetMillis, (outcome) => resume(Effect.succeed(outcome)))
          return Effect.sync(cancel)
        })
      ))
  })

/**
 * An engine whose patterns run on a thread of its own.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Options): Layer.Layer<RegexEngine, InvalidRegexBudget> =>
  Layer.scoped(RegexEngine, make(options))

/**
 * An engine that searches on the thread that asks, which does nothing else meanwhile: for tests.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerInProcess = (options?: Options): Layer.Layer<RegexEngine, InvalidRegexBudget> =>
  Layer.effect(
    RegexEngine,
    Effect.map(millisOf(options), (millis) => engine(millis, (job) => Effect.sync(() => runHere(job, millis))))
  )
