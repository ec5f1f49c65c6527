import type * as AgentCard from "../AgentCard.ts"
import * as Auth from "../Auth.ts"

/** @internal */
export const v03Scheme = (scheme: Auth.SecurityScheme): AgentCard.V03SecurityScheme => {
  if ("apiKeySecurityScheme" in scheme) {
    const { description, location, name } = scheme.apiKeySecurityScheme
    return { type: "apiKey", in: location, name, ...(description === undefined ? {} : { description }) }
  }
  return { type: "http", ...scheme.httpAuthSecurityScheme }
}

/** @internal */
export const mapValues = <A, B>(
  record: { readonly [key: string]: A },
  f: (value: A) => B
): { readonly [key: string]: B } => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value)]))

/** The schemes that let somebody in, in the words of both wires beside each other. @internal */
export const declared = (auth: Auth.Accepted): { readonly [key: string]: unknown } => {
  const names = Auth.schemes(auth)
  if (names.length === 0) return {}
  const all = Auth.securitySchemes({ bearer: true, apiKeyHeader: auth.apiKeyHeader })
  const accepted = Object.entries(all).filter(([name]) => names.some((each) => each === name))
  return {
    securitySchemes: Object.fromEntries(accepted.map(([name, scheme]) => [name, { ...v03Scheme(scheme), ...scheme }])),
    securityRequirements: names.map((name) => ({ schemes: { [name]: {} } })),
    security: names.map((name) => ({ [name]: [] }))
  }
}
