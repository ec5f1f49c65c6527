/**
 * Metadata maps of A2A's messages, artifacts, tasks and requests: putting extensions' fragments together, the request keys that
 * protoLabs' agents understand, and the trace that a request belongs to.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseIssue } from "effect/ParseResult"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import { found } from "./internal/issues.ts"
import { isObject, own } from "./internal/json.ts"
import * as Read from "./Read.ts"

/**
 * A metadata map.
 *
 * @since 0.1.0
 * @category models
 */
export interface Metadata {
  readonly [key: string]: unknown
}

/**
 * Puts fragments together: of a key that several have, the last one's value stays, whole.
 *
 * @since 0.1.0
 * @category combinators
 */
export const merge = (...fragments: ReadonlyArray<Metadata>): Metadata =>
  // entries are defined, not assigned: a key `__proto__` stays a key
  Object.fromEntries(fragments.flatMap((fragment) => Object.entries(fragment)))

/**
 * Keys of a request's metadata that are taken: what is asked for, and what an agent's declarations are echoed as. A request's own
 * metadata wins over its message's.
 *
 * @since 0.1.0
 * @category constructors
 */
export const requestKeys: {
  readonly skillHint: string
  readonly targets: string
  readonly trace: string
  readonly costSkill: string
  readonly confidenceSkill: string
  readonly effectDomainSkill: string
  readonly blastRadius: string
  readonly hitlMode: string
  readonly hitlVetoTtl: string
} = {
  skillHint: "skillHint",
  targets: "targets",
  trace: "a2a.trace",
  costSkill: "x-cost-skill",
  confidenceSkill: "x-confidence-skill",
  effectDomainSkill: "x-effect-domain-skill",
  blastRadius: "x-blast-radius",
  hitlMode: "x-hitl-mode",
  hitlVetoTtl: "x-hitl-veto-ttl-ms"
}

/**
 * The trace that a request belongs to. Hubs say `callerAgent`, `skill` and `project` beside it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Trace = Schema.Struct({
  traceId: Schema.NonEmptyString,
  spanId: Schema.optionalWith(Schema.NonEmptyString, { exact: true })
})

/**
 * The value of a `Trace`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Trace extends Schema.Schema.Type<typeof Trace> {}

const validateTrace = ParseResult.validateEither(Trace)

const malformedTrace = (issue: ParseIssue) => {
  const [first] = found(issue)
  return new Read.Malformed({
    concept: requestKeys.trace,
    path: [requestKeys.trace, ...first?.path ?? []],
    reason: first?.reason ?? "is not valid"
  })
}

/**
 * Reads the trace from a request's or a message's metadata.
 *
 * @since 0.1.0
 * @category combinators
 */
export const readTrace = (metadata: unknown): Read.Read<Trace> => {
  const value = isObject(metadata) ? own(metadata, requestKeys.trace) : undefined
  if (value === undefined || value === null) return Read.absent
  const result = validateTrace(value)
  return result._tag === "Right" ? Read.present(result.right, "metadata") : malformedTrace(result.left)
}

/**
 * The metadata that continues the current span's trace at a peer; empty outside of spans.
 *
 * @since 0.1.0
 * @category constructors
 */
export const currentTrace: Effect.Effect<Metadata> = Effect.map(
  Effect.option(Effect.currentParentSpan),
  Option.match({
    onNone: () => ({}),
    onSome: ({ spanId, traceId }) => ({ [requestKeys.trace]: { traceId, spanId } })
  })
)

/**
 * Continues the trace that a request's metadata names; without one, or with a malformed one, the effect runs as it is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const continueTrace = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  metadata: unknown
): Effect.Effect<A, E, R> => {
  const read = readTrace(metadata)
  if (!Read.isPresent(read) || read.value.spanId === undefined) return effect
  return Effect.withParentSpan(
    effect,
    Tracer.externalSpan({ traceId: read.value.traceId, spanId: read.value.spanId })
  ) as Effect.Effect<A, E, R>
}
