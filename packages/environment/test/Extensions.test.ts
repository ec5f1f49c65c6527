import { Environment, Tool, ToolCall } from "@effect-agentenv/environment"
import { AgentEnvError, Extension, Operation } from "@effect-agentenv/protocol"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, type Layer, Logger, Schema } from "effect"
import { KilnError, wire } from "./support.ts"

const { AgentEnvError: Refusal } = AgentEnvError

const Tag = Extension.single(
  "urn:parcels:tag/v1",
  "tag",
  Operation.post({
    request: Schema.Struct({
      label: Schema.String,
      upper: Schema.optionalWith(Schema.Boolean, { default: () => false })
    }),
    response: Schema.Struct({ tagged: Schema.String })
  }),
  { description: "Tags a parcel" }
)
const Repeat = Extension.single(
  "urn:parcels:repeat/v1",
  "repeat",
  Operation.get({
    request: Schema.Struct({
      text: Schema.String,
      count: Schema.optionalWith(Schema.Int, { default: () => 1 }),
      level: Schema.optional(Schema.Literal(1, 2))
    }),
    response: Schema.Struct({ out: Schema.String, level: Schema.optional(Schema.Int) })
  })
)
const Kiln = Extension.make("urn:parcels:kiln/v2", {
  params: { max_heat: 1300 },
  operations: {
    get: Operation.get({ description: "Reads or sets the kiln.", response: Schema.Struct({ heat: Schema.Int }) }),
    vent: Operation.put({ path: "/kiln/vent" })
  },
  features: { doors: { open: Operation.post(), close: Operation.post() } }
})
const Promise_ = Extension.make("urn:parcels:promise/v1", { description: "A promise.", params: { days: 2 } })
const Refuse = Extension.single(
  "urn:parcels:refuse/v1",
  "refuse",
  Operation.post({ request: Schema.Struct({ how: Schema.String }) })
)
const Who = Extension.single(
  "urn:parcels:who/v1",
  "who",
  Operation.post({ response: Schema.Struct({ role: Schema.NullOr(Schema.String), tool: Schema.String }) })
)
const Desk = Environment.make("desk", {
  tools: [Tool.make("ring", { description: "Rings." })],
  extensions: [Tag, Repeat, Kiln, Promise_, Refuse, Who]
})

const desk = (slow: Effect.Effect<void> = Effect.void) =>
  Desk.toLayer(Effect.succeed({
    reset: Effect.void,
    tools: { ring: () => Effect.void },
    extensions: {
      "urn:parcels:tag/v1": {
        tag: ({ label, upper }) =>
          Effect.as(label === "slow" ? slow : Effect.void, { tagged: upper ? label.toUpperCase() : label })
      },
      "urn:parcels:repeat/v1": {
        repeat: ({ count, level, text }) =>
          Effect.succeed({ out: text.repeat(count), ...(level === undefined ? {} : { level }) })
      },
      "urn:parcels:kiln/v2": { get: () => Effect.succeed({ heat: 20 }), vent: () => Effect.void },
      "urn:parcels:refuse/v1": {
        refuse: ({ how }) =>
          how === "coded"
            ? Effect.fail(
              new Refusal({
                code: "stock_empty",
                message: "no parcels left",
                retryable: true,
                hint: "restock",
                status: 409
              })
            )
            : how === "plain"
            ? Effect.fail(new KilnError("kiln failure", { cause: new Refusal({ code: "inner", message: "inner" }) }))
            : Effect.die(new Error("private detail"))
      },
      "urn:parcels:who/v1": {
        who: () => Effect.map(ToolCall.ToolCall, (call) => ({ role: call.role ?? null, tool: call.tool }))
      }
    }
  }))

const extension = (card: any, uri: string) => card.capabilities.extensions.find((entry: any) => entry.uri === uri)

