import type { EnvironmentCard } from "@effect-agentenv/protocol/EnvironmentCard"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type Tools, UnknownTool } from "../Tools.ts"
import type { Catalog } from "./catalog.ts"

/** The card as it is served at this moment: what the definition says, and the tools of the catalog. */
export class LiveCard {
  private readonly base: EnvironmentCard
  private readonly catalog: Catalog
  private current: EnvironmentCard | undefined = undefined
  private written: string | undefined = undefined

  constructor(base: EnvironmentCard, catalog: Catalog) {
    this.base = base
    this.catalog = catalog
    catalog.onChange(() => {
      this.current = this.written = undefined
    })
  }

  get value(): EnvironmentCard {
    return this.current ??= withTools(this.base, this.catalog.entries)
  }

  get text(): string {
    return this.written ??= JSON.stringify(this.value)
  }
}

/** A card that lists these tools. */
export const withTools = (
  card: EnvironmentCard,
  tools: NonNullable<EnvironmentCard["capabilities"]["tools"]>
): EnvironmentCard => ({
  ...card,
  capabilities: { ...card.capabilities, tools: tools.length === 0 ? null : tools }
})

/**
 * The `Tools` of one server. Handlers are compiled with a runtime that has it, so the server that it speaks of comes later: it is
 * there before anything can be called.
 */
export class ToolsService implements Context.Tag.Service<typeof Tools> {
  /** What is asked for the card: a server that serves another's tools asks that one. */
  card: Effect.Effect<EnvironmentCard> = Effect.dieMessage("the environment is not served yet")
  private readonly environment: string
  private catalog: Catalog | undefined = undefined

  constructor(environment: string) {
    this.environment = environment
  }

  start(catalog: Catalog, card: LiveCard): void {
    this.catalog = catalog
    this.card = Effect.sync(() => card.value)
  }

  get served(): Context.Tag.Service<typeof Tools>["served"] {
    return Effect.map(
      Effect.suspend(() => this.card),
      ({ capabilities }) =>
        (capabilities.tools ?? []).map(({ description, name }) => ({ name, description: description ?? "" }))
    )
  }

  get update(): Context.Tag.Service<typeof Tools>["update"] {
    return (name, { description }) =>
      Effect.suspend(() => {
        const served = name.replaceAll("{environment_name}", this.environment)
        return this.catalog?.describe(served, description) === true ? Effect.void : new UnknownTool({ tool: name })
      })
  }
}
