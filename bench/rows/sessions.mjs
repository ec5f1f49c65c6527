// The rows about sessions: what an idle one costs, what abandoned ones leave behind, and many at once.
import { setTimeout as sleep } from "node:timers/promises"
import { expressStateful, ours, pythonTools, raw } from "../lib/contenders.mjs"
import { agent, inParallel } from "../lib/http.mjs"
import * as mcp from "../lib/mcp.mjs"
import { withServers } from "../lib/process.mjs"
import { bound, mebibytes, millis, table } from "../lib/report.mjs"

const openMany = async (port, count) => {
  const own = agent(8)
  await inParallel(count, 8, () => mcp.open(port, own))
  own.destroy()
  // the connections' own memory is no session's
  await sleep(500)
}

/** What is in use: the heap where a server tells it, else its resident memory. */
const usedBy = (server) => server.contender.debug ? server.heap() : Promise.resolve(server.resident())

/** Bytes of an idle session: what many of them add to a server that has warmed up on some. */
const idleCost = async (server, count) => {
  await openMany(server.port, Math.ceil(count / 10))
  const before = await usedBy(server)
  await openMany(server.port, count)
  return (await usedBy(server) - before) / count
}

export const idleSession = async ({ quick }) => {
  const contenders = [ours, pythonTools, expressStateful]
  const count = quick ? 500 : 3_000
  return withServers(contenders, async (servers) => {
    const costs = []
    for (const server of servers) costs.push(await idleCost(server, count / (server.contender.share ?? 1)))
    table([
      ["", "an idle session", "ours is", "measured as"],
      ...servers.map(({ contender }, i) => [
        contender.name,
        `${(costs[i] / 1024).toFixed(2)} KB`,
        i === 0 ? "" : `1/${(costs[i] / costs[0]).toFixed(0)}`,
        contender.debug ? "heap after collection" : "resident memory"
      ])
    ])
    return bound("heap of an idle session", costs[0] / 1024, 2.5, " KB")
  })
}

export const sessions = async ({ quick }) => {
  const count = quick ? 2_000 : 10_000
  const idleSeconds = 2
  return withServers([ours, expressStateful], async (servers) => {
    const rows = []
    for (const server of servers) {
      // warm-up: what is made once for all sessions
      await openMany(server.port, 200)
      await sleep(server.contender === ours ? 2 * idleSeconds * 1_000 + 500 : 0)
      const before = await server.heap()
      await openMany(server.port, count)
      const opened = await server.heap()
      await sleep(2 * idleSeconds * 1_000 + 500)
      rows.push({ server, before, opened, after: await server.heap() })
    }
    table([
      ["", "heap before", `${count} open`, "after expiry", "of before"],
      ...rows.map(({ after, before, opened, server }) => [
        server.contender.name,
        mebibytes(before),
        mebibytes(opened),
        mebibytes(after),
        (after / before).toFixed(3)
      ])
    ])
    return bound("heap after expiry, of the heap before", rows[0].after / rows[0].before, 1.05)
  }, (contender) => contender === ours ? ["--idle-timeout", `${idleSeconds}`] : [])
}

export const parallel = async () => {
  const count = 512
  return withServers([ours, pythonTools, expressStateful, raw], async (servers) => {
    const rows = []
    for (const server of servers) {
      const failures = []
      const begun = performance.now()
      await inParallel(count, count, async (id) => {
        const own = agent(1)
        try {
          const headers = await mcp.open(server.port, own)
          await mcp.call(server.port, own, headers, id)
        } catch (error) {
          failures.push(error)
        } finally {
          own.destroy()
        }
      })
      rows.push({ server, failures, elapsed: performance.now() - begun })
    }
    table([
      ["", "failures", "all done in"],
      ...rows.map(({ elapsed, failures, server }) => [server.contender.name, `${failures.length}`, millis(elapsed)])
    ])
    for (const { failures, server } of rows) {
      if (failures.length > 0) console.log(`  ${server.contender.name}: ${failures[0].message}`)
    }
    return bound(`failures of ${count} parallel initialize + call`, rows[0].failures.length, 0)
  })
}
