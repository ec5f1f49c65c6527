import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import * as A2aV03 from "../src/A2aV03.ts"
import * as A2aV1 from "../src/A2aV1.ts"
import type * as A2aWire from "../src/A2aWire.ts"

const { constant, constantFrom, oneof, option, record, string } = FastCheck

/** A value of the usual shape, sometimes another. */
const often = <A>(usual: FastCheck.Arbitrary<A>): FastCheck.Arbitrary<unknown> =>
  oneof({ weight: 25, arbitrary: usual as FastCheck.Arbitrary<unknown> }, {
    weight: 1,
    arbitrary: constantFrom<unknown>("", null, 0, true, [], {}, "x", -1)
  })

const sometimes = <A>(usual: FastCheck.Arbitrary<A>) => option(often(usual), { nil: undefined })

/** What is usually not there. */
const rarely = <A>(value: FastCheck.Arbitrary<A>) =>
  oneof({ weight: 20, arbitrary: constant(undefined) }, { weight: 1, arbitrary: value })

const text = string({ minLength: 1, maxLength: 4 })
const metadata = record({ a: oneof(text, constant(null)) })

const params = (words: { readonly roles: ReadonlyArray<string>; readonly waits: string; readonly kinds: boolean }) => {
  const ofPart = <A>(value: FastCheck.Arbitrary<A>) => words.kinds ? rarely(value) : sometimes(value)
  return record({
    message: often(record({
      messageId: often(text),
      role: often(constantFrom(...words.roles)),
      parts: often(FastCheck.array(
        record({
          kind: words.kinds ? often(constant("text")) : rarely(constant("text")),
          text: often(text),
          mediaType: ofPart(text),
          filename: ofPart(text)
        }),
        { minLength: 1, maxLength: 2 }
      )),
      contextId: sometimes(text),
      taskId: sometimes(text),
      metadata: sometimes(metadata),
      context_id: rarely(text),
      extensions: rarely(constant(["urn:x"])),
      kind: words.kinds ? sometimes(constant("message")) : rarely(constant("message"))
    })),
    metadata: sometimes(metadata),
    configuration: sometimes(record({
      [words.waits]: sometimes(FastCheck.boolean()),
      historyLength: rarely(FastCheck.nat()),
      acceptedOutputModes: sometimes(constant(["text/plain"]))
    }))
  })
}

/** As a parser makes it: without what is not there. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** The same params in a spelling that only the schema reads: with a field more, which no wire knows. */
const unusual = (value: unknown): unknown => ({ ...value as object, unheardOf: 1 })

/** What came of reading: the params, or what is wrong with them. */
const outcome = (decoded: Effect.Effect<A2aWire.SendParams, A2aWire.A2aWireError>) =>
  Effect.match(decoded, {
    onFailure: ({ issues, stated }) => ({ issues, stated }),
    onSuccess: (read) => ({ read })
  })

const alike = (decode: A2aWire.Wire["decodeSend"]) => ([value]: readonly [unknown]) =>
  Effect.gen(function*() {
    expect(yield* outcome(decode(sent(value)))).toStrictEqual(yield* outcome(decode(unusual(sent(value)))))
  })

describe("messages of the usual shape are read as the schema reads them", () => {
  it.effect.prop(
    "on 0.3",
    [params({ roles: ["user", "agent"], waits: "blocking", kinds: true })],
    alike(A2aV03.decodeSend),
    { fastCheck: { numRuns: 500 } }
  )

  it.effect.prop(
    "on 1.0",
    [params({ roles: ["ROLE_USER", "ROLE_AGENT"], waits: "returnImmediately", kinds: false })],
    alike(A2aV1.decodeSend),
    { fastCheck: { numRuns: 500 } }
  )
})
