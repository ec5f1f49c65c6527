/**
 * The short way to an object that lies in the staging store of this very process' agent: grants of such objects name their path in
 * a header, and are tried on the loopback interface first (`B-OBJ-18`, `B-XFER-1` to `B-XFER-4`).
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { splitUrl } from "./internal/url.ts"

/**
 * The port of the request that is being served, absent outside of requests.
 *
 * @since 0.1.0
 * @category tags
 */
export class ServingPort extends Context.Reference<ServingPort>()("@effect-agentenv/transfers/Loopback/ServingPort", {
  defaultValue: (): number | undefined => undefined
}) {}

/**
 * Lets the transfers of an effect try this port first, whatever `A2A_PORT` says: what a server wraps the handling of a request in
 * (`B-XFER-1`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const servingOn =
  (port: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, ServingPort>> =>
    Effect.provideService(effect, ServingPort, port)

const environmentPort = Config.string("A2A_PORT").pipe(
  Config.option,
  Config.map(Option.flatMap((text) => {
    const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0
    return port >= 1 && port <= 65535 ? Option.some(port) : Option.none()
  })),
  Effect.orElseSucceed(Option.none)
)

const header = "agentenv-staging-path"

const stagingPath = (headers: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === header)?.[1]

/**
 * Gives the loopback URL of a grant: none if no port is known (that of the request being served, else `A2A_PORT`), if the grant has
 * no `AgentEnv-Staging-Path`, or if that doesn't start with `/` or doesn't end the URL's path (`B-XFER-1`, `B-XFER-2`).
 *
 * @since 0.1.0
 * @category constructors
 */
export const loopbackUrl = (
  url: Redacted.Redacted,
  headers: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
): Effect.Effect<Option.Option<Redacted.Redacted>> =>
  Effect.gen(function*() {
    const path = headers === undefined ? undefined : stagingPath(Redacted.value(headers))
    const { path: own, query } = splitUrl(Redacted.value(url))
    if (path === undefined || !path.startsWith("/") || !own.endsWith(path)) return Option.none()
    const serving = yield* ServingPort
    const port = serving === undefined ? yield* environmentPort : Option.some(serving)
    return Option.map(port, (port) => Redacted.make(`http://127.0.0.1:${port}${path}${query}`))
  })
