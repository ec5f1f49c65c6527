/** A form as far as its file: the fields before it, and the file's bytes as they come. */
export interface Form {
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  readonly file: AsyncGenerator<Uint8Array> | undefined
}

const largestHead = 1024 * 1024

/** The bytes up to the boundary; what follows the file is left unread, as S3 does. */
const untilBoundary = async function*(
  first: Buffer,
  rest: AsyncIterator<Uint8Array>,
  boundary: string
): AsyncGenerator<Uint8Array> {
  let kept = first
  while (true) {
    const end = kept.indexOf(boundary)
    if (end !== -1) {
      if (end > 0) yield kept.subarray(0, end)
      return
    }
    const safe = Math.max(0, kept.length - boundary.length)
    if (safe > 0) yield kept.subarray(0, safe)
    // oxlint-disable-next-line no-await-in-loop
    const next = await rest.next()
    if (next.done === true) throw new Error("the form has no end")
    kept = Buffer.concat([kept.subarray(safe), next.value])
  }
}

/** Reads a form's fields and hands out its file; `undefined` if it is no form. */
export const readForm = async (
  contentType: string | undefined,
  body: AsyncIterable<Uint8Array>
): Promise<Form | undefined> => {
  const boundary = /^multipart\/form-data;\s*boundary="?([^";]+)"?$/i.exec(contentType ?? "")?.[1]
  if (boundary === undefined) return undefined
  const chunks = body[Symbol.asyncIterator]()
  const fields: Array<readonly [string, string]> = []
  const delimiter = `\r\n--${boundary}`
  let kept = Buffer.from("\r\n")
  while (kept.length < largestHead) {
    const head = kept.indexOf("\r\n\r\n", delimiter.length)
    const text = kept.subarray(0, head === -1 ? kept.length : head).toString()
    if (text.startsWith(`${delimiter}--`)) return { fields, file: undefined }
    const after = head + 4
    if (head !== -1 && /; filename="/.test(text)) {
      return { fields, file: untilBoundary(kept.subarray(after), chunks, delimiter) }
    }
    const end = head === -1 ? -1 : kept.indexOf(delimiter, after)
    if (end !== -1) {
      fields.push([/ name="([^"]*)"/.exec(text)?.[1] ?? "", kept.subarray(after, end).toString()])
      kept = kept.subarray(end)
    } else {
      // oxlint-disable-next-line no-await-in-loop
      const next = await chunks.next()
      if (next.done === true) return undefined
      kept = Buffer.concat([kept, next.value])
    }
  }
  return undefined
}
