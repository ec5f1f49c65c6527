// Our triggers as a program that is told what to do: a line of JSON in, a line of JSON out. `interop/peers/python/triggers.py` is its twin.
import * as RegexEngine from "@effect-agentenv/agent/RegexEngine"
import * as Triggers from "@effect-agentenv/agent/Triggers"
import * as TriggersV1 from "@effect-agentenv/protocol/extensions/TriggersV1"
import { Effect, Layer, Schema } from "effect"
import { createInterface } from "node:readline"

const decodings = {
  register: Schema.decodeUnknown(TriggersV1.RegisterRequest, { onExcessProperty: "error" }),
  decide: Schema.decodeUnknown(TriggersV1.DecideRequest, { onExcessProperty: "error" })
}

/** What a step comes to: `{ value }`, or `{ status, message }`. */
const perform = ([operation, payload]) =>
  Effect.flatMap(Triggers.Triggers, (triggers) =>
    operation === "state"
      ? triggers.state
      : Effect.flatMap(decodings[operation](payload), (request) => triggers[operation](request))).pipe(
      Effect.map((value) => ({ value })),
      Effect.catchTags({
        ParseError: ({ message }) => Effect.succeed({ status: 400, message }),
        ExtensionError: ({ message, status }) => Effect.succeed({ status, message })
      })
    )

const script = (steps) => Effect.provide(Effect.forEach(steps, perform), Triggers.layerMemory)

/** Patient with a busy machine, but for those scripts that are to exhaust it. */
const engine = (budget) => Effect.map(Layer.build(RegexEngine.layer({ budget })), (context) => Effect.provide(context))

await Effect.gen(function*() {
  const [patient, hasty] = yield* Effect.all([engine("20 seconds"), engine("1 second")])
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  while (true) {
    const { done, value } = yield* Effect.promise(() => lines.next())
    if (done) return
    const { hastily, steps } = JSON.parse(value)
    const answers = yield* (hastily ? hasty : patient)(script(steps))
    process.stdout.write(`${JSON.stringify(answers)}\n`)
  }
}).pipe(Effect.scoped, Effect.runPromise)
