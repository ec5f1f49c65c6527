import type * as Exchange from "@effect-agentenv/server/Exchange"

const hostName = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/
const pathPrefix = /^(?:\/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*\/?$/

/** The first of a header's values: that of the proxy next to the client. */
const first = (value: string | undefined): string | undefined => value?.split(",", 1)[0]!.trim()

/** A host that a client can use, which an address to bind is not. */
const usable = (host: string | undefined): string | undefined => {
  if (host === undefined || !hostName.test(host)) return undefined
  return /^(?:0\.0\.0\.0|\[::\])(?=:|$)/.test(host) ? undefined : host
}

/**
 * Where the client that sent this request finds us, without a slash at its end: by its `Host`, and with `forwarded` by what a proxy
 * says of it. A host that is none is the loopback's.
 */
export const baseUrl = (exchange: Exchange.Exchange, forwarded: boolean): string => {
  const header = (name: string): string | undefined => forwarded ? first(exchange.header(name)) : undefined
  const proto = header("x-forwarded-proto")?.toLowerCase()
  const scheme = proto === "http" || proto === "https" ? proto : exchange.scheme
  const host = usable(header("x-forwarded-host")) ?? usable(exchange.header("host")) ??
    (exchange.port === undefined ? "localhost" : `127.0.0.1:${exchange.port}`)
  const prefix = header("x-forwarded-prefix") ?? ""
  return `${scheme}://${host}${pathPrefix.test(prefix) ? prefix.replace(/\/$/, "") : ""}`
}
