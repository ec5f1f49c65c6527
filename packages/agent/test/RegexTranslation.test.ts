import * as RegexEngine from "@effect-agentenv/agent/RegexEngine"
import { RegexBudgetExceeded } from "@effect-agentenv/agent/RegexError"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Layer } from "effect"
import cases from "../../../interop/regex/cases.json" with { type: "json" }

interface Case {
  readonly kind: string
  readonly pattern: string
  readonly texts: ReadonlyArray<string>
  readonly answers?: ReadonlyArray<boolean>
  readonly invalid?: string
}

const regex = (pattern: string) => ({ _tag: "Regex" as const, pattern })

const search = (pattern: string, text: string) =>
  Effect.map(
    Effect.flatMap(RegexEngine.RegexEngine, (engine) => engine.decide(text, [regex(pattern)])),
    ([answer]) => answer
  )

const refusal = (pattern: string) =>
  Effect.flip(Effect.flatMap(RegexEngine.RegexEngine, (engine) => engine.check(pattern)))

const engine = RegexEngine.layerInProcess()

describe("Python's patterns", () => {
  it.layer(engine)((it) => {
    for (const { answers, invalid, kind, pattern, texts } of cases as ReadonlyArray<Case>) {
      it.effect(`B-TRIG-5: finds what Python finds: ${kind}`, () =>
        Effect.gen(function*() {
          if (invalid !== undefined) {
            expect((yield* refusal(pattern)).message).toContain("invalid regex")
            return
          }
          expect(yield* Effect.forEach(texts, (text) => search(pattern, text))).toEqual(answers)
        }))
    }

    it.effect("R-4: classes, boundaries, the end and the dot are Python's", () =>
      Effect.gen(function*() {
        expect(yield* search("^\\w+$", "naïve")).toBe(true)
        expect(yield* search("caf\\b", "café")).toBe(false)
        expect(yield* search("end$", "end\n")).toBe(true)
        expect(yield* search("a.b", "a\rb")).toBe(true)
      }))

    it.effect("B-TRIG-5: an invalid pattern says so, with what is wrong and where, and not with itself", () =>
      Effect.gen(function*() {
        expect((yield* refusal("secret(")).message).toBe("invalid regex: missing ) at position 7")
        expect((yield* refusal("a**")).message).toBe("invalid regex: multiple repeat at position 2")
      }))

    const unsupported: ReadonlyArray<readonly [pattern: string, construct: string, position: number]> = [
      ["a(?(1)b|c)", "a conditional", 1],
      ["ab(?R)", "recursion", 2],
      ["(a)(?1)", "recursion", 3],
      ["(?P<n>a)(?&n)", "recursion", 8],
      ["(?:abc){e<=1}", "a fuzzy constraint", 7],
      ["a\\N{BULLET}", "a character by its name", 1],
      ["\\X", "a grapheme (\\X)", 0],
      ["\\L<names>", "a named list", 0],
      ["a\\Kb", "\\K", 1],
      ["(?V1)[a--b]", "the flag V1", 0],
      ["(?w)\\b", "the flag w", 0],
      ["(?r)a", "the flag r", 0],
      ["a(*SKIP)b", "the verb SKIP", 1],
      ["(a)?\\1", "a reference to a group that may have no text", 6],
      ["(?:(a)|b)+\\1", "a reference to a group that may have no text", 12],
      ["(?P<n>a)(?P<n>b)(?P=n)", "a reference to one of several groups", 19],
      ["(a)(?i)B\\1", "a reference that ignores case in a pattern that does not everywhere", 10],
      ["(?>(?:a|b?)*)c", "an atomic loop of what may be empty", 11],
      ["(?i)\\p{Lu}", "a property of case where case is ignored", 4],
      ["\\p{InBasicLatin}", "a property of this name", 0],
      ["[^\\w\\W]", "a set without a property and its complement", 0],
      ["[^a-z]|(?i)b", "a negated set of letters with case where case is ignored in a part", 0]
    ]
    for (const [pattern, construct, position] of unsupported) {
      it.effect(`refuses ${construct} by name and position: ${pattern}`, () =>
        Effect.gen(function*() {
          const error = yield* refusal(pattern)
          expect(error).toMatchObject({ _tag: "UnsupportedRegex", construct, position })
          expect(error.message).toContain("invalid regex")
        }))
    }

    it.effect("B-TRIG-9: takes 4,096 characters, which may be two units each, and not one more", () =>
      Effect.gen(function*() {
        const most = "\u{1f600}".repeat(4_096)
        const { check } = yield* RegexEngine.RegexEngine
        yield* check(most)
        expect((yield* refusal(`${most}a`)).message).toContain("invalid regex: over 4096 characters")
        expect((yield* refusal("(".repeat(1_000_000))).message).toContain("over 4096 characters")
      }))

    it.effect("groups nested thousands deep are refused, and do not overflow", () =>
      Effect.gen(function*() {
        for (const open of ["(", "(?:", "(?=", "(?>", "(?i:", "(?|", "(?<n>"]) {
          const depth = Math.floor(4_096 / (open.length + 1))
          expect((yield* refusal(open.repeat(depth) + ")".repeat(depth)))._tag).toBe("UnsupportedRegex")
          expect((yield* refusal(open.repeat(depth)))._tag).toBe("UnsupportedRegex")
        }
      }))

    it.effect("answers or refuses whatever it is given", () =>
      Effect.gen(function*() {
        const { check } = yield* RegexEngine.RegexEngine
        const pieces = FastCheck.constantFrom(
          ..."ab1 \n^$.|?*+{},()[]\\-:=!<>#&_",
          "(?",
          "(?P<",
          "(?i",
          "\\p{",
          "[:alpha:]",
          "\\x",
          "{2}",
          "\ud83d",
          "\u{1f600}",
          "__proto__"
        )
        const patterns = FastCheck.array(pieces, { maxLength: 24 }).map((some) => some.join(""))
        yield* Effect.forEach(FastCheck.sample(patterns, 2_000), (pattern) => Effect.either(check(pattern)))
      }))
  })

  it.effect("B-TRIG-15: a decision in process stops at its budget too", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(search("^(a|aa)+$", `${"a".repeat(60)}b`))
      expect(error).toBeInstanceOf(RegexBudgetExceeded)
      expect(error.message).toContain("decision budget")
    }).pipe(Effect.provide(RegexEngine.layerInProcess({ budget: "10 millis" }))))

  it.effect("B-TRIG-15: a budget that is not finite and positive is refused", () =>
    Effect.gen(function*() {
      for (const budget of [0, -1, NaN, Infinity, "Infinity", true, "soon", {}] as ReadonlyArray<any>) {
        for (const layer of [RegexEngine.layer, RegexEngine.layerInProcess]) {
          const error = yield* Effect.flip(Effect.scoped(Layer.build(layer({ budget }))))
          expect(error._tag).toBe("InvalidRegexBudget")
        }
      }
    }))
})
