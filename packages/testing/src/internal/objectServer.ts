import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import * as FileSystem from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import type { Seen, Service } from "../ObjectStore.ts"
import { identity } from "./authority.ts"
import {
  authorize,
  contentOf,
  type Context,
  get,
  type Injected,
  type Mutable,
  post,
  put,
  refusalOf,
  refuse,
  type Stored
} from "./objectAnswer.ts"

const listen = (server: Server): Effect.Effect<number> =>
  Effect.async((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
  })

const namesOf = (headers: IncomingMessage["headers"]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

interface Running extends Pick<Service, "url" | "ca" | "put" | "get" | "keys" | "inject" | "requests" | "arrived"> {
  readonly secret: string
}

/** Serves objects from memory, large ones from a temporary directory. */
export const start: Effect.Effect<Running, never, Scope.Scope> = Effect.gen(function*() {
  const runtime = yield* Effect.runtime()
  const clock = yield* Effect.clock
  const { ca, cert, key } = yield* Effect.promise(identity)
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => FileSystem.mkdtemp(Path.join(tmpdir(), "object-store-"))),
    (directory) => Effect.promise(() => FileSystem.rm(directory, { recursive: true, force: true }))
  )
  const seen: Array<Mutable<Seen>> = []
  const faults: Array<Injected> = []
  const waiting = new Set<() => void>()
  let connections = 0
  const numbers = new WeakMap<object, number>()
  const objects = new Map<string, Stored>()
  const context: Context = {
    directory,
    objects,
    secret: randomBytes(32).toString("hex"),
    now: () => clock.unsafeCurrentTimeMillis(),
    sleep: (duration) => Runtime.runPromise(runtime)(Effect.sleep(duration))
  }

  const answer = async (request: IncomingMessage, response: ServerResponse, record: Mutable<Seen>): Promise<void> => {
    const url = new URL(request.url ?? "/", "https://store")
    record.key = decodeURIComponent(url.pathname.slice(1))
    const fault = faults.shift() ?? { name: "none" }
    const refusal = refusalOf(fault)
    if (refusal !== undefined) throw refusal
    if (fault.name === "stall") return
    if (fault.name === "slow") await context.sleep(fault.delay ?? "2 seconds")
    if (request.method === "POST") await post(context, request, record, fault)
    else authorize(context, request, record.key, url.searchParams)
    if (request.method === "PUT") await put(context, request, record.key, fault)
    if (request.method === "GET") return get(context, response, record.key, fault)
    response.writeHead(request.method === "POST" ? 204 : 200, { "content-length": 0 }).end()
  }

  const server = createServer({ key, cert }, (request, response) => {
    const { socket } = request
    if (!numbers.has(socket)) numbers.set(socket, ++connections)
    const record: Mutable<Seen> = {
      method: request.method ?? "",
      key: "",
      headers: namesOf(request.headers),
      connection: numbers.get(socket) ?? 0,
      fields: [],
      status: undefined
    }
    seen.push(record)
    for (const look of waiting) look()
    response.on("finish", () => {
      record.status = response.statusCode
    })
    answer(request, response, record).catch((error) => refuse(request, response, socket, error))
  })
  server.on("tlsClientError", () => {})

  const port = yield* Effect.acquireRelease(listen(server), () =>
    Effect.async<void>((resume) => {
      server.close(() => resume(Effect.void))
      server.closeAllConnections()
    }))

  return {
    url: `https://127.0.0.1:${port}`,
    ca,
    secret: context.secret,
    put: (key, content) =>
      Effect.sync(() => {
        const bytes = Buffer.from(content)
        objects.set(key, { size: bytes.length, content: bytes })
      }),
    get: (key) =>
      Effect.promise(async () => {
        const stored = objects.get(key)
        if (stored === undefined) return Option.none()
        return Option.some(new Uint8Array(await contentOf(context, key, stored)))
      }),
    keys: Effect.sync(() => Arr.sort(objects.keys(), Order.string)),
    inject: (fault, times = 1) =>
      Effect.sync(() => {
        const injected: Injected = typeof fault === "string" ? { name: fault } as Injected : fault
        for (let count = 0; count < times; count++) faults.push(injected)
      }),
    requests: Effect.sync(() => seen.map((record) => ({ ...record }))),
    arrived: (count) =>
      Effect.async<void>((resume) => {
        const look = () => {
          if (seen.length < count) return
          waiting.delete(look)
          resume(Effect.void)
        }
        waiting.add(look)
        look()
        return Effect.sync(() => waiting.delete(look))
      })
  }
})
