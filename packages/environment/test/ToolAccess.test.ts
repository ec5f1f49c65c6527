import { Environment, Hook, Tool, ToolAccess, ToolCall } from "@effect-agentenv/environment"
import { Extension, Operation } from "@effect-agentenv/protocol"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Effect, FastCheck, Layer, Order, Schema } from "effect"
import { wire } from "./support.ts"

const roles = ["clerk", "porter", "default", "*"]
const names = ["open", "close", "back", "*"]

const named = (own: ReadonlyArray<readonly [string, boolean]>, kind: boolean) =>
  Arr.sort(own.filter(([, allowed]) => allowed === kind).map(([tool]) => tool), Order.string)

/** The rules in objects that are changed in place, and looked up key by key. */
const naive = () => {
  const none = (): Record<string, boolean> => Object.create(null)
  const rules: Record<string, Record<string, boolean>> = {}
  return {
    apply: (role: string, tool: string, allowed: boolean) => {
      if (role === "*" && tool === "*") { for (const each of Object.keys(rules)) delete rules[each] }
      if (tool === "*") rules[role] = none()
      if (role === "*") { for (const each of Object.values(rules)) each[tool] = allowed }
      ;(rules[role] ??= none())[tool] = allowed
    },
    allowed: (role: string, tool: string, hidden: boolean): boolean => {
      for (const each of [role, "*"]) {
        for (const key of hidden ? [tool] : [tool, "*"]) {
          const rule = rules[each]?.[key]
          if (rule !== undefined) return rule
        }
      }
      return !hidden
    },
    own: (role: string) => {
      const own = Object.entries(rules[role] ?? {})
      return {
        disabled: named(own, false),
        allowed: named(own, true)
      }
    }
  }
}

const Change = FastCheck.record({
  role: FastCheck.constantFrom(...roles),
  tools: FastCheck.oneof(
    FastCheck.constant("*" as const),
    FastCheck.array(FastCheck.constantFrom(...names), { maxLength: 3 })
  ),
  allowed: FastCheck.boolean()
})

describe("rules", () => {
  it.prop("say what a naive model says (B-ACC-2, B-ACC-6, B-ACC-7)", [FastCheck.array(Change)], ([changes]) => {
    const model = naive()
    let rules = ToolAccess.empty
    for (const { allowed, role, tools } of changes) {
      for (const tool of tools === "*" ? ["*"] : tools) model.apply(role, tool, allowed)
      rules = allowed ? ToolAccess.enable(rules, role, tools) : ToolAccess.disable(rules, role, tools)
    }
    for (const role of [...roles, "stranger"]) {
      expect(ToolAccess.own(rules, role)).toEqual(model.own(role))
      for (const tool of ["open", "close", "back", "constructor"]) {
        for (const hidden of [false, true]) {
          expect(ToolAccess.allowed(rules, role, tool, hidden)).toBe(model.allowed(role, tool, hidden))
        }
      }
    }
  })

  it("are values: a change leaves the rules before it as they were", () => {
    const before = ToolAccess.disable(ToolAccess.empty, "clerk", ["open"])
    ToolAccess.enable(before, "*", ["open"])
    ToolAccess.enable(before, "clerk", "*")
    expect(ToolAccess.own(before, "clerk")).toEqual({ disabled: ["open"], allowed: [] })
    expect(ToolAccess.empty.size).toBe(0)
  })

  it("are not confused by names that every object has", () => {
    expect(ToolAccess.allowed(ToolAccess.empty, "__proto__", "toString")).toBe(true)
    const rules = ToolAccess.disable(ToolAccess.empty, "__proto__", ["toString"])
    expect(ToolAccess.allowed(rules, "__proto__", "toString")).toBe(false)
    expect(ToolAccess.allowed(rules, "clerk", "toString")).toBe(true)
  })
})

it.effect("the service needs no server (B-ACC-6, B-ACC-7)", () =>
  Effect.gen(function*() {
    const access = yield* ToolAccess.ToolAccess
    expect(yield* access.disable("clerk", ["open", "close"])).toEqual({ disabled: ["close", "open"], allowed: [] })
    expect(yield* access.enable("clerk", ["close"])).toEqual({ disabled: ["open"], allowed: ["close"] })
    expect(yield* access.allowed("clerk", "open")).toBe(false)
    expect(yield* access.allowed("porter", "open")).toBe(true)
    expect(yield* access.allowed("porter", "back", true)).toBe(false)
    expect(ToolAccess.own(yield* access.rules, "clerk")).toEqual({ disabled: ["open"], allowed: ["close"] })
  }).pipe(Effect.provide(ToolAccess.layer)))

