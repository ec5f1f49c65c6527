import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { ready, request, serve, sessionless, type Surface, surface } from "./mcpSupport.ts"
import { KilnError } from "./support.ts"

const shelves: Partial<Surface> = {
  resources: [{ uri: "parcels://shelf/a", name: "a" }],
  resourceTemplates: [{ uriTemplate: "parcels://shelf/{shelf}", name: "shelf" }],
  readResource: (uri) => {
    if (uri === "parcels://broken") return ready(Effect.fail(new KilnError("secret")))
    if (uri === "parcels://bad") return { _tag: "Invalid", detail: "shelf must be a letter" }
    if (uri.startsWith("parcels://shelf/")) return ready(Effect.succeed({ contents: [{ uri, text: "two" }] }))
    return { _tag: "Unknown" }
  },
  prompts: [{ name: "count" }],
  getPrompt: (name, args) =>
    name === "count"
      ? ready(Effect.succeed({
        messages: [{ role: "user", content: { type: "text", text: `Count ${JSON.stringify(args)}` } }]
      }))
      : { _tag: "Unknown" }
}

describe("MCP resources and prompts", () => {
  it.scoped("are in the capabilities, listed, read and got when there are any", () =>
    Effect.gen(function*() {
      const { open, post } = yield* serve(surface([], shelves))
      const session = yield* open()
      const result = (method: string, params?: object) =>
        Effect.map(post(request(1, method, params), session), ({ json }) => json.result)
      expect((yield* result("resources/list")).resources).toEqual(shelves.resources)
      expect((yield* result("resources/templates/list")).resourceTemplates).toEqual(shelves.resourceTemplates)
      expect((yield* result("prompts/list")).prompts).toEqual(shelves.prompts)
      expect(yield* result("resources/read", { uri: "parcels://shelf/b" })).toEqual({
        contents: [{ uri: "parcels://shelf/b", text: "two" }]
      })
      expect((yield* result("prompts/get", { name: "count", arguments: { what: "all" } })).messages[0].content.text)
        .toBe("Count {\"what\":\"all\"}")
      expect((yield* result("prompts/get", { name: "count", arguments: null })).messages[0].content.text).toBe(
        "Count {}"
      )
    }))

  it.scoped("answer typed errors for what is unknown, wrong or failed", () =>
    Effect.gen(function*() {
      const { open, post } = yield* serve(surface([], shelves))
      const session = yield* open()
      const error = (method: string, params: object) =>
        Effect.map(post(request(1, method, params), session), ({ json, status }) => [status, json.error] as const)
      expect(yield* error("resources/read", { uri: "parcels://none" })).toEqual([200, {
        code: -32002,
        message: "Resource not found",
        data: { uri: "parcels://none" }
      }])
      expect((yield* error("resources/read", { uri: 1 }))[1].message).toContain("params.uri")
      expect((yield* error("resources/read", { uri: "parcels://bad" }))[1].code).toBe(-32602)
      expect((yield* error("resources/read", { uri: "parcels://broken" }))[1]).toEqual({
        code: -32000,
        message: "it failed"
      })
      expect((yield* error("prompts/get", { name: "none" }))[1].code).toBe(-32602)
      expect((yield* error("prompts/get", {}))[1].message).toContain("params.name")
      expect((yield* error("prompts/get", { name: "count", arguments: [] }))[1].message).toContain("params.arguments")
    }))

  it.scoped("wait behind a data operation and end with a reset like calls do", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const { gate, open, post } = yield* serve(surface([], {
        ...shelves,
        readResource: () => ready(Effect.zipRight(Deferred.succeed(started, undefined), Effect.never))
      }))
      const session = yield* open()
      const data = gate.data("data/add")
      const reading = yield* Effect.fork(post(request(1, "resources/read", { uri: "parcels://shelf/a" }), session))
      yield* Effect.yieldNow()
      expect(yield* Deferred.isDone(started)).toBe(false)
      data.leave()
      yield* Deferred.await(started)
      gate.fence()
      const { json } = yield* Fiber.join(reading)
      expect(json.error.code).toBe(-32000)
      expect(json.error.message).toMatch(/^episode_reset: /)
    }))

  it.scoped("without sessions say how long they may be kept, and call the unknown resource a wrong parameter", () =>
    Effect.gen(function*() {
      const { post } = yield* serve(surface([], shelves))
      const kept = { resultType: "complete", ttlMs: 0, cacheScope: "private" }
      for (const method of ["resources/list", "resources/templates/list", "prompts/list"]) {
        expect((yield* post(...sessionless(1, method))).json.result).toMatchObject(kept)
      }
      const read = yield* post(...sessionless(1, "resources/read", { uri: "parcels://shelf/b" }))
      expect(read.json.result).toMatchObject(kept)
      const unknown = yield* post(...sessionless(1, "resources/read", { uri: "parcels://none" }))
      expect([unknown.status, unknown.json.error.code]).toEqual([200, -32602])
      expect((yield* post(...sessionless(1, "prompts/get", { name: "count" }))).json.result.ttlMs).toBeUndefined()
    }))
})
