// Random patterns, and the committed ones, to Python's `regex` and to ours: no answer may differ. What ours refuses is counted by its name.
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { python } from "../venv.mjs"

export const name = "regex"
export const order = 60
export const quick = "patterns: 3,000 random ones instead of 20,000"

/** How many wrong answers are printed. */
const shown = 20

/** A pattern that is not asked for, and whose shape keeps a decision from being made on the spot: the worker is to answer, too. */
const notInPlace = { _tag: "Any", of: [true, { _tag: "Regex", pattern: "^(?:a|aa)+$" }] }

const isAscii = (text) => /^\p{ASCII}*$/u.test(text)

const lines = async function*(command, args, input) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
  const ended = new Promise((resolve, reject) => child.once("close", resolve).once("error", reject))
  child.stdin.end(input)
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line)
  const code = await ended
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}`)
}

export const run = async (context) => {
  const RegexEngine = await import("@effect-agentenv/agent/RegexEngine")
  const { Effect, Either, Exit, Scope } = await import("effect")
  const checks = context.checks()
  const home = join(context.interop, "regex")
  const generate = join(home, "generate.py")
  const command = python("regex", context.print)
  const scope = Effect.runSync(Scope.make())
  const engine = await Effect.runPromise(Scope.extend(RegexEngine.make(), scope))

  const counts = { patterns: 0, answers: 0, ascii: 0, wrong: 0, invalid: 0, slow: 0 }
  const refused = new Map()
  const wrong = (pattern, why) => {
    if (++counts.wrong <= shown) context.print(`not ok - ${JSON.stringify(pattern)}: ${why}`)
  }

  const compare = async ({ answers, invalid, pattern, texts }) => {
    counts.patterns++
    const checked = await Effect.runPromise(Effect.either(engine.check(pattern)))
    if (Either.isLeft(checked)) {
      const { _tag, construct, detail } = checked.left
      if (invalid !== undefined) counts.invalid++
      else if (_tag === "InvalidRegex") wrong(pattern, `Python takes what ours calls invalid: ${detail}`)
      else refused.set(construct, (refused.get(construct) ?? 0) + 1)
      return
    }
    if (invalid !== undefined) return wrong(pattern, `ours takes what Python calls invalid: ${invalid}`)
    for (const [i, text] of texts.entries()) {
      for (const expressions of [[{ _tag: "Regex", pattern }], [{ _tag: "Regex", pattern }, notInPlace]]) {
        const found = await Effect.runPromise(Effect.either(engine.decide(text, expressions)))
        if (Either.isLeft(found) || answers[i] === null) counts.slow++
        else {
          counts.answers++
          if (isAscii(text)) counts.ascii++
          const [answer] = found.right
          if (answer !== answers[i]) {
            wrong(pattern, `on ${JSON.stringify(text)} Python says ${answers[i]}, ours ${answer}`)
          }
        }
      }
    }
  }

  try {
    const committed = JSON.parse(readFileSync(join(home, "cases.json"), "utf8"))
    let stale = 0
    let at = 0
    for await (const fresh of lines(command, [generate, "--answer"], JSON.stringify(committed))) {
      const { answers, invalid } = committed[at++]
      if (
        JSON.stringify(answers) !== JSON.stringify(fresh.answers) ||
        (invalid === undefined) !== (fresh.invalid === undefined)
      ) {
        stale++
        context.print(`not ok - ${fresh.kind}: cases.json is not what Python says`)
      }
      await compare(fresh)
    }
    checks.record(stale === 0 && at === committed.length, "cases.json is what Python says", `${stale} are not`)

    const seed = String(context.seed)
    for await (const line of lines(command, [generate, seed, context.quick ? "3000" : "20000"], "")) {
      if (line.pattern === undefined) context.print(`Python ${line.python}, regex ${line.regex}, seed ${seed}`)
      else await compare(line)
    }
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
  checks.record(counts.wrong === 0, "no answer is wrong", `${counts.wrong} are`)
  const { answers, ascii, invalid, patterns, slow } = counts
  const total = [...refused.values()].reduce((sum, count) => sum + count, 0)
  checks.note(
    `${patterns} patterns, ${answers} equal answers (${ascii} on ASCII), ${invalid} invalid in both, ${slow} too slow for one, ${total} refused:`
  )
  for (const [construct, count] of [...refused].toSorted((a, b) => b[1] - a[1])) checks.note(`  ${count} ${construct}`)
  return checks.result()
}
