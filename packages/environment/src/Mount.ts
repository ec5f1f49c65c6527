/**
 * An environment beside an MCP server of one's own.
 *
 * @since 0.1.0
 */
import * as EnvironmentCard from "@effect-agentenv/protocol/EnvironmentCard"
import * as Exchange from "@effect-agentenv/server/Exchange"
import * as Route from "@effect-agentenv/server/Route"
import type * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Environment from "./Environment.ts"
import type { App, Options, Requires, Serving } from "./EnvironmentServer.ts"
import * as internal from "./internal/app.ts"
import { withTools } from "./internal/liveCard.ts"
import * as sdkServer from "./internal/sdkServer.ts"
import { MountError } from "./MountError.ts"
import { RegistryError } from "./RegistryError.ts"

/**
 * A `Server` of an MCP SDK: v1's `@modelcontextprotocol/sdk` or v2's `@modelcontextprotocol/server`, known by their shape alone, so
 * that neither is a dependency.
 *
 * @since 0.1.0
 * @category models
 */
export interface SdkProtocol extends sdkServer.Protocol {}

/**
 * An MCP server of the author's own: an `McpServer` of either SDK, or the `Server` below it.
 *
 * @since 0.1.0
 * @category models
 */
export type SdkServer = SdkProtocol | { readonly server: SdkProtocol }

/**
 * How an environment is mounted. `mcp.path` is where the author serves MCP, for the card alone: `/mcp` by default.
 *
 * @since 0.1.0
 * @category models
 */
export interface MountOptions extends Pick<Options, "name"> {
  readonly mcp?: Pick<NonNullable<Options["mcp"]>, "path"> | undefined
  readonly limits?: Pick<NonNullable<Options["limits"]>, "dataPlane" | "extension"> | undefined
}

const mounted = new WeakSet<object>()

/** One environment a server, until the scope closes. */
const claim = (protocol: SdkProtocol, environment: string): Effect.Effect<void, MountError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      if (mounted.has(protocol)) {
        return new MountError({
          environment,
          reason: "AlreadyMounted",
          detail: "the MCP server has an environment already; give each a server of its own"
        })
      }
      mounted.add(protocol)
      return Effect.void
    }),
    () => Effect.sync(() => mounted.delete(protocol))
  )

/** What MCP would have to serve of the definition: with a mount nobody would. */
const checkServed = (env: Environment.Any, name: string): Effect.Effect<void, RegistryError> => {
  const own = env.tools.length + env.resources.length + env.prompts.length
  return own === 0 ? Effect.void : Effect.fail(
    new RegistryError({
      environment: name,
      subject: "tools, resources and prompts",
      problem: "the definition has some of its own, which a mount does not serve",
      mend: "register them on the MCP server, or serve the environment without a mount"
    })
  )
}

/**
 * The card, data plane, extensions, manifests and `/health` of an environment whose MCP is served by the author's own server, which
 * is neither connected nor changed: its transport, its sessions and its middleware stay what they are (B-ENV-14).
 *
 * The server's tools get on the card by asking it for them, anew for every card, so a tool that is registered later shows too
 * (B-ENV-15). They run outside of the environment's episode: `data/reset` does not interrupt them. Fails with a `MountError` when
 * the server has an environment or does not tell its tools within 10 seconds.
 *
 * @since 0.1.0
 * @category constructors
 */
export const mount = <Env extends Environment.Any>(
  env: Env,
  server: SdkServer,
  options: MountOptions & Serving<NoInfer<Env>> = {}
): Effect.Effect<App, RegistryError | MountError, Requires<Env> | Scope.Scope> =>
  Effect.gen(function*() {
    // the names of the definition are names
    const running = yield* internal.run(env, options as MountOptions & Serving)
    const { calls, name } = running
    yield* checkServed(env, name)
    const protocol = "server" in server ? server.server : server
    yield* claim(protocol, name)

    const asked = sdkServer.tools(protocol)
    const unanswered = (detail: string) =>
      new MountError({
        environment: name,
        reason: "Unanswered",
        detail: `the MCP server did not tell its tools: ${detail}`
      })
    const cardNow = Effect.tryPromise({
      try: asked.list,
      catch: (cause) => unanswered(cause instanceof Error ? cause.message : String(cause))
    }).pipe(
      Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => unanswered("it took longer than 10 seconds") }),
      Effect.map((tools) => withTools(running.card, tools))
    )
    const card = yield* cardNow
    running.tools.card = Effect.orElseSucceed(cardNow, () => card)

    const cardRoute = asked.live
      ? Route.make("GET", EnvironmentCard.PATH, (exchange) =>
        calls.run(
          exchange,
          Effect.tapError(
            cardNow,
            (error) => Effect.logWarning(`${error.message}; the card lists those it had before`)
          ),
          calls.runtime,
          (exit) => Exchange.json(exchange, 200, Exit.isSuccess(exit) ? exit.value : card)
        ))
      : internal.jsonRoute(EnvironmentCard.PATH, card)
    return { name, card, routes: yield* internal.routes(running, cardRoute, [], options) }
  })

/**
 * `mount` as routes for an application of one's own, beside its routes and behind its middleware.
 *
 * @since 0.1.0
 * @category layers
 */
export const mountRoutes = <Env extends Environment.Any>(
  env: Env,
  server: SdkServer,
  options?: MountOptions & Serving<NoInfer<Env>>
): Layer.Layer<
  never,
  RegistryError | MountError | Route.RouteCollision,
  Requires<Env> | HttpLayerRouter.HttpRouter
> => Route.layer(Effect.map(mount(env, server, options), ({ routes }) => routes))
