import * as Contract from "@effect-agentenv/protocol/Contract"
import * as Extension from "@effect-agentenv/protocol/Extension"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { AttributionProbeV1 } from "@effect-agentenv/protocol/extensions/AttributionProbeV1"
import * as Install from "@effect-agentenv/protocol/extensions/InstallV1"
import * as McpConfig from "@effect-agentenv/protocol/extensions/McpConfigV1"
import * as PeerAgents from "@effect-agentenv/protocol/extensions/PeerAgentsV1"
import * as SkillConfig from "@effect-agentenv/protocol/extensions/SkillConfigV1"
import * as Snapshot from "@effect-agentenv/protocol/extensions/SnapshotV1"
import { StagingV1 } from "@effect-agentenv/protocol/extensions/StagingV1"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Context, Effect, type Layer, Redacted, Schema } from "effect"

const { SkillConfigV1 } = SkillConfig
const { SnapshotV1 } = Snapshot

const read = { kind: "http-get", url: "https://s.example/r?sig=canary-url", expires_at: "2099-04-05T06:07:08Z" }
const put = { kind: "http-put", url: "https://s.example/w?sig=canary-url", expires_at: "2099-04-05T06:07:08Z" }
const readObject = { media_type: "application/octet-stream", max_bytes: 100, read }
const writeObject = { media_type: "application/octet-stream", max_bytes: 100, write: put }

const decode = <A, I>(schema: Schema.Schema<A, I>, value: unknown) => Schema.decodeUnknown(schema)(value)

const reason = <A, I>(schema: Schema.Schema<A, I>, value: unknown) =>
  Effect.map(Effect.flip(Schema.decodeUnknown(schema, { errors: "all" })(value)), WireSchema.formatIssues)

describe("standard extensions", () => {
  it("B-REG-16: only the library's own objects are standard, whatever was copied off one", () => {
    expect(Extension.isStandard(SnapshotV1)).toBe(true)
    expect(Extension.isStandard(Extension.describe(SnapshotV1, "Mine."))).toBe(true)
    expect(Extension.isStandard(Extension.override(AgentConfigV1))).toBe(true)
    expect(Extension.isStandard(Install.InstallV1.configure({ installCommands: [] }))).toBe(true)
    const copy = { ...SnapshotV1 }
    expect(Extension.isStandard(copy)).toBe(false)
    expect(Extension.isStandard(Extension.describe(copy, "Mine."))).toBe(false)
    expect(Extension.isStandard(Extension.make("urn:agentenv:snapshot/v1", {}))).toBe(false)
    expectTypeOf(SnapshotV1.origin).toEqualTypeOf<"standard">()
    expectTypeOf(Extension.make("urn:agentenv:snapshot/v1", {}).origin).toEqualTypeOf<"custom">()
  })

  it("contract 3: each operation has its verb, its path and its owner", () => {
    const rows = [
      AgentConfigV1,
      McpConfig.McpConfigV1,
      SkillConfigV1,
      SnapshotV1,
      PeerAgents.PeerAgentsV1,
      AttributionProbeV1,
      Install.InstallV1,
      StagingV1
    ].map((extension: Extension.Any) => [
      extension.uri,
      extension.endpoint,
      ...[extension.operations, ...Object.values(extension.features)].flatMap((operations) =>
        Object.entries(operations).map(([key, { method, name, owner, path }]) =>
          `${name ?? key} ${method} ${path ?? extension.endpoint} ${owner}`
        )
      )
    ])
    expect(rows).toEqual([
      [
        "urn:agentenv:agent-config/v1",
        "/ext/agent-config",
        "set POST /ext/agent-config sdk",
        "get GET /ext/agent-config sdk"
      ],
      ["urn:agentenv:mcp-config/v1", "/ext/mcp-config", "add POST /ext/mcp-config sdk", "list GET /ext/mcp-config sdk"],
      [
        "urn:agentenv:skill-config/v1",
        "/ext/skill-config",
        "add POST /ext/skill-config runtime",
        "list GET /ext/skill-config sdk"
      ],
      [
        "urn:agentenv:snapshot/v1",
        "/ext/snapshot",
        "save POST /ext/snapshot runtime",
        "load PUT /ext/snapshot runtime",
        "enable-changelog POST /ext/snapshot/changelog runtime",
        "apply-changelog PUT /ext/snapshot/changelog runtime"
      ],
      [
        "urn:agentenv:peer-agents/v1",
        "/ext/peer-agents",
        "set POST /ext/peer-agents runtime",
        "list GET /ext/peer-agents runtime"
      ],
      [
        "urn:agentenv:attribution-probe/v1",
        "/ext/attribution-probe",
        "probe POST /ext/attribution-probe runtime"
      ],
      ["urn:agentenv:install/v1", undefined],
      ["urn:agentenv:staging/v1", "/ext/staging"]
    ])
  })
})