describe("extensions", () => {
  it.scoped("are on the card as they are served (B-ENV-6, B-ENV-7, B-MULTI-1, B-MULTI-5, B-MULTI-6)", () =>
    Effect.gen(function*() {
      const card = yield* (yield* wire(Desk)).card
      expect(extension(card, "urn:parcels:tag/v1")).toEqual({
        uri: "urn:parcels:tag/v1",
        description: "Tags a parcel",
        required: null,
        params: {
          endpoint: "/agentenv/ext/tag",
          methods: {
            tag: {
              method: "POST",
              request: {
                type: "object",
                properties: { label: { type: "string" }, upper: { type: "boolean", default: false } },
                required: ["label"]
              }
            }
          }
        }
      })
      const kiln = extension(card, "urn:parcels:kiln/v2")
      expect(kiln.description).toBe("Reads or sets the kiln.")
      expect(kiln.params).toEqual({
        max_heat: 1300,
        methods: {
          get: {
            method: "GET",
            endpoint: "/agentenv/ext/parcels/kiln/get",
            request: { type: "object", properties: {} }
          },
          vent: { method: "PUT", endpoint: "/kiln/vent", request: { type: "object", properties: {} } }
        }
      })
      expect(extension(card, "urn:parcels:promise/v1").params).toEqual({ days: 2 })
    }).pipe(Effect.provide(desk())))

  it.scoped("bind bodies and queries, and name what does not bind (B-ENV-8, B-ERR-3)", () =>
    Effect.gen(function*() {
      const { send } = yield* wire(Desk, { limits: { extension: 1000 } })
      const tag = (body: string | object) => send("POST", "/agentenv/ext/tag", body)
      expect((yield* tag({ label: "a", upper: true })).json).toEqual({ tagged: "A" })
      const refused = (answer: { readonly status: number; readonly json: any }) => {
        expect(answer.json).toMatchObject({
          ok: false,
          error: { code: "invalid_params", retryable: false, applied: "no" }
        })
        expect(answer.json.error).not.toHaveProperty("hint")
        return [answer.status, answer.json.error.message]
      }
      expect(refused(yield* tag({}))).toEqual([400, expect.stringContaining("label")])
      expect(refused(yield* tag({ label: "a", colour: "canary" }))).toEqual([400, "colour: is unexpected"])
      expect(refused(yield* tag({ label: 7 }))[1]).not.toContain("7")
      expect(refused(yield* tag([1]))[0]).toBe(400)
      expect(refused(yield* tag("{"))[0]).toBe(400)
      expect(refused(yield* tag("{\"label\":\"\\udc00\"}"))).toEqual([400, "label: holds half a surrogate pair"])
      expect(refused(yield* tag({ label: "x".repeat(2000) }))[0]).toBe(413)
      const repeat = (query: string) => send("GET", `/agentenv/ext/repeat?${query}`)
      expect((yield* repeat("text=a%20b&count=2&level=2")).json).toEqual({ out: "a ba b", level: 2 })
      expect(refused(yield* repeat("text=ab&count=lots"))).toEqual([400, expect.stringContaining("count")])
      expect(refused(yield* repeat("text=ab&level=9"))).toEqual([400, expect.stringContaining("level")])
      expect((yield* send("GET", "/agentenv/ext/tag")).status).toBe(405)
      expect((yield* send("PUT", "/kiln/vent", "")).json).toEqual({})
      expect((yield* send("PUT", "/kiln/vent", { glow: 1 })).json.error.message).toBe("glow: is unexpected")
      expect((yield* send("POST", "/agentenv/ext/parcels/kiln/open", {})).status).toBe(404)
    }).pipe(Effect.provide(desk())))

  it.scoped("answer failures as their authors meant them (B-ERR-1, B-ERR-2, B-ERR-6), defects by a correlation id", () =>
    Effect.gen(function*() {
      const { send } = yield* wire(Desk)
      const refuse = (how: string) => send("POST", "/agentenv/ext/refuse", { how })
      expect(yield* refuse("coded")).toMatchObject({
        status: 409,
        json: {
          ok: false,
          error: { code: "stock_empty", message: "no parcels left", retryable: true, applied: "no", hint: "restock" }
        }
      })
      expect(yield* refuse("plain")).toMatchObject({
        status: 500,
        json: { error: { code: "extension_failed", message: "kiln failure", retryable: false, applied: "unknown" } }
      })
      const defect = yield* refuse("dead")
      expect(defect.json.error).toMatchObject({ code: "extension_failed", applied: "unknown" })
      expect(defect.text).not.toContain("private")
      expect(defect.json.error.message).toMatch(/[0-9a-f]{32}/)
    }).pipe(Effect.provide([desk(), Logger.remove(Logger.defaultLogger)])))

  it.scoped("know their caller from headers alone (B-CTX-8)", () =>
    Effect.gen(function*() {
      const { send } = yield* wire(Desk)
      const who = (headers: Record<string, string>) =>
        Effect.map(send("POST", "/agentenv/ext/who", {}, headers), ({ json }) => json)
      expect(yield* who({ "AgentEnv-Role": " clerk " })).toEqual({ role: "clerk", tool: "who" })
      expect(yield* who({ "AgentEnv-Role": "default" })).toEqual({ role: null, tool: "who" })
    }).pipe(Effect.provide(desk())))

  it.scoped("are interrupted by a reset (V-7)", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const live = desk(Effect.zipRight(Deferred.succeed(started, undefined), Effect.never))
      yield* Effect.gen(function*() {
        const { rpc, send } = yield* wire(Desk)
        const call = yield* Effect.fork(send("POST", "/agentenv/ext/tag", { label: "slow" }))
        yield* Deferred.await(started)
        yield* rpc("data/reset")
        expect(yield* Fiber.join(call)).toMatchObject({
          status: 409,
          json: { ok: false, error: { code: "episode_reset", applied: "unknown" } }
        })
      }).pipe(Effect.provide(live))
    }))

  it.scoped("with variants take a request that fits exactly one", () => {
    const Add = Extension.single(
      "urn:parcels:add/v1",
      "add",
      Operation.post({
        variants: {
          named: Operation.variant(Schema.Struct({ name: Schema.String })),
          numbered: Operation.optionalVariant(Schema.Struct({ number: Schema.Int }))
        },
        response: Schema.Struct({ by: Schema.String })
      })
    )
    const Adding = Environment.make("adding", { extensions: [Add] })
    const live = Adding.toLayer(Effect.succeed({
      extensions: { "urn:parcels:add/v1": { add: { named: () => Effect.succeed({ by: "name" }) } } }
    }))
    return Effect.gen(function*() {
      const { send } = yield* wire(Adding)
      expect((yield* send("POST", "/agentenv/ext/add", { name: "a" })).json).toEqual({ by: "name" })
      expect((yield* send("POST", "/agentenv/ext/add", { number: 1 })).json.error.code).toBe("invalid_params")
    }).pipe(Effect.provide(live))
  })
})

