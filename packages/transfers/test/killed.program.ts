/* Downloads, and stops after the first MiB for as long as it lives: see Killed.test.ts. */
import { ReadObject } from "@effect-agentenv/protocol/Grant"
import { Transfers } from "@effect-agentenv/transfers"
import { Effect, Schema } from "effect"

const env = (name: string): string => process.env[name] ?? ""

const program = Effect.gen(function*() {
  const transfers = yield* Transfers.Transfers
  const object = yield* Schema.decode(Schema.parseJson(ReadObject))(env("OBJECT"))
  yield* transfers.download(object, env("TARGET"), {
    onProgress: () => Effect.zipRight(Effect.sync(() => process.stdout.write("begun\n")), Effect.never)
  })
})

Effect.runFork(Effect.provide(program, Transfers.layer({ ca: env("CA") })))
setInterval(() => {}, 1000)
