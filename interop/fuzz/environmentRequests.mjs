// Requests over every route of the fuzzed environment, as clients that mean well send them.

const secret = "canary-grant-secret"
const grant = {
  root_path: "runs/7",
  expires_at: "2099-01-01T00:00:00Z",
  max_objects: 4,
  max_object_bytes: 1024,
  max_total_bytes: 2048,
  write: {
    kind: "http-post-policy",
    url: `https://store.example/${secret}`,
    fields: { policy: secret },
    path_field: "key",
    file_field: "file"
  }
}
const client = { name: "fuzz", version: "1" }
const tree = {
  label: "root",
  children: [{ label: "a", children: [] }, { label: "b", children: [{ label: "c", children: [] }] }]
}
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": client,
  "io.modelcontextprotocol/clientCapabilities": {}
}

const rpc = (method, params) => ({ jsonrpc: "2.0", id: 1, method, ...(params === undefined ? {} : { params }) })
const data = (method, params) => ({ method: "POST", path: "/agentenv", body: rpc(method, params) })
const mcp = (method, params, headers = {}) => ({
  method: "POST",
  path: "/mcp",
  headers: { accept: "application/json, text/event-stream", ...headers },
  body: rpc(method, params)
})
const tool = (name, args, meta) =>
  mcp("tools/call", { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) })
const modern = (method, params, name) =>
  mcp(method, { ...params, _meta: envelope }, {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": name })
  })

/** One of each. */
export const valid = [
  () => ({ method: "GET", path: "/.well-known/agent-env.json" }),
  () => ({ method: "GET", path: "/health" }),
  () => ({ method: "GET", path: "/agentenv/interface-manifest" }),
  () => ({ method: "GET", path: "/agentenv/interface-manifest/cli" }),
  () => data("data/reset", { seed: 7 }),
  () => data("data/reset"),
  () => data("data/add", { parts: [{ kind: "data", data: { a: 1 } }, { kind: "text", text: "b" }] }),
  () =>
    data("data/add", {
      parts: [{ kind: "file", file: { bytes: "e30=", mimeType: "application/json", name: "a.json" } }]
    }),
  () => data("data/get", {}),
  () => data("data/get", { write_namespace: grant }),
  () => mcp("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: client }),
  () => mcp("ping"),
  () => mcp("tools/list", {}),
  () => mcp("resources/list"),
  () => mcp("resources/templates/list"),
  () => mcp("resources/read", { uri: "full://note" }),
  () => mcp("resources/read", { uri: "full://shelf/b2" }),
  () => mcp("prompts/list"),
  () => mcp("prompts/get", { name: "greet", arguments: { name: "Ann", times: "2" } }),
  () => mcp("logging/setLevel", { level: "info" }),
  () => ({ ...mcp("notifications/cancelled", { requestId: 1 }), notification: true }),
  () => ({ ...mcp("notifications/initialized"), notification: true }),
  () => tool("full_ship", { label: "teapot", count: 2, when: "2026-01-02T03:04:05Z", how: "slow" }),
  () => tool("full_ship", { label: "none" }, { "agentenv.io/role": "clerk", "agentenv.io/session": "s" }),
  () => tool("echo", { value: { any: [1, "two", null] } }),
  () => tool("plant", { tree }),
  () => tool("wait", { ms: 1 }, { progressToken: "p" }),
  () => tool("fail", { how: "coded" }),
  () => tool("fail", { how: "plain" }),
  () => tool("fail", { how: "defect" }),
  () => modern("server/discover", {}),
  () => modern("tools/list", {}),
  () => modern("tools/call", { name: "echo", arguments: { value: 1 } }, "echo"),
  () => ({ method: "GET", path: "/mcp", headers: { accept: "text/event-stream" } }),
  () => ({ method: "DELETE", path: "/mcp", headers: { "mcp-session-id": "none" } }),
  () => ({
    method: "POST",
    path: "/agentenv/ext/tag",
    headers: { "agentenv-role": "clerk" },
    body: { label: "a", upper: true, on: "2026-01-02T00:00:00Z" }
  }),
  () => ({ method: "GET", path: "/agentenv/ext/find?text=a&limit=2&level=3&all=yes" }),
  () => ({ method: "GET", path: "/agentenv/ext/fuzz/kiln/heat" }),
  () => ({ method: "PUT", path: "/agentenv/ext/fuzz/kiln/set", body: { heat: 3 } }),
  () => ({ method: "POST", path: "/agentenv/ext/fuzz/kiln/fail", body: { how: "defect" } })
]

/** Where requests go when they go astray. */
export const paths = [
  "/",
  "/nowhere",
  "/agentenv/ext/",
  "/%ff",
  "/agentenv/ext/find?text=%ff&limit=%00&limit=2"
]

/** Names that a mutation adds to an object. */
export const names = ["kiln", "__proto__", "constructor", "", "params", "_meta", "cursor"]

/** What no answer may show. */
export const secrets = [secret, "canary-private-detail"]