it.effect("those who listen hear of changes before they are answered, until their scope closes", () =>
  Effect.gen(function*() {
    const access = yield* ToolAccess.ToolAccess
    const heard: Array<number> = []
    yield* Effect.scoped(Effect.gen(function*() {
      yield* access.onChange((rules) => heard.push(rules.size))
      yield* access.disable("clerk", "*")
      yield* access.disable("porter", "*")
      expect(heard).toEqual([1, 2])
    }))
    yield* access.disable("*", "*")
    expect(heard).toEqual([1, 2])
  }).pipe(Effect.provide(ToolAccess.layer)))

const Open = Tool.make("open_door", { description: "Opens the door.", success: Schema.String })
const Close = Tool.make("close_door", { description: "Closes the door.", success: Schema.String })
const Back = Tool.make("back_door", { description: "The other door.", success: Schema.String, hiddenByDefault: true })
const Doors = Environment.make("doors", { tools: [Open, Close, Back], toolAccess: true })

const handlers = {
  open_door: () => Effect.map(ToolCall.ToolCall, ({ role }) => `opened for ${role ?? "nobody"}`),
  close_door: () => Effect.succeed("closed"),
  back_door: () => Effect.succeed("back door opened")
}
const DoorsLive = Doors.toLayer(Effect.succeed({ tools: handlers }))

const role = (name: string) => ({ "agentenv-role": name })

type Doors = Effect.Effect.Success<ReturnType<typeof wire>>

const list = ({ send }: Doors, headers: Record<string, string> = {}, params: object = {}) =>
  Effect.map(
    send("POST", "/mcp", { jsonrpc: "2.0", id: "list", method: "tools/list", params }, headers),
    ({ json }): ReadonlyArray<string> => json.result.tools.map(({ name }: { readonly name: string }) => name)
  )

