import { AgentConfig, SkillBundle, Staging } from "@effect-agentenv/agent"
import { Grant, McpConfigV1, SnapshotV1 } from "@effect-agentenv/protocol"
import { Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Schema } from "effect"
import { spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { request as httpRequest } from "node:http"
import { join } from "node:path"
import { inspect } from "node:util"

/** Every secret that an agent can hold, each with a text of its own, so that a leak says whose it is. */
const canary = {
  configToken: "canary-config-token",
  configKey: "canary-config-key",
  mcpHeader: "canary-mcp-header",
  grantUrl: "canary-grant-url",
  grantQuery: "canary-grant-query",
  grantHeader: "canary-grant-header",
  grantField: "canary-grant-field",
  requestHeader: "canary-request-header",
  modelKey: "canary-model-key",
  pushToken: "canary-push-token",
  staging: "canary-staging-0123456789"
} as const

const leaks = (text: string, but: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  Object.values(canary).filter((secret) => !but.includes(secret) && text.includes(secret))

const expires_at = "2099-01-01T00:00:00Z"
// nobody listens there
const url = `https://127.0.0.1:1/${canary.grantUrl}?signature=${canary.grantQuery}`
const headers = { authorization: `Bearer ${canary.grantHeader}` }
const read = (more: object = {}) => ({
  media_type: "application/octet-stream",
  max_bytes: 10,
  read: { kind: "http-get", expires_at, url, headers, ...more }
})
const write = (media_type = "application/octet-stream", more: object = {}) => ({
  media_type,
  max_bytes: 10_000,
  write: { kind: "http-put", expires_at, url, headers, ...more }
})
const namespace = (more: object = {}) => ({
  root_path: "runs/1",
  expires_at,
  max_objects: 1,
  max_object_bytes: 10,
  max_total_bytes: 10,
  write: {
    kind: "http-post-policy",
    url,
    headers,
    fields: { policy: canary.grantField },
    path_field: "key",
    file_field: "file",
    ...more
  }
})
const bundle = (object: object, more: object = {}) => ({
  name: "glaze",
  description: "Glazes.",
  skill_bundle: { max_total_bytes: 100, files: [{ path: "SKILL.md", object }], ...more }
})
// over before it began
const expired = { expires_at: "2001-01-01T00:00:00Z" }

const message = (text: string) => ({
  kind: "message",
  messageId: text,
  role: "user",
  contextId: "c",
  parts: [{ kind: "text", text }]
})
const push = { url: `https://hook.example/?${canary.pushToken}`, token: canary.pushToken }
const rpc = (method: string, params: unknown) => ["POST", "/a2a", { jsonrpc: "2.0", id: 1, method, params }] as const
const ext = (method: string, path: string, body?: unknown) => [method, `/ext/${path}`, body] as const
const staged = (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
  [method, `/ext/staging/${canary.staging}/${path}`, body, more] as const

type Request = readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>]

/** Secrets set as they should be, then all the ways in which that may go wrong, and tasks that hold them and go wrong as well. */
const requests: ReadonlyArray<Request> = [
  ext("POST", "agent-config", {
    provider_token: canary.configToken,
    endpoint: { url: "https://model.example", key: canary.configKey }
  }),
  ext("POST", "agent-config", { turns: canary.configToken }),
  ext("POST", "agent-config", { provider_token: { at: canary.configToken } }),
  ext("POST", "agent-config", { endpoint: { url: 1, key: canary.configKey, more: canary.configKey } }),
  ext("POST", "agent-config", { unknown: canary.configToken }),
  ext("POST", "agent-config", [canary.configToken]),
  ext("GET", "agent-config"),
  ext("POST", "mcp-config", {
    name: "desk",
    url: "https://desk.example/mcp",
    headers: { authorization: `Bearer ${canary.mcpHeader}` }
  }),
  ext("POST", "mcp-config", {
    name: "desk",
    url: "https://other.example/mcp",
    headers: { authorization: canary.mcpHeader }
  }),
  ext("POST", "mcp-config", { url: "https://x.example/mcp", headers: { authorization: [canary.mcpHeader] } }),
  ext("POST", "mcp-config", { url: "https://x.example/mcp", headers: canary.mcpHeader }),
  ext("POST", "mcp-config", { url: 7, headers: { authorization: canary.mcpHeader }, header: canary.mcpHeader }),
  ext("GET", "mcp-config"),
  ext("POST", "skill-config", bundle(read(expired))),
  ext("POST", "skill-config", bundle(read({ url: url.replace("https", "http") }))),
  ext("POST", "skill-config", bundle(read({ headers: [canary.grantHeader] }))),
  ext("POST", "skill-config", bundle(read({ kind: canary.grantHeader }))),
  ext("POST", "skill-config", bundle(read(), { max_total_bytes: canary.grantHeader })),
  ext("GET", "skill-config"),
  ext("POST", "snapshot", { context_id: "c", objects: { trajectory: write(canary.grantHeader) } }),
  ext("PUT", "snapshot", { objects: { trajectory: read() } }),
  ext("POST", "snapshot/changelog", { write_namespace: namespace({ fields: [canary.grantField] }) }),
  ext("PUT", "snapshot/changelog", { increments: [{ sequence: 0, object: read() }] }),
  ...["ok", "die", "throw", "fail"].flatMap((text) => [
    rpc("message/send", { message: message(text), configuration: { pushNotificationConfig: push } }),
    rpc("message/stream", { message: message(text) }),
    rpc("SendMessage", { message: { messageId: text, role: "ROLE_USER", contextId: "c", parts: [{ text }] } })
  ]),
  rpc("tasks/pushNotificationConfig/set", { taskId: "t", pushNotificationConfig: push }),
  rpc("CreateTaskPushNotificationConfig", { taskId: "t", ...push }),
  rpc("message/send", { message: { ...message("ok"), parts: canary.pushToken } }),
  rpc("ListTasks", { includeArtifacts: true }),
  ext("POST", "trajectory", { context_id: "c" }),
  ext("POST", "trajectory", { context_id: "c", objects: { trajectory: write("application/json", expired) } }),
  staged("PUT", "a.bin", "bytes"),
  staged("GET", "a.bin"),
  staged("GET", "nothing"),
  staged("GET", ""),
  staged("PUT", "../a.bin", "bytes"),
  staged("PUT", "big.bin", "x".repeat(2000)),
  staged("DELETE", "a.bin", undefined, { "if-match": "\"x\"" }),
  staged("PATCH", "a.bin", "bytes"),
  ["GET", "/.well-known/agent-card.json"],
  ["GET", "/.well-known/agent.json"],
  ["GET", "/nowhere"],
  ["POST", "/a2a", "{ no JSON"]
]

/** Transfers to a store that can't be reached, which are tried again for a while. */
const patient: ReadonlyArray<Request> = [
  ext("POST", "snapshot", { context_id: "c", objects: { trajectory: write() } }),
  ext("POST", "snapshot/changelog", { write_namespace: namespace() }),
  ext("POST", "skill-config", bundle(read())),
  ext("POST", "trajectory", { context_id: "c", objects: { trajectory: write("application/json") } })
]

interface Program {
  readonly port: number
  readonly pid: number
  readonly end: Effect.Effect<string>
}

/** The agent in a process of its own; its end answers all that it has printed. */
const program = (format: "json" | "pretty") =>
  Effect.acquireRelease(
    Effect.async<Program>((resume) => {
      const child = spawn(
        process.execPath,
        [
          "--conditions=@effect-agentenv/source",
          "--import",
          "tsx",
          join(import.meta.dirname, "programs/secrets.ts")
        ],
        {
          env: {
            ...process.env,
            LOG_FORMAT: format,
            LITELLM_API_KEY: canary.modelKey,
            AGENTENV_STAGING_MAX_BYTES: "1000"
          },
          stdio: ["ignore", "pipe", "pipe"]
        }
      )
      let printed = ""
      const closed = new Promise<void>((resolve) => child.once("close", () => resolve()))
      const end = Effect.promise(async () => {
        child.kill("SIGTERM")
        await closed
        return printed
      })
      child.stderr.on("data", (chunk: Buffer) => printed += chunk.toString())
      child.stdout.on("data", (chunk: Buffer) => {
        printed += chunk.toString()
        const port = /^(\d+)$/m.exec(printed)?.[1]
        if (port !== undefined) resume(Effect.succeed({ port: Number(port), pid: child.pid!, end }))
      })
      child.once("exit", () => resume(Effect.dieMessage(`the agent did not start\n${printed}`)))
    }),
    ({ end }) => end
  )

const ask = (
  port: number,
  [method, path, body, more = {}]: Request
): Effect.Effect<{ readonly status: number; readonly text: string }> =>
  Effect.async((resume) => {
    const sent = httpRequest({
      port,
      host: "127.0.0.1",
      method,
      path,
      headers: {
        authorization: `Bearer ${canary.requestHeader}`,
        cookie: canary.requestHeader,
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ...(typeof body === "object" ? { "content-type": "application/json" } : {}),
        ...more
      }
    }, (response) => {
      let text = JSON.stringify(response.headers)
      response.on("data", (chunk: Buffer) => text += chunk.toString())
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, text })))
    })
    sent.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body))
  })

