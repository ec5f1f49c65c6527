/**
 * Checks that answer `never` when all is well and sentences when it is not. An argument typed `Verdict<Check<X>> & X` fails with
 * those sentences in the compiler's first line, however large `X` is: the verdict stands first, since the compiler cuts long types
 * at their end. For authors of definitions (`Environment`, `Agent`, `Extension`) rather than of their implementations.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"

/**
 * What the compiler names when a definition or an implementation is wrong.
 *
 * @since 0.1.0
 * @category models
 */
export interface Problem<Sentences> {
  readonly "~problem": Sentences
}

/**
 * `unknown` when nothing is wrong, else everything that is, at once.
 *
 * @since 0.1.0
 * @category models
 */
export type Verdict<Problems> = [Problems] extends [never] ? unknown : Problem<Problems>

/**
 * A sentence with types in it.
 *
 * @since 0.1.0
 * @category models
 */
export type Sentence<Before, Actual, Between, Expected> = readonly [Before, Actual, Between, Expected]

/**
 * A key that can stand in a sentence.
 *
 * @since 0.1.0
 * @category models
 */
export type Str<K> = K extends string ? K : never

/**
 * `NoInfer` that leaves no trace in a message: in a result type it keeps the place where a call stands from being taken for an
 * argument, which would beat a type parameter's default.
 *
 * @since 0.1.0
 * @category models
 */
export type Settled<T, Constraint = unknown> = [T] extends [infer U extends Constraint] ? U : never

/**
 * Any effect, written so that nothing is inferred from it: beside `Effect<A>` it admits other results without widening the
 * literals of right ones.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnyEffect {
  readonly [Effect.EffectTypeId]: unknown
}

/**
 * What a handler answers and how it fails, held against what its definition says.
 *
 * @since 0.1.0
 * @category models
 */
export type AnswerProblem<H, Answer, Failure, Path extends string> = H extends Effect.Effect<infer A, infer E, any>
  ? ResultProblem<A, E, Answer, Failure, Path>
  : H extends (...args: any) => Effect.Effect<infer A, infer E, any> ? ResultProblem<A, E, Answer, Failure, Path>
  : never

type ResultProblem<A, E, Answer, Failure, Path extends string> =
  | ([A] extends [Answer] ? never
    : Sentence<`handler '${Path}' answers`, A, "where its definition says", Answer>)
  | ([E] extends [Failure] ? never
    : Sentence<
      `handler '${Path}' fails with`,
      Exclude<E, Failure>,
      "which is neither declared nor an Error; declared is",
      Exclude<Failure, Error>
    >)

/**
 * The names or URIs that stand twice in a list of definitions.
 *
 * @since 0.1.0
 * @category models
 */
export type Duplicate<List extends ReadonlyArray<unknown>, Key extends string, Seen = never> = List extends
  readonly [infer Head, ...infer Tail] ?
  Head extends { readonly [K in Key]: infer Id extends string }
    ? Id extends Seen ? `'${Id}' is there twice` : Duplicate<Tail, Key, Seen | Id>
  : never
  : never

/**
 * Keys of an implementation that its definition does not know.
 *
 * @since 0.1.0
 * @category models
 */
export type Superfluous<H, Known, Kind extends string, Path extends string = ""> = Settled<
  {
    readonly [K in keyof H]-?: K extends Known ? never : `'${Path}${Str<K>}' is no ${Kind} of the definition`
  }[keyof H]
>
