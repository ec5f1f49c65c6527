/**
 * The patterns that an engine knows already.
 *
 * @since 0.1.0
 */
import * as linear from "./linear.ts"
import { Refusal } from "./refusal.ts"
import type { Pattern } from "./search.ts"
import { translate } from "./translate.ts"
import type { Node } from "./tree.ts"

/** How many translations are kept: the rules of a few full agents. */
const capacity = 1_024

/** A translation, and what it is once compiled on this thread. */
export interface Known extends Pattern {
  readonly tree: Node
  readonly size: number
}

/** Translations by pattern, the one that was used last at the end. */
export class Patterns {
  private readonly known = new Map<string, Known | Refusal>()

  get(pattern: string): Known | Refusal {
    let found = this.known.get(pattern)
    if (found === undefined) {
      const translation = translate(pattern)
      if (translation instanceof Refusal) found = translation
      else {
        const { tree, written } = translation
        found = { tree, written, size: linear.size(tree), standing: new Map() }
      }
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

/** The size of what is compiled where the caller is. */
const small = 1_000

/** Whether patterns can be searched on the caller's thread: their shapes prove that it takes no time. */
export const inPlace = (patterns: ReadonlyArray<Known>, text: string): boolean => {
  if (text.length > shortText) return false
  let steps = 0
  for (const { size, tree } of patterns) {
    // a large pattern takes its time to be compiled
    if (size > small) return false
    steps += linear.steps(tree, text.length)
    if (steps > fewSteps) return false
  }
  return true
}
