/** The path and the query of an absolute URL as they are written, since a parser's rewriting breaks signatures. */
export const splitUrl = (url: string): { readonly path: string; readonly query: string } => {
  const [, path = "", query = ""] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^?#]*)(\?[^#]*)?/i.exec(url) ?? []
  return { path, query }
}

const visible = /^[\x21-\x7e]+$/

/** What goes into the request line. */
export const requestTarget = (url: string): string => {
  const { path, query } = splitUrl(url)
  const written = `${path === "" ? "/" : path}${query}`
  if (visible.test(written)) return written
  const parsed = new URL(url)
  return parsed.pathname + parsed.search
}
