import * as Sdk from "@a2a-js/sdk"
import * as SdkClient from "@a2a-js/sdk/client"
import { Agent, AgentServer, Task, type TaskRequest, TaskResult } from "@effect-agentenv/agent"
import { HttpServer } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import type * as Sdk03 from "a2a-sdk-03"
import * as Sdk03Client from "a2a-sdk-03/client"
import { Chunk, ConfigProvider, Context, Deferred, Effect, Layer, Logger, LogLevel, Ref, Stream } from "effect"

/** What every client says of a task, in the words of 0.3. */
interface Seen {
  readonly kind: string
  readonly id: string
  readonly state: string | undefined
  readonly text: string
}

/** A client of the SDK, whichever it is. */
interface Peer {
  readonly card: { readonly name: string; readonly streaming: boolean | undefined }
  readonly speaks: string
  readonly send: (text: string, blocking: boolean) => Promise<Seen>
  readonly stream: (text: string) => AsyncGenerator<Seen>
  readonly get: (id: string) => Promise<Seen>
  readonly cancel: (id: string) => Promise<Seen>
  readonly resubscribe: (id: string) => AsyncGenerator<Seen>
}

async function* map<A, B>(source: AsyncIterable<A>, f: (a: A) => B): AsyncGenerator<B> {
  for await (const item of source) yield f(item)
}

const stateName = (state: Sdk.TaskState): string =>
  Sdk.taskStateToJSON(state).replace("TASK_STATE_", "").toLowerCase().replace("_", "-")

const partsText = (parts: ReadonlyArray<Sdk.Part> = []): string =>
  parts.map(({ content }) => content?.$case === "text" ? content.value : "").join()

const seenStatus = (kind: string, id: string, status: Sdk.TaskStatus | undefined): Seen => ({
  kind,
  id,
  state: status && stateName(status.state),
  text: partsText(status?.message?.parts)
})

const seenTask = ({ id, status }: Sdk.Task): Seen => seenStatus("task", id, status)

const seenEvent = ({ payload }: Sdk.StreamResponse): Seen => {
  switch (payload?.$case) {
    case "task":
      return seenTask(payload.value)
    case "statusUpdate":
      return seenStatus("status-update", payload.value.taskId, payload.value.status)
    case "artifactUpdate":
      return {
        kind: "artifact-update",
        id: payload.value.taskId,
        state: undefined,
        text: partsText(payload.value.artifact?.parts)
      }
    default:
      throw new Error(`an agent with tasks answered ${payload?.$case}`)
  }
}

/** 1.3.0, on the wire of the version that it is left with when all others are taken off the card. */
const sdk = (version: "1.0" | "0.3") => async (url: string): Promise<Peer> => {
  const legacyCompat = { enabled: version === "0.3" }
  const card = await new SdkClient.DefaultAgentCardResolver({ legacyCompat }).resolve(url)
  const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === version)
  const client = await new SdkClient.ClientFactory({
    transports: [new SdkClient.JsonRpcTransportFactory({ legacyCompat })]
  }).createFromAgentCard({ ...card, supportedInterfaces })
  const request = (text: string, blocking = true) =>
    Sdk.SendMessageRequest.fromJSON({
      message: { messageId: `m-${text}`, role: "ROLE_USER", parts: [{ text }] },
      configuration: { returnImmediately: !blocking }
    })
  return {
    card: { name: card.name, streaming: card.capabilities?.streaming },
    speaks: client.protocolVersion,
    send: async (text, blocking) => {
      const reply = await client.sendMessage(request(text, blocking))
      if ("status" in reply) return seenTask(reply)
      throw new Error("an agent with tasks answered a message")
    },
    stream: (text) => map(client.sendMessageStream(request(text)), seenEvent),
    get: async (id) => seenTask(await client.getTask(Sdk.GetTaskRequest.fromJSON({ id }))),
    cancel: async (id) => seenTask(await client.cancelTask(Sdk.CancelTaskRequest.fromJSON({ id }))),
    resubscribe: (id) => map(client.resubscribeTask(Sdk.SubscribeToTaskRequest.fromJSON({ id })), seenEvent)
  }
}

const partsText03 = (parts: ReadonlyArray<Sdk03.Part> = []): string =>
  parts.map((part) => part.kind === "text" ? part.text : "").join()

const seen03 = (
  answer: Sdk03.Message | Sdk03.Task | Sdk03.TaskStatusUpdateEvent | Sdk03.TaskArtifactUpdateEvent
): Seen => {
  switch (answer.kind) {
    case "message":
      throw new Error("an agent with tasks answered a message")
    case "artifact-update":
      return { kind: answer.kind, id: answer.taskId, state: undefined, text: partsText03(answer.artifact.parts) }
    default:
      return {
        kind: answer.kind,
        id: answer.kind === "task" ? answer.id : answer.taskId,
        state: answer.status.state,
        text: partsText03(answer.status.message?.parts)
      }
  }
}

/** 0.3.14. */
const sdk03 = async (url: string): Promise<Peer> => {
  const client = await new Sdk03Client.ClientFactory().createFromUrl(url)
  const params = (text: string, blocking = true): Sdk03.MessageSendParams => ({
    message: { kind: "message", messageId: `m-${text}`, role: "user", parts: [{ kind: "text", text }] },
    configuration: { blocking }
  })
  const card = await client.getAgentCard()
  return {
    card: { name: card.name, streaming: card.capabilities.streaming },
    speaks: card.protocolVersion,
    send: async (text, blocking) => seen03(await client.sendMessage(params(text, blocking))),
    stream: (text) => map(client.sendMessageStream(params(text)), seen03),
    get: async (id) => seen03(await client.getTask({ id })),
    cancel: async (id) => seen03(await client.cancelTask({ id })),
    resubscribe: (id) => map(client.resubscribeTask({ id }), seen03)
  }
}

