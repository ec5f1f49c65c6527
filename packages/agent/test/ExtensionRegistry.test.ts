import { RegistryError } from "@effect-agentenv/agent/RegistryError"
import * as Extension from "@effect-agentenv/protocol/Extension"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { AttributionProbeV1 } from "@effect-agentenv/protocol/extensions/AttributionProbeV1"
import { InstallV1 } from "@effect-agentenv/protocol/extensions/InstallV1"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { PeerAgentsV1 } from "@effect-agentenv/protocol/extensions/PeerAgentsV1"
import { SkillConfigV1 } from "@effect-agentenv/protocol/extensions/SkillConfigV1"
import { SnapshotV1 } from "@effect-agentenv/protocol/extensions/SnapshotV1"
import { StagingV1 } from "@effect-agentenv/protocol/extensions/StagingV1"
import { TrajectoryV1 } from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import * as Operation from "@effect-agentenv/protocol/Operation"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Schema } from "effect"
import { type Desk, refused, registry } from "./extensionSupport.ts"

const Text = Schema.Struct({ value: Schema.String })

const Echo = Extension.make("urn:kiln:echo/v1", {
  description: "Says it again.",
  endpoint: "/ext/echo",
  operations: { say: Operation.post({ request: Text, response: Text }) }
})

const echo = Echo.toLayer(Effect.succeed({ say: (request) => Effect.succeed(request) }))

const handler = () => Effect.succeed({})

const whole = {
  save: () => Effect.succeed({ context_id: "c", objects: { trajectory: { size_bytes: 1 } } }),
  load: () => Effect.succeed({ context_id: "c" })
}
const changelog = { enable: () => Effect.succeed({ roots: [] }), apply: () => Effect.succeed({ count: 0 }) }

const silent = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, Logger.replace(Logger.defaultLogger, Logger.none))

/** A layer of handlers that no compiler has seen. */
const unchecked = (extension: Extension.Any, implementation: unknown): Layer.Layer<any> =>
  Layer.succeed((extension as Extension.Extension<string>).handlers, {
    uri: extension.uri,
    implementation,
    context: Context.empty()
  }) as Layer.Layer<any>

const bare = (extension: Extension.Any, implementation: unknown): Desk => ({
  extensions: [extension],
  layers: [unchecked(extension, implementation)]
})

const mcpDefaults = { add: handler, list: handler }
const configDefaults = { set: handler, get: handler }
const configContract = { supported: ["model", "name"], schema: { type: "object" } }

const taken = (extension: Extension.Any) => Effect.map(registry({ extensions: [extension] }), ({ entries }) => entries)

/** A custom extension of one operation, and a layer for it. */
const custom = (uri: string, operation: Operation.Any, endpoint?: `/${string}`) => {
  const extension: Extension.Any = Extension.make(uri, { endpoint, operations: { run: operation } })
  return { extension, layer: unchecked(extension, { run: handler }) }
}

const problemOf = (uri: string, operation: Operation.Any, endpoint?: `/${string}`, reserved?: Desk["reserved"]) => {
  const { extension, layer } = custom(uri, operation, endpoint)
  return refused({ extensions: [extension], layers: [layer], ...(reserved === undefined ? {} : { reserved }) })
}