describe.each(["json", "pretty"] as const)("an agent that logs %s", (format) => {
  it.scoped("shows no secret in an answer, a log, a span or its command line", () =>
    Effect.gen(function*() {
      const { end, pid, port } = yield* program(format)
      const statuses = new Map<number, number>()
      const send = (request: Request) =>
        Effect.map(ask(port, request), ({ status, text }) => {
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          // a store answers the path of what was put there
          expect([request.slice(0, 2), leaks(text, [canary.staging])]).toEqual([request.slice(0, 2), []])
        })
      yield* Effect.forEach(requests, send)
      yield* Effect.forEach(patient, send, { concurrency: "unbounded" })
      // all of it went the way that it was meant to go
      expect([200, 201, 400, 404, 409, 412, 413, 500, 502].filter((status) => !statuses.has(status))).toEqual([])
      if (process.platform === "linux") {
        const commandLine = yield* Effect.promise(() => readFile(`/proc/${pid}/cmdline`, "utf8"))
        expect(commandLine).toContain("secrets.ts")
        expect(leaks(commandLine)).toEqual([])
      }
      const printed = yield* end
      for (
        const part of ["http.server POST", "Kiln.run", "Kiln.handler", "Transfers.upload", "not saved", "<redacted>"]
      ) {
        expect(printed).toContain(part)
      }
      expect(leaks(printed)).toEqual([])
    }), { timeout: 60_000 })
})

