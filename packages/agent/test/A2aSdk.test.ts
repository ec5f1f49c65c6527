import * as Sdk from "@a2a-js/sdk"
import * as SdkClient from "@a2a-js/sdk/client"
import * as SdkError from "@a2a-js/sdk/errors"
import type { A2ARequestHandler } from "@a2a-js/sdk/server"
import { jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express"
import { Agent, AgentServer, Task, type TaskEngine, type TaskRequest, TaskResult } from "@effect-agentenv/agent"
import * as A2aSdk from "@effect-agentenv/agent/A2aSdk"
import { describe, expect, it } from "@effect/vitest"
import { Chunk, ConfigProvider, Deferred, Effect, Layer, Logger, LogLevel, Stream } from "effect"
import express from "express"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const Desk = Agent.make("Kestrel Desk", { description: "Keeps a desk.", version: "1.0.0", streaming: true })
const Still = Agent.make("Still Desk", { description: "Says it once.", version: "1.0.0" })

const textOf = ({ parts }: TaskRequest.TaskRequest<unknown>) => parts[0]?.kind === "text" ? parts[0].text : ""

const quiet = Layer.merge(
  Layer.setConfigProvider(ConfigProvider.fromMap(new Map())),
  Logger.minimumLogLevel(LogLevel.None)
)

/** An agent that does what it is told, and tells when a run is interrupted. */
const desk = Effect.gen(function*() {
  const interrupted = yield* Deferred.make<void>()
  const DeskLive = Desk.toLayer((request) =>
    Effect.gen(function*() {
      yield* Task.progress("started")
      switch (textOf(request)) {
        case "wait":
          return yield* Effect.never
        case "ask":
          return TaskResult.inputRequired("what?")
        case "echo":
          return TaskResult.parts([request.parts[1]!])
      }
      yield* Task.artifact("made", { name: "it" })
      return TaskResult.text("ok")
    }).pipe(Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined)))
  )
  const app = yield* AgentServer.app(Desk).pipe(Effect.provide([DeskLive, quiet]))
  return { app, interrupted }
})

/** Express with the SDK's transports over a handler; answers their base URL. */
const mounted = (make: (baseUrl: string) => Effect.Effect<A2ARequestHandler>) =>
  Effect.gen(function*() {
    const app = express()
    const server = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer(app)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const requestHandler = yield* make(baseUrl)
    const options = {
      requestHandler,
      userBuilder: UserBuilder.noAuthentication,
      legacyCompat: { enabled: true }
    }
    app.use("/rpc", jsonRpcHandler(options))
    app.use("/rest", restHandler(options))
    return baseUrl
  })

const interfaces = (baseUrl: string) =>
  (["JSONRPC", "HTTP+JSON"] as const).flatMap((protocolBinding) =>
    ["1.0", "0.3"].map((protocolVersion) => ({
      url: protocolBinding === "JSONRPC" ? `${baseUrl}/rpc` : `${baseUrl}/rest`,
      protocolBinding,
      protocolVersion
    }))
  )

const handlerOf = (app: AgentServer.App) => (baseUrl: string) =>
  A2aSdk.requestHandler(
    app.engine,
    () => ({ ...app.card.card(baseUrl), supportedInterfaces: interfaces(baseUrl) })
  )

/** The SDK's client on one of the transports. */
const connect = (handler: A2ARequestHandler, binding: string, version: string) =>
  Effect.promise(async () => {
    const card = await handler.getAgentCard()
    const legacyCompat = { enabled: version === "0.3" }
    return new SdkClient.ClientFactory({
      transports: [
        new SdkClient.JsonRpcTransportFactory({ legacyCompat }),
        new SdkClient.RestTransportFactory({ legacyCompat })
      ]
    }).createFromAgentCard({
      ...card,
      supportedInterfaces: card.supportedInterfaces.filter((each) =>
        each.protocolBinding === binding && each.protocolVersion === version
      )
    })
  })

const message = (text: string, more: object = {}, options: object = {}) =>
  Sdk.SendMessageRequest.fromJSON({
    message: { messageId: `m-${text}`, role: "ROLE_USER", parts: [{ text }], ...more },
    ...options
  })

const byId = (id: string) => Sdk.GetTaskRequest.fromJSON({ id })
const task = (reply: Sdk.Message | Sdk.Task): Sdk.Task => {
  if ("status" in reply) return reply
  throw new Error("an agent with tasks answered a message")
}
const stateOf = ({ status }: { readonly status: Sdk.TaskStatus | undefined }) => Sdk.taskStateToJSON(status!.state)
const said = (parts: ReadonlyArray<Sdk.Part> | undefined) =>
  parts?.map(({ content }) => content?.$case === "text" ? content.value : "").join()

