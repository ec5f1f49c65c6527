// The row of the regex engine: everyday patterns over a long text, against Python's `regex`, each side asked in turns.
import * as RegexEngine from "@effect-agentenv/agent/RegexEngine"
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import { python } from "../../interop/regex/python.mjs"
import { bound, ratio, table } from "../lib/report.mjs"
import { startWorker } from "../lib/worker.mjs"

const length = 200_000

const patterns = [
  "(?i)\\bcancel(?:led|lation)?\\b",
  "\\b\\d{4}-\\d{2}-\\d{2}\\b",
  "[\\w.+-]+@[\\w-]+\\.[\\w.]+",
  "https?://[^\\s/$.?#][^\\s]*",
  "(?P<currency>[$€£])\\s?\\d+(?:[.,]\\d{2})?",
  "(?i)order\\s+(?:number|no\\.?|#)\\s*\\d+",
  "(?m)^subject:\\s*(.+)$",
  "\\b(\\w+)\\s+\\1\\b"
]

/** Sentences in which no pattern is found, though each comes near, again and again: what people write has signs and digits in it. */
const text = () => {
  const sentences = [
    "The parcel was sent on 2026-1-31, and again on 31-01-2026.",
    "Ask for me @ the desk, or write to info at example.org!",
    "See http: and https: in the handbook; it costs $ or \u20ac, nobody knows.",
    "Re: subject to change, naïve clerks counted seventeen boxes, 7 crates.",
    "In order to cancelling nothing, order no boxes number twelve.",
    "Please-do-not hurry; we can celebrate at 10:45, or at a quarter to 11."
  ]
  let made = ""
  for (let i = 0; made.length < length; i++) made += sentences[(i * 5) % sentences.length] + (i % 4 === 3 ? "\n" : " ")
  return made.slice(0, length)
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

export const regex = async ({ quick }) => {
  const scope = Effect.runSync(Scope.make())
  const engine = await Effect.runPromise(Scope.extend(RegexEngine.make({ budget: "1 minute" }), scope))
  const peer = startWorker("Python", python(console.log), [join(import.meta.dirname, "../../interop/regex/clock.py")])
  try {
    const searched = text()
    const ask = async (some) => {
      const begun = performance.now()
      const found = await Effect.runPromise(
        engine.decide(searched, some.map((pattern) => ({ _tag: "Regex", pattern })))
      )
      return { found, took: performance.now() - begun }
    }
    await peer.ask({ text: searched })
    const rows = [...patterns.map((pattern) => [pattern]), patterns]
    const figures = rows.map(() => ({ own: [], peer: [] }))
    // the first round warms both up
    for (let round = -1; round < (quick ? 3 : 9); round++) {
      const took = []
      for (const [i, some] of rows.entries()) {
        const ours = await ask(some)
        // a decision about all is one message to our worker, and one search after the other in Python
        if (some.length === 1) {
          const theirs = await peer.ask({ pattern: some[0] })
          if (ours.found[0] !== theirs.found) throw new Error(`${some[0]} is ${ours.found[0]}, and not so in Python`)
          took.push(theirs.took)
        }
        if (round < 0) continue
        figures[i].own.push(ours.took)
        figures[i].peer.push(took[i] ?? took.reduce((sum, one) => sum + one, 0))
      }
    }
    const ratios = figures.map(({ own, peer }) => median(own) / median(peer))
    table([
      [`on ${length} characters`, "ours", "Python", "ratio"],
      ...figures.map(({ own, peer }, i) => [
        rows[i].length === 1 ? rows[i][0] : "all, in one decision",
        `${median(own).toFixed(2)} ms`,
        `${median(peer).toFixed(2)} ms`,
        ratio(ratios[i])
      ])
    ])
    return bound("all, of Python's time", ratios.at(-1), 0.2)
  } finally {
    await peer.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
