// What our clients make of the reference's fixtures of 0.1.379: tools, hooks, extensions of many operations, tool access, sessions.
import { ClientError, EnvironmentClient, ExtensionClient, ToolClient } from "@effect-agentenv/client"
import { EnvironmentCard, Extension, Operation } from "@effect-agentenv/protocol"
import { Effect, Option, Schema } from "effect"

const Kiln = Extension.make("urn:parcels:kiln/v2", {
  operations: {
    get: Operation.get({ response: Schema.Struct({ heat: Schema.Int }) }),
    set: Operation.post({
      request: Schema.Struct({ heat: Schema.Int, note: Schema.optional(Schema.String) }),
      response: Schema.Struct({ heat: Schema.Int, note: Schema.String })
    }),
    vent: Operation.put()
  }
})

const Change = Operation.post({
  request: Schema.Struct({
    role: Schema.String,
    tools: Schema.Union(Schema.Literal("*"), Schema.Array(Schema.String))
  }),
  response: Schema.Struct({
    role: Schema.String,
    disabled: Schema.Array(Schema.String),
    allowed: Schema.Array(Schema.String)
  })
})
const Disable = Extension.make("urn:agentenv:disable-tool/v1", { operations: { disable: Change } })
const Enable = Extension.make("urn:agentenv:enable-tool/v1", { operations: { enable: Change } })

const tools = (baseUrl, role, options = {}) => ToolClient.make({ baseUrl, role, timeout: "10 seconds", ...options })

const extensionsOf = (baseUrl) => Effect.provide(ExtensionClient.layer({ baseUrl }))

const codeOf = (result) => Option.getOrUndefined(Option.map(ToolClient.failure(result), ({ code }) => code))

const namesOf = (client) => Effect.map(client.listTools, (listed) => listed.map(({ name }) => name).toSorted())

