/**
 * An agent as data, and its implementation: one function from a task's request to its result.
 *
 * @since 0.1.0
 */
import type { AnyEffect, Duplicate, Sentence, Verdict } from "@effect-agentenv/protocol/Check"
import type * as Extension from "@effect-agentenv/protocol/Extension"
import type { ShapeTypeId } from "@effect-agentenv/protocol/Implementation"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as AgentConfig from "./AgentConfig.ts"
import * as implementation from "./internal/implementation.ts"
import type * as Task from "./Task.ts"
import type { TaskRequest } from "./TaskRequest.ts"
import type { TaskResult } from "./TaskResult.ts"

/**
 * @since 0.1.0
 * @category models
 */
export const TypeId: unique symbol = Symbol.for("@effect-agentenv/agent/Agent")

/**
 * @since 0.1.0
 * @category models
 */
export type TypeId = typeof TypeId

/**
 * The service that an agent's implementation provides and its server requires.
 *
 * @since 0.1.0
 * @category models
 */
export interface Handlers<in out Name extends string> {
  readonly [TypeId]: Name
}

/**
 * What every run has, so that no implementation needs it.
 *
 * @since 0.1.0
 * @category models
 */
export type PerRun = Task.Streaming | Task.Context | Scope.Scope

/**
 * What stands behind `Handlers`: the author's function, which has the services that were there when its layer was built.
 *
 * @since 0.1.0
 * @category models
 */
export interface HandlersService {
  readonly run: (request: TaskRequest<any>) => Effect.Effect<unknown, unknown, PerRun>
}

/**
 * A skill that an agent says it has. Its `id` is derived from its name when it has none.
 *
 * @since 0.1.0
 * @category models
 */
export interface Skill {
  readonly id?: string | undefined
  readonly name: string
  readonly description: string
  readonly tags?: ReadonlyArray<string> | undefined
  readonly examples?: ReadonlyArray<string> | undefined
}

/**
 * Who offers an agent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Provider {
  readonly organization: string
  readonly url: string
}

/**
 * Where an agent's JSON-RPC is: a rooted path, or the whole URL that the card shows (B-CARD-2, B-CARD-3, B-CARD-4).
 *
 * @since 0.1.0
 * @category models
 */
export type Url = `/${string}` | `http://${string}` | `https://${string}`

/**
 * The shape of a run, which types its request; what is wrong with its answer a sentence says.
 *
 * @since 0.1.0
 * @category models
 */
export type Run<Config> =
  & { readonly [ShapeTypeId]?: never }
  & ((request: TaskRequest<Config>) => Effect.Effect<TaskResult, Error, any> | AnyEffect)

/**
 * What `toLayer` takes: a run, or an effect that builds one.
 *
 * @since 0.1.0
 * @category models
 */
export type Build<Config> =
  | Run<Config>
  | ({ readonly [ShapeTypeId]?: never } & Effect.Effect<Run<Config>, any, any>)

type RunOf<B> = B extends Effect.Effect<infer F, any, any> ? F : B

type IsAny<T> = 0 extends 1 & T ? true : false

type StreamingProblem<Streaming, R> = Streaming extends true ? never
  : IsAny<R> extends true ? never
  : Task.Streaming extends R ? "Task.progress needs 'streaming: true' in Agent.make"
  : never

type AnswerProblem<A, E, R, Streaming> =
  | ([A] extends [TaskResult] ? never : Sentence<"run answers", A, "where it has to answer", TaskResult>)
  | ([E] extends [Error] ? never : Sentence<"run fails with", Exclude<E, Error>, "which is no", Error>)
  | StreamingProblem<Streaming, R>

/**
 * What is wrong with an implementation.
 *
 * @since 0.1.0
 * @category models
 */
export type RunProblem<B, Streaming> = typeof ShapeTypeId extends keyof B ? never
  : RunOf<B> extends (...args: any) => Effect.Effect<infer A, infer E, infer R> ? AnswerProblem<A, E, R, Streaming>
  : "run has to be a function from a TaskRequest to an Effect"

type BuildError<B> = B extends Effect.Effect<any, infer E, any> ? E : never

type BuildContext<B> = B extends Effect.Effect<any, any, infer R> ? Exclude<R, Scope.Scope> : never

type RunContext<B> = RunOf<B> extends (...args: any) => Effect.Effect<any, any, infer R> ? Exclude<R, PerRun> : never

/**
 * An agent as data.
 *
 * @since 0.1.0
 * @category models
 */
export interface Agent<
  in out Name extends string,
  Config extends AgentConfig.Any = typeof AgentConfig.AgentConfig,
  Extensions extends ReadonlyArray<Extension.Any> = readonly [],
  Streaming extends boolean = false
> extends Omit<Any, "name" | "config" | "extensions" | "streaming" | "handlers"> {
  readonly [TypeId]: TypeId
  readonly name: Name
  readonly config: Config
  readonly extensions: Extensions
  readonly streaming: Streaming
  readonly handlers: Context.Tag<Handlers<Name>, HandlersService>
  /** Gives a run that is written away from `toLayer` the type of its request. */
  readonly of: <B extends Run<InstanceType<Config>>>(run: B) => B
  /**
   * Implements the agent with a function from a task's request to its result, or with an effect that builds one. A wrong answer, a
   * failure that is no `Error`, and progress in an agent that does not stream do not compile. The layer is fresh: each place that
   * provides it gets a state of its own, so two servers in one process never share anything.
   */
  readonly toLayer: <B extends Build<InstanceType<Config>>>(
    build: Verdict<RunProblem<B, Streaming>> & B
  ) => Layer.Layer<Handlers<Name>, BuildError<B>, BuildContext<B> | RunContext<B>>
}

