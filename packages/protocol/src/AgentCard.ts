/**
 * The card of an A2A agent: who it is, what it can do, and where it speaks which version of the wire.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type * as A2a from "./A2a.ts"
import { JsonObjectFromSelf, optional, strings } from "./internal/a2aJson.ts"

/**
 * Where a card is today (B-CARD-1).
 *
 * @since 0.1.0
 * @category models
 */
export const PATH = "/.well-known/agent-card.json"

/**
 * Where a card was before 0.3, and where many still look for it (B-CARD-1).
 *
 * @since 0.1.0
 * @category models
 */
export const LEGACY_PATH = "/.well-known/agent.json"

/**
 * Both paths, in the order in which to look.
 *
 * @since 0.1.0
 * @category models
 */
export const paths: ReadonlyArray<string> = [PATH, LEGACY_PATH]

/**
 * The version that a card itself declares (B-CARD-13).
 *
 * @since 0.1.0
 * @category models
 */
export const PROTOCOL_VERSION = "0.3.0"

/**
 * An extension that an agent serves, with what its users must know to use it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Extension {
  readonly uri: string
  readonly description?: string | undefined
  readonly required?: boolean | undefined
  readonly params?: A2a.JsonObject | undefined
}

/**
 * Something that an agent says it is good at.
 *
 * @since 0.1.0
 * @category models
 */
export interface Skill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly examples?: ReadonlyArray<string> | undefined
  readonly inputModes?: ReadonlyArray<string> | undefined
  readonly outputModes?: ReadonlyArray<string> | undefined
  readonly [key: string]: unknown
}

/**
 * What an agent can do. What is absent it can't.
 *
 * @since 0.1.0
 * @category models
 */
export interface Capabilities {
  readonly streaming?: boolean | undefined
  readonly pushNotifications?: boolean | undefined
  /** 0.3 alone. */
  readonly stateTransitionHistory?: boolean | undefined
  /** 1.0 alone. */
  readonly extendedAgentCard?: boolean | undefined
  readonly extensions?: ReadonlyArray<Extension> | undefined
  readonly [key: string]: unknown
}

/**
 * An endpoint, in the words of 1.0. `protocolBinding` is `JSONRPC` for the wires that are spoken here.
 *
 * @since 0.1.0
 * @category models
 */
export interface Interface {
  readonly url: string
  readonly protocolBinding: string
  readonly protocolVersion: string
  readonly tenant?: string | undefined
}

/**
 * An endpoint beside `url`, in the words of 0.3.
 *
 * @since 0.1.0
 * @category models
 */
export interface LegacyInterface {
  readonly url: string
  readonly transport: string
}

/**
 * Who runs an agent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Provider {
  readonly organization: string
  readonly url: string
}

/**
 * A card: the fields of 0.3 and those of 1.0 beside each other, so that one card serves clients of both. Fields that are not named
 * here pass through.
 *
 * @since 0.1.0
 * @category models
 */
export interface AgentCard {
  readonly name: string
  readonly description: string
  readonly version: string
  readonly capabilities: Capabilities
  readonly defaultInputModes: ReadonlyArray<string>
  readonly defaultOutputModes: ReadonlyArray<string>
  readonly skills: ReadonlyArray<Skill>
  readonly provider?: Provider | undefined
  readonly documentationUrl?: string | undefined
  readonly iconUrl?: string | undefined
  // of 0.3
  readonly url?: string | undefined
  readonly protocolVersion?: string | undefined
  readonly preferredTransport?: string | undefined
  readonly additionalInterfaces?: ReadonlyArray<LegacyInterface> | undefined
  readonly supportsAuthenticatedExtendedCard?: boolean | undefined
  // of 1.0
  readonly supportedInterfaces?: ReadonlyArray<Interface> | undefined
  readonly [key: string]: unknown
}

const absentAs = <A, I>(schema: Schema.Schema<A, I>, value: A) =>
  Schema.optionalWith(schema, { nullable: true, default: () => value })

const open = { key: Schema.String, value: Schema.Unknown }

const ExtensionFields = Schema.Struct({
  uri: Schema.String,
  description: optional(Schema.String),
  required: optional(Schema.Boolean),
  params: optional(JsonObjectFromSelf)
})

const CapabilitiesFields = Schema.Struct({
  streaming: optional(Schema.Boolean),
  pushNotifications: optional(Schema.Boolean),
  stateTransitionHistory: optional(Schema.Boolean),
  extendedAgentCard: optional(Schema.Boolean),
  extensions: optional(Schema.Array(ExtensionFields))
}, open)

const SkillFields = Schema.Struct({
  id: absentAs(Schema.String, ""),
  name: Schema.String,
  description: absentAs(Schema.String, ""),
  tags: absentAs(strings, []),
  examples: optional(strings),
  inputModes: optional(strings),
  outputModes: optional(strings)
}, open)

