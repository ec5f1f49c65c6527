import * as AgentConfig from "@effect-agentenv/agent/AgentConfig"
import * as ConfigState from "@effect-agentenv/agent/ConfigState"
import { ExtensionError } from "@effect-agentenv/agent/ExtensionError"
import * as ExtensionRegistry from "@effect-agentenv/agent/ExtensionRegistry"
import * as McpServers from "@effect-agentenv/agent/McpServers"
import * as Skills from "@effect-agentenv/agent/Skills"
import * as Trajectories from "@effect-agentenv/agent/Trajectories"
import type * as A2a from "@effect-agentenv/protocol/A2a"
import type * as Extension from "@effect-agentenv/protocol/Extension"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { SkillConfigV1 } from "@effect-agentenv/protocol/extensions/SkillConfigV1"
import { TrajectoryV1 } from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import * as TransferError from "@effect-agentenv/transfers/TransferError"
import * as Transfers from "@effect-agentenv/transfers/Transfers"
import { describe, expect, it } from "@effect/vitest"
import {
  Cause,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  LogLevel,
  Option,
  Redacted,
  Schema,
  Stream,
  Tracer
} from "effect"
import { createHash } from "node:crypto"
import { inspect } from "node:util"
import * as defaults from "../src/internal/defaults.ts"

class Kiln extends AgentConfig.extend<Kiln>("Kiln")({
  model: AgentConfig.field(Schema.String, { default: () => "kestrel-1" }),
  token: AgentConfig.writeOnly(Schema.String, { default: () => "" })
}) {}

/** Uploads that end here: what went up, by its URL. */
class Uploads extends Context.Tag("test/Uploads")<Uploads, Map<string, string>>() {}

const unreadable = new TransferError.InvalidTransfer({ message: "unreadable" })

