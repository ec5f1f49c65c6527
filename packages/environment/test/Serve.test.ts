import { Environment, EnvironmentServer, Tool, Tools } from "@effect-agentenv/environment"
import { Extension, Mcp, Operation } from "@effect-agentenv/protocol"
import { InProcess } from "@effect-agentenv/server"
import { describe, expect, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import { wire, wireOf } from "./support.ts"

const Weigh = Tool.make("weigh", {
  description: "Weighs a parcel.",
  parameters: { label: Schema.String },
  success: Schema.String,
  annotations: { readOnlyHint: true },
  meta: { "parcels.io/shelf": "b2" }
})
const Retire = Tool.make("{environment_name}_retire", { description: "Retires a parcel." })
const Note = Tool.make("note", { description: "Reads the note.", success: Schema.String, structured: false })
const Loose = Tool.make("loose", {
  description: "Answers what no JSON Schema says.",
  success: Schema.Union(Schema.String, Schema.DateFromSelf.pipe(Schema.encodedSchema)),
  structured: false
})
const Photo = Tool.make("photo", {
  description: "Photographs.",
  success: Mcp.CallToolResult,
  output: Schema.Struct({ shelf: Schema.String, count: Schema.Int })
})
const Plumb = Tool.make("plumb", { description: "Not for agents.", hiddenByDefault: true, meta: { "a.io/b": 1 } })
const Describe = Extension.single(
  "urn:parcels:describe/v1",
  "describe",
  Operation.post({
    request: Schema.Struct({ name: Schema.String, description: Schema.String }),
    response: Schema.Struct({ described: Schema.String })
  })
)
const Mounted = Extension.single(
  "urn:parcels:mounted/v1",
  "mounted",
  Operation.get({ response: Schema.Struct({ name: Schema.String, tools: Schema.Array(Schema.String) }) })
)
const Parcels = Environment.make("parcels", {
  tools: [Weigh, Retire, Note, Loose, Photo, Plumb],
  extensions: [Describe, Mounted]
})

const picture: Mcp.CallToolResult = {
  content: [{ type: "text", text: "one picture" }],
  structuredContent: { shelf: "b2", count: 9 }
}

const ParcelsLive = Parcels.toLayer(Effect.succeed({
  tools: {
    weigh: ({ label }) => Effect.succeed(`${label} weighs 3`),
    "{environment_name}_retire": () => Effect.void,
    note: () => Effect.succeed("fragile"),
    loose: () => Effect.succeed("loose"),
    photo: () => Effect.succeed(picture),
    plumb: () => Effect.void
  },
  extensions: {
    "urn:parcels:describe/v1": {
      describe: ({ description, name }) =>
        Effect.gen(function*() {
          const { update } = yield* Tools.Tools
          yield* update(name, { description })
          return { described: name }
        })
    },
    "urn:parcels:mounted/v1": {
      mounted: () =>
        Effect.gen(function*() {
          const { card, served } = yield* Tools.Tools
          const { name } = yield* card
          return { name, tools: (yield* served).map(({ description, name }) => `${name}: ${description}`) }
        })
    }
  }
}))

const list = ({ send }: Effect.Effect.Success<ReturnType<typeof wire>>) =>
  Effect.map(
    send("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }),
    ({ json }): ReadonlyArray<any> => json.result.tools
  )

const short = (tools: ReadonlyArray<any>) => tools.map(({ description, name }) => `${name}: ${description}`)

describe("what a tool is listed with", () => {
  it.scoped("its hints, its meta, and that it is hidden by default; the card has none of it (B-TOOL-1..3, B-TOOL-10)", () =>
    Effect.gen(function*() {
      const it = yield* wire(Parcels)
      const [weigh, , , , , plumb] = yield* list(it)
      expect(weigh).toMatchObject({ annotations: { readOnlyHint: true }, _meta: { "parcels.io/shelf": "b2" } })
      expect(plumb._meta).toEqual({ "a.io/b": 1, "agentenv.io/hiddenByDefault": true })
      expect((yield* it.tool("plumb")).isError).toBe(false)
      for (const entry of (yield* it.card).capabilities.tools) {
        expect(entry).toEqual({
          name: expect.any(String),
          description: expect.any(String),
          inputSchema: expect.any(Object)
        })
      }
    }).pipe(Effect.provide(ParcelsLive)))

  it.scoped("no output schema and no structured content with `structured: false` (B-TOOL-4)", () =>
    Effect.gen(function*() {
      const it = yield* wire(Parcels)
      const [weigh, , note, loose] = yield* list(it)
      expect(weigh.outputSchema).toMatchObject({ type: "object" })
      expect(note.outputSchema).toBeUndefined()
      expect(loose.outputSchema).toBeUndefined()
      expect(yield* it.tool("note")).toEqual({ content: [{ type: "text", text: "fragile" }], isError: false })
    }).pipe(Effect.provide(ParcelsLive)))

  it.scoped("a full result's stated schema, and the result is sent untouched (B-TOOL-5)", () =>
    Effect.gen(function*() {
      const it = yield* wire(Parcels)
      const photo = (yield* list(it))[4]
      expect(JSON.stringify(photo.outputSchema)).toContain("\"shelf\"")
      expect(photo.outputSchema.type).toBe("object")
      expect(yield* it.tool("photo")).toEqual(picture)
    }).pipe(Effect.provide(ParcelsLive)))
})

describe("served tools", () => {
  it.scoped("in their order, with their descriptions, the rest unknown; hints stay (B-TOOL-6)", () =>
    Effect.gen(function*() {
      const it = yield* wire(Parcels, {
        serve: { tools: ["parcels_retire", { name: "weigh", description: "Weighs, slowly." }] }
      })
      const tools = yield* list(it)
      expect(short(tools)).toEqual(["parcels_retire: Retires a parcel.", "weigh: Weighs, slowly."])
      expect(short((yield* it.card).capabilities.tools)).toEqual(short(tools))
      expect(tools[1]).toMatchObject({ annotations: { readOnlyHint: true }, _meta: { "parcels.io/shelf": "b2" } })
      expect((yield* it.tool("note")).content[0].text).toBe("Unknown tool: note")
      expect((yield* it.tool("weigh", { label: "b2" })).content[0].text).toBe("b2 weighs 3")
    }).pipe(Effect.provide(ParcelsLive)))

  it.scoped("by the definition's names under whatever name it is served", () =>
    Effect.gen(function*() {
      const it = yield* wire(Parcels, { name: "attic", serve: { tools: ["{environment_name}_retire"] } })
      expect(short(yield* list(it))).toEqual(["attic_retire: Retires a parcel."])
    }).pipe(Effect.provide(ParcelsLive)))

  it.scoped("that are none, or there twice, are a RegistryError with their names (B-TOOL-7)", () =>
    Effect.gen(function*() {
      // an untyped list of names, as from a configuration
      const serving = (...names: ReadonlyArray<string>) =>
        Effect.flip(wire(Parcels as Environment.Any as typeof Parcels, { serve: { tools: names as never } }))
      expect((yield* serving("ghost", "weigh")).message).toContain("'ghost'")
      expect((yield* serving("attic_retire")).message).toContain("'attic_retire'")
      expect((yield* serving("{environment_name}_retire", "parcels_retire")).message).toContain("'parcels_retire'")
    }).pipe(Effect.provide(ParcelsLive)))
})

describe("Tools", () => {
  it.scoped("tells a handler what is served (B-TOOL-8)", () =>
    Effect.gen(function*() {
      const { send } = yield* wire(Parcels, { serve: { tools: [{ name: "note", description: "Notes." }] } })
      expect((yield* send("GET", "/agentenv/ext/mounted")).json).toEqual({ name: "parcels", tools: ["note: Notes."] })
    }).pipe(Effect.provide(ParcelsLive)))

  it.scoped("re-describes a tool on the card and in the list of its own server alone (B-TOOL-9)", () =>
    Effect.gen(function*() {
      const it = yield* Effect.provide(wire(Parcels), ParcelsLive)
      const other = yield* Effect.provide(wire(Parcels), ParcelsLive)
      yield* list(it)
      yield* it.card
      const describe = (name: string) =>
        it.send("POST", "/agentenv/ext/describe", { name, description: `${name}, again` })
      expect((yield* describe("weigh")).json).toEqual({ described: "weigh" })
      expect((yield* describe("{environment_name}_retire")).status).toBe(200)
      const now = short(yield* list(it))
      expect(now.slice(0, 2)).toEqual(["weigh: weigh, again", "parcels_retire: {environment_name}_retire, again"])
      expect(short((yield* it.card).capabilities.tools)).toEqual(now)
      expect((yield* it.tool("weigh", { label: "b2" })).content[0].text).toBe("b2 weighs 3")
      expect(short(yield* list(other))[0]).toBe("weigh: Weighs a parcel.")
    }))

  it.scoped("fails for what is not served: as an extension's failure (B-TOOL-9)", () =>
    Effect.gen(function*() {
      const { send } = yield* wire(Parcels, { serve: { tools: ["note"] } })
      const { json, status } = yield* send("POST", "/agentenv/ext/describe", { name: "weigh", description: "x" })
      expect([status, json.error.code]).toEqual([500, "extension_failed"])
      expect(json.error.message).toContain("'weigh'")
    }).pipe(Effect.provide(ParcelsLive)))

  it.scoped("changes the card of an app that is read later", () =>
    Effect.gen(function*() {
      const app = yield* EnvironmentServer.app(Parcels, { serve: { tools: ["note"] } })
      const { send } = wireOf(InProcess.httpClient(app.routes))
      yield* send("POST", "/agentenv/ext/describe", { name: "note", description: "Notes." })
      expect(short(app.card.capabilities.tools ?? [])).toEqual(["note: Notes."])
    }).pipe(Effect.provide(ParcelsLive)))
})

const Kiln = Extension.make("urn:parcels:kiln/v2", {
  params: { max_heat: 1300, methods: "mine" },
  operations: {
    get: Operation.get({ description: "Reads or sets the kiln.", response: Schema.Struct({ heat: Schema.Int }) }),
    set: Operation.post({
      request: Schema.Struct({ heat: Schema.optionalWith(Schema.Int, { default: () => 7 }) }),
      response: Schema.Struct({ heat: Schema.Int })
    }),
    vent: Operation.put({ path: "/kiln/vent" }),
    mend: Operation.patch(),
    clear: Operation.del()
  }
})
const Bell = Extension.make("urn:agentenv:bell/v1", { required: true, operations: { ring: Operation.post() } })
const Plain = Extension.make("urn:parcels:plain", { operations: { look: Operation.get() } })
const Promised = Extension.make("urn:parcels:promise/v1", { description: "A promise.", params: { days: 2 } })
const Pottery = Environment.make("pottery", { extensions: [Promised, Kiln, Bell, Plain] })
const pottery = {
  "urn:parcels:kiln/v2": {
    get: () => Effect.succeed({ heat: 20 }),
    set: ({ heat }: { readonly heat: number }) => Effect.succeed({ heat }),
    vent: () => Effect.void,
    mend: () => Effect.void,
    clear: () => Effect.void
  },
  "urn:agentenv:bell/v1": { ring: () => Effect.void },
  "urn:parcels:plain": { look: () => Effect.void }
}
const PotteryLive = Pottery.toLayer(Effect.succeed({
  reset: Effect.void,
  add: () => Effect.void,
  get: Effect.succeed([]),
  extensions: pottery
}))

const uris = (card: any): ReadonlyArray<string> => card.capabilities.extensions.map(({ uri }: any) => uri)

describe("extensions of many operations", () => {
  it.scoped("one entry each, its own keys beside its methods, declared ones last (B-MULTI-1, B-MULTI-4..6)", () =>
    Effect.gen(function*() {
      const { card } = yield* wire(Pottery)
      const [kiln, bell, plain, promised] = (yield* card).capabilities.extensions
      expect(kiln).toMatchObject({
        uri: "urn:parcels:kiln/v2",
        description: "Reads or sets the kiln.",
        required: null,
        params: { max_heat: 1300, methods: { get: { method: "GET", endpoint: "/agentenv/ext/parcels/kiln/get" } } }
      })
      expect(Object.keys(kiln.params.methods)).toEqual(["get", "set", "vent", "mend", "clear"])
      expect(kiln.params.endpoint).toBeUndefined()
      expect(bell).toMatchObject({ required: true, description: null })
      expect(plain.params.methods.look.endpoint).toBe("/agentenv/ext/parcels/plain/look")
      expect(promised).toMatchObject({ description: "A promise.", params: { days: 2 } })
    }).pipe(Effect.provide(PotteryLive)))

  it.scoped("each at its path by its verb, an empty body being {} (B-MULTI-2, B-MULTI-3)", () =>
    Effect.gen(function*() {
      const { send } = yield* wire(Pottery)
      expect((yield* send("POST", "/agentenv/ext/parcels/kiln/set")).json).toEqual({ heat: 7 })
      expect((yield* send("PUT", "/kiln/vent")).json).toEqual({})
      expect((yield* send("POST", "/kiln/vent")).status).toBe(405)
      expect((yield* send("DELETE", "/agentenv/ext/parcels/kiln/clear")).json).toEqual({})
      expect((yield* send("POST", "/agentenv/ext/bell/ring")).status).toBe(200)
      expect((yield* send("POST", "/agentenv/ext/ring")).status).toBe(404)
    }).pipe(Effect.provide(PotteryLive)))

  it.scoped("a subset: what is left out has neither entry nor route (B-MULTI-7)", () =>
    Effect.gen(function*() {
      const { card, send } = yield* wire(Pottery, {
        serve: { extensions: ["urn:parcels:plain", { uri: "urn:parcels:kiln/v2", operations: ["vent", "get"] }] }
      })
      const served = yield* card
      expect(uris(served)).toEqual(["urn:parcels:plain", "urn:parcels:kiln/v2"])
      expect(Object.keys(served.capabilities.extensions[1].params.methods)).toEqual(["get", "vent"])
      expect(served.capabilities.extensions[1].description).toBe("Reads or sets the kiln.")
      expect((yield* send("POST", "/agentenv/ext/parcels/kiln/set", { heat: 1 })).status).toBe(404)
      expect((yield* send("POST", "/agentenv/ext/bell/ring")).status).toBe(404)
      expect((yield* send("GET", "/agentenv/ext/parcels/kiln/get")).status).toBe(200)
    }).pipe(Effect.provide(PotteryLive)))

  it.scoped("data operations left out are absent and -32601 (B-MULTI-8)", () =>
    Effect.gen(function*() {
      const { card, rpc } = yield* wire(Pottery, { serve: { operations: ["data/get", "data/reset"] } })
      expect((yield* card).capabilities.operations).toEqual(["data/reset", "data/get"])
      expect((yield* rpc("data/add", { parts: [] })).error.code).toBe(-32601)
      expect((yield* rpc("data/reset")).error).toBeUndefined()
    }).pipe(Effect.provide(PotteryLive)))

  it.scoped("choices that the definition lacks are a RegistryError that names them (B-MULTI-9)", () =>
    Effect.gen(function*() {
      const serving = (serve: EnvironmentServer.Serve) => Effect.flip(wire(Pottery, { serve: serve as never }))
      expect((yield* serving({ extensions: ["urn:parcels:ghost"] })).message).toContain("'urn:parcels:ghost'")
      expect((yield* serving({ extensions: ["urn:parcels:plain", "urn:parcels:plain"] })).message).toContain("twice")
      expect((yield* serving({ extensions: [{ uri: "urn:parcels:plain", operations: ["fly"] }] })).message).toContain(
        "'fly'"
      )
      expect((yield* serving({ operations: ["data/get", "data/get"] })).message).toContain("twice")
      const Bare = Environment.make("bare")
      const absent = yield* Effect.flip(wire(Bare, { serve: { operations: ["data/add"] } })).pipe(
        Effect.provide(Bare.toLayer(Effect.succeed({})))
      )
      expect(absent.message).toContain("'data/add'")
    }).pipe(Effect.provide(PotteryLive)))

  it.scoped("clashes are a RegistryError that names them (B-MULTI-9)", () =>
    Effect.gen(function*() {
      const refusal = (extensions: ReadonlyArray<Extension.Any>, implementation: object) => {
        const env = Environment.make("pottery", { extensions })
        // lists of no length have handlers of no names
        return Effect.flip(wire(env)).pipe(
          Effect.provide(
            env.toLayer(Effect.succeed({ extensions: implementation }) as never) as Layer.Layer<
              Environment.Handlers<"pottery">
            >
          ),
          Effect.map(({ message }) => message)
        )
      }
      const uri = "urn:parcels:x/v1"
      const go = () => Effect.void
      const ops = (operations: Record<string, Operation.Any>) => Extension.make(uri, { operations: operations as {} })
      expect(yield* refusal([ops({}), ops({})], {})).toContain("one URI")
      expect(
        yield* refusal(
          [ops({ a: Operation.post({ name: "go" }), b: Operation.post({ name: "go", path: "/x/b" }) })],
          { [uri]: { a: go, b: go } }
        )
      ).toContain("'go'")
      expect(
        yield* refusal(
          [ops({ a: Operation.post({ path: "/x" }), b: Operation.post({ path: "/x" }) })],
          { [uri]: { a: go, b: go } }
        )
      ).toContain("POST /x")
      expect(
        yield* refusal(
          [ops({ a: Operation.post({ description: "One." }), b: Operation.post({ description: "Two." }) })],
          { [uri]: { a: go, b: go } }
        )
      ).toContain("descriptions")
    }))
})
