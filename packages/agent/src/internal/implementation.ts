import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HandlersService } from "../Agent.ts"

/** An author's function, and the services that were there when its layer was built. */
interface Parts {
  readonly run: HandlersService["run"]
  readonly built: Context.Context<never>
}

const parts = new WeakMap<HandlersService, Parts>()

/** Keeps what handlers are made of, for a runner that has a context to set anyhow. */
export const make = (handlers: HandlersService, made: Parts): HandlersService => {
  parts.set(handlers, made)
  return handlers
}

/** What a run needs beside the context of its fiber, and the run, which throws no more. */
export const of = (handlers: HandlersService): Parts => {
  const { built, run } = parts.get(handlers) ?? { run: handlers.run, built: Context.empty() }
  return { built, run: (request) => Effect.suspend(() => run(request)) }
}