describe("a definition that cannot be served", () => {
  const problem = (env: Environment.Any, live: Layer.Layer<any, never, never>) =>
    Effect.map(Effect.flip(wire(env as never)), (error) => (error as Error).message).pipe(
      Effect.provide(live)
    ) as Effect.Effect<string>

  it.scoped("names the tool, the extension or the path, and the mend", () =>
    Effect.gen(function*() {
      const Spaced = Environment.make("desk", { tools: [Tool.make("ring bell", { description: "Rings." })] })
      expect(yield* problem(Spaced, Spaced.toLayer(Effect.succeed({ tools: { "ring bell": () => Effect.void } }))))
        .toContain("tool 'ring bell'")
      const Mute = Environment.make("desk", { tools: [Tool.make("ring", { description: " " })] })
      expect(yield* problem(Mute, Mute.toLayer(Effect.succeed({ tools: { ring: () => Effect.void } }))))
        .toContain("has no description")
      const Twice = Environment.make("desk", {
        tools: [
          Tool.make("{environment_name}_ring", { description: "Rings." }),
          Tool.make("desk_ring", { description: "Rings." })
        ]
      })
      const ring = () => Effect.void
      expect(
        yield* problem(
          Twice,
          Twice.toLayer(Effect.succeed({ tools: { "{environment_name}_ring": ring, desk_ring: ring } }))
        )
      ).toContain("one name")
      const Health = Environment.make("desk", {
        extensions: [Extension.single("urn:x", "x", Operation.get({ path: "/health" }))]
      })
      expect(
        yield* problem(Health, Health.toLayer(Effect.succeed({ extensions: { "urn:x": { x: () => Effect.void } } })))
      ).toContain("/health")
      const Same = Environment.make("desk", {
        extensions: [
          Extension.single("urn:x", "x", Operation.get({ path: "/same" })),
          Extension.single("urn:y", "y", Operation.get({ path: "/same" }))
        ]
      })
      expect(
        yield* problem(
          Same,
          Same.toLayer(Effect.succeed({ extensions: { "urn:x": { x: ring }, "urn:y": { y: ring } } }))
        )
      ).toContain("extension 'urn:y'")
    }))
})
