// The MCP SDK's own clients against our servers: v1, and v2 in both eras (with sessions, and the sessionless 2026-07-28).
import * as v2 from "@modelcontextprotocol/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema
} from "@modelcontextprotocol/sdk/types.js"

export const name = "mcp-sdk"
export const order = 30
export const quick = "calls at once: 8 instead of 200"

const info = { name: "interop", version: "1.0.0" }
const capabilities = { elicitation: {} }

const requestsOf = (role) => role === undefined ? {} : { requestInit: { headers: { "AgentEnv-Role": role } } }

/** Both majors behind one face: `connect` gives a client, `version` is the revision that they must agree on. */
const kinds = [
  {
    label: "v1",
    version: "2025-11-25",
    sessions: true,
    connect: async (url, heard, { onTools = () => {}, role } = {}) => {
      const client = new Client(info, { capabilities })
      client.setNotificationHandler(ToolListChangedNotificationSchema, onTools)
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => heard(params))
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => accept(params))
      const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), requestsOf(role))
      await client.connect(transport)
      return {
        client,
        transport,
        version: () => transport.protocolVersion,
        call: (tool, args = {}, options = {}) => client.callTool({ name: tool, arguments: args }, undefined, options)
      }
    }
  },
  ...[["v2 with a session", "2025-11-25", "legacy"], ["v2 without sessions", "2026-07-28", "auto"]].map(
    ([label, version, mode]) => ({
      label,
      version,
      sessions: mode === "legacy",
      connect: async (url, heard, { onTools = () => {}, role } = {}) => {
        const client = new v2.Client(info, { capabilities, versionNegotiation: { mode } })
        client.setNotificationHandler("notifications/tools/list_changed", onTools)
        client.setNotificationHandler("notifications/message", ({ params }) => heard(params))
        client.setRequestHandler("elicitation/create", ({ params }) => accept(params))
        const transport = new v2.StreamableHTTPClientTransport(new URL(`${url}/mcp`), requestsOf(role))
        await client.connect(transport)
        return {
          client,
          transport,
          version: () => client.getNegotiatedProtocolVersion(),
          call: (tool, args = {}, options = {}) => client.callTool({ name: tool, arguments: args }, options)
        }
      }
    })
  )
]

const accept = ({ message }) => ({ action: "accept", content: { label: message } })

const until = async (holds, patience = 3000) => {
  const deadline = Date.now() + patience
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`it is not so after ${patience} ms`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

const drive = async (context, checks, url, { connect, label, sessions, version }) => {
  const { equal, truthy } = context
  const logs = []
  const opened = await connect(url, ({ data, level }) => logs.push([level, data]))
  const { call, client, transport } = opened
  const check = (title, run) => checks.check(`${label}: ${title}`, run)
  const interrupted = async () => (await call("interrupted")).structuredContent.result

  await check(`agrees on ${version}`, () => {
    equal(opened.version(), version)
    equal(client.getServerVersion().name, "parcels")
    equal(transport.sessionId !== undefined, sessions)
  })
  await check("lists tools", async () => {
    const { tools } = await client.listTools()
    equal(tools.map((tool) => tool.name).toSorted(), [
      "ask_label",
      "count_shelf",
      "interrupted",
      "parcels_weigh",
      "refuse",
      "report",
      "slow",
      "who_am_i"
    ])
    equal(tools.find((tool) => tool.name === "parcels_weigh")._meta, { "parcels.io/shelf": "b2" })
  })
  await check("lists and reads resources and prompts", async () => {
    equal((await client.listResources()).resources.map(({ uri }) => uri), ["parcels://note"])
    equal((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
      "parcels://shelf/{shelf}"
    ])
    equal((await client.readResource({ uri: "parcels://note" })).contents[0].text, "fragile")
    equal((await client.listPrompts()).prompts.map((prompt) => prompt.name), ["sort"])
    const { messages } = await client.getPrompt({ name: "sort", arguments: { by: "weight" } })
    equal(messages[0].content.text, "Sort the parcels by weight.")
  })
  await check("calls: text, structured output, a failure with its fields", async () => {
    equal((await call("parcels_weigh", { label: "a", times: 2 })).content, [{ type: "text", text: "a weighs 6" }])
    equal((await call("count_shelf", { shelf: "b2" })).structuredContent, { shelf: "b2", count: 0 })
    const refused = await call("refuse", { label: "crate" })
    equal(refused.isError, true)
    equal(refused.structuredContent, {
      code: "stock_empty",
      message: "no crate left",
      retryable: true,
      applied: "no",
      hint: "restock first"
    })
    equal((await call("parcels_weigh", { label: 3 })).isError, true)
  })
  const count = context.quick ? 8 : 200
  await check(`${count} calls at once`, async () => {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => call("parcels_weigh", { label: `p${index}` }))
    )
    equal(answers.map(({ content }) => content[0].text), answers.map((_, index) => `p${index} weighs 3`))
  })
  await check("hears progress", async () => {
    const steps = []
    const answer = await call("report", { steps: 3 }, { onprogress: (step) => steps.push(step) })
    equal(answer.content[0].text, "3 steps")
    equal(steps, [1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })))
  })
  if (sessions) {
    await check("hears logs at the level it asked for", async () => {
      await client.setLoggingLevel("info")
      logs.length = 0
      await call("report", { steps: 2 })
      equal(logs, [["info", { step: 1 }], ["info", { step: 2 }]])
      await client.setLoggingLevel("error")
      logs.length = 0
      await call("report", { steps: 2 })
      equal(logs, [])
    })
    await check("is asked", async () => {
      equal((await call("ask_label")).content[0].text, "accept Which label?")
    })
  } else {
    await check("isn't asked: the revision has no requests of a server", async () => {
      equal((await call("ask_label")).isError, true)
    })
  }
  await check("aborts a call, which is interrupted, and goes on", async () => {
    const before = await interrupted()
    const abort = new AbortController()
    const slow = call("slow", { seconds: 20 }, { signal: abort.signal }).then(() => "answered", () => "aborted")
    await new Promise((resolve) => setTimeout(resolve, 200))
    abort.abort()
    equal(await slow, "aborted")
    await until(async () => (await interrupted()) === before + 1)
  })
  await check("times out, which interrupts the call, and goes on", async () => {
    const before = await interrupted()
    equal(await call("slow", { seconds: 20 }, { timeout: 200 }).then(() => "answered", () => "timed out"), "timed out")
    await until(async () => (await interrupted()) === before + 1)
  })
  await check("two clients at once", async () => {
    const other = await connect(url, () => {})
    const slow = call("slow", { seconds: 0.5 })
    equal((await other.call("parcels_weigh", { label: "b" })).content[0].text, "b weighs 3")
    const [mine, theirs] = await Promise.all([call("who_am_i"), other.call("who_am_i")])
    equal(mine.structuredContent.session, sessions ? transport.sessionId : null)
    equal(theirs.structuredContent.session, sessions ? other.transport.sessionId : null)
    if (sessions) truthy(transport.sessionId !== other.transport.sessionId, "one session for two clients")
    equal((await slow).content[0].text, "done at last")
    await other.client.close()
  })
  if (sessions) {
    await check("ends its session", async () => {
      const session = transport.sessionId
      await transport.terminateSession()
      const answer = await fetch(`${url}/mcp`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "accept": "application/json, text/event-stream",
          "mcp-session-id": session
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })
      })
      equal(answer.status, 404)
    })
  }
  await client.close()
}