describe("McpConfigV1", () => {
  it("B-MCP-1: add requires the URL", () => {
    expect(Contract.request(McpConfig.McpConfigV1.operations.add)).toEqual({
      required: ["url"],
      optional: ["headers", "name"]
    })
    expect(Contract.response(McpConfig.McpConfigV1.operations.list)).toEqual({ required: ["mcp_servers"] })
    expect(Contract.response(McpConfig.McpConfigV1.operations.add)).toBeUndefined()
  })

  it.effect("B-MCP-6: a name may be null, headers are secrets, and a wrong one is named and not shown", () =>
    Effect.gen(function*() {
      const request = yield* decode(McpConfig.AddRequest, { url: "u", name: null, headers: { "X-Kiln": "canary" } })
      expect(request.name).toBeUndefined()
      expect(JSON.stringify(request)).not.toContain("canary")
      expect(request.headers && Redacted.value(request.headers)).toEqual({ "X-Kiln": "canary" })
      expect(yield* reason(McpConfig.AddRequest, { url: "u", headers: { "X-Kiln": 4711 } })).toBe(
        "headers.X-Kiln: expected string"
      )
      expect(yield* reason(McpConfig.AddRequest, { url: "u", token: "canary" })).toBe("token: is unexpected")
    }))
})

describe("SkillConfigV1", () => {
  const bundle = (max_total_bytes: number, ...files: ReadonlyArray<readonly [string, number]>) => ({
    name: "glaze",
    description: "d",
    skill_bundle: {
      max_total_bytes,
      files: files.map(([path, max_bytes]) => ({ path, object: { ...readObject, max_bytes } }))
    }
  })

  it("B-SKILL-1: add has two forms and answers the name", () => {
    expect(Contract.request(SkillConfigV1.operations.add)).toEqual({
      required: ["name", "description"],
      oneOf: [{ required: ["skill_md"] }, { required: ["skill_bundle"] }]
    })
    expect(Contract.response(SkillConfigV1.operations.add)).toEqual({ required: ["name"] })
    expect(Contract.response(SkillConfigV1.operations.list)).toEqual({ required: ["skills"] })
  })

  it.effect("B-SKILL-3: a name can name a folder", () =>
    Effect.gen(function*() {
      for (const name of ["a", "Glaze-1.2_x", "n".repeat(128)]) {
        expect(yield* decode(SkillConfig.SkillName, name)).toBe(name)
      }
      for (const name of ["../app", "a/b", "a\\b", ".hidden", "", "n".repeat(129), "glaze\n", "naïve"]) {
        expect(yield* reason(SkillConfig.SkillName, name)).toMatch(/^must be 1 to 128/)
      }
    }))

  it.effect("B-SKILL-8: a bundle has a root SKILL.md, unique normalized paths, and no more bytes than its total", () =>
    Effect.gen(function*() {
      const good = yield* decode(SkillConfig.BundleRequest, bundle(50, ["SKILL.md", 40], ["docs/SKILL.md", 10]))
      expect(good.skill_bundle.files.map(({ path }) => path)).toEqual(["SKILL.md", "docs/SKILL.md"])
      const why = (value: unknown) => reason(SkillConfig.BundleRequest, value)
      expect(yield* why(bundle(100, ["docs/SKILL.md", 100]))).toMatch(/a SKILL\.md at the root/)
      expect(yield* why(bundle(50, ["SKILL.md", 40], ["a.txt", 11]))).toMatch(/max_total_bytes/)
      expect(yield* why(bundle(50, ["SKILL.md", 10], ["SKILL.md", 10]))).toMatch(/unique/)
      expect(yield* why(bundle(50, ["SKILL.md", 10], ["../x", 10]))).toMatch(/^skill_bundle\.files\[1\]\.path: /)
      expect(yield* why(bundle(0, ["SKILL.md", 10]))).toMatch(/positive/)
      expect(yield* why(bundle(50))).toMatch(/SKILL\.md/)
    }))

  it.effect("shows nothing of a grant that does not decode", () =>
    Effect.gen(function*() {
      const value = bundle(50, ["SKILL.md", 10])
      const broken = {
        ...value,
        skill_bundle: {
          ...value.skill_bundle,
          files: [{ path: "SKILL.md", object: { ...readObject, read: { ...read, url: "http://canary" } } }]
        }
      }
      const said = yield* reason(SkillConfig.BundleRequest, broken)
      expect(said).toBe("skill_bundle.files[0].object.read.url: must be an absolute https URL")
    }))
})

