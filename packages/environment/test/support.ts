import { type Environment, EnvironmentServer } from "@effect-agentenv/environment"
import { InProcess } from "@effect-agentenv/server"
import { HttpBody, type HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect } from "effect"

/** What a handler fails with that has no code to say. */
export class KilnError extends Error {
  readonly _tag = "KilnError"
}

/** An environment that runs in process, and the ways to speak to it on the wire. */
export interface Wire {
  readonly client: HttpClient.HttpClient
  readonly card: Effect.Effect<any>
  readonly rpc: (method: string, params?: unknown, headers?: Record<string, string>) => Effect.Effect<any>
  readonly send: (
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    body?: string | object | Uint8Array,
    headers?: Record<string, string>
  ) => Effect.Effect<{ readonly status: number; readonly text: string; readonly json: any }>
  readonly tool: (name: string, args?: object, headers?: Record<string, string>) => Effect.Effect<any>
}

const encode = (body: string | object | Uint8Array): HttpBody.HttpBody =>
  body instanceof Uint8Array
    ? HttpBody.uint8Array(body, "application/json")
    : HttpBody.text(typeof body === "string" ? body : JSON.stringify(body), "application/json")

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const wireOf = (client: HttpClient.HttpClient): Wire => {
  const send: Wire["send"] = (method, path, body, headers = {}) =>
    Effect.gen(function*() {
      const request = HttpClientRequest.make(method)(`http://environment${path}`, {
        headers,
        ...(body === undefined ? {} : { body: encode(body) })
      })
      const response = yield* client.execute(request)
      const text = yield* response.text
      return { status: response.status, text, json: parse(text) }
    }).pipe(Effect.scoped, Effect.orDie)
  const rpc: Wire["rpc"] = (method, params, headers) =>
    Effect.map(
      send(
        "POST",
        "/agentenv",
        { jsonrpc: "2.0", id: 1, method, ...(params === undefined ? {} : { params }) },
        headers
      ),
      ({ json }) => json
    )
  return {
    client,
    card: Effect.map(send("GET", "/.well-known/agent-env.json"), ({ json }) => json),
    rpc,
    send,
    tool: (name, args = {}, headers) =>
      Effect.map(
        send(
          "POST",
          "/mcp",
          { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
          headers
        ),
        ({ json }) => json.result
      )
  }
}

/** Runs an environment in the test's scope, with MCP sessions optional. */
export const wire = <Env extends Environment.Any>(
  env: Env,
  options?: EnvironmentServer.Options & EnvironmentServer.Serving<NoInfer<Env>>
) =>
  Effect.map(
    EnvironmentServer.app(env, { ...options, mcp: { sessions: "optional", ...options?.mcp } }),
    ({ routes }) => wireOf(InProcess.httpClient(routes))
  )
