// The requests of an A2A client, without the client: each wire in its own words, which its server takes without translating.
import { request } from "node:http"
import { send } from "./http.mjs"

const v03 = {
  headers: { accept: "application/json, text/event-stream" },
  message: (text, id) => ({
    kind: "message",
    messageId: `m-${id}`,
    role: "user",
    parts: [{ kind: "text", text }]
  }),
  send: "message/send",
  stream: "message/stream",
  completed: "\"state\":\"completed\"",
  step: "\"text\":\"step "
}

const v1 = {
  headers: { ...v03.headers, "a2a-version": "1.0" },
  message: (text, id) => ({ messageId: `m-${id}`, role: "ROLE_USER", parts: [{ text }] }),
  send: "SendMessage",
  stream: "SendStreamingMessage",
  completed: "\"state\":\"TASK_STATE_COMPLETED\"",
  step: v03.step
}

export const wires = { "0.3": v03, "1.0": v1 }

const bodyOf = (wire, method, text, id) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params: { message: wire.message(text, id) } })

/** Sends a message and answers the text of the task that is there when its run has ended; throws unless it is completed. */
export const ask = async (port, agent, wire, text, id) => {
  const body = bodyOf(wire, wire.send, text, id)
  const answer = await send(port, "/a2a", { agent, body, headers: wire.headers })
  if (answer.status !== 200 || !answer.text.includes(wire.completed)) {
    throw new Error(`${wire.send} answered ${answer.status}: ${answer.text.slice(0, 500)}`)
  }
  return answer.text
}

/** Opens a stream of `count` steps and answers node's response, of which nothing is read yet. */
export const openStream = (port, agent, wire, count) =>
  new Promise((resolve, reject) => {
    const body = bodyOf(wire, wire.stream, `stream ${count}`, 1)
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...wire.headers }
    const sent = request({ host: "127.0.0.1", port, path: "/a2a", agent, method: "POST", headers }, resolve)
    sent.on("error", reject)
    sent.end(body)
  })

/** Reads a stream to its end; throws unless every step came, in order and once, and the task is completed. */
export const readStream = async (response, wire, count) => {
  const chunks = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  let at = 0
  for (let n = 0; n < count; n++) {
    at = text.indexOf(`${wire.step}${n}"`, at)
    if (at === -1) throw new Error(`step ${n} of ${count} is missing`)
    at++
  }
  if (text.indexOf(`${wire.step}`, at) !== -1) throw new Error(`there is more than ${count} steps`)
  if (!text.includes(wire.completed, at)) throw new Error(`the stream ended with ${text.slice(-300)}`)
}