const Desk = Agent.make("Kestrel Desk", { description: "Keeps a desk.", version: "1.0.0", streaming: true })

const textOf = ({ parts }: TaskRequest.TaskRequest<unknown>) => parts[0]?.kind === "text" ? parts[0].text : ""

/** A client of an agent on a port of its own, whose runs say `started` and then wait for the gate when they are told to `wait`. */
const served = (connect: (url: string) => Promise<Peer>) =>
  Effect.gen(function*() {
    const gate = yield* Effect.makeLatch()
    const runs = yield* Ref.make(0)
    const interrupted = yield* Deferred.make<void>()
    const DeskLive = Desk.toLayer((request) =>
      Effect.gen(function*() {
        yield* Ref.update(runs, (n) => n + 1)
        yield* Task.progress("started")
        if (textOf(request) === "wait") yield* gate.await
        yield* Task.artifact(`made of ${textOf(request)}`, { name: "it" })
        return TaskResult.text("ok")
      }).pipe(Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined)))
    )
    const context = yield* Layer.build(
      AgentServer.serve(Desk, { host: "127.0.0.1", port: 0 }).pipe(
        Layer.provide([
          DeskLive,
          Layer.setConfigProvider(ConfigProvider.fromMap(new Map())),
          Logger.minimumLogLevel(LogLevel.None)
        ])
      )
    )
    const { port } = Context.get(context, HttpServer.HttpServer).address as HttpServer.TcpAddress
    const peer = yield* Effect.promise(() => connect(`http://127.0.0.1:${port}`))
    return { peer, gate, interrupted, runs }
  })

const all = (events: AsyncIterable<Seen>) =>
  Effect.map(Effect.orDie(Stream.runCollect(Stream.fromAsyncIterable(events, (cause) => cause))), Chunk.toReadonlyArray)

/** Reads until an event says `text`, and leaves the stream. */
const until = (events: AsyncIterable<Seen>, text: string) =>
  Effect.promise(async () => {
    for await (const event of events) if (event.text === text) return event
    throw new Error(`the stream ended before '${text}'`)
  })

describe.each([
  ["a2a-js 1.3.0", "1.0", sdk("1.0")],
  ["a2a-js 1.3.0 with its compatibility layer", "0.3", sdk("0.3")],
  ["a2a-js 0.3.14", "0.3.0", sdk03]
])("%s", (_, version, connect) => {
  it.scoped(`reads the card, and speaks ${version} by it`, () =>
    Effect.gen(function*() {
      const { peer } = yield* served(connect)
      expect(peer.card).toEqual({ name: "Kestrel Desk", streaming: true })
      expect(peer.speaks).toBe(version)
    }))

  it.scoped("sends a message, waits for the task, and gets it again", () =>
    Effect.gen(function*() {
      const { peer } = yield* served(connect)
      const task = yield* Effect.promise(() => peer.send("clay", true))
      expect(task).toMatchObject({ kind: "task", state: "completed", text: "ok" })
      expect(yield* Effect.promise(() => peer.get(task.id))).toEqual(task)
    }))

  it.scoped("streams a task to its final event", () =>
    Effect.gen(function*() {
      const { peer } = yield* served(connect)
      const events = yield* all(peer.stream("clay"))
      expect(new Set(events.map(({ id }) => id)).size).toBe(1)
      expect(events[0]!.kind).toBe("task")
      expect(events.slice(1).filter(({ text }) => text !== "").map(({ kind, state, text }) => [kind, state, text]))
        .toEqual([
          ["status-update", "working", "started"],
          ["artifact-update", undefined, "made of clay"],
          ["status-update", "completed", "ok"]
        ])
    }))

  it.scoped("sends without waiting, and cancels the task while it runs", () =>
    Effect.gen(function*() {
      const { interrupted, peer } = yield* served(connect)
      const task = yield* Effect.promise(() => peer.send("wait", false))
      expect(["submitted", "working"]).toContain(task.state)
      yield* until(peer.resubscribe(task.id), "started")
      expect(yield* Effect.promise(() => peer.cancel(task.id))).toMatchObject({ id: task.id, state: "canceled" })
      yield* Deferred.await(interrupted)
      expect(yield* Effect.promise(() => peer.get(task.id))).toMatchObject({ id: task.id, state: "canceled" })
    }))

  it.scoped("leaves a stream and follows its task again from where it is", () =>
    Effect.gen(function*() {
      const { gate, peer, runs } = yield* served(connect)
      const { id } = yield* until(peer.stream("wait"), "started")
      const again = peer.resubscribe(id)
      expect((yield* Effect.promise(() => again.next())).value).toMatchObject({ kind: "task", id, state: "working" })
      yield* gate.open
      const rest = yield* all(again)
      expect(rest.at(-1)).toMatchObject({ kind: "status-update", id, state: "completed", text: "ok" })
      expect(rest.map(({ text }) => text)).toContain("made of wait")
      expect(yield* Ref.get(runs)).toBe(1)
    }))
})