const seen = ({ payload }: Sdk.StreamResponse) =>
  payload?.$case === "artifactUpdate"
    ? [payload.$case, said(payload.value.artifact?.parts)]
    : payload?.$case === "task" || payload?.$case === "statusUpdate"
    ? [payload.$case, stateOf(payload.value), said(payload.value.status?.message?.parts)]
    : [payload?.$case]

const all = (events: AsyncIterable<Sdk.StreamResponse>) =>
  Effect.map(
    Effect.orDie(Stream.runCollect(Stream.fromAsyncIterable(events, (cause) => cause))),
    (events) => Chunk.toReadonlyArray(events).map(seen)
  )

/** Reads until the task says `text`, or has said it last, answers its id, and leaves the stream. */
const until = (events: AsyncIterable<Sdk.StreamResponse>, text: string) =>
  Effect.promise(async () => {
    for await (const event of events) {
      if (!seen(event).includes(text)) continue
      const { payload } = event
      return payload?.$case === "task"
        ? payload.value.id
        : payload?.$case === "statusUpdate"
        ? payload.value.taskId
        : ""
    }
    throw new Error(`the stream ended before '${text}'`)
  })

/** The error of what is refused. */
const refused = <A>(ask: () => Promise<A>): Effect.Effect<unknown> =>
  Effect.promise(() =>
    Promise.resolve().then(ask).then(() => expect.unreachable("it was not refused"), (error: unknown) => error)
  )

const served = (binding: string, version: string) =>
  Effect.gen(function*() {
    const { app, interrupted } = yield* desk
    const handler = yield* Deferred.make<A2ARequestHandler>()
    yield* mounted((baseUrl) => Effect.tap(handlerOf(app)(baseUrl), (made) => Deferred.succeed(handler, made)))
    return { client: yield* connect(yield* Deferred.await(handler), binding, version), interrupted }
  })

describe.each([
  ["JSONRPC", "1.0"],
  ["HTTP+JSON", "1.0"],
  ["JSONRPC", "0.3"],
  ["HTTP+JSON", "0.3"]
])("the SDK's %s handler, spoken to in %s", (binding, version) => {
  it.scoped("sends a message, waits for the task, and gets it again", () =>
    Effect.gen(function*() {
      const { client } = yield* served(binding, version)
      const sent = task(yield* Effect.promise(() => client.sendMessage(message("clay"))))
      expect([stateOf(sent), said(sent.status?.message?.parts)]).toEqual(["TASK_STATE_COMPLETED", "ok"])
      expect(sent.artifacts.map(({ name, parts }) => [name, said(parts)])).toEqual([["it", "made"]])
      expect(yield* Effect.promise(() => client.getTask(byId(sent.id)))).toEqual(sent)
      const short = yield* Effect.promise(() =>
        client.getTask(Sdk.GetTaskRequest.fromJSON({ id: sent.id, historyLength: 0 }))
      )
      expect([sent.history.length > 0, short.history.length]).toEqual([true, 0])
    }))

  it.scoped("streams a task to its final event", () =>
    Effect.gen(function*() {
      const { client } = yield* served(binding, version)
      const events = yield* all(client.sendMessageStream(message("clay")))
      expect(events[0]![0]).toBe("task")
      expect(events.filter(([, , text]) => text !== "" && text !== undefined).slice(-2)).toEqual([
        ["statusUpdate", "TASK_STATE_WORKING", "started"],
        ["statusUpdate", "TASK_STATE_COMPLETED", "ok"]
      ])
      expect(events).toContainEqual(["artifactUpdate", "made"])
    }))

  it.scoped("sends without waiting, resubscribes, and cancels the task while it runs", () =>
    Effect.gen(function*() {
      const { client, interrupted } = yield* served(binding, version)
      const { id } = task(
        yield* Effect.promise(() =>
          client.sendMessage(message("wait", {}, { configuration: { returnImmediately: true } }))
        )
      )
      expect(yield* until(client.resubscribeTask(Sdk.SubscribeToTaskRequest.fromJSON({ id })), "started")).toBe(id)
      const canceled = yield* Effect.promise(() => client.cancelTask(Sdk.CancelTaskRequest.fromJSON({ id })))
      expect([canceled.id, stateOf(canceled)]).toEqual([id, "TASK_STATE_CANCELED"])
      yield* Deferred.await(interrupted)
    }))

  it.scoped("goes on with a task that asked for more", () =>
    Effect.gen(function*() {
      const { client } = yield* served(binding, version)
      const { contextId, id, status } = task(yield* Effect.promise(() => client.sendMessage(message("ask"))))
      expect(said(status?.message?.parts)).toBe("what?")
      const after = task(yield* Effect.promise(() => client.sendMessage(message("clay", { taskId: id, contextId }))))
      expect([after.id, stateOf(after)]).toEqual([id, "TASK_STATE_COMPLETED"])
    }))

  it.scoped("carries the bytes of a file both ways", () =>
    Effect.gen(function*() {
      const { client } = yield* served(binding, version)
      const raw = Buffer.from(Array.from({ length: 256 }, (_, n) => n))
      const file = { raw: raw.toString("base64"), mediaType: "image/png", filename: "a.png" }
      const echoed = task(
        yield* Effect.promise(() => client.sendMessage(message("echo", { parts: [{ text: "echo" }, file] })))
      )
      const part = echoed.status?.message?.parts[0]
      // the SDK's REST of 0.3 forgets names
      const filename = binding === "HTTP+JSON" && version === "0.3" ? "" : "a.png"
      expect(part).toMatchObject({ content: { $case: "raw" }, mediaType: "image/png", filename })
      expect(part?.content?.$case === "raw" && raw.equals(part.content.value)).toBe(true)
    }))

  it.scoped("fails as the SDK's own handler does", () =>
    Effect.gen(function*() {
      const { client } = yield* served(binding, version)
      expect(yield* refused(() => client.getTask(byId("nobody")))).toBeInstanceOf(SdkError.TaskNotFoundError)
      const { id } = task(yield* Effect.promise(() => client.sendMessage(message("clay"))))
      expect(yield* refused(() => client.cancelTask(Sdk.CancelTaskRequest.fromJSON({ id })))).toBeInstanceOf(
        SdkError.TaskNotCancelableError
      )
      const push = { taskId: id, id: "p", url: "https://hook.example" }
      expect(
        yield* refused(() => client.createTaskPushNotificationConfig(Sdk.TaskPushNotificationConfig.fromJSON(push)))
      ).toBeInstanceOf(SdkError.A2AError)
    }))
})

