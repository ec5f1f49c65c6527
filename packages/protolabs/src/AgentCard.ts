/**
 * Agent cards with protoLabs' defaults, for both A2A wires.
 *
 * @since 0.1.0
 */
import type * as Card from "@effect-agentenv/protocol/AgentCard"
import * as Auth from "./Auth.ts"
import * as ExtensionUri from "./ExtensionUri.ts"
import { isObject } from "./internal/json.ts"
import * as security from "./internal/security.ts"

/**
 * The version of A2A that cards declare.
 *
 * @since 0.1.0
 * @category constructors
 */
export const protocolVersion = "1.0"

/**
 * The provider's name.
 *
 * @since 0.1.0
 * @category constructors
 */
export const providerOrganization = "protoLabs AI"

/**
 * The provider's site.
 *
 * @since 0.1.0
 * @category constructors
 */
export const providerUrl = "https://protolabs.ai"

/**
 * Who provides an agent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Provider {
  readonly url: string
  readonly organization: string
}

/**
 * The provider of protoLabs' agents.
 *
 * @since 0.1.0
 * @category constructors
 */
export const provider: Provider = { url: providerUrl, organization: providerOrganization }

/**
 * Where an agent is reached, and how.
 *
 * @since 0.1.0
 * @category models
 */
export interface Interface {
  readonly url: string
  readonly protocolBinding: string
  readonly tenant?: string
  readonly protocolVersion: string
}

/**
 * An agent that speaks JSON-RPC at a URL.
 *
 * @since 0.1.0
 * @category constructors
 */
export const jsonRpcInterface = (
  url: string,
  options?: { readonly tenant?: string | undefined }
): Interface => ({
  url,
  protocolBinding: "JSONRPC",
  ...(options?.tenant ? { tenant: options.tenant } : {}),
  protocolVersion
})

/**
 * An extension as a card declares it. Those that only add data are never required.
 *
 * @since 0.1.0
 * @category models
 */
export interface Extension {
  readonly uri: string
  readonly description?: string
  readonly required?: boolean
  readonly params?: { readonly [key: string]: unknown }
}

/**
 * Declares an extension by its URI, with a description if it is one of protoLabs'.
 *
 * @since 0.1.0
 * @category constructors
 */
export const extension = (uri: string): Extension => {
  const description = Object.hasOwn(ExtensionUri.descriptions, uri) ? ExtensionUri.descriptions[uri] : undefined
  return description === undefined ? { uri } : { uri, description }
}

/**
 * What an agent can do.
 *
 * @since 0.1.0
 * @category models
 */
export interface CardSkill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly examples?: ReadonlyArray<string>
  readonly inputModes?: ReadonlyArray<string>
  readonly outputModes?: ReadonlyArray<string>
}

/**
 * A card as A2A 1.0 has it on the wire: empty texts and lists aren't written.
 *
 * @since 0.1.0
 * @category models
 */
export interface AgentCard {
  readonly name: string
  readonly description?: string
  readonly supportedInterfaces: ReadonlyArray<Interface>
  readonly provider: Provider
  readonly version: string
  readonly capabilities: {
    readonly streaming: boolean
    readonly pushNotifications: boolean
    readonly extensions?: ReadonlyArray<Extension>
  }
  readonly securitySchemes?: Auth.SecuritySchemes
  readonly securityRequirements?: ReadonlyArray<Auth.SecurityRequirement>
  readonly defaultInputModes?: ReadonlyArray<string>
  readonly defaultOutputModes?: ReadonlyArray<string>
  readonly skills?: ReadonlyArray<CardSkill>
}

/**
 * What a card is made from.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly name: string
  readonly description: string
  readonly url: string
  readonly version: string
  readonly skills: ReadonlyArray<CardSkill>
  /** All four unless given; those of protoLabs' that are named by their URI alone get their description. */
  readonly extensions?: ReadonlyArray<string | Extension> | undefined
  /** Whether a bearer token is accepted beside the API key; `false` unless given. */
  readonly bearer?: boolean | undefined
  /** `true` unless given. */
  readonly streaming?: boolean | undefined
  /** `true` unless given. */
  readonly pushNotifications?: boolean | undefined
  /** `text/plain` unless given. */
  readonly defaultInputModes?: ReadonlyArray<string> | undefined
  /** `text/markdown` unless given. */
  readonly defaultOutputModes?: ReadonlyArray<string> | undefined
  readonly tenant?: string | undefined
  /** In place of the API key and the bearer token. */
  readonly securitySchemes?: Auth.SecuritySchemes | undefined
  /** In place of one alternative for each scheme. */
  readonly securityRequirements?: ReadonlyArray<Auth.SecurityRequirement> | undefined
}