describe("SnapshotV1", () => {
  const { apply, enable } = SnapshotV1.features.changelog
  const { load, save } = SnapshotV1.operations

  it("B-SNAP-1: the contracts of save, load, enable-changelog and apply-changelog", () => {
    expect([save, load, enable, apply].map((operation) => [
      Contract.request(operation),
      Contract.response(operation)
    ])).toEqual([
      [{ required: ["context_id", "objects"] }, { required: ["context_id", "objects"] }],
      [{ required: ["objects"], optional: ["target_context_id"] }, { required: ["context_id"] }],
      [{ required: ["write_namespace"], optional: ["roots"] }, { required: ["roots"] }],
      [
        { required: ["increments"], optional: ["resume_conversation", "target_context_id"] },
        { required: ["count"], optional: ["context_id"] }
      ]
    ])
  })

  it.effect("B-SNAP-2: objects are octet streams, the workspace may be left out", () =>
    Effect.gen(function*() {
      const saved = yield* decode(Snapshot.SaveRequest, { context_id: "c", objects: { trajectory: writeObject } })
      expect(saved.objects.workspace).toBeUndefined()
      expect(JSON.stringify(saved)).not.toContain("canary")
      const json = { ...writeObject, media_type: "application/json" }
      expect(
        yield* reason(Snapshot.SaveRequest, { context_id: "c", objects: { trajectory: writeObject, workspace: json } })
      ).toBe("objects.workspace: media_type must be application/octet-stream")
      expect(yield* reason(Snapshot.SaveRequest, { context_id: "c", objects: { trajectory: json } }))
        .toBe("objects.trajectory: media_type must be application/octet-stream")
    }))

  it.effect("B-SNAP-3: load names the context that goes on, or doesn't", () =>
    Effect.gen(function*() {
      const objects = { trajectory: readObject, workspace: null }
      expect((yield* decode(Snapshot.LoadRequest, { objects })).target_context_id).toBeUndefined()
      expect((yield* decode(Snapshot.LoadRequest, { objects, target_context_id: "c" })).target_context_id).toBe("c")
      expect(
        yield* reason(Snapshot.LoadRequest, { objects: { trajectory: { ...readObject, media_type: "text/plain" } } })
      ).toMatch(/octet-stream/)
    }))

  it.effect("B-SNAP-4: a namespace takes a form's grant", () =>
    Effect.gen(function*() {
      const write_namespace = {
        root_path: "runs/kiln-7",
        expires_at: "2099-04-05T06:07:08Z",
        max_objects: 4,
        max_object_bytes: 1024,
        max_total_bytes: 2048,
        write: {
          kind: "http-post-policy",
          url: "https://s.example/p",
          fields: { policy: "canary" },
          path_field: "key",
          file_field: "file"
        }
      }
      const request = yield* decode(Snapshot.EnableChangelogRequest, { write_namespace, roots: null })
      expect(request.roots).toBeUndefined()
      expect(yield* reason(Snapshot.EnableChangelogRequest, { write_namespace: { ...write_namespace, write: put } }))
        .toMatch(/write_namespace/)
    }))

  it.effect("B-SNAP-5: sequences are strictly increasing, with gaps or none at all", () =>
    Effect.gen(function*() {
      const increments = (...sequences: ReadonlyArray<unknown>) => ({
        increments: sequences.map((sequence) => ({ sequence, object: readObject }))
      })
      expect((yield* decode(Snapshot.ApplyChangelogRequest, increments())).increments).toEqual([])
      expect((yield* decode(Snapshot.ApplyChangelogRequest, increments(0, 4, 9))).increments.length).toBe(3)
      for (const sequences of [[2, 1], [2, 2], [0, 0]]) {
        expect(yield* reason(Snapshot.ApplyChangelogRequest, increments(...sequences))).toBe(
          "increments: the sequences must be strictly increasing"
        )
      }
      expect(yield* reason(Snapshot.ApplyChangelogRequest, increments(-1))).toMatch(/non-negative/)
      expect(yield* reason(Snapshot.ApplyChangelogRequest, increments("1"))).toMatch(/increments\[0\]\.sequence/)
      expect(yield* reason(Snapshot.ApplyChangelogRequest, { ...increments(), resume_conversation: "yes" }))
        .toMatch(/resume_conversation/)
    }))

  it.effect("B-SNAP-6: an older platform's s3_prefix is refused", () =>
    Effect.gen(function*() {
      expect(yield* reason(Snapshot.SaveRequest, { context_id: "c", s3_prefix: "s3://canary" })).toBe(
        "s3_prefix: is unexpected\nobjects: is missing"
      )
    }))

  it("its layer has both operations, and the changelog whole or not at all", () => {
    const save = () => Effect.succeed({ context_id: "c", objects: { trajectory: { size_bytes: 1 } } })
    const load = () => Effect.succeed({ context_id: "c" })
    const enable = () => Effect.succeed({ roots: [] })
    const apply = () => Effect.succeed({ count: 0 })
    expectTypeOf(SnapshotV1.toLayer(Effect.succeed({ save, load }))).toEqualTypeOf<
      Layer.Layer<Extension.Handlers<"urn:agentenv:snapshot/v1">>
    >()
    SnapshotV1.toLayer(Effect.succeed({ save, load, changelog: { enable, apply } }))
    // @ts-expect-error B-REG-12: 'load' is missing
    SnapshotV1.toLayer(Effect.succeed({ save }))
    // @ts-expect-error B-REG-13: half of the changelog
    SnapshotV1.toLayer(Effect.succeed({ save, load, changelog: { enable } }))
    // @ts-expect-error: no such operation
    SnapshotV1.toLayer(Effect.succeed({ save, load, restore: load }))
    // @ts-expect-error B-HTTP-5: another answer than the operation's
    SnapshotV1.toLayer(Effect.succeed({ save, load: () => Effect.succeed({ s3_prefix: "p" }) }))
  })

  it("B-REG-9: a handler takes its operation's request, and nothing where the operation takes nothing", () => {
    const save = () => Effect.succeed({ context_id: "c", objects: { trajectory: { size_bytes: 1 } } })
    const legacy = ({ s3_prefix }: { readonly s3_prefix: string }) => Effect.succeed({ context_id: s3_prefix })
    // @ts-expect-error: another request than the operation's
    SnapshotV1.toLayer(Effect.succeed({ save, load: legacy }))
    const peers = (request: { readonly all: boolean }) => Effect.succeed({ peers: request.all ? [] : [] })
    const set = () => Effect.succeed({ status: "updated" })
    // @ts-expect-error: `list` is called without a request
    PeerAgents.PeerAgentsV1.toLayer(Effect.succeed({ set, list: peers }))
  })
})

