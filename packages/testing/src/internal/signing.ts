import { createHmac, timingSafeEqual } from "node:crypto"

/** What a URL's signature covers. Header values are as they are sent. */
export interface Signed {
  readonly method: string
  readonly key: string
  readonly expires: number
  readonly headers: Readonly<Record<string, string>>
}

export interface Policy {
  readonly root: string
  readonly expires: number
  readonly maxBytes: number
}

const text = ({ expires, headers, key, method }: Signed): string => {
  const lines = Object.entries(headers).map(([name, value]) => `${name.toLowerCase()}:${value}`)
  return JSON.stringify([method, key, expires, lines])
}

export const signature = (secret: string, signed: Signed | string): string =>
  createHmac("sha256", secret).update(typeof signed === "string" ? signed : text(signed)).digest("hex")

export const verifies = (secret: string, signed: Signed | string, given: string): boolean => {
  const expected = Buffer.from(signature(secret, signed))
  return expected.length === given.length && timingSafeEqual(expected, Buffer.from(given))
}

export const policyOf = (policy: Policy): string => Buffer.from(JSON.stringify(policy)).toString("base64")

/** Reads a policy whose signature has been verified. */
export const readPolicy = (policy: string): Policy => JSON.parse(Buffer.from(policy, "base64").toString())
