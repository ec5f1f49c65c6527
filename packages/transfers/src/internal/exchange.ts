import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import { isTransferError } from "../TransferError.ts"
import { drained } from "./drained.ts"
import { attemptTooLong, codeOf, expired, Failed, malformed, silent, unreachable } from "./failures.ts"
import { failedAnswer } from "./refusal.ts"
import { requestTarget } from "./url.ts"

/** What an attempt waits for: the store has limits (`B-OBJ-4`), the source takes its time. */
type Phase = "connect" | "write" | "read" | "source"

/** Says that something has moved, and what is waited for next. */
export type Touch = (phase: Phase) => void

/** In milliseconds; `attempt` is for the whole of one. */
export interface Limits extends Readonly<Record<Exclude<Phase, "source">, number>> {
  readonly attempt: number
}

/** The sockets of a `Transfers`: node's own HTTP, since fetch decodes, follows redirects and sends chunks. */
export interface Sockets {
  readonly secure: Https.Agent
  readonly plain: Http.Agent
  readonly limits: Limits
}

export interface Content {
  readonly length: number
  readonly chunks: AsyncIterable<Uint8Array>
}

export interface Call<A> {
  readonly method: "GET" | "PUT" | "POST"
  /** Where to; each but the last is left only if nothing listens there (`B-XFER-3`). */
  readonly urls: ReadonlyArray<Redacted.Redacted>
  readonly headers: Readonly<Record<string, string>>
  readonly content?: Content | undefined
  readonly expiry: number
  readonly receive: (response: Http.IncomingMessage, touch: Touch) => Promise<A>
}

const open = (sockets: Sockets, call: Call<unknown>, url: string, signal: AbortSignal): Http.ClientRequest => {
  try {
    const { hostname, port, protocol } = new URL(url)
    const host = hostname.replace(/^\[|\]$/g, "")
    const options = { method: call.method, headers: call.headers, host, port, path: requestTarget(url), signal }
    return protocol === "https:"
      // A `Host` that the grant asks for is the store's affair, the certificate is for the URL's.
      ? Https.request({ ...options, agent: sockets.secure, servername: Net.isIP(host) === 0 ? host : "" })
      : Http.request({ ...options, agent: sockets.plain })
  } catch {
    throw new Failed(malformed())
  }
}

const connection = (request: Http.ClientRequest): Promise<void> =>
  new Promise((resolve) => {
    request.once("socket", (socket) => {
      if (request.reusedSocket) resolve()
      else socket.once("encrypted" in socket ? "secureConnect" : "connect", () => resolve())
    })
  })

/** What fits into a few packets goes out at once, not in pieces. */
const smallContent = 64 * 1024

const send = async (request: Http.ClientRequest, content: Content | undefined, touch: Touch): Promise<void> => {
  if (content !== undefined) {
    const small = content.length <= smallContent
    if (small) request.cork()
    touch("source")
    for await (const chunk of content.chunks) {
      if (request.destroyed) return
      touch("write")
      if (!request.write(chunk) && !small) await drained(request)
      touch("source")
    }
  }
  request.end()
  touch("read")
}

const nothing = () => {}

const perform = async <A>(
  sockets: Sockets,
  call: Call<A>,
  url: string,
  signal: AbortSignal,
  touch: Touch,
  clock: Clock.Clock
): Promise<A> => {
  const request = open(sockets, call, url, signal)
  let response: Http.IncomingMessage | undefined
  const answered = new Promise<Http.IncomingMessage>((resolve, reject) => {
    request.once("response", resolve)
    request.on("error", reject)
  })
  answered.catch(nothing)
  try {
    await Promise.race([connection(request), answered])
    touch("write")
    const sent = send(request, call.content, touch)
    sent.catch(nothing)
    // A store may refuse before it has read everything, and a source may fail before there is an answer.
    response = await Promise.race([answered, sent.then(() => answered)])
    response.on("error", nothing)
    const refusal = await failedAnswer(response, call.expiry, clock)
    if (refusal !== undefined) throw refusal
    await sent
    return await call.receive(response, touch)
  } finally {
    if (response?.complete !== true) request.destroy()
  }
}

const performFirstListening = async <A>(
  sockets: Sockets,
  call: Call<A>,
  signal: AbortSignal,
  touch: Touch,
  clock: Clock.Clock
): Promise<A> => {
  for (const [index, url] of call.urls.entries()) {
    try {
      touch("connect")
      // oxlint-disable-next-line no-await-in-loop
      return await perform(sockets, call, Redacted.value(url), signal, touch, clock)
    } catch (error) {
      if (index === call.urls.length - 1 || codeOf(error) !== "ECONNREFUSED") throw error
    }
  }
  throw new Failed(malformed())
}

const asFailed = (error: unknown): Failed => {
  if (error instanceof Failed) return error
  return new Failed(isTransferError(error) ? error : unreachable(error))
}

/** One attempt: at most as long as the grant lives, and never silent for longer than the limits say. */
export const exchange = <A>(sockets: Sockets, call: Call<A>): Effect.Effect<A, Failed> =>
  Effect.clockWith((clock) => {
    const { limits } = sockets
    const started = clock.unsafeCurrentTimeMillis()
    let waiting: { readonly phase: Phase; readonly since: number } = { phase: "connect", since: started }
    const touch: Touch = (phase) => {
      waiting = { phase, since: clock.unsafeCurrentTimeMillis() }
    }
    const shortest = Math.min(limits.connect, limits.write, limits.read)
    const watch: Effect.Effect<never, Failed> = Effect.suspend(() => {
      const { phase, since } = waiting
      const limit = phase === "source" ? Infinity : limits[phase]
      const left = since + limit - clock.unsafeCurrentTimeMillis()
      return left <= 0
        ? Effect.fail(new Failed(silent(phase, limit / 1000)))
        : Effect.zipRight(Effect.sleep(Math.min(left, shortest)), watch)
    })
    const life = call.expiry - started
    return Effect.tryPromise({
      try: (signal) => performFirstListening(sockets, call, signal, touch, clock),
      catch: asFailed
    }).pipe(
      Effect.raceFirst(watch),
      Effect.timeoutFail({
        duration: Math.min(limits.attempt, life),
        onTimeout: () => new Failed(life <= limits.attempt ? expired() : attemptTooLong(limits.attempt / 1000))
      })
    )
  })
