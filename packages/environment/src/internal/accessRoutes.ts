import type { ExtensionEntry } from "@effect-agentenv/protocol/EnvironmentCard"
import type * as Calls from "@effect-agentenv/server/Calls"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Exchange from "@effect-agentenv/server/Exchange"
import * as Route from "@effect-agentenv/server/Route"
import type * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import type { Names, ToolAccess } from "../ToolAccess.ts"
import * as extensions from "./extensions.ts"

const request = {
  type: "object",
  properties: {
    role: { type: "string" },
    tools: { anyOf: [{ type: "array", items: { type: "string" } }, { const: "*" }] }
  },
  required: ["role", "tools"]
} as const

const changes = ["disable", "enable"] as const

const pathOf = (change: typeof changes[number]): string => `/tools/${change}`

/** What the card says of tool access (B-ACC-1). */
export const entries: ReadonlyArray<ExtensionEntry> = changes.map((change) => ({
  uri: `urn:agentenv:${change}-tool/v1`,
  description: change === "disable"
    ? "Takes tools from a role, or from every role."
    : "Gives tools to a role, or to every role.",
  params: { endpoint: pathOf(change), methods: { [change]: { method: "POST", request } } },
  required: false
}))

const isNames = (value: unknown): value is Names =>
  value === "*" || Array.isArray(value) && value.every((name) => typeof name === "string")

/** The routes that change rules; they answer the rules that the role has itself (B-ACC-2, B-ACC-8). */
export const routes = (
  access: Context.Tag.Service<typeof ToolAccess>,
  calls: Calls.Calls<never>,
  limit: number
): ReadonlyArray<Route.Route> =>
  changes.map((change) =>
    Route.make("POST", pathOf(change), (exchange) =>
      extensions.readObject(exchange, limit, ({ role, tools }) => {
        if (typeof role !== "string" || role === "") {
          return extensions.invalidParams(exchange, "role: must be a text that is not empty")
        }
        if (!isNames(tools)) return extensions.invalidParams(exchange, "tools: must be a list of names, or \"*\"")
        if (calls.closing) return extensions.shuttingDown(exchange)
        calls.run(exchange, access[change](role, tools), calls.runtime, (exit) =>
          Exit.isSuccess(exit)
            ? Exchange.json(exchange, 200, { role, ...exit.value })
            : extensions.extensionFailed(exchange, Correlation.report(exit.cause, calls.runtime)))
      }))
  )
