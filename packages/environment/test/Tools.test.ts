import { Environment, EnvironmentServer, Tool, ToolCall } from "@effect-agentenv/environment"
import { AgentEnvError, Mcp } from "@effect-agentenv/protocol"
import { HttpServer } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect, Layer, Logger, Schema } from "effect"
import { KilnError, wire } from "./support.ts"

class SoldOut extends Schema.TaggedError<SoldOut>()("SoldOut", { shelf: Schema.String }) {}

interface Tree {
  readonly label: string
  readonly children: ReadonlyArray<Tree>
}
const Tree: Schema.Schema<Tree> = Schema.Struct({
  label: Schema.String,
  children: Schema.Array(Schema.suspend(() => Tree))
}).annotations({ identifier: "Tree" })
const Shelf = Schema.Struct({ name: Schema.NonEmptyString, at: Schema.UUID }).annotations({ identifier: "Shelf" })

const Count = Tool.make("count", {
  description: "Counts a shelf.",
  title: "Count",
  annotations: { readOnlyHint: true },
  meta: { "parcels.io/shelf": "b2" },
  parameters: { how: Schema.String },
  success: Schema.Struct({ shelf: Schema.String, count: Schema.Int }),
  failure: SoldOut
})
const Name = Tool.make("name", {
  description: "Names.",
  parameters: { how: Schema.optional(Schema.String) },
  success: Schema.String
})
const List = Tool.make("list", { description: "Lists.", success: Schema.Array(Schema.Int) })
const Photo = Tool.make("photo", { description: "Shows.", success: Mcp.CallToolResult })
const Plant = Tool.make("plant", {
  description: "Plants.",
  parameters: { tree: Tree, from: Shelf, to: Schema.optional(Shelf) },
  strict: true
})
const Fail = Tool.make("fail", {
  description: "Fails.",
  parameters: { how: Schema.String },
  failure: Schema.Literal("empty")
})
const Shout = Tool.make("shout", { description: "Reports." })
const Desk = Environment.make("desk", { tools: [Count, Name, List, Photo, Plant, Fail, Shout] })

const picture: Mcp.CallToolResult = {
  content: [{ type: "text", text: "one picture" }, { type: "image", data: "aGk=", mimeType: "image/png" }],
  structuredContent: { shelf: "b2" },
  isError: false
}

const DeskLive = Desk.toLayer(Effect.succeed({
  tools: {
    count: ({ how }) =>
      how === "sold"
        ? Effect.fail(new SoldOut({ shelf: "b2" }))
        : how === "coded"
        ? Effect.fail(new AgentEnvError.AgentEnvError({ code: "busy", message: "come back", retryable: true }))
        : how === "odd"
        ? Effect.succeed({ shelf: "b2", count: 1.5 })
        : Effect.succeed({ shelf: "b2", count: 4, extra: "dropped" }),
    name: ({ how }) => Effect.succeed(how === "half" ? "\ud83d x" : "fragile"),
    list: () => Effect.succeed([1, 2]),
    photo: () => Effect.succeed(picture),
    plant: () => Effect.void,
    fail: ({ how }) =>
      how === "declared"
        ? Effect.fail("empty" as const)
        : how === "plain"
        ? Effect.fail(new KilnError("kiln failure"))
        : how === "chained"
        ? Effect.fail(
          new KilnError("outer", {
            cause: new AgentEnvError.AgentEnvError({ code: "inner", message: "inner failure" })
          })
        )
        : Effect.die(new Error("private detail")),
    shout: () => Effect.flatMap(ToolCall.ToolCall, (call) => call.progress({ progress: 1, total: 2, message: "half" }))
  }
}))

const quiet = Layer.merge(DeskLive, Logger.remove(Logger.defaultLogger))

