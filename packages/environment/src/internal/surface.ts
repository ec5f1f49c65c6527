import type * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { ToolCall } from "../ToolCall.ts"

/** A tool, ready to be called: its schemas are compiled, its handler found. */
export interface SurfaceTool {
  /** What `tools/list` says of it. */
  readonly listed: Mcp.Tool
  /** Decodes arguments as they were sent; what cannot be decoded is refused with an error result that names the field. */
  readonly prepare: (args: unknown) => Prepared
  /**
   * The result of a call's exit: failures are error results (B-ERR-4, B-ERR-5), a defect one with a correlation id. `undefined` when
   * the call was interrupted, whose answer depends on who did it.
   */
  readonly result: (exit: Exit.Exit<Mcp.CallToolResult, unknown>) => Mcp.CallToolResult | undefined
}

export type Prepared =
  | { readonly _tag: "Ready"; readonly effect: Effect.Effect<Mcp.CallToolResult, unknown, ToolCall> }
  | { readonly _tag: "Refused"; readonly result: Mcp.CallToolResult }

/** A read of a resource or a prompt, ready to run, or why it cannot. */
export type Read<A> =
  | { readonly _tag: "Ready"; readonly effect: Effect.Effect<A, unknown, ToolCall> }
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Invalid"; readonly detail: string }

/** What MCP serves of an environment beside its tools, which are a catalog's: derived from its definition and the handlers that were given. */
export interface Surface {
  readonly name: string
  readonly version: string
  readonly instructions: string | undefined
  readonly resources: ReadonlyArray<Mcp.Resource>
  readonly resourceTemplates: ReadonlyArray<Mcp.ResourceTemplate>
  readonly readResource: (uri: string) => Read<Mcp.ReadResourceResult>
  readonly prompts: ReadonlyArray<Mcp.Prompt>
  readonly getPrompt: (name: string, args: unknown) => Read<Mcp.GetPromptResult>
  /** The error of a failed read: code and message; a defect's message is a correlation id's sentence. */
  readonly failure: (
    exit: Exit.Failure<unknown, unknown>
  ) => { readonly code: number; readonly message: string } | undefined
}
