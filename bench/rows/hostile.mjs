// The row of hostile triggers: what an agent does while patterns that never end are searched for in a long text.
import { setTimeout as sleep } from "node:timers/promises"
import { agentFull } from "../lib/contenders.mjs"
import { agent, send } from "../lib/http.mjs"
import { withServers } from "../lib/process.mjs"
import { bound, millis, table } from "../lib/report.mjs"

/** What the patterns of a decision have together unless an agent says otherwise, in milliseconds. */
const budget = 1_000
const rules = 256
const length = 200_000

/** A look-ahead leaves no way but to backtrack, and that takes twice as long with every letter; no answer to one helps another. */
const triggers = Array.from({ length: rules }, (_, index) => ({
  id: `hostile-${index}`,
  when: { type: "conversational", where: { message: { regex: `(?=(\\w+\\s?)*[!?]{${index + 2}})\\w` } } },
  actions: [{ type: "say", text: "?" }],
  once: false
}))

const post = async (port, own, path, value) => {
  const body = JSON.stringify(value)
  const begun = performance.now()
  const { status, text } = await send(port, path, { agent: own, body })
  return { status, text, took: performance.now() - begun }
}

/** Asks for health until `done`, one question a few milliseconds after the other; answers how long each took. */
const watch = async (port, own, done) => {
  const took = []
  while (!done()) {
    const begun = performance.now()
    const { status } = await send(port, "/health", { agent: own })
    if (status !== 200) throw new Error(`/health answered ${status}`)
    took.push(performance.now() - begun)
    await sleep(2)
  }
  return took
}

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]

export const hostile = ({ quick }) =>
  withServers([agentFull], async ([{ port }]) => {
    const own = agent(4)
    const ask = (context_id, solver_message) =>
      post(port, own, "/ext/triggers/decide", { turn: 1, context_id, solver_message })
    const registered = await post(port, own, "/ext/triggers", { triggers })
    if (registered.status !== 200) throw new Error(`register answered ${registered.status}: ${registered.text}`)
    const rounds = []
    for (let round = 0; round < (quick ? 3 : 7); round++) {
      let done = false
      const [slow, health] = await Promise.all([
        ask(`slow-${round}`, "parcels ".repeat(length / 8).slice(1) + "!").finally(() => {
          done = true
        }),
        watch(port, own, () => done)
      ])
      const next = await ask(`next-${round}`, "Where is my parcel?")
      if (slow.status !== 504) throw new Error(`a hostile decision answered ${slow.status}: ${slow.text}`)
      if (next.status !== 200) throw new Error(`the next decision answered ${next.status}: ${next.text}`)
      rounds.push({ slow: slow.took, health: percentile(health, 0.99), next: next.took })
    }
    own.destroy()
    const median = (of) => rounds.map((round) => round[of]).toSorted((a, b) => a - b)[rounds.length >> 1]
    table([
      [`${rules} rules on ${length} characters`, "median", "most"],
      ...[["until the 504", "slow"], ["/health meanwhile, p99", "health"], ["the next decision", "next"]].map(
        ([what, of]) => [what, millis(median(of)), millis(Math.max(...rounds.map((round) => round[of])))]
      )
    ])
    return [
      bound("until the 504, beyond the budget", median("slow") - budget, 50, " ms"),
      bound("/health meanwhile, p99", median("health"), 50, " ms"),
      bound("the next decision", median("next"), 100, " ms")
    ].every((holds) => holds)
  })
