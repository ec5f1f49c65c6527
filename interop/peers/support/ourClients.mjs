// What our clients make of the reference's fixtures of one release.
import {
  ClientError,
  EnvironmentClient,
  Episode,
  EpisodeError,
  ExtensionClient,
  ToolClient
} from "@effect-agentenv/client"
import { DataObjects, EnvironmentCard, Extension, Grant, Intake, Operation, Part } from "@effect-agentenv/protocol"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Option, Schema } from "effect"
import { checkAreas } from "./ourNewest.mjs"

const environment = (url) => EnvironmentClient.make({ baseUrl: url })

const parcels = (...names) => Part.DataPart.make({ data: { parcels: names } })

const Repeat = Extension.single(
  "urn:parcels:repeat/v1",
  "repeat",
  Operation.get({
    request: Schema.Struct({
      text: Schema.String,
      count: Schema.optional(Schema.Int),
      upper: Schema.optional(Schema.Boolean)
    }),
    response: Schema.Struct({ out: Schema.String })
  })
)

const Tag = Extension.single(
  "urn:parcels:tag/v1",
  "tag",
  Operation.post({
    request: Schema.Struct({ label: Schema.String, upper: Schema.optional(Schema.Boolean) }),
    response: Schema.Struct({ tagged: Schema.String })
  })
)

const Explode = Extension.single("urn:parcels:explode/v1", "explode", Operation.post())

const Ship = Extension.single(
  "urn:parcels:ship/v1",
  "ship",
  Operation.post({
    request: Schema.Struct({ label: Schema.String }),
    response: Schema.Struct({ shipped: Schema.String })
  })
)

const grant = Schema.decodeUnknownSync(Grant.WriteNamespaceGrant)({
  root_path: "run/1",
  expires_at: new Date(Date.now() + 300_000).toISOString(),
  max_objects: 3,
  max_object_bytes: 1000,
  max_total_bytes: 2000,
  write: {
    kind: "http-post-policy",
    url: "https://store.example/up",
    fields: {},
    path_field: "key",
    file_field: "file"
  }
})

