/**
 * Searches on the thread that asks, which stands still meanwhile.
 *
 * @since 0.1.0
 */
import * as vm from "node:vm"
import { run } from "./program.ts"
import { compileAll, search, sight } from "./search.ts"
import type { Job, Outcome } from "./worker.ts"

const isTimeout = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | undefined)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"

/** Runs a job; node's `vm` interrupts a search that takes too long. */
export const runHere = ({ instructions, patterns, text }: Job, budgetMillis: number): Outcome => {
  const progress: [number, number] = [0, 0]
  const known = patterns.map((written) => ({ written, standing: new Map<number, number>() }))
  const seen = sight(text)
  const decide = () => {
    if (text === "") known.forEach(compileAll)
    return run(instructions, (pattern) => search(known[pattern]!, seen), progress, () => false)
  }
  try {
    const timeout = Math.max(1, Math.round(budgetMillis))
    const answers = vm.runInNewContext("decide()", { decide }, { timeout }) as Array<boolean>
    return { _tag: "Answered", answers }
  } catch (error) {
    return isTimeout(error)
      ? { _tag: "Expired", answered: progress[0], pattern: progress[1] }
      : { _tag: "Failed", detail: "a pattern needs too much memory" }
  }
}
