// what must not compile is neither run nor used
// @effect-diagnostics floatingEffect:off
// @effect-diagnostics missingEffectContext:off
// @effect-diagnostics missingEffectError:off
import {
  Environment,
  EnvironmentServer,
  Hook,
  Prompt,
  Resource,
  Tool,
  ToolAccess,
  ToolCall,
  Tools
} from "@effect-agentenv/environment"
import { AgentEnvError, Extension, Mcp, Operation } from "@effect-agentenv/protocol"
import { Context, Effect, type Layer, Ref, Schema } from "effect"
import { expectTypeOf, test } from "vitest"

class Store extends Context.Tag("test/Store")<Store, { readonly size: number }>() {}
class Clerk extends Context.Tag("test/Clerk")<Clerk, { readonly name: string }>() {}
class KilnError extends Error {
  readonly _tag = "KilnError"
}
class SoldOut extends Schema.TaggedError<SoldOut>()("SoldOut", { shelf: Schema.String }) {}

const Ship = Tool.make("{environment_name}_ship", {
  description: "Ships a parcel.",
  parameters: { label: Schema.String.annotations({ description: "What is on it." }), express: Schema.Boolean },
  success: Schema.Struct({ state: Schema.Literal("shipped") }),
  failure: SoldOut
})
const Shelves = Tool.make("shelves", { description: "Lists shelves.", success: Schema.Array(Schema.String) })
const Weigh = Tool.make("weigh", {
  description: "Weighs.",
  parameters: Schema.Struct({
    grams: Schema.NumberFromString,
    times: Schema.optionalWith(Schema.Int, { default: () => 1 })
  }),
  failure: Schema.Literal("too light", "too heavy")
})
const Tag = Extension.single(
  "urn:parcels:tag/v1",
  "tag",
  Operation.post({
    request: Schema.Struct({ label: Schema.String }),
    response: Schema.Struct({ tagged: Schema.String })
  })
)
const Kiln = Extension.make("urn:parcels:kiln/v2", {
  operations: { heat: Operation.get({ response: Schema.Struct({ heat: Schema.Int }) }) },
  features: { vents: { open: Operation.put(), close: Operation.put({ path: "/kiln/close" }) } }
})
const Promise_ = Extension.make("urn:parcels:promise/v1", { description: "A promise.", params: { days: 2 } })
const Desk = Environment.make("desk", { tools: [Ship, Shelves, Weigh], extensions: [Tag, Kiln, Promise_] })

const tools = {
  "{environment_name}_ship": () => Effect.succeed({ state: "shipped" as const }),
  shelves: () => Effect.succeed(["b2"]),
  weigh: () => Effect.void
}
const extensions = {
  "urn:parcels:tag/v1": { tag: ({ label }: { readonly label: string }) => Effect.succeed({ tagged: label }) },
  "urn:parcels:kiln/v2": { heat: () => Effect.succeed({ heat: 20 }) }
}

test("a tool as data", () => {
  expectTypeOf<Tool.Parameters<typeof Weigh>>().toEqualTypeOf<{ readonly grams: number; readonly times: number }>()
  expectTypeOf<Tool.Failure<typeof Shelves>>().toBeNever()
  expectTypeOf<Tool.Parameters<typeof Shelves>>().toEqualTypeOf<{}>()
  // @ts-expect-error parameters that are no struct
  Tool.make("a", { description: "", parameters: Schema.String })
  // @ts-expect-error parameters that are no struct
  Tool.make("a", { description: "", parameters: Schema.Array(Schema.String) })
  // @ts-expect-error parameters that are no struct
  Tool.make("a", { description: "", parameters: Schema.Record({ key: Schema.String, value: Schema.String }) })
  // @ts-expect-error parameters that are no struct
  Tool.make("a", { description: "", parameters: Schema.Struct({ a: Schema.String }).pipe(Schema.filter(() => true)) })
  // @ts-expect-error a placeholder that nobody fills (B-ENV-11)
  Tool.make("{service}_ship", { description: "" })
  // @ts-expect-error no description
  Tool.make("a", {})
})

