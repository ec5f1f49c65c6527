// Express with the official MCP SDK, as its documentation has it: `PORT stateful|stateless`. The tool is that of `ours.mjs`, answered as
// JSON like ours, which is its faster way.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import express from "express"
import { randomUUID } from "node:crypto"
import * as z from "zod"
import { collectedMemory } from "./memory.mjs"

const [port, mode] = process.argv.slice(2)

const newServer = () => {
  const server = new McpServer({ name: "parcels", version: "0.1.0" })
  server.registerTool(
    "caller_line",
    { description: "Who calls.", outputSchema: { result: z.string() } },
    (extra) => {
      const role = extra._meta?.["agentenv.io/role"] ?? extra.requestInfo?.headers["agentenv-role"]
      const line = `role=${role ?? "none"} session=${extra.sessionId ?? "none"}`
      return { content: [{ type: "text", text: line }], structuredContent: { result: line } }
    }
  )
  return server
}

const transports = new Map()

const stateful = async (request, response) => {
  const known = transports.get(request.headers["mcp-session-id"])
  if (known !== undefined) return known.handleRequest(request, response, request.body)
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => transports.set(id, transport),
    onsessionclosed: (id) => transports.delete(id)
  })
  await newServer().connect(transport)
  await transport.handleRequest(request, response, request.body)
}

const stateless = async (request, response) => {
  const server = newServer()
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  response.on("close", () => {
    void transport.close()
    void server.close()
  })
  await server.connect(transport)
  await transport.handleRequest(request, response, request.body)
}

const app = express()
app.use(express.json())
app.post("/mcp", mode === "stateless" ? stateless : stateful)
app.get("/health", (_, response) => {
  response.json({ status: "ok" })
})
app.get("/bench/memory", (_, response) => {
  response.json(collectedMemory())
})
app.listen(Number(port), "127.0.0.1")