export const runRelease = async (context, checks, release, version) => {
  const { equal, truthy } = context
  const newest = release === "reference"
  const at = async (fixture, script) => (await context.theirs(release, fixture, script)).url
  const check = (title, effect) =>
    checks.check(
      `${version}: ${title}`,
      () => Effect.runPromise(effect.pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer)))
    )

  const [store, broken, bell, extensions, intake] = await Promise.all(
    ["parcels-env", "bad-env", "tools-only-env", "ext-env", "intake-env"].map((fixture) => at(fixture))
  )

  await check(
    "card, supportsV1, and no health, which the reference doesn't serve",
    Effect.gen(function*() {
      const client = yield* environment(store)
      const card = yield* client.card
      equal(card.name, "parcels")
      equal(EnvironmentCard.mcpPath(card), "/mcp")
      equal(yield* client.supportsV1, true)
      const unhealthy = yield* Effect.flip(client.health)
      truthy(unhealthy instanceof ClientError.BadStatus, unhealthy)
      equal(unhealthy.status, 404)
      equal(yield* (yield* environment(`${store}/nowhere`)).supportsV1, false)
      const declared = EnvironmentCard.extensionParams(yield* (yield* environment(intake)).card, Intake.URI)
      equal(declared.add[0].format, "parcels/1")
    })
  )
  await check(
    "data plane: reset, add, get",
    Effect.gen(function*() {
      const client = yield* environment(store)
      yield* client.reset({ seed: context.seed })
      yield* client.add([parcels("a"), parcels("b", "c")])
      equal((yield* client.get()).map((part) => part.data), [{ parcels: ["a", "b", "c"] }])
      yield* client.reset()
      equal((yield* client.get()).map((part) => part.data), [{ parcels: [] }])
    })
  )
  await check(
    "data plane: what the server refuses is an RpcError",
    Effect.gen(function*() {
      const client = yield* environment(broken)
      const failed = yield* Effect.flip(client.reset())
      truthy(failed instanceof ClientError.RpcError, failed)
      equal(failed.code, -32000)
      truthy(JSON.stringify(failed).includes("kiln door stuck"), failed.message)
      const missing = yield* Effect.flip(client.get())
      truthy(missing instanceof ClientError.RpcError, missing)
      equal(missing.code, -32601)
      const empty = yield* Effect.flip((yield* environment(store)).add([]))
      truthy(empty instanceof ClientError.RpcError, empty)
    })
  )
  await check(
    "extensions: typed calls, POST and GET",
    Effect.gen(function*() {
      const { tag } = yield* ExtensionClient.make(Tag)
      equal(yield* tag({ label: "a", upper: true }), { tagged: "A" })
      const { repeat } = yield* ExtensionClient.make(Repeat)
      equal(yield* repeat({ text: "ab", count: 2, upper: true }), { out: "ABAB" })
      equal(yield* ExtensionClient.invoke("urn:parcels:status/v1"), { up: true })
    }).pipe(Effect.provide(ExtensionClient.layer({ baseUrl: extensions })))
  )
  await check(
    "extensions: failures are typed",
    Effect.gen(function*() {
      const { explode } = yield* ExtensionClient.make(Explode)
      const failed = yield* Effect.flip(explode())
      truthy(failed instanceof ClientError.ExtensionCallError, failed)
      equal([failed.status, failed.code, failed.applied], [500, "extension_failed", "unknown"])
      const unknown = yield* Effect.flip(ExtensionClient.invoke("urn:parcels:nothing/v1"))
      truthy(unknown instanceof ClientError.NotAdvertised, unknown)
      const wrong = yield* Effect.flip(ExtensionClient.invoke("urn:parcels:level/v1", { params: { value: 9 } }))
      truthy(wrong instanceof ClientError.ExtensionCallError, wrong)
    }).pipe(Effect.provide(ExtensionClient.layer({ baseUrl: extensions })))
  )
  await check(
    "tools: session, list, call, an unknown tool",
    Effect.gen(function*() {
      const tools = yield* ToolClient.make({ baseUrl: bell, timeout: "10 seconds" })
      const session = yield* tools.session
      truthy(session.id, "no session id")
      equal((yield* tools.listTools).map((tool) => [tool.name, tool.description]), [["ring", "Rings the bell."]])
      const rung = yield* tools.callTool("ring")
      equal([rung.isError, rung.text], [false, "rung"])
      equal((yield* tools.callTool("nothing")).isError, true)
      const answers = yield* Effect.all(Array.from({ length: 20 }, () => tools.callTool("ring")), {
        concurrency: "unbounded"
      })
      equal(new Set(answers.map(({ text }) => text)), new Set(["rung"]))
    })
  )
  await check(
    "an address that nobody listens at",
    Effect.gen(function*() {
      const failed = yield* Effect.flip((yield* environment("http://127.0.0.1:1")).reset())
      truthy(failed instanceof ClientError.Unreachable, failed)
      equal(failed.refused, true)
    })
  )

  const rollouts = context.quick ? 3 : 30
  const services = Layer.merge(
    EnvironmentClient.layer({ baseUrl: store }),
    ToolClient.layer({ baseUrl: store, timeout: "10 seconds" })
  )
  await check(
    `${rollouts} episodes`,
    Effect.gen(function*() {
      for (let n = 0; n < rollouts; n++) {
        const report = yield* Episode.run({
          name: `rollout ${n}`,
          seed: context.seed + n,
          data: [parcels(`p${n}`)],
          player: (tools) => Effect.map(tools.listTools, (list) => list.length),
          scorers: {
            delivered: Episode.scorer({
              data: Schema.Struct({ parcels: Schema.Array(Schema.String) }),
              score: (state) => state.parcels.length === 1 && state.parcels[0] === `p${n}`
            })
          }
        })
        equal([report.score, report.played], [1, Option.some(0)])
        equal(report.steps.map(({ step }) => step), ["reset", "add", "play", "get", "score"])
      }
    }).pipe(Effect.provide(services))
  )
  await check(
    "an episode whose reset fails says so",
    Effect.gen(function*() {
      const failed = yield* Effect.flip(Episode.run({ player: () => Effect.void, scorers: {} }))
      truthy(failed instanceof EpisodeError.EpisodeError, failed)
      equal(failed.step, "reset")
    }).pipe(Effect.provide(Layer.merge(
      EnvironmentClient.layer({ baseUrl: broken }),
      ToolClient.layer({ baseUrl: broken, timeout: "10 seconds" })
    )))
  )
  if (newest) {
    const [errors, callers, uploading] = await Promise.all([
      at("error-env", "fixtures_newest.py"),
      at("ctx-env"),
      at("uploading-env")
    ])
    await checkNewest(context, check, { callers, errors, uploading })
    await checkAreas(context, check, at)
  }
}