/**
 * Makes a card for A2A 1.0, its keys in the order of the wire.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): AgentCard => {
  const bearer = options.bearer ?? false
  const extensions = (options.extensions ?? ExtensionUri.all).map((each) =>
    typeof each === "string" ? extension(each) : each
  )
  const schemes = options.securitySchemes ?? Auth.securitySchemes({ bearer })
  const requirements = options.securityRequirements ??
    (options.securitySchemes === undefined
      ? Auth.securityRequirements({ bearer })
      : Object.keys(schemes).map((name) => ({ schemes: { [name]: {} } })))
  const { defaultInputModes = ["text/plain"], defaultOutputModes = ["text/markdown"], description, skills } = options
  return {
    name: options.name,
    ...(description === "" ? {} : { description }),
    supportedInterfaces: [jsonRpcInterface(options.url, { tenant: options.tenant })],
    provider,
    version: options.version,
    capabilities: {
      streaming: options.streaming ?? true,
      pushNotifications: options.pushNotifications ?? true,
      ...(extensions.length === 0 ? {} : { extensions })
    },
    ...(Object.keys(schemes).length === 0 ? {} : { securitySchemes: schemes }),
    ...(requirements.length === 0 ? {} : { securityRequirements: requirements }),
    ...(defaultInputModes.length === 0 ? {} : { defaultInputModes }),
    ...(defaultOutputModes.length === 0 ? {} : { defaultOutputModes }),
    ...(skills.length === 0 ? {} : { skills })
  }
}

/**
 * A scheme as A2A 0.3 writes it, which is OpenAPI's way.
 *
 * @since 0.1.0
 * @category models
 */
export type V03SecurityScheme =
  | { readonly type: "apiKey"; readonly in: "header"; readonly name: string; readonly description?: string }
  | { readonly type: "http"; readonly scheme: string; readonly description?: string }

/**
 * A card as A2A 0.3 has it on the wire, where nothing may be left out that is empty.
 *
 * @since 0.1.0
 * @category models
 */
export interface V03AgentCard {
  readonly protocolVersion: "0.3.0"
  readonly name: string
  readonly description: string
  readonly url: string
  readonly preferredTransport: string
  readonly provider: Provider
  readonly version: string
  readonly capabilities: AgentCard["capabilities"]
  readonly securitySchemes?: { readonly [name: string]: V03SecurityScheme }
  readonly security?: ReadonlyArray<{ readonly [name: string]: ReadonlyArray<string> }>
  readonly defaultInputModes: ReadonlyArray<string>
  readonly defaultOutputModes: ReadonlyArray<string>
  readonly skills: ReadonlyArray<CardSkill>
}

/**
 * The same card for peers on A2A 0.3.
 *
 * @since 0.1.0
 * @category combinators
 */
export const toV03 = (card: AgentCard): V03AgentCard => {
  const [first] = card.supportedInterfaces
  return {
    protocolVersion: "0.3.0",
    name: card.name,
    description: card.description ?? "",
    url: first?.url ?? "",
    preferredTransport: first?.protocolBinding ?? "JSONRPC",
    provider: card.provider,
    version: card.version,
    capabilities: card.capabilities,
    ...(card.securitySchemes === undefined
      ? {}
      : { securitySchemes: security.mapValues(card.securitySchemes, security.v03Scheme) }),
    ...(card.securityRequirements === undefined ? {} : {
      security: card.securityRequirements.map(({ schemes }) => security.mapValues(schemes, ({ list }) => list ?? []))
    }),
    defaultInputModes: card.defaultInputModes ?? [],
    defaultOutputModes: card.defaultOutputModes ?? [],
    skills: card.skills ?? []
  }
}

/**
 * What an agent that is served says of protoLabs' conventions.
 *
 * - `extensions`: those that it speaks, by URI or whole.
 * - `auth`: what it accepts, as `AgentAuth.layer` enforces it; a scheme that lets nobody in isn't declared.
 *
 * @since 0.1.0
 * @category models
 */
export interface Declarations {
  readonly extensions?: ReadonlyArray<string | Extension> | undefined
  readonly auth?: Auth.Accepted | undefined
}

/**
 * Declares extensions and schemes on the card of an agent that is served, for the `card` of `AgentServer`. Schemes and requirements are
 * written in the words of both wires beside each other, which clients of either read; they take the place of others. An extension that
 * the card has already stays as it is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const declare = (declarations: Declarations): (card: Card.AgentCard) => Card.AgentCard => {
  const added = (declarations.extensions ?? []).map((each) => typeof each === "string" ? extension(each) : each)
  const secured = security.declared(declarations.auth ?? {})
  return (card) => {
    const present = card.capabilities.extensions ?? []
    const missing = added.filter(({ uri }, index) =>
      present.every((each) => each.uri !== uri) && added.findIndex((each) => each.uri === uri) === index
    )
    return {
      ...card,
      ...(missing.length === 0
        ? {}
        : { capabilities: { ...card.capabilities, extensions: [...present, ...missing] } }),
      ...secured
    }
  }
}

/**
 * The URIs of the extensions that a peer's card declares, of either wire; none for what is no card.
 *
 * @since 0.1.0
 * @category combinators
 */
export const extensionUris = (card: unknown): ReadonlyArray<string> => {
  const capabilities = isObject(card) ? card["capabilities"] : undefined
  const declared = isObject(capabilities) ? capabilities["extensions"] : undefined
  if (!Array.isArray(declared)) return []
  return declared.flatMap((each: unknown) => isObject(each) && typeof each["uri"] === "string" ? [each["uri"]] : [])
}