const transfers = Layer.effect(
  Transfers.Transfers,
  Effect.map(Uploads, (uploads) => ({
    download: () => Effect.die("nothing is downloaded here"),
    uploadForm: () => Effect.die("nothing is uploaded by forms here"),
    upload: (object, source) =>
      Effect.scoped(Effect.gen(function*() {
        if ((yield* source.size) > object.max_bytes) {
          return yield* new TransferError.TransferTooLarge({ message: "too large" })
        }
        const content = yield* source.open
        const chunks = yield* Stream.runCollect(Stream.fromAsyncIterable(content, () => unreadable))
        const bytes = Buffer.concat([...chunks])
        uploads.set(Redacted.value(object.write.url), bytes.toString())
        return { size_bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") }
      }))
  }))
)

const State = Layer.mergeAll(
  ConfigState.layer(Kiln),
  McpServers.layer,
  Skills.layer([{ name: "built-in", description: "comes with the agent" }]),
  Trajectories.layer(),
  transfers
).pipe(Layer.provideMerge(Layer.sync(Uploads, () => new Map<string, string>())))

interface Setup {
  readonly extensions: ReadonlyArray<Extension.Any>
  readonly configReadback?: boolean
  readonly implementations?: Readonly<Record<string, Extension.HandlersService>>
  readonly task?: A2a.Task
}

const configUri = AgentConfigV1.uri

/** The extensions as a server would serve them, called by verb, path and fields. */
const serve = (setup: Setup) =>
  Effect.gen(function*() {
    const skills = yield* Skills.Skills
    const registry = yield* ExtensionRegistry.make({
      agent: "Kestrel Desk",
      extensions: setup.extensions,
      implementations: Object.fromEntries(
        Object.entries(setup.implementations ?? {}).map(([uri, service]) => [
          uri,
          uri === SkillConfigV1.uri ? defaults.recorded(service, skills) : service
        ])
      ),
      defaults: yield* defaults.make({
        configReadback: setup.configReadback ?? true,
        extensions: setup.extensions,
        task: () => Effect.succeed(setup.task)
      }),
      reserved: [],
      configContract: setup.extensions.some(({ uri }) => uri === configUri)
        ? { supported: AgentConfig.wireNames(Kiln) }
        : undefined
    })
    const call = (method: string, path: string, sent: Readonly<Record<string, unknown>> = {}) => {
      const route = registry.routes.find((route) => route.method === method && route.path === path)
      return route === undefined
        ? Effect.dieMessage("405")
        : Effect.map(route.call(sent), (text): any => JSON.parse(text))
    }
    const [entry] = registry.entries
    return { call, methods: entry?.params["methods"] as Readonly<Record<string, { readonly request?: unknown }>> }
  })

const provide = Effect.provide(State)

/** What is answered where a call fails: the status that the server gives it, and what it says. */
const refused = (effect: Effect.Effect<unknown, unknown>) =>
  Effect.map(Effect.flip(effect), (error) => {
    const { issues, status = 400 } = error as { readonly status?: number; readonly issues?: ReadonlyArray<object> }
    return { status, text: issues === undefined ? String(error) : JSON.stringify(issues) }
  })

const statusOf = (effect: Effect.Effect<unknown, unknown>) => Effect.map(refused(effect), ({ status }) => status)

describe("agent-config", () => {
  const path = "/ext/agent-config"

  it.effect("B-CFG-7, B-CFG-9, B-CFG-13: sets, answers that it did, and reads back what was set", () =>
    Effect.gen(function*() {
      const { call } = yield* serve({ extensions: [AgentConfigV1] })
      expect(yield* call("GET", path)).toEqual({ config: {} })
      expect(yield* call("POST", path, { model: "kestrel-2", token: "tok-5150" })).toEqual({ status: "updated" })
      expect(yield* call("GET", path)).toEqual({ config: { model: "kestrel-2", token: "***" } })
      const { status, text } = yield* refused(
        call("POST", path, { token: { secret: "tok-5151" }, unknown: "tok-5152" })
      )
      expect(status).toBe(400)
      expect(text).toContain("unknown")
      expect(text).not.toMatch(/tok-515[12]/)
      expect(yield* call("GET", path)).toEqual({ config: { model: "kestrel-2", token: "***" } })
    }).pipe(provide))

  it.effect("B-CFG-10: is set alone where readback is off", () =>
    Effect.gen(function*() {
      const { call, methods } = yield* serve({ extensions: [AgentConfigV1], configReadback: false })
      expect(Object.keys(methods)).toEqual(["set"])
      expect(Exit.isFailure(yield* Effect.exit(call("GET", path)))).toBe(true)
      yield* call("POST", path, { model: "kestrel-2" })
    }).pipe(provide))

  it.effect("B-CFG-14, B-REG-15: an override that sets through the state shares it with the tasks", () =>
    Effect.gen(function*() {
      const service = yield* implementation(
        AgentConfigV1,
        AgentConfigV1.toLayer(Effect.map(ConfigState.ConfigState, (state) => ({
          set: (update) => Effect.as(state.set(update), { status: "updated" as const, by: "us" }),
          get: () => Effect.map(state.readback, (config) => ({ config, by: "us" }))
        })))
      )
      const { call } = yield* serve({ extensions: [AgentConfigV1], implementations: { [configUri]: service } })
      expect(yield* call("POST", path, { model: "kestrel-2" })).toEqual({ status: "updated", by: "us" })
      expect(yield* (yield* ConfigState.ConfigState).current).toMatchObject({ model: "kestrel-2" })
    }).pipe(provide))
})

/** What an extension's layer provides. */
const implementation = <Uri extends string, E, R>(
  extension: { readonly handlers: Context.Tag<Extension.Handlers<Uri>, Extension.HandlersService> },
  layer: Layer.Layer<Extension.Handlers<Uri>, E, R>
) => Effect.map(Layer.build(layer), (context) => Context.get(context, extension.handlers)).pipe(Effect.scoped)

describe("mcp-config", () => {
  const path = "/ext/mcp-config"
  const url = "https://tools.kiln.example/mcp"

  it.effect("B-MCP-1: its card entry", () =>
    Effect.gen(function*() {
      const { methods } = yield* serve({ extensions: [McpConfigV1] })
      expect(methods["add"]?.request).toEqual({ required: ["url"], optional: ["headers", "name"] })
    }).pipe(provide))

  it.effect("B-MCP-2, B-MCP-3, B-MCP-6: adds by name or a minted one, and refuses what is there", () =>
    Effect.gen(function*() {
      const { call } = yield* serve({ extensions: [McpConfigV1] })
      expect(yield* call("POST", path, { url, name: "kiln" })).toEqual({ status: "added", name: "kiln", url })
      for (const name of [undefined, null, ""]) {
        const added = yield* call("POST", path, { url: `${url}/${name}`, ...(name === undefined ? {} : { name }) })
        expect(added).toEqual({
          status: "added",
          name: expect.stringMatching(/^mcp_[0-9a-f]{8}$/),
          url: `${url}/${name}`
        })
      }
      expect(yield* statusOf(call("POST", path, { url: "https://other.kiln.example/mcp", name: "kiln" }))).toBe(409)
      expect(yield* statusOf(call("POST", path, { url }))).toBe(409)
      expect((yield* refused(call("POST", path, { url: "" }))).text).toContain("url must not be empty")
    }).pipe(provide))

  it.effect("B-MCP-6: a header that is no text is 400, names the header, and says nothing of its value", () =>
    Effect.gen(function*() {
      const { call } = yield* serve({ extensions: [McpConfigV1] })
      const { status, text } = yield* refused(call("POST", path, { url, headers: { "X-Kiln": 88_001, ok: "s-88002" } }))
      expect(status).toBe(400)
      expect(text).toContain("headers")
      expect(text).toContain("X-Kiln")
      expect(text).not.toMatch(/8800[12]/)
    }).pipe(provide))

  it.effect("B-MCP-4, B-MCP-5: the list says whether there are headers, tasks get them", () =>
    Effect.gen(function*() {
      const { call } = yield* serve({ extensions: [McpConfigV1] })
      yield* call("POST", path, { url, name: "kiln", headers: { authorization: "Bearer s-88" } })
      yield* call("POST", path, { url: `${url}/2`, name: "bare" })
      yield* call("POST", path, { url: `${url}/3`, name: "none", headers: {} })
      expect(yield* call("GET", path)).toEqual({
        mcp_servers: {
          kiln: { url, has_headers: true },
          bare: { url: `${url}/2`, has_headers: false },
          none: { url: `${url}/3`, has_headers: false }
        }
      })
      const { kiln } = yield* (yield* McpServers.McpServers).current
      expect(Redacted.value(kiln!.headers!)).toEqual({ authorization: "Bearer s-88" })
    }).pipe(provide))
})

describe("skill-config", () => {
  const path = "/ext/skill-config"
  const inline = { name: "glaze", description: "Chooses a glaze", skill_md: "# Glaze\n" }
  const bundle = {
    name: "wheel",
    description: "Throws pots",
    skill_bundle: {
      max_total_bytes: 10,
      files: [{
        path: "SKILL.md",
        object: {
          media_type: "application/octet-stream",
          max_bytes: 10,
          read: { kind: "http-get", url: "https://kiln-store.example/r/s3cret", expires_at: "2099-04-05T06:07:08Z" }
        }
      }]
    }
  }

  const serveSkills = (
    add: (name: string) => Effect.Effect<{ readonly name: string }, ExtensionError> = (name) => Effect.succeed({ name })
  ) =>
    Effect.gen(function*() {
      const service = yield* implementation(
        SkillConfigV1,
        SkillConfigV1.toLayer(Effect.succeed({
          add: { inline: ({ name }) => add(name), bundle: ({ name }) => add(name) }
        }))
      )
      return yield* serve({ extensions: [SkillConfigV1], implementations: { [SkillConfigV1.uri]: service } })
    })

  it.effect("B-SKILL-1: its card entry", () =>
    Effect.gen(function*() {
      const { methods } = yield* serveSkills()
      expect(methods["add"]).toMatchObject({
        request: {
          required: ["name", "description"],
          oneOf: [{ required: ["skill_md"] }, { required: ["skill_bundle"] }]
        },
        response: { required: ["name"] }
      })
    }).pipe(provide))

  it.effect("B-SKILL-4, B-SKILL-5, B-SKILL-7: what the handler installed is listed, and tasks get it without grants", () =>
    Effect.gen(function*() {
      const { call } = yield* serveSkills()
      expect(yield* call("POST", path, inline)).toEqual({ name: "glaze" })
      expect(yield* call("POST", path, bundle)).toEqual({ name: "wheel" })
      expect(yield* call("GET", path)).toEqual({
        skills: {
          "built-in": { description: "comes with the agent" },
          glaze: { description: "Chooses a glaze" },
          wheel: { description: "Throws pots" }
        }
      })
      expect((yield* Skills.Skills).installed()).toEqual([
        { name: "glaze", description: "Chooses a glaze", skillMd: "# Glaze\n" },
        { name: "wheel", description: "Throws pots", skillMd: undefined }
      ])
    }).pipe(provide))

  it.effect("B-SKILL-2, B-SKILL-3, B-SKILL-8: what fits no form is 400 and reaches no handler", () =>
    Effect.gen(function*() {
      const { call } = yield* serveSkills(() => Effect.die("was run"))
      const { max_total_bytes: _total, ...unlimited } = bundle.skill_bundle
      for (
        const sent of [
          { name: "glaze", description: "d", skill_s3_url: "s3://b/k" },
          { ...inline, skill_bundle: bundle.skill_bundle },
          ...["../app", "a/b", "a\\b", ".hidden", "", "n".repeat(129)].map((name) => ({ ...inline, name })),
          { ...bundle, skill_bundle: unlimited },
          { ...bundle, skill_bundle: { ...bundle.skill_bundle, max_total_bytes: 9 } },
          { ...bundle, skill_bundle: { ...bundle.skill_bundle, files: [] } }
        ]
      ) {
        const { status, text } = yield* refused(call("POST", path, sent))
        expect(status).toBe(400)
        expect(text).not.toContain("s3cret")
      }
    }).pipe(provide))

  it.effect("B-SKILL-6: a name that is there, or being installed, is 409, and the handler runs once", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let runs = 0
      const { call } = yield* serveSkills((name) =>
        Effect.suspend(() => {
          runs += 1
          return Effect.as(Deferred.await(gate), { name })
        })
      )
      const first = yield* Effect.fork(call("POST", path, inline))
      yield* Effect.yieldNow()
      expect(yield* statusOf(call("POST", path, inline))).toBe(409)
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(first)).toEqual({ name: "glaze" })
      expect(yield* statusOf(call("POST", path, inline))).toBe(409)
      expect(yield* statusOf(call("POST", path, { ...inline, name: "built-in" }))).toBe(409)
      expect(runs).toBe(1)
    }).pipe(provide))

  it.effect("B-SKILL-4: nothing is recorded when the handler fails, or answers what the wire can't take", () =>
    Effect.gen(function*() {
      const answers: Array<Effect.Effect<{ readonly name: string }, ExtensionError>> = [
        new ExtensionError({ status: 507, message: "no clay" }),
        Effect.succeed({ name: "glaze", stray: "kiln-private-detail" }),
        Effect.succeed({ name: 7 } as never),
        Effect.succeed({ name: "glaze" })
      ]
      const { call } = yield* serveSkills(() => Effect.suspend(() => answers.shift()!))
      expect(yield* statusOf(call("POST", path, inline))).toBe(507)
      expect(Exit.isFailure(yield* Effect.exit(call("POST", path, inline)))).toBe(true)
      expect(Exit.isFailure(yield* Effect.exit(call("POST", path, inline)))).toBe(true)
      expect((yield* Skills.Skills).installed()).toEqual([])
      yield* call("POST", path, inline)
    }).pipe(provide))
})

