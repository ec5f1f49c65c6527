import * as Mcp from "@effect-agentenv/protocol/Mcp"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import type { ClientFeatures, Progress, ToolCall } from "../../ToolCall.ts"
import { featuresFor } from "./clientRequests.ts"
import type { Request } from "./request.ts"

type Service = Context.Tag.Service<typeof ToolCall>

/** The `ToolCall` of one request. Most calls never look at it, so everything in it is made when it is asked for. */
export class CallService implements Service {
  readonly tool: string
  readonly arguments: unknown
  private readonly request: Request
  private minted: string | undefined = undefined

  constructor(request: Request, tool: string, args: unknown) {
    this.request = request
    this.tool = tool
    this.arguments = args
  }

  get callId(): string {
    return this.minted ??= this.request.engine.uuid()
  }

  get role(): string | undefined {
    return this.request.caller.role
  }

  get session(): string | undefined {
    return this.request.caller.session
  }

  get client(): ClientFeatures {
    return featuresFor(this.request)
  }

  get progress(): Service["progress"] {
    const request = this.request
    return (progress) =>
      Effect.sync(() => {
        const token = request.progressToken
        if (token !== undefined) {
          request.notify(Mcp.Method.Progress, { ...progressOf(progress), progressToken: token })
        }
      })
  }

  get log(): Service["log"] {
    const request = this.request
    return (level, data, logger) =>
      Effect.sync(() => {
        if (Mcp.LOGGING_LEVELS.indexOf(level) < request.level) return
        request.notify(Mcp.Method.Message, { level, ...(logger === undefined ? {} : { logger }), data: jsonOf(data) })
      })
  }
}

const progressOf = (progress: number | Progress): Progress => typeof progress === "number" ? { progress } : progress

// What cannot be sent must not fail the call that logs it.
const jsonOf = (data: unknown): unknown => {
  try {
    return JSON.stringify(data) === undefined ? null : data
  } catch {
    return Inspectable.toStringUnknown(data)
  }
}
