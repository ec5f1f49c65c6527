/**
 * An agent under test: the real clients against its implementation, in process, without a port.
 *
 * @since 0.1.0
 */
import type * as Agent from "@effect-agentenv/agent/Agent"
import * as AgentServer from "@effect-agentenv/agent/AgentServer"
import * as AgentClient from "@effect-agentenv/client/AgentClient"
import * as ExtensionClient from "@effect-agentenv/client/ExtensionClient"
import * as InProcess from "@effect-agentenv/server/InProcess"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * What a test speaks to an agent with: A2A, and its extensions.
 *
 * @since 0.1.0
 * @category models
 */
export type Clients = AgentClient.AgentClient | ExtensionClient.Transport

/**
 * The agent's wire, for assertions on what the clients hide: an HTTP client that takes paths (`/a2a`) and reaches the agent under test
 * and nothing else.
 *
 * @since 0.1.0
 * @category tags
 */
export class Wire extends Context.Tag("@effect-agentenv/testing/AgentTest/Wire")<Wire, HttpClient.HttpClient>() {}

/**
 * What `layer` takes beside the server's own options: the version of A2A that the client speaks, by default what the card prefers.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends AgentServer.Options {
  readonly wire?: AgentClient.Options["wire"]
}

const origin = "http://localhost"

// A test that moves the clock by a day is not about the clients' limits.
const timeout = Duration.infinity

const clients = (rpcUrl: string, wire: Options["wire"]) =>
  Layer.merge(
    AgentClient.layer({
      baseUrl: origin,
      rpcUrl,
      wire,
      timeouts: {
        card: timeout,
        health: timeout,
        send: timeout,
        submit: timeout,
        open: timeout,
        get: timeout,
        cancel: timeout,
        list: timeout,
        wait: timeout
      }
    }),
    ExtensionClient.layerAgent({ baseUrl: origin, timeout, cardTimeout: timeout })
  )

/** Wherever the definition says that the agent is, here it is in process. */
const rpcUrlOf = (url: string): string => `${origin}${URL.canParse(url) ? new URL(url).pathname : url}`

/**
 * The clients of an agent, speaking to its implementation in process: the same requests, checks and answers as over a port, under the
 * test's own clock, with no time limits of the clients' own. Each place that provides the layer has an agent of its own. A stream that
 * is open is looked after every second, which a test feels that moves the clock by hours.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <A extends Agent.Any>(
  agent: A,
  options: Options = {}
): Layer.Layer<Clients | Wire, AgentServer.StartError, AgentServer.Requires<A>> => {
  const wire = Layer.scoped(
    Wire,
    Effect.map(AgentServer.app(agent, options), ({ routes }) => InProcess.httpClient(routes))
  )
  return clients(rpcUrlOf(agent.url), options.wire).pipe(
    Layer.provide(Layer.effect(HttpClient.HttpClient, Wire)),
    Layer.provideMerge(wire),
    Layer.fresh
  )
}
