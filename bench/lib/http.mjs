// A plain client: node's own, whose connections are kept as long as the server keeps them.
import { Agent, request } from "node:http"

export const agent = (connections) => new Agent({ keepAlive: true, maxSockets: connections })

/** One request; answers `{ status, headers, text }`. */
export const send = (port, path, { agent, body, headers = {} } = {}) =>
  new Promise((resolve, reject) => {
    const sent = request({
      host: "127.0.0.1",
      port,
      path,
      agent,
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined
        ? headers
        : { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers }
    }, (response) => {
      const chunks = []
      response.on("data", (chunk) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() }))
    })
    sent.on("error", reject)
    sent.end(body)
  })

/** Runs `task` `count` times, `width` at once. */
export const inParallel = async (count, width, task) => {
  let next = 0
  const worker = async () => {
    while (next < count) await task(next++)
  }
  await Promise.all(Array.from({ length: width }, worker))
}