describe("PeerAgentsV1", () => {
  it("B-PEER-1: set requires the peers, list answers them", () => {
    const { list, set } = PeerAgents.PeerAgentsV1.operations
    expect([Contract.request(set), Contract.response(set), Contract.response(list)]).toEqual([
      { required: ["peers"] },
      undefined,
      { required: ["peers"] }
    ])
  })

  it.effect("B-PEER-3: the platform's peers, the validators' and none are accepted", () =>
    Effect.gen(function*() {
      const url = "https://scout.kiln.example"
      expect(
        yield* decode(PeerAgents.SetRequest, {
          peers: [{ name: "scout", url, card: { name: "scout", skills: [{ id: 1 }] }, description: null }]
        })
      ).toEqual({ peers: [{ name: "scout", url, card: { name: "scout", skills: [{ id: 1 }] } }] })
      expect(yield* decode(PeerAgents.SetRequest, { peers: [{ name: "probe", url }] })).toEqual({
        peers: [{ name: "probe", url }]
      })
      expect(yield* decode(PeerAgents.SetRequest, { peers: [] })).toEqual({ peers: [] })
      expect(yield* reason(PeerAgents.SetRequest, { peers: [], mode: "x" })).toBe("mode: is unexpected")
      expect(yield* reason(PeerAgents.SetRequest, { peers: [{ name: "scout", url, card: [] }] }))
        .toBe("peers[0].card: expected JsonObject")
    }))

  it("B-PEER-2: a list has only what was sent", () => {
    expect(Schema.encodeSync(PeerAgents.ListResponse)({ peers: [{ name: "scout", url: "u" }] })).toEqual({
      peers: [{ name: "scout", url: "u" }]
    })
  })

  it("B-PEER-4: set and list are implemented together", () => {
    const set = () => Effect.succeed({ status: "updated" as const })
    PeerAgents.PeerAgentsV1.toLayer(Effect.succeed({ set, list: () => Effect.succeed({ peers: [] }) }))
    // @ts-expect-error: 'list' is missing
    PeerAgents.PeerAgentsV1.toLayer(Effect.succeed({ set }))
  })
})

