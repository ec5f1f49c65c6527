import { createHash, type Hash, randomBytes } from "node:crypto"
import type { Content } from "./exchange.ts"
import { changed } from "./failures.ts"

/** Told how many bytes have passed; what it returns is waited for. */
export type Report = (bytes: number) => Promise<void> | undefined

/** Counts and hashes what passes. */
export class Meter {
  bytes = 0
  readonly #hash: Hash = createHash("sha256")

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length
    this.#hash.update(chunk)
  }

  digest(): string {
    return this.#hash.digest("hex")
  }
}

/**
 * Passes a source on. The last chunk goes only when the source has ended as it should, so that a store never takes an object whose
 * source has changed (`B-OBJ-7`).
 */
export const metered = async function*(
  source: AsyncIterable<Uint8Array>,
  size: number,
  meter: Meter,
  report: Report
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | undefined
  for await (const chunk of source) {
    if (chunk.length === 0) continue
    if (meter.bytes + chunk.length > size) throw changed()
    if (held !== undefined) {
      yield held
      await report(meter.bytes)
    }
    meter.add(chunk)
    held = chunk
  }
  if (meter.bytes !== size) throw changed()
  if (held !== undefined) yield held
}

const quoted = (text: string): string => text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll("\"", "%22")

export interface Form {
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  readonly fileField: string
  readonly fileName: string
}

const mediaType = "application/octet-stream"

/** A form of known length with the file last, since stores ignore what follows it (`B-OBJ-14`). */
export const multipart = (form: Form, file: Content): Content & { readonly contentType: string } => {
  const boundary = `agentenv-${randomBytes(18).toString("hex")}`
  const disposition = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`
  const head = Buffer.from([
    ...form.fields.map(([name, value]) => `${disposition(name)}\r\n\r\n${value}\r\n`),
    `${disposition(form.fileField)}; filename="${quoted(form.fileName)}"\r\nContent-Type: ${mediaType}\r\n\r\n`
  ].join(""))
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const chunks = async function*() {
    yield head
    yield* file.chunks
    yield tail
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: head.length + file.length + tail.length,
    chunks: chunks()
  }
}
