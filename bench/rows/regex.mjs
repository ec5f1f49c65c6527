// The row of the regex engine: everyday patterns over a long text, against Python's `regex`, by the processor's time of each side.
import * as RegexEngine from "@effect-agentenv/agent/RegexEngine"
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import { python } from "../../interop/venv.mjs"
import { bound, ratio, table } from "../lib/report.mjs"
import { startWorker } from "../lib/worker.mjs"

const length = 200_000

const patterns = [
  "\\b(?:refund(?:ed)?|cancel(?:led|lation)?|returns?)\\b",
  "(?i)\\b(?:speak|talk) (?:to|with) (?:a|an|your) (?:human|person|agent|manager)\\b",
  "\\b\\d{4}-\\d{2}-\\d{2}\\b",
  "[\\w.+-]+@[\\w-]+\\.[\\w.]+",
  "https?://[^\\s/$.?#][^\\s]*",
  "(?P<currency>[$€£])\\s?(?P<amount>\\d+(?:[.,]\\d{2})?)",
  "(?i)\\border\\s+(?:number|no\\.?|#)?\\s*(?P<order>\\d{5,})\\b",
  "^(?:yes|no|ok(?:ay)?)[.!]?$"
]

const names = [
  "Ana",
  "Mr Bell",
  "the courier",
  "our desk",
  "the night shift",
  "a colleague",
  "the shop in Leeds",
  "Oskar"
]
const acts = [
  "looked at the parcel again",
  "could not say who had signed for it",
  "asked whether the order was complete",
  "wrote that the lamp had arrived with a broken shade",
  "offered a replacement",
  "did not recall any phone call",
  "counted seventeen boxes and two crates",
  "promised to call back before noon"
]
const ends = [
  "and nothing came of it",
  "which took about 40 minutes",
  "so the customer waited",
  "as the handbook says in section 4.2",
  "though the label was torn",
  "because order no 31 was still open",
  "on Monday, or maybe Tuesday"
]
const logs = [
  "queue: job taken",
  "cache miss for key user/profile",
  "retry 2 of 5, waiting",
  "GET /v1/parcels 200",
  "closed"
]

/** What people and their machines write, without hits but for an address and a price near its end. `marks`: with signs beyond ASCII. */
const text = (marks) => {
  let state = 20_26
  const number = (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor(state / 65_536) % below
  }
  const pick = (list) => list[number(list.length)]
  let made = ""
  let told = false
  while (made.length < length) {
    if (number(4) === 0) {
      made += `\n[${10 + number(10)}:${10 + number(50)}:${10 + number(50)}] INFO worker-${number(9)} ${pick(logs)} in ${
        number(900)
      } ms\n`
      continue
    }
    made += `${pick(names)} ${pick(acts)}, ${pick(ends)}. `
    if (marks && number(3) === 0) {
      made += pick(["“It’s fine”, said Zoë — twice. ", "Señor Núñez agreed… ", "Thanks! 🙂 "])
    }
    if (!told && made.length > length * 0.95) {
      told = true
      made += "See https://example.org/help for it; the shade alone is $12.50. "
    }
  }
  return made.slice(0, length)
}

const least = (values) => Math.min(...values)

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

const expression = (pattern) => ({ _tag: "Regex", pattern })

const cpu = () => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

const compare = async (name, searched, { engine, peer, rounds }) => {
  const ask = async (some) => {
    const begun = cpu()
    const found = await Effect.runPromise(engine.decide(searched, some.map(expression)))
    return { found, took: cpu() - begun }
  }
  await peer.ask({ text: searched })
  const rows = [...patterns.map((pattern) => [pattern]), patterns]
  const figures = rows.map(() => ({ own: [], peer: [] }))
  // the first rounds warm both up
  for (let round = -3; round < rounds; round++) {
    let sum = 0
    for (const [i, some] of rows.entries()) {
      const ours = await ask(some)
      // a decision about all is one message to our worker, and one search after the other in Python
      let theirs = sum
      if (some.length === 1) {
        const { found, took } = await peer.ask({ pattern: some[0] })
        if (ours.found[0] !== found) throw new Error(`${some[0]} is ${ours.found[0]}, and not so in Python`)
        theirs = took
        sum += took
      }
      if (round < 0) continue
      figures[i].own.push(ours.took)
      figures[i].peer.push(theirs)
    }
  }
  const ratios = figures.map(({ own, peer }) => least(own) / least(peer))
  table([
    [`${length} characters, ${name}`, "ours", "Python", "ratio"],
    ...figures.map(({ own, peer }, i) => [
      rows[i].length === 1 ? rows[i][0] : "all, in one decision",
      `${least(own).toFixed(2)} ms`,
      `${least(peer).toFixed(2)} ms`,
      ratio(ratios[i])
    ])
  ])
  return bound(`all, ${name}, of Python's time`, ratios.at(-1), 0.2)
}

/** How long the decision behind one that exceeded its budget takes, by the wall: a thread is ended and another started for it. */
const recovery = async (engine, rounds) => {
  const took = []
  for (let round = 0; round < rounds; round++) {
    await Effect.runPromise(Effect.flip(engine.decide(`${"a".repeat(60)}b`, [expression("^(a|aa)+$")])))
    const begun = performance.now()
    await Effect.runPromise(engine.decide(`${"x".repeat(3_000)}y`, [expression("(?:x|xx)y")]))
    took.push(performance.now() - begun)
  }
  return bound("the next decision behind one out of budget", median(took), 100, " ms")
}

export const regex = async ({ quick }) => {
  const scope = Effect.runSync(Scope.make())
  const make = (budget) => Effect.runPromise(Scope.extend(RegexEngine.make({ budget }), scope))
  const command = python("regex", console.log)
  const peer = startWorker("Python", command, [join(import.meta.dirname, "../../interop/regex/clock.py")])
  try {
    const sides = { engine: await make("1 minute"), peer, rounds: quick ? 5 : 20 }
    const held = [
      await compare("ASCII", text(false), sides),
      await compare("with other signs", text(true), sides),
      await recovery(await make("100 millis"), quick ? 3 : 10)
    ]
    return held.every(Boolean)
  } finally {
    await peer.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
