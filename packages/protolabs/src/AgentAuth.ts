/**
 * The door of an agent's server: requests come in by the schemes that its card declares. Needs `@effect-agentenv/agent` or another server
 * on the platform's router.
 *
 * @since 0.1.0
 */
import * as Card from "@effect-agentenv/protocol/AgentCard"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Auth from "./Auth.ts"

/**
 * What is accepted, and which paths are open to everybody: `openPaths` unless given. A path that ends in `/*` stands for all below it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Auth.Accepted {
  readonly open?: ReadonlyArray<string> | undefined
}

/**
 * What callers need before they know how to come in: the card at both of its paths, and the health check.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openPaths: ReadonlyArray<string> = [...Card.paths, "/health"]

const challenges = { apiKey: "ApiKey realm=\"agent\"", bearer: "Bearer realm=\"agent\"" }

/**
 * How a request that is refused is answered: 401 with a challenge for each scheme that would do, as `WWW-Authenticate` has it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toResponse = (error: Auth.Unauthorized): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson({ detail: error.message }, {
    status: 401,
    headers: {
      // a 401 has one, also where nothing would do
      "www-authenticate": (error.schemes.length === 0 ? ["apiKey" as const] : error.schemes)
        .map((scheme) => challenges[scheme]).join(", ")
    }
  })

const isOpen = (open: ReadonlyArray<string>): (path: string) => boolean => {
  const exact = new Set(open.filter((path) => !path.endsWith("/*")))
  const prefixes = open.filter((path) => path.endsWith("/*")).map((path) => path.slice(0, -1))
  // as it was sent: what a router decodes or folds stays closed
  return (path) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
}

/**
 * Makes the check of a request: whatever isn't open needs what is accepted.
 *
 * @since 0.1.0
 * @category constructors
 */
export const checker = (
  options: Options
): (
  request: Pick<HttpServerRequest.HttpServerRequest, "headers" | "url">
) => Effect.Effect<void, Auth.Unauthorized> => {
  const check = Auth.checker(options)
  const isOpenPath = isOpen(options.open ?? openPaths)
  return ({ headers, url }) =>
    Effect.suspend(() => isOpenPath(url.split("?", 1)[0] ?? "") ? Effect.void : Effect.asVoid(check(headers)))
}

/**
 * Lets nobody in but those who show what is accepted, to none of a server's routes but the open ones. It goes among an agent's `routes` in
 * `AgentServer.serve`, or beside the routes of an application.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<never, never, HttpLayerRouter.HttpRouter> => {
  const check = checker(options)
  return HttpLayerRouter.middleware(
    (answer) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        Effect.matchEffect(check(request), {
          onFailure: (error) => Effect.succeed(toResponse(error)),
          onSuccess: () => answer
        })),
    { global: true }
  )
}
