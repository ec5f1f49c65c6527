/**
 * @since 0.1.0
 */
import type { AnswerProblem, Duplicate, Settled, Str, Superfluous, Verdict } from "@effect-agentenv/protocol/Check"
import type * as DataPlane from "@effect-agentenv/protocol/DataPlane"
import type { EnvironmentCard } from "@effect-agentenv/protocol/EnvironmentCard"
import type * as Extension from "@effect-agentenv/protocol/Extension"
import type { WriteNamespaceGrant } from "@effect-agentenv/protocol/Grant"
import type { ContextOf, ImplementationProblem, Shape, ShapeTypeId } from "@effect-agentenv/protocol/Implementation"
import type { IntakeDeclaration } from "@effect-agentenv/protocol/Intake"
import type { Manifest } from "@effect-agentenv/protocol/Manifest"
import type * as Operation from "@effect-agentenv/protocol/Operation"
import type { Part } from "@effect-agentenv/protocol/Part"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Hook from "./Hook.ts"
import * as EpisodeRandom from "./internal/episodeRandom.ts"
import * as hooks from "./internal/hooks.ts"
import type * as Prompt from "./Prompt.ts"
import type * as Resource from "./Resource.ts"
import type * as Tool from "./Tool.ts"
import type { ToolCall } from "./ToolCall.ts"
import type * as ServedTools from "./Tools.ts"

/**
 * @since 0.1.0
 * @category models
 */
export const TypeId: unique symbol = Symbol.for("@effect-agentenv/environment/Environment")

/**
 * @since 0.1.0
 * @category models
 */
export type TypeId = typeof TypeId

/**
 * The service that an environment's implementation provides and its server requires.
 *
 * @since 0.1.0
 * @category models
 */
export interface Handlers<in out Name extends string> {
  readonly [TypeId]: Name
}

/**
 * What stands behind `Handlers`: the handlers as the author wrote them, the services that were there when their layer was built,
 * and the randomness that is this implementation's own and restarts with `data/reset` and a seed.
 *
 * @since 0.1.0
 * @category models
 */
export interface HandlersService {
  readonly implementation: object
  readonly context: Context.Context<never>
  readonly random: EpisodeRandom.EpisodeRandom
  /** The interceptors of tool calls, as one; `undefined` without any. */
  readonly hook: Hook.Hook<ToolCall> | undefined
}

/**
 * What `data/reset` is told: `seed` is there when the caller sent one, and the environment's `Random` has restarted from it
 * before the handler runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface ResetRequest {
  readonly seed: number | undefined
}

/**
 * What `data/get` is told: a grant to upload to, when the caller gave one (B-DOBJ-2).
 *
 * @since 0.1.0
 * @category models
 */
export interface GetRequest {
  readonly writeNamespace: WriteNamespaceGrant | undefined
}

/**
 * The tools of a list, by name.
 *
 * @since 0.1.0
 * @category models
 */
export type ByKey<List extends ReadonlyArray<unknown>, Key extends string> = number extends List["length"]
  ? { readonly [K in KeyOf<List[number], Key>]: Extract<List[number], { readonly [_ in Key]: K }> }
  : { readonly [I in keyof List as I extends `${number}` ? KeyOf<List[I], Key> : never]: List[I] }

type KeyOf<Item, Key extends string> = Item extends { readonly [_ in Key]: infer Id extends string } ? Id : never

/**
 * What gives an implementation's handlers their argument types; what is missing or wrong in one a sentence says.
 *
 * @since 0.1.0
 * @category models
 */
export interface ImplementationShape<
  Tools extends ReadonlyArray<Tool.Any>,
  Extensions extends ReadonlyArray<Extension.Any>,
  Resources extends ReadonlyArray<Resource.Any>,
  Prompts extends ReadonlyArray<Prompt.Any>
> {
  readonly [ShapeTypeId]?: never
  readonly reset?: Effect.Effect<unknown, Error, any> | ((request: ResetRequest) => Effect.Effect<unknown, Error, any>)
  readonly add?: (parts: DataPlane.AddParams["parts"]) => Effect.Effect<unknown, Error, any>
  readonly get?:
    | Effect.Effect<ReadonlyArray<Part>, Error, any>
    | ((request: GetRequest) => Effect.Effect<ReadonlyArray<Part>, Error, any>)
  readonly tools?: ToolsShape<ByKey<Tools, "name">>
  readonly extensions?: ExtensionsShape<ByKey<Extensions, "uri">>
  readonly resources?: ResourcesShape<ByKey<Resources, "uri">>
  readonly prompts?: PromptsShape<ByKey<Prompts, "name">>
}

