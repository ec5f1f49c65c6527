import * as Effect from "effect/Effect"
import { StagingError } from "../StagingError.ts"

const maxLength = 1024
const minFirst = 22
// the longest name that file systems take, in bytes
const maxName = 255

export const invalid: StagingError = new StagingError({
  reason: "InvalidPath",
  detail: "A staging path is relative and has no empty, '.' or '..' segment, no backslash and no NUL"
})

export const notFound: StagingError = new StagingError({ reason: "NotFound", detail: "There is no such staged object" })

/** The rules of B-STG-4 for a decoded path or prefix, which has no slash at its end. */
export const check = (path: string): Effect.Effect<void, StagingError> => {
  const segments = path.split("/")
  if (path.length > maxLength && [...path].length > maxLength) return Effect.fail(invalid)
  // oxlint-disable-next-line no-control-regex
  if (/[\\\0]/.test(path) || !segments.every(isName)) return Effect.fail(invalid)
  return [...segments[0]!].length < minFirst ? Effect.fail(notFound) : Effect.void
}

const isName = (segment: string): boolean =>
  segment !== "" && segment !== "." && segment !== ".." && !/\p{Surrogate}/u.test(segment) &&
  (segment.length * 3 <= maxName || Buffer.byteLength(segment) <= maxName)

/** A path of a URL, decoded once. */
export const decode = (path: string): Effect.Effect<string, StagingError> =>
  Effect.try({ try: () => decodeURIComponent(path), catch: () => invalid })
