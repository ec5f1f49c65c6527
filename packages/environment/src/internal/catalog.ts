import * as Caller from "@effect-agentenv/protocol/Caller"
import type { ToolEntry } from "@effect-agentenv/protocol/EnvironmentCard"
import * as Mcp from "@effect-agentenv/protocol/Mcp"
import * as ToolAccess from "../ToolAccess.ts"
import type { SurfaceTool } from "./surface.ts"

/** Hears that lists have changed, and is told whether a role's has. */
type Listener = (changedFor: (role: string) => boolean) => void

const everyone = "*"

/** The role of a caller in rules: nobody's is `default` (B-ACC-5). */
export const roleOf = (role: string | undefined): string => role ?? Caller.DEFAULT_ROLE

/**
 * The tools that are served at this moment, and what each role sees of them. Lists are kept as JSON, a text for each role with rules
 * of its own and one for all others, until rules or a description change.
 */
export class Catalog {
  private readonly tools: Map<string, SurfaceTool>
  private readonly hidden: ReadonlySet<string>
  private readonly texts: Map<string, string> = new Map()
  private readonly lists: Map<string, string> = new Map()
  private readonly listeners: Set<Listener> = new Set()
  private rules: ToolAccess.Rules | undefined = undefined

  constructor(tools: ReadonlyMap<string, SurfaceTool>) {
    this.tools = new Map(tools)
    this.hidden = new Set(
      Array.from(tools.values()).flatMap(({ listed }) =>
        listed._meta?.[Mcp.MetaKey.HiddenByDefault] === true ? [listed.name] : []
      )
    )
  }

  get size(): number {
    return this.tools.size
  }

  get(name: string): SurfaceTool | undefined {
    return this.tools.get(name)
  }

  /** The tools as a card lists them: the same for everyone (B-ACC-3), and no more of each than this (B-TOOL-10). */
  get entries(): ReadonlyArray<ToolEntry> {
    return Array.from(this.tools.values(), ({ listed }) => ({
      name: listed.name,
      description: listed.description ?? null,
      inputSchema: listed.inputSchema
    }))
  }

  /** Whether roles count at all. */
  get restricted(): boolean {
    return this.rules !== undefined
  }

  allows(role: string, name: string): boolean {
    return this.rules === undefined || ToolAccess.allowed(this.rules, role, name, this.hidden.has(name))
  }

  /** The JSON array of the tools that a role sees. */
  list(role: string): string {
    const key = this.rules?.has(role) === true ? role : everyone
    const known = this.lists.get(key)
    if (known !== undefined) return known
    const seen: Array<string> = []
    for (const [name, { listed }] of this.tools) {
      if (!this.allows(key, name)) continue
      let text = this.texts.get(name)
      if (text === undefined) this.texts.set(name, text = JSON.stringify(listed))
      seen.push(text)
    }
    const list = `[${seen.join(",")}]`
    this.lists.set(key, list)
    return list
  }

  /** Gives a tool another description; `false` when it is none of these. */
  describe(name: string, description: string): boolean {
    const tool = this.tools.get(name)
    if (tool === undefined) return false
    this.tools.set(name, { ...tool, listed: { ...tool.listed, description } })
    this.texts.delete(name)
    this.lists.clear()
    this.tell((role) => this.allows(role, name))
    return true
  }

  /** Puts rules in force, the first or others. */
  restrict(rules: ToolAccess.Rules): void {
    const before = this.rules
    this.rules = rules
    this.lists.clear()
    if (before === undefined) return
    const changed = (role: string, name: string): boolean =>
      ToolAccess.allowed(before, role, name, this.hidden.has(name)) !== this.allows(role, name)
    const known = new Map<string, boolean>()
    this.tell((role) => {
      const key = before.has(role) || rules.has(role) ? role : everyone
      let answer = known.get(key)
      if (answer === undefined) {
        answer = Array.from(this.tools.keys()).some((name) => changed(key, name))
        known.set(key, answer)
      }
      return answer
    })
  }

  onChange(listener: Listener): void {
    this.listeners.add(listener)
  }

  private tell(changedFor: (role: string) => boolean): void {
    for (const listener of this.listeners) listener(changedFor)
  }
}
