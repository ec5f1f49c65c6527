/**
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Settled, Verdict } from "./Check.ts"
import type { ContextOf, Features, ImplementationProblem, Operations, Shape } from "./Implementation.ts"
import * as internal from "./internal/extension.ts"
import type * as Operation from "./Operation.ts"

/**
 * @since 0.1.0
 * @category models
 */
export const TypeId: unique symbol = Symbol.for("@effect-agentenv/protocol/Extension")

/**
 * @since 0.1.0
 * @category models
 */
export type TypeId = typeof TypeId

/**
 * @since 0.1.0
 * @category models
 */
export const HandlersTypeId: unique symbol = Symbol.for("@effect-agentenv/protocol/Extension/Handlers")

/**
 * @since 0.1.0
 * @category models
 */
export type HandlersTypeId = typeof HandlersTypeId

/**
 * The service that an extension's implementation provides; an agent that lists the extension requires it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Handlers<in out Uri extends string> {
  readonly [HandlersTypeId]: Uri
}

/**
 * What stands behind `Handlers`: the handlers as the author wrote them and the services that were there when their layer was built.
 *
 * @since 0.1.0
 * @category models
 */
export interface HandlersService {
  readonly uri: string
  readonly implementation: unknown
  readonly context: Context.Context<never>
}

/**
 * How an extension shows on the wire of an environment: its operations under one endpoint each (`many`, B-MULTI-1) or as the one
 * operation at `/agentenv/ext/<name>` (`single`, B-ENV-6).
 *
 * @since 0.1.0
 * @category models
 */
export type Form = "many" | "single"

/**
 * How an extension is configured: what `configure` takes, closed, and what of it stands beside `endpoint` and `methods` on the card
 * of an agent (B-REG-21, B-INST-1).
 *
 * @since 0.1.0
 * @category models
 */
export interface Configurable {
  readonly schema: Schema.Schema.All
  readonly cardParams: ((configuration: any) => Readonly<Record<string, unknown>>) | undefined
}

/**
 * An extension as data: its URI, operations and optional features.
 *
 * @since 0.1.0
 * @category models
 */
export interface Extension<
  in out Uri extends string,
  Ops extends Operations = {},
  Feats extends Features = {},
  in Config = never,
  out Origin extends "custom" | "standard" = "custom",
  out Overridden extends boolean = false
> {
  readonly [TypeId]: TypeId
  readonly uri: Uri
  readonly form: Form
  readonly description: string | undefined
  /** Where it is served, when the author says so; else the side that serves it derives the path. */
  readonly endpoint: string | undefined
  readonly operations: Ops
  readonly features: Feats
  /** Keys that stand beside `methods` on the card (B-MULTI-4). */
  readonly params: Readonly<Record<string, unknown>> | undefined
  /** Whether a caller must know the extension; `null` on a card where nothing is said. */
  readonly required: boolean | undefined
  readonly origin: Origin
  readonly overridden: Overridden
  readonly configuration: unknown
  readonly configurable: Configurable | undefined
  /** The same extension with its configuration (B-REG-21); once, and only for those that declare one. */
  readonly configure: (configuration: Config) => Extension<Uri, Ops, Feats, never, Origin, Overridden>
  /** The key of the service that `toLayer` provides. */
  readonly handlers: Context.Tag<Handlers<Uri>, HandlersService>
  /** Implements the extension. Leaving out an operation, or half of a feature, does not compile. */
  readonly toLayer: <H extends Shape<Ops, Feats>, EX = never, RX = never>(
    build: Verdict<ImplementationProblem<H, Ops, Feats>> & Effect.Effect<H, EX, RX>
  ) => Layer.Layer<Handlers<Uri>, EX, Exclude<RX, Scope.Scope> | Exclude<ContextOf<H>, Scope.Scope>>
  /** Gives handlers that are written away from `toLayer` their argument types; whether all are there `toLayer` says. */
  readonly of: <H extends Shape<Ops, Feats>>(handlers: H) => H
}

/**
 * Any extension, for constraints.
 *
 * @since 0.1.0
 * @category models
 */
