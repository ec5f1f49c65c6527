// A2A clients behind one face, whichever their SDK and wire: they are asked `{ step, … }` and tell of tasks and events in the words of 0.3.
// What they raise is an error with the JSON-RPC `code`, if it can be told.
import * as Sdk from "@a2a-js/sdk"
import * as SdkClient from "@a2a-js/sdk/client"
import * as Sdk03Client from "a2a-sdk-03/client"
import { join } from "node:path"

const ended = new Set(["completed", "failed", "canceled", "rejected", "input-required"])

/** The members that are there. */
const only = (members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** All events, or those until one says the text `until`; what is to be done `after` the first is done then. */
const read = async (events, { after, until }, ask) => {
  const found = []
  for await (const event of events) {
    found.push(event)
    if (after !== undefined && found.length === 1) await ask(after)
    if (until !== undefined && event.parts.some(({ text }) => text === until)) break
  }
  return found
}

/**
 * A client in this process: `steps` are functions, of which `stream` and `resubscribe` give events; `explain` gives the code of what
 * they throw.
 */
const local = (label, wire, steps, explain) => {
  const ask = async ({ step, ...message }) => {
    try {
      const answer = steps[step](message)
      return Symbol.asyncIterator in answer ? await read(answer, message, ask) : await answer
    } catch (error) {
      throw Object.assign(new Error(`${error.name}: ${error.message}`), { code: explain(error), named: error.name })
    }
  }
  return { label, wire, steps: Object.keys(steps), ask, stop: async () => {} }
}

async function* map(source, f) {
  for await (const item of source) yield f(item)
}

const burst = (send) => ({ messages }) => Promise.all(messages.map(send))

const v1Part = ({ bytes, data, mimeType, name, text, uri }) =>
  text !== undefined
    ? { text }
    : data !== undefined
    ? { data }
    : only({ raw: bytes, url: uri, filename: name, mediaType: mimeType })

const fromV1Part = ({ data, filename, mediaType, raw, text, url }) =>
  only({ text, data, bytes: raw, uri: url, name: filename, mimeType: mediaType })

const fromV1Parts = (holder) => (holder?.parts ?? []).map(fromV1Part)

const fromV1State = ({ state }) => state.replace("TASK_STATE_", "").toLowerCase().replace("_", "-")

const fromV1Task = ({ artifacts = [], contextId, history = [], id, status }) => ({
  kind: "task",
  id,
  contextId,
  state: fromV1State(status),
  parts: fromV1Parts(status.message),
  history: history.map(fromV1Parts),
  artifacts: artifacts.map(fromV1Parts)
})

const fromV1Event = ({ artifactUpdate, message, statusUpdate, task }) => {
  if (task !== undefined) return fromV1Task(task)
  if (message !== undefined) return { kind: "message", parts: fromV1Parts(message) }
  const { contextId, taskId: id } = statusUpdate ?? artifactUpdate
  if (statusUpdate !== undefined) {
    const state = fromV1State(statusUpdate.status)
    const parts = fromV1Parts(statusUpdate.status.message)
    return { kind: "status-update", id, contextId, state, parts, final: ended.has(state) }
  }
  const { append = false, artifact, lastChunk: last = false } = artifactUpdate
  return {
    kind: "artifact-update",
    id,
    contextId,
    parts: fromV1Parts(artifact),
    name: artifact.name ?? "",
    append,
    last
  }
}

/** 1.3.0, on the wire of the version that it is left with when all others are taken off the card. */
export const js1 = (version) => {
  let client
  const request = ({ blocking, contextId, history_length: historyLength, messageId, metadata, parts, taskId }) =>
    Sdk.SendMessageRequest.fromJSON({
      message: only({ messageId, contextId, taskId, metadata, role: "ROLE_USER", parts: parts.map(v1Part) }),
      configuration: only({ returnImmediately: blocking === false, historyLength })
    })
  const task = (found) => fromV1Task(Sdk.Task.toJSON(found))
  const send = async (message) => {
    const reply = await client.sendMessage(request(message))
    return "status" in reply ? task(reply) : { kind: "message", parts: fromV1Parts(Sdk.Message.toJSON(reply)) }
  }
  const events = (stream) => map(stream, (event) => fromV1Event(Sdk.StreamResponse.toJSON(event)))
  return local(`a2a-js 1.3.0 on ${version}`, version, {
    connect: async ({ path, url }) => {
      const legacyCompat = { enabled: version === "0.3" }
      const card = await new SdkClient.DefaultAgentCardResolver({ legacyCompat, path }).resolve(url)
      const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === version)
      const transports = [new SdkClient.JsonRpcTransportFactory({ legacyCompat })]
      client = await new SdkClient.ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces })
      const { capabilities, defaultInputModes: inputModes, description, name, skills } = card
      return {
        name,
        description,
        version: card.version,
        url: supportedInterfaces[0].url,
        speaks: client.protocolVersion,
        streaming: capabilities.streaming,
        inputModes,
        skills: skills.map(({ id }) => id),
        extensions: capabilities.extensions.map(({ uri }) => uri)
      }
    },
    send,
    stream: (message) => events(client.sendMessageStream(request(message))),
    resubscribe: ({ id }) => events(client.resubscribeTask(Sdk.SubscribeToTaskRequest.fromJSON({ id }))),
    get: async ({ history_length: historyLength, id }) =>
      task(await client.getTask(Sdk.GetTaskRequest.fromJSON(only({ id, historyLength })))),
    cancel: async ({ id }) => task(await client.cancelTask(Sdk.CancelTaskRequest.fromJSON({ id }))),
    push: ({ id: taskId }) =>
      client.createTaskPushNotificationConfig(
        Sdk.TaskPushNotificationConfig.fromJSON({ taskId, id: "hook", url: "https://kiln.example/hook" })
      ),
    burst: burst(send),
    ...(version === "1.0"
      ? {
        list: async ({ contextId }) =>
          (await client.listTasks(Sdk.ListTasksRequest.fromJSON({ contextId }))).tasks.map(task)
      }
      : {})
  }, (error) => (error.cause ?? error).envelopeCode)
}