describe("AttributionProbeV1", () => {
  it("B-ATTR-2: the probe takes nothing and answers what was seen last", () => {
    const { probe } = AttributionProbeV1.operations
    expect(Contract.request(probe)).toBeUndefined()
    expect(Contract.response(probe)).toEqual({
      required: ["last_seen_attribution"],
      optional: ["last_seen_at_utc"]
    })
    AttributionProbeV1.toLayer(Effect.succeed({
      probe: () => Effect.succeed({ last_seen_attribution: {}, last_seen_at_utc: null })
    }))
    // @ts-expect-error B-ATTR-3: an undeclared field
    AttributionProbeV1.toLayer(Effect.succeed({ probe: () => Effect.succeed({ attribution: {} }) }))
  })
})

describe("InstallV1", () => {
  const { configurable } = Install.InstallV1
  const whole: Install.Installation = {
    installCommands: ["start {agent_name} --key {licence}"],
    installCommandsHost: ["tunnel {a2a_port}"],
    requiredParams: ["licence"],
    requiredParamsHost: [],
    a2aPort: 8000
  }

  it("B-INST-1: what is configured shows as the card's parameters", () => {
    expect(configurable?.cardParams?.(whole)).toEqual({
      install_commands: ["start {agent_name} --key {licence}"],
      install_commands_host: ["tunnel {a2a_port}"],
      required_params: ["licence"],
      required_params_host: [],
      a2a_port: 8000
    })
    expect(configurable?.cardParams?.({ installCommands: [] })).toEqual({
      install_commands: [],
      install_commands_host: [],
      required_params: [],
      required_params_host: []
    })
  })

  it.effect("B-INST-2: a placeholder that nothing fills in is refused", () =>
    Effect.gen(function*() {
      expect(yield* Schema.validate(Install.Installation)(whole)).toEqual(whole)
      for (
        const [field, value] of [
          ["installCommands", { installCommands: ["start {licence}"] }],
          ["installCommandsHost", {
            installCommands: [],
            installCommandsHost: ["{licence}"],
            requiredParams: ["licence"]
          }]
        ] as const
      ) {
        const error = yield* Effect.flip(Schema.validate(Install.Installation)(value))
        expect(WireSchema.formatIssues(error)).toMatch(
          new RegExp(`^${field} use a placeholder that is neither container, `)
        )
      }
      for (const name of ["a-b", "", "{x}", "1a"]) {
        yield* Effect.flip(Schema.validate(Install.Installation)({ installCommands: [], requiredParams: [name] }))
      }
      yield* Effect.flip(Schema.validate(Install.Installation)({ installCommands: [], a2aPort: 70000 }))
    }))

  it("B-INST-2: placeholders are names in braces", () => {
    expect(Install.placeholders("docker exec {container} sh -c 'cd {work_dir} && echo {} {1} {a b} {container}'"))
      .toEqual([
        "container",
        "work_dir",
        "container"
      ])
  })

  it("it is listed configured", () => {
    expectTypeOf<Extension.Unconfigured<typeof Install.InstallV1>>().toEqualTypeOf<
      "'urn:agentenv:install/v1' needs its configuration: list it as X.configure({ … })"
    >()
    const configured = Install.InstallV1.configure(whole)
    expectTypeOf<Extension.Unconfigured<typeof configured>>().toBeNever()
    // @ts-expect-error B-REG-21: an unknown key
    void (() => Install.InstallV1.configure({ ...whole, commands: [] }))
    // @ts-expect-error B-REG-21: an extension without configuration
    void (() => SnapshotV1.configure({ live: true }))
  })
})