const post = async (url, body) => {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`)
  return answer.json()
}

/** Makes a change again and again, since nobody says when the client's stream is open; then lets the last one arrive. */
const untilHeard = async (heard, change) => {
  await until(async () => {
    await change()
    await new Promise((resolve) => setTimeout(resolve, 50))
    return heard() > 0
  })
  await new Promise((resolve) => setTimeout(resolve, 200))
}

const driveLists = async ({ equal, ours }, checks, { connect, label, sessions }) => {
  const check = (title, run) => checks.check(`${label}: ${title}`, run)
  const [shop, doors] = await Promise.all([ours("tools-env"), ours("access-env")])
  const listen = async (url, role) => {
    let count = 0
    const opened = await connect(url, () => {}, { onTools: () => count++, role })
    const tools = async () => (await opened.client.listTools()).tools
    return {
      heard: () => count,
      forget: () => count = 0,
      close: () => opened.client.close(),
      capability: opened.client.getServerCapabilities().tools,
      tools,
      names: async () => (await tools()).map((tool) => tool.name).toSorted(),
      call: opened.call
    }
  }
  const describe = (description) => post(`${shop.url}/agentenv/ext/describe`, { name: "weigh", description })
  const disable = (role, tools) => post(`${doors.url}/tools/disable`, { role, tools })
  const enable = (role, tools) => post(`${doors.url}/tools/enable`, { role, tools })

  await check("a tool's changed description, heard where there are sessions", async () => {
    const client = await listen(shop.url)
    equal(client.capability, sessions ? { listChanged: true } : {})
    const weigh = (await client.tools()).find((tool) => tool.name === "weigh")
    equal(weigh.description, "Weighs a parcel.")
    let version = 0
    if (sessions) await untilHeard(client.heard, () => describe(`Words ${++version}.`))
    else await describe(`Words ${++version}.`)
    const after = (await client.tools()).find((tool) => tool.name === "weigh")
    equal([after.description, after.annotations], [`Words ${version}.`, weigh.annotations])
    await client.close()
  })
  await check("rules of a role, heard by its sessions alone", async () => {
    const clerk = await listen(doors.url, "clerk")
    const porter = await listen(doors.url, "porter")
    for (const client of [clerk, porter]) {
      equal(await client.names(), ["close_door", "open_door"])
      if (sessions) {
        let on = false
        await untilHeard(client.heard, () => {
          on = !on
          return on ? disable("*", ["close_door"]) : enable("*", ["close_door"])
        })
      }
      await enable("*", "*")
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
    clerk.forget()
    porter.forget()
    await disable("clerk", ["open_door"])
    if (sessions) await until(() => clerk.heard() === 1)
    await new Promise((resolve) => setTimeout(resolve, 200))
    equal([clerk.heard(), porter.heard()], sessions ? [1, 0] : [0, 0])
    equal(await clerk.names(), ["close_door"])
    equal(await porter.names(), ["close_door", "open_door"])
    const refused = await clerk.call("open_door")
    equal([refused.isError, refused.structuredContent.code], [true, "permission_denied"])
    equal((await porter.call("open_door")).content[0].text, "opened for porter")
    await enable("clerk", ["back_door"])
    equal((await clerk.call("back_door")).content[0].text, "back door opened")
    await Promise.all([clerk.close(), porter.close()])
  })
}

export const run = async (context) => {
  const checks = context.checks()
  for (const kind of kinds) {
    const { url } = await context.ours("full-env")
    await checks.check(`${kind.label}: runs to its end`, () => drive(context, checks, url, kind))
    await driveLists(context, checks, kind)
  }
  return checks.result()
}