type ToolsShape<Tools> = {
  readonly [K in keyof Tools]?: Tools[K] extends Tool.Any
    ? Operation.Attempt<Tool.Parameters<Tools[K]>, Tool.Success<Tools[K]>, Tool.Failure<Tools[K]> | Error>
    : never
}

type ExtensionsShape<Extensions> = {
  readonly [K in keyof Extensions]?: Extensions[K] extends Extension.Any
    ? Shape<Extensions[K]["operations"], Extensions[K]["features"]>
    : never
}

type ResourcesShape<Resources> = {
  readonly [K in keyof Resources]?: [Resource.Variables<Str<K>>] extends [never]
    ? Effect.Effect<Resource.Content, Error, any>
    : (variables: { readonly [V in Resource.Variables<Str<K>>]: string }) => Effect.Effect<Resource.Content, Error, any>
}

type PromptsShape<Prompts> = {
  readonly [K in keyof Prompts]?: Prompts[K] extends Prompt.Any
    ? (args: Schema.Schema.Type<Prompts[K]["arguments"]>) => Effect.Effect<Prompt.Messages, Error, any>
    : never
}

type Group<H, K> = K extends keyof H ? NonNullable<H[K]> : {}

type ToolsProblem<H, Tools> = Settled<
  {
    readonly [K in keyof Tools]: K extends keyof H ? undefined extends H[K] ? `tool '${Str<K>}' may have no handler`
      : Tools[K] extends Tool.Any
        ? AnswerProblem<H[K], Tool.Success<Tools[K]>, Tool.Failure<Tools[K]> | Error, `tools.${Str<K>}`>
      : never
      : `tool '${Str<K>}' has no handler`
  }[keyof Tools]
>

type Declared<E extends Extension.Any> = [keyof E["operations"] | keyof E["features"]] extends [never] ? true : false

type ExtensionsProblem<H, Extensions> = Settled<
  {
    readonly [K in keyof Extensions]: Extensions[K] extends Extension.Any
      ? K extends keyof H
        ? ImplementationProblem<H[K], Extensions[K]["operations"], Extensions[K]["features"], `${Str<K>} `>
      : Declared<Extensions[K]> extends true ? never
      : `extension '${Str<K>}' has no handlers`
      : never
  }[keyof Extensions]
>

type Missing<H, Known, Kind extends string> = Settled<
  {
    readonly [K in keyof Known]: K extends keyof H ? never : `${Kind} '${Str<K>}' has no handler`
  }[keyof Known]
>

type Problems<
  H,
  Tools extends ReadonlyArray<Tool.Any>,
  Extensions extends ReadonlyArray<Extension.Any>,
  Resources extends ReadonlyArray<Resource.Any>,
  Prompts extends ReadonlyArray<Prompt.Any>
> = typeof ShapeTypeId extends keyof H ? never
  : Settled<
    | ToolsProblem<Group<H, "tools">, ByKey<Tools, "name">>
    | ExtensionsProblem<Group<H, "extensions">, ByKey<Extensions, "uri">>
    | Missing<Group<H, "resources">, ByKey<Resources, "uri">, "resource">
    | Missing<Group<H, "prompts">, ByKey<Prompts, "name">, "prompt">
    | Superfluous<Group<H, "tools">, Tools[number]["name"], "tool">
    | Superfluous<Group<H, "extensions">, Extensions[number]["uri"], "extension">
    | Superfluous<Group<H, "resources">, Resources[number]["uri"], "resource">
    | Superfluous<Group<H, "prompts">, Prompts[number]["name"], "prompt">
    | Superfluous<H, "reset" | "add" | "get" | "tools" | "extensions" | "resources" | "prompts", "part">
  >

/** What the server provides to every call, so that no implementation needs it. */
type PerCall = ToolCall | ServedTools.Tools | Scope.Scope