const InterfaceFields = Schema.Struct({
  url: Schema.String,
  protocolBinding: absentAs(Schema.String, "JSONRPC"),
  protocolVersion: absentAs(Schema.String, "1.0"),
  tenant: optional(Schema.String)
})

const CardFields = Schema.Struct({
  name: Schema.String,
  description: absentAs(Schema.String, ""),
  version: absentAs(Schema.String, ""),
  capabilities: absentAs(CapabilitiesFields, {}),
  defaultInputModes: absentAs(strings, []),
  defaultOutputModes: absentAs(strings, []),
  skills: absentAs(Schema.Array(SkillFields), []),
  provider: optional(Schema.Struct({ organization: absentAs(Schema.String, ""), url: absentAs(Schema.String, "") })),
  documentationUrl: optional(Schema.String),
  iconUrl: optional(Schema.String),
  url: optional(Schema.String),
  protocolVersion: optional(Schema.String),
  preferredTransport: optional(Schema.String),
  additionalInterfaces: optional(Schema.Array(Schema.Struct({ url: Schema.String, transport: Schema.String }))),
  supportsAuthenticatedExtendedCard: optional(Schema.Boolean),
  supportedInterfaces: optional(Schema.Array(InterfaceFields))
}, open)

/**
 * What decodes as a card.
 *
 * @since 0.1.0
 * @category models
 */
export interface Encoded extends Schema.Schema.Encoded<typeof CardFields> {}

/**
 * Reads a peer's card, of 0.3, of 1.0 or of both: only `name` must be there, and `null` is absent.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AgentCard: Schema.Schema<AgentCard, Encoded> = CardFields.annotations({ identifier: "AgentCard" })

/**
 * All endpoints of a card in its order of preference, whichever version declares them, each once.
 *
 * @since 0.1.0
 * @category combinators
 */
export const interfaces = (card: AgentCard): ReadonlyArray<Interface> => {
  const protocolVersion = card.protocolVersion ?? PROTOCOL_VERSION
  const all: ReadonlyArray<Interface> = [
    ...card.supportedInterfaces ?? [],
    ...card.url === undefined || card.url === ""
      ? []
      : [{ url: card.url, protocolBinding: card.preferredTransport ?? "JSONRPC", protocolVersion }],
    ...(card.additionalInterfaces ?? []).map(({ transport, url }) => ({
      url,
      protocolBinding: transport,
      protocolVersion
    }))
  ]
  const seen = new Set<string>()
  return all.filter(({ protocolBinding, protocolVersion, tenant, url }) => {
    const key = JSON.stringify([url, protocolBinding, wireOf(protocolVersion) ?? protocolVersion, tenant ?? ""])
    return !seen.has(key) && seen.add(key)
  })
}

/**
 * The wire of a declared version: the major number tells, so `1`, `1.0` and `1.2.3` are all spoken as 1.0, and what came before 1
 * as 0.3. `undefined` for what is not spoken here.
 *
 * @since 0.1.0
 * @category combinators
 */
export const wireOf = (version: string): "0.3" | "1.0" | undefined => {
  const major = /^\s*v?(\d+)(?:\.\d+)*\s*$/.exec(version)?.[1]
  return major === "0" ? "0.3" : major === "1" ? "1.0" : undefined
}

/**
 * Where to talk to an agent, and how.
 *
 * @since 0.1.0
 * @category models
 */
export interface Endpoint {
  /** As on the card: relative to where the card was, if it is no whole URL. */
  readonly url: string
  readonly version: "0.3" | "1.0"
  readonly tenant?: string | undefined
}

/**
 * The first JSON-RPC endpoint of the preferred version (1.0 unless said), else the first of the other; `undefined` when the card has
 * none that is spoken here.
 *
 * @since 0.1.0
 * @category combinators
 */
export const endpoint = (card: AgentCard, prefer: "0.3" | "1.0" = "1.0"): Endpoint | undefined => {
  const spoken = interfaces(card).flatMap(
    ({ protocolBinding, protocolVersion, tenant, url }): ReadonlyArray<Endpoint> => {
      const version = protocolBinding.toUpperCase() === "JSONRPC" ? wireOf(protocolVersion) : undefined
      return version === undefined
        ? []
        : [{ url, version, ...(tenant === undefined || tenant === "" ? {} : { tenant }) }]
    }
  )
  return spoken.find(({ version }) => version === prefer) ?? spoken[0]
}

/**
 * An extension of a card by its URI; `undefined` when it has none of it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const extension = (card: AgentCard, uri: string): Extension | undefined =>
  card.capabilities.extensions?.find((entry) => entry.uri === uri)
