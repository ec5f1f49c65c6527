// The floor: node's own server doing the same JSON work with nothing around it: `PORT`. It checks what a client could get wrong and
// nothing more; what is above it is the price of a framework.
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"

const sessions = new Map()
const parcels = []

const answer = (response, status, value, headers) => {
  const text = JSON.stringify(value)
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers
  })
  response.end(text)
}

const success = (id, result) => ({ jsonrpc: "2.0", id, result })
const failure = (id, code, message) => ({ jsonrpc: "2.0", id, error: { code, message } })

const call = (request, id, params) => {
  if (params?.name !== "caller_line") return failure(id, -32602, "Unknown tool")
  const role = params._meta?.["agentenv.io/role"] ?? request.headers["agentenv-role"]
  const line = `role=${role ?? "none"} session=${request.headers["mcp-session-id"] ?? "none"}`
  return success(id, {
    content: [{ type: "text", text: line }],
    structuredContent: { result: line },
    isError: false
  })
}

const mcp = (request, response, { id, method, params }) => {
  if (method === "initialize") {
    const session = randomUUID()
    sessions.set(session, { seen: Date.now() })
    return answer(
      response,
      200,
      success(id, {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "parcels", version: "0.1.0" }
      }),
      { "mcp-session-id": session }
    )
  }
  const session = sessions.get(request.headers["mcp-session-id"])
  if (session === undefined) return answer(response, 404, failure(id ?? null, -32001, "Session not found"))
  session.seen = Date.now()
  if (id === undefined) return response.writeHead(202).end()
  if (method === "tools/call") return answer(response, 200, call(request, id, params))
  answer(response, 200, failure(id, -32601, "Method not found"))
}

const dataPlane = (response, { id, method, params }) => {
  switch (method) {
    case "data/reset":
      parcels.length = 0
      return answer(response, 200, success(id, {}))
    case "data/add":
      for (const part of params.parts) parcels.push(...part.data.parcels)
      return answer(response, 200, success(id, {}))
    case "data/get":
      return answer(response, 200, success(id, { parts: [{ kind: "data", data: { parcels } }] }))
    default:
      return answer(response, 200, failure(id, -32601, "Method not found"))
  }
}

const agentMessage = (text, contextId, taskId) => ({
  kind: "message",
  messageId: randomUUID(),
  role: "agent",
  parts: [{ kind: "text", text }],
  contextId,
  taskId
})

const a2a = (response, { id, method, params }) => {
  if (method !== "message/send") return answer(response, 200, failure(id, -32601, "Method not found"))
  const [taskId, contextId] = [randomUUID(), randomUUID()]
  const status = {
    state: "completed",
    message: agentMessage("done", contextId, taskId),
    timestamp: new Date().toISOString()
  }
  answer(
    response,
    200,
    success(id, {
      kind: "task",
      id: taskId,
      contextId,
      status,
      history: [{ ...params.message, contextId, taskId }],
      artifacts: [
        { artifactId: randomUUID(), name: "answer", parts: [{ kind: "text", text: "three parcels are on the shelf" }] }
      ]
    })
  )
}

createServer((request, response) => {
  if (request.url === "/health") return answer(response, 200, { status: "ok" })
  const chunks = []
  request.on("data", (chunk) => chunks.push(chunk))
  request.on("end", () => {
    let message
    try {
      message = JSON.parse(Buffer.concat(chunks).toString())
    } catch {
      return answer(response, 400, failure(null, -32700, "Parse error"))
    }
    if (message?.jsonrpc !== "2.0" || typeof message.method !== "string") {
      return answer(response, 400, failure(null, -32600, "Invalid Request"))
    }
    if (request.url === "/mcp") return mcp(request, response, message)
    if (request.url === "/agentenv") return dataPlane(response, message)
    if (request.url === "/a2a") return a2a(response, message)
    answer(response, 404, { detail: "Not Found" })
  })
}).listen(Number(process.argv[2]), "127.0.0.1")