test("handlers are typed by the definition, and what they need is needed by the layer", () => {
  const layer = Desk.toLayer(Effect.gen(function*() {
    const state = yield* Ref.make<ReadonlyArray<string>>([])
    yield* Clerk
    yield* Effect.addFinalizer(() => Effect.void)
    return {
      reset: ({ seed }) => Ref.set(state, [String(seed)]),
      add: (parts) => Ref.update(state, (all) => [...all, ...parts.map((part) => part.kind)]),
      get: ({ writeNamespace }) =>
        Effect.map(Ref.get(state), (all) => [{ kind: "data", data: { all, granted: writeNamespace !== undefined } }]),
      tools: {
        "{environment_name}_ship": ({ express, label }) =>
          Effect.gen(function*() {
            expectTypeOf(label).toBeString()
            const call = yield* ToolCall.ToolCall
            yield* Store
            yield* Effect.addFinalizer(() => Effect.void)
            if (label === "") return yield* new SoldOut({ shelf: "b2" })
            if (express) return yield* new AgentEnvError.AgentEnvError({ code: "late", message: "too late" })
            if (label === "odd") return yield* Effect.fail(new KilnError(call.callId))
            return { state: "shipped" }
          }),
        shelves: () => Ref.get(state),
        weigh: ({ grams, times }) => grams > times ? Effect.fail("too heavy") : Effect.void
      },
      extensions: {
        "urn:parcels:tag/v1": {
          tag: (request) => {
            expectTypeOf(request).toEqualTypeOf<{ readonly label: string }>()
            return Effect.as(ToolCall.ToolCall, { tagged: request.label })
          }
        },
        "urn:parcels:kiln/v2": { heat: () => Effect.succeed({ heat: 20 }) }
      }
    }
  }))
  expectTypeOf(layer).toEqualTypeOf<Layer.Layer<Environment.Handlers<"desk">, never, Clerk | Store>>()
  expectTypeOf(Desk.toLayer(Effect.succeed({ tools, extensions }))).toEqualTypeOf<
    Layer.Layer<Environment.Handlers<"desk">>
  >()
  expectTypeOf(Desk.toLayer(Effect.succeed({ reset: Effect.asVoid(Store), tools, extensions }))).toEqualTypeOf<
    Layer.Layer<Environment.Handlers<"desk">, never, Store>
  >()
})

test("a server needs the handlers, by name", () => {
  const served = EnvironmentServer.serve(Desk, { port: 0 })
  expectTypeOf<Layer.Layer.Context<typeof served>>().toEqualTypeOf<Environment.Handlers<"desk">>()
})

test("what does not compile", () => {
  const { shelves: _, ...fewer } = tools
  // @ts-expect-error Problem<"tool 'shelves' has no handler">
  Desk.toLayer(Effect.succeed({ tools: fewer, extensions }))
  // @ts-expect-error no tools at all
  Desk.toLayer(Effect.succeed({ extensions }))
  // @ts-expect-error no extensions at all
  Desk.toLayer(Effect.succeed({ tools }))
  // @ts-expect-error an extension lacks its operation
  Desk.toLayer(Effect.succeed({ tools, extensions: { ...extensions, "urn:parcels:tag/v1": {} } }))
  // @ts-expect-error half a feature
  Desk.toLayer(Effect.succeed({
    tools,
    extensions: {
      ...extensions,
      "urn:parcels:kiln/v2": { heat: () => Effect.succeed({ heat: 1 }), vents: { open: () => Effect.void } }
    }
  }))
  // @ts-expect-error a superfluous tool
  Desk.toLayer(Effect.succeed({ tools: { ...tools, shelve: tools.shelves }, extensions }))
  // @ts-expect-error a superfluous extension
  Desk.toLayer(Effect.succeed({ tools, extensions: { ...extensions, "urn:x": {} } }))
  // @ts-expect-error a superfluous part
  Desk.toLayer(Effect.succeed({ tools, extensions, rest: Effect.void }))
  // @ts-expect-error a wrong result
  Desk.toLayer(Effect.succeed({ tools: { ...tools, shelves: () => Effect.succeed([1]) }, extensions }))
  // @ts-expect-error a failure that is neither declared nor an Error
  Desk.toLayer(Effect.succeed({ tools: { ...tools, weigh: () => Effect.fail("odd" as const) }, extensions }))
  const foreign = ({ nope }: { readonly nope: 1 }) => Effect.log(nope)
  // @ts-expect-error a parameter that the tool does not have
  Desk.toLayer(Effect.succeed({ tools: { ...tools, weigh: foreign }, extensions }))
  // @ts-expect-error a promise is no effect
  Desk.toLayer(Effect.succeed({ tools: { ...tools, weigh: async () => {} }, extensions }))
  // @ts-expect-error a part of no kind
  Desk.toLayer(Effect.succeed({ tools, extensions, get: Effect.succeed([{ kind: "smoke" }]) }))
  // @ts-expect-error a tool twice (B-ENV-11)
  Environment.make("twice", { tools: [Shelves, Weigh, Shelves] })
  // @ts-expect-error an extension twice (B-ENV-11)
  Environment.make("twice", { extensions: [Tag, Tag] })
})

