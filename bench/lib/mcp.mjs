// The requests of an MCP client of the session era, without the client.
import { send } from "./http.mjs"

const accept = { accept: "application/json, text/event-stream" }
const version = "2025-06-18"

const initializeBody = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } }
})

/** Opens a session; answers the headers of its requests. */
export const open = async (port, agent) => {
  const answer = await send(port, "/mcp", { agent, body: initializeBody, headers: accept })
  if (answer.status !== 200) throw new Error(`initialize answered ${answer.status}: ${answer.text}`)
  const session = answer.headers["mcp-session-id"]
  return {
    ...accept,
    "mcp-protocol-version": version,
    ...(session === undefined ? {} : { "mcp-session-id": session })
  }
}

/** What a client says when it knows its session. */
export const initialized = async (port, agent, headers) => {
  const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })
  const answer = await send(port, "/mcp", { agent, body, headers })
  if (answer.status !== 202) throw new Error(`initialized answered ${answer.status}: ${answer.text}`)
}

/** Calls the tool; throws unless it answered. */
export const call = async (port, agent, headers, id) => {
  const body = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"caller_line","arguments":{}}}`
  const answer = await send(port, "/mcp", { agent, body, headers })
  if (answer.status !== 200 || !answer.text.includes("\"structuredContent\":{\"result\":\"role=none session=")) {
    throw new Error(`tools/call answered ${answer.status}: ${answer.text}`)
  }
}
