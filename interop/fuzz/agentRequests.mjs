// Requests over every route of the fuzzed agent and both wires, as clients that mean well send them.

const grantSecret = "canary-grant-secret"
const configSecret = "canary-config-secret"
const mcpSecret = "canary-mcp-secret"

/** Stands for the id of a task that the agent told of before. */
export const taskId = "00000000-task-task-task-000000000000"

const stagingPath = "/ext/staging/kiln-0123456789abcdefghijkl"
const expires_at = "2099-01-01T00:00:00Z"

/** An end of a grant in the agent's own staging store, which it finds on the loopback. */
const staged = (kind, name) => ({
  kind,
  expires_at,
  url: `https://127.0.0.1:1${stagingPath}/${name}?signature=${grantSecret}`,
  headers: { "AgentEnv-Staging-Path": `${stagingPath}/${name}`, authorization: `Bearer ${grantSecret}` }
})
const write = (media_type, name) => ({ media_type, max_bytes: 1_000_000, write: staged("http-put", name) })
const read = (media_type, name) => ({ media_type, max_bytes: 1_000_000, read: staged("http-get", name) })
const opaque = "application/octet-stream"
const json = "application/json"
const namespace = {
  root_path: "runs/7",
  expires_at,
  max_objects: 4,
  max_object_bytes: 1024,
  max_total_bytes: 2048,
  write: {
    kind: "http-post-policy",
    url: `https://store.example/${grantSecret}`,
    fields: { policy: grantSecret },
    path_field: "key",
    file_field: "file"
  }
}

const rpc = (method, params, headers) => ({
  method: "POST",
  path: "/a2a",
  ...(headers === undefined ? {} : { headers }),
  body: { jsonrpc: "2.0", id: 1, method, ...(params === undefined ? {} : { params }) }
})
const parts03 = (text) => [
  { kind: "text", text },
  { kind: "file", file: { bytes: "AAEC/w==", mimeType: "image/png", name: "a.png" } },
  { kind: "data", data: { a: [1, null] } }
]
const parts1 = (text) => [
  { text },
  { raw: "AAEC/w==", mediaType: "image/png", filename: "a.png" },
  { url: "https://x.example/a.png" },
  { data: { a: [1, null] } }
]
const send03 = (method, text, more = {}, configuration = {}) =>
  rpc(method, {
    message: { kind: "message", messageId: `m-${text}`, role: "user", parts: parts03(text), ...more },
    configuration: { blocking: true, ...configuration },
    metadata: { tokens: 7 }
  })
const send1 = (method, text, more = {}, configuration = {}) =>
  rpc(method, {
    message: { messageId: `m-${text}`, role: "ROLE_USER", parts: parts1(text), ...more },
    configuration: { returnImmediately: false, historyLength: 3, ...configuration },
    metadata: { tokens: 7 }
  }, { "a2a-version": "1.0" })

/** What the agent's runs understand. */
const texts = ["ok", "steps", "stream", "artifact", "ask", "fail", "die", "wait", "echo", "log", "hold"]

const sends = texts.flatMap((text) => [
  () => send03("message/send", text),
  () => send03("message/stream", text),
  () => send1("SendMessage", text),
  () => send1("SendStreamingMessage", text)
])

const extension = (method, path, body) => ({ method, path: `/ext/${path}`, ...(body === undefined ? {} : { body }) })
const trigger = (id, when, once = true) => ({ id, when, once, actions: [{ type: "say", text: id }] })

const boundary = "fuzz-boundary"
const form = [
  `--${boundary}`,
  "content-disposition: form-data; name=\"key\"",
  "",
  "form.bin",
  `--${boundary}`,
  "content-disposition: form-data; name=\"file\"; filename=\"form.bin\"",
  `content-type: ${opaque}`,
  "",
  "hello",
  `--${boundary}--`,
  ""
].join("\r\n")

