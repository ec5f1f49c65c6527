import * as Arr from "effect/Array"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import * as FileSystem from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { pipeline } from "node:stream/promises"
import { gzipSync } from "node:zlib"
import type { Fault, Seen, Service } from "../ObjectStore.ts"
import { identity } from "./authority.ts"
import { readForm } from "./form.ts"
import { readPolicy, verifies } from "./signing.ts"

type Injected = Fault | { readonly name: "none" }

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** Refuses a request, with an XML body as S3 has. */
class Refusal {
  readonly status: number
  readonly code: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, headers: Readonly<Record<string, string>> = {}) {
    this.status = status
    this.code = code
    this.headers = headers
  }
}

/** Stores tell what was signed, which is why nobody may pass their bodies on. */
const xml = (code: string, request: IncomingMessage): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${
    code === "AccessDenied" ? "Request has expired" : code
  }</Message><Resource>${request.url?.replaceAll("&", "&amp;")}</Resource></Error>`

const answers: Readonly<Record<string, Refusal>> = {
  "early-403": new Refusal(403, "SignatureDoesNotMatch"),
  "expired": new Refusal(403, "AccessDenied"),
  "request-timeout": new Refusal(400, "RequestTimeout"),
  "not-implemented": new Refusal(501, "NotImplemented")
}

interface Context {
  readonly directory: string
  readonly secret: string
  readonly now: () => number
  readonly sleep: (duration: Duration.DurationInput) => Promise<void>
}

const refusalOf = (fault: Injected): Refusal | undefined => {
  switch (fault.name) {
    case "unavailable":
      return new Refusal(503, "SlowDown", fault.retryAfter === undefined ? {} : { "retry-after": fault.retryAfter })
    case "status":
      return new Refusal(fault.status, "Other")
    case "redirect":
      return new Refusal(307, "TemporaryRedirect", { location: fault.location })
    default:
      return answers[fault.name]
  }
}

/** Objects lie flat, whatever slashes their keys have. */
const fileOf = (directory: string, key: string): string => Path.join(directory, Buffer.from(key).toString("hex"))

const unsigned = new Set([
  "host",
  "connection",
  "content-length",
  "accept",
  "accept-encoding",
  "user-agent",
  "transfer-encoding"
])

const authorize = (context: Context, request: IncomingMessage, key: string, query: URLSearchParams): void => {
  const names = (query.get("X-SignedHeaders") ?? "").split(";").filter((name) => name !== "")
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name.toLowerCase()] ?? "")]))
  const expires = Number(query.get("X-Expires"))
  const signed = { method: request.method ?? "", key, expires, headers }
  if (!verifies(context.secret, signed, query.get("X-Signature") ?? "")) throw new Refusal(403, "SignatureDoesNotMatch")
  if (context.now() >= expires) throw new Refusal(403, "AccessDenied")
  const known = new Set(names.map((name) => name.toLowerCase()))
  const strange = Object.keys(request.headers).find((name) => !unsigned.has(name) && !known.has(name))
  if (strange !== undefined && strange !== "content-type") throw new Refusal(403, "HeadersNotSigned")
}

const half = async function*(body: IncomingMessage): AsyncGenerator<Uint8Array> {
  const length = Number(body.headers["content-length"])
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size * 2 >= length) throw new Refusal(0, "reset")
    yield chunk
  }
}

const store = async (context: Context, key: string, content: AsyncIterable<Uint8Array>, max: number): Promise<void> => {
  const part = Path.join(context.directory, `.${randomBytes(8).toString("hex")}`)
  let size = 0
  const limited = async function*() {
    for await (const chunk of content) {
      size += chunk.length
      if (size > max) throw new Refusal(400, "EntityTooLarge")
      yield chunk
    }
  }
  try {
    await pipeline(limited(), createWriteStream(part))
    await FileSystem.rename(part, fileOf(context.directory, key))
  } catch (error) {
    await FileSystem.rm(part, { force: true })
    throw error
  }
}

const mustHaveLength = (request: IncomingMessage): void => {
  if (request.headers["content-length"] === undefined) throw new Refusal(411, "MissingContentLength")
}

const late = async (context: Context, fault: Injected): Promise<void> => {
  if (fault.name !== "late-403") return
  await context.sleep(fault.delay ?? 0)
  throw new Refusal(403, "AccessDenied")
}

const put = async (context: Context, request: IncomingMessage, key: string, fault: Injected): Promise<void> => {
  mustHaveLength(request)
  const body = fault.name === "reset" ? half(request) : request
  if (fault.name === "late-403") { for await (const _ of body); }
  await late(context, fault)
  await store(context, key, body, Infinity)
}

const post = async (
  context: Context,
  request: IncomingMessage,
  seen: Mutable<Seen>,
  fault: Injected
): Promise<void> => {
  mustHaveLength(request)
  const form = await readForm(request.headers["content-type"], fault.name === "reset" ? half(request) : request)
  if (form === undefined) throw new Refusal(400, "MalformedPOSTRequest")
  const fields = new Map(form.fields)
  const key = fields.get("key")
  const policy = fields.get("policy") ?? ""
  seen.fields = [...form.fields.map(([name]) => name), ...(form.file === undefined ? [] : ["file"])]
  seen.key = key ?? ""
  if (key === undefined || form.file === undefined) throw new Refusal(400, "InvalidArgument")
  if (!verifies(context.secret, policy, fields.get("x-signature") ?? "")) {
    throw new Refusal(403, "SignatureDoesNotMatch")
  }
  const { expires, maxBytes, root } = readPolicy(policy)
  if (context.now() >= expires || !key.startsWith(`${root}/`)) throw new Refusal(403, "AccessDenied")
  if (fault.name === "late-403") { for await (const _ of form.file); }
  await late(context, fault)
  await store(context, key, form.file, maxBytes)
  request.resume()
}

const get = async (context: Context, response: ServerResponse, key: string, fault: Injected): Promise<void> => {
  const file = fileOf(context.directory, key)
  const stat = await FileSystem.stat(file).catch(() => {
    throw new Refusal(404, "NoSuchKey")
  })
  const whole = (size: number) =>
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": size })
  const begin = async () => (await FileSystem.readFile(file)).subarray(0, Math.floor(stat.size / 2))
  switch (fault.name) {
    case "gzip": {
      const packed = gzipSync(await FileSystem.readFile(file))
      response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length }).end(packed)
      return
    }
    case "wrong-length": {
      const shorter = (await FileSystem.readFile(file)).subarray(1)
      whole(shorter.length).end(shorter)
      return
    }
    case "corrupt": {
      whole(stat.size).end((await FileSystem.readFile(file)).map((byte) => byte ^ 1))
      return
    }
    case "truncated":
    case "reset": {
      const content = await begin()
      whole(stat.size).write(content, () => {
        if (fault.name === "reset") response.socket?.destroy()
        else response.socket?.end()
      })
      return
    }
    case "cut": {
      const content = await begin()
      response.removeHeader("transfer-encoding")
      response.useChunkedEncodingByDefault = false
      response.writeHead(200, { connection: "close" }).end(content)
      return
    }
    default:
      whole(stat.size)
      await pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), response)
  }
}

const refuse = (request: IncomingMessage, response: ServerResponse, socket: Socket, error: unknown): void => {
  if (!(error instanceof Refusal) || error.status === 0 || response.headersSent) {
    socket.destroy()
    return
  }
  const body = xml(error.code, request)
  response.writeHead(error.status, { ...error.headers, "content-type": "application/xml" }).end(body)
  // What is still on its way is read, so that the sender sees the answer and no reset.
  request.resume()
}

const listen = (server: Server): Effect.Effect<number> =>
  Effect.async((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
  })

const namesOf = (headers: IncomingMessage["headers"]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

interface Running extends Pick<Service, "url" | "ca" | "put" | "get" | "keys" | "inject" | "requests" | "arrived"> {
  readonly secret: string
}

/** Serves objects from a temporary directory, whose name is also where the temporary files of uploads are. */
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
  const context: Context = {
    directory,
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
    put: (key, content) => Effect.promise(() => FileSystem.writeFile(fileOf(directory, key), content)),
    get: (key) =>
      Effect.map(
        Effect.option(Effect.tryPromise(() => FileSystem.readFile(fileOf(directory, key)))),
        Option.map((content) => new Uint8Array(content))
      ),
    keys: Effect.map(
      Effect.promise(() => FileSystem.readdir(directory)),
      (names) =>
        Arr.sort(
          names.filter((name) => !name.startsWith(".")).map((name) => Buffer.from(name, "hex").toString()),
          Order.string
        )
    ),
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
