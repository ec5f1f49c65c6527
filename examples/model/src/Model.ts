/**
 * A client of models that answer OpenAI's chat completions, such as those behind a LiteLLM proxy: what the agents here think with.
 */
import { TaskFailure, type TaskResult } from "@effect-agentenv/agent"
import { Sse } from "@effect-agentenv/client"
import { HttpClient, type HttpClientError, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import { Config, type ConfigError, Context, Effect, Layer, type Redacted, Schema, Stream } from "effect"

// --- What is said ----------------------------------------------------------------------------------------------------

/** A text, or texts and images; an image is a URL, which may be a `data:` one. */
export type Content =
  | string
  | ReadonlyArray<
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  >

/** A call that a model wants made; `arguments` is JSON, as far as the model got it right. */
export interface ToolCall {
  readonly id: string
  readonly type: "function"
  readonly function: { readonly name: string; readonly arguments: string }
}

/** One message of a conversation. */
export type Message =
  | { readonly role: "system" | "user"; readonly content: Content }
  | {
    readonly role: "assistant"
    readonly content: string
    readonly tool_calls?: ReadonlyArray<ToolCall>
  }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string }

/** A tool that a model may call: `parameters` is the JSON Schema of its arguments. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** What a model is asked. `apiKey` wins over the client's own; `metadata` travels along unless it is empty. */
export interface Request {
  readonly model: string
  readonly messages: ReadonlyArray<Message>
  readonly tools?: ReadonlyArray<Tool> | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly apiKey?: Redacted.Redacted | undefined
}

/** What a model answered. */
export interface Completion {
  readonly text: string
  readonly toolCalls: ReadonlyArray<ToolCall>
  readonly usage: TaskResult.Usage
}

const ToolCalls = Schema.Array(Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("function"),
  function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
}))

const optional = <S extends Schema.Schema.Any>(schema: S) => Schema.optionalWith(schema, { nullable: true })

const CompletionBody = Schema.Struct({
  choices: Schema.NonEmptyArray(Schema.Struct({
    message: Schema.Struct({ content: optional(Schema.String), tool_calls: optional(ToolCalls) })
  })),
  usage: optional(Schema.Struct({
    prompt_tokens: optional(Schema.NonNegativeInt),
    completion_tokens: optional(Schema.NonNegativeInt),
    total_tokens: optional(Schema.NonNegativeInt)
  }))
})

const ChunkBody = Schema.parseJson(Schema.Struct({
  choices: Schema.Array(Schema.Struct({ delta: Schema.Struct({ content: optional(Schema.String) }) }))
}))

// --- What goes wrong -------------------------------------------------------------------------------------------------

/** Why a model did not answer. It holds neither the key nor what was said on either side. */
export class ModelError extends Schema.TaggedError<ModelError>()("ModelError", {
  reason: Schema.Literal("unreachable", "timeout", "refused", "unreadable"),
  status: Schema.optional(Schema.Int)
}) {
  override get message() {
    switch (this.reason) {
      case "unreachable":
        return "The model's server can't be reached."
      case "timeout":
        return "The model took too long to answer."
      case "refused":
        return `The model's server refused the request with status ${this.status}.`
      case "unreadable":
        return "The model's server answered something that is no completion."
    }
  }
}

/** The failure of a task whose model did not answer: nothing that the task's caller could mend. */
export const toTaskFailure = (error: ModelError): TaskFailure.TaskFailure =>
  new TaskFailure.TaskFailure({
    code: `model.${error.reason}`,
    message: error.message,
    errorType: "infra_error"
  })

const fromHttp = (error: HttpClientError.HttpClientError): ModelError =>
  error._tag === "RequestError"
    ? new ModelError({ reason: "unreachable" })
    : new ModelError({
      reason: error.reason === "StatusCode" ? "refused" : "unreadable",
      status: error.response.status
    })

const unreadable = () => new ModelError({ reason: "unreadable" })

const tooLate = () => new ModelError({ reason: "timeout" })

// --- The client ------------------------------------------------------------------------------------------------------

