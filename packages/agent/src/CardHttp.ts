/**
 * The routes of an agent's card.
 *
 * @since 0.1.0
 */
import * as Card from "@effect-agentenv/protocol/AgentCard"
import type * as Exchange from "@effect-agentenv/server/Exchange"
import * as Route from "@effect-agentenv/server/Route"
import * as Effect from "effect/Effect"
import { AgentCard } from "./AgentCard.ts"
import { baseUrl } from "./internal/origin.ts"

/**
 * How the address of the caller is found. `publicUrl` is where the agent is for everybody, such as `https://agents.example/a`;
 * without it the request's `Host` counts, and with `forwarded` the `X-Forwarded-Proto`, `-Host` and `-Prefix` of a proxy that can be
 * trusted to set them.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly publicUrl?: string | undefined
  readonly forwarded?: boolean | undefined
}

/** Whether a list of tags, as `If-None-Match` has it, holds one; weak and strong are the same here. */
const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(",").some((each) => {
    const tag = each.trim()
    return tag === "*" || tag === etag || tag === `W/${etag}`
  })

/**
 * The card at both well-known paths (B-CARD-1), with an `ETag` that answers `If-None-Match` with 304.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<ReadonlyArray<Route.Route>, never, AgentCard> =>
  Effect.map(AgentCard, (live) => {
    const publicUrl = options.publicUrl?.replace(/\/+$/, "")
    const forwarded = options.forwarded ?? false
    const listener: Exchange.Listener = (exchange) => {
      const { etag, text } = live.written(publicUrl ?? baseUrl(exchange, forwarded))
      // a proxy that keeps the card must not give one caller's address to another
      const head = ["etag", etag, "cache-control", "no-cache", ...publicUrl === undefined ? ["vary", "host"] : []]
      if (matches(exchange.header("if-none-match"), etag)) return exchange.reply(304, head, "")
      exchange.reply(200, ["content-type", "application/json", ...head], text)
    }
    return Card.paths.map((path) => Route.make("GET", path, listener))
  })
