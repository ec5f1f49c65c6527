/**
 * An MCP server that was there before, and the Express app that serves it, made an environment: a card, a data plane that resets,
 * seeds and exports its pantry, and an extension, beside its own routes and its own MCP.
 *
 * `npm start -w examples/mount` serves on `MCP_HOST` and `MCP_PORT` (127.0.0.1 and 18765 unless said) until Ctrl-C.
 */
import { Environment, EnvironmentServer, Seed } from "@effect-agentenv/environment"
import { AgentEnvError, Extension, Operation, Part } from "@effect-agentenv/protocol"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect, Schema } from "effect"
import express, { type Express } from "express"
import { z } from "zod"

// --- What was there: a pantry, its MCP server, its app ------------------------------------------------------------------

type Pantry = Map<string, number>

const said = (text: string) => ({ content: [{ type: "text" as const, text }] })

const makeServer = (pantry: Pantry): McpServer => {
  const server = new McpServer({ name: "pantry", version: "1.4.0" })
  server.registerTool(
    "pantry_look",
    { description: "List what is in the pantry." },
    () => said([...pantry].map(([item, count]) => `${count} ${item}`).join(", ") || "nothing")
  )
  server.registerTool(
    "pantry_take",
    { description: "Take one of an item out of the pantry.", inputSchema: { item: z.string() } },
    ({ item }) => {
      const left = pantry.get(item) ?? 0
      if (left === 0) return { ...said(`There is no ${item}.`), isError: true }
      pantry.set(item, left - 1)
      return said(`Took one ${item}; ${left - 1} left.`)
    }
  )
  return server
}

const serveMcp = (app: Express, pantry: Pantry): void => {
  // Express 5 hands on what an async handler rejects with.
  // oxlint-disable-next-line oxc/no-async-endpoint-handlers
  app.post("/mcp", express.json(), async (request, response) => {
    const server = makeServer(pantry)
    const transport = new StreamableHTTPServerTransport()
    response.on("close", () => void server.close())
    // The SDK's types do not hold with `exactOptionalPropertyTypes`.
    await server.connect(transport as Transport)
    await transport.handleRequest(request, response, request.body)
  })
}

// --- What makes it an environment ---------------------------------------------------------------------------------------

const Stock = Schema.Record({ key: Schema.String, value: Schema.NonNegativeInt })

const Spoil = Extension.make("urn:pantry:spoil/v1", {
  description: "Lets an item go bad.",
  operations: {
    spoil: Operation.post({
      request: Schema.Struct({ item: Schema.String }),
      response: Schema.Struct({ spoiled: Schema.Int })
    })
  }
})

export const PantryEnvironment = Environment.make("pantry", { extensions: [Spoil] })

const implementation = (pantry: Pantry) =>
  PantryEnvironment.toLayer(Effect.succeed({
    reset: Effect.sync(() => pantry.clear()),
    add: Seed.load(Stock, (stock) =>
      Effect.sync(() => {
        for (const [item, count] of Object.entries(stock)) pantry.set(item, (pantry.get(item) ?? 0) + count)
      })),
    get: Effect.sync(() => [Part.DataPart.make({ data: Object.fromEntries(pantry) })]),
    extensions: {
      "urn:pantry:spoil/v1": {
        spoil: ({ item }) =>
          Effect.suspend(() => {
            const spoiled = pantry.get(item)
            if (spoiled === undefined) {
              return new AgentEnvError.AgentEnvError({
                code: "no_such_item",
                message: `There is no ${item}.`,
                status: 404
              })
            }
            pantry.delete(item)
            return Effect.succeed({ spoiled })
          })
      }
    }
  }))

/** The app as it was, with the environment's routes among its own, and what ends the environment. */
export const makeApp = (): { readonly app: Express; readonly dispose: () => Promise<void> } => {
  const pantry: Pantry = new Map()
  const environment = EnvironmentServer.toNodeHandler(PantryEnvironment, implementation(pantry), {
    // The server is asked for its tools; it need not be the one that answers calls.
    mount: makeServer(pantry)
  })
  const app = express()
  app.get("/", (_request, response) => void response.send("The pantry is open."))
  serveMcp(app, pantry)
  app.use(environment.handler)
  return { app, dispose: environment.dispose }
}

if (process.argv[1] === import.meta.filename) {
  const { app, dispose } = makeApp()
  const host = process.env["MCP_HOST"] ?? "127.0.0.1"
  const port = Number(process.env["MCP_PORT"] ?? 18765)
  const server = app.listen(port, host, () => console.log(`pantry on http://${host}:${port}`))
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      server.close()
      void dispose()
    })
  }
}