/** One of each, and messages as often as all others together. */
export const valid = [
  ...sends,
  () => send03("message/send", "hold", { contextId: "c-1" }, { blocking: false }),
  () => send1("SendMessage", "hold", { contextId: "c-2" }, { returnImmediately: true }),
  () => send03("message/send", "ok", { taskId }),
  () => send1("SendStreamingMessage", "steps", { taskId }),
  () => send03("message/send", "ok", {}, { pushNotificationConfig: { url: `https://hook.example/${grantSecret}` } }),
  () => rpc("tasks/get", { id: taskId, historyLength: 1 }),
  () => rpc("tasks/cancel", { id: taskId }),
  () => rpc("tasks/resubscribe", { id: taskId }),
  () => ({ ...rpc("tasks/resubscribe", { id: taskId }), headers: { "last-event-id": "2" } }),
  () => rpc("tasks/pushNotificationConfig/set", { taskId, pushNotificationConfig: { url: "https://hook.example" } }),
  () => rpc("tasks/pushNotificationConfig/get", { id: taskId }),
  () => rpc("agent/getAuthenticatedExtendedCard"),
  () => rpc("GetTask", { id: taskId, historyLength: 1 }),
  () => rpc("ListTasks", { pageSize: 2, contextId: "c-1", status: "TASK_STATE_COMPLETED", includeArtifacts: true }),
  () => rpc("CancelTask", { id: taskId }),
  () => rpc("SubscribeToTask", { id: taskId }),
  () => rpc("CreateTaskPushNotificationConfig", { taskId, url: "https://hook.example" }),
  () => rpc("ListTaskPushNotificationConfigs", { taskId }),
  () => rpc("GetExtendedAgentCard", {}),
  () => ({ method: "GET", path: "/.well-known/agent-card.json" }),
  () => ({ method: "GET", path: "/.well-known/agent.json", headers: { host: "agents.example" } }),
  () => ({ method: "GET", path: "/health" }),
  () =>
    extension("POST", "agent-config", {
      name: "Kestrel",
      description: "Configured.",
      model: "kestrel-2",
      providerToken: configSecret,
      turns: 3
    }),
  () => extension("GET", "agent-config"),
  () =>
    extension("POST", "mcp-config", {
      name: "desk",
      url: "https://desk.example/mcp",
      headers: { authorization: `Bearer ${mcpSecret}` }
    }),
  () => extension("GET", "mcp-config"),
  () => extension("POST", "skill-config", { name: "glaze", description: "Glazes.", skill_md: "# Glaze" }),
  () =>
    extension("POST", "skill-config", {
      name: "fire",
      description: "Fires.",
      skill_bundle: {
        max_total_bytes: 2_000_000,
        files: [{ path: "SKILL.md", object: read("text/markdown", "skill.md") }]
      }
    }),
  () => extension("GET", "skill-config"),
  () =>
    extension("POST", "snapshot", {
      context_id: "c-1",
      objects: { trajectory: write(opaque, "snapshot.bin"), workspace: write(opaque, "workspace.bin") }
    }),
  () =>
    extension("PUT", "snapshot", { objects: { trajectory: read(opaque, "snapshot.bin") }, target_context_id: "c-3" }),
  () => extension("POST", "snapshot/changelog", { write_namespace: namespace, roots: ["/work"] }),
  () =>
    extension("PUT", "snapshot/changelog", {
      increments: [{ sequence: 0, object: read(opaque, "snapshot.bin") }],
      resume_conversation: true,
      target_context_id: null
    }),
  () => extension("POST", "peer-agents", { peers: [{ name: "Heron", url: "https://heron.example", card: { a: 1 } }] }),
  () => extension("GET", "peer-agents"),
  () => extension("POST", "attribution-probe", {}),
  () => extension("POST", "trajectory", { task_id: taskId }),
  () => extension("POST", "trajectory", { task_id: taskId, after: 0, limit: 2 }),
  () => extension("POST", "trajectory", { task_id: taskId, objects: { trajectory: write(json, "log.json") } }),
  () => extension("POST", "trajectory", { context_id: "c-1" }),
  () => extension("POST", "trajectory", { context_id: "c-1", after: 1 }),
  () => extension("POST", "trajectory", { context_id: "c-1", objects: { trajectory: write(json, "context.json") } }),
  () =>
    extension("POST", "triggers", {
      triggers: [
        trigger("first", { type: "step", cmp: "gte" }, false),
        trigger("asks", { type: "conversational", where: { message: { regex: "(a|b)+!" } } }, false),
        trigger("both", {
          type: "all",
          of: [{ type: "step", turn: 2 }, { type: "env_trigger", env_id: "e", trigger_id: "n" }]
        })
      ]
    }),
  () =>
    extension("POST", "triggers/decide", {
      turn: 1,
      solver_message: "aaaaaaaa!",
      context_id: "c-1",
      env_triggers: { e: { n: "fired" } }
    }),
  () => extension("GET", "triggers"),
  () => extension("GET", "find?text=a&limit=2&level=3&all=yes"),
  () => extension("POST", "fail", { how: "coded" }),
  () => extension("POST", "fail", { how: "plain" }),
  () => extension("POST", "fail", { how: "defect" }),
  () => ({ method: "PUT", path: `${stagingPath}/skill.md`, bytes: Buffer.from("# Fire\n") }),
  () => ({ method: "PUT", path: `${stagingPath}/snapshot.bin`, bytes: Buffer.from([0, 1, 2, 255]) }),
  () => ({ method: "GET", path: `${stagingPath}/skill.md` }),
  () => ({ method: "GET", path: `${stagingPath}/` }),
  () => ({ method: "DELETE", path: `${stagingPath}/form.bin`, headers: { "if-match": "\"x\"" } }),
  () => ({
    method: "POST",
    path: stagingPath,
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    bytes: Buffer.from(form, "latin1")
  })
]

/** Where requests go when they go astray. */
export const paths = [
  "/",
  "/nowhere",
  "/ext/",
  "/%ff",
  "/ext/staging/",
  "/ext/staging/short/a",
  `${stagingPath}/../a`,
  `${stagingPath}/%2e%2e/a`,
  "/ext/find?text=%ff&limit=%00&limit=2"
]

/** Names that a mutation adds to an object. */
export const names = ["kiln", "__proto__", "constructor", "", "params", "metadata", "kind", "task_id"]

/** What no answer may show. */
export const secrets = [grantSecret, configSecret, mcpSecret, "canary-private-detail"]