describe("what an agent needs of an extension", () => {
  it("its handlers, unless the library owns all of its operations", () => {
    expectTypeOf<Extension.Required<typeof SnapshotV1>>().toEqualTypeOf<
      Extension.Handlers<"urn:agentenv:snapshot/v1">
    >()
    expectTypeOf<Extension.Required<typeof SkillConfigV1>>().toEqualTypeOf<
      Extension.Handlers<"urn:agentenv:skill-config/v1">
    >()
    expectTypeOf<Extension.Required<typeof McpConfig.McpConfigV1>>().toBeNever()
    expectTypeOf<Extension.Required<typeof Install.InstallV1>>().toBeNever()
    const overridden = Extension.override(McpConfig.McpConfigV1)
    expectTypeOf<Extension.Required<typeof overridden>>().toEqualTypeOf<
      Extension.Handlers<"urn:agentenv:mcp-config/v1">
    >()
  })

  it("B-REG-14: operations of the library are overridden together", () => {
    const add = () => Effect.succeed({ status: "added" as const, name: "n", url: "u", tenant: "t" })
    const list = () => Effect.succeed({ mcp_servers: {} })
    McpConfig.McpConfigV1.toLayer(Effect.succeed({ add, list }))
    // @ts-expect-error: 'list' is missing
    McpConfig.McpConfigV1.toLayer(Effect.succeed({ add }))
    // the skills' list stays the library's when only the author's own operation is given
    SkillConfigV1.toLayer(Effect.succeed({
      add: {
        inline: ({ name }) => Effect.succeed({ name }),
        bundle: ({ name }) => Effect.succeed({ name })
      }
    }))
  })

  it("what a handler needs, its layer needs", () => {
    class Disk extends Context.Tag("Disk")<Disk, { readonly load: Effect.Effect<string> }>() {}
    const layer = SnapshotV1.toLayer(Effect.succeed({
      save: () => Effect.succeed({ context_id: "c", objects: { trajectory: { size_bytes: 1 } } }),
      load: () => Effect.map(Effect.flatMap(Disk, (disk) => disk.load), (context_id) => ({ context_id }))
    }))
    expectTypeOf<Layer.Layer.Context<typeof layer>>().toEqualTypeOf<Disk>()
  })
})
