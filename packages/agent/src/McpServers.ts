/**
 * The MCP servers that the platform gave the agent.
 *
 * @since 0.1.0
 */
import { Ids } from "@effect-agentenv/server/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { ExtensionError } from "./ExtensionError.ts"
import type * as TaskRequest from "./TaskRequest.ts"

/**
 * A server to register. Without a name, or with an empty one, it is given one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Registration {
  readonly url: string
  readonly name?: string | null | undefined
  readonly headers?: Redacted.Redacted<Readonly<Record<string, string>>> | null | undefined
}

/**
 * What `McpServers` does.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly add: (
    server: Registration
  ) => Effect.Effect<{ readonly name: string; readonly url: string }, ExtensionError>
  readonly current: Effect.Effect<Readonly<Record<string, TaskRequest.McpServer>>>
}

/**
 * The MCP servers of an agent, by name. Provide a layer of it to share it between an override and the server.
 *
 * - `add` registers one: the URL is trimmed, a name is minted when none is given, and a URL or a name that is there already is 409
 *   (B-MCP-2, B-MCP-3, B-MCP-6).
 * - `current` is what a task gets: a copy of its own, header values included (B-MCP-5).
 *
 * @since 0.1.0
 * @category tags
 */
export class McpServers extends Context.Tag("@effect-agentenv/agent/McpServers")<McpServers, Service>() {}

const taken = (message: string): ExtensionError => new ExtensionError({ status: 409, message })

const detached = (server: TaskRequest.McpServer): TaskRequest.McpServer => ({
  url: server.url,
  headers: server.headers === undefined ? undefined : Redacted.make({ ...Redacted.value(server.headers) })
})

const headersOf = (headers: Registration["headers"]): TaskRequest.McpServer["headers"] =>
  headers === undefined || headers === null || Object.keys(Redacted.value(headers)).length === 0 ? undefined : headers

/**
 * MCP servers in memory, none at first.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Service> = Effect.sync(() => {
  const servers = new Map<string, TaskRequest.McpServer>()

  const mint: Effect.Effect<string> = Effect.map(Ids, (ids) => {
    let name: string
    do name = `mcp_${ids.hex().slice(0, 8)}`
    while (servers.has(name))
    return name
  })

  const add = (server: Registration): ReturnType<Service["add"]> =>
    Effect.gen(function*() {
      const url = server.url.trim()
      if (url === "") return yield* new ExtensionError({ status: 400, message: "url must not be empty" })
      for (const [name, registered] of servers) {
        if (registered.url === url) return yield* taken(`url is already registered as '${name}'`)
      }
      const given = server.name ?? ""
      const name = given === "" ? yield* mint : given
      if (servers.has(name)) return yield* taken("name is already registered")
      servers.set(name, detached({ url, headers: headersOf(server.headers) }))
      return { name, url }
    })

  return {
    add,
    current: Effect.sync(() => Object.fromEntries(Array.from(servers, ([name, server]) => [name, detached(server)])))
  }
})

/**
 * MCP servers in memory, none at first.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<McpServers> = Layer.effect(McpServers, make)
