/**
 * Tools that an agent calls while it works (`tool-call-v1`), and the phases of each call as a state machine.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Carrying, Lenient } from "./Carrying.ts"
import * as ExtensionUri from "./ExtensionUri.ts"
import * as Extension from "./internal/extension.ts"
import type { JsonObject } from "./internal/json.ts"
import type * as Part from "./Part.ts"
import type * as Read from "./Read.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/**
 * Where a call stands.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Phase = Schema.Literal("started", "completed", "failed")

/**
 * The value of a `Phase`.
 *
 * @since 0.1.0
 * @category models
 */
export type Phase = typeof Phase.Type

/**
 * The payload of `tool-call-v1`. Peers may say `args`, `result` and `error` in any phase.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ToolCall = Schema.Struct({
  toolCallId: Schema.String,
  name: Schema.String,
  phase: Phase,
  args: optional(Schema.Unknown),
  result: optional(Schema.Unknown),
  error: optional(Schema.String)
})

/**
 * The value of a `ToolCall`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolCall extends Schema.Schema.Type<typeof ToolCall> {}

/**
 * What a tool call is made from; what is `undefined` or `null` is left out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fields {
  readonly toolCallId: string
  readonly name: string
  readonly phase: Phase
  readonly args?: unknown
  readonly result?: unknown
  readonly error?: string | undefined
}

/**
 * The URI of the extension.
 *
 * @since 0.1.0
 * @category constructors
 */
export const uri: string = ExtensionUri.toolCall

const extension = Extension.make<ToolCall>({
  concept: "tool-call-v1",
  uri,
  mime: "application/vnd.protolabs.tool-call-v1+json",
  olderUris: ["https://protolabs.ai/a2a/ext/tool-call-v1"],
  schema: ToolCall,
  normalize: (payload) => Extension.withoutNulls(payload, ["error"])
})

const ordered = (fields: object): JsonObject => {
  const { args, error, name, phase, result, toolCallId } = fields as JsonObject
  return Extension.given({ toolCallId, name, phase, args, result, error })
}

/**
 * Makes a tool call; fails when a field has another type.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (fields: Fields): Effect.Effect<ToolCall, Read.Malformed> => extension.decode(ordered(fields))

/**
 * The MIME type of a data part that carries a tool call.
 *
 * @since 0.1.0
 * @category constructors
 */
export const mime = "application/vnd.protolabs.tool-call-v1+json"

/**
 * Makes a data part that carries a tool call, for peers on `protolabs-a2a` 0.2 or the TypeScript layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toPart: (value: ToolCall) => Part.DataPart<ToolCall> = extension.toPart

/**
 * Makes the metadata that carries a tool call, for peers on `protolabs-a2a` 0.3: one key, the extension's URI.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toMetadata: (value: ToolCall) => { readonly [uri: string]: ToolCall } = extension.toMetadata

/**
 * Reads a tool call from one part of any envelope. Unknown keys of the payload stay.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromPart: (part: unknown) => Read.Read<ToolCall> = extension.fromPart

/**
 * Reads a tool call from a `metadata` map.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromMetadata: (metadata: unknown) => Read.Read<ToolCall> = extension.fromMetadata

/**
 * Reads the first tool call of a list of parts, a message, an artifact, a task or an event of either A2A wire, whichever carrier brings
 * it. Of a task, its status message comes first, then its artifacts, then its own metadata. A holder whose carriers differ is
 * malformed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const find: (source: unknown) => Read.Read<ToolCall> = extension.find

/**
 * Reads every tool call where `find` looks, and in a task's history, oldest first.
 *
 * @since 0.1.0
 * @category combinators
 */
export const findAll: (source: unknown) => ReadonlyArray<Read.Malformed | Read.Present<ToolCall>> = extension.findAll

/**
 * Puts a tool call on a message or an artifact, in its metadata unless `carrier` says otherwise. The target itself is left as it is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const attach = <T extends object>(
  target: T,
  value: ToolCall,
  options?: { readonly carrier?: Read.Carrier | undefined }
): T & Carrying => extension.attach(target, value, options?.carrier ?? "metadata")

/**
 * Reads every tool call in an agent's events, malformed ones among them. What a later snapshot of the task repeats is left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const readEvents: <E, R>(
  events: Stream.Stream<unknown, E, R>
) => Stream.Stream<Read.Malformed | Read.Present<ToolCall>, E, R> = extension.readEvents

/**
 * Every tool call in an agent's events, each once; fails at a malformed one.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fromEvents: <E, R>(
  events: Stream.Stream<unknown, E, R>
) => Stream.Stream<ToolCall, E | Read.Malformed, R> = extension.fromEvents

/**
 * Reads and writes as the older packages do: any object passes unchecked, older spellings don't, and of two carriers in disagreement
 * the metadata is believed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const lenient: Lenient<Fields | object> = { ...extension.lenient, make: ordered }

/**
 * A call that has begun.
 *
 * @since 0.1.0
 * @category models
 */
