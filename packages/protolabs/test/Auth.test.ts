import { AgentCard, Auth, ExtensionUri } from "@effect-agentenv/protolabs"
import { Headers, HttpClient, HttpClientResponse } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, FastCheck, Inspectable, Redacted } from "effect"

const key = Redacted.make("k9-secret")
const token = Redacted.make("t7-secret")

const check = Auth.checker({ apiKeys: [Redacted.make("older"), key], bearerTokens: [token] })

it.effect("lets in by one scheme or the other, whatever the spelling of the header", () =>
  Effect.gen(function*() {
    expect(yield* check({ "X-API-Key": "k9-secret" })).toBe("apiKey")
    expect(yield* check({ "x-api-key": "older" })).toBe("apiKey")
    expect(yield* check({ Authorization: "bearer  t7-secret" })).toBe("bearer")
    expect(yield* check({ "x-api-key": "wrong", authorization: "Bearer t7-secret" })).toBe("bearer")
  }))

it.effect("tells missing from rejected, and neither secret", () =>
  Effect.gen(function*() {
    const reason = (headers: Record<string, string>) => Effect.map(Effect.flip(check(headers)), ({ reason }) => reason)
    expect(yield* reason({})).toBe("missing")
    expect(yield* reason({ "x-api-key": "" })).toBe("missing")
    expect(yield* reason({ authorization: "Basic t7-secret" })).toBe("missing")
    expect(yield* reason({ authorization: "Bearer " })).toBe("missing")
    expect(yield* reason({ "x-api-key": "t7-secret" })).toBe("rejected")
    const error = yield* Effect.flip(check({ "x-api-key": "guess" }))
    expect(error).toMatchObject({ _tag: "Unauthorized", schemes: ["apiKey", "bearer"] })
    expect(`${error.message} ${JSON.stringify(error)}`).not.toMatch(/guess|secret/)
  }))

it.effect("lets nobody in when nothing, or only emptiness, is accepted", () =>
  Effect.gen(function*() {
    for (const accepted of [{}, { apiKeys: [Redacted.make("")], bearerTokens: [Redacted.make("")] }]) {
      for (const headers of [{}, { "x-api-key": "", authorization: "Bearer " }, { "x-api-key": "x" }]) {
        expect(yield* Effect.flip(Auth.checker(accepted)(headers))).toMatchObject({ reason: "missing", schemes: [] })
      }
    }
  }))

it.effect.prop(
  "lets in by the very key only",
  { shown: FastCheck.string(), secret: FastCheck.string() },
  (each) =>
    Effect.gen(function*() {
      const { secret, shown } = each
      const checker = Auth.checker({ apiKeys: [Redacted.make(secret)] })
      const exit = yield* Effect.exit(checker({ "x-api-key": shown }))
      expect(exit._tag).toBe(secret === shown && secret !== "" ? "Success" : "Failure")
    })
)

const echoing = HttpClient.make((request) =>
  Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(request.headers)))
)

it.effect("stamps every request of a client", () =>
  Effect.gen(function*() {
    const sent = (credentials: Auth.Credentials) =>
      Auth.stamp(credentials)(HttpClient.withTracerPropagation(echoing, false)).get("http://fake").pipe(
        Effect.flatMap((response) => response.json)
      )
    expect(yield* sent(Auth.apiKey(key))).toEqual({ "x-api-key": "k9-secret" })
    expect(yield* sent(Auth.apiKey(key, { header: "X-Pier-Key" }))).toEqual({ "x-pier-key": "k9-secret" })
    expect(yield* sent(Auth.bearer(token))).toEqual({ authorization: "Bearer t7-secret" })
    expect(yield* sent(Auth.bearer(Redacted.make("")))).toEqual({})
  }))

it.effect("keeps the header out of spans whatever its name", () =>
  Effect.gen(function*() {
    const names: Array<unknown> = []
    const watching = HttpClient.make((request) =>
      Effect.map(Headers.currentRedactedNames, (redacted) => {
        names.push(Headers.redact(request.headers, redacted))
        return HttpClientResponse.fromWeb(request, new Response())
      })
    )
    yield* Auth.stamp(Auth.apiKey(key, { header: "X-Pier-Key" }))(watching).get("http://fake")
    expect(Redacted.isRedacted((names[0] as Record<string, unknown>)["x-pier-key"])).toBe(true)
    expect(Inspectable.toStringUnknown(Auth.apiKey(key))).not.toContain("secret")
  }))

const options: AgentCard.Options = {
  name: "harbor",
  description: "guides ships",
  url: "http://harbor.test/a2a",
  version: "1.0.0",
  skills: [{ id: "berth", name: "Berth", description: "assign a berth", tags: ["dock"] }]
}

it("makes a card in the order of the wire", () => {
  const card = AgentCard.make({ ...options, bearer: true })
  expect(Object.keys(card)).toEqual([
    "name",
    "description",
    "supportedInterfaces",
    "provider",
    "version",
    "capabilities",
    "securitySchemes",
    "securityRequirements",
    "defaultInputModes",
    "defaultOutputModes",
    "skills"
  ])
  expect(AgentCard.extensionUris(card)).toEqual(ExtensionUri.all)
  expect(card.securityRequirements).toEqual([{ schemes: { apiKey: {} } }, { schemes: { bearer: {} } }])
})

it("writes neither empty texts nor empty lists", () => {
  const card = AgentCard.make({ ...options, description: "", skills: [], extensions: [], securitySchemes: {} })
  expect(Object.keys(card)).not.toContain("description")
  expect(Object.keys(card)).not.toContain("skills")
  expect(Object.keys(card)).not.toContain("securitySchemes")
  expect(Object.keys(card)).not.toContain("securityRequirements")
  expect(card.capabilities).toEqual({ streaming: true, pushNotifications: true })
})

it("requires any of the schemes that are given in place of its own", () => {
  const card = AgentCard.make({ ...options, securitySchemes: { token: Auth.bearerScheme() } })
  expect(card.securityRequirements).toEqual([{ schemes: { token: {} } }])
})

it("is a card of A2A 0.3 as well", () => {
  const card = AgentCard.toV03(AgentCard.make({ ...options, bearer: true, extensions: [ExtensionUri.cost] }))
  expect(card).toMatchObject({
    protocolVersion: "0.3.0",
    url: "http://harbor.test/a2a",
    preferredTransport: "JSONRPC",
    securitySchemes: {
      apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
      bearer: { type: "http", scheme: "bearer" }
    },
    security: [{ apiKey: [] }, { bearer: [] }]
  })
  expect(AgentCard.extensionUris(card)).toEqual([ExtensionUri.cost])
})

it("reads no extensions from what is no card", () => {
  for (const card of [null, [], {}, { capabilities: { extensions: [null, { uri: 7 }, "x"] } }]) {
    expect(AgentCard.extensionUris(card)).toEqual([])
  }
})
