import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

// The fibers of requests that a server runs through the platform's router, kept by the fiber itself, so that a listener
// behind the router can take its own out: a listener's calls are ended, and answered, by their layer.
const sets = new WeakMap<Fiber.RuntimeFiber<unknown, unknown>, Set<Fiber.RuntimeFiber<unknown, unknown>>>()

/** Takes a request's fiber out of those that the server interrupts itself. */
export const leaveToListeners = (fiber: Fiber.RuntimeFiber<unknown, unknown>): void => {
  sets.get(fiber)?.delete(fiber)
}

/** The requests of one server, to be interrupted and awaited when it closes. */
export interface Requests {
  readonly track: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly interrupt: Effect.Effect<void>
}

export const make = (): Requests => {
  const running = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
  return {
    track: (self) =>
      Effect.withFiberRuntime((fiber) => {
        running.add(fiber)
        sets.set(fiber, running)
        fiber.addObserver(() => running.delete(fiber))
        return self
      }),
    interrupt: Effect.suspend(() => Fiber.interruptAll(Array.from(running)))
  }
}
