/**
 * The clerk at the desk: an agent that is sent the words of whoever stands there, and works with the tools of the MCP server that it
 * was given. A script does its thinking, or a language model where one is configured.
 */
import * as Model from "@effect-agentenv-examples/model"
import { Agent, AgentConfig, Task, TaskFailure, type TaskRequest, TaskResult } from "@effect-agentenv/agent"
import { ToolClient } from "@effect-agentenv/client"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { Effect, Option, Ref, Schema } from "effect"

// --- What the agent is -----------------------------------------------------------------------------------------------

export class ClerkConfig extends AgentConfig.extend<ClerkConfig>("ClerkConfig")({
  model: AgentConfig.field(Schema.NullOr(Schema.NonEmptyString), {
    default: () => null,
    description: "The model that thinks; a script does without one."
  })
}) {}

export const Clerk = Agent.make("clerk", {
  description: "Serves the people at a desk.",
  version: "1.0.0",
  streaming: true,
  config: ClerkConfig,
  skills: [{ name: "Serve", description: "Does what somebody at the desk asks for.", tags: ["desk"] }],
  extensions: [McpConfigV1]
})

// --- How it uses the desk --------------------------------------------------------------------------------------------

const broken = (code: string, message: string) =>
  new TaskFailure.TaskFailure({ code, message, errorType: "infra_error" })

/** The tools of the first server that the agent was given; each call is counted, and told as progress. */
const open = ({ mcpServers }: TaskRequest.TaskRequest<ClerkConfig>) =>
  Effect.gen(function*() {
    const [server] = Object.values(mcpServers)
    if (server === undefined) {
      return yield* broken("no_desk", "No MCP server was given, so there is nothing to work with.")
    }
    const client = yield* ToolClient.make(server)
    const count = yield* Ref.make(0)
    const call = (name: string, args: Readonly<Record<string, unknown>>) =>
      Effect.gen(function*() {
        const result = yield* client.callTool(name, args)
        yield* Ref.update(count, (n) => n + 1)
        yield* Task.progress(
          `${result.isError ? "FAIL" : "ok  "} ${name} ${JSON.stringify(args)}\n     ${result.text}`,
          {
            metadata: { tool: name, isError: result.isError }
          }
        )
        return result
      })
    return { tools: yield* client.listTools, call, count }
  }).pipe(
    Effect.mapError((error) =>
      error._tag === "TaskFailure" ? error : broken("desk_closed", "The desk's tools can't be used.")
    )
  )

type Desk = Effect.Effect.Success<ReturnType<typeof open>>

// --- How it thinks ---------------------------------------------------------------------------------------------------

const Found = Schema.Struct({ result: Schema.Array(Schema.Struct({ id: Schema.String })) })

/** Tools are named after their environment, which may be called anything. */
const named = (tools: Desk["tools"], suffix: string) => tools.find(({ name }) => name.endsWith(suffix))?.name ?? suffix

/** Hands over what somebody names, as a clerk does who asks no questions, and then what is really theirs. */
const scripted = ({ call, tools }: Desk, words: string) =>
  Effect.gen(function*() {
    const [, recipient = ""] = /^(\S+) is at the desk/.exec(words) ?? []
    const handOver = (parcel: string) => call(named(tools, "hand_over"), { parcel, recipient })
    yield* Effect.forEach(words.match(/\bP-\d+/g) ?? [], handOver)
    const found = yield* call(named(tools, "find_parcels"), { recipient })
    const { result } = yield* Schema.decodeUnknown(Found)(found.structuredContent)
    yield* Effect.forEach(result, ({ id }) => handOver(id))
    return `${recipient} has ${result.map(({ id }) => id).join(" and ")}.`
  }).pipe(Effect.catchTag("ParseError", () => broken("unknown_desk", "This desk is none that the script knows.")))

const mostRounds = 12

const Arguments = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

/** What a tool answers a model, or why its call can't be made. */
const answerTo = (desk: Desk, asked: Model.ToolCall) =>
  Schema.decode(Arguments)(asked.function.arguments).pipe(
    Effect.flatMap((args) => desk.call(asked.function.name, args)),
    Effect.map(({ text }) => text),
    Effect.catchTag("ParseError", () => Effect.succeed("The arguments are no JSON object.")),
    Effect.map((content): Model.Message => ({ role: "tool", tool_call_id: asked.id, content }))
  )

/** Lets a model call tools until it has nothing to call any more. */
const thinking = (model: Model.Model["Type"], name: string, desk: Desk, words: string) =>
  Effect.gen(function*() {
    const tools = desk.tools.map((tool) => ({
      name: tool.name,
      description: tool.description ?? "",
      parameters: tool.inputSchema
    }))
    const messages: Array<Model.Message> = [
      { role: "system", content: "You are the clerk at a desk. Serve whoever stands there with your tools." },
      { role: "user", content: words }
    ]
    for (let round = 0; round < mostRounds; round++) {
      const { text, toolCalls } = yield* Effect.mapError(
        model.complete({ model: name, messages, tools }),
        Model.toTaskFailure
      )
      if (toolCalls.length === 0) return text
      const answers = yield* Effect.forEach(toolCalls, (asked) => answerTo(desk, asked))
      messages.push({ role: "assistant", content: text, tool_calls: toolCalls }, ...answers)
    }
    return yield* new TaskFailure.TaskFailure({ code: "no_end", message: `${mostRounds} rounds were not enough.` })
  })

export const ClerkLive = Clerk.toLayer(Effect.gen(function*() {
  const model = yield* Effect.serviceOption(Model.Model)
  const think = (request: TaskRequest.TaskRequest<ClerkConfig>, desk: Desk, words: string) => {
    const name = request.config.model
    if (name === null) return scripted(desk, words)
    return Option.isSome(model)
      ? thinking(model.value, name, desk, words)
      : broken("no_model", "The clerk was started without a model.")
  }
  return (request) =>
    Effect.gen(function*() {
      const desk = yield* open(request)
      const words = request.parts.flatMap((part) => part.kind === "text" ? [part.text] : []).join("\n")
      const answer = yield* Effect.catchAll(
        think(request, desk, words),
        (error) => error._tag === "TaskFailure" ? error : broken("desk_closed", "The desk's tools can't be used.")
      )
      return TaskResult.text(answer).pipe(TaskResult.withUsage({ toolCallCount: yield* Ref.get(desk.count) }))
    })
}))
