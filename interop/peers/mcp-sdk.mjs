// The MCP SDK's own clients against our servers: v1, and v2 in both eras (with sessions, and the sessionless 2026-07-28).
import * as v2 from "@modelcontextprotocol/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ElicitRequestSchema, LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js"

export const name = "mcp-sdk"
export const order = 30
export const quick = "calls at once: 8 instead of 200"

const info = { name: "interop", version: "1.0.0" }
const capabilities = { elicitation: {} }

/** Both majors behind one face: `connect` gives a client, `version` is the revision that they must agree on. */
const kinds = [
  {
    label: "v1",
    version: "2025-11-25",
    sessions: true,
    connect: async (url, heard) => {
      const client = new Client(info, { capabilities })
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => heard(params))
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => accept(params))
      const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`))
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
      connect: async (url, heard) => {
        const client = new v2.Client(info, { capabilities, versionNegotiation: { mode } })
        client.setNotificationHandler("notifications/message", ({ params }) => heard(params))
        client.setRequestHandler("elicitation/create", ({ params }) => accept(params))
        const transport = new v2.StreamableHTTPClientTransport(new URL(`${url}/mcp`))
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

export const run = async (context) => {
  const checks = context.checks()
  for (const kind of kinds) {
    const { url } = await context.ours("full-env")
    await checks.check(`${kind.label}: runs to its end`, () => drive(context, checks, url, kind))
  }
  return checks.result()
}