/**
 * Any agent, for constraints.
 *
 * @since 0.1.0
 * @category models
 */
export interface Any {
  readonly [TypeId]: TypeId
  readonly name: string
  readonly description: string
  readonly version: string
  /** `/a2a` unless told. */
  readonly url: string
  /** `["text"]` unless told (B-CARD-11). */
  readonly inputModes: ReadonlyArray<string>
  /** `["text"]` unless told (B-CARD-11). */
  readonly outputModes: ReadonlyArray<string>
  readonly streaming: boolean
  readonly skills: ReadonlyArray<Skill>
  readonly provider: Provider | undefined
  readonly documentationUrl: string | undefined
  readonly iconUrl: string | undefined
  /** The base class when none was given. */
  readonly config: AgentConfig.Any
  /** Whether a configuration was given, so that the platform may set it. */
  readonly configured: boolean
  readonly configDescription: string | undefined
  /** Whether what was set can be read back (B-CFG-10). */
  readonly configReadback: boolean
  readonly extensions: ReadonlyArray<Extension.Any>
  readonly handlers: Context.Tag<any, HandlersService>
}

type ConfigOptions<Config> =
  | {
    readonly config?: undefined
    readonly configDescription?: undefined
    readonly configReadback?: undefined
  }
  | {
    readonly config: Config
    readonly configDescription?: string | undefined
    readonly configReadback?: boolean | undefined
  }

type Listed<E extends Extension.Any> = E extends
  { readonly uri: `urn:agentenv:agent-config/${string}`; readonly overridden: false }
  ? `'${E["uri"]}' comes with 'config' and is not listed; Extension.override(AgentConfigV1) answers it yourself`
  : E["origin"] extends "standard" ? never
  : E["uri"] extends `urn:agentenv:${string}`
    ? `'${E["uri"]}' is reserved: agents define extensions under a URI of their own`
  : never

/**
 * What keeps an agent from listing an extension: it is under the library's namespace but not the library's (B-REG-16), comes by itself
 * (B-REG-24), or still needs its configuration.
 *
 * @since 0.1.0
 * @category models
 */
export type ExtensionProblem<E extends Extension.Any> = E extends Extension.Any ? Listed<E> | Extension.Unconfigured<E>
  : never

/**
 * What `make` takes beside the name and the configuration. Capabilities are computed, never declared (B-CARD-5).
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<Extensions, Streaming extends boolean> {
  readonly description: string
  readonly version: string
  readonly url?: Url | undefined
  readonly inputModes?: ReadonlyArray<string> | undefined
  readonly outputModes?: ReadonlyArray<string> | undefined
  /** Whether runs report progress; off unless told. */
  readonly streaming?: Streaming
  readonly skills?: ReadonlyArray<Skill> | undefined
  readonly provider?: Provider | undefined
  readonly documentationUrl?: string | undefined
  readonly iconUrl?: string | undefined
  readonly extensions?: Extensions
}

const implement = (run: HandlersService["run"], built: Context.Context<never>): HandlersService =>
  implementation.make({
    run: (request) =>
      // a run that throws before there is an effect has failed as one that dies
      Effect.mapInputContext(
        Effect.suspend(() => run(request)),
        (call: Context.Context<PerRun>) => Context.merge(built, call)
      )
  }, { run, built })

/**
 * Defines an agent. A `urn:agentenv:*` extension that is not the library's own does not compile (B-REG-16), nor does one that is
 * listed twice, or what belongs to a configuration without one (B-REG-24).
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <
  const Name extends string,
  const Extensions extends ReadonlyArray<Extension.Any> = readonly [],
  Config extends AgentConfig.Any = typeof AgentConfig.AgentConfig,
  Streaming extends boolean = false
>(
  name: Name,
  options:
    & Options<
      Verdict<ExtensionProblem<Extensions[number]> | Duplicate<Extensions, "uri">> & Extensions,
      Streaming
    >
    & ConfigOptions<Config>
): Agent<Name, Config, Extensions, Streaming> => {
  const handlers = Context.GenericTag<Handlers<Name>, HandlersService>(`@effect-agentenv/agent/Agent/Handlers/${name}`)
  return {
    [TypeId]: TypeId,
    name,
    description: options.description,
    version: options.version,
    url: options.url ?? "/a2a",
    inputModes: options.inputModes ?? ["text"],
    outputModes: options.outputModes ?? ["text"],
    // what was left out is the default of its type parameter
    streaming: (options.streaming ?? false) as never,
    skills: options.skills ?? [],
    provider: options.provider,
    documentationUrl: options.documentationUrl,
    iconUrl: options.iconUrl,
    config: (options.config ?? AgentConfig.AgentConfig) as never,
    configured: options.config !== undefined,
    configDescription: options.configDescription,
    configReadback: options.configReadback ?? true,
    extensions: (options.extensions ?? []) as never,
    handlers,
    of: (run) => run,
    toLayer: (build: unknown) =>
      Layer.fresh(Layer.scoped(
        handlers,
        Effect.zipWith(
          (Effect.isEffect(build) ? build : Effect.succeed(build)) as Effect.Effect<HandlersService["run"]>,
          Effect.context<never>(),
          implement
        )
        // requirements and errors are those that the type of `toLayer` computes from the implementation
      )) as never
  }
}
