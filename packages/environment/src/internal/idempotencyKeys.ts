import * as AgentEnvError from "@effect-agentenv/protocol/AgentEnvError"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"

const capacity = 1024

/**
 * The keys under which `data/add` has succeeded since the last reset (V-9): repeated with the same parts it is not run again, with
 * other parts it is refused. Operations run one after another, so a repeat that arrives meanwhile waits for the first.
 */
export class IdempotencyKeys {
  private readonly done = new Map<string, string>()

  clear(): void {
    this.done.clear()
  }

  once<A, E>(
    key: string,
    parts: unknown,
    run: Effect.Effect<A, E>
  ): Effect.Effect<unknown, E | AgentEnvError.AgentEnvError> {
    return Effect.suspend((): Effect.Effect<unknown, E | AgentEnvError.AgentEnvError> => {
      const sent = createHash("sha256").update(JSON.stringify(parts)).digest("base64")
      const seen = this.done.get(key)
      if (seen === undefined) return Effect.tap(run, () => Effect.sync(() => this.remember(key, sent)))
      return seen === sent ? Effect.void : Effect.fail(
        new AgentEnvError.AgentEnvError({
          code: "idempotency_key_reused",
          message: "the Idempotency-Key was used with other parts"
        })
      )
    })
  }

  private remember(key: string, sent: string): void {
    this.done.set(key, sent)
    if (this.done.size > capacity) this.done.delete(this.done.keys().next().value!)
  }
}
