// Seeded requests over every route of the fuzzed environment, half of them mutated.

/** Numbers in [0, 1) that a seed determines. */
const randomness = (seed) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4294967296
  }
}

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

const valid = [
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

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value)

/** Requests, one after another, from a seed. */
export const requests = (seed) => {
  const random = randomness(seed)
  const below = (n) => Math.floor(random() * n)
  const pick = (items) => items[below(items.length)]
  const maybe = (p) => random() < p

  const deep = () => {
    let value = 1
    for (let depth = 0, end = 1 + below(600); depth < end; depth++) value = maybe(0.5) ? [value] : { a: value }
    return value
  }
  const odd = () =>
    pick([
      () => null,
      () => true,
      () => 0,
      () => -1,
      () => 1.5,
      () => 1e308,
      () => "",
      () => "kiln",
      () => "\u0000",
      () => [],
      () => ({}),
      () => "é\u{1f3fa}",
      () => "\ud800",
      () => "x".repeat(1 + below(5000)),
      () => ["a", 1],
      () => ({ a: { b: [] } }),
      () => deep(),
      () => "__proto__",
      () => "constructor",
      () => "2026-13-45T99:99:99Z",
      () => Number.MAX_SAFE_INTEGER,
      () => "../..",
      () => "https://x.example/a?b=c"
    ])()
  const mutate = (value, depth = 0) => {
    if (depth > 0 && maybe(0.25)) return odd()
    if (Array.isArray(value)) {
      const copy = [...value]
      if (maybe(0.2)) copy.push(odd())
      if (copy.length === 0) return copy
      const at = below(copy.length)
      if (maybe(0.15)) copy.splice(at, 1)
      else copy[at] = mutate(copy[at], depth + 1)
      return copy
    }
    if (!isObject(value)) return depth === 0 || maybe(0.3) ? odd() : value
    const keys = Object.keys(value)
    const copy = { ...value }
    if (maybe(0.15)) copy[pick(["kiln", "__proto__", "constructor", "", "params", "_meta", "cursor"])] = odd()
    if (keys.length === 0) return copy
    const key = pick(keys)
    if (maybe(0.12)) delete copy[key]
    else copy[key] = mutate(copy[key], depth + 1)
    return copy
  }
  const scramble = (text) => {
    const bytes = Buffer.from(text)
    if (bytes.length === 0) return bytes
    return pick([
      () => bytes.subarray(0, below(bytes.length)),
      () => {
        const copy = Buffer.from(bytes)
        for (let n = 1 + below(4); n > 0; n--) copy[below(copy.length)] = below(256)
        return copy
      },
      () => Buffer.concat([bytes, bytes]),
      () => Buffer.from("[".repeat(1 + below(120_000))),
      () => Buffer.from(text.replace("\"", "\\ud83d\"")),
      () => Buffer.alloc(150_000 + below(120_000), 0x20)
    ])()
  }

  return () => {
    const request = pick(valid)()
    const headers = { ...request.headers }
    let { method, path } = request
    let body = request.body
    if (request.notification === true) delete body.id
    else if (isObject(body) && "id" in body) body.id = pick([0, 1, 7, "7", "a", below(1000)])
    let payload
    if (body !== undefined) {
      headers["content-type"] = "application/json"
      if (maybe(0.5)) { for (let n = 1 + below(3); n > 0; n--) body = mutate(body) }
      payload = Buffer.from(JSON.stringify(body) ?? "")
      if (maybe(0.08)) payload = scramble(payload.toString())
    }
    if (maybe(0.05)) method = pick(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
    if (maybe(0.04)) {
      path = pick([
        `${path}/`,
        `${path}?a=1`,
        `/${path}`,
        path.toUpperCase(),
        "/",
        "/nowhere",
        "/agentenv/ext/",
        "/%ff",
        "/agentenv/ext/find?text=%ff&limit=%00&limit=2"
      ])
    }
    if (maybe(0.1)) {
      const [name, value] = pick([
        ["content-type", "text/plain"],
        ["content-type", "application/json; charset=utf-16"],
        ["accept", "*/*"],
        ["accept", "text/html"],
        ["mcp-session-id", "nobody"],
        ["mcp-protocol-version", "1999-01-01"],
        ["mcp-protocol-version", "2026-07-28"],
        ["mcp-method", "ping"],
        ["agentenv-role", " "],
        ["idempotency-key", "k"],
        ["last-event-id", "9"],
        ["traceparent", "00-zz"],
        ["origin", "https://x.example"],
        ["content-encoding", "gzip"],
        ["expect", "100-continue"]
      ])
      headers[name] = value
    }
    return { method, path, headers, payload, leaves: maybe(0.02), chunked: maybe(0.1) }
  }
}

export const secrets = [secret, "canary-private-detail"]
