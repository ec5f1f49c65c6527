import * as Mcp from "@effect-agentenv/protocol/Mcp"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import type * as Sdk from "@modelcontextprotocol/sdk/types.js"
import * as sdk from "@modelcontextprotocol/sdk/types.js"
import { Effect, Schema } from "effect"

type Mutable<T> = T extends ReadonlyArray<infer A> ? Array<Mutable<A>>
  : T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> }
  : T

const content = [
  { type: "text", text: "a", annotations: { audience: ["user"], priority: 0.5 }, _meta: { a: 1 } },
  { type: "image", data: "eA==", mimeType: "image/png" },
  { type: "audio", data: "eA==", mimeType: "audio/wav" },
  { type: "resource_link", uri: "file:///a", name: "a", size: 3, title: "A" },
  { type: "resource", resource: { uri: "file:///a", text: "a", mimeType: "text/plain" } },
  { type: "resource", resource: { uri: "file:///b", blob: "eA==" } }
] as const

const tool = {
  name: "ring",
  title: "Ring",
  description: "Rings.",
  inputSchema: {
    type: "object",
    properties: { times: { type: "integer" } },
    required: ["times"],
    additionalProperties: false
  },
  outputSchema: { type: "object", properties: { rung: { type: "boolean" } } },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false, title: "R" },
  _meta: { "agentenv.io/hiddenByDefault": true }
}

const samples: ReadonlyArray<
  readonly [string, { readonly parse: (value: unknown) => unknown }, Schema.Schema.AnyNoContext, unknown]
> = [
  ["initialize", sdk.InitializeRequestSchema.shape.params, Mcp.InitializeParams, {
    protocolVersion: "2025-11-25",
    capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: { form: {} }, experimental: { x: {} } },
    clientInfo: { name: "c", version: "1", title: "C" }
  }],
  ["initialize result", sdk.InitializeResultSchema, Mcp.InitializeResult, {
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true }, logging: {}, resources: { subscribe: true }, prompts: {} },
    serverInfo: { name: "s", version: "1", icons: [{ src: "i.png", sizes: ["48x48"] }] },
    instructions: "Ring."
  }],
  ["tools/list result", sdk.ListToolsResultSchema, Mcp.ListToolsResult, {
    tools: [tool],
    nextCursor: "2",
    _meta: { a: 1 }
  }],
  ["tools/call", sdk.CallToolRequestSchema.shape.params, Mcp.CallToolParams, {
    name: "ring",
    arguments: { times: 2 },
    _meta: { progressToken: 0, "agentenv.io/role": "clerk" }
  }],
  ["tools/call result", sdk.CallToolResultSchema, Mcp.CallToolResult, {
    content,
    structuredContent: { rung: true },
    isError: false,
    _meta: { a: 1 }
  }],
  ["progress", sdk.ProgressNotificationSchema.shape.params, Mcp.ProgressParams, {
    progressToken: 0,
    progress: 1,
    total: 2,
    message: "half"
  }],
  ["logging/setLevel", sdk.SetLevelRequestSchema.shape.params, Mcp.SetLevelParams, { level: "notice" }],
  ["log message", sdk.LoggingMessageNotificationSchema.shape.params, Mcp.LoggingMessageParams, {
    level: "warning",
    logger: "kiln",
    data: { hot: true }
  }],
  ["cancelled", sdk.CancelledNotificationSchema.shape.params, Mcp.CancelledParams, { requestId: 0, reason: "enough" }],
  ["resources/list result", sdk.ListResourcesResultSchema, Mcp.ListResourcesResult, {
    resources: [{ uri: "file:///a", name: "a", mimeType: "text/plain" }]
  }],
  ["resources/templates/list result", sdk.ListResourceTemplatesResultSchema, Mcp.ListResourceTemplatesResult, {
    resourceTemplates: [{ uriTemplate: "file:///{name}", name: "files" }]
  }],
  ["resources/read", sdk.ReadResourceRequestSchema.shape.params, Mcp.ReadResourceParams, { uri: "file:///a" }],
  ["resources/read result", sdk.ReadResourceResultSchema, Mcp.ReadResourceResult, {
    contents: [{ uri: "file:///a", text: "a" }, { uri: "file:///b", blob: "eA==" }]
  }],
  ["prompts/list result", sdk.ListPromptsResultSchema, Mcp.ListPromptsResult, {
    prompts: [{ name: "p", arguments: [{ name: "a", required: true }] }]
  }],
  ["prompts/get", sdk.GetPromptRequestSchema.shape.params, Mcp.GetPromptParams, { name: "p", arguments: { a: "b" } }],
  ["prompts/get result", sdk.GetPromptResultSchema, Mcp.GetPromptResult, {
    messages: [{ role: "user", content: content[0] }]
  }],
  ["elicitation/create", sdk.ElicitRequestSchema.shape.params, Mcp.ElicitParams, {
    message: "Sure?",
    requestedSchema: { type: "object", properties: { sure: { type: "boolean" } } }
  }],
  ["elicitation by URL", sdk.ElicitRequestSchema.shape.params, Mcp.ElicitParams, {
    mode: "url",
    message: "Go there.",
    elicitationId: "e1",
    url: "https://x.example/"
  }],
  ["elicitation result", sdk.ElicitResultSchema, Mcp.ElicitResult, {
    action: "accept",
    content: { sure: true, n: 1, l: ["a"] }
  }],
  ["sampling/createMessage", sdk.CreateMessageRequestSchema.shape.params, Mcp.CreateMessageParams, {
    messages: [{ role: "user", content: { type: "text", text: "hi" } }],
    maxTokens: 10,
    modelPreferences: { hints: [{ name: "m" }], costPriority: 1 }
  }],
  ["sampling result", sdk.CreateMessageResultSchema, Mcp.CreateMessageResult, {
    role: "assistant",
    content: { type: "text", text: "hi" },
    model: "m",
    stopReason: "endTurn"
  }],
  ["roots/list result", sdk.ListRootsResultSchema, Mcp.ListRootsResult, { roots: [{ uri: "file:///w", name: "w" }] }]
]

