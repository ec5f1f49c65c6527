import { Environment, EnvironmentServer, Prompt, Resource, Tool, ToolCall } from "@effect-agentenv/environment"
import { AgentEnvError, Extension, Operation } from "@effect-agentenv/protocol"
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
