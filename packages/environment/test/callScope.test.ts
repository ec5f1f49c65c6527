import { Environment, Tool } from "@effect-agentenv/environment"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Scope } from "effect"
import { KilnError, wire } from "./support.ts"

const Borrow = Tool.make("borrow", { description: "Borrows a lamp." })
const Desk = Environment.make("desk", { tools: [Borrow] })

/** A desk whose tool is `handler`. */
const desk = (handler: Effect.Effect<void, Error, Scope.Scope>) =>
  wire(Desk).pipe(Effect.provide(Desk.toLayer(Effect.succeed({ tools: { borrow: () => handler } }))))

describe("the scope of a call", () => {
  it.scoped("is closed before the call is answered, last in first out, with the handler's exit", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const acquire = (name: string) =>
        Effect.acquireRelease(Effect.void, (_, exit) => Effect.sync(() => log.push(`${name}: ${exit._tag}`)))
      const { tool } = yield* desk(
        Effect.zipRight(Effect.all([acquire("lamp"), acquire("kettle")]), Effect.fail(new KilnError("too dark")))
      )
      expect((yield* tool("borrow")).isError).toBe(true)
      expect(log).toEqual(["kettle: Failure", "lamp: Failure"])
    }))

  it.scoped("is one of its own for each call", () =>
    Effect.gen(function*() {
      let open = 0
      let released = 0
      const { tool } = yield* desk(
        Effect.acquireRelease(
          Effect.sync(() => {
            open++
          }),
          () =>
            Effect.sync(() => {
              open--
              released++
            })
        )
      )
      yield* Effect.all([tool("borrow"), tool("borrow"), tool("borrow")], { concurrency: "unbounded" })
      expect({ open, released }).toEqual({ open: 0, released: 3 })
    }))

  it.scoped("ends the fibers that were forked into it", () =>
    Effect.gen(function*() {
      const [started, interrupted] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const watch = Deferred.succeed(started, void 0).pipe(
        Effect.zipRight(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(interrupted, void 0))
      )
      const { tool } = yield* desk(Effect.zipRight(Effect.forkScoped(watch), Deferred.await(started)))
      yield* tool("borrow")
      yield* Deferred.await(interrupted)
    }))

  it.scoped("is closed when the call is interrupted", () =>
    Effect.gen(function*() {
      const [started, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const { tool } = yield* desk(
        Effect.addFinalizer(() => Deferred.succeed(released, void 0)).pipe(
          Effect.zipRight(Deferred.succeed(started, void 0)),
          Effect.zipRight(Effect.never)
        )
      )
      const running = yield* Effect.fork(tool("borrow"))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(running)
      yield* Deferred.await(released)
    }))

  it.scoped("releases at once what comes to it when the call has ended", () =>
    Effect.gen(function*() {
      const late = yield* Deferred.make<Scope.Scope>()
      const { tool } = yield* desk(Effect.flatMap(Effect.scope, (scope) => Deferred.succeed(late, scope)))
      yield* tool("borrow")
      let released = false
      yield* Scope.addFinalizer(
        yield* Deferred.await(late),
        Effect.sync(() => {
          released = true
        })
      )
      expect(released).toBe(true)
    }))

  it.scoped("takes a child that ends with it", () =>
    Effect.gen(function*() {
      let released = false
      const { tool } = yield* desk(
        Effect.scope.pipe(
          Effect.flatMap((scope) => Scope.fork(scope, scope.strategy)),
          Effect.flatMap((child) =>
            Scope.addFinalizer(
              child,
              Effect.sync(() => {
                released = true
              })
            )
          )
        )
      )
      yield* tool("borrow")
      expect(released).toBe(true)
    }))
})

describe("data/get", () => {
  it.scoped("answers plain data parts as they are, and others by their schema", () =>
    Effect.gen(function*() {
      class Shelf {
        readonly lamp = 1
        toJSON() {
          return "hidden"
        }
      }
      const parts = [
        { kind: "data" as const, data: { lamp: 1, none: undefined } },
        { kind: "data" as const, data: { lamp: 1 }, extra: "dropped" },
        { kind: "data" as const, data: new Shelf() as unknown as Record<string, unknown> }
      ]
      const Empty = Environment.make("empty")
      for (const part of parts) {
        const live = Empty.toLayer(Effect.succeed({ get: Effect.succeed([part]) }))
        const { rpc } = yield* Effect.provide(wire(Empty), live)
        expect((yield* rpc("data/get")).result).toEqual({ parts: [{ kind: "data", data: { lamp: 1 } }] })
      }
    }))
})
