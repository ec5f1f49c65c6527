// The row about tool access: what rules cost those who list tools.
import { toolsByRole, toolsForAll } from "../lib/contenders.mjs"
import { send } from "../lib/http.mjs"
import { compareLoads } from "../lib/load.mjs"
import * as mcp from "../lib/mcp.mjs"
import { withServers } from "../lib/process.mjs"
import { bound, micros, perSecond, ratio, table } from "../lib/report.mjs"

const roles = 50

const post = async (port, agent, path, body) => {
  const answer = await send(port, path, { agent, body: JSON.stringify(body) })
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
}

/** A rule against one tool and for ten others each, so that all lists are about as long. */
const setRules = async (port, agent) => {
  for (let n = 0; n < roles; n++) {
    const named = Array.from({ length: 10 }, (_, i) => `tool_${(n * 10 + i + 1) % 500}`)
    await post(port, agent, "/tools/disable", { role: `role-${n}`, tools: [`tool_${n * 10}`] })
    await post(port, agent, "/tools/enable", { role: `role-${n}`, tools: named })
  }
}

const list = async (port, agent, headers, id, count) => {
  const body = `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{}}`
  const answer = await send(port, "/mcp", {
    agent,
    body,
    headers: { ...headers, "agentenv-role": `role-${id % roles}` }
  })
  const listed = answer.text.split("\"inputSchema\"").length - 1
  if (answer.status !== 200 || listed !== count) {
    throw new Error(`tools/list answered ${answer.status} with ${listed} tools: ${answer.text.slice(0, 200)}`)
  }
}

export const toolLists = ({ quick }) =>
  withServers([toolsByRole, toolsForAll], async (servers) => {
    const [phase] = await compareLoads(servers, [quick ? 1_000 : 4_000], async ({ contender, port }, agent) => {
      const withRules = contender === toolsByRole
      if (withRules) await setRules(port, agent)
      const headers = await mcp.open(port, agent)
      await mcp.initialized(port, agent, headers)
      return (id) => list(port, agent, headers, id + 1, withRules ? 499 : 500)
    })
    const [ruled, free] = phase
    table([
      ["tools/list of 500 tools", "CPU/request", "of without", "requests"],
      ...phase.map((side, i) => [
        servers[i].contender.name,
        micros(side.cpu),
        i === 0 ? ratio(ruled.cpu / free.cpu) : "",
        perSecond(side.rate)
      ])
    ])
    return bound(`CPU of a list with rules for ${roles} roles, of one without`, ruled.cpu / free.cpu, 1.2)
  })
