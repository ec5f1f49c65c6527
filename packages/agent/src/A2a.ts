/**
 * A2A's JSON-RPC over the task engine, 0.3 and 1.0 on one endpoint, without HTTP.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as internal from "./internal/a2aHandler.ts"
import { TaskEngine } from "./TaskEngine.ts"

/**
 * An answer that is one JSON text. `status` is for HTTP: 503 when the server closes, 200 for all else, errors too.
 *
 * @since 0.1.0
 * @category models
 */
export interface Json {
  readonly _tag: "Json"
  readonly status: 200 | 503
  readonly text: string
}

/**
 * An answer that is an event stream: `next` answers frames of `text/event-stream`, one or more whole ones, and `undefined` at the end.
 * The id of a frame is the version of the task after it. Nothing is made before it is asked for, so a slow reader costs nothing; whoever
 * stops asking leaves the task as it is.
 *
 * @since 0.1.0
 * @category models
 */
export interface Stream {
  readonly _tag: "Stream"
  readonly next: Effect.Effect<string | undefined>
}

/**
 * An answer.
 *
 * @since 0.1.0
 * @category models
 */
export type Reply = Json | Stream

/**
 * The value of a request header by its lower-case name. `a2a-version` and `last-event-id` are asked for.
 *
 * @since 0.1.0
 * @category models
 */
export type Headers = (name: string) => string | undefined

/**
 * What an agent serves of A2A. Without `streaming`, which is on by default, the methods that stream are refused as the reference
 * refuses them; events of a task come all the same to whoever asks for the task.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly streaming?: boolean | undefined
}

/**
 * Answers requests of A2A. A body is JSON as text or bytes, or the value that came of it.
 *
 * The method's name tells the version, whatever `A2A-Version` says; only a major version that nobody speaks is refused. On the 0.3 wire
 * the codes and sentences are those of a2a-python 0.3, on the 1.0 wire the specification's. A message without `blocking` waits for the
 * end of its run (B-TASK-1). `Last-Event-ID` on a resubscription goes on after that event instead of beginning with the task. Whoever
 * interrupts an answer leaves the task as it is.
 *
 * @since 0.1.0
 * @category tags
 */
export class A2a extends Context.Tag("@effect-agentenv/agent/A2a")<A2a, {
  readonly handle: (body: unknown, headers?: Headers | undefined) => Effect.Effect<Reply>
}>() {}

/**
 * The answers of an engine.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (engine: TaskEngine["Type"], options: Options = {}): A2a["Type"] => internal.make(engine, options)

/**
 * The answers of the engine in context.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<A2a, never, TaskEngine> =>
  Layer.effect(A2a, Effect.map(TaskEngine, (engine) => make(engine, options)))
