/**
 * The three methods by which a rollout seeds, resets and reads an environment: `data/reset`, `data/add`, `data/get`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Grant from "./Grant.ts"
import * as Part from "./Part.ts"

/**
 * The JSON-RPC methods of the data plane (`B-ENV-2`).
 *
 * @since 0.1.0
 * @category models
 */
export const Method = { Reset: "data/reset", Add: "data/add", Get: "data/get" } as const

/**
 * One of the methods of the data plane.
 *
 * @since 0.1.0
 * @category models
 */
export type Method = (typeof Method)[keyof typeof Method]

/**
 * The order in which a card lists the methods that an environment implements (`B-ENV-2`).
 *
 * @since 0.1.0
 * @category models
 */
export const METHODS: ReadonlyArray<Method> = [Method.Reset, Method.Add, Method.Get]

/**
 * The `error.data.code` of a `-32000`, by the method whose handler failed (`B-ENV-3`).
 *
 * @since 0.1.0
 * @category models
 */
export const ErrorCode = { "data/reset": "reset_failed", "data/add": "add_failed", "data/get": "get_failed" } as const

/**
 * The `error.data.code` of a failed handler.
 *
 * @since 0.1.0
 * @category models
 */
export type ErrorCode = (typeof ErrorCode)[Method]

/**
 * Reads the parameters of `data/reset`: our optional integer `seed`, from which the environment's randomness restarts.
 * Unknown keys are ignored, as every other implementation does with the seed, and `null` is no seed.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ResetParams = Schema.Struct({ seed: Schema.optionalWith(Schema.Int, { nullable: true }) })

/**
 * The parameters of `data/reset`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ResetParams extends Schema.Schema.Type<typeof ResetParams> {}

/**
 * Reads the parameters of `data/add`: one part at least (`B-ENV-4`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const AddParams = Schema.Struct({ parts: Schema.NonEmptyArray(Part.Part) })

/**
 * The parameters of `data/add`.
 *
 * @since 0.1.0
 * @category models
 */
export interface AddParams extends Schema.Schema.Type<typeof AddParams> {}

/**
 * Reads the parameters of `data/get`: where the environment may put objects, if anywhere (`B-DOBJ-2`). A `null` grant is none;
 * the grant itself is closed, and a failure to read it never holds its secrets once `WireSchema.formatIssues` wrote it
 * (`B-DOBJ-3`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const GetParams = Schema.Struct({
  write_namespace: Schema.optionalWith(Grant.WriteNamespaceGrant, { nullable: true })
})

/**
 * The parameters of `data/get`.
 *
 * @since 0.1.0
 * @category models
 */
export interface GetParams extends Schema.Schema.Type<typeof GetParams> {}

/**
 * Reads the result of `data/reset` and `data/add`: an empty object (`B-ENV-4`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const EmptyResult = Schema.Struct({})

/**
 * Reads the result of `data/get`: the parts that hold the state, which may be none (`B-ENV-4`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const GetResult = Schema.Struct({ parts: Schema.Array(Part.Part) })

/**
 * The result of `data/get`.
 *
 * @since 0.1.0
 * @category models
 */
export interface GetResult extends Schema.Schema.Type<typeof GetResult> {}

/**
 * Reads the `data` of a data plane's error: why parameters were refused, or which handler failed (`B-ENV-3`).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ErrorData = Schema.Struct({
  code: Schema.optional(Schema.String),
  detail: Schema.optional(Schema.Unknown)
})

/**
 * The `data` of a data plane's error.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorData extends Schema.Schema.Type<typeof ErrorData> {}
