/**
 * An environment under test: the real clients against its implementation, in process, without a port.
 *
 * @since 0.1.0
 */
import * as EnvironmentClient from "@effect-agentenv/client/EnvironmentClient"
import * as ExtensionClient from "@effect-agentenv/client/ExtensionClient"
import * as ToolClient from "@effect-agentenv/client/ToolClient"
import type * as Environment from "@effect-agentenv/environment/Environment"
import * as EnvironmentServer from "@effect-agentenv/environment/EnvironmentServer"
import type { RegistryError } from "@effect-agentenv/environment/RegistryError"
import type * as Caller from "@effect-agentenv/protocol/Caller"
import * as InProcess from "@effect-agentenv/server/InProcess"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * What a test, or an episode in one, speaks to an environment with.
 *
 * @since 0.1.0
 * @category models
 */
export type Clients = EnvironmentClient.EnvironmentClient | ToolClient.ToolClient | ExtensionClient.Transport

/**
 * The environment's wire, for assertions on what the clients hide: an HTTP client that takes paths (`/agentenv`) and reaches the
 * environment under test and nothing else.
 *
 * @since 0.1.0
 * @category tags
 */
export class Wire extends Context.Tag("@effect-agentenv/testing/EnvironmentTest/Wire")<Wire, HttpClient.HttpClient>() {}

/**
 * What `layer` takes beside the server's own options: what the player answers when a tool asks back.
 *
 * The stream of a long call is looked after every second, which a test feels that moves the clock by hours: `mcp: { json: true }`
 * answers without one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends EnvironmentServer.Options {
  readonly features?: ToolClient.Features | undefined
}

// Whatever the host is, the routes are those of the environment under test.
const baseUrl = "http://localhost"

// A test that moves the clock by a day is not about the clients' limits.
const timeout = Duration.infinity

const environmentClient = (caller?: Partial<Caller.Caller>) =>
  EnvironmentClient.layer({
    baseUrl,
    caller,
    timeouts: { card: timeout, health: timeout, reset: timeout, add: timeout, get: timeout, manifest: timeout }
  })

const extensionTransport = (caller?: Partial<Caller.Caller>) =>
  ExtensionClient.layer({ baseUrl, caller, timeout, cardTimeout: timeout })

const toHttpClient = Layer.effect(HttpClient.HttpClient, Wire)

/**
 * The clients of an environment, speaking to its implementation in process: the same requests, checks and answers as over a port,
 * under the test's own clock, with no time limits of the clients' own. Each place that provides the layer has an environment of
 * its own.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <Env extends Environment.Any>(
  env: Env,
  options: Options & EnvironmentServer.Serving<NoInfer<Env>> = {}
): Layer.Layer<
  Clients | Wire,
  RegistryError | ToolClient.ToolClientError,
  EnvironmentServer.Requires<Env>
> => {
  const wire = Layer.scoped(
    Wire,
    Effect.map(EnvironmentServer.app(env, options), ({ routes }) => InProcess.httpClient(routes))
  )
  return Layer.mergeAll(
    environmentClient(),
    extensionTransport(),
    ToolClient.layer({ baseUrl, timeout, features: options.features })
  ).pipe(Layer.provide(toHttpClient), Layer.provideMerge(wire), Layer.fresh)
}

/**
 * Runs an effect as someone: its tool calls, extension calls and data operations carry this role and session (B-CTX-3, B-CTX-8).
 *
 * @since 0.1.0
 * @category combinators
 */
export const asCaller =
  (caller: Partial<Caller.Caller>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Clients> | ToolClient.ToolClient | Wire> =>
    Effect.flatMap(ToolClient.ToolClient, (tools) =>
      Effect.provide(
        self,
        Layer.mergeAll(
          Layer.succeed(ToolClient.ToolClient, tools.as(caller)),
          environmentClient(caller),
          extensionTransport(caller)
        ).pipe(Layer.provide(toHttpClient))
      ))
