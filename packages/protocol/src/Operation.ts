/**
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { AnyEffect, Settled } from "./Check.ts"

/**
 * @since 0.1.0
 * @category models
 */
export const TypeId: unique symbol = Symbol.for("@effect-agentenv/protocol/Operation")

/**
 * @since 0.1.0
 * @category models
 */
export type TypeId = typeof TypeId

/**
 * The verb of an operation. `GET` reads its request from the query string, the others from a JSON body (B-MULTI-3).
 *
 * @since 0.1.0
 * @category models
 */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/**
 * Who answers an operation when nobody says otherwise: the author (`runtime`) or this library (`sdk`).
 *
 * @since 0.1.0
 * @category models
 */
export type Owner = "runtime" | "sdk"

/**
 * One way to write the request of an operation; an optional one is advertised exactly when its handler is given.
 *
 * @since 0.1.0
 * @category models
 */
export interface Variant<out Request extends Schema.Schema.Any, out Optional extends boolean> {
  readonly request: Request
  readonly optional: Optional
  /** `sdk` where nobody but this library answers it, unless the whole operation is overridden (B-TRAJ-14). */
  readonly owner: Owner
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Variants {
  readonly [name: string]: Variant<Schema.Schema.Any, boolean>
}

/**
 * An operation of an extension as data: verb, path, request and response. An answer without a value is `{}` on the wire.
 *
 * @since 0.1.0
 * @category models
 */
export interface Operation<
  out M extends Method,
  out Request extends Schema.Schema.All,
  out Response extends Schema.Schema.Any,
  out V extends Variants = {},
  out O extends Owner = "runtime"
> {
  readonly [TypeId]: TypeId
  readonly method: M
  readonly request: Request
  readonly response: Response
  readonly variants: V
  readonly owner: O
  /** Its name on the wire, when that is not its key in the definition. */
  readonly name: string | undefined
  /** Its path, when that is not its extension's. */
  readonly path: string | undefined
  readonly description: string | undefined
}

/**
 * Any operation, for constraints.
 *
 * @since 0.1.0
 * @category models
 */
export interface Any {
  readonly [TypeId]: TypeId
  readonly method: Method
  readonly request: Schema.Schema.All
  readonly response: Schema.Schema.Any
  readonly variants: Variants
  readonly owner: Owner
  readonly name: string | undefined
  readonly path: string | undefined
  readonly description: string | undefined
}

/**
 * What a caller sends; `never` when an operation takes nothing.
 *
 * @since 0.1.0
 * @category models
 */
export type Request<O extends Any> = {} extends O["variants"] ? Schema.Schema.Type<O["request"]>
  : { readonly [K in keyof O["variants"]]: Schema.Schema.Type<O["variants"][K]["request"]> }[keyof O["variants"]]

/**
 * What a caller is answered.
 *
 * @since 0.1.0
 * @category models
 */
export type Response<O extends Any> = Schema.Schema.Type<O["response"]>

/**
 * What decoding requests and encoding answers need.
 *
 * @since 0.1.0
 * @category models
 */
export type SchemaContext<O extends Any> = Schema.Schema.Context<
  O["request"] | O["response"] | O["variants"][keyof O["variants"]]["request"]
>

/**
 * A handler whose result is checked by a sentence instead of by assignment; its first member still types literals.
 *
 * @since 0.1.0
 * @category models
 */
export type Attempt<Req, Res, Err = Error> = [Req] extends [never] ? () => Effect.Effect<Res, Err, any> | AnyEffect
  : (request: Req) => Effect.Effect<Res, Err, any> | AnyEffect

/**
 * A handler under construction: one function, or one a variant, of which any may still be missing.
 *
 * @since 0.1.0
 * @category models
 */
export type PartialHandler<O extends Any> = {} extends O["variants"]
  ? Attempt<Schema.Schema.Type<O["request"]>, Response<O>>
  : { readonly [K in keyof O["variants"]]?: Attempt<Schema.Schema.Type<O["variants"][K]["request"]>, Response<O>> }

/**
 * What the constructors take. Without `request` the operation takes nothing, without `response` it answers nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<Request, Response, V, O> {
  readonly request?: Request
  readonly response?: Response
  readonly variants?: V
  readonly owner?: O
  readonly name?: string | undefined
  readonly path?: `/${string}` | undefined
  readonly description?: string | undefined
}

/**
 * The type of `get`, `post`, `put`, `patch` and `del`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Constructor<M extends Method> {
  <
    Request extends Schema.Schema.All = typeof Schema.Never,
    Response extends Schema.Schema.Any = typeof Schema.Void,
    V extends Variants = {},
    O extends Owner = "runtime"
  >(options?: Options<Request, Response, V, O>): Operation<
    M,
    Settled<Request, Schema.Schema.All>,
    Settled<Response, Schema.Schema.Any>,
    Settled<V, Variants>,
    Settled<O, Owner>
  >
}

const make = <M extends Method>(method: M): Constructor<M> =>
  ((options: Options<Schema.Schema.All, Schema.Schema.Any, Variants, Owner> = {}): Any => ({
    [TypeId]: TypeId,
    method,
    request: options.request ?? Schema.Never,
    response: options.response ?? Schema.Void,
    variants: options.variants ?? {},
    owner: options.owner ?? "runtime",
    name: options.name,
    path: options.path,
    description: options.description
    // the constructor's type parameters are erased here and given back by its interface
  })) as never

/**
 * An operation that is read; its request, if any, is the query string (B-ENV-8).
 *
 * @since 0.1.0
 * @category constructors
 */
export const get: Constructor<"GET"> = make("GET")

/**
 * An operation that is posted.
 *
 * @since 0.1.0
 * @category constructors
 */
export const post: Constructor<"POST"> = make("POST")

/**
 * An operation that is put.
 *
 * @since 0.1.0
 * @category constructors
 */
export const put: Constructor<"PUT"> = make("PUT")

/**
 * An operation that patches.
 *
 * @since 0.1.0
 * @category constructors
 */
export const patch: Constructor<"PATCH"> = make("PATCH")

/**
 * An operation that deletes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const del: Constructor<"DELETE"> = make("DELETE")

/**
 * A variant that every implementation answers.
 *
 * @since 0.1.0
 * @category constructors
 */
export const variant = <Request extends Schema.Schema.Any>(request: Request): Variant<Request, false> => ({
  request,
  optional: false,
  owner: "runtime"
})

/**
 * A variant that is advertised exactly when its handler is given; with `owner` `sdk` this library's alone to give.
 *
 * @since 0.1.0
 * @category constructors
 */
export const optionalVariant = <Request extends Schema.Schema.Any>(
  request: Request,
  options: { readonly owner?: Owner | undefined } = {}
): Variant<Request, true> => ({
  request,
  optional: true,
  owner: options.owner ?? "runtime"
})
