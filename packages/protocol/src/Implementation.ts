/**
 * The implementation of operations: the shape that gives handlers their argument types, the sentences that say what is wrong with
 * one, and the services it needs.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AnswerProblem, Settled, Str, Superfluous } from "./Check.ts"
import type * as Operation from "./Operation.ts"

/**
 * Operations by their key in the definition.
 *
 * @since 0.1.0
 * @category models
 */
export interface Operations {
  readonly [name: string]: Operation.Any
}

/**
 * Groups of operations that are implemented whole or not at all.
 *
 * @since 0.1.0
 * @category models
 */
export interface Features {
  readonly [name: string]: Operations
}

/**
 * Marks a shape: when an argument's type fails its constraint, the compiler puts the constraint in its place, and sentences about
 * the shape itself would hide what is wrong.
 *
 * @since 0.1.0
 * @category models
 */
export declare const ShapeTypeId: unique symbol

/**
 * @since 0.1.0
 * @category models
 */
export type ShapeTypeId = typeof ShapeTypeId

/**
 * Every key optional: whether all are there `ImplementationProblem` says, in a sentence.
 *
 * @since 0.1.0
 * @category models
 */
export type Shape<Ops extends Operations, Feats extends Features> =
  & { readonly [ShapeTypeId]?: never }
  & { readonly [K in keyof Ops]?: Operation.PartialHandler<Ops[K]> }
  & { readonly [F in keyof Feats]?: { readonly [K in keyof Feats[F]]?: Operation.PartialHandler<Feats[F][K]> } }

type SdkOwned<Ops extends Operations> = {
  readonly [K in keyof Ops]: Ops[K]["owner"] extends "sdk" ? K : never
}[keyof Ops]

type CoreVariant<Op extends Operation.Any> = {
  readonly [V in keyof Op["variants"]]: Op["variants"][V]["optional"] extends true ? never : V
}[keyof Op["variants"]]

/** Giving only optional variants of an operation of the library adds to it (B-TRAJ-14); anything else overrides it. */
type Adds<H, Op extends Operation.Any> = {} extends Op["variants"] ? false
  : Op["owner"] extends "sdk" ? [Extract<keyof H, CoreVariant<Op>>] extends [never] ? true : false
  : false

type Overridden<H, Ops extends Operations> = {
  readonly [K in SdkOwned<Ops>]: K extends keyof H ? Adds<H[K], Ops[K]> extends true ? never : K : never
}[SdkOwned<Ops>]

/** Operations of the library are overridden all together or not at all (B-REG-14). */
type Expected<H, Ops extends Operations> = [Overridden<H, Ops>] extends [never] ? Exclude<keyof Ops, SdkOwned<Ops>>
  : keyof Ops

type HandlerProblem<H, Op extends Operation.Any, Path extends string> = {} extends Op["variants"]
  ? AnswerProblem<H, Operation.Response<Op>, Error, Path>
  :
    | {
      readonly [V in keyof Op["variants"]]: V extends keyof H
        ? AnswerProblem<H[V], Operation.Response<Op>, Error, `${Path}.${Str<V>}`>
        : V extends CoreVariant<Op> ? Adds<H, Op> extends true ? never : `handler '${Path}.${Str<V>}' is missing`
        : never
    }[keyof Op["variants"]]
    | {
      readonly [V in keyof H]-?: V extends keyof Op["variants"] ? never : `'${Path}' has no variant '${Str<V>}'`
    }[keyof H]

type OperationsProblem<H, Ops extends Operations, Wanted, Path extends string> = Settled<
  {
    readonly [K in keyof Ops]: K extends keyof H
      ? undefined extends H[K] ? `handler '${Path}${Str<K>}' may be undefined`
      : HandlerProblem<H[K], Ops[K], `${Path}${Str<K>}`>
      : K extends Wanted ? `handler '${Path}${Str<K>}' is missing`
      : never
  }[keyof Ops]
>

/**
 * Everything that is wrong with an implementation: missing, half, superfluous and wrongly typed handlers (B-REG-12, 13, 14).
 *
 * @since 0.1.0
 * @category models
 */
export type ImplementationProblem<H, Ops extends Operations, Feats extends Features, Path extends string = ""> =
  typeof ShapeTypeId extends keyof H ? never
    : Settled<
      | OperationsProblem<H, Ops, Expected<H, Ops>, Path>
      | {
        readonly [F in keyof Feats]: F extends keyof H ?
            | OperationsProblem<NonNullable<H[F]>, Feats[F], keyof Feats[F], `${Path}${Str<F>}.`>
            | Superfluous<NonNullable<H[F]>, keyof Feats[F], "operation", `${Path}${Str<F>}.`>
          : never
      }[keyof Feats]
      | Superfluous<H, keyof Ops | keyof Feats, "operation", Path>
    >

/**
 * The requirements of all handlers, at whatever depth they sit (operation, variant, feature, a feature's variant).
 *
 * @since 0.1.0
 * @category models
 */
export type ContextOf<H> = ContextOfDepth<H, [0, 0, 0, 0, 0]>

type ContextOfDepth<H, Depth extends ReadonlyArray<0>> = Depth extends
  readonly [0, ...infer Rest extends ReadonlyArray<0>] ? H extends Effect.Effect<any, any, infer R> ? R
  : H extends (...args: any) => Effect.Effect<any, any, infer R> ? R
  : H extends object ? { readonly [K in keyof H]-?: ContextOfDepth<H[K], Rest> }[keyof H]
  : never
  : never

/**
 * The handler at a path of an implementation, `undefined` where none was given.
 *
 * @since 0.1.0
 * @category combinators
 */
export const at = (implementation: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (node, key) =>
      typeof node === "object" && node !== null && Object.hasOwn(node, key)
        ? (node as Record<string, unknown>)[key]
        : undefined,
    implementation
  )
