/**
 * Which hosts and origins a server answers to: the guard against DNS rebinding and foreign web pages.
 *
 * @since 0.1.0
 */

/**
 * What is allowed. `undefined` and `"*"` allow everything. A host is what the `Host` header says (`env.internal:18765`),
 * an origin what the `Origin` header says (`https://app.example`); either may leave its port open (`localhost:*`, which
 * also matches no port at all).
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly hosts?: ReadonlyArray<string> | "*" | undefined
  readonly origins?: ReadonlyArray<string> | "*" | undefined
}

/**
 * Why a request is refused: 421 when it is meant for another host (the server is not authoritative for it, and this is
 * what MCP's Python SDK answers too), 403 when a web page of a foreign origin sent it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refusal {
  readonly status: 403 | 421
  readonly detail: string
}

/**
 * A check by the `Host` and `Origin` headers; `undefined` lets the request pass.
 *
 * @since 0.1.0
 * @category models
 */
export type HostCheck = (host: string | undefined, origin: string | undefined) => Refusal | undefined

const wrongHost: Refusal = { status: 421, detail: "Invalid Host header" }
const wrongOrigin: Refusal = { status: 403, detail: "Invalid Origin header" }

/**
 * The check for these options, or `undefined` when they allow everything. A request without `Origin` passes (it does not
 * come from a web page); one without `Host` does not, once hosts are listed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): HostCheck | undefined => {
  const hosts = matcher(options.hosts)
  const origins = matcher(options.origins)
  if (hosts === undefined && origins === undefined) return undefined
  return (host, origin) => {
    if (hosts !== undefined && (host === undefined || !hosts(host))) return wrongHost
    if (origins !== undefined && origin !== undefined && !origins(origin)) return wrongOrigin
    return undefined
  }
}

const port = /^(?::\d+)?$/

const matcher = (allowed: ReadonlyArray<string> | "*" | undefined): ((value: string) => boolean) | undefined => {
  if (allowed === undefined || allowed === "*" || allowed.includes("*")) return undefined
  const exact = new Set<string>()
  const open: Array<string> = []
  for (const entry of allowed) {
    const lower = entry.toLowerCase()
    if (lower.endsWith(":*")) open.push(lower.slice(0, -2))
    else exact.add(lower)
  }
  return (value) => {
    const lower = value.toLowerCase()
    return exact.has(lower) || open.some((base) => lower.startsWith(base) && port.test(lower.slice(base.length)))
  }
}