describe("a server with tool access", () => {
  it.scoped("has two extensions on its card, and the same card for everyone (B-ACC-1, B-ACC-3, B-TOOL-3)", () =>
    Effect.gen(function*() {
      const { card, send } = yield* wire(Doors)
      const request = {
        type: "object",
        properties: {
          role: { type: "string" },
          tools: { anyOf: [{ type: "array", items: { type: "string" } }, { const: "*" }] }
        },
        required: ["role", "tools"]
      }
      const { capabilities } = yield* card
      expect(capabilities.extensions).toEqual([
        {
          uri: "urn:agentenv:disable-tool/v1",
          description: expect.any(String),
          required: false,
          params: { endpoint: "/tools/disable", methods: { disable: { method: "POST", request } } }
        },
        {
          uri: "urn:agentenv:enable-tool/v1",
          description: expect.any(String),
          required: false,
          params: { endpoint: "/tools/enable", methods: { enable: { method: "POST", request } } }
        }
      ])
      yield* send("POST", "/tools/disable", { role: "*", tools: "*" })
      const { text } = yield* send("GET", "/.well-known/agent-env.json", undefined, role("clerk"))
      expect(JSON.parse(text).capabilities.tools.map(({ name }: Open) => name)).toEqual([
        "open_door",
        "close_door",
        "back_door"
      ])
    }).pipe(Effect.provide(DoorsLive)))

  it.scoped("answers a change with the role's own rules (B-ACC-2)", () =>
    Effect.gen(function*() {
      const { send } = yield* wire(Doors)
      const change = (path: "disable" | "enable", body: object) =>
        Effect.map(send("POST", `/tools/${path}`, body), ({ json, status }) => [status, json])
      expect(yield* change("disable", { role: "clerk", tools: ["open_door", "ghost"], more: 1 })).toEqual([
        200,
        { role: "clerk", disabled: ["ghost", "open_door"], allowed: [] }
      ])
      expect(yield* change("enable", { role: "clerk", tools: [] })).toEqual([
        200,
        { role: "clerk", disabled: ["ghost", "open_door"], allowed: [] }
      ])
      expect(yield* change("enable", { role: "clerk", tools: ["*", "open_door"] })).toEqual([
        200,
        { role: "clerk", disabled: [], allowed: ["*", "open_door"] }
      ])
    }).pipe(Effect.provide(DoorsLive)))

  it.scoped("lists and runs for each role what it may use, for nobody as for `default` (B-ACC-3, B-ACC-4, B-ACC-5)", () =>
    Effect.gen(function*() {
      const doors = yield* wire(Doors)
      const { send, tool } = doors
      yield* send("POST", "/tools/disable", { role: "clerk", tools: ["open_door"] })
      expect(yield* list(doors, role("clerk"))).toEqual(["close_door"])
      expect(yield* list(doors, role("porter"))).toEqual(["open_door", "close_door"])
      expect(yield* list(doors, {}, { _meta: { "agentenv.io/role": "clerk" } })).toEqual(["close_door"])
      expect(yield* tool("open_door", {}, role("clerk"))).toEqual({
        isError: true,
        content: [{ type: "text", text: expect.stringMatching(/^permission_denied: /) }],
        structuredContent: {
          code: "permission_denied",
          message: expect.any(String),
          retryable: false,
          applied: "no"
        }
      })
      expect((yield* tool("open_door", {}, role("porter"))).content[0].text).toBe("opened for porter")
      expect((yield* tool("ghost", {}, role("clerk"))).structuredContent).toBeUndefined()
      yield* send("POST", "/tools/disable", { role: "default", tools: ["open_door"] })
      expect(yield* list(doors)).toEqual(["close_door"])
      expect((yield* tool("open_door")).isError).toBe(true)
    }).pipe(Effect.provide(DoorsLive)))

  it.scoped("shows a hidden tool when a rule names it, until a star erases that (B-ACC-7)", () =>
    Effect.gen(function*() {
      const doors = yield* wire(Doors)
      const { send, tool } = doors
      expect((yield* tool("back_door")).structuredContent.code).toBe("permission_denied")
      yield* send("POST", "/tools/enable", { role: "clerk", tools: ["back_door"] })
      expect(yield* list(doors, role("clerk"))).toEqual(["open_door", "close_door", "back_door"])
      expect((yield* tool("back_door", {}, role("clerk"))).content[0].text).toBe("back door opened")
      yield* send("POST", "/tools/enable", { role: "clerk", tools: "*" })
      expect(yield* list(doors, role("clerk"))).toEqual(["open_door", "close_door"])
    }).pipe(Effect.provide(DoorsLive)))

  it.scoped("names the field that is wrong, and takes POST alone (B-ACC-8)", () =>
    Effect.gen(function*() {
      const { send } = yield* wire(Doors)
      const wrong: ReadonlyArray<readonly [string | object, string]> = [
        [{ tools: "*" }, "role"],
        [{ role: "", tools: "*" }, "role"],
        [{ role: 7, tools: "*" }, "role"],
        [{ role: "a" }, "tools"],
        [{ role: "a", tools: "open_door" }, "tools"],
        [{ role: "a", tools: ["open_door", 7] }, "tools"],
        ["", "role"],
        ["[]", "object"],
        ["{", "JSON"]
      ]
      for (const [body, field] of wrong) {
        const { json, status } = yield* send("POST", "/tools/disable", body)
        expect([status, json]).toEqual([400, {
          ok: false,
          error: { code: "invalid_params", message: expect.stringContaining(field), retryable: false, applied: "no" }
        }])
      }
      expect((yield* send("GET", "/tools/enable")).status).toBe(405)
    }).pipe(Effect.provide(DoorsLive)))

  it.scoped("refuses before the hook and the tool, while the role may not (B-ACC-4, B-HOOK-7)", () => {
    const hooked: Array<string> = []
    const Hooked = Environment.intercept(Doors, ({ tool }) => {
      hooked.push(tool)
      return Effect.succeed(Hook.proceed)
    })
    return Effect.gen(function*() {
      const { send, tool } = yield* wire(Doors)
      yield* send("POST", "/tools/disable", { role: "*", tools: ["open_door"] })
      yield* tool("open_door")
      yield* tool("close_door")
      expect(hooked).toEqual(["close_door"])
    }).pipe(Effect.provide(Layer.provide(Hooked, DoorsLive)))
  })

  it.scoped("obeys the rules that its implementation was given, so that handlers change them", () => {
    const Trap = Tool.make("trap", { description: "Takes a door away." })
    const Trapped = Environment.make("doors", { tools: [Open, Trap], toolAccess: true })
    const TrappedLive = Trapped.toLayer(Effect.map(ToolAccess.ToolAccess, (access) => ({
      tools: { open_door: handlers.open_door, trap: () => access.disable("*", ["open_door"]).pipe(Effect.asVoid) }
    })))
    return Effect.gen(function*() {
      const doors = yield* wire(Trapped)
      const access = yield* ToolAccess.ToolAccess
      yield* doors.tool("trap")
      expect(yield* list(doors)).toEqual(["trap"])
      yield* access.enable("clerk", "*")
      expect(yield* list(doors, role("clerk"))).toEqual(["open_door", "trap"])
    }).pipe(Effect.provide(Layer.provideMerge(TrappedLive, ToolAccess.layer)))
  })

  it.scoped("lists in both eras what the role sees, and completes a sessionless answer", () =>
    Effect.gen(function*() {
      const { send } = yield* wire(Doors)
      yield* send("POST", "/tools/disable", { role: "clerk", tools: ["open_door"] })
      const meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
      }
      const { json } = yield* send(
        "POST",
        "/mcp",
        { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: meta } },
        { ...role("clerk"), "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" }
      )
      expect(json.result).toMatchObject({ tools: [{ name: "close_door" }], resultType: "complete", ttlMs: 0 })
      expect(json.result._meta["io.modelcontextprotocol/serverInfo"].name).toBe("doors")
    }).pipe(Effect.provide(DoorsLive)))
})

