// The store of the transfers: takes whatever is sent, and sends as many bytes as `GET /bytes/N` asks for. It does as little as TLS
// allows, so that the side that is measured is the slower one. Says where it is in a line of JSON.
import * as TlsFront from "@effect-agentenv/testing/TlsFront"
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { createServer } from "node:https"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"

const block = randomBytes(256 * 1024)

const blocks = function*(size) {
  for (let left = size; left > 0; left -= block.length) yield left < block.length ? block.subarray(0, left) : block
}

const { ca, cert, key } = await Effect.runPromise(TlsFront.identity)

const server = createServer({ cert, key }, (request, response) => {
  const [, size] = /^\/bytes\/(\d+)$/.exec(request.url) ?? []
  if (request.method === "GET" && size !== undefined) {
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": size })
    // a client that is gone is no matter of ours
    return pipeline(Readable.from(blocks(Number(size)), { objectMode: false }), response).catch(() => {})
  }
  request.resume().on("end", () => response.writeHead(200, { "content-length": 0 }).end())
})

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `https://127.0.0.1:${server.address().port}`, ca }))
})
