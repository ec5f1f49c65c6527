/**
 * What a run is given.
 *
 * @since 0.1.0
 */
import type * as A2a from "@effect-agentenv/protocol/A2a"
import type * as Redacted from "effect/Redacted"
import type * as Trajectories from "./Trajectories.ts"

/**
 * An MCP server that the platform gave the agent (B-MCP-5).
 *
 * @since 0.1.0
 * @category models
 */
export interface McpServer {
  readonly url: string
  /** `undefined` when none were sent. Their values are secrets. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
}

/**
 * A skill that was installed (B-SKILL-7).
 *
 * @since 0.1.0
 * @category models
 */
export interface Skill {
  readonly name: string
  readonly description: string
  /** The skill's text, when it was installed inline; a bundle is where the agent put it. */
  readonly skillMd: string | undefined
}

/**
 * What a run is given: the message, what it continues, and the state of the agent as it was when the task's turn came. Everything
 * is a copy of its own (B-TASK-14).
 *
 * @since 0.1.0
 * @category models
 */
export interface TaskRequest<out Config> {
  readonly taskId: string
  readonly contextId: string
  /** The parts of the message that started this run. */
  readonly parts: ReadonlyArray<A2a.Part>
  readonly message: A2a.Message
  /** What was said in this task before that message: empty but for a task that required input. */
  readonly history: ReadonlyArray<A2a.Message>
  readonly config: Config
  readonly mcpServers: Readonly<Record<string, McpServer>>
  readonly skills: ReadonlyArray<Skill>
  /** The message's metadata, with the configured role as `role` (B-CFG-12, B-TASK-15). */
  readonly metadata: A2a.JsonObject
  /** What the context's last run left for this one (B-TASK-12). */
  readonly sessionRef: string | undefined
  /** The record of this run that can be read while it runs; written in vain where `TrajectoryV1` is not live (B-TRAJ-8). */
  readonly trajectory: Trajectories.Log
}
