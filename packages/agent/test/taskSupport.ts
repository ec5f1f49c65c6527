import * as TaskEngine from "@effect-agentenv/agent/TaskEngine"
import * as TaskStore from "@effect-agentenv/agent/TaskStore"
import type { A2a } from "@effect-agentenv/protocol"
import { Cause, Context, Effect, Exit, Layer, Logger } from "effect"

export const text = (value: string): A2a.Part => ({ kind: "text", text: value })

export const said = (parts: ReadonlyArray<A2a.Part> | undefined) =>
  (parts ?? []).map((part) => part.kind === "text" ? part.text : "?").join(" ")

let messages = 0

export const message = (value: string, more: Partial<A2a.Message> = {}): A2a.Message => ({
  messageId: `m-${messages++}`,
  role: "user",
  parts: [text(value)],
  ...more
})

/** A result that starts with `?` asks the caller for more. */
export const settle = (_start: TaskEngine.Start, exit: Exit.Exit<string, string>) =>
  Effect.succeed<TaskEngine.Outcome>(
    Exit.isSuccess(exit)
      ? { state: exit.value.startsWith("?") ? "input-required" : "completed", parts: [text(exit.value)] }
      : Cause.isInterruptedOnly(exit.cause)
      ? { state: "canceled", parts: [] }
      : { state: "failed", parts: [text("failed")] }
  )

type Run = TaskEngine.Runner<string, string>["run"]

export const wordOf = (start: TaskEngine.Start) => said(start.message.parts)

interface Given extends TaskEngine.Options {
  readonly run: Run
  readonly settle?: TaskEngine.Runner<string, string>["settle"]
  readonly submitted?: NonNullable<TaskEngine.Runner<string, string>["submitted"]>
  readonly store?: TaskStore.TaskStore["Type"]
  readonly memory?: TaskStore.MemoryOptions
}

export const memory = (options?: TaskStore.MemoryOptions) =>
  Effect.map(Layer.build(TaskStore.layerMemory(options)), (context) => Context.get(context, TaskStore.TaskStore))

/** An engine of the scope, and its store. */
export const start = ({ memory: bounds, run, settle: given = settle, store: other, submitted, ...options }: Given) =>
  Effect.gen(function*() {
    const store = other ?? (yield* memory(bounds))
    const engine = yield* TaskEngine.make({ run, settle: given, submitted }, options).pipe(
      Effect.provideService(TaskStore.TaskStore, store)
    )
    return { engine, store }
  })

/** All that a listener hears from now on. */
export const drainOf = (
  subscription: TaskEngine.Subscription
): Effect.Effect<ReadonlyArray<TaskEngine.Versioned>> => {
  const heard: Array<TaskEngine.Versioned> = []
  const more: Effect.Effect<ReadonlyArray<TaskEngine.Versioned>> = Effect.flatMap(subscription.next, (batch) => {
    if (batch === undefined) return Effect.succeed(heard)
    heard.push(...batch)
    return more
  })
  return more
}

export const briefly = ({ event, version }: TaskEngine.Versioned) =>
  event._tag === "StatusUpdate"
    ? `${version} ${event.status.state}${
      event.status.message === undefined ? "" : ` ${said(event.status.message.parts)}`
    }${event.final ? "!" : ""}`
    : `${version} ${event.artifact.artifactId}${event.append ? "+" : ""} ${said(event.artifact.parts)}`

export const endsOf = (events: ReadonlyArray<TaskEngine.Versioned>) =>
  events.filter(({ event }) => event._tag === "StatusUpdate" && event.final).length

/** The lines that are logged, and the layer that logs them here alone. */
export const logs = () => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => {
    lines.push(Array.isArray(message) ? message.join(" ") : String(message))
  })
  return { lines, layer: Logger.replace(Logger.defaultLogger, logger) }
}
