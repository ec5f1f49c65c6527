import * as RegexEngine from "@effect-agentenv/agent/RegexEngine"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import * as linear from "../src/internal/regex/linear.ts"
import { Refusal } from "../src/internal/regex/refusal.ts"
import { translate } from "../src/internal/regex/translate.ts"
import type { Node } from "../src/internal/regex/tree.ts"

/** A backtracking search, counted: every node that is tried at a place is a step. */
const search = (tree: Node, text: string): { readonly found: boolean; readonly steps: number } => {
  let steps = 0

  const match = (node: Node, at: number, then: (at: number) => boolean): boolean => {
    steps++
    switch (node._tag) {
      case "Set":
        return at < text.length && new RegExp(`^(?:${node.source})$`, "u").test(text[at]!) && then(at + 1)
      case "Assert": {
        const place = new RegExp(node.source, "uy")
        place.lastIndex = at
        return place.test(text) && then(at)
      }
      case "Seq": {
        const next = (i: number, at: number): boolean =>
          i === node.items.length ? then(at) : match(node.items[i]!, at, (at) => next(i + 1, at))
        return next(0, at)
      }
      case "Alt":
        return node.branches.some((branch) => match(branch, at, then))
      case "Group":
        return match(node.node, at, then)
      case "Repeat": {
        const turn = (count: number, at: number): boolean => {
          const more = () =>
            count < node.max &&
            match(node.node, at, (next) => (next > at || count < node.min) && turn(count + 1, next))
          const done = () => count >= node.min && then(at)
          return node.mode === "lazy" ? done() || more() : more() || done()
        }
        return turn(0, at)
      }
      case "Look": {
        const found = match(node.node, at, () => true)
        return found !== node.negative && then(at)
      }
      default:
        throw new Error(`no ${node._tag} here`)
    }
  }

  for (let at = 0; at <= text.length; at++) if (match(tree, at, () => true)) return { found: true, steps }
  return { found: false, steps }
}

const atom = FastCheck.constantFrom(
  "a",
  "b",
  "c",
  ".",
  "[ab]",
  "[^a]",
  "\\w",
  "^",
  "$",
  "\\b",
  "(?i:A)",
  "(?=a)",
  "(?!b)"
)
const count = FastCheck.constantFrom("", "", "", "?", "*", "+", "{2}", "{1,3}", "{,2}", "*?", "+?", "??")

const { pattern } = FastCheck.letrec<{ pattern: string; piece: string; sequence: string }>((tie) => ({
  piece: FastCheck.oneof(
    { maxDepth: 3, depthSize: "small" },
    FastCheck.tuple(atom, count).map((both) => both.join("")),
    FastCheck.tuple(tie("pattern"), count).map(([inner, count]) => `(?:${inner})${count}`)
  ),
  sequence: FastCheck.array(tie("piece"), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("")),
  pattern: FastCheck.array(tie("sequence"), { minLength: 1, maxLength: 2 }).map((branches) => branches.join("|"))
}))

const text = FastCheck.string({ unit: FastCheck.constantFrom("a", "a", "a", "b", "c", " ", "\n"), maxLength: 24 })

describe("a pattern's shape", () => {
  it.prop(
    "bounds the steps of a backtracking search, which finds what the engine finds",
    [pattern, text],
    ([pattern, text]) => {
      const translation = translate(pattern)
      if (translation instanceof Refusal) return
      const most = linear.steps(translation.tree, text.length)
      FastCheck.pre(most <= 50_000)
      const { found, steps } = search(translation.tree, text)
      expect(steps).toBeLessThanOrEqual(most)
      expect(new RegExp(translation.written.source, translation.written.flags).test(text)).toBe(found)
    },
    { fastCheck: { numRuns: 3_000 } }
  )

  it("proves nothing about loops that multiply", () => {
    for (const pattern of ["^(a|aa)+$", "\\b(?:a*b?)*c", "x.*.*.*a", "a\\s+$", "\\b(?:(?:a|b)|ab)*c"]) {
      const translation = translate(pattern)
      if (translation instanceof Refusal) return expect.fail(pattern)
      expect(linear.steps(translation.tree, 2_000)).toBeGreaterThan(1_000_000)
    }
  })

  it.scoped("what is proven is answered on the spot, in no time", () =>
    Effect.gen(function*() {
      const { decide } = yield* RegexEngine.make({ budget: "1 minute" })
      const patterns = ["(?i)\\bparcel\\b", "^hello", "lost|stolen|late", "(?P<n>a)(?P=n)", "\\d{4}-\\d{2}-\\d{2}"]
      const expressions = patterns.map((pattern) => ({ _tag: "Regex" as const, pattern }))
      const message = "hello, where is my Parcel of 2026-01-31?"
      yield* decide(message, expressions)
      const begun = performance.now()
      // a worker would need a turn of the event loop for each
      yield* Effect.replicateEffect(decide(message, expressions), 1_000)
      expect(performance.now() - begun).toBeLessThan(1_000)
    }))
})
