// The row of trajectories: a task that records many events, which are then read page by page.
import { ask, wires } from "../lib/a2a.mjs"
import { agentFull, pythonReference } from "../lib/contenders.mjs"
import { agent, send } from "../lib/http.mjs"
import { withServers } from "../lib/process.mjs"
import { bound, mebibytes, millis, reaches, table } from "../lib/report.mjs"

const page = 100

/** Records `count` events and reads them all; answers the CPU of both in milliseconds. */
const record = async (server, own, count) => {
  const begun = server.cpu()
  const answer = await ask(server.port, own, wires["0.3"], `append ${count}`, 1)
  const task_id = JSON.parse(answer).result.id
  const appended = server.cpu()
  let after = 0
  for (let more = true; more;) {
    const body = JSON.stringify({ task_id, after, limit: page })
    const { status, text } = await send(server.port, "/ext/trajectory", { agent: own, body })
    if (status !== 200) throw new Error(`a page answered ${status}: ${text}`)
    const { events, has_more, next } = JSON.parse(text)
    if (events[0].index !== after || events.length !== page || next !== after + page) {
      throw new Error(`a page is ${text}`)
    }
    after = next
    more = has_more
  }
  if (after !== count) throw new Error(`${after} of ${count} events were read`)
  return { append: (appended - begun) / 1_000, read: (server.cpu() - appended) / 1_000 }
}

export const trajectories = async ({ quick }) => {
  const count = quick ? 20_000 : 100_000
  const limit = 16
  const ours = { ...agentFull, command: (port) => agentFull.command(port, [`${limit}`]) }
  return withServers([ours, pythonReference], async (servers) => {
    const own = agent(1)
    const figures = []
    for (const server of servers) {
      await record(server, own, count)
      const figure = {}
      for (const size of [count / 2, count]) {
        const runs = []
        for (let round = 0; round < 3; round++) runs.push(await record(server, own, size))
        const least = (of) => Math.min(...runs.map((run) => run[of]))
        figure[size] = {
          append: least("append"),
          read: least("read"),
          both: Math.min(...runs.map((run) => run.append + run.read))
        }
      }
      figures.push(figure)
    }
    // some times the limit, in tasks each of which is below it
    const held = []
    for (let written = 0; written < 4 * limit * 1024 ** 2; written += 20_000 * 50) {
      await ask(servers[0].port, own, wires["0.3"], "append 20000", 1)
      held.push(await servers[0].resident())
    }
    const heap = await servers[0].heap()
    own.destroy()
    const [mine, python] = figures.map((figure) => figure[count])
    const half = figures[0][count / 2]
    table([
      [`CPU of ${count} events`, "append", `read by ${page}`, "both", "times ours"],
      ...figures.map((figure, i) => [
        servers[i].contender.name,
        millis(figure[count].append),
        millis(figure[count].read),
        millis(figure[count].both),
        i === 0 ? "" : (figure[count].both / mine.both).toFixed(2)
      ])
    ])
    console.log(`  ours after events of ${4 * limit} MB, of which ${limit} MB are kept: heap ${mebibytes(heap)}`)
    return [
      bound(`CPU of ${count} events, of ${count / 2}`, mine.both / half.both, 2.3),
      reaches("CPU of Python's, of ours", python.both / mine.both, 5),
      bound("heap with a full log", heap / 1024 / 1024, 40 + 3 * limit, " MB")
    ].every((holds) => holds)
  })
}
