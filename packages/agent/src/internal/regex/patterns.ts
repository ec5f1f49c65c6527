/**
 * The patterns that an engine knows already.
 *
 * @since 0.1.0
 */
import * as linear from "./linear.ts"
import { Refusal } from "./refusal.ts"
import { translate, type Translation } from "./translate.ts"

/** How many translations are kept: the rules of a few full agents. */
const capacity = 1_024

/** A translation, and what it is once compiled on this thread. */
export interface Known {
  readonly translation: Translation
  regex: RegExp | undefined
}

/** Translations by pattern, the one that was used last at the end. */
export class Patterns {
  private readonly known = new Map<string, Known | Refusal>()

  get(pattern: string): Known | Refusal {
    let found = this.known.get(pattern)
    if (found === undefined) {
      const translation = translate(pattern)
      found = translation instanceof Refusal ? translation : { translation, regex: undefined }
      if (this.known.size >= capacity) this.known.delete(this.known.keys().next().value!)
    } else this.known.delete(pattern)
    // a text that is far from being a pattern is not worth its place
    if (pattern.length <= 8_192) this.known.set(pattern, found)
    return found
  }
}

/** The longest text that is searched where the caller is. */
const shortText = 2_000

/** What that search may take: some tenths of a millisecond. */
const fewSteps = 50_000

/** Whether patterns can be searched on the caller's thread: their shapes prove that it takes no time. */
export const inPlace = (patterns: ReadonlyArray<Known>, text: string): boolean => {
  if (text.length > shortText) return false
  let steps = 0
  for (const { translation } of patterns) {
    // a long pattern takes its time to be compiled
    if (translation.source.length > 1_000) return false
    steps += linear.steps(translation.tree, text.length)
    if (steps > fewSteps) return false
  }
  return true
}