interface Open {
  readonly name: string
}

describe("the switch", () => {
  it.scoped("is off by default: no entries, no routes, nothing hidden (B-ACC-1, B-TOOL-3)", () => {
    const Plain = Environment.make("doors", { tools: [Open, Back] })
    return Effect.gen(function*() {
      const doors = yield* wire(Plain)
      expect((yield* doors.card).capabilities.extensions).toBeNull()
      expect((yield* doors.send("POST", "/tools/disable", { role: "*", tools: "*" })).status).toBe(404)
      expect(yield* list(doors)).toEqual(["open_door", "back_door"])
      expect((yield* doors.tool("back_door")).content[0].text).toBe("back door opened")
    }).pipe(Effect.provide(Plain.toLayer(Effect.succeed({
      tools: { open_door: handlers.open_door, back_door: handlers.back_door }
    }))))
  })

  it.scoped("does nothing where there is no tool (B-ACC-1)", () => {
    const Bare = Environment.make("doors", { toolAccess: true })
    return Effect.gen(function*() {
      const { card, send } = yield* wire(Bare)
      expect((yield* card).capabilities.extensions).toBeNull()
      expect((yield* send("POST", "/tools/enable", { role: "a", tools: "*" })).status).toBe(404)
    }).pipe(Effect.provide(Bare.toLayer(Effect.succeed({}))))
  })

  it.scoped("leaves no place for an extension of one of its URIs, or on one of its paths (B-MULTI-9)", () => {
    const Own = Extension.make("urn:agentenv:enable-tool/v1", { description: "Mine." })
    const Path = Extension.single("urn:doors:x/v1", "x", Operation.post({ path: "/tools/enable" }))
    const WithUri = Environment.make("doors", { tools: [Close], extensions: [Own], toolAccess: true })
    const WithPath = Environment.make("doors", { tools: [Close], extensions: [Path], toolAccess: true })
    const tools = { close_door: handlers.close_door }
    return Effect.gen(function*() {
      const uri = yield* Effect.flip(wire(WithUri)).pipe(
        Effect.provide(WithUri.toLayer(Effect.succeed({ tools })))
      )
      expect(uri.message).toContain("urn:agentenv:enable-tool/v1")
      const path = yield* Effect.flip(wire(WithPath)).pipe(
        Effect.provide(WithPath.toLayer(Effect.succeed({
          tools,
          extensions: { "urn:doors:x/v1": { x: () => Effect.void } }
        })))
      )
      expect(path.message).toContain("/tools/enable")
    })
  })

  it.scoped("shares nothing between two servers (B-ACC-9)", () =>
    Effect.gen(function*() {
      const one = yield* Effect.provide(wire(Doors), DoorsLive)
      const other = yield* Effect.provide(wire(Doors), DoorsLive)
      yield* one.send("POST", "/tools/disable", { role: "*", tools: "*" })
      expect(yield* list(one)).toEqual([])
      expect(yield* list(other)).toEqual(["open_door", "close_door"])
    }))
})
