// The rows that put a load on all sides: `tools-call` and `data-get`.
import { expressStateful, expressStateless, ours, pythonData, pythonTools, raw } from "../lib/contenders.mjs"
import { send } from "../lib/http.mjs"
import { compareLoads } from "../lib/load.mjs"
import * as mcp from "../lib/mcp.mjs"
import { withServers } from "../lib/process.mjs"
import { bound, mebibytes, micros, perSecond, ratio, table } from "../lib/report.mjs"

const counts = (quick) => quick ? [2_000, 4_000] : [6_000, 30_000]

/** Loads all contenders, prints a table for each phase; `bounds(against)` gets the ratio of ours to any of them. */
const loadRow = (contenders, prepare, bounds) => async ({ quick }) =>
  withServers(contenders, async (servers) => {
    const upTo = counts(quick)
    const phases = await compareLoads(servers, upTo, prepare)
    let held = true
    for (const [n, phase] of phases.entries()) {
      const own = phase[0].cpu
      console.log(n === 0 ? `  the first ${upTo[0]} requests, after a warm-up of 500` : `  then up to ${upTo[n]}`)
      table([
        ["", "CPU/request", "ours is", "requests", "resident"],
        ...servers.map((server, i) => [
          server.contender.name,
          micros(phase[i].cpu),
          i === 0 ? "" : ratio(own / phase[i].cpu),
          perSecond(phase[i].rate),
          mebibytes(server.resident())
        ])
      ])
      const against = (contender) => own / phase[contenders.indexOf(contender)].cpu
      held = bounds(against).every((holds) => holds) && held
    }
    return held
  })

export const toolsCall = loadRow(
  [ours, pythonTools, expressStateful, expressStateless, raw],
  async ({ port }, agent) => {
    const headers = await mcp.open(port, agent)
    await mcp.initialized(port, agent, headers)
    return (id) => mcp.call(port, agent, headers, id + 1)
  },
  (against) => [
    bound("CPU per tools/call, of Python's", against(pythonTools), 1 / 12),
    bound("CPU per tools/call, of Express stateful's", against(expressStateful), 0.6)
  ]
)

const rpc = async (port, agent, method, params, id) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params })
  const answer = await send(port, "/agentenv", { agent, body })
  if (answer.status !== 200 || !answer.text.includes("\"result\"")) {
    throw new Error(`${method} answered ${answer.status}: ${answer.text}`)
  }
  return answer.text
}

export const dataGet = loadRow(
  [ours, pythonData, raw],
  async ({ port }, agent) => {
    await rpc(port, agent, "data/reset", {}, 1)
    await rpc(port, agent, "data/add", { parts: [{ kind: "data", data: { parcels: ["lamp", "kettle", "atlas"] } }] }, 2)
    return (id) => rpc(port, agent, "data/get", {}, id + 3)
  },
  (against) => [
    bound("CPU per data/get, of Python's", against(pythonData), 0.45),
    bound("CPU per data/get, of raw node's", against(raw), 1.6)
  ]
)
