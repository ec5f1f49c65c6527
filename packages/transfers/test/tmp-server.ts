import { ObjectStore } from "@effect-agentenv/testing"
import { WriteNamespaceGrant } from "@effect-agentenv/protocol/Grant"
import { Effect, Schema } from "effect"
const program = Effect.gen(function*() {
  const store = yield* ObjectStore.ObjectStore
  const n = Schema.encodeSync(WriteNamespaceGrant)(yield* store.writeNamespace("ns", { maxObjects: 100000 }))
  console.log(JSON.stringify({ n, ca: store.ca }))
  yield* Effect.never
})
Effect.runPromise(Effect.provide(program, ObjectStore.layer))