export interface Running {
  readonly _tag: "Running"
  readonly toolCallId: string
  readonly name: string
  readonly args: unknown
}

/**
 * A call that has its result.
 *
 * @since 0.1.0
 * @category models
 */
export interface Completed {
  readonly _tag: "Completed"
  readonly toolCallId: string
  readonly name: string
  readonly args: unknown
  readonly result: unknown
}

/**
 * A call that failed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failed {
  readonly _tag: "Failed"
  readonly toolCallId: string
  readonly name: string
  readonly args: unknown
  readonly error: string | undefined
}

/**
 * A call's state: `Running` leads to `Completed` or `Failed`, and those end it.
 *
 * @since 0.1.0
 * @category models
 */
export type State = Running | Completed | Failed

/**
 * Says that a phase came that the call is in already.
 *
 * @since 0.1.0
 * @category errors
 */
export class DuplicatePhase extends Schema.TaggedError<DuplicatePhase>("@effect-agentenv/protolabs/DuplicatePhase")(
  "DuplicatePhase",
  { toolCallId: Schema.String, phase: Phase }
) {
  /** @since 0.1.0 */
  override get message(): string {
    return `the tool call ${JSON.stringify(this.toolCallId)} was ${this.phase} before`
  }
}

/**
 * Says that a phase came that can't follow: an end without a start, a start after the end, another end.
 *
 * @since 0.1.0
 * @category errors
 */
export class OutOfOrderPhase extends Schema.TaggedError<OutOfOrderPhase>("@effect-agentenv/protolabs/OutOfOrderPhase")(
  "OutOfOrderPhase",
  { toolCallId: Schema.String, phase: Phase, after: Schema.optional(Phase) }
) {
  /** @since 0.1.0 */
  override get message(): string {
    const before = this.after === undefined ? "before it was started" : `after it was ${this.after}`
    return `the tool call ${JSON.stringify(this.toolCallId)} was ${this.phase} ${before}`
  }
}

/**
 * All calls of a task, by their ids.
 *
 * @since 0.1.0
 * @category models
 */
export type Calls = HashMap.HashMap<string, State>

/**
 * No calls yet.
 *
 * @since 0.1.0
 * @category constructors
 */
export const noCalls: Calls = HashMap.empty()

/**
 * What a tool call leads to: the next state of the call, or why it can't follow.
 *
 * @since 0.1.0
 * @category models
 */
export type Transition = State | DuplicatePhase | OutOfOrderPhase

/**
 * The phase that led to a state.
 *
 * @since 0.1.0
 * @category combinators
 */
export const phaseOf = (state: State): Phase =>
  state._tag === "Running" ? "started" : state._tag === "Completed" ? "completed" : "failed"

/**
 * Follows one call: the state after `call`, from the state before it (`undefined` before the call has begun).
 *
 * @since 0.1.0
 * @category combinators
 */
export const next = (state: State | undefined, call: ToolCall): Transition => {
  const { name, phase, toolCallId } = call
  if (state === undefined) {
    return phase === "started"
      ? { _tag: "Running", toolCallId, name, args: call.args }
      : new OutOfOrderPhase({ toolCallId, phase })
  }
  const after = phaseOf(state)
  if (after === phase) return new DuplicatePhase({ toolCallId, phase })
  if (state._tag !== "Running") return new OutOfOrderPhase({ toolCallId, phase, after })
  const args = call.args ?? state.args
  return phase === "completed"
    ? { _tag: "Completed", toolCallId, name, args, result: call.result }
    : { _tag: "Failed", toolCallId, name, args, error: call.error }
}

/**
 * Tells a state from a phase that couldn't follow.
 *
 * @since 0.1.0
 * @category guards
 */
export const isState = (transition: Transition): transition is State =>
  transition._tag !== "DuplicatePhase" && transition._tag !== "OutOfOrderPhase"

/**
 * Follows all calls of a task: the calls after `call`, and what it led to. A phase that can't follow changes nothing.
 *
 * @since 0.1.0
 * @category combinators
 */
export const step = (calls: Calls, call: ToolCall): readonly [calls: Calls, transition: Transition] => {
  const transition = next(Option.getOrUndefined(HashMap.get(calls, call.toolCallId)), call)
  return [isState(transition) ? HashMap.set(calls, call.toolCallId, transition) : calls, transition]
}

/**
 * What each tool call of a stream led to.
 *
 * @since 0.1.0
 * @category combinators
 */
export const transitions = <E, R>(calls: Stream.Stream<ToolCall, E, R>): Stream.Stream<Transition, E, R> =>
  Stream.mapAccum(calls, noCalls, step)