/** A model: `complete` answers at once, `stream` text by text. */
export class Model extends Context.Tag("@effect-agentenv-examples/model/Model")<Model, {
  readonly complete: (request: Request) => Effect.Effect<Completion, ModelError>
  readonly stream: (request: Request) => Stream.Stream<string, ModelError>
}>() {}

/** Where completions are: below `/v1`, which the base URL may say or not. */
export const endpoint = (baseUrl: string): string => {
  const base = baseUrl.replace(/\/+$/, "")
  return `${base}${base.endsWith("/v1") ? "" : "/v1"}/chat/completions`
}

const patience = "120 seconds"

const body = ({ messages, metadata, model, tools }: Request) => ({
  model,
  messages,
  ...(tools === undefined || tools.length === 0
    ? {}
    : { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
  ...(metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata })
})

const completion = ({ choices: [{ message }], usage }: typeof CompletionBody.Type): Completion => ({
  text: message.content ?? "",
  toolCalls: message.tool_calls ?? [],
  usage: {
    inputTokens: usage?.prompt_tokens,
    outputTokens: usage?.completion_tokens,
    totalTokens: usage?.total_tokens
  }
})

/** The texts of a stream of completion chunks, up to its `[DONE]`: a stream that ends without one was cut. */
const texts = (response: HttpClientResponse.HttpClientResponse): Stream.Stream<string, ModelError> => {
  const parser = Sse.make()
  return response.stream.pipe(
    Stream.mapError(fromHttp),
    Stream.timeoutFail(tooLate, patience),
    Stream.mapConcat(parser.push),
    Stream.concat(Stream.fail(unreadable())),
    Stream.takeWhile(({ data }) => data !== "[DONE]"),
    Stream.mapEffect(({ data }) => Effect.mapError(Schema.decode(ChunkBody)(data), unreadable)),
    Stream.map(({ choices }) => choices.map(({ delta }) => delta.content ?? "").join("")),
    Stream.filter((text) => text !== "")
  )
}

export interface Options {
  readonly apiKey: Redacted.Redacted
  readonly baseUrl: string
}

/** The models behind a base URL, over the `HttpClient` in context. */
export const layer = ({ apiKey, baseUrl }: Options): Layer.Layer<Model, never, HttpClient.HttpClient> =>
  Layer.effect(
    Model,
    Effect.map(HttpClient.HttpClient, (http) => {
      const client = HttpClient.filterStatusOk(http)
      const url = endpoint(baseUrl)
      const send = (request: Request, more: Readonly<Record<string, unknown>>) =>
        HttpClientRequest.post(url).pipe(
          HttpClientRequest.bearerToken(request.apiKey ?? apiKey),
          HttpClientRequest.bodyUnsafeJson({ ...body(request), ...more }),
          client.execute,
          Effect.mapError(fromHttp)
        )
      const decode = Schema.decodeUnknown(CompletionBody)
      return {
        complete: (request) =>
          send(request, {}).pipe(
            Effect.flatMap((response) => Effect.mapError(response.json, fromHttp)),
            Effect.flatMap((json) => Effect.mapBoth(decode(json), { onFailure: unreadable, onSuccess: completion })),
            Effect.timeoutFail({ duration: patience, onTimeout: tooLate })
          ),
        stream: (request) =>
          Stream.unwrapScoped(
            Effect.map(
              Effect.timeoutFail(send(request, { stream: true }), { duration: patience, onTimeout: tooLate }),
              texts
            )
          )
      }
    })
  )

/** The models that `LITELLM_BASE_URL` and `LITELLM_API_KEY` name; without either an agent does not start. */
export const layerConfig: Layer.Layer<Model, ConfigError.ConfigError, HttpClient.HttpClient> = Layer.unwrapEffect(
  Effect.map(
    Config.all({
      apiKey: Config.redacted(Config.nonEmptyString("LITELLM_API_KEY")),
      baseUrl: Config.nonEmptyString("LITELLM_BASE_URL")
    }),
    layer
  )
)
