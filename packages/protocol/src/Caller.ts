/**
 * Who makes a call: the role and the session that a gateway or a header names (area CTX of the contract).
 *
 * @since 0.1.0
 */

/**
 * Who makes a call. Both are `undefined` when nobody said (`B-CTX-2`, `B-CTX-3`).
 *
 * @since 0.1.0
 * @category models
 */
export interface Caller {
  readonly role: string | undefined
  readonly session: string | undefined
}

/**
 * The caller of whom nothing is known, which is also what holds outside a call.
 *
 * @since 0.1.0
 * @category constructors
 */
export const anonymous: Caller = { role: undefined, session: undefined }

/**
 * The HTTP header that names the role of a direct call (`B-CTX-1`). Header names are matched without regard to case.
 *
 * @since 0.1.0
 * @category models
 */
export const ROLE_HEADER = "agentenv-role"

/**
 * The HTTP header that names the MCP session of a direct call (`B-CTX-3`).
 *
 * @since 0.1.0
 * @category models
 */
export const SESSION_HEADER = "mcp-session-id"

/**
 * The `_meta` key under which a gateway names the role (`B-CTX-1`).
 *
 * @since 0.1.0
 * @category models
 */
export const ROLE_META_KEY = "agentenv.io/role"

/**
 * The `_meta` key under which a gateway names the session (`B-CTX-1`).
 *
 * @since 0.1.0
 * @category models
 */
export const SESSION_META_KEY = "agentenv.io/session"

/**
 * The role that stands for "no role" and is never forwarded (`B-CTX-1`).
 *
 * @since 0.1.0
 * @category models
 */
export const DEFAULT_ROLE = "default"

/**
 * Reads a role: trimmed, and `undefined` for anything but a string, for blanks and for `default` (`B-CTX-2`).
 *
 * @since 0.1.0
 * @category constructors
 */
export const normalizeRole = (value: unknown): string | undefined => {
  const role = typeof value === "string" ? value.trim() : ""
  return role === "" || role === DEFAULT_ROLE ? undefined : role
}

const session = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined

/**
 * Reads the caller of a plain HTTP call from its headers; `header` looks one up by its lower-case name (`B-CTX-3`,
 * `B-CTX-8`).
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromHeaders = (header: (name: string) => string | undefined): Caller => ({
  role: normalizeRole(header(ROLE_HEADER)),
  session: session(header(SESSION_HEADER))
})

/**
 * Reads the caller of an MCP call (`B-CTX-3`): once `_meta` has the role key, with whatever value, the call is a gateway's
 * and headers do not count; without it headers do, and a `_meta` session still wins over theirs.
 *
 * @since 0.1.0
 * @category constructors
 */
export const resolve = (options: {
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly header: (name: string) => string | undefined
}): Caller => {
  const meta = options.meta ?? {}
  const stamped = session(meta[SESSION_META_KEY])
  if (Object.hasOwn(meta, ROLE_META_KEY)) return { role: normalizeRole(meta[ROLE_META_KEY]), session: stamped }
  const direct = fromHeaders(options.header)
  return stamped === undefined ? direct : { role: direct.role, session: stamped }
}