export const checkAreas = async ({ equal, truthy }, check, at) => {
  const [shop, served, hooked, multi, servedMulti, doors, relay] = await Promise.all(
    ["tools-env", "served-tools-env", "hook-env", "multi-env", "served-env", "access-env", "relay-env"].map((fixture) =>
      at(fixture, "fixtures_newest.py")
    )
  )

  await check(
    "TOOL: annotations, meta, structured results and whole ones",
    Effect.gen(function*() {
      const client = yield* tools(shop)
      const listed = Object.fromEntries((yield* client.listTools).map((tool) => [tool.name, tool]))
      equal([listed.weigh.annotations.readOnlyHint, listed.weigh.annotations.title], [true, "Weigh a parcel"])
      equal(listed.plumb._meta, { "parcels.io/shelf": "z9", "agentenv.io/hiddenByDefault": true })
      equal((yield* client.callTool("shelf", { shelf: "q" })).structuredContent, { shelf: "q", count: 4 })
      const note = yield* client.callTool("note")
      equal([note.text, note.structuredContent], ["fragile", undefined])
      const photo = yield* client.callTool("photo")
      equal(photo.content.map(({ type }) => type), ["text", "image"])
      equal(photo.structuredContent, { shelf: "b2", count: 9 })
    })
  )
  await check(
    "TOOL: a served subset, and a description that changes",
    Effect.gen(function*() {
      equal((yield* (yield* tools(served)).listTools).map((tool) => [tool.name, tool.description]), [
        ["parcels_retire", "Retires a parcel."],
        ["weigh", "Weighs, slowly."]
      ])
      const client = yield* tools(shop)
      yield* ExtensionClient.invoke("urn:parcels:describe/v1", {
        params: { name: "weigh", description: "New words." }
      }).pipe(extensionsOf(shop))
      equal((yield* client.listTools).find(({ name }) => name === "weigh").description, "New words.")
      const card = yield* (yield* EnvironmentClient.make({ baseUrl: shop })).card
      equal(card.capabilities.tools.find(({ name }) => name === "weigh").description, "New words.")
    })
  )
  await check(
    "HOOK: it lets through, answers, refuses and fails",
    Effect.gen(function*() {
      const client = yield* tools(hooked)
      equal((yield* client.callTool("ring", { label: "x" })).text, "rang x 1")
      const cached = yield* client.callTool("ring", { label: "cached" })
      equal([cached.text, cached.isError], ["from the hook", false])
      equal((yield* client.callTool("ring", { label: "wrong" })).isError, true)
      const coded = yield* client.callTool("ring", { label: "coded" })
      equal([codeOf(coded), coded.text], ["hook_refused", "hook_refused: not this one"])
      equal(codeOf(yield* client.callTool("ring", { label: "boom" })), undefined)
      const barred = yield* client.as({ role: "barred" }).callTool("ring", { label: "x" })
      equal([barred.text, barred.isError], ["the door stays shut", true])
      const { calls } = yield* ExtensionClient.invoke("urn:parcels:calls/v1").pipe(extensionsOf(hooked))
      equal(calls.map(({ role }) => role), [null, null, null, null, null, "barred"])
    })
  )
  await check(
    "MULTI: typed calls at each operation's endpoint and verb",
    Effect.gen(function*() {
      const kiln = yield* ExtensionClient.make(Kiln)
      equal(yield* kiln.get(), { heat: 20 })
      equal(yield* kiln.set({ heat: 900 }), { heat: 900, note: "none" })
      yield* kiln.vent()
      equal(yield* kiln.get(), { heat: 20 })
      equal(yield* ExtensionClient.invoke("urn:agentenv:bell/v1"), { rung: true })
      equal(yield* ExtensionClient.invoke("urn:parcels:plain", { method: "look" }), { seen: true })
    }).pipe(extensionsOf(multi))
  )
  await check(
    "MULTI: what isn't served is refused before any request",
    Effect.gen(function*() {
      const kiln = yield* ExtensionClient.make(Kiln)
      const set = yield* Effect.flip(kiln.set({ heat: 1 }))
      truthy(set instanceof ClientError.NotAdvertised, set)
      equal([...set.advertised].toSorted(), ["get", "vent"])
      const single = yield* Effect.flip(ExtensionClient.invoke("urn:parcels:single/v1"))
      truthy(single instanceof ClientError.NotAdvertised, single)
      const added = yield* Effect.flip(
        (yield* EnvironmentClient.make({ baseUrl: servedMulti })).add([{ kind: "data", data: {} }])
      )
      equal(added.code, -32601)
    }).pipe(extensionsOf(servedMulti))
  )
  await check(
    "ACC: rules that a client changes, and what roles then see",
    Effect.gen(function*() {
      const { disable } = yield* ExtensionClient.make(Disable)
      const { enable } = yield* ExtensionClient.make(Enable)
      const clerk = yield* tools(doors, "clerk")
      const nobody = yield* tools(doors)
      equal(yield* namesOf(clerk), ["close_door", "open_door"])
      equal(yield* disable({ role: "clerk", tools: ["open_door"] }), {
        role: "clerk",
        disabled: ["open_door"],
        allowed: []
      })
      equal(yield* namesOf(clerk), ["close_door"])
      equal(yield* namesOf(nobody), ["close_door", "open_door"])
      equal(codeOf(yield* clerk.callTool("open_door")), "permission_denied")
      equal(codeOf(yield* nobody.callTool("back_door")), "permission_denied")
      yield* enable({ role: "clerk", tools: ["back_door"] })
      equal((yield* clerk.callTool("back_door")).text, "back door opened")
      equal((yield* disable({ role: "*", tools: "*" })).disabled, ["*"])
      equal(yield* namesOf(clerk), [])
      const wrong = yield* Effect.flip(ExtensionClient.invoke("urn:agentenv:disable-tool/v1", { params: { role: "" } }))
      equal([wrong.status, wrong.code], [400, "invalid_params"])
    }).pipe(extensionsOf(doors))
  )
  const fake = `${relay}/agentenv/ext/fake_mcp`
  await check(
    "TSESS: roles, texts between pictures, 50 calls at once, another session",
    Effect.gen(function*() {
      const client = yield* tools(relay, "clerk")
      equal((yield* client.callTool("who")).text, "role=clerk session=yes")
      equal((yield* client.callTool("mixed")).text, "top\nbottom")
      const answers = yield* Effect.all(
        Array.from({ length: 50 }, (_, n) => client.callTool("ship_parcel", { label: `p${n}` })),
        { concurrency: "unbounded" }
      )
      equal(answers.map(({ text }) => text), answers.map((_, n) => `shipped p${n}`))
      const { id } = yield* client.session
      truthy((yield* client.reopen).id !== id, "the session is the same")
      equal((yield* client.callTool("who")).text, "role=clerk session=yes")
    })
  )
  await check(
    "TSESS: an endpoint of few words, and its errors",
    Effect.gen(function*() {
      const client = yield* ToolClient.make({ url: fake, role: "clerk", timeout: "10 seconds" })
      equal((yield* client.session).id, undefined)
      equal(yield* namesOf(client), ["first", "second"])
      equal((yield* client.callTool("hi", { a: 1 })).text, "called hi")
      const tagOf = (tool) => Effect.map(Effect.flip(client.callTool(tool)), ({ _tag }) => _tag)
      equal(yield* tagOf("rpc-error"), "RpcError")
      for (const tool of ["no-result", "batch", "textless"]) equal(yield* tagOf(tool), "Unreadable")
      equal((yield* Effect.flip(client.callTool("slow", {}, { timeout: "300 millis" })))._tag, "Timeout")
      const status = yield* Effect.flip(ToolClient.make({ url: `${relay}/agentenv/ext/ship` }))
      equal([status._tag, status.status], ["BadStatus", 400])
      const { heard } = yield* ExtensionClient.invoke("urn:parcels:heard/v1").pipe(extensionsOf(relay))
      equal(heard[0].params.clientInfo, { name: "agentenv-protocol", version: "1.0" })
      equal(heard.slice(0, 5).map(({ role }) => role), Array(5).fill("clerk"))
    })
  )
  await check(
    "CLIENT: the fields of failures, a retry, and what isn't advertised",
    Effect.gen(function*() {
      const failed = yield* Effect.flip(
        ExtensionClient.invoke("urn:parcels:stock/v1", { method: "read", params: { shelf: "sold-out" } })
      )
      equal([failed.status, failed.code, failed.hint, ExtensionClient.isRetryable(failed)], [
        409,
        "stock_empty",
        "restock first",
        true
      ])
      const left = yield* Effect.flip(ExtensionClient.invoke("urn:parcels:stock/v1", { params: { shelf: "left" } }))
      equal([left.status, left.applied, ExtensionClient.isRetryable(left)], [410, "yes", false])
      equal(yield* ExtensionClient.invoke("urn:parcels:stock/v1", { params: { shelf: "b2" } }), { shelf: "b2" })
      const gone = yield* Effect.flip(ExtensionClient.invoke("urn:parcels:gone/v1"))
      equal([gone.status, gone.code, gone.detail, gone.applied], [404, undefined, "Not Found", "unknown"])
      const card = yield* (yield* EnvironmentClient.make({ baseUrl: relay })).card
      equal(EnvironmentCard.methodNames(EnvironmentCard.findExtension(card, "urn:parcels:gone/v1")), ["gone"])
      const none = yield* Effect.flip(ExtensionClient.invoke("urn:parcels:none/v1"))
      truthy(none instanceof ClientError.NotAdvertised, none)
    }).pipe(extensionsOf(relay))
  )
}
