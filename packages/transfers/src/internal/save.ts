import type { ReadObject } from "@effect-agentenv/protocol/Grant"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { createWriteStream, type WriteStream } from "node:fs"
import * as FileSystem from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import * as Path from "node:path"
import type { InvalidTransfer } from "../TransferError.ts"
import { Meter, type Report } from "./content.ts"
import type { Touch } from "./exchange.ts"
import { cutOff, lengthless, mismatch, tooLarge, unwritable } from "./failures.ts"

const opened = (path: string): Promise<WriteStream> =>
  new Promise((resolve, reject) => {
    const file = createWriteStream(path, { flags: "wx", highWaterMark: 256 * 1024 })
    file.once("error", reject)
    file.once("open", () => resolve(file))
  })

const closed = (file: WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (file.closed) return resolve()
    file.once("close", resolve)
    file.destroy()
  })

const io = <A>(operation: () => Promise<A>): Effect.Effect<A, InvalidTransfer> =>
  Effect.tryPromise({ try: operation, catch: unwritable })

/** A file beside the target, gone with the scope unless it has become the target (`B-OBJ-13`). */
export const partOf = (target: string): Effect.Effect<WriteStream, InvalidTransfer, Scope.Scope> => {
  const { base, dir } = Path.parse(Path.resolve(target))
  const path = Path.join(dir, `.${base}.${randomBytes(8).toString("hex")}.part`)
  return Effect.zipRight(
    io(() => FileSystem.mkdir(dir, { recursive: true })),
    Effect.acquireRelease(
      io(() => opened(path)),
      (file) => Effect.ignore(io(() => closed(file).then(() => FileSystem.rm(path, { force: true }))))
    )
  )
}

/** Makes the part the target, all at once. */
export const commit = (part: WriteStream, target: string): Effect.Effect<void, InvalidTransfer> =>
  io(() => FileSystem.rename(String(part.path), target))

/** The announced length, if there is one; one that can't be right fails before a byte is read. */
const announced = (object: ReadObject, response: IncomingMessage): number | undefined => {
  const header = response.headers["content-length"]
  if (header === undefined) {
    const delimited = response.headers["transfer-encoding"] !== undefined
    const known = object.size_bytes !== undefined || object.sha256 !== undefined
    // An answer that ends with its connection looks whole wherever it was cut.
    if (!delimited && !known) throw lengthless()
    return undefined
  }
  const length = Number(header)
  if (length > object.max_bytes) throw tooLarge(object.max_bytes)
  if (object.size_bytes !== undefined && length !== object.size_bytes) throw mismatch("size")
  return length
}

const verify = (object: ReadObject, meter: Meter): { readonly size_bytes: number; readonly sha256: string } => {
  if (object.size_bytes !== undefined && meter.bytes !== object.size_bytes) throw mismatch("size")
  const sha256 = meter.digest()
  if (object.sha256 !== undefined && sha256 !== object.sha256) throw mismatch("SHA-256 digest")
  return { size_bytes: meter.bytes, sha256 }
}

/** Writes the raw bytes of an answer as they come, counted and hashed, and checks them. */
export const save = async (
  object: ReadObject,
  response: IncomingMessage,
  file: WriteStream,
  touch: Touch,
  report: (total: number | undefined) => Report
): Promise<{ readonly size_bytes: number; readonly sha256: string }> => {
  const length = announced(object, response)
  const tell = report(object.size_bytes ?? length)
  const meter = new Meter()
  await new Promise<void>((resolve, reject) => {
    let holds = 0
    const hold = (until: Promise<void>) => {
      holds += 1
      response.pause()
      const release = () => {
        holds -= 1
        touch("read")
        if (holds === 0) response.resume()
      }
      until.then(release, reject)
    }
    file.once("error", (error) => reject(unwritable(error)))
    response.once("error", () => reject(cutOff()))
    response.once("close", () => response.complete || reject(cutOff()))
    response.once("end", () => file.once("finish", resolve).end())
    response.on("data", (chunk: Buffer) => {
      touch("read")
      meter.add(chunk)
      if (meter.bytes > object.max_bytes) return reject(tooLarge(object.max_bytes))
      if (!file.write(chunk)) hold(new Promise((drained) => file.once("drain", drained)))
      const told = tell(meter.bytes)
      if (told !== undefined) hold(told)
    })
  })
  return verify(object, meter)
}
