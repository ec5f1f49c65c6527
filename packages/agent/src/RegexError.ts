/**
 * Why a pattern or a decision of a `RegexEngine` failed. None of these errors holds the text that was searched.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The text is no pattern of Python's `regex` module (version 0 behaviour), or has over 4,096 characters (B-TRIG-5, B-TRIG-9). `position`
 * counts characters from 0.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidRegex
  extends Schema.TaggedError<InvalidRegex>("@effect-agentenv/agent/InvalidRegex")("InvalidRegex", {
    detail: Schema.String,
    position: Schema.NonNegativeInt
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return `invalid regex: ${this.detail} at position ${this.position}`
  }
}

/**
 * The pattern is valid in Python, but what it says at `position` cannot be given the same meaning here: `construct` names it. A client is
 * told that the regex is invalid, as it is for this server (B-TRIG-5).
 *
 * @since 0.1.0
 * @category errors
 */
export class UnsupportedRegex
  extends Schema.TaggedError<UnsupportedRegex>("@effect-agentenv/agent/UnsupportedRegex")("UnsupportedRegex", {
    construct: Schema.String,
    position: Schema.NonNegativeInt
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return `invalid regex: ${this.construct} at position ${this.position}: not supported`
  }
}

/**
 * A pattern that the engine does not take.
 *
 * @since 0.1.0
 * @category errors
 */
export const RegexRefused = Schema.Union(InvalidRegex, UnsupportedRegex)

/**
 * A pattern that the engine does not take.
 *
 * @since 0.1.0
 * @category errors
 */
export type RegexRefused = typeof RegexRefused.Type

/**
 * The patterns of one decision took longer than its budget (B-TRIG-15). `pattern` is the one that was running or about to, cut after 80
 * characters; `unevaluated` counts the expressions that had no answer yet, the one with `pattern` included.
 *
 * @since 0.1.0
 * @category errors
 */
export class RegexBudgetExceeded
  extends Schema.TaggedError<RegexBudgetExceeded>("@effect-agentenv/agent/RegexBudgetExceeded")("RegexBudgetExceeded", {
    pattern: Schema.String,
    unevaluated: Schema.NonNegativeInt,
    budgetMillis: Schema.Number
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return `the regex decision budget of ${this.budgetMillis} ms was exhausted before evaluating '${this.pattern}' ` +
      `(${this.unevaluated} left)`
  }
}

/**
 * The engine could not answer for a reason of its own: its worker died or ran out of memory (and was replaced), or it was asked to decide
 * about a pattern that `check` refuses.
 *
 * @since 0.1.0
 * @category errors
 */
export class RegexEngineError
  extends Schema.TaggedError<RegexEngineError>("@effect-agentenv/agent/RegexEngineError")("RegexEngineError", {
    detail: Schema.String,
    cause: Schema.optional(Schema.Defect)
  })
{
  /** @since 0.1.0 */
  override get message(): string {
    return `the regex engine failed: ${this.detail}`
  }
}

/**
 * The budget of an engine is not a finite, positive length of time (B-TRIG-15).
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidRegexBudget
  extends Schema.TaggedError<InvalidRegexBudget>("@effect-agentenv/agent/InvalidRegexBudget")("InvalidRegexBudget", {})
{
  /** @since 0.1.0 */
  override get message(): string {
    return "budget: must be a finite, positive length of time"
  }
}