const text = (block: Mcp.ContentBlock): string => {
  if (block.type === "text") return block.text
  if (block.type === "resource") return "text" in block.resource ? String(block.resource.text) : ""
  return block.type === "resource_link" ? block.uri : block.mimeType
}

describe("Mcp", () => {
  it.effect.each(samples)(
    "decodes the SDK's %s and keeps all of it",
    ([_name, theirs, ours, sample]) =>
      Effect.gen(function*() {
        expect(theirs.parse(sample)).toMatchObject(sample as object)
        const decoded = yield* Schema.decodeUnknown(ours)(sample)
        expect(decoded).toEqual(sample)
        expect(theirs.parse(yield* Schema.encode(ours)(decoded))).toMatchObject(sample as object)
      })
  )

  it.effect("keeps the fields of a peer that it doesn't know", () =>
    Effect.gen(function*() {
      const decoded = yield* Schema.decodeUnknown(Mcp.ListToolsResult)({
        tools: [{ ...tool, execution: { taskSupport: "forbidden" }, annotations: { future: 1 } }],
        future: { a: 1 }
      })
      expect(decoded["future"]).toEqual({ a: 1 })
      expect(decoded.tools[0]?.["execution"]).toEqual({ taskSupport: "forbidden" })
      expect(decoded.tools[0]?.annotations?.["future"]).toBe(1)
    }))

  it.effect("reads a result without content as one with none", () =>
    Effect.gen(function*() {
      expect(yield* Schema.decodeUnknown(Mcp.CallToolResult)({ structuredContent: { a: 1 } })).toEqual({
        content: [],
        structuredContent: { a: 1 }
      })
    }))

  it.effect("refuses a text block whose text is no string (B-TCL-5)", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        Schema.decodeUnknown(Mcp.CallToolResult)({ content: [{ type: "text", text: 1 }] })
      )
      expect(error._tag).toBe("ParseError")
    }))

  it.effect("reads the envelope and the answers of 2026-07-28", () =>
    Effect.gen(function*() {
      const envelope = {
        progressToken: "p",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
        traceparent: "00-x"
      }
      const decoded = yield* Schema.decodeUnknown(Mcp.Envelope)(envelope)
      expect(decoded[Mcp.MetaKey.ProtocolVersion]).toBe("2026-07-28")
      expect(decoded).toEqual(envelope)
      const discovered = {
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} },
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } }
      }
      expect(yield* Schema.decodeUnknown(Mcp.DiscoverResult)(discovered)).toEqual(discovered)
      const asking = {
        resultType: "input_required",
        inputRequests: { sure: { method: "elicitation/create", params: { message: "Sure?" } } },
        requestState: "s"
      }
      expect(yield* Schema.decodeUnknown(Mcp.InputRequiredResult)(asking)).toEqual(asking)
      expect(yield* Schema.decodeUnknown(Mcp.UnsupportedVersionData)({ supported: ["2026-07-28"], requested: "1" }))
        .toEqual({ supported: ["2026-07-28"], requested: "1" })
    }))

  it("names the versions and codes of both eras", () => {
    expect(sdk.SUPPORTED_PROTOCOL_VERSIONS).toEqual(expect.arrayContaining([...Mcp.SESSION_VERSIONS]))
    expect(sdk.LATEST_PROTOCOL_VERSION).toBe(Mcp.LATEST_SESSION_VERSION)
    expect(sdk.DEFAULT_NEGOTIATED_PROTOCOL_VERSION).toBe(Mcp.ASSUMED_VERSION)
    expect(Mcp.SESSIONLESS_VERSIONS).toEqual(["2026-07-28"])
    expect(Mcp.ErrorCode).toMatchObject({
      HeaderMismatch: -32020,
      MissingClientCapability: -32021,
      UnsupportedVersion: -32022
    })
  })

  it("has types that the SDK's take", () => {
    expectTypeOf<Mutable<Mcp.CallToolResult>>().toExtend<Sdk.CallToolResult>()
    expectTypeOf<Mutable<Mcp.ContentBlock>>().toExtend<Sdk.ContentBlock>()
    expectTypeOf<Mutable<Mcp.ToolAnnotations>>().toExtend<Sdk.ToolAnnotations>()
    expectTypeOf<Mutable<Mcp.Implementation>>().toExtend<Sdk.Implementation>()
    expectTypeOf<Mutable<Mcp.ReadResourceResult>>().toExtend<Sdk.ReadResourceResult>()
    expectTypeOf<Mutable<Mcp.GetPromptResult>>().toExtend<Sdk.GetPromptResult>()
    expectTypeOf<Mutable<Mcp.ElicitResult>>().toExtend<Sdk.ElicitResult>()
    expectTypeOf<Mutable<Mcp.ListRootsResult>>().toExtend<Sdk.ListRootsResult>()
    expectTypeOf<Mcp.LoggingLevel>().toEqualTypeOf<Sdk.LoggingLevel>()
  })

  it("takes the SDK's types", () => {
    expectTypeOf<Sdk.CallToolResult>().toExtend<Mcp.CallToolResult>()
    expectTypeOf<Sdk.ContentBlock>().toExtend<Mcp.ContentBlock>()
    expectTypeOf<Sdk.Tool>().toExtend<Mcp.Tool>()
    expectTypeOf<Sdk.Implementation>().toExtend<Mcp.Implementation>()
  })

  it("tells blocks apart by their type", () => {
    const result: Mcp.CallToolResult = { content: [{ type: "text", text: "a" }], isError: true }
    // @ts-expect-error a text block has a text
    const bad: Mcp.ContentBlock = { type: "text" }
    expect(result.content.map(text)).toEqual(["a"])
    expect(bad).toBeDefined()
  })
})
