import { TlsFront } from "@effect-agentenv/testing"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type Server } from "node:http"
import { get } from "node:https"
import type { AddressInfo } from "node:net"

const plain = Effect.acquireRelease(
  Effect.async<Server>((resume) => {
    const server = createServer((request, response) => response.end(`plain ${request.url}`))
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
)

const read = (url: string, ca?: string): Effect.Effect<string, string> =>
  Effect.async((resume) => {
    get(url, { ...(ca === undefined ? {} : { ca }), agent: false }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk
      })
      response.on("end", () => resume(Effect.succeed(text)))
    }).on("error", (error: NodeJS.ErrnoException) => resume(Effect.fail(error.code ?? error.message)))
  })

it.scoped("a plain server answers over TLS, to who trusts the authority", () =>
  Effect.gen(function*() {
    const { port } = (yield* plain).address() as AddressInfo
    const front = yield* TlsFront.make(port)
    expect(yield* read(`${front.url}/a?b=c`, front.ca)).toBe("plain /a?b=c")
    expect(yield* Effect.flip(read(`${front.url}/a`))).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE")
  }))

it.scoped("a front without a server breaks the connection off, and ends with its scope", () =>
  Effect.gen(function*() {
    const { ca, url } = yield* Effect.scoped(Effect.gen(function*() {
      const server = yield* plain
      const { port } = server.address() as AddressInfo
      const front = yield* TlsFront.make(port)
      server.close()
      expect(yield* Effect.flip(read(front.url, front.ca))).toBe("ECONNRESET")
      return front
    }))
    expect(yield* Effect.flip(read(url, ca))).toBe("ECONNREFUSED")
  }))
