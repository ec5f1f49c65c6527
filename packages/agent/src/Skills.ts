/**
 * The skills of an agent.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ExtensionError } from "./ExtensionError.ts"
import type * as TaskRequest from "./TaskRequest.ts"

/**
 * What `Skills` does.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly install: <A, E, R>(
    skill: TaskRequest.Skill,
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ExtensionError, R>
  readonly installed: () => ReadonlyArray<TaskRequest.Skill>
  readonly list: Effect.Effect<Readonly<Record<string, { readonly description: string }>>>
  readonly onChange: (listener: () => void) => void
}

/**
 * The skills that were installed while the agent is served. Provide a layer of it to share it between an override and the server.
 *
 * - `install` runs `work` unless a skill of that name is there or being installed (409), and records the skill when it succeeds
 *   (B-SKILL-4, B-SKILL-6).
 * - `installed` is what tasks and the card get, in order (B-SKILL-7); `list` has the definition's skills too, by name (B-SKILL-5).
 * - `onChange` tells of every installation.
 *
 * @since 0.1.0
 * @category tags
 */
export class Skills extends Context.Tag("@effect-agentenv/agent/Skills")<Skills, Service>() {}

/**
 * What is known of a skill of the definition.
 *
 * @since 0.1.0
 * @category models
 */
export interface Identity {
  readonly name: string
  readonly description: string
}

/**
 * Skills in memory: those of the definition, none installed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (identity: ReadonlyArray<Identity>): Effect.Effect<Service> =>
  Effect.sync(() => {
    const listed = new Map(identity.map(({ description, name }) => [name, { description }]))
    const installing = new Set<string>()
    const listeners: Array<() => void> = []
    let installed: ReadonlyArray<TaskRequest.Skill> = []

    const record = ({ description, name, skillMd }: TaskRequest.Skill): void => {
      installed = [...installed, Object.freeze({ name, description, skillMd })]
      listed.set(name, { description })
      for (const listener of listeners) listener()
    }

    const reserve = (name: string): Effect.Effect<void, ExtensionError> =>
      Effect.suspend(() => {
        const problem = listed.has(name)
          ? "a skill of that name is already registered"
          : installing.has(name)
          ? "a skill of that name is being installed"
          : undefined
        if (problem !== undefined) return Effect.fail(new ExtensionError({ status: 409, message: `name: ${problem}` }))
        installing.add(name)
        return Effect.void
      })

    return {
      install: (skill, work) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.zipRight(
            reserve(skill.name),
            restore(work).pipe(
              Effect.tap(() => Effect.sync(() => record(skill))),
              Effect.ensuring(Effect.sync(() => installing.delete(skill.name)))
            )
          )
        ),
      installed: () => installed,
      list: Effect.sync(() => Object.fromEntries(Array.from(listed, ([name, skill]) => [name, { ...skill }]))),
      onChange: (listener) => void listeners.push(listener)
    }
  })

/**
 * Skills in memory: those of the definition, none installed.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (identity: ReadonlyArray<Identity>): Layer.Layer<Skills> => Layer.effect(Skills, make(identity))
