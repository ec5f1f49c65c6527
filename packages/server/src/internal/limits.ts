import * as Context from "effect/Context"
import * as EventStream from "../EventStream.ts"

/** What a server's `limits.maxBuffered` is to the listeners that run behind its router. */
export class MaxBuffered extends Context.Reference<MaxBuffered>()("@effect-agentenv/server/MaxBuffered", {
  defaultValue: (): number => EventStream.defaultMaxBuffered
}) {}
