import * as Effect from "effect/Effect"
import { writer } from "./extensionAnswer.ts"
import type { Served } from "./extensionHandlers.ts"
import { reader, type Sent } from "./extensionRequest.ts"
import { inScope } from "./inScope.ts"

/** Compiles the whole of an operation: its request read, its handler run in a scope of its own, its answer written as JSON. */
export const answer = (served: Served, what: string): (sent: Sent) => Effect.Effect<string, unknown> => {
  const read = reader(served.operation, served.handlers, what)
  const write = writer(served.operation, `the answer of ${what}`)
  return (sent) =>
    // handlers and schemas have what they need from their layers, and from the server that runs the call
    Effect.flatMap(read(sent), (call) => Effect.flatMap(inScope(call), write)) as Effect.Effect<string, unknown>
}
