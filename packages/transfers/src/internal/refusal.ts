import type * as Clock from "effect/Clock"
import type { IncomingMessage } from "node:http"
import { busy, expired, Failed, rejected } from "./failures.ts"
import { retryAfter } from "./retry.ts"

/** What the body of a 400 holds if the store only lost patience with a slow upload (`B-XFER-5`). */
const stalled = ["<Code>RequestTimeout</Code>"]

const firstKiB = async (response: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  try {
    for await (const chunk of response) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= 1024) break
    }
  } catch {
    // The status has said enough.
  }
  return Buffer.concat(chunks).subarray(0, 1024).toString("latin1")
}

/** 501 is the one 5xx that says never. */
const mayPass = (status: number, body: string): boolean =>
  status === 408 || status === 429 || (status >= 500 && status !== 501) ||
  (status === 400 && stalled.some((marker) => body.includes(marker)))

/** Why an answer is no success, none if it is one. Its body is looked at and dropped: stores print what was signed in it. */
export const failedAnswer = async (
  response: IncomingMessage,
  expiry: number,
  clock: Clock.Clock
): Promise<Failed | undefined> => {
  const status = response.statusCode ?? 0
  if (status >= 200 && status < 300) return undefined
  const body = await firstKiB(response)
  const now = clock.unsafeCurrentTimeMillis()
  if (mayPass(status, body)) return new Failed(busy(status), retryAfter(response.headers["retry-after"], now))
  // Stores say in many ways that a grant has run out; our clock knows.
  return new Failed(status >= 400 && now >= expiry ? expired() : rejected(status))
}