test("the sentence names the piece", () => {
  const attempt = Desk.toLayer<
    { readonly tools: Omit<typeof tools, "shelves">; readonly extensions: typeof extensions }
  >
  expectTypeOf<Parameters<typeof attempt>[0]>().toExtend<
    { readonly "~problem": "tool 'shelves' has no handler" }
  >()
  const superfluous = Desk.toLayer<
    {
      readonly tools: typeof tools & { readonly shelve: () => Effect.Effect<void> }
      readonly extensions: typeof extensions
    }
  >
  expectTypeOf<Parameters<typeof superfluous>[0]>().toExtend<
    { readonly "~problem": "'shelve' is no tool of the definition" }
  >()
})

test("resources and prompts", () => {
  const Note = Resource.make("desk://note", { name: "note" })
  const Shelf = Resource.make("desk://shelf/{shelf}/{row}", { name: "shelf" })
  const Greet = Prompt.make("greet", {
    arguments: { name: Schema.String, times: Schema.optional(Schema.NumberFromString) }
  })
  const Library = Environment.make("library", { resources: [Note, Shelf], prompts: [Greet] })
  expectTypeOf<Resource.Variables<"desk://shelf/{shelf}/{row}">>().toEqualTypeOf<"shelf" | "row">()
  const layer = Library.toLayer(Effect.succeed({
    resources: {
      "desk://note": Effect.map(Store, ({ size }) => String(size)),
      "desk://shelf/{shelf}/{row}": ({ row, shelf }) => Effect.succeed(`${shelf}${row}`)
    },
    prompts: {
      greet: ({ name, times }) => {
        expectTypeOf(times).toEqualTypeOf<number | undefined>()
        return Effect.succeed(`Greet ${name}.`)
      }
    }
  }))
  expectTypeOf(layer).toEqualTypeOf<Layer.Layer<Environment.Handlers<"library">, never, Store>>()
  const fewer = { resources: { "desk://note": Effect.succeed("") }, prompts: { greet: () => Effect.succeed("") } }
  // @ts-expect-error a resource has no handler
  Library.toLayer(Effect.succeed(fewer))
  // @ts-expect-error an argument that is no text
  Prompt.make("odd", { arguments: { times: Schema.Number } })
  // @ts-expect-error a resource twice
  Environment.make("twice", { resources: [Note, Note] })
})

test("what schemas need flows into the layer", () => {
  const Needy = Schema.transformOrFail(Schema.String, Schema.String, {
    strict: true,
    decode: (text) => Effect.as(Store, text),
    encode: (text) => Effect.succeed(text)
  })
  const Needing = Environment.make("needing", {
    tools: [Tool.make("a", { description: "", parameters: { x: Needy } })]
  })
  const layer = Needing.toLayer(Effect.succeed({ tools: { a: () => Effect.void } }))
  expectTypeOf<Layer.Layer.Context<typeof layer>>().toEqualTypeOf<Store>()
})

test("a list that is no tuple keeps its handlers required", () => {
  const list = [Ship, Shelves]
  const Loose = Environment.make("loose", { tools: list })
  // @ts-expect-error a handler is missing
  Loose.toLayer(Effect.succeed({ tools: { shelves: () => Effect.succeed([]) } }))
})

test("a tool's stated output belongs to full results alone (B-TOOL-4, B-TOOL-5)", () => {
  const output = Schema.Struct({ shelf: Schema.String })
  Tool.make("photo", { description: "", success: Mcp.CallToolResult, output })
  Tool.make("note", { description: "", success: Schema.String, structured: false, hiddenByDefault: true })
  // @ts-expect-error the output of any other tool is derived from its success
  Tool.make("photo", { description: "", success: Schema.String, output })
  // @ts-expect-error nor has a tool that answers nothing one
  Tool.make("photo", { description: "", output })
})