describe("trajectory", () => {
  const path = "/ext/trajectory"

  const writeObject = (options: { readonly mediaType?: string; readonly maxBytes?: number } = {}) => ({
    media_type: options.mediaType ?? "application/json",
    max_bytes: options.maxBytes ?? 4096,
    write: { kind: "http-put", url: "https://kiln-store.example/w/1", expires_at: "2099-04-05T06:07:08Z" }
  })
  const objects = { trajectory: writeObject() }

  const finish = (taskId: string, options: { readonly native?: unknown; readonly events?: ReadonlyArray<unknown> }) =>
    Effect.gen(function*() {
      const trajectories = yield* Trajectories.Trajectories
      yield* trajectories.submitted(taskId, "ctx")
      const log = yield* trajectories.started(taskId)
      yield* log.format("kiln-events/1")
      yield* log.append(...options.events ?? [])
      const native = Option.fromNullable(options.native)
      yield* trajectories.settled(
        taskId,
        "completed",
        Option.getOrUndefined(Option.map(native, (payload) => ({ format: "kiln/1", payload })))
      )
    })

  const live = TrajectoryV1.configure({ live: true })

  const ofContext = (answer: string) =>
    implementation(
      TrajectoryV1,
      TrajectoryV1.toLayer(Effect.succeed({
        get: {
          context: ({ context_id }) => Effect.succeed({ trajectory: [answer, context_id] }),
          contextObjects: () => Effect.succeed({ objects: { trajectory: { size_bytes: 12 } } })
        }
      }))
    )

  it.effect("B-TRAJ-1: its card entry, and what it refuses where it is not live", () =>
    Effect.gen(function*() {
      yield* finish("t", { native: [] })
      for (const extension of [TrajectoryV1, TrajectoryV1.configure({}), TrajectoryV1.configure({ live: false })]) {
        const { call, methods } = yield* serve({ extensions: [extension] })
        expect(methods).toEqual({
          get: { method: "POST", request: { required: ["task_id"], oneOf: [{}, { required: ["objects"] }] } }
        })
        for (
          const sent of [
            {},
            { context_id: "ctx" },
            { task_id: "t", after: 0 },
            { task_id: "t", s3_prefix: "s3://b/p" },
            { task_id: 7 },
            { task_id: null }
          ]
        ) {
          expect(yield* statusOf(call("POST", path, sent))).toBe(400)
        }
      }
    }).pipe(provide))

  it.effect("B-TRAJ-2, B-TRAJ-14: with the author's context handlers they are on the card and answer, the rest is the library's", () =>
    Effect.gen(function*() {
      yield* finish("t", { native: ["native"] })
      const implementations = { [TrajectoryV1.uri]: yield* ofContext("author") }
      const { call, methods } = yield* serve({ extensions: [TrajectoryV1], implementations })
      expect(methods["get"]?.request).toEqual({
        oneOf: [
          { required: ["task_id"] },
          { required: ["task_id", "objects"] },
          { required: ["context_id"] },
          { required: ["context_id", "objects"] }
        ]
      })
      expect(yield* call("POST", path, { context_id: "c-1" })).toEqual({ trajectory: ["author", "c-1"] })
      expect(yield* call("POST", path, { context_id: "c-1", objects })).toEqual({
        objects: { trajectory: { size_bytes: 12 } }
      })
      expect(yield* call("POST", path, { task_id: "t" })).toEqual({ trajectory: ["native"] })
      expect(yield* statusOf(call("POST", path, { context_id: "c-1", after: 0 }))).toBe(400)
    }).pipe(provide))

  it.effect("B-TRAJ-3: its card entry where it is live", () =>
    Effect.gen(function*() {
      const { methods } = yield* serve({ extensions: [live] })
      expect(methods["get"]?.request).toEqual({
        oneOf: [
          { required: ["task_id"] },
          { required: ["task_id", "objects"] },
          { required: ["context_id"] },
          { required: ["context_id", "objects"] },
          { required: ["task_id", "after"], optional: ["limit"] },
          { required: ["context_id", "after"], optional: ["limit"] }
        ]
      })
    }).pipe(provide))

  it.effect("B-TRAJ-3: `live` is a boolean", () =>
    Effect.gen(function*() {
      const extension = TrajectoryV1.configure({ live: "yes" } as never)
      const error = yield* Effect.flip(serve({ extensions: [extension] }))
      expect(error.message).toContain("live")
    }).pipe(provide))

  it.effect("B-TRAJ-4, B-TRAJ-6: answers a finished task's record, 404 for what is not there", () =>
    Effect.gen(function*() {
      const { call } = yield* serve({ extensions: [TrajectoryV1] })
      expect(yield* statusOf(call("POST", path, { task_id: "t" }))).toBe(404)
      expect(yield* statusOf(call("POST", path, { task_id: "t", objects }))).toBe(404)
      yield* finish("t", { native: [{ type: "result" }] })
      expect(yield* call("POST", path, { task_id: "t" })).toEqual({ trajectory: [{ type: "result" }] })
    }).pipe(provide))

  it.effect("B-TRAJ-5: uploads compact JSON, answers size and digest, and keeps the record", () =>
    Effect.gen(function*() {
      yield* finish("t", { native: [{ type: "result" }] })
      const { call } = yield* serve({ extensions: [TrajectoryV1] })
      const sha256 = createHash("sha256").update("[{\"type\":\"result\"}]").digest("hex")
      for (let times = 0; times < 2; times++) {
        expect(yield* call("POST", path, { task_id: "t", objects })).toEqual({
          objects: { trajectory: { size_bytes: 19, sha256 } }
        })
      }
      expect(yield* call("POST", path, { task_id: "t" })).toEqual({ trajectory: [{ type: "result" }] })
    }).pipe(provide))

  it.effect("B-TRAJ-5: a grant for anything but JSON is 400 and shows nothing of itself", () =>
    Effect.gen(function*() {
      yield* finish("t", { native: [] })
      const { call } = yield* serve({ extensions: [live] })
      const trajectory = writeObject({ mediaType: "application/octet-stream" })
      for (const  of of[{ task_id: "t" }, { context_id: "ctx" }]) {
        const { status, text } = yield* refused(call("POST", path, { ...of, objects: { trajectory } }))
        expect(status).toBe(400)
        expect(text).toContain("application/json")
        expect(text).not.toContain("kiln-store")
      }
      expect((yield* Uploads).size).toBe(0)
    }).pipe(provide))

  it.effect("B-HTTP-7: a failed upload fails with the transfer's error", () =>
    Effect.gen(function*() {
      yield* finish("t", { native: [{ type: "result" }] })
      const { call } = yield* serve({ extensions: [TrajectoryV1] })
      const sent = { task_id: "t", objects: { trajectory: writeObject({ maxBytes: 18 }) } }
      expect(yield* Effect.flip(call("POST", path, sent))).toBeInstanceOf(TransferError.TransferTooLarge)
    }).pipe(provide))

  it.effect("B-TRAJ-15: a log that is the record goes up byte for byte as it is answered, and as natively", () =>
    Effect.gen(function*() {
      const events = [{ text: "größer \u2028 \u{1F3FA}", "10": 1, "9": 2 }, { nested: [[], {}, null, 1.5e-7] }]
      yield* finish("log", { events })
      yield* finish("native", { native: events })
      const { call } = yield* serve({ extensions: [live] })
      const uploads = yield* Uploads
      const seen: Array<string | undefined> = []
      for (const task_id of ["log", "native"]) {
        yield* call("POST", path, { task_id, objects })
        seen.push(uploads.get(objects.trajectory.write.url))
        seen.push(JSON.stringify((yield* call("POST", path, { task_id })).trajectory))
      }
      expect(new Set(seen)).toEqual(new Set([JSON.stringify(events)]))
    }).pipe(provide))

  it.effect("a log is the record of a finished task where nothing is live, too", () =>
    Effect.gen(function*() {
      yield* finish("t", { events: [{ a: 1 }] })
      const { call } = yield* serve({ extensions: [TrajectoryV1] })
      expect(yield* call("POST", path, { task_id: "t" })).toEqual({ trajectory: [{ a: 1 }] })
    }).pipe(provide))

  it.effect("B-TRAJ-9: pages of tasks and contexts", () =>
    Effect.gen(function*() {
      const events = [{ n: 0 }, { n: 1 }, { n: 2 }]
      yield* finish("t", { events })
      const { call } = yield* serve({ extensions: [live] })
      const rest = { context_id: "ctx", task_id: "t", state: "completed", format: "kiln-events/1" }
      for (const  of of[{ task_id: "t" }, { context_id: "ctx" }]) {
        expect(yield* call("POST", path, { ...of, after: 0 })).toEqual({ ...rest, events, next: 3, has_more: false })
        expect(yield* call("POST", path, { ...of, after: 1, limit: 1 })).toEqual({
          ...rest,
          events: [{ n: 1 }],
          next: 2,
          has_more: true
        })
        expect(yield* statusOf(call("POST", path, { ...of, after: 4 }))).toBe(400)
      }
      expect(yield* statusOf(call("POST", path, { task_id: "no", after: 0 }))).toBe(404)
      expect(yield* statusOf(call("POST", path, { context_id: "no", after: 0 }))).toBe(404)
    }).pipe(provide))

  it.effect("B-TRAJ-9: a format that nobody named is null", () =>
    Effect.gen(function*() {
      yield* (yield* Trajectories.Trajectories).submitted("t", "ctx")
      const { call } = yield* serve({ extensions: [live] })
      expect(yield* call("POST", path, { task_id: "t", after: 0 })).toMatchObject({ format: null, state: "pending" })
    }).pipe(provide))

  it.effect("B-TRAJ-10: a cursor is strict", () =>
    Effect.gen(function*() {
      yield* finish("t", { events: [{ n: 0 }] })
      const { call } = yield* serve({ extensions: [live] })
      for (const after of [-1, true, "0", 1.5, null, Number.MAX_VALUE]) {
        expect(yield* statusOf(call("POST", path, { task_id: "t", after }))).toBe(400)
      }
      for (const limit of [0, -1, 1001, "5", 1.5, true]) {
        expect(yield* statusOf(call("POST", path, { task_id: "t", after: 0, limit }))).toBe(400)
        expect(yield* statusOf(call("POST", path, { context_id: "ctx", after: 0, limit }))).toBe(400)
      }
      for (const limit of [1, 1000, null]) {
        expect(yield* call("POST", path, { task_id: "t", after: 0, limit })).toMatchObject({ next: 1 })
      }
    }).pipe(provide))

  it.effect("B-TRAJ-10: a page has 1,000 events unless told otherwise", () =>
    Effect.gen(function*() {
      yield* finish("t", { events: Array.from({ length: 1001 }, (_, n) => ({ n })) })
      const { call } = yield* serve({ extensions: [live] })
      expect(yield* call("POST", path, { context_id: "ctx", after: 0 })).toMatchObject({ next: 1000, has_more: true })
    }).pipe(provide))

  it.effect("B-TRAJ-14: a live context is answered and uploaded whole; the author's handlers win, pages stay the library's", () =>
    Effect.gen(function*() {
      yield* finish("t", { events: [{ n: 0 }] })
      const { call } = yield* serve({ extensions: [live] })
      expect(yield* call("POST", path, { context_id: "ctx" })).toEqual({ trajectory: [{ n: 0 }] })
      expect(yield* call("POST", path, { context_id: "ctx", objects })).toMatchObject({
        objects: { trajectory: { size_bytes: 9 } }
      })
      expect(yield* statusOf(call("POST", path, { context_id: "no", objects }))).toBe(404)
      const implementations = { [TrajectoryV1.uri]: yield* ofContext("author") }
      const both = yield* serve({ extensions: [live], implementations })
      expect(yield* both.call("POST", path, { context_id: "ctx" })).toEqual({ trajectory: ["author", "ctx"] })
      expect(yield* both.call("POST", path, { context_id: "ctx", after: 0 })).toMatchObject({ events: [{ n: 0 }] })
    }).pipe(provide))

  it.effect("B-TRAJ-14: who overrides the whole of a live one must answer pages too", () =>
    Effect.gen(function*() {
      const whole = (pages: object) =>
        implementation(
          TrajectoryV1,
          TrajectoryV1.toLayer(Effect.succeed({
            get: {
              task: () => Effect.succeed({ trajectory: "mine" }),
              taskObjects: () => Effect.succeed({ trajectory: "mine" }),
              context: () => Effect.succeed({ trajectory: "mine" }),
              contextObjects: () => Effect.succeed({ trajectory: "mine" }),
              ...pages
            }
          }))
        )
      const half = { [TrajectoryV1.uri]: yield* whole({}) }
      const error = yield* Effect.flip(serve({ extensions: [live], implementations: half }))
      expect(error.message).toMatch(/taskPage, contextPage/)
      const page = () => Effect.succeed({ trajectory: "mine" })
      const all = { [TrajectoryV1.uri]: yield* whole({ taskPage: page, contextPage: page }) }
      const { call } = yield* serve({ extensions: [live], implementations: all })
      expect(yield* call("POST", path, { task_id: "t", after: 0 })).toEqual({ trajectory: "mine" })
    }).pipe(provide))

  const message = (role: "user" | "agent", text: string): A2a.Message => ({
    messageId: `m-${text}`,
    role,
    parts: [{ kind: "text", text }]
  })

  const task = (state: A2a.TaskState): A2a.Task => ({
    id: "t",
    contextId: "ctx",
    status: { state, at: 0, message: message("agent", "done") },
    history: [message("user", "go")],
    artifacts: [{ artifactId: "a", parts: [{ kind: "data", data: { answer: 42 } }] }]
  })

  it.effect("B-TRAJ-18: a finished task's messages and artifacts are its record where that is asked for, and it has no other", () =>
    Effect.gen(function*() {
      const fallback = TrajectoryV1.configure({ fallback: "a2a" })
      yield* finish("t", {})
      const none = yield* serve({ extensions: [TrajectoryV1], task: task("completed") })
      expect(yield* statusOf(none.call("POST", path, { task_id: "t" }))).toBe(404)
      const { call } = yield* serve({ extensions: [fallback], task: task("completed") })
      const trajectory = [
        { kind: "message", ...message("user", "go") },
        { kind: "message", ...message("agent", "done") },
        { kind: "artifact", artifactId: "a", parts: [{ kind: "data", data: { answer: 42 } }] }
      ]
      expect(yield* call("POST", path, { task_id: "t" })).toEqual({ trajectory })
      yield* call("POST", path, { task_id: "t", objects })
      expect((yield* Uploads).get(objects.trajectory.write.url)).toBe(JSON.stringify(trajectory))
      const running = yield* serve({ extensions: [fallback], task: task("working") })
      expect(yield* statusOf(running.call("POST", path, { task_id: "t" }))).toBe(404)
      const unknown = yield* serve({ extensions: [fallback] })
      expect(yield* statusOf(unknown.call("POST", path, { task_id: "t" }))).toBe(404)
      yield* finish("native", { native: ["native"] })
      expect(yield* call("POST", path, { task_id: "native" })).toEqual({ trajectory: ["native"] })
    }).pipe(provide))
})

