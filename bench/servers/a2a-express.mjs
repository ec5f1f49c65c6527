// Express with the official A2A SDK, as its documentation has it: `PORT`. The agent is the plain one of `agent.mjs`.
import { Role, TaskState } from "@a2a-js/sdk"
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server"
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express"
import express from "express"
import { randomUUID } from "node:crypto"
import { collectedMemory } from "./memory.mjs"

const [port] = process.argv.slice(2)

const text = (value) => ({
  content: { $case: "text", value },
  metadata: undefined,
  filename: "",
  mediaType: "text/plain"
})

const executor = {
  execute: async ({ contextId, taskId, userMessage }, bus) => {
    const say = (value) => ({
      messageId: randomUUID(),
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts: [text(value)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: []
    })
    const status = (state, message) => ({ state, message, timestamp: new Date().toISOString() })
    const update = (state, message, metadata) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, message), metadata }))
    bus.publish(AgentEvent.task({
      id: taskId,
      contextId,
      status: status(TaskState.TASK_STATE_SUBMITTED),
      artifacts: [],
      history: [userMessage],
      metadata: undefined
    }))
    update(TaskState.TASK_STATE_WORKING)
    const count = Number(userMessage.parts[0].content.value.split(" ")[1] ?? 0)
    for (let n = 0; n < count; n++) update(TaskState.TASK_STATE_WORKING, say(`step ${n}`), { n })
    if (count === 0) {
      bus.publish(AgentEvent.artifactUpdate({
        taskId,
        contextId,
        artifact: {
          artifactId: randomUUID(),
          name: "answer",
          description: "",
          parts: [text("three parcels are on the shelf")],
          metadata: undefined,
          extensions: []
        },
        append: false,
        lastChunk: true,
        metadata: undefined
      }))
    }
    update(TaskState.TASK_STATE_COMPLETED, say("done"))
    bus.finished()
  },
  cancelTask: async () => {}
}

const card = {
  name: "Parcel Desk",
  description: "Keeps a desk.",
  version: "1.0.0",
  supportedInterfaces: [
    { url: `http://127.0.0.1:${port}/a2a`, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }
  ],
  provider: undefined,
  capabilities: { streaming: true, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text"],
  defaultOutputModes: ["text"],
  skills: [],
  signatures: []
}

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)

const app = express()
app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }))
app.use("/a2a", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
app.get("/bench/memory", (_, response) => {
  response.json(collectedMemory())
})
app.listen(Number(port), "127.0.0.1")
