import * as Path from "node:path/posix"
import { InvalidTransfer } from "../TransferError.ts"
import { codeOf } from "./failures.ts"

const shown = (path: string): string => JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)

export const refused = (path: string, why: string): InvalidTransfer =>
  new InvalidTransfer({ message: `The archive is refused: ${shown(path)} ${why}.` })

/**
 * Says whether a symbolic link stays below the root wherever other links lead: up first, then only down. A `..` after a name would
 * go up from where that name leads, which may be another link.
 */
export const staysInside = (link: string, target: string): boolean => {
  if (target === "" || Path.isAbsolute(target) || target.includes("\\") || target.includes("\0")) return false
  const segments = target.split("/").filter((segment) => segment !== "" && segment !== ".")
  const up = segments.findIndex((segment) => segment !== "..")
  const ups = up === -1 ? segments.length : up
  return !segments.slice(ups).includes("..") && ups < link.split("/").length
}

/** A directory or an archive that can't be read or written; what is ours passes as it is. */
export const broken = (what: string) => (error: unknown): InvalidTransfer => {
  if (error instanceof InvalidTransfer) return error
  const code = codeOf(error)
  return new InvalidTransfer({ message: `${what}${code === undefined ? "" : ` (${code})`}.` })
}
