import * as Skills from "@effect-agentenv/agent/Skills"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"

const skill = (name: string, skillMd?: string) => ({ name, description: `about ${name}`, skillMd })

const layer = Skills.layer([{ name: "built-in", description: "comes with the agent" }])

const taken = { status: 409, message: "name: a skill of that name is already registered" }

describe("Skills", () => {
  it.effect("B-SKILL-4: a skill is recorded once its installation succeeds, and whoever listens is told", () =>
    Effect.gen(function*() {
      const skills = yield* Skills.Skills
      let changes = 0
      skills.onChange(() => {
        changes += 1
      })
      const answer = yield* skills.install(
        skill("glaze", "# Glaze\n"),
        Effect.sync(() => {
          expect(skills.installed()).toEqual([])
          return "installed"
        })
      )
      expect(answer).toBe("installed")
      expect(skills.installed()).toEqual([{ name: "glaze", description: "about glaze", skillMd: "# Glaze\n" }])
      expect(changes).toBe(1)
    }).pipe(Effect.provide(layer)))

  it.effect("B-SKILL-5, B-SKILL-7: the list has the definition's skills too, tasks get only what was installed, in order", () =>
    Effect.gen(function*() {
      const skills = yield* Skills.Skills
      yield* skills.install(skill("wheel"), Effect.void)
      yield* skills.install(skill("glaze"), Effect.void)
      expect(yield* skills.list).toEqual({
        "built-in": { description: "comes with the agent" },
        wheel: { description: "about wheel" },
        glaze: { description: "about glaze" }
      })
      expect(skills.installed().map(({ name }) => name)).toEqual(["wheel", "glaze"])
    }).pipe(Effect.provide(layer)))

  it.effect("B-SKILL-6: a name that is there, installed or of the definition, is 409 and nothing is run", () =>
    Effect.gen(function*() {
      const skills = yield* Skills.Skills
      yield* skills.install(skill("glaze"), Effect.void)
      for (const name of ["glaze", "built-in"]) {
        expect(yield* Effect.flip(skills.install(skill(name), Effect.die("was run")))).toMatchObject(taken)
      }
    }).pipe(Effect.provide(layer)))

  it.effect("B-SKILL-6: while a name is being installed a second installation is 409, and another name's is not", () =>
    Effect.gen(function*() {
      const skills = yield* Skills.Skills
      const gate = yield* Deferred.make<void>()
      const first = yield* Effect.fork(skills.install(skill("glaze"), Deferred.await(gate)))
      yield* Effect.yieldNow()
      expect(yield* Effect.flip(skills.install(skill("glaze"), Effect.die("was run")))).toMatchObject({
        status: 409,
        message: "name: a skill of that name is being installed"
      })
      yield* skills.install(skill("wheel"), Effect.void)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      expect(skills.installed().map(({ name }) => name)).toEqual(["wheel", "glaze"])
    }).pipe(Effect.provide(layer)))

  it.effect("B-SKILL-4: a failed, crashed or interrupted installation leaves nothing, and the name free", () =>
    Effect.gen(function*() {
      const skills = yield* Skills.Skills
      expect(yield* Effect.flip(skills.install(skill("glaze"), Effect.fail("no clay")))).toBe("no clay")
      expect(Exit.isFailure(yield* Effect.exit(skills.install(skill("glaze"), Effect.die("broken"))))).toBe(true)
      const fiber = yield* Effect.fork(skills.install(skill("glaze"), Effect.never))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      expect(skills.installed()).toEqual([])
      yield* skills.install(skill("glaze"), Effect.void)
      expect(skills.installed()).toHaveLength(1)
    }).pipe(Effect.provide(layer)))

  it.effect("B-TASK-14: what was handed out does not change with what is installed later, and can't be changed", () =>
    Effect.gen(function*() {
      const skills = yield* Skills.Skills
      yield* skills.install(skill("glaze"), Effect.void)
      const before = skills.installed()
      yield* skills.install(skill("wheel"), Effect.void)
      expect(before).toHaveLength(1)
      expect(Object.isFrozen(before[0])).toBe(true)
      const listed = yield* skills.list
      Object.assign(listed["glaze"]!, { description: "changed" })
      expect((yield* skills.list)["glaze"]).toEqual({ description: "about glaze" })
    }).pipe(Effect.provide(layer)))
})
