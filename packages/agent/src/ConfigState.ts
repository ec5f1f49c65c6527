/**
 * The configuration that the platform set.
 *
 * @since 0.1.0
 */
import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AgentConfig from "./AgentConfig.ts"
import { ExtensionError } from "./ExtensionError.ts"
import * as issueList from "./internal/issueList.ts"
import * as json from "./internal/json.ts"

/**
 * What `ConfigState` does.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly set: (update: A2a.JsonObject) => Effect.Effect<void, ExtensionError>
  readonly current: Effect.Effect<AgentConfig.AgentConfig>
  readonly readback: Effect.Effect<A2a.JsonObject>
  readonly card: () => { readonly name: string | undefined; readonly description: string | undefined }
  readonly onChange: (listener: () => void) => void
}

/**
 * The configuration of an agent while it is served. Provide a layer of it to share it between an override and the server.
 *
 * - `set` merges an update, by wire names, over what was set before; 400 when the whole would not be valid, and nothing changes then
 *   (B-CFG-7, B-CFG-8).
 * - `current` is the whole configuration, decoded for this caller alone (B-CFG-11).
 * - `readback` is what was set, by wire names, with `"***"` for what is write-only (B-CFG-6, B-CFG-9).
 * - `card` is the name and description that were set, if any (B-CARD-12); `onChange` tells of every update.
 *
 * @since 0.1.0
 * @category tags
 */
export class ConfigState extends Context.Tag("@effect-agentenv/agent/ConfigState")<ConfigState, Service>() {}

/** The fields that show on the card: they may be left alone, but not emptied (B-CFG-8). */
const identity = ["name", "description"] as const

const refused = (issues: AgentConfig.InvalidConfig["issues"]): ExtensionError =>
  new ExtensionError({
    status: 400,
    message: issueList.text(
      issues.map(({ message, path }) => issueList.issue("value_error", path === "" ? [] : [path], message))
    )
  })

const withoutBlanks = (
  update: A2a.JsonObject,
  config: AgentConfig.AgentConfig
): Effect.Effect<void, ExtensionError> => {
  const blank = identity.filter((field) => Object.hasOwn(update, field) && (config[field] ?? "").trim() === "")
  return blank.length === 0
    ? Effect.void
    : Effect.fail(refused(blank.map((path) => ({ path, message: "must be a string that is not blank" }))))
}

/**
 * A configuration of a class, nothing of which is set.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (config: AgentConfig.Any): Effect.Effect<Service> =>
  Effect.gen(function*() {
    const decode = AgentConfig.decoder(config)
    const secrets = AgentConfig.fields(config).filter(({ writeOnly }) => writeOnly).map(({ wire }) => wire)
    const listeners: Array<() => void> = []
    // a schema may take its time to decode, and no update may be lost to another meanwhile
    const turn = yield* Effect.makeSemaphore(1)
    const initial: A2a.JsonObject = {}
    const defaults = config === AgentConfig.AgentConfig
      ? { ...(yield* Effect.orDie(decode(initial))) as AgentConfig.AgentConfig }
      : undefined
    let set = initial
    let card: ReturnType<Service["card"]> = { name: undefined, description: undefined }

    const update = (given: A2a.JsonObject): Effect.Effect<void, ExtensionError> =>
      Effect.gen(function*() {
        const merged = yield* Effect.mapError(
          json.copy({ ...set, ...given }),
          ({ message }) => refused([{ path: "", message }])
        )
        const decoded: AgentConfig.AgentConfig = yield* Effect.mapError(decode(merged), ({ issues }) => refused(issues))
        yield* withoutBlanks(given, decoded)
        // shown as it is understood, however it was written
        set = Object.hasOwn(merged, "timeout_seconds") ? { ...merged, timeout_seconds: decoded.timeoutSeconds } : merged
        card = { name: decoded.name ?? undefined, description: decoded.description ?? undefined }
        for (const listener of listeners) listener()
      })

    return {
      set: (given) => turn.withPermits(1)(update(given)),
      current: Effect.suspend(() =>
        // of the fields that all have nothing is to be learned by decoding them again, and none holds an object
        defaults !== undefined && set === initial
          ? Effect.succeed(new AgentConfig.AgentConfig(defaults, { disableValidation: true }))
          // what was set has been decoded before it was kept
          : Effect.orDie(decode(set))
      ),
      readback: Effect.sync(() => {
        const shown: Record<string, unknown> = structuredClone(set)
        for (const name of secrets) if (Object.hasOwn(shown, name)) shown[name] = "***"
        return shown
      }),
      card: () => card,
      onChange: (listener) => void listeners.push(listener)
    }
  })

/**
 * A configuration of a class, nothing of which is set.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (config: AgentConfig.Any): Layer.Layer<ConfigState> => Layer.effect(ConfigState, make(config))
