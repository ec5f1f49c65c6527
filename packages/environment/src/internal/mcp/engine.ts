import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as Calls from "@effect-agentenv/server/Calls"
import type { Catalog } from "../catalog.ts"
import type { Gate } from "../gate.ts"
import type * as Spans from "../spans.ts"
import type { Surface } from "../surface.ts"
import type { Sessions } from "./sessions.ts"

/** What every request of one route shares. */
export interface Engine {
  readonly surface: Surface
  readonly catalog: Catalog
  readonly gate: Gate
  readonly calls: Calls.Calls<never>
  readonly sessions: Sessions
  readonly uuid: () => string
  /** Whether an answer may become an event stream. */
  readonly streams: boolean
  /** Whether clients get sessions at all. */
  readonly sessionful: boolean
  readonly serverInfo: Mcp.Implementation
  /** How calls are traced, when they are. */
  readonly trace: Spans.Run | undefined
  readonly onCallStart: ((tool: string) => void) | undefined
}
