import type * as Duration from "effect/Duration"
import { createHash, randomBytes } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import * as FileSystem from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as Path from "node:path"
import { pipeline } from "node:stream/promises"
import { gzipSync } from "node:zlib"
import type { Fault, Seen } from "../ObjectStore.ts"
import { readForm } from "./form.ts"
import { readPolicy, verifies } from "./signing.ts"

export type Injected = Fault | { readonly name: "none" }

export type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** Refuses a request, with an XML body as S3 has. */
export class Refusal {
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

/** An object: its size, and its content if that is small enough to lie in memory. */
export interface Stored {
  readonly size: number
  readonly content: Buffer | undefined
}

const smallObject = 1024 * 1024

export interface Context {
  readonly directory: string
  readonly objects: Map<string, Stored>
  readonly secret: string
  readonly now: () => number
  readonly sleep: (duration: Duration.DurationInput) => Promise<void>
}

export const refusalOf = (fault: Injected): Refusal | undefined => {
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
const fileOf = (directory: string, key: string): string =>
  Path.join(directory, createHash("sha256").update(key).digest("hex"))

const unsigned = new Set([
  "host",
  "connection",
  "content-length",
  "accept",
  "accept-encoding",
  "user-agent",
  "transfer-encoding"
])

export const authorize = (context: Context, request: IncomingMessage, key: string, query: URLSearchParams): void => {
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

const readAll = async (content: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const writeFile = async (context: Context, key: string, content: AsyncIterable<Uint8Array>): Promise<void> => {
  const part = Path.join(context.directory, `.${randomBytes(8).toString("hex")}`)
  try {
    await pipeline(content, createWriteStream(part))
    await FileSystem.rename(part, fileOf(context.directory, key))
  } catch (error) {
    await FileSystem.rm(part, { force: true })
    throw error
  }
}

const store = async (
  context: Context,
  request: IncomingMessage,
  key: string,
  content: AsyncIterable<Uint8Array>,
  max: number
): Promise<void> => {
  let size = 0
  const limited = async function*() {
    for await (const chunk of content) {
      size += chunk.length
      if (size > max) throw new Refusal(400, "EntityTooLarge")
      yield chunk
    }
  }
  const small = Number(request.headers["content-length"]) <= smallObject
  const inMemory = small ? await readAll(limited()) : undefined
  if (inMemory === undefined) await writeFile(context, key, limited())
  context.objects.set(key, { size, content: inMemory })
}

const mustHaveLength = (request: IncomingMessage): void => {
  if (request.headers["content-length"] === undefined) throw new Refusal(411, "MissingContentLength")
}

const late = async (context: Context, fault: Injected): Promise<void> => {
  if (fault.name !== "late-403") return
  await context.sleep(fault.delay ?? 0)
  throw new Refusal(403, "AccessDenied")
}

export const put = async (context: Context, request: IncomingMessage, key: string, fault: Injected): Promise<void> => {
  mustHaveLength(request)
  const body = fault.name === "reset" ? half(request) : request
  if (fault.name === "late-403") { for await (const _ of body); }
  await late(context, fault)
  await store(context, request, key, body, Infinity)
}

export const post = async (
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
  await store(context, request, key, form.file, maxBytes)
  request.resume()
}

export const contentOf = async (context: Context, key: string, stored: Stored): Promise<Buffer> =>
  stored.content ?? FileSystem.readFile(fileOf(context.directory, key))

export const get = async (context: Context, response: ServerResponse, key: string, fault: Injected): Promise<void> => {
  const stored = context.objects.get(key)
  if (stored === undefined) throw new Refusal(404, "NoSuchKey")
  const head = (size: number, headers = {}) =>
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": size, ...headers })
  if (fault.name === "none" && stored.content === undefined) {
    head(stored.size)
    return pipeline(createReadStream(fileOf(context.directory, key), { highWaterMark: 256 * 1024 }), response)
  }
  const content = await contentOf(context, key, stored)
  const half = content.subarray(0, Math.floor(stored.size / 2))
  switch (fault.name) {
    case "gzip": {
      const packed = gzipSync(content)
      head(packed.length, { "content-encoding": "gzip" }).end(packed)
      return
    }
    case "wrong-length":
      head(content.length - 1).end(content.subarray(1))
      return
    case "corrupt":
      head(content.length).end(content.map((byte) => byte ^ 1))
      return
    case "truncated":
      head(content.length).write(half, () => response.socket?.end())
      return
    case "reset":
      head(content.length).write(half, () => response.socket?.destroy())
      return
    case "cut":
      response.useChunkedEncodingByDefault = false
      response.writeHead(200, { connection: "close" }).end(half)
      return
    default:
      head(content.length).end(content)
  }
}

export const refuse = (request: IncomingMessage, response: ServerResponse, socket: Socket, error: unknown): void => {
  if (!(error instanceof Refusal) || error.status === 0 || response.headersSent) {
    socket.destroy()
    return
  }
  const body = xml(error.code, request)
  response.writeHead(error.status, { ...error.headers, "content-type": "application/xml" }).end(body)
  // What is still on its way is read, so that the sender sees the answer and no reset.
  request.resume()
}
