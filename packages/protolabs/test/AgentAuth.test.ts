import { TaskResult } from "@effect-agentenv/agent"
import { AgentCard, Auth, ExtensionUri } from "@effect-agentenv/protolabs"
import * as AgentAuth from "@effect-agentenv/protolabs/AgentAuth"
import { HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { serving } from "./agentSupport.ts"

const key = Redacted.make("k9-secret")
const accepted: Auth.Accepted = { apiKeys: [key], bearerTokens: [Redacted.make("t7-secret")] }

const answering = () => Effect.succeed(TaskResult.text("berth 3"))

const guarded = (options: AgentAuth.Options = accepted) => serving(answering, { routes: AgentAuth.layer(options) })

describe("the door of an agent's server", () => {
  it.scoped("is open at the card and the health check, and nowhere else", () =>
    Effect.gen(function*() {
      const { client, url } = yield* guarded()
      const status = (path: string) => Effect.map(client.get(`${url}${path}`), ({ status }) => status)
      for (const path of [...AgentAuth.openPaths, "/health?deep=1"]) {
        expect([path, yield* status(path)]).toEqual([path, 200])
      }
      for (const path of ["/a2a", "/a2a/", "/health/", "/ext/staging/x/y", "/nowhere", "/", "/HEALTH", "/%68ealth"]) {
        expect([path, yield* status(path)]).toEqual([path, 401])
      }
    }))

  it.scoped("says with 401 how to come in, and nothing of what was shown", () =>
    Effect.gen(function*() {
      const { client, url } = yield* guarded()
      const response = yield* client.post(`${url}/a2a`, { headers: { "x-api-key": "guess" } })
      expect(response.status).toBe(401)
      expect(response.headers["www-authenticate"]).toBe("ApiKey realm=\"agent\", Bearer realm=\"agent\"")
      expect(yield* response.json).toEqual({ detail: "the credentials are not accepted (apiKey or bearer)" })
    }))

  it.scoped("lets in by either scheme", () =>
    Effect.gen(function*() {
      const { client, url } = yield* guarded()
      for (const headers of [{ "x-api-key": "k9-secret" }, { authorization: "Bearer t7-secret" }]) {
        const response = yield* client.post(`${url}/a2a`, { headers }).pipe(Effect.flatMap(({ text }) => text))
        expect(response).toContain("\"jsonrpc\"")
      }
    }))

  it.scoped("opens what the author opens, exactly or with all below it", () =>
    Effect.gen(function*() {
      const { client, url } = yield* guarded({ ...accepted, open: ["/health", "/ext/staging/*"] })
      const status = (path: string) => Effect.map(client.get(`${url}${path}`), ({ status }) => status)
      expect(yield* status("/health")).toBe(200)
      expect(yield* status("/ext/staging/no-such-secret-here-22/x")).toBe(404)
      expect(yield* status("/ext/staging")).toBe(401)
      expect(yield* status("/.well-known/agent-card.json")).toBe(401)
    }))

  it.scoped("lets nobody in where nothing is accepted", () =>
    Effect.gen(function*() {
      const { client, url } = yield* guarded({ apiKeys: [Redacted.make("")] })
      const response = yield* client.post(`${url}/a2a`, { headers: { "x-api-key": "" } })
      expect([response.status, response.headers["www-authenticate"]]).toEqual([401, "ApiKey realm=\"agent\""])
    }))

  it.effect("is a check with a typed failure as well", () =>
    Effect.gen(function*() {
      const check = AgentAuth.checker(accepted)
      yield* check({ url: "/health", headers: {} as never })
      expect(yield* Effect.flip(check({ url: "/a2a", headers: {} as never }))).toMatchObject({
        _tag: "Unauthorized",
        reason: "missing"
      })
    }))
})

describe("what the card declares", () => {
  const card = { name: "n", description: "d", version: "1", defaultInputModes: [], defaultOutputModes: [], skills: [] }
  const extension = { uri: "urn:pilot:log/v1" }

  it("names the schemes that let somebody in, in the words of both wires", () => {
    const both = AgentCard.declare({ auth: { ...accepted, apiKeyHeader: "X-Pier-Key" } })({ ...card, capabilities: {} })
    expect(both).toMatchObject({
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "X-Pier-Key",
          apiKeySecurityScheme: { location: "header", name: "X-Pier-Key" }
        },
        bearer: { type: "http", scheme: "bearer", httpAuthSecurityScheme: { scheme: "bearer" } }
      },
      securityRequirements: [{ schemes: { apiKey: {} } }, { schemes: { bearer: {} } }],
      security: [{ apiKey: [] }, { bearer: [] }]
    })
    const one = AgentCard.declare({ auth: { bearerTokens: [key], apiKeys: [] } })({ ...card, capabilities: {} })
    expect([one["securitySchemes"], one["security"]]).toEqual([
      { bearer: { type: "http", scheme: "bearer", httpAuthSecurityScheme: { scheme: "bearer" } } },
      [{ bearer: [] }]
    ])
    expect(AgentCard.declare({})({ ...card, capabilities: {} })).toEqual({ ...card, capabilities: {} })
  })

  it("adds the extensions that the author picks, each once, behind those of the agent", () => {
    const declared = AgentCard.declare({
      extensions: [
        ExtensionUri.cost,
        extension,
        { uri: ExtensionUri.reserved.trace, required: false },
        ExtensionUri.cost
      ]
    })({ ...card, capabilities: { streaming: true, extensions: [{ ...extension, description: "its own" }] } })
    expect(declared.capabilities).toEqual({
      streaming: true,
      extensions: [
        { ...extension, description: "its own" },
        { uri: ExtensionUri.cost, description: ExtensionUri.descriptions[ExtensionUri.cost] },
        { uri: ExtensionUri.reserved.trace, required: false }
      ]
    })
  })

  it.scoped("is served with the agent's card", () =>
    Effect.gen(function*() {
      const { client, url } = yield* serving(answering, {
        card: AgentCard.declare({ extensions: ExtensionUri.all, auth: accepted }),
        routes: AgentAuth.layer(accepted)
      })
      const served = yield* client.get(`${url}/.well-known/agent-card.json`).pipe(Effect.flatMap(({ json }) => json))
      expect(AgentCard.extensionUris(served)).toEqual(expect.arrayContaining([...ExtensionUri.all]))
      expect(served).toHaveProperty("securitySchemes.bearer")
    }))
})

describe("the client side", () => {
  it.scoped("stamps the HttpClient that is there", () =>
    Effect.gen(function*() {
      const { client, url } = yield* guarded()
      const status = (credentials: Auth.Credentials) =>
        Effect.flatMap(HttpClient.HttpClient, (client) => client.post(`${url}/a2a`)).pipe(
          Effect.map(({ status }) => status),
          Effect.provide(Layer.provide(Auth.layer(credentials), Layer.succeed(HttpClient.HttpClient, client)))
        )
      expect(yield* status(Auth.apiKey(key))).toBe(200)
      expect(yield* status(Auth.bearer(Redacted.make("t7-secret")))).toBe(200)
      expect(yield* status(Auth.apiKey(Redacted.make("other")))).toBe(401)
    }))

  it("gives headers whose values stay redacted", () => {
    const headers = Auth.redacted(Auth.bearer(key))
    expect(Object.keys(headers)).toEqual(["authorization"])
    expect(Redacted.value(headers["authorization"]!)).toBe("Bearer k9-secret")
    expect(JSON.stringify(headers)).not.toContain("k9")
    expect(Auth.redacted(Auth.apiKey(Redacted.make("")))).toEqual({})
  })
})
