import * as ExtensionHttp from "@effect-agentenv/agent/ExtensionHttp"
import * as ExtensionRegistry from "@effect-agentenv/agent/ExtensionRegistry"
import type * as Extension from "@effect-agentenv/protocol/Extension"
import { InProcess } from "@effect-agentenv/server"
import { HttpBody, type HttpClient, HttpClientRequest } from "@effect/platform"
import { Cause, Context, Effect, Layer, Logger, LogLevel, Option } from "effect"

/** What a test says of an agent: its extensions, the layers of their handlers, and the library's handlers by URI. */
export interface Desk {
  readonly extensions: ReadonlyArray<Extension.Any>
  readonly layers?: ReadonlyArray<Layer.Layer<any>>
  readonly defaults?: Readonly<Record<string, unknown>>
  readonly reserved?: ReadonlyArray<ExtensionRegistry.Reserved>
  readonly configContract?: ExtensionRegistry.Options["configContract"]
}

const framework: ReadonlyArray<ExtensionRegistry.Reserved> = [
  { method: "POST", path: "/a2a", owner: "A2A JSON-RPC" },
  { method: "GET", path: "/health", owner: "health" },
  { method: "GET", path: "/.well-known/agent-card.json", owner: "Agent Card" },
  { method: "GET", path: "/.well-known/agent.json", owner: "Agent Card" },
  { method: "*", prefix: "/ext/staging/", owner: "staging" }
]

/** The registry of a desk, with handlers that get there as a server's do: through layers. */
export const registry = (desk: Desk) =>
  Effect.gen(function*() {
    const none: Context.Context<never> = Context.empty()
    const context = yield* Effect.reduce(
      desk.layers ?? [],
      none,
      (context, layer) => Effect.map(Layer.build(layer), (built) => Context.merge(context, built))
    )
    const implementations = Object.fromEntries(desk.extensions.map((extension) => {
      const { handlers } = extension as Extension.Extension<string>
      return [extension.uri, Option.getOrUndefined(Context.getOption(context, handlers as never))]
    }))
    return yield* ExtensionRegistry.make({
      agent: "kiln",
      extensions: desk.extensions,
      implementations: implementations as Record<string, Extension.HandlersService | undefined>,
      defaults: desk.defaults ?? {},
      reserved: desk.reserved ?? framework,
      configContract: desk.configContract
    })
  })

/** What is wrong with a desk. */
export const refused = (desk: Desk) =>
  Effect.scoped(Effect.map(Effect.flip(registry(desk)), ({ mend, message, problem, subject }) => ({
    subject,
    problem,
    mend,
    message
  })))

interface Answer {
  readonly status: number
  readonly type: string | undefined
  readonly text: string
  readonly json: any
}

export type Send = (
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: string | object | Uint8Array
) => Effect.Effect<Answer>

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const encode = (body: string | object | Uint8Array): HttpBody.HttpBody =>
  body instanceof Uint8Array
    ? HttpBody.uint8Array(body, "application/json")
    : HttpBody.text(typeof body === "string" ? body : JSON.stringify(body), "application/json")

export const sender = (client: HttpClient.HttpClient): Send => (method, path, body) =>
  Effect.gen(function*() {
    const response = yield* client.execute(
      HttpClientRequest.make(method)(`http://kiln${path}`, body === undefined ? {} : { body: encode(body) })
    )
    const text = yield* response.text
    return { status: response.status, type: response.headers["content-type"], text, json: parse(text) }
  }).pipe(Effect.scoped, Effect.orDie)

/** A desk's routes without a port, which log what goes wrong. */
export const loud = (desk: Desk, options?: ExtensionHttp.Options) =>
  Effect.flatMap(
    Effect.orDie(registry(desk)),
    (resolved) => Effect.provideService(ExtensionHttp.routes(options), ExtensionRegistry.ExtensionRegistry, resolved)
  )

/** A desk's routes without a port. */
export const routes = (desk: Desk, options?: ExtensionHttp.Options) =>
  Logger.withMinimumLogLevel(loud(desk, options), LogLevel.None)

/** What is logged, line by line. */
export const listening = () => {
  const lines: Array<string> = []
  const layer = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ annotations, cause, message }) =>
      lines.push(`${Array.from(annotations).join()} ${JSON.stringify(message)} ${Cause.pretty(cause)}`)
    )
  )
  return { lines, layer }
}

/** Speaks to a desk without a port. */
export const speak = (desk: Desk, options?: ExtensionHttp.Options) =>
  Effect.map(routes(desk, options), (routes) => sender(InProcess.httpClient(routes)))