describe("requestHandler", () => {
  const context = undefined as never

  it.scoped("refuses what is no message, what has ended, and push notifications", () =>
    Effect.gen(function*() {
      const { app } = yield* desk
      const handler = yield* handlerOf(app)("http://desk.test")
      const fails = (ask: () => Promise<unknown>, error: new() => SdkError.A2AError) =>
        Effect.map(refused(ask), (refusal) => expect(refusal).toBeInstanceOf(error))
      const empty = Sdk.SendMessageRequest.fromJSON({ message: { messageId: "m", role: "ROLE_USER", parts: [] } })
      yield* fails(() => handler.sendMessage(empty, context), SdkError.RequestMalformedError)
      yield* fails(
        () => handler.sendMessage({ ...empty, message: 7 as never }, context),
        SdkError.RequestMalformedError
      )
      yield* fails(() => handler.getTask(byId(""), context), SdkError.RequestMalformedError)
      const { contextId, id } = task(yield* Effect.promise(() => handler.sendMessage(message("clay"), context)))
      yield* fails(
        () => handler.sendMessage(message("more", { taskId: id, contextId }), context),
        SdkError.UnsupportedOperationError
      )
      yield* fails(
        () => handler.resubscribe(Sdk.SubscribeToTaskRequest.fromJSON({ id }), context).next(),
        SdkError.UnsupportedOperationError
      )
      const asked = task(yield* Effect.promise(() => handler.sendMessage(message("ask"), context)))
      yield* fails(
        () => handler.sendMessage(message("more", { taskId: asked.id, contextId: "another" }), context),
        SdkError.RequestMalformedError
      )
      const config = Sdk.TaskPushNotificationConfig.fromJSON({ taskId: id, url: "https://hook.example" })
      const named = { tenant: "", taskId: id, id: "p", pageSize: 1, pageToken: "" }
      for (
        const push of [
          () => handler.createTaskPushNotificationConfig(config, context),
          () => handler.getTaskPushNotificationConfig(named, context),
          () => handler.listTaskPushNotificationConfigs(named, context),
          () => handler.deleteTaskPushNotificationConfig(named, context)
        ]
      ) {
        yield* fails(push, SdkError.PushNotificationNotSupportedError)
      }
      yield* fails(
        () => handler.getAuthenticatedExtendedAgentCard({ tenant: "" }, context),
        SdkError.UnsupportedOperationError
      )
    }))

  it.scoped("lists tasks, newest first and page by page", () =>
    Effect.gen(function*() {
      const { app } = yield* desk
      const handler = yield* handlerOf(app)("http://desk.test")
      const ids: Array<string> = []
      for (const text of ["one", "two", "three"]) {
        ids.unshift(task(yield* Effect.promise(() => handler.sendMessage(message(text), context))).id)
      }
      const list = (more: object) =>
        Effect.promise(() => handler.listTasks(Sdk.ListTasksRequest.fromJSON({ pageSize: 2, ...more }), context))
      const first = yield* list({})
      const second = yield* list({ pageToken: first.nextPageToken, includeArtifacts: true })
      expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(ids)
      expect([first.tasks[0]!.artifacts.length, second.tasks[0]!.artifacts.length]).toEqual([0, 1])
      expect([second.nextPageToken, second.totalSize]).toEqual(["", 3])
      expect(yield* refused(() => handler.listTasks(Sdk.ListTasksRequest.fromJSON({ pageToken: "x" }), context)))
        .toBeInstanceOf(SdkError.RequestMalformedError)
    }))

  it.scoped("doesn't stream when the card says that the agent doesn't", () =>
    Effect.gen(function*() {
      const app = yield* AgentServer.app(Still).pipe(
        Effect.provide([Still.toLayer(() => Effect.succeed(TaskResult.text("ok"))), quiet])
      )
      const handler = yield* handlerOf(app)("http://desk.test")
      const error = yield* refused(() => handler.sendMessageStream(message("clay"), context).next())
      expect(error).toBeInstanceOf(SdkError.UnsupportedOperationError)
    }))

  it.scoped("leaves a stream at once, though nothing happens in it, and its task as it is", () =>
    Effect.gen(function*() {
      const { app } = yield* desk
      const handler = yield* handlerOf(app)("http://desk.test")
      const events = handler.sendMessageStream(message("wait"), context)
      const first = yield* Effect.promise(() => events.next())
      const id = first.value?.payload?.$case === "task" ? first.value.payload.value.id : ""
      expect(yield* until(handler.resubscribe(Sdk.SubscribeToTaskRequest.fromJSON({ id }), context), "started")).toBe(
        id
      )
      const reading = yield* Effect.fork(all({ [Symbol.asyncIterator]: () => events }))
      yield* Effect.yieldNow()
      expect(yield* Effect.promise(() => events.return())).toEqual({ done: true, value: undefined })
      expect(yield* reading).not.toContainEqual(["statusUpdate", "TASK_STATE_CANCELED", ""])
      expect(yield* Effect.promise(() => events.next())).toEqual({ done: true, value: undefined })
      expect(stateOf(yield* Effect.promise(() => handler.getTask(byId(id), context)))).toBe("TASK_STATE_WORKING")
      yield* Effect.promise(() => handler.cancelTask(Sdk.CancelTaskRequest.fromJSON({ id }), context))
    }))

  it.scoped("refuses what nests 10,000 deep and half a character, as the wire does", () =>
    Effect.gen(function*() {
      const { app } = yield* desk
      const handler = yield* handlerOf(app)("http://desk.test")
      let data: unknown = 1
      for (let depth = 0; depth < 10_000; depth++) data = [data]
      const deep = message("", { parts: [{ text: "echo" }, { data }] })
      expect(yield* refused(() => handler.sendMessage(deep, context))).toBeInstanceOf(SdkError.RequestMalformedError)
      const half = message("\ud800", { metadata: { "\udc00": 1 } })
      expect(yield* refused(() => handler.sendMessage(half, context))).toBeInstanceOf(SdkError.RequestMalformedError)
      expect(stateOf(task(yield* Effect.promise(() => handler.sendMessage(message("clay"), context))))).toBe(
        "TASK_STATE_COMPLETED"
      )
    }))

  it.scoped("tells nobody what went wrong inside, but an id", () =>
    Effect.gen(function*() {
      const { app } = yield* desk
      const broken: TaskEngine.TaskEngine["Type"] = {
        ...app.engine,
        get: () => Effect.die(new Error("canary-private-detail"))
      }
      const handler = yield* A2aSdk.requestHandler(broken, app.card.card("http://desk.test"))
      const error = (yield* refused(() => handler.getTask(byId("t"), context))) as SdkError.A2AError
      expect(error).toBeInstanceOf(SdkError.A2AError)
      expect(error.message).toMatch(/Correlation ID: [0-9a-f]{32}$/)
      expect(String(error.cause)).not.toContain("canary")
    }).pipe(Effect.provide(quiet)))
})
