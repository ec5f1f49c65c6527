/**
 * Where identifiers come from.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import { randomUUID } from "node:crypto"

/**
 * The source of identifiers: random by default, provided by tests that want to know them beforehand. `uuid` is a version
 * 4 UUID, `hex` is 32 lower-case hexadecimal digits.
 *
 * @since 0.1.0
 * @category tags
 */
export class Ids extends Context.Reference<Ids>()("@effect-agentenv/server/Ids", {
  defaultValue: (): { readonly uuid: () => string; readonly hex: () => string } => ({
    uuid: () => {
      const id = randomUUID()
      // node joins it of twenty pieces, which stay with it until somebody looks at a character
      id.charCodeAt(0)
      return id
    },
    hex: () => randomUUID().replaceAll("-", "")
  })
}) {}
