import { ExtensionError } from "@effect-agentenv/agent/ExtensionError"
import * as McpServers from "@effect-agentenv/agent/McpServers"
import { Ids } from "@effect-agentenv/server/Ids"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"

const url = "https://tools.kiln.example/mcp"

const add = (server: McpServers.Registration) => Effect.flatMap(McpServers.McpServers, (servers) => servers.add(server))

const current = Effect.flatMap(McpServers.McpServers, (servers) => servers.current)

const test = it.effect

const provide = Effect.provide(McpServers.layer)

describe("McpServers", () => {
  test("B-MCP-2, B-MCP-6: a server without a name, or with an empty one, is given one", () =>
    Effect.gen(function*() {
      const answers = yield* Effect.forEach(
        [undefined, null, ""],
        (name, index) => add({ url: `${url}/${index}`, name })
      )
      for (const { name } of answers) expect(name).toMatch(/^mcp_[0-9a-f]{8}$/)
      expect(Object.keys(yield* current)).toEqual(answers.map(({ name }) => name))
    }).pipe(provide))

  test("a minted name is never one that is taken", () => {
    const given = ["aaaaaaaa", "aaaaaaaa", "bbbbbbbb"]
    return Effect.gen(function*() {
      yield* add({ url })
      expect(yield* add({ url: `${url}/2` })).toEqual({ name: "mcp_bbbbbbbb", url: `${url}/2` })
    }).pipe(
      provide,
      Effect.provideService(Ids, { uuid: () => "unused", hex: () => `${given.shift()}00000000` })
    )
  })

  test("B-MCP-3: a server keeps the name it was given; a second one of that name is 409", () =>
    Effect.gen(function*() {
      expect(yield* add({ url, name: "kiln" })).toEqual({ name: "kiln", url })
      const error = yield* Effect.flip(add({ url: "https://other.kiln.example/mcp", name: "kiln" }))
      expect(error).toEqual(new ExtensionError({ status: 409, message: "name is already registered" }))
      expect(Object.keys(yield* current)).toEqual(["kiln"])
    }).pipe(provide))

  test("B-MCP-6: a URL is registered once, as trimmed text, and the refusal names under what; a trailing slash differs", () =>
    Effect.gen(function*() {
      expect(yield* add({ url: `  ${url}\n`, name: "kiln" })).toEqual({ name: "kiln", url })
      for (const name of [undefined, "kiln", "other"]) {
        const error = yield* Effect.flip(add({ url, name }))
        expect(error).toEqual(new ExtensionError({ status: 409, message: "url is already registered as 'kiln'" }))
      }
      expect(yield* add({ url: `${url}/`, name: "slash" })).toEqual({ name: "slash", url: `${url}/` })
    }).pipe(provide))

  test("B-MCP-6: a blank URL is 400, and otherwise a URL is not checked", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(add({ url: " \t" }))
      expect(error).toEqual(new ExtensionError({ status: 400, message: "url must not be empty" }))
      expect(yield* add({ url: "no url at all", name: "odd" })).toEqual({ name: "odd", url: "no url at all" })
    }).pipe(provide))

  test("B-MCP-5: tasks get the header values, `undefined` where none were sent, and copies of their own", () =>
    Effect.gen(function*() {
      const sent = { authorization: "Bearer s-88" }
      yield* add({ url, name: "kiln", headers: Redacted.make(sent) })
      yield* add({ url: `${url}/2`, name: "bare" })
      yield* add({ url: `${url}/3`, name: "empty", headers: Redacted.make({}) })
      sent.authorization = "changed by the sender"
      const first = yield* current
      const headers = first["kiln"]!.headers!
      expect(Redacted.value(headers)).toEqual({ authorization: "Bearer s-88" })
      Object.assign(Redacted.value(headers), { authorization: "changed by a task" })
      const second = yield* current
      expect(Redacted.value(second["kiln"]!.headers!)).toEqual({ authorization: "Bearer s-88" })
      expect(second["bare"]).toEqual({ url: `${url}/2`, headers: undefined })
      expect(second["empty"]).toEqual({ url: `${url}/3`, headers: undefined })
    }).pipe(provide))

  test("header values show nowhere", () =>
    Effect.gen(function*() {
      yield* add({ url, name: "kiln", headers: Redacted.make({ authorization: "s-88" }) })
      expect(`${JSON.stringify(yield* current)} ${String((yield* current)["kiln"]!.headers)}`).not.toContain("s-88")
    }).pipe(provide))

  test("a name that objects know otherwise is one like any other", () =>
    Effect.gen(function*() {
      yield* add({ url, name: "__proto__" })
      expect(Object.keys(yield* current)).toEqual(["__proto__"])
      expect((yield* Effect.flip(add({ url: `${url}/2`, name: "__proto__" }))).status).toBe(409)
      yield* add({ url: `${url}/2`, name: "constructor" })
    }).pipe(provide))
})