export interface Any {
  readonly [TypeId]: TypeId
  readonly uri: string
  readonly form: Form
  readonly description: string | undefined
  readonly endpoint: string | undefined
  readonly operations: Operations
  readonly features: Features
  readonly params: Readonly<Record<string, unknown>> | undefined
  readonly required: boolean | undefined
  readonly origin: "custom" | "standard"
  readonly overridden: boolean
  readonly configuration: unknown
  readonly configurable: Configurable | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export type Uri<E extends Any> = E["uri"]

type RuntimeOwned<Ops extends Operations> = {
  readonly [K in keyof Ops]: Ops[K]["owner"] extends "sdk" ? never : K
}[keyof Ops]

/**
 * The services that an agent needs for an extension: its handlers, unless the library owns every operation and no override is
 * asked for.
 *
 * @since 0.1.0
 * @category models
 */
export type Required<E extends Any> = E extends Any ? E["overridden"] extends true ? Handlers<E["uri"]>
  : [RuntimeOwned<E["operations"]>] extends [never] ? never
  : Handlers<E["uri"]>
  : never

/**
 * What decoding the requests and encoding the answers of an extension need.
 *
 * @since 0.1.0
 * @category models
 */
export type SchemaContext<E extends Any> =
  | Operation.SchemaContext<E["operations"][keyof E["operations"]]>
  | FeaturesContext<E["features"]>

type FeaturesContext<F extends Features> = {
  readonly [K in keyof F]: Operation.SchemaContext<F[K][keyof F[K]]>
}[keyof F]

/**
 * What `make` takes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<Ops, Feats, Config> {
  readonly description?: string | undefined
  readonly endpoint?: `/${string}` | undefined
  readonly operations?: Ops
  readonly features?: Feats
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly required?: boolean | undefined
  /** What `configure` takes: filters say what types can't. */
  readonly configuration?: Schema.Schema<Config, any>
  /** What of a configuration shows on the card; nothing by default. */
  readonly cardParams?: ((configuration: NoInfer<Config>) => Readonly<Record<string, unknown>>) | undefined
}

/**
 * Tells the library's own definitions, and what `configure`, `describe` and `override` make of them, from all others, copies of them
 * included: no others may be `urn:agentenv:*` on agents (B-REG-16).
 *
 * @since 0.1.0
 * @category guards
 */
export const isStandard = (extension: Any): boolean => internal.isStandard(extension)

/**
 * Defines an extension: `operations` as its core, `features` that are implemented whole or not at all. `urn:agentenv:*` outside the
 * standard set is refused by agents, not here, since environments may use it (B-REG-16).
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <
  const Uri extends string,
  const Ops extends Operations = {},
  const Feats extends Features = {},
  Config = never
>(
  uri: Uri,
  options: Options<Ops, Feats, Config>
): Extension<Uri, Settled<Ops, Operations>, Settled<Feats, Features>, Settled<Config>> =>
  // the parts are the definition's type parameters at run time
  internal.fromParts(internal.partsOf(uri, options), false) as never

/**
 * The environment's one-operation form, served at `/agentenv/ext/<name>` unless the operation has a path of its own (B-ENV-6).
 *
 * @since 0.1.0
 * @category constructors
 */
export const single = <const Uri extends string, const Name extends string, Op extends Operation.Any>(
  uri: Uri,
  name: Name,
  operation: Op,
  options: { readonly description?: string | undefined; readonly required?: boolean | undefined } = {}
): Extension<Uri, { readonly [K in Name]: Op }> =>
  internal.fromParts(
    {
      ...internal.partsOf(uri, { ...options, operations: { [name]: operation } }),
      form: "single",
      endpoint: operation.path
    },
    false
    // the parts are the definition's type parameters at run time
  ) as never

/**
 * Gives an extension the description that its card entry shows (B-REG-22).
 *
 * @since 0.1.0
 * @category combinators
 */
export const describe = <E extends Any>(extension: E, description: string): E =>
  internal.derive(extension, { description }) as E

/**
 * Says that the author answers the operations of an extension that the library owns, so that the server requires its handlers.
 *
 * @since 0.1.0
 * @category combinators
 */
export const override = <
  U extends string,
  Ops extends Operations,
  Feats extends Features,
  C,
  O extends "custom" | "standard"
>(
  extension: Extension<U, Ops, Feats, C, O>
): Extension<U, Ops, Feats, C, O, true> => internal.derive(extension, { overridden: true }) as never

/**
 * What keeps anybody from listing an extension: a configuration with required keys that is still to be given.
 *
 * @since 0.1.0
 * @category models
 */
export type Unconfigured<E extends Any> = E extends
  { readonly uri: infer U extends string; readonly configure: (c: infer C) => any } ? {} extends C ? never
  : [C] extends [never] ? never
  : `'${U}' needs its configuration: list it as X.configure({ … })`
  : never
