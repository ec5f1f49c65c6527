// Triggers of ours and of the reference (0.1.379) under the same random rules and events: every answer and every state alike, but for
// names that are minted, times, and the words of refusals beyond those that the contract fixes.
import { join } from "node:path"
import * as Scripts from "./support/triggerScripts.mjs"

export const name = "triggers"
export const order = 95
export const quick = "rule sets: 200 instead of 2,000"

/** Words of a refusal that callers may rely on. */
const fixed = [
  /'triggers' must be a non-empty list/,
  /unknown when\.type '\w+'/,
  /invalid regex/,
  /say\.text must be at most 8192 characters/,
  /'turn' must be a positive integer/,
  /at most 200000 characters/,
  /trigger '.*' already registered with a different spec \(use a new id\)/,
  /decision budget/
]

const isUtc = (ts) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}(?:Z|\+00:00)$/.test(ts)

/** An answer without what may differ: minted names by the order in which they come, times by whether they are any. */
const settled = (answers) => {
  const minted = new Map()
  const text = JSON.stringify(
    answers,
    (key, value) => key === "ts" ? isUtc(value) : key === "message" ? undefined : value
  )
  return JSON.parse(text.replace(/trg_[0-9a-f]{12}/g, (found) => {
    if (!minted.has(found)) minted.set(found, `minted-${minted.size}`)
    return minted.get(found)
  }))
}

const compare = (context, theirs, ours) => {
  context.equal(settled(ours), settled(theirs))
  theirs.forEach(({ message }, index) => {
    const words = message === undefined ? undefined : fixed.map((each) => each.exec(message)?.[0]).find(Boolean)
    if (words !== undefined) {
      context.truthy(ours[index].message.includes(words), `'${ours[index].message}' does not say '${words}'`)
    }
  })
}

const firstDifference = (context, theirs, ours) => {
  const at = theirs.findIndex((_, index) => {
    try {
      compare(context, theirs.slice(0, index + 1), ours.slice(0, index + 1))
      return false
    } catch {
      return true
    }
  })
  return { at, theirs: theirs[at], ours: ours[at] }
}

export const run = async (context) => {
  const checks = context.checks()
  const reference = context.converse(context.python("reference"), [join(import.meta.dirname, "python/triggers.py")])
  const own = context.converse(process.execPath, [join(context.interop, "dist/triggers.js")])
  const counts = { decided: 0, fired: 0, refused: 0, exhausted: 0 }

  const play = async ({ hastily, steps }) => {
    const message = { hastily, steps }
    const [theirs, ours] = await Promise.all([reference.ask(message), own.ask(message)])
    for (const { status, value } of theirs) {
      if (status === 400) counts.refused++
      if (status === 504) counts.exhausted++
      if (value?.fired !== undefined) counts.decided++
      if (value?.fired?.length > 0) counts.fired++
    }
    try {
      compare(context, theirs, ours)
    } catch {
      const { at, ours: ourAnswer, theirs: theirAnswer } = firstDifference(context, theirs, ours)
      throw new Error(
        `step ${at}: theirs ${JSON.stringify(theirAnswer).slice(0, 600)}, ours ${
          JSON.stringify(ourAnswer).slice(0, 600)
        }, ` +
          `after ${JSON.stringify(steps.slice(0, at + 1)).slice(0, 2000)}`
      )
    }
  }

  for (const script of Scripts.special) await checks.check(script.name, () => play(script))
  const scripts = Scripts.random(context.seed, context.quick ? 200 : 2000)
  for (const [index, script] of scripts.entries()) await checks.check(`rule set ${index}`, () => play(script))
  checks.note(
    `${scripts.length} rule sets from seed ${context.seed}: ${counts.decided} decisions, ${counts.fired} of them with firings, ` +
      `${counts.refused} refusals, ${counts.exhausted} over the budget`
  )
  return checks.result()
}
