/**
 * A server of scripted completions on a free port of 127.0.0.1, for tests and for a first try without a key.
 */
import { HttpServer, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Effect, Layer, Queue, Ref, Stream } from "effect"
import { createServer } from "node:http"
import type { Completion, Message } from "./Model.ts"

/** A request as the server saw it. */
export interface Seen {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: {
    readonly model: string
    readonly messages: ReadonlyArray<Message>
    readonly metadata?: Readonly<Record<string, unknown>>
    readonly stream?: boolean
    readonly tools?: ReadonlyArray<unknown>
  }
}

/** What the server says next: a text, calls of tools, texts that come one by one, a JSON body of whatever status, or nothing ever. */
export type Reply =
  | { readonly text: string }
  | { readonly toolCalls: Completion["toolCalls"] }
  | { readonly texts: ReadonlyArray<string>; readonly cut?: boolean }
  | { readonly status: number; readonly json: unknown }
  | "silence"

/** The server: `reply` adds to its script, and when that is over it says what it was asked last; `next` waits for a request. */
export class ModelServer extends Context.Tag("@effect-agentenv-examples/model/ModelServer")<ModelServer, {
  readonly baseUrl: string
  readonly reply: (...replies: ReadonlyArray<Reply>) => Effect.Effect<void>
  readonly next: Effect.Effect<Seen>
}>() {}

/** What each completion is said to have cost. */
export const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

const completion = (message: Readonly<Record<string, unknown>>) =>
  HttpServerResponse.unsafeJson({ choices: [{ message: { role: "assistant", ...message } }], usage })

const eventStream = (texts: ReadonlyArray<string>, cut: boolean) => {
  const chunks = texts.map((content) => JSON.stringify({ choices: [{ delta: { content } }] }))
  const lines = [...chunks, ...cut ? [] : ["[DONE]"]].map((data) => `data: ${data}\n\n`)
  return HttpServerResponse.stream(Stream.encodeText(Stream.fromIterable(lines)), { contentType: "text/event-stream" })
}

const echo = ({ messages, stream }: Seen["body"]): Reply => {
  const content = messages.at(-1)?.content ?? ""
  const said = typeof content === "string" ? content : content.flatMap((part) => part.type === "text" ? part.text : [])
  const text = `You said: ${said}`
  return stream === true ? { texts: text.split(/(?<= )/) } : { text }
}

const respond = (reply: Reply) => {
  if (reply === "silence") return Effect.never
  if ("text" in reply) return Effect.succeed(completion({ content: reply.text }))
  if ("toolCalls" in reply) return Effect.succeed(completion({ content: null, tool_calls: reply.toolCalls }))
  if ("texts" in reply) return Effect.succeed(eventStream(reply.texts, reply.cut ?? false))
  return Effect.succeed(HttpServerResponse.unsafeJson(reply.json, { status: reply.status }))
}

export const layer: Layer.Layer<ModelServer> = Layer.scoped(
  ModelServer,
  Effect.gen(function*() {
    const script = yield* Ref.make<ReadonlyArray<Reply>>([])
    const seen = yield* Queue.unbounded<Seen>()
    yield* HttpServer.serveEffect(Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      // what the client of this package sends
      const body = (yield* request.json) as Seen["body"]
      yield* Queue.offer(seen, { path: request.url, authorization: request.headers["authorization"], body })
      const reply = yield* Ref.modify(script, ([next, ...rest]) => [next ?? echo(body), rest])
      return yield* respond(reply)
    }))
    const baseUrl = yield* HttpServer.addressFormattedWith(Effect.succeed)
    return {
      baseUrl,
      reply: (...replies) => Ref.update(script, (all) => [...all, ...replies]),
      next: Queue.take(seen)
    }
  })
).pipe(Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })), Layer.orDie)
