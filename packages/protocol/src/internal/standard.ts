import type { Settled } from "../Check.ts"
import type { Extension, Options } from "../Extension.ts"
import type { Features, Operations } from "../Implementation.ts"
import { fromParts, partsOf } from "./extension.ts"

/**
 * `Extension.make` for the library's own definitions: the only ones that agents may list under `urn:agentenv:*` (B-REG-16).
 *
 * @internal
 */
export const make = <
  const Uri extends `urn:agentenv:${string}`,
  const Ops extends Operations = {},
  const Feats extends Features = {},
  Config = never
>(
  uri: Uri,
  options: Options<Ops, Feats, Config>
): Extension<Uri, Settled<Ops, Operations>, Settled<Feats, Features>, Settled<Config>, "standard"> =>
  // the parts are the definition's type parameters at run time
  fromParts({ ...partsOf(uri, options), origin: "standard" }, true) as never