/**
 * How data operations and running calls stand to each other. All times are options with these defaults:
 *
 * - `data: "exclusive"`: `data/reset`, `data/add` and `data/get` run alone, in order of arrival, and new calls wait behind them.
 *   `"concurrent"` lets `data/get` run beside calls.
 * - `resetDrain` 10 seconds: how long `data/reset` waits for the calls that it interrupted; past it, it fails naming one of them.
 * - `dataDrain` 10 seconds: how long `data/add` and `data/get` wait for running calls before they go ahead with a logged warning.
 * - `timeouts`: past one, the operation is interrupted and answers `timeout` with `applied: "unknown"`; none when left out.
 *
 * @since 0.1.0
 * @category models
 */
export interface EpisodeOptions {
  readonly data?: "exclusive" | "concurrent" | undefined
  readonly resetDrain?: Duration.DurationInput | undefined
  readonly dataDrain?: Duration.DurationInput | undefined
  readonly timeouts?: {
    readonly reset?: Duration.DurationInput | undefined
    readonly add?: Duration.DurationInput | undefined
    readonly get?: Duration.DurationInput | undefined
  } | undefined
}

/**
 * Fields of the card that an author declares and that pass through as they are (B-ENV-12, B-ENV-13, B-ENV-16). What the server
 * computes is not among them.
 *
 * @since 0.1.0
 * @category models
 */
export interface CardFields {
  readonly protocolVersion?: string | undefined
  readonly additionalInterfaces?: EnvironmentCard["additionalInterfaces"] | undefined
  readonly children_environments?: ReadonlyArray<EnvironmentCard> | undefined
  readonly [key: string]: unknown
}

/**
 * An environment as data: its tools, extensions, resources and prompts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Environment<
  in out Name extends string,
  Tools extends ReadonlyArray<Tool.Any> = readonly [],
  Extensions extends ReadonlyArray<Extension.Any> = readonly [],
  Resources extends ReadonlyArray<Resource.Any> = readonly [],
  Prompts extends ReadonlyArray<Prompt.Any> = readonly []
> {
  readonly [TypeId]: TypeId
  readonly name: Name
  readonly tools: Tools
  readonly extensions: Extensions
  readonly resources: Resources
  readonly prompts: Prompts
  readonly interfaces: ReadonlyArray<Manifest>
  readonly intake: IntakeDeclaration | undefined
  readonly instructions: string | undefined
  readonly card: CardFields
  readonly episode: EpisodeOptions
  readonly toolAccess: boolean
  readonly handlers: Context.Tag<Handlers<Name>, HandlersService>
  /** Gives handlers that are written away from `toLayer` their argument types; whether all are there `toLayer` says. */
  readonly of: <H extends ImplementationShape<Tools, Extensions, Resources, Prompts>>(implementation: H) => H
  /**
   * Implements the environment. A missing, superfluous or wrongly typed handler does not compile. The layer is fresh: each place
   * that provides it gets a state of its own, so two servers in one process never share anything. So provide it (`Layer.provide`):
   * `Layer.provideMerge` mentions it twice, and builds two states.
   */
  readonly toLayer: <H extends ImplementationShape<Tools, Extensions, Resources, Prompts>, EX = never, RX = never>(
    build: Verdict<Problems<H, Tools, Extensions, Resources, Prompts>> & Effect.Effect<H, EX, RX>
  ) => Layer.Layer<
    Handlers<Name>,
    EX,
    | Exclude<RX, Scope.Scope>
    | Exclude<ContextOf<H>, PerCall>
    | Tool.SchemaContext<Tools[number]>
    | Extension.SchemaContext<Extensions[number]>
  >
}

/**
 * Any environment, for constraints.
 *
 * @since 0.1.0
 * @category models
 */
export interface Any {
  readonly [TypeId]: TypeId
  readonly name: string
  readonly tools: ReadonlyArray<Tool.Any>
  readonly extensions: ReadonlyArray<Extension.Any>
  readonly resources: ReadonlyArray<Resource.Any>
  readonly prompts: ReadonlyArray<Prompt.Any>
  readonly interfaces: ReadonlyArray<Manifest>
  readonly intake: IntakeDeclaration | undefined
  readonly instructions: string | undefined
  readonly card: CardFields
  readonly episode: EpisodeOptions
  readonly toolAccess: boolean
  readonly handlers: Context.Tag<any, HandlersService>
}

