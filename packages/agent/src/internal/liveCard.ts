import type * as Card from "@effect-agentenv/protocol/AgentCard"
import type * as Context from "effect/Context"
import { createHash } from "node:crypto"
import type * as Agent from "../Agent.ts"
import type * as AgentCard from "../AgentCard.ts"
import type { ConfigState } from "../ConfigState.ts"
import type { Skills } from "../Skills.ts"

/** What a card is made of. */
export interface Sources {
  readonly agent: Agent.Any
  readonly config: Context.Tag.Service<typeof ConfigState>
  readonly skills: Context.Tag.Service<typeof Skills>
  readonly extensions: ReadonlyArray<Card.Extension>
  /** Where JSON-RPC is: a path, or the whole URL that the definition gives. */
  readonly url: string
  readonly decorate: ((card: Card.AgentCard) => Card.AgentCard) | undefined
}

const absolute = (url: string, baseUrl: string): string => url.startsWith("/") ? `${baseUrl}${url}` : url

const skillsOf = ({ agent, skills }: Sources): ReadonlyArray<Card.Skill> => [
  ...agent.skills.map(({ description, examples, id, name, tags }): Card.Skill => ({
    id: id ?? name,
    name,
    description,
    tags: tags ?? [],
    ...(examples === undefined ? {} : { examples })
  })),
  // the reference's tags for what was installed (B-SKILL-4)
  ...skills.installed().map(({ description, name }) => ({ id: `skill-${name}`, name, description, tags: ["skill"] }))
]

const make = (sources: Sources, baseUrl: string): Card.AgentCard => {
  const { agent, decorate, extensions } = sources
  const said = sources.config.card()
  const url = absolute(sources.url, baseUrl)
  const card: Card.AgentCard = {
    name: said.name ?? agent.name,
    description: said.description ?? agent.description,
    version: agent.version,
    url,
    protocolVersion: "0.3.0",
    preferredTransport: "JSONRPC",
    supportedInterfaces: [
      { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" }
    ],
    capabilities: {
      streaming: agent.streaming,
      pushNotifications: false,
      stateTransitionHistory: false,
      extensions
    },
    defaultInputModes: agent.inputModes,
    defaultOutputModes: agent.outputModes,
    skills: skillsOf(sources),
    ...(agent.provider === undefined ? {} : { provider: agent.provider }),
    ...(agent.documentationUrl === undefined ? {} : { documentationUrl: agent.documentationUrl }),
    ...(agent.iconUrl === undefined ? {} : { iconUrl: agent.iconUrl })
  }
  return decorate === undefined ? card : decorate(card)
}

/** Callers choose their `Host`, so what is kept for each is bounded. */
const maxWritten = 64

/** The card, written once a change and caller's address. */
export class LiveCard implements Context.Tag.Service<typeof AgentCard.AgentCard> {
  private readonly sources: Sources
  private readonly kept = new Map<string, AgentCard.Written>()

  constructor(sources: Sources) {
    this.sources = sources
    const changed = () => this.kept.clear()
    sources.config.onChange(changed)
    sources.skills.onChange(changed)
  }

  get card(): (baseUrl: string) => Card.AgentCard {
    return (baseUrl) => make(this.sources, baseUrl)
  }

  get written(): (baseUrl: string) => AgentCard.Written {
    return (baseUrl) => {
      const known = this.kept.get(baseUrl)
      if (known !== undefined) return known
      const text = JSON.stringify(this.card(baseUrl))
      const written = { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"` }
      if (this.kept.size >= maxWritten) this.kept.delete(this.kept.keys().next().value!)
      this.kept.set(baseUrl, written)
      return written
    }
  }
}
