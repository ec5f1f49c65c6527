/**
 * A small Slack: channels, messages, and a switch that makes its tools fail on purpose.
 *
 * Serves on `MCP_HOST` and `MCP_PORT` (18765 unless said) under `ENVIRONMENT_NAME`. Seed it with `data/add`: a data part, or a file
 * of the same JSON, inline or by `file://` or `https://` URL.
 */
import { Environment, EnvironmentServer, Seed, Tool, ToolCall } from "@effect-agentenv/environment"
import { AgentEnvError, Extension, Operation, Part } from "@effect-agentenv/protocol"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, HashMap, Layer, Option, Random, Ref, Schema } from "effect"

// --- The workspace ---------------------------------------------------------------------------------------------------

export const Message = Schema.Struct({ channel: Schema.String, author: Schema.String, text: Schema.String })

export const Workspace = Schema.Struct({
  channels: Schema.Array(Schema.String),
  messages: Schema.Array(Message)
})

type Workspace = typeof Workspace.Type

/** What `data/add` takes: either half may be missing. */
const WorkspaceSeed = Schema.partialWith(Workspace, { exact: true })

const emptyWorkspace: Workspace = { channels: [], messages: [] }

const merge = (seed: typeof WorkspaceSeed.Type) => (workspace: Workspace): Workspace => {
  const messages = seed.messages ?? []
  const channels = new Set([
    ...workspace.channels,
    ...(seed.channels ?? []),
    ...messages.map(({ channel }) => channel)
  ])
  return { channels: [...channels], messages: [...workspace.messages, ...messages] }
}

// --- Tools -----------------------------------------------------------------------------------------------------------

/** A model reads this as structured content: what was wrong, and what would have been right. */
export class UnknownChannel extends Schema.TaggedError<UnknownChannel>()("UnknownChannel", {
  channel: Schema.String,
  channels: Schema.Array(Schema.String)
}) {
  override get message() {
    return `There is no channel ${this.channel}.`
  }
}

const channel = Schema.NonEmptyString.annotations({ description: "A channel's name, without the #." })

const ListChannels = Tool.make("{environment_name}_list_channels", {
  description: "List the channels.",
  success: Schema.Array(Schema.String),
  annotations: { readOnlyHint: true }
})

const CreateChannel = Tool.make("{environment_name}_create_channel", {
  description: "Create a channel.",
  parameters: { name: channel }
})

const ReadMessages = Tool.make("{environment_name}_read_messages", {
  description: "Read the newest messages of a channel, oldest first.",
  parameters: {
    channel,
    limit: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 100)), { default: () => 20 })
  },
  success: Schema.Array(Message),
  failure: UnknownChannel,
  annotations: { readOnlyHint: true }
})

const SendMessage = Tool.make("{environment_name}_send_message", {
  description: "Send a message to a channel.",
  parameters: { channel, text: Schema.NonEmptyString.annotations({ description: "What to say." }) },
  success: Message,
  failure: UnknownChannel
})

// --- Failing on purpose ----------------------------------------------------------------------------------------------

/** Makes calls of a tool fail: a share of them, or every nth one. Sending neither makes it work again. */
const Fault = Schema.Struct({
  tool_name: Schema.String,
  error_rate: Schema.optionalWith(Schema.Number.pipe(Schema.between(0, 1)), { exact: true }),
  every_nth: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { exact: true }),
  transient: Schema.optionalWith(Schema.Boolean, { default: () => true }),
  error_type: Schema.optionalWith(Schema.NonEmptyString, { default: () => "injected_error" })
})

export const SetErrors = Extension.single(
  "urn:agentenv:set-errors/v1",
  "set_errors",
  Operation.post({ request: Fault, response: Schema.Struct({ tool_name: Schema.String, active: Schema.Boolean }) }),
  { description: "Make a tool fail on purpose." }
)

interface Active {
  readonly fault: typeof Fault.Type
  readonly calls: number
}

// --- The environment -------------------------------------------------------------------------------------------------

export const Slack = Environment.make("slack", {
  tools: [ListChannels, CreateChannel, ReadMessages, SendMessage],
  extensions: [SetErrors]
})

export const SlackLive = Slack.toLayer(Effect.gen(function*() {
  const workspace = yield* Ref.make(emptyWorkspace)
  const faults = yield* Ref.make(HashMap.empty<string, Active>())

  const inject = Effect.gen(function*() {
    const { tool } = yield* ToolCall.ToolCall
    const counted = yield* Ref.updateAndGet(
      faults,
      HashMap.modify(tool, ({ calls, fault }) => ({ fault, calls: calls + 1 }))
    )
    const active = HashMap.get(counted, tool)
    if (Option.isNone(active)) return
    const { calls, fault } = active.value
    const isNth = fault.every_nth !== undefined && calls % fault.every_nth === 0
    const isDrawn = fault.error_rate !== undefined && (yield* Random.next) < fault.error_rate
    if (isNth || isDrawn) {
      return yield* new AgentEnvError.AgentEnvError({
        code: fault.error_type,
        message: "The workspace did not answer.",
        retryable: fault.transient,
        applied: "no"
      })
    }
  })

  const inChannel = (channel: string) =>
    Effect.flatMap(Ref.get(workspace), ({ channels, messages }) =>
      channels.includes(channel)
        ? Effect.succeed(messages.filter((message) => message.channel === channel))
        : new UnknownChannel({ channel, channels }))

  return {
    reset: Effect.zipRight(Ref.set(workspace, emptyWorkspace), Ref.set(faults, HashMap.empty())),
    add: Seed.load(WorkspaceSeed, (seed) => Ref.update(workspace, merge(seed))),
    get: Effect.map(Ref.get(workspace), (data) => [Part.DataPart.make({ data })]),
    tools: {
      "{environment_name}_list_channels": () =>
        Effect.zipRight(inject, Effect.map(Ref.get(workspace), ({ channels }) => channels)),
      "{environment_name}_create_channel": ({ name }) =>
        Effect.zipRight(inject, Ref.update(workspace, merge({ channels: [name] }))),
      "{environment_name}_read_messages": ({ channel, limit }) =>
        inject.pipe(
          Effect.zipRight(inChannel(channel)),
          Effect.map((messages) => messages.slice(-limit))
        ),
      "{environment_name}_send_message": ({ channel, text }) =>
        Effect.gen(function*() {
          yield* inject
          yield* inChannel(channel)
          const { role } = yield* ToolCall.ToolCall
          const message = { channel, author: role ?? "agent", text }
          yield* Ref.update(workspace, merge({ messages: [message] }))
          return message
        })
    },
    extensions: {
      "urn:agentenv:set-errors/v1": {
        set_errors: (fault) => {
          const active = fault.every_nth !== undefined || fault.error_rate !== undefined
          return Ref.update(
            faults,
            active ? HashMap.set(fault.tool_name, { fault, calls: 0 }) : HashMap.remove(fault.tool_name)
          ).pipe(Effect.as({ tool_name: fault.tool_name, active }))
        }
      }
    }
  }
}))

if (process.argv[1] === import.meta.filename) {
  EnvironmentServer.serve(Slack).pipe(Layer.provide(SlackLive), Layer.launch, NodeRuntime.runMain)
}