/**
 * What `make` takes beside the name. `interfaces` are the tool-role manifests that are served and advertised (B-MAN-3),
 * `intake` declares the data formats that it loads and returns (B-INTK-1), `instructions` a hint for the model that MCP clients show.
 * `toolAccess: true` serves the extensions that say which role may use which tool, and obeys them (B-ACC-1); see `ToolAccess`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<Tools, Extensions, Resources, Prompts> {
  readonly tools?: Tools
  readonly extensions?: Extensions
  readonly resources?: Resources
  readonly prompts?: Prompts
  readonly interfaces?: ReadonlyArray<Manifest> | undefined
  readonly intake?: IntakeDeclaration | undefined
  readonly instructions?: string | undefined
  readonly card?: CardFields | undefined
  readonly episode?: EpisodeOptions | undefined
  readonly toolAccess?: boolean | undefined
}

/**
 * Defines an environment. A tool, resource or prompt name or an extension URI that stands there twice does not compile (B-ENV-11).
 * `ENVIRONMENT_NAME` beats `name` when it is served (B-ENV-12).
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <
  const Name extends string,
  const Tools extends ReadonlyArray<Tool.Any> = readonly [],
  const Extensions extends ReadonlyArray<Extension.Any> = readonly [],
  const Resources extends ReadonlyArray<Resource.Any> = readonly [],
  const Prompts extends ReadonlyArray<Prompt.Any> = readonly []
>(
  name: Name,
  options: Options<
    Verdict<Duplicate<Tools, "name">> & Tools,
    Verdict<Duplicate<Extensions, "uri"> | Extension.Unconfigured<Extensions[number]>> & Extensions,
    Verdict<Duplicate<Resources, "uri">> & Resources,
    Verdict<Duplicate<Prompts, "name">> & Prompts
  > = {}
): Environment<Name, Tools, Extensions, Resources, Prompts> => {
  const handlers = Context.GenericTag<Handlers<Name>, HandlersService>(
    `@effect-agentenv/environment/Environment/Handlers/${name}`
  )
  return {
    [TypeId]: TypeId,
    name,
    // a list that was left out is the empty tuple of its type parameter's default
    tools: (options.tools ?? []) as never,
    extensions: (options.extensions ?? []) as never,
    resources: (options.resources ?? []) as never,
    prompts: (options.prompts ?? []) as never,
    interfaces: options.interfaces ?? [],
    intake: options.intake,
    instructions: options.instructions,
    card: options.card ?? {},
    episode: options.episode ?? {},
    toolAccess: options.toolAccess ?? false,
    handlers,
    of: (implementation) => implementation,
    toLayer: (build: Effect.Effect<object, unknown, unknown>) =>
      Layer.fresh(Layer.scoped(
        handlers,
        Effect.flatMap(EpisodeRandom.make, (random) =>
          Effect.zipWith(
            Effect.withRandom(build, random),
            Effect.context<never>(),
            (implementation, context): HandlersService => ({ implementation, context, random, hook: undefined })
          ))
        // requirements and errors are those that the type of `toLayer` computes from the implementation
      )) as never
  }
}

/**
 * Puts an interceptor before an environment's tools: `Environment.intercept(Desk, hook).pipe(Layer.provide(DeskLive))` stands for
 * `DeskLive` from then on. It runs for every call of a tool that is there and that its role may use, in the call's place in the
 * episode and before its arguments are decoded (B-HOOK-5, B-HOOK-6, B-HOOK-7); what it acquires in its scope lives as long as the
 * call. Of several the one that was put on last decides first.
 *
 * The layer that comes out is shared where it is provided twice, as others are: `Layer.fresh` gives each of two servers its own.
 *
 * @since 0.1.0
 * @category layers
 */
export const intercept = <Name extends string, R = never>(
  env: { readonly name: Name; readonly handlers: Context.Tag<Handlers<Name>, HandlersService> },
  hook: Hook.Hook<R>
): Layer.Layer<Handlers<Name>, never, Handlers<Name> | Exclude<R, PerCall>> =>
  Layer.effect(
    env.handlers,
    Effect.zipWith(
      env.handlers,
      Effect.context<Exclude<R, PerCall>>(),
      (service, context) => ({ ...service, hook: hooks.compose(hooks.bind(hook, context), service.hook) })
    )
  )