test("what is served is named by the definition (B-TOOL-7, B-MULTI-9)", () => {
  const serve = (serve: EnvironmentServer.Serve<typeof Desk>) => EnvironmentServer.app(Desk, { serve })
  serve({
    tools: ["shelves", "{environment_name}_ship", "attic_ship", { name: "weigh", description: "Weighs, slowly." }]
  })
  serve({ extensions: ["urn:parcels:tag/v1", { uri: "urn:parcels:kiln/v2", operations: ["heat", "open"] }] })
  serve({ operations: ["data/reset"] })
  // @ts-expect-error no tool of the definition
  serve({ tools: ["shelfs"] })
  // @ts-expect-error no tool of the definition
  serve({ tools: [{ name: "shelfs" }] })
  // @ts-expect-error no extension of the definition
  serve({ extensions: ["urn:parcels:tags/v1"] })
  // @ts-expect-error no operation of that extension
  serve({ extensions: [{ uri: "urn:parcels:tag/v1", operations: ["heat"] }] })
  // @ts-expect-error no data operation
  serve({ operations: ["data/put"] })
  // @ts-expect-error wherever it is served
  EnvironmentServer.serve(Desk, { port: 0, serve: { tools: ["shelfs"] } })
  const dynamic: ReadonlyArray<Tool.Any> = [Shelves]
  // names that only the run knows are checked then
  EnvironmentServer.app(Environment.make("desk", { tools: dynamic }), { serve: { tools: ["anything"] } })
  // options that say nothing of it fit any environment
  const options: EnvironmentServer.Options = { name: "attic" }
  const generic = <Env extends Environment.Any>(env: Env) => EnvironmentServer.app(env, options)
  expectTypeOf(generic(Desk)).toEqualTypeOf(EnvironmentServer.app(Desk))
})

test("a hook decides, and needs what it uses but for what each call has (B-HOOK-1, B-HOOK-3)", () => {
  const hooked = Environment.intercept(Desk, (call) =>
    Effect.gen(function*() {
      expectTypeOf(call.role).toEqualTypeOf<string | undefined>()
      yield* Store
      yield* ToolCall.ToolCall
      yield* Tools.Tools
      yield* Effect.addFinalizer(() => Effect.void)
      if (call.role === undefined) return yield* new AgentEnvError.AgentEnvError({ code: "late", message: "too late" })
      if (call.role === "odd") return yield* Effect.fail(new KilnError())
      return call.role === "barred" ? Hook.answer({ content: [], isError: true }) : Hook.proceed
    }))
  expectTypeOf(hooked).toEqualTypeOf<
    Layer.Layer<Environment.Handlers<"desk">, never, Environment.Handlers<"desk"> | Store>
  >()
  expectTypeOf(Environment.intercept(Desk, () => Effect.succeed(Hook.proceed))).toEqualTypeOf<
    Layer.Layer<Environment.Handlers<"desk">, never, Environment.Handlers<"desk">>
  >()
  // @ts-expect-error a bare text is no decision
  Environment.intercept(Desk, () => Effect.succeed("not a result"))
  // @ts-expect-error nor is nothing
  Environment.intercept(Desk, () => Effect.void)
  // @ts-expect-error a result is answered with Hook.answer
  Environment.intercept(Desk, () => Effect.succeed({ content: [] }))
  // @ts-expect-error a failure is an Error
  Environment.intercept(Desk, () => Effect.fail("no"))
})

test("handlers have the server's tools, and ask for tool access (B-TOOL-9)", () => {
  const Doors = Environment.make("doors", { tools: [Shelves], toolAccess: true })
  const tools = {
    shelves: () =>
      Effect.gen(function*() {
        const { update } = yield* Tools.Tools
        expectTypeOf(update("shelves", { description: "" })).toEqualTypeOf<Effect.Effect<void, Tools.UnknownTool>>()
        yield* update("shelves", { description: "Lists." })
        return ["b2"]
      })
  }
  expectTypeOf(Doors.toLayer(Effect.succeed({ tools }))).toEqualTypeOf<Layer.Layer<Environment.Handlers<"doors">>>()
  expectTypeOf(Doors.toLayer(Effect.as(ToolAccess.ToolAccess, { tools }))).toEqualTypeOf<
    Layer.Layer<Environment.Handlers<"doors">, never, ToolAccess.ToolAccess>
  >()
})

test("one URI twice does not compile (B-MULTI-9)", () => {
  // @ts-expect-error 'urn:parcels:tag/v1' is there twice
  Environment.make("desk", { extensions: [Tag, Tag] })
})