/** All the ways in which an error or a value becomes text. */
const shown = (value: unknown): string =>
  [
    String(value),
    JSON.stringify(value),
    inspect(value, { depth: 20, showHidden: true }),
    value instanceof Error ? `${value.message}\n${value.stack}\n${inspect(value.cause, { depth: 20 })}` : "",
    Cause.pretty(Cause.fail(value), { renderErrorCause: true })
  ].join("\n")

describe("errors and values", () => {
  class Secret extends AgentConfig.extend<Secret>("Secret")({
    token: AgentConfig.writeOnly(Schema.Struct({ key: Schema.Int }), { default: () => ({ key: 1 }) })
  }) {}

  it.effect("of a configuration that is wrong say where, not what", () =>
    Effect.gen(function*() {
      const decode = AgentConfig.decoder(Secret)
      for (const token of [canary.configToken, { key: canary.configKey }, [canary.configKey]]) {
        const error = yield* Effect.flip(decode({ token }))
        expect(error.message).toContain("token")
        expect(leaks(shown(error))).toEqual([])
      }
    }))

  it.effect("that hold grants and headers show neither, decoded or refused", () =>
    Effect.gen(function*() {
      const decoded = <A, I>(schema: Schema.Schema<A, I>, value: unknown) =>
        Effect.map(Effect.exit(Schema.decodeUnknown(schema)(value)), (exit) => {
          const text = Exit.isSuccess(exit) ? shown(exit.value) : Cause.pretty(exit.cause)
          expect(leaks(text)).toEqual([])
          return exit
        })
      const { request: add } = McpConfigV1.operations.add
      expect(
        Exit.isSuccess(yield* decoded(add, { url: "https://d.example/mcp", headers: { a: canary.mcpHeader } }))
      ).toBe(true)
      expect(Exit.isSuccess(yield* decoded(Grant.ReadObject, read()))).toBe(true)
      expect(Exit.isSuccess(yield* decoded(Grant.WriteNamespaceGrant, namespace()))).toBe(true)
      const { save } = SnapshotV1.operations
      expect(Exit.isSuccess(yield* decoded(save.request, { context_id: "c", objects: { trajectory: write() } }))).toBe(
        true
      )
    }))

  it.scopedLive("of a transfer that fails have nothing of its grant", () =>
    Effect.gen(function*() {
      const object = yield* Schema.decodeUnknown(Grant.ReadObject)(read(expired))
      const error = yield* Effect.flip(SkillBundle.install({
        name: "glaze",
        skill_bundle: { max_total_bytes: 100, files: [{ path: "SKILL.md", object }] }
      }))
      expect(leaks(shown(error))).toEqual([])
    }).pipe(Effect.provide(Transfers.layer())))

  it.scoped("of the staging store have nothing of the path", () =>
    Effect.gen(function*() {
      const staging = yield* Staging.Staging
      const error = yield* Effect.flip(staging.get(`${canary.staging}/nothing`))
      expect(leaks(shown(error))).toEqual([])
    }).pipe(Effect.provide(Layer.orDie(Staging.layer({ maxBytes: 1000 })))))
})
