import * as A2a from "@effect-agentenv/agent/A2a"
import * as TaskEngine from "@effect-agentenv/agent/TaskEngine"
import * as TaskStore from "@effect-agentenv/agent/TaskStore"
import type * as Model from "@effect-agentenv/protocol/A2a"
import { Context, Effect, Exit, Layer } from "effect"

/** Who the scripted agent's runs may wait for: open it to let them go on. */
export class Gate extends Context.Tag("test/Gate")<Gate, Effect.Latch>() {}

const textOf = (message: Model.Message): string =>
  message.parts.map((part) => part.kind === "text" ? part.text : "").join("")

const completed = (parts: ReadonlyArray<Model.Part>): TaskEngine.Outcome => ({ state: "completed", parts })
const said = (text: string): ReadonlyArray<Model.Part> => [{ kind: "text", text }]

/** An agent that does what its message says. */
const runner = (gate: Effect.Latch): TaskEngine.Runner<TaskEngine.Outcome, never> => ({
  run: ({ message }, emit) => {
    const [command = "", argument = ""] = textOf(message).split(" ")
    switch (command) {
      case "echo":
        return Effect.succeed(completed(message.parts.slice(1)))
      case "wait":
        return Effect.as(gate.await, completed(said("ok")))
      case "ask":
        return Effect.succeed({ state: "input-required", parts: said("what?") })
      case "say":
        return Effect.forEach(
          Array.from({ length: Number(argument) }, (_, n) => n),
          (n) => emit.status(said(`step ${n}`), { metadata: { n } }),
          { discard: true }
        ).pipe(Effect.as(completed(said("ok"))))
      case "flood": {
        const line = "x".repeat(10_000)
        return Effect.forEach(
          Array.from({ length: Number(argument) }, (_, n) => n),
          (n) => emit.status(said(`${n} ${line}`)),
          { discard: true }
        ).pipe(Effect.as(completed(said("ok"))))
      }
      case "make":
        return Effect.as(
          emit.artifact({ artifactId: "a", name: "it", parts: said("made") }, { lastChunk: true }),
          completed(said("ok"))
        )
      case "note":
        return Effect.as(
          Effect.zipRight(
            emit.status(said("noted"), { metadata: { of: "event" }, messageMetadata: { of: "message" } }),
            emit.artifact(
              { artifactId: "a", parts: said("made"), metadata: { of: "artifact" } },
              { metadata: { of: "its event" } }
            )
          ),
          { ...completed(said("ok")), messageMetadata: { of: "answer" } }
        )
      default:
        return Effect.succeed(completed(said("ok")))
    }
  },
  settle: (_, exit) => Effect.succeed(Exit.isSuccess(exit) ? exit.value : { state: "canceled", parts: [] })
})

/** The scripted agent's answers, on the real engine. */
export const layer = (options?: A2a.Options) =>
  A2a.layer(options).pipe(
    Layer.provideMerge(TaskEngine.layer(Effect.map(Gate, runner))),
    Layer.provide(TaskStore.layerMemory()),
    Layer.provideMerge(Layer.sync(Gate, () => Effect.unsafeMakeLatch(false)))
  )

export interface Json {
  readonly id?: any
  readonly result?: any
  readonly error?: any
  readonly [key: string]: any
}

/** A request of the 0.3 wire, or of the 1.0 wire by its method's name. */
export const rpc = (method: string, params?: unknown, id: unknown = "r1"): Json => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})

export const message = (text: string, more: object = {}): Json => ({
  message: { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text }], ...more }
})

export const message1 = (text: string, more: object = {}): Json => ({
  message: { messageId: "m", role: "ROLE_USER", parts: [{ text }], ...more }
})

/** All the frames of a stream, as their ids and their JSON. */
export const frames = (text: string): ReadonlyArray<{ readonly id: string | undefined; readonly data: Json }> =>
  text.split("\n\n").filter((frame) => frame !== "" && !frame.startsWith(":")).map((frame) => ({
    id: /^id: (.*)$/m.exec(frame)?.[1],
    data: JSON.parse(/^data: (.*)$/m.exec(frame)![1]!)
  }))

/** The answer to one request: the JSON, or the frames of the whole stream. */
export const ask = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function*() {
    const reply = yield* (yield* A2a.A2a).handle(
      typeof body === "object" && !(body instanceof Uint8Array) ? JSON.stringify(body) : body,
      (name) => headers[name]
    )
    if (reply._tag === "Json") return { json: JSON.parse(reply.text) as Json, frames: [], status: reply.status }
    let text = ""
    for (let next = yield* reply.next; next !== undefined; next = yield* reply.next) text += next
    return { json: {} as Json, frames: frames(text), status: 200 }
  })

export const askJson = (body: unknown, headers?: Readonly<Record<string, string>>) =>
  Effect.map(ask(body, headers), ({ json }) => json)

export const askFrames = (body: unknown, headers?: Readonly<Record<string, string>>) =>
  Effect.map(ask(body, headers), ({ frames }) => frames)