describe("a tool's answer", () => {
  it.scoped("is structured content and text, by its success schema", () =>
    Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      expect(yield* tool("count", { how: "" })).toEqual({
        content: [{ type: "text", text: "{\"shelf\":\"b2\",\"count\":4}" }],
        structuredContent: { shelf: "b2", count: 4 },
        isError: false
      })
      expect(yield* tool("name")).toEqual({
        content: [{ type: "text", text: "fragile" }],
        structuredContent: { result: "fragile" },
        isError: false
      })
      expect(yield* tool("list")).toMatchObject({ structuredContent: { result: [1, 2] } })
      expect(yield* tool("photo")).toEqual(picture)
      expect(yield* tool("shout")).toEqual({ content: [], isError: false })
    }).pipe(Effect.provide(quiet)))

  it.scoped("is valid JSON and UTF-8 with half a surrogate pair in it (M-22)", () =>
    Effect.gen(function*() {
      const { send } = yield* wire(Desk)
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "name", arguments: { how: "half" } } }
      const { json, text } = yield* send("POST", "/mcp", call)
      expect(text).toContain("\\ud83d x")
      expect(json.result.isError).toBe(false)
    }).pipe(Effect.provide(quiet)))

  it.scoped("tells failures by their kind (B-ERR-4, B-ERR-5, B-ERR-6), and a defect by a correlation id alone", () =>
    Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      const text = (result: any) => result.content[0].text
      expect(yield* tool("count", { how: "coded" })).toEqual({
        content: [{ type: "text", text: "busy: come back" }],
        structuredContent: { code: "busy", message: "come back", retryable: true, applied: "no" },
        isError: true
      })
      expect(yield* tool("count", { how: "sold" })).toMatchObject({
        isError: true,
        structuredContent: { _tag: "SoldOut", shelf: "b2" }
      })
      expect(yield* tool("fail", { how: "declared" })).toEqual({
        content: [{ type: "text", text: "empty" }],
        isError: true
      })
      expect(yield* tool("fail", { how: "plain" })).toEqual({
        content: [{ type: "text", text: "kiln failure" }],
        isError: true
      })
      expect(yield* tool("fail", { how: "chained" })).toMatchObject({ structuredContent: { code: "inner" } })
      const defect = yield* tool("fail", { how: "dead" })
      expect(text(defect)).toMatch(/Correlation ID: [0-9a-f]{32}$/)
      const unfit = yield* tool("count", { how: "odd" })
      expect(unfit.isError && text(unfit)).toMatch(/Correlation ID: [0-9a-f]{32}$/)
    }).pipe(Effect.provide(quiet)))

  it.scoped("names the argument that does not fit, and never its value", () =>
    Effect.gen(function*() {
      const { tool } = yield* wire(Desk)
      const refusal = yield* tool("count", { how: { secret: "canary" } })
      expect(refusal).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("how") }] })
      expect(JSON.stringify(refusal)).not.toContain("canary")
      const unknown = yield* tool("plant", {
        tree: { label: "a", children: [{ label: 1, children: [] }] },
        from: {},
        nope: 1
      })
      expect(unknown.content[0].text).toMatch(/tree\.children\[0\]\.label/)
      expect(unknown.content[0].text).toMatch(/nope: is unexpected/)
      expect(yield* tool("count", { how: "", nope: 1 })).toMatchObject({ isError: false })
    }).pipe(Effect.provide(quiet)))

  it.scoped("is listed with schemas that strict clients take: no reference outside $defs (M-24)", () =>
    Effect.gen(function*() {
      const { card, send } = yield* wire(Desk)
      const { json } = yield* send("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" })
      const plant = json.result.tools.find((tool: any) => tool.name === "plant")
      const references = JSON.stringify(plant).match(/"\$ref":"[^"]*"/g) ?? []
      expect(references.every((reference) => reference.startsWith("\"$ref\":\"#/$defs/"))).toBe(true)
      expect(plant.inputSchema.properties.from).toMatchObject({ type: "object" })
      const count = json.result.tools.find((tool: any) => tool.name === "count")
      expect(count).toMatchObject({
        title: "Count",
        annotations: { readOnlyHint: true },
        _meta: { "parcels.io/shelf": "b2" }
      })
      expect((yield* card).capabilities.tools[0]).toEqual({
        name: "count",
        description: "Counts a shelf.",
        inputSchema: count.inputSchema
      })
    }).pipe(Effect.provide(quiet)))
})

describe("the MCP SDK's v1 client", () => {
  it.live("validates answers, failures and progress of a served environment (M-27)", () =>
    Effect.gen(function*() {
      const { address } = yield* HttpServer.HttpServer
      const port = address._tag === "TcpAddress" ? address.port : 0
      const client = new Client({ name: "test", version: "1" })
      yield* Effect.acquireRelease(
        // the SDK's transport has optional members where its own interface has not
        Effect.promise(() =>
          client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)) as never)
        ),
        () => Effect.promise(() => client.close())
      )
      const call = (name: string, args: Record<string, unknown> = {}) =>
        Effect.promise(() => client.callTool({ name, arguments: args }))
      const { tools } = yield* Effect.promise(() => client.listTools())
      expect(tools.map((tool) => tool.name)).toEqual(["count", "name", "list", "photo", "plant", "fail", "shout"])
      expect((yield* call("count", { how: "" })).structuredContent).toEqual({ shelf: "b2", count: 4 })
      expect(yield* call("count", { how: "coded" })).toMatchObject({
        isError: true,
        structuredContent: { code: "busy" }
      })
      expect(yield* call("count", { how: "sold" })).toMatchObject({ isError: true, structuredContent: { shelf: "b2" } })
      const heard: Array<unknown> = []
      yield* Effect.promise(() =>
        client.callTool({ name: "shout" }, undefined, { onprogress: (progress) => heard.push(progress) })
      )
      expect(heard).toEqual([{ progress: 1, total: 2, message: "half" }])
    }).pipe(
      Effect.scoped,
      Effect.provide(EnvironmentServer.serve(Desk, { host: "127.0.0.1", port: 0 }).pipe(Layer.provide(DeskLive)))
    ))
})