const v03Part = ({ data, text, ...file }) =>
  text !== undefined ? { kind: "text", text } : data !== undefined ? { kind: "data", data } : { kind: "file", file }

const fromV03Part = (part) => part.kind === "file" ? part.file : { [part.kind]: part[part.kind] }

const fromV03Parts = (holder) => (holder?.parts ?? []).map(fromV03Part)

const fromV03 = (answer) => {
  const { artifacts = [], contextId, history = [], id, kind, status, taskId } = answer
  switch (kind) {
    case "message":
      return { kind, parts: fromV03Parts(answer) }
    case "artifact-update": {
      const { append = false, artifact, lastChunk: last = false } = answer
      return { kind, id: taskId, contextId, parts: fromV03Parts(artifact), name: artifact.name ?? "", append, last }
    }
    case "status-update":
      return {
        kind,
        id: taskId,
        contextId,
        state: status.state,
        parts: fromV03Parts(status.message),
        final: answer.final
      }
    default:
      return {
        kind,
        id,
        contextId,
        state: status.state,
        parts: fromV03Parts(status.message),
        history: history.map(fromV03Parts),
        artifacts: artifacts.map(fromV03Parts)
      }
  }
}

/** 0.3.14. */
export const js03 = () => {
  let client
  const params = ({ blocking, contextId, history_length: historyLength, messageId, metadata, parts, taskId }) => ({
    message: only({ kind: "message", role: "user", messageId, contextId, taskId, metadata, parts: parts.map(v03Part) }),
    configuration: only({ blocking, historyLength })
  })
  const send = async (message) => fromV03(await client.sendMessage(params(message)))
  return local("a2a-js 0.3.14", "0.3", {
    connect: async ({ path, url }) => {
      client = await new Sdk03Client.ClientFactory().createFromUrl(url, path)
      const card = await client.getAgentCard()
      const { capabilities, defaultInputModes: inputModes, description, name, protocolVersion: speaks, skills } = card
      return {
        name,
        description,
        version: card.version,
        url: card.url,
        speaks,
        streaming: capabilities.streaming,
        inputModes,
        skills: skills.map(({ id }) => id),
        extensions: capabilities.extensions.map(({ uri }) => uri)
      }
    },
    send,
    stream: (message) => map(client.sendMessageStream(params(message)), fromV03),
    resubscribe: ({ id }) => map(client.resubscribeTask({ id }), fromV03),
    get: async ({ history_length: historyLength, id }) => fromV03(await client.getTask(only({ id, historyLength }))),
    cancel: async ({ id }) => fromV03(await client.cancelTask({ id })),
    push: ({ id: taskId }) =>
      client.setTaskPushNotificationConfig({
        taskId,
        pushNotificationConfig: { url: "https://kiln.example/hook" }
      }),
    burst: burst(send)
  }, (error) => (error.cause ?? error).errorResponse?.error.code)
}

/** A client of a Python release: its venv, its driver, and what the driver is started with. */
export const python = (context, label, wire, release, driver, args = []) => {
  const { ask, stop } = context.converse(context.python(release), [
    join(import.meta.dirname, "../python", driver),
    ...args
  ])
  return {
    label,
    wire,
    steps: [
      "connect",
      "send",
      "stream",
      "resubscribe",
      "get",
      "cancel",
      "push",
      "burst",
      ...(wire === "1.0" ? ["list"] : [])
    ],
    ask: async (message) => {
      const { error, value } = await ask(message)
      if (error === undefined) return value
      throw Object.assign(new Error(`${error.name}: ${error.message}`), { code: error.code, named: error.name })
    },
    stop
  }
}
