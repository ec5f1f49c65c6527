import type { FilePart, Part } from "@effect-agentenv/protocol/Part"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Episode from "../Episode.ts"
import { EpisodeError } from "../EpisodeError.ts"

const decodeJson = Schema.decodeUnknownOption(Schema.parseJson())

const saysJson = ({ mimeType, name }: FilePart["file"]): boolean =>
  mimeType === undefined
    ? name === undefined || name.toLowerCase().endsWith(".json")
    : /^[^;]*[/+]json\s*(;|$)/i.test(mimeType)

const fileData = ({ file }: FilePart): Option.Option<unknown> =>
  "bytes" in file && saysJson(file)
    ? Option.flatMap(Option.getRight(Encoding.decodeBase64String(file.bytes)), decodeJson)
    : Option.none()

/** What the first part that holds data holds. */
const stateOf = (parts: ReadonlyArray<Part>): Option.Option<unknown> => {
  for (const part of parts) {
    const data = part.kind === "data" ? Option.some(part.data) : part.kind === "file" ? fileData(part) : Option.none()
    if (Option.isSome(data)) return data
  }
  return Option.none()
}

const normalized = (verdict: Episode.Verdict): { readonly score: number; readonly detail?: string | undefined } =>
  typeof verdict === "object"
    ? { ...verdict, score: Number(verdict.score) }
    : { score: Number(verdict) }

/** @internal */
export const make = <S, I, RS, A, R>(options: {
  readonly data: Schema.Schema<S, I, RS>
  readonly weight?: number | undefined
  readonly score: (
    state: S,
    context: Episode.Played<A>
  ) => Episode.Verdict | Effect.Effect<Episode.Verdict, unknown, R>
}): Episode.Scorer<A, RS | R> => {
  const weight = options.weight ?? 1
  const decode = Schema.decodeUnknown(options.data)
  return {
    weight,
    judge: (scorer, context) => {
      const fail = (reason: string, cause?: unknown) =>
        Effect.fail(
          new EpisodeError({ step: "score", scorer, reason, ...(cause === undefined ? {} : { cause }) })
        )
      return Effect.gen(function*() {
        const found = stateOf(context.parts)
        if (Option.isNone(found)) return yield* fail("the export holds neither a data part nor an inline JSON file")
        const state = yield* Effect.catchAll(
          decode(found.value),
          (error) => fail(`the export isn't what it scores: ${WireSchema.formatIssues(error)}`)
        )
        const verdict = yield* Effect.suspend(() => {
          const said = options.score(state, context)
          return Effect.isEffect(said) ? said : Effect.succeed(said)
        }).pipe(
          Effect.catchAllCause((cause) =>
            Cause.isInterruptedOnly(cause) ? Effect.interrupt : fail("it failed", Cause.squash(cause))
          )
        )
        const { detail, score } = normalized(verdict)
        if (!(score >= 0 && score <= 1)) return yield* fail(`its score is ${score}, which is not within 0..1`)
        return { score, weight, ...(detail === undefined ? {} : { detail }) }
      })
    }
  }
}

/** @internal */
export const mean = (scores: ReadonlyArray<Episode.Score>): number => {
  const weight = scores.reduce((sum, each) => sum + each.weight, 0)
  return weight > 0 ? scores.reduce((sum, each) => sum + each.score * each.weight, 0) / weight : 0
}