describe("secrets", () => {
  /** Keeps all that is said: log lines, and spans with how they ended. */
  const listening = () => {
    const said: Array<string> = []
    const logger = Logger.make<unknown, void>(({ annotations, cause, message }) => {
      said.push(inspect([message, Cause.pretty(cause), [...annotations]], { depth: 10 }))
    })
    const tracer = Tracer.make({
      span: (name, parent, context, links, startTime, kind) => ({
        _tag: "Span",
        name,
        spanId: name,
        traceId: "trace",
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes: new Map(),
        links: [...links],
        sampled: true,
        kind,
        attribute: (key, value) => void said.push(inspect([key, value], { depth: 10 })),
        event: (...event) => void said.push(inspect(event, { depth: 10 })),
        addLinks: () => {},
        end: (_, exit) => void said.push(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "ok")
      }),
      context: (run) => run()
    })
    const layer = Layer.mergeAll(
      Logger.replace(Logger.defaultLogger, logger),
      Logger.minimumLogLevel(LogLevel.All),
      Layer.setTracer(tracer)
    )
    return { said, layer }
  }

  it.effect("write-only configuration, MCP headers and grants are in no answer, refusal, log line or span", () => {
    const { layer, said } = listening()
    const object = {
      media_type: "application/json",
      max_bytes: 1,
      write: {
        kind: "http-put",
        url: "https://kiln-store.example/s3cret",
        expires_at: "2099-04-05T06:07:08Z",
        headers: { "x-grant": "s3cret" }
      }
    }
    const url = "https://tools.kiln.example/mcp"
    const calls: ReadonlyArray<readonly [string, string, Readonly<Record<string, unknown>>]> = [
      ["POST", "/ext/agent-config", { token: "s3cret" }],
      ["POST", "/ext/agent-config", { token: "s3cret", model: 7 }],
      ["POST", "/ext/agent-config", { token: ["s3cret"] }],
      ["POST", "/ext/agent-config", { token: "s3cret", description: "" }],
      ["POST", "/ext/agent-config", { description: null, name: "s3cret", model: { a: "s3cret" } }],
      ["GET", "/ext/agent-config", {}],
      ["POST", "/ext/mcp-config", { url, name: "kiln", headers: { authorization: "s3cret" } }],
      ["POST", "/ext/mcp-config", { url, headers: { authorization: "s3cret" } }],
      ["POST", "/ext/mcp-config", { url: "", headers: { authorization: "s3cret" } }],
      ["POST", "/ext/mcp-config", { url, headers: "s3cret" }],
      ["POST", "/ext/mcp-config", { url, headers: ["s3cret"], name: { a: "s3cret" } }],
      ["GET", "/ext/mcp-config", {}],
      ["POST", "/ext/trajectory", { task_id: "t", objects: { trajectory: object } }],
      ["POST", "/ext/trajectory", { task_id: "t", objects: { trajectory: { ...object, max_bytes: "s3cret" } } }],
      ["POST", "/ext/trajectory", { task_id: "t", after: "s3cret" }]
    ]
    return Effect.gen(function*() {
      const extensions = [AgentConfigV1, McpConfigV1, TrajectoryV1.configure({ live: true })]
      const { call } = yield* serve({ extensions })
      const trajectories = yield* Trajectories.Trajectories
      yield* trajectories.submitted("t", "ctx")
      yield* trajectories.settled("t", "completed", { format: "kiln/1", payload: ["long"] })
      const answers = yield* Effect.forEach(
        calls,
        ([method, path, sent]) => Effect.exit(Effect.withSpan(call(method, path, sent), "call"))
      )
      for (const exit of answers) {
        yield* Effect.logInfo("answered", exit)
        if (Exit.isFailure(exit)) yield* Effect.logError("refused", exit.cause)
      }
      yield* Effect.logInfo(yield* (yield* ConfigState.ConfigState).current)
      yield* Effect.logInfo(yield* (yield* McpServers.McpServers).current)
      const all = [...said, ...answers.map((exit) => inspect(exit, { depth: 20 }) + JSON.stringify(exit))].join("\n")
      expect(answers.filter(Exit.isSuccess)).toHaveLength(4)
      expect(said.length).toBeGreaterThan(answers.length)
      expect(all).not.toContain("s3cret")
    }).pipe(Effect.provide([State, layer]))
  })
})
