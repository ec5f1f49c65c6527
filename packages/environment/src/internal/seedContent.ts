import * as AST from "effect/SchemaAST"

const units: ReadonlyArray<readonly [number, string]> = [[1024 ** 3, "GiB"], [1024 ** 2, "MiB"], [1024, "KiB"]]

/** A number of bytes in its largest whole unit. */
export const formatBytes = (bytes: number): string => {
  const unit = units.find(([size]) => bytes >= size && bytes % size === 0)
  return unit === undefined ? `${bytes} bytes` : `${bytes / unit[0]} ${unit[1]}`
}

/**
 * The last segment of a name that a caller gave to a file, without what could be a query, fit to be shown in a message.
 */
export const displayName = (name: string): string | undefined => {
  const segment = name.split(/[?#]/, 1)[0]?.split(/[/\\]/).at(-1)?.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim() ?? ""
  if (segment === "") return undefined
  const characters = [...segment]
  return characters.length > 80 ? `${characters.slice(0, 79).join("")}…` : segment
}

/** Base64 text without its line breaks and padding, or nothing if it is not base64; `size` is in bytes. */
export const base64 = (text: string): { readonly body: string; readonly size: number } | undefined => {
  const joined = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+/g, "") : text
  const padding = joined.endsWith("==") ? 2 : joined.endsWith("=") ? 1 : 0
  const body = padding === 0 ? joined : joined.slice(0, -padding)
  // The negated class can't backtrack, whatever the length.
  return joined.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(body)
    ? { body, size: Math.floor(body.length * 3 / 4) }
    : undefined
}

/** Whether a schema reads text, so that content is handed to it as it is. */
export const readsText = (ast: AST.AST): boolean => {
  const isText = (ast: AST.AST): boolean => {
    switch (ast._tag) {
      case "StringKeyword":
      case "TemplateLiteral":
        return true
      case "Literal":
        return typeof ast.literal === "string"
      case "Enums":
        return ast.enums.every(([, value]) => typeof value === "string")
      case "Refinement":
        return isText(ast.from)
      case "Union":
        return ast.types.every(isText)
      default:
        return false
    }
  }
  return isText(AST.encodedAST(ast))
}

const silent: ReadonlySet<string> = new Set(["", "application/octet-stream", "text/plain", "binary/octet-stream"])

/** Whether a file may hold JSON: it says so by type or name, or it doesn't say anything else. */
export const mayBeJson = (mimeType: string | undefined, name: string | undefined): boolean => {
  const essence = (mimeType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""
  return silent.has(essence) || /[/+]json$/.test(essence) || (name?.toLowerCase().endsWith(".json") ?? false)
}
