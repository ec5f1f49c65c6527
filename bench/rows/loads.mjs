// The rows that put a load on all sides: an environment's `tools-call` and `data-get`, and what agents are asked again and again.
import { ask, wires } from "../lib/a2a.mjs"
import {
  agentFull,
  agentPlain,
  agentPlainV1,
  expressA2a,
  expressStateful,
  expressStateless,
  ours,
  pythonA2a,
  pythonData,
  pythonReference,
  pythonTools,
  raw
} from "../lib/contenders.mjs"
import { send } from "../lib/http.mjs"
import { compareLoads } from "../lib/load.mjs"
import * as mcp from "../lib/mcp.mjs"
import { withServers } from "../lib/process.mjs"
import { bound, mebibytes, micros, perSecond, ratio, table } from "../lib/report.mjs"

const counts = (quick) => quick ? [2_000, 4_000] : [6_000, 30_000]

/**
 * Loads all contenders, prints a table for each phase; `bounds(against)` gets the ratio of ours, the first of them or another, to any of
 * them.
 */
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
      const cpuOf = (contender) => phase[contenders.indexOf(contender)].cpu
      const against = (contender, mine = contenders[0]) => cpuOf(mine) / cpuOf(contender)
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

export const messageSend = loadRow(
  [agentPlain, agentPlainV1, pythonA2a, expressA2a, raw],
  async ({ contender, port }, agent) => {
    const wire = contender === agentPlainV1 || contender === expressA2a ? wires["1.0"] : wires["0.3"]
    return (id) => ask(port, agent, wire, "hello", id)
  },
  (against) => [
    bound("CPU per message/send, of Python's", against(pythonA2a), 0.25),
    bound("CPU per SendMessage, of Express's", against(expressA2a, agentPlainV1), 0.55)
  ]
)

const read = async (port, agent, path, part) => {
  const answer = await send(port, path, { agent })
  if (answer.status !== 200 || !answer.text.includes(part)) {
    throw new Error(`${path} answered ${answer.status}: ${answer.text.slice(0, 500)}`)
  }
}

const post = async (port, agent, path, value) => {
  const answer = await send(port, path, { agent, body: JSON.stringify(value) })
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text.slice(0, 500)}`)
  return answer.text
}

export const configGet = loadRow(
  [agentFull, pythonReference],
  async ({ port }, agent) => {
    await post(port, agent, "/ext/agent-config", { model: "kestrel-2", harness: "loop" })
    return () => read(port, agent, "/ext/agent-config", "kestrel-2")
  },
  (against) => [bound("CPU per agent-config get, of Python's", against(pythonReference), 0.55)]
)

export const cardRead = loadRow(
  [agentFull, pythonReference],
  async ({ port }, agent) => () => read(port, agent, "/.well-known/agent-card.json", "urn:agentenv:agent-config/v1"),
  (against) => [bound("CPU per card read, of Python's", against(pythonReference), 0.4)]
)

const rule = {
  id: "cancel",
  when: { type: "conversational", where: { message: { regex: "(?i)\\bcancel(?:led|lation)?\\b" } } },
  actions: [{ type: "say", text: "Why?" }],
  once: false
}

export const decide = loadRow(
  [agentFull, pythonReference],
  async ({ port }, agent) => {
    await post(port, agent, "/ext/triggers", { triggers: [rule] })
    let turn = 0
    return async (id) => {
      turn++
      const [solver_message, fires] = id % 2 === 0
        ? ["Please cancel my order.", true]
        : ["Where is my parcel? It was sent a week ago.", false]
      const request = { turn, context_id: `c-${turn % 64}`, solver_message }
      const text = await post(port, agent, "/ext/triggers/decide", request)
      if (text.includes("Why?") !== fires) throw new Error(`decide answered ${text}`)
    }
  },
  (against) => [bound("CPU per decide with one rule, of Python's", against(pythonReference), 0.8)]
)