/** What 0.1.379 alone has: error fields in extensions and tools, callers, and grants with `data/get`. */
const checkNewest = async ({ equal, truthy }, check, { callers, errors, uploading }) => {
  await check(
    "data/get with a grant",
    Effect.gen(function*() {
      const client = yield* environment(uploading)
      equal((yield* client.get()).map((part) => part.data), [{ granted: false }])
      const [part] = yield* client.get({ writeNamespace: grant })
      equal(yield* DataObjects.path(part), "export/state.json")
    })
  )
  await check(
    "the fields of an extension's failures",
    Effect.gen(function*() {
      const { ship } = yield* ExtensionClient.make(Ship)
      equal(yield* ship({ label: "a" }), { shipped: "a" })
      const fields = ({ applied, code, detail, hint, retryable, status }) => [
        status,
        code,
        detail,
        retryable,
        applied,
        hint
      ]
      const failure = (label) => Effect.map(Effect.flip(ship({ label })), fields)
      equal(yield* failure("sold-out"), [409, "stock_empty", "no parcels left", true, "no", "restock first"])
      equal(yield* failure("adrift"), [502, "courier_lost", "the courier is silent", true, "unknown", undefined])
      equal(yield* failure("left"), [410, "already_shipped", "it left this morning", false, "yes", undefined])
      equal(yield* failure("chained"), [500, "extension_failed", "outer failure", false, "unknown", undefined])
      const untracked = yield* Effect.flip(ExtensionClient.invoke("urn:parcels:track/v1", { params: { number: 7 } }))
      equal([untracked.status, untracked.code], [404, "unknown_parcel"])
    }).pipe(Effect.provide(ExtensionClient.layer({ baseUrl: errors })))
  )
  await check(
    "the fields of a tool's failures",
    Effect.gen(function*() {
      const tools = yield* ToolClient.make({ baseUrl: errors, timeout: "10 seconds" })
      equal((yield* tools.callTool("ship_later", { label: "a" })).text, "queued a")
      const codeOf = (label) =>
        Effect.map(tools.callTool("ship_parcel", { label }), (result) => {
          equal(result.isError, true)
          return Option.getOrUndefined(Option.map(ToolClient.failure(result), ({ code }) => code))
        })
      equal(yield* codeOf("sold-out"), "stock_empty")
      equal(yield* codeOf("chained"), "inner_code")
      equal(yield* codeOf("crash"), undefined)
    })
  )
  await check(
    "callers: role and session in headers and in _meta",
    Effect.gen(function*() {
      const tools = yield* ToolClient.make({ baseUrl: callers, role: "clerk", timeout: "10 seconds" })
      truthy((yield* tools.callTool("caller_line")).text.startsWith("role=clerk "), "the role is lost")
      const gateway = tools.as({ role: "judge", session: "s-1" })
      equal((yield* gateway.callTool("caller_line")).text, "role=judge session=s-1")
      const caller = ExtensionClient.invoke("urn:parcels:caller/v1", { params: { note: "n" } }).pipe(
        Effect.provide(ExtensionClient.layer({ baseUrl: callers, caller: { role: "clerk" } }))
      )
      equal(yield* caller, { role: "clerk", tool: "caller", note: "n" })
    })
  )
}
