import * as Caller from "@effect-agentenv/protocol/Caller"
import * as JsonRpc from "@effect-agentenv/protocol/JsonRpc"
import * as Mcp from "@effect-agentenv/protocol/Mcp"
import { roleOf } from "../catalog.ts"
import type { Surface } from "../surface.ts"
import * as calls from "./calls.ts"
import * as replies from "./replies.ts"
import type { Request } from "./request.ts"

type Handler = (request: Request) => void

const offersResources = (surface: Surface): boolean =>
  surface.resources.length > 0 || surface.resourceTemplates.length > 0

const offersPrompts = (surface: Surface): boolean => surface.prompts.length > 0

/** What a server says that it can do: what there is, and nothing else. `listens`: whether changes of lists can be told. */
export const capabilities = (surface: Surface, listens: boolean): Mcp.ServerCapabilities => ({
  logging: {},
  tools: listens ? { listChanged: true } : {},
  ...(offersResources(surface) ? { resources: {} } : {}),
  ...(offersPrompts(surface) ? { prompts: {} } : {})
})

/** The instructions of a server, where it has any. */
export const instructions = (surface: Surface): { readonly instructions?: string } =>
  surface.instructions === undefined ? {} : { instructions: surface.instructions }

// Everything is on one page, so there is no cursor that we gave out.
const page = (answer: Handler): Handler => (request) => {
  if (request.params?.["cursor"] !== undefined) {
    return request.fail(replies.invalidParams("params.cursor is none of ours"))
  }
  answer(request)
}

const list = (items: (surface: Surface) => object): Handler =>
  page((request) => request.result(items(request.engine.surface), true))

/** The tools that the caller's role sees (B-ACC-3). */
const listTools: Handler = page((request) => {
  const { catalog } = request.engine
  const role = catalog.restricted ? roleOf(request.caller.role) : Caller.DEFAULT_ROLE
  if (catalog.restricted) request.session?.heardAs(role)
  request.written(`{"tools":${catalog.list(role)}}`)
})

const methodNotFound: Handler = (request) =>
  request.fail({
    status: request.sessionless ? 404 : 200,
    code: JsonRpc.ErrorCode.MethodNotFound,
    message: "Method not found"
  })

const only = (offers: (surface: Surface) => boolean, handler: Handler): Handler => (request) =>
  offers(request.engine.surface) ? handler(request) : methodNotFound(request)

const setLevel: Handler = (request) => {
  const level = (Mcp.LOGGING_LEVELS as ReadonlyArray<unknown>).indexOf(request.params?.["level"])
  if (level === -1) {
    return request.fail(replies.invalidParams(`params.level must be one of ${Mcp.LOGGING_LEVELS.join(", ")}`))
  }
  if (request.session !== undefined) request.session.level = level
  request.result({})
}

const discover: Handler = (request) => {
  const { surface } = request.engine
  request.result({
    supportedVersions: Mcp.SESSIONLESS_VERSIONS,
    // an era without sessions has no stream that is anybody's
    capabilities: capabilities(surface, false),
    ...instructions(surface)
  }, true)
}

const common: ReadonlyArray<readonly [string, Handler]> = [
  [Mcp.Method.ToolsCall, calls.callTool],
  [Mcp.Method.ToolsList, listTools],
  [
    Mcp.Method.ResourcesList,
    only(offersResources, list((surface) => ({ resources: surface.resources })))
  ],
  [
    Mcp.Method.ResourceTemplatesList,
    only(offersResources, list((surface) => ({ resourceTemplates: surface.resourceTemplates })))
  ],
  [Mcp.Method.ResourcesRead, only(offersResources, calls.readResource)],
  [Mcp.Method.PromptsList, only(offersPrompts, list((surface) => ({ prompts: surface.prompts })))],
  [Mcp.Method.PromptsGet, only(offersPrompts, calls.getPrompt)]
]

const sessionEra: ReadonlyMap<string, Handler> = new Map([
  ...common,
  [Mcp.Method.Ping, (request) => request.result({})],
  [Mcp.Method.SetLevel, setLevel]
])

const sessionlessEra: ReadonlyMap<string, Handler> = new Map([...common, [Mcp.Method.Discover, discover]])

/** Answers a request by its method, now or when what it runs has ended. */
export const dispatch: Handler = (request) => {
  const handler = (request.sessionless ? sessionlessEra : sessionEra).get(request.method) ?? methodNotFound
  handler(request)
}