describe("ExtensionRegistry", () => {
  it.scoped("B-CARD-6: no extensions, no entries", () =>
    Effect.gen(function*() {
      expect(yield* registry({ extensions: [] })).toEqual({
        entries: [],
        routes: [],
        conformance: { standard_operation_overrides: [] },
        warnings: []
      })
    }))

  it.scoped("B-CARD-7: the snapshot's parameters are its endpoint and its methods, those of the changelog with their own", () =>
    Effect.gen(function*() {
      const layer = SnapshotV1.toLayer(Effect.succeed({ ...whole, changelog }))
      const { entries, routes } = yield* registry({ extensions: [SnapshotV1], layers: [layer] })
      expect(entries).toEqual([{
        uri: "urn:agentenv:snapshot/v1",
        description: SnapshotV1.description,
        params: {
          endpoint: "/ext/snapshot",
          methods: {
            save: {
              method: "POST",
              request: { required: ["context_id", "objects"] },
              response: { required: ["context_id", "objects"] }
            },
            load: {
              method: "PUT",
              request: { required: ["objects"], optional: ["target_context_id"] },
              response: { required: ["context_id"] }
            },
            "enable-changelog": {
              method: "POST",
              endpoint: "/ext/snapshot/changelog",
              request: { required: ["write_namespace"], optional: ["roots"] },
              response: { required: ["roots"] }
            },
            "apply-changelog": {
              method: "PUT",
              endpoint: "/ext/snapshot/changelog",
              request: { required: ["increments"], optional: ["resume_conversation", "target_context_id"] },
              response: { required: ["count"], optional: ["context_id"] }
            }
          }
        }
      }])
      expect(routes.map(({ method, name, path }) => `${name} ${method} ${path}`)).toEqual([
        "save POST /ext/snapshot",
        "load PUT /ext/snapshot",
        "enable-changelog POST /ext/snapshot/changelog",
        "apply-changelog PUT /ext/snapshot/changelog"
      ])
    }))

  it.scoped("B-CARD-7: entries stand in the agent's order, with what its definitions say besides", () =>
    Effect.gen(function*() {
      const Declared = Extension.make("urn:kiln:promise/v1", { required: true, params: { days: 2, methods: "mine" } })
      const { entries } = yield* registry({
        extensions: [Declared, Echo, InstallV1.configure({ installCommands: ["run {container}"], a2aPort: 8000 })],
        layers: [echo]
      })
      expect(entries).toEqual([
        { uri: "urn:kiln:promise/v1", params: { days: 2 }, required: true },
        {
          uri: "urn:kiln:echo/v1",
          description: "Says it again.",
          params: {
            endpoint: "/ext/echo",
            methods: { say: { method: "POST", request: { required: ["value"] }, response: { required: ["value"] } } }
          }
        },
        {
          uri: "urn:agentenv:install/v1",
          description: InstallV1.description,
          params: {
            install_commands: ["run {container}"],
            install_commands_host: [],
            required_params: [],
            required_params_host: [],
            a2a_port: 8000
          }
        }
      ])
    }))

  it.scoped("B-CARD-8, B-TRAJ-1 to B-TRAJ-3: the forms of a request are those that have a handler", () =>
    Effect.gen(function*() {
      const requestOf = (get: object, layers: ReadonlyArray<Layer.Layer<any>> = []) =>
        Effect.map(
          registry({ extensions: [TrajectoryV1], layers, defaults: { [TrajectoryV1.uri]: { get } } }),
          // what a card holds is read as its peers read it, without types
          ({ entries }) => (entries as any)[0].params.methods.get
        )
      const task = { task: handler, taskObjects: handler }
      expect(yield* requestOf(task)).toEqual({
        method: "POST",
        request: { required: ["task_id"], oneOf: [{}, { required: ["objects"] }] }
      })
      const contexts = unchecked(TrajectoryV1, { get: { context: handler, contextObjects: handler } })
      expect((yield* requestOf(task, [contexts])).request).toEqual({
        oneOf: [
          { required: ["task_id"] },
          { required: ["task_id", "objects"] },
          { required: ["context_id"] },
          { required: ["context_id", "objects"] }
        ]
      })
      const live = { ...task, context: handler, contextObjects: handler, taskPage: handler, contextPage: handler }
      expect((yield* requestOf(live)).request.oneOf.slice(4)).toEqual([
        { required: ["task_id", "after"], optional: ["limit"] },
        { required: ["context_id", "after"], optional: ["limit"] }
      ])
    }))

  it.scoped("B-CARD-10: the configuration shows what is supported, and its schema", () =>
    Effect.gen(function*() {
      const desk: Desk = {
        extensions: [AgentConfigV1],
        configContract,
        defaults: { [AgentConfigV1.uri]: configDefaults }
      }
      const { entries } = yield* registry(desk)
      expect(entries[0]?.params).toEqual({
        endpoint: "/ext/agent-config",
        methods: {
          set: { method: "POST", request: configContract },
          get: { method: "GET", response: { required: ["config"] } }
        }
      })
      const { entries: [blind], routes } = yield* registry({
        ...desk,
        defaults: { [AgentConfigV1.uri]: { set: handler } }
      })
      expect(Object.keys(blind?.params["methods"] as object)).toEqual(["set"])
      expect(routes.map(({ name }) => name)).toEqual(["set"])
    }))

  it.scoped("B-CFG-10: without readback an override's get is not served either", () =>
    Effect.gen(function*() {
      const { conformance, routes } = yield* registry({
        extensions: [Extension.override(AgentConfigV1)],
        layers: [unchecked(AgentConfigV1, configDefaults)],
        configContract,
        defaults: { [AgentConfigV1.uri]: { set: handler } }
      })
      expect(routes.map(({ name }) => name)).toEqual(["set"])
      expect(conformance.standard_operation_overrides).toEqual([{ uri: AgentConfigV1.uri, operation: "set" }])
    }).pipe(silent))

  it.scoped("B-REG-8: a handler is a function", () =>
    Effect.gen(function*() {
      for (const run of [7, "x", Effect.void, null]) {
        expect((yield* refused(bare(Echo, { say: run }))).message).toMatch(
          /^Agent 'kiln', extension 'urn:kiln:echo\/v1', operation 'say': its handler is not a function; make it/
        )
      }
      expect(yield* refused(bare(Echo, 7))).toMatchObject({
        problem: "its implementation is not an object of handlers"
      })
    }))

  it.scoped("B-REG-10: an operation with variants has a handler for each of its own", () =>
    Effect.gen(function*() {
      const list = { [SkillConfigV1.uri]: { list: handler } }
      const say = (add: unknown) => refused({ ...bare(SkillConfigV1, { add }), defaults: list })
      expect(yield* say(handler)).toMatchObject({
        subject: "extension 'urn:agentenv:skill-config/v1', operation 'add'",
        mend: "give a handler for each of inline, bundle"
      })
      expect(yield* say({ inline: handler })).toMatchObject({ problem: "it has no handler for bundle" })
      expect(yield* say({ inline: handler, bundle: handler, s3: handler })).toMatchObject({
        problem: "it has no variant 's3'"
      })
      expect(yield* say({ inline: handler, bundle: 7 })).toMatchObject({
        problem: "the handler of 'bundle' is not a function"
      })
    }))

  it.scoped("B-REG-11: the handlers of an extension serve it, the list is said once", () =>
    Effect.gen(function*() {
      const { entries, routes } = yield* registry({ extensions: [Echo], layers: [echo] })
      expect([entries.length, routes.length]).toEqual([1, 1])
    }))

  it.scoped("B-REG-12: operations of the author's are all given or none", () =>
    Effect.gen(function*() {
      expect(yield* refused(bare(SnapshotV1, { save: handler }))).toMatchObject({
        subject: "extension 'urn:agentenv:snapshot/v1', operation 'load'",
        problem: "it has no handler"
      })
      expect(yield* refused(bare(PeerAgentsV1, { set: handler }))).toMatchObject({
        subject: "extension 'urn:agentenv:peer-agents/v1', operation 'list'"
      })
      expect(yield* refused({ extensions: [SnapshotV1] })).toMatchObject({
        subject: "extension 'urn:agentenv:snapshot/v1', operation 'save'"
      })
      expect(yield* refused(bare(SnapshotV1, { ...whole, restore: handler }))).toMatchObject({
        problem: "its definition has no such operation",
        mend: "its operations are save, load, changelog"
      })
    }))

  it.scoped("B-REG-13: a feature is given whole or not at all", () =>
    Effect.gen(function*() {
      for (const half of [{ enable: handler }, { apply: handler }]) {
        const said = yield* refused(bare(SnapshotV1, { ...whole, changelog: half }))
        expect(said.problem).toBe("its feature 'changelog' is incomplete: it has no handler")
        expect(said.subject).toMatch(/'(apply|enable)-changelog'$/)
      }
      const { routes } = yield* registry(bare(SnapshotV1, { ...whole, changelog }))
      expect(routes.map(({ name }) => name)).toEqual(["save", "load", "enable-changelog", "apply-changelog"])
      expect((yield* registry(bare(SnapshotV1, whole))).routes.map(({ name }) => name)).toEqual(["save", "load"])
      expect((yield* registry(bare(SnapshotV1, { ...whole, changelog: {} }))).routes.length).toBe(2)
    }))

  it.scoped("B-REG-14: the library's operations are overridden all together or not at all", () =>
    Effect.gen(function*() {
      const defaults = { [McpConfigV1.uri]: mcpDefaults }
      expect(yield* refused({ ...bare(McpConfigV1, { add: handler }), defaults })).toMatchObject({
        subject: "extension 'urn:agentenv:mcp-config/v1', operation 'add'",
        problem: "it is overridden while 'list' stays the library's",
        mend: "override all of them, or none"
      })
      expect((yield* registry({ extensions: [McpConfigV1], defaults })).conformance).toEqual({
        standard_operation_overrides: []
      })
    }))

  it.scoped("B-REG-14: an override is logged as a warning and reported in the order of declaration", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ logLevel, message }) => lines.push(`${logLevel.label} ${String(message)}`))
      )
      const { conformance, warnings } = yield* registry({
        extensions: [AgentConfigV1, McpConfigV1],
        layers: [unchecked(AgentConfigV1, { get: handler, set: handler }), unchecked(McpConfigV1, mcpDefaults)],
        defaults: { [AgentConfigV1.uri]: configDefaults, [McpConfigV1.uri]: mcpDefaults },
        configContract
      }).pipe(Effect.provide(logger))
      expect(conformance).toEqual({
        standard_operation_overrides: [
          { uri: "urn:agentenv:agent-config/v1", operation: "set" },
          { uri: "urn:agentenv:agent-config/v1", operation: "get" },
          { uri: "urn:agentenv:mcp-config/v1", operation: "add" },
          { uri: "urn:agentenv:mcp-config/v1", operation: "list" }
        ]
      })
      expect(lines).toEqual(warnings.map((warning) => `WARN ${warning}`))
      expect(warnings[0]).toBe("the library's urn:agentenv:agent-config/v1 set is overridden")
    }))

  it.scoped("B-REG-14: the author's own operation beside the library's is no override", () =>
    Effect.gen(function*() {
      const { conformance, routes } = yield* registry({
        ...bare(SkillConfigV1, { add: { inline: handler, bundle: handler } }),
        defaults: { [SkillConfigV1.uri]: { list: handler } }
      })
      expect(routes.map(({ name }) => name)).toEqual(["add", "list"])
      expect(conformance.standard_operation_overrides).toEqual([])
    }))

  it.scoped("B-TRAJ-14: the author's contexts add to the library's tasks, whose pages stay the library's", () =>
    Effect.gen(function*() {
      const task = { task: handler, taskObjects: handler }
      const live = { ...task, context: handler, contextObjects: handler, taskPage: handler, contextPage: handler }
      const desk = (own: object, get: object): Desk => ({
        ...bare(TrajectoryV1, { get: own }),
        defaults: { [TrajectoryV1.uri]: { get } }
      })
      const added = yield* registry(desk({ context: handler, contextObjects: handler }, live))
      expect(added.conformance.standard_operation_overrides).toEqual([])
      expect(yield* refused(desk({ taskPage: handler }, live))).toMatchObject({
        problem: "its variant 'taskPage' is the library's"
      })
      expect(yield* refused(desk({ task: handler }, task))).toMatchObject({
        problem: "it has no handler for taskObjects",
        mend: "override the whole operation, or none of it"
      })
      // who overrides a live one answers its pages too
      expect(yield* refused(desk(task, live))).toMatchObject({
        problem: "it has no handler for context, contextObjects, taskPage, contextPage"
      })
      const { conformance } = yield* silent(registry(desk(live, live)))
      expect(conformance.standard_operation_overrides).toEqual([{ uri: TrajectoryV1.uri, operation: "get" }])
    }))

  it.scoped("B-REG-16: urn:agentenv is the library's, also against a copy of its own definition", () =>
    Effect.gen(function*() {
      for (
        const extension of [
          Extension.make("urn:agentenv:kiln/v1", {}),
          Extension.make("URN:AgentEnv:kiln/v1", {}),
          Extension.make("urn:agentenv:snapshot/v1", { endpoint: "/ext/snapshot", operations: SnapshotV1.operations }),
          { ...SnapshotV1 },
          Extension.describe({ ...SnapshotV1 }, "Mine.")
        ]
      ) {
        expect(yield* refused(bare(extension, whole))).toMatchObject({
          problem: "only the library defines extensions of the namespace urn:agentenv"
        })
      }
      yield* Effect.scoped(registry(bare(Extension.describe(SnapshotV1, "Mine."), whole)))
    }))

  it.scoped("B-REG-17: a URI is listed once, with all its operations in one definition", () =>
    Effect.gen(function*() {
      const other = Extension.single("urn:kiln:echo/v1", "whisper", Operation.post({ path: "/ext/whisper" }))
      expect(yield* refused({ extensions: [Echo, other], layers: [echo] })).toMatchObject({
        subject: "extension 'urn:kiln:echo/v1'",
        problem: "it is listed twice",
        mend: "define one extension with all its operations, and list it once"
      })
      const Both = Extension.make("urn:kiln:both/v1", {
        endpoint: "/ext/both",
        operations: { read: Operation.get({ response: Text }), write: Operation.post({ request: Text }) }
      })
      const { entries, routes } = yield* registry(bare(Both, { read: handler, write: handler }))
      expect(entries.length).toBe(1)
      expect(routes.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /ext/both", "POST /ext/both"])
    }))

  it.scoped("B-REG-18: two operations don't share a route, versions stand side by side", () =>
    Effect.gen(function*() {
      const one = custom("urn:kiln:echo/v1", Operation.post(), "/ext/echo")
      const two = custom("urn:kiln:other/v1", Operation.post(), "/ext/echo")
      expect(yield* refused({ extensions: [one.extension, two.extension], layers: [one.layer, two.layer] }))
        .toMatchObject({
          subject: "extension 'urn:kiln:other/v1', operation 'run'",
          problem: "its route POST /ext/echo belongs to extension 'urn:kiln:echo/v1', operation 'run'"
        })
      const next = custom("urn:kiln:echo/v2", Operation.post(), "/ext/echo/v2")
      const { routes } = yield* registry({
        extensions: [one.extension, next.extension],
        layers: [one.layer, next.layer]
      })
      expect(routes.map(({ path }) => path)).toEqual(["/ext/echo", "/ext/echo/v2"])
      const Twice = Extension.make("urn:kiln:twice/v1", {
        endpoint: "/ext/twice",
        operations: { a: Operation.post(), b: Operation.post() }
      })
      expect((yield* refused(bare(Twice, { a: handler, b: handler }))).problem).toMatch(/POST \/ext\/twice belongs to/)
    }))

  it.scoped("B-REG-18: an extension that says no path has one of its URI, version and all", () =>
    Effect.gen(function*() {
      const one = custom("urn:kiln:echo/v1", Operation.post())
      const two = custom("urn:kiln:echo/v2", Operation.post())
      const { entries, routes } = yield* registry({
        extensions: [one.extension, two.extension],
        layers: [one.layer, two.layer]
      })
      expect(routes.map(({ path }) => path)).toEqual(["/ext/kiln/echo/v1", "/ext/kiln/echo/v2"])
      expect(entries[0]?.params["endpoint"]).toBe("/ext/kiln/echo/v1")
      for (const uri of ["https://kiln.example/echo", "urn:kiln:a b", "urn:kiln:*", "urn:kiln:..:x"]) {
        expect((yield* problemOf(uri, Operation.post())).mend).toMatch(/^give it a path/)
      }
      for (const path of ["/ext/:id", "/ext/*", "/ext/echo/", "/ext/../x", "/ext//x", "/ext/x?y", "/"] as const) {
        expect((yield* problemOf("urn:kiln:x/v1", Operation.post({ path }))).problem).toMatch(/can't be served$/)
      }
    }))

  it.scoped("B-REG-19: the framework's routes are its own, wherever its RPC is", () =>
    Effect.gen(function*() {
      const owner = (operation: Operation.Any) =>
        Effect.map(problemOf("urn:kiln:x/v1", operation), ({ problem }) => problem)
      expect(yield* owner(Operation.post({ path: "/a2a" }))).toBe("its route POST /a2a belongs to A2A JSON-RPC")
      expect(yield* owner(Operation.get({ path: "/health" }))).toBe("its route GET /health belongs to health")
      for (const path of ["/.well-known/agent.json", "/.well-known/agent-card.json"] as const) {
        expect(yield* owner(Operation.get({ path }))).toBe(`its route GET ${path} belongs to Agent Card`)
      }
      const { extension, layer } = custom("urn:kiln:x/v1", Operation.post({ path: "/agentenv" }))
      expect((yield* registry({ extensions: [extension], layers: [layer] })).routes.length).toBe(1)
      expect(
        (yield* problemOf("urn:kiln:x/v1", Operation.post({ path: "/agentenv" }), undefined, [
          { method: "POST", path: "/agentenv", owner: "A2A JSON-RPC" }
        ])).problem
      ).toMatch(/belongs to A2A JSON-RPC/)
    }))

  it.scoped("B-REG-20: what is below the staging store's path is its own, while there is one", () =>
    Effect.gen(function*() {
      const mine = Operation.put({ path: "/ext/staging/mine" })
      expect((yield* problemOf("urn:kiln:x/v1", mine)).problem).toBe(
        "its route PUT /ext/staging/mine belongs to staging"
      )
      const { extension, layer } = custom("urn:kiln:x/v1", mine)
      expect((yield* registry({ extensions: [extension], layers: [layer], reserved: [] })).routes.length).toBe(1)
      const beside = custom("urn:kiln:y/v1", Operation.put({ path: "/ext/stagings" }))
      expect((yield* registry({ extensions: [beside.extension], layers: [beside.layer] })).routes.length).toBe(1)
    }))

  it.scoped("B-REG-21: a blank description is refused", () =>
    Effect.gen(function*() {
      for (const description of ["", "  \n"]) {
        expect(yield* refused({ extensions: [Extension.describe(Echo, description)], layers: [echo] })).toMatchObject({
          problem: "its description is blank"
        })
      }
    }))

  it.scoped("B-REG-21: a configuration is checked whole, and only where there is one", () =>
    Effect.gen(function*() {
      const Dial = Extension.make("urn:kiln:dial/v1", {
        configuration: Schema.Struct({ heat: Schema.Int, note: Schema.optional(Schema.String) }).pipe(
          Schema.filter(({ heat }) => heat < 1300, { message: () => "the kiln would crack" })
        ),
        cardParams: ({ heat }) => ({ heat_limit: heat })
      })
      const configured = (configuration: unknown) => Dial.configure(configuration as never)
      expect(yield* taken(Dial.configure({ heat: 900 }))).toEqual([{ uri: Dial.uri, params: { heat_limit: 900 } }])
      const problem = (extension: Extension.Any) => Effect.map(refused({ extensions: [extension] }), (it) => it.problem)
      expect(yield* problem(Dial)).toBe("its configuration does not fit (heat: is missing)")
      expect(yield* problem(configured({ heat: 900, speed: 1 }))).toMatch(/speed: is unexpected/)
      expect(yield* problem(configured({ note: "x" }))).toMatch(/heat: is missing/)
      expect(yield* problem(configured({ heat: 1400 }))).toMatch(/the kiln would crack/)
      expect(yield* problem(Echo.configure({ live: true } as never))).toBe(
        "it takes no configuration"
      )
      const Broken = Extension.make("urn:kiln:broken/v1", {
        configuration: Schema.Struct({}),
        cardParams: () => {
          throw new TypeError("kiln-private-detail")
        }
      })
      expect(yield* problem(Broken)).toBe("its card can't be written from its configuration")
    }))

  it.scoped("B-INST-2: an installation with an unknown placeholder is refused", () =>
    Effect.gen(function*() {
      expect((yield* refused({ extensions: [InstallV1.configure({ installCommands: ["start {licence}"] })] })).problem)
        .toMatch(/installCommands use a placeholder/)
      expect((yield* refused({ extensions: [InstallV1] })).problem).toMatch(/installCommands: is missing/)
    }))

  it.scoped("B-INST-3: what is no installation is refused by the name of its key, and placeholders may be declared", () =>
    Effect.gen(function*() {
      const problem = (configuration: object) =>
        // what the types forbid, as somebody may pass it from JavaScript
        Effect.map(refused({ extensions: [InstallV1.configure(configuration as never)] }), ({ problem }) => problem)
      expect(yield* problem({ installCommands: ["start"], a2aPort: 0 })).toMatch(/a2aPort/)
      expect(yield* problem({ installCommands: ["start"], requiredParams: ["no name"] })).toMatch(/requiredParams/)
      expect(yield* problem({ installCommands: ["start"], commands: [] })).toMatch(/commands/)
      expect(yield* problem({ installCommands: "start" })).toMatch(/installCommands/)
      const declared = InstallV1.configure({ installCommands: ["start {licence}"], requiredParams: ["licence"] })
      expect((yield* registry({ extensions: [declared] })).entries[0]?.params).toMatchObject({
        install_commands: ["start {licence}"],
        required_params: ["licence"]
      })
    }))

  it.scoped("B-REG-22: a description of the agent's own replaces the definition's, handlers and all", () =>
    Effect.gen(function*() {
      const { entries, routes } = yield* registry({
        extensions: [Extension.describe(Echo, "Ours says it louder.")],
        layers: [echo]
      })
      expect(entries[0]?.description).toBe("Ours says it louder.")
      expect(routes.length).toBe(1)
      const Said = Extension.make("urn:kiln:said/v1", {
        endpoint: "/ext/said",
        operations: { say: Operation.post({ description: "Says it." }) }
      })
      expect((yield* registry(bare(Said, { say: handler }))).entries[0]?.description).toBe("Says it.")
    }))

  it.scoped("B-REG-23: answers and requests are objects that take no unknown fields", () =>
    Effect.gen(function*() {
      const open = Schema.Struct({ a: Schema.String }, { key: Schema.String, value: Schema.Unknown })
      const answers = [
        open,
        Schema.Record({ key: Schema.String, value: Schema.String }),
        Text.annotations({ parseOptions: { onExcessProperty: "preserve" } }),
        Schema.Union(Text, open),
        Schema.String,
        Schema.Array(Text),
        Schema.Unknown
      ]
      for (const response of answers) {
        expect(yield* problemOf("urn:kiln:x/v1", Operation.post({ response }))).toMatchObject({
          subject: "extension 'urn:kiln:x/v1', operation 'run'",
          problem: "its response is not an object of named fields and no others"
        })
      }
      for (const request of [open, Schema.String, Schema.Union(Text, Text)]) {
        expect((yield* problemOf("urn:kiln:x/v1", Operation.post({ request }))).problem).toBe(
          "its request is not an object of named fields and no others"
        )
      }
      expect(
        (yield* problemOf("urn:kiln:x/v1", Operation.post({ request: Text, variants: { a: Operation.variant(Text) } })))
          .subject
      ).toBe("extension 'urn:kiln:x/v1', operation 'run'")
    }))

  it.scoped("B-REG-23: an open field within an answer is the author's business, and a union of closed ones is closed", () =>
    Effect.gen(function*() {
      for (
        const response of [
          Schema.Struct({ seen: Schema.Record({ key: Schema.String, value: Schema.Unknown }) }),
          Schema.Union(Text, Schema.Struct({ count: Schema.Int }))
        ]
      ) {
        const { extension, layer } = custom("urn:kiln:x/v1", Operation.post({ response }))
        expect((yield* registry({ extensions: [extension], layers: [layer] })).routes.length).toBe(1)
      }
    }))

  it.scoped("B-REG-24: agent-config comes with a config, and not by itself", () =>
    Effect.gen(function*() {
      const defaults = { [AgentConfigV1.uri]: configDefaults }
      expect(yield* refused({ extensions: [AgentConfigV1, AgentConfigV1], configContract, defaults })).toMatchObject({
        mend: "leave it out: it comes with the agent's config"
      })
      expect((yield* refused({ extensions: [AgentConfigV1], defaults })).problem).toMatch(
        /derived from the agent's config/
      )
    }))

  it.scoped("two operations of one name, and what comes with the server, are refused", () =>
    Effect.gen(function*() {
      const Twice = Extension.make("urn:kiln:twice/v1", {
        operations: { a: Operation.post({ name: "x" }), b: Operation.get({ name: "x" }) }
      })
      expect((yield* refused(bare(Twice, { a: handler, b: handler }))).problem).toBe(
        "two of its operations have this name"
      )
      expect((yield* refused({ extensions: [StagingV1] })).mend).toBe("leave it out")
    }))

  it.scoped("B-ATTR-1: the probe is there when somebody answers it", () =>
    Effect.gen(function*() {
      const { entries } = yield* registry(bare(AttributionProbeV1, { probe: handler }))
      expect(entries[0]?.params["methods"]).toEqual({
        probe: {
          method: "POST",
          response: { required: ["last_seen_attribution"], optional: ["last_seen_at_utc"] }
        }
      })
      expect((yield* refused({ extensions: [AttributionProbeV1] })).problem).toBe("it has no handler")
    }))

  it.scoped("an implementation that throws when it is looked at breaks nothing", () =>
    Effect.gen(function*() {
      const hostile = Object.defineProperty({}, "say", {
        enumerable: true,
        get: () => {
          throw new TypeError("kiln-private-detail")
        }
      })
      const said = yield* refused(bare(Echo, hostile))
      expect(said.problem).toBe("its implementation can't be read")
      expect(said.message).not.toContain("kiln-private")
      expect(new RegistryError({ agent: "a", subject: "s", problem: "p", mend: "m" }).message).toBe(
        "Agent 'a', s: p; m"
      )
    }))
})
