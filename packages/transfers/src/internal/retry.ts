import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import type { TransferError } from "../TransferError.ts"
import { expired, Failed } from "./failures.ts"

/** `B-OBJ-4` */
const attempts = 3

const backoff = 1000

/** A store that asks for more patience than this is asked again all the same. */
const longestPatience = 60_000

interface Retry {
  readonly number: number
  readonly failed: Failed
}

const jitter = (number: number): Effect.Effect<number> => {
  const whole = backoff * 2 ** number
  return Random.nextRange(whole / 2, whole)
}

const patience = (failed: Failed): number => Math.min(failed.retryAfter ?? 0, longestPatience)

/**
 * Half to the whole of 1 s, then of 2 s, longer if the store asks for it: while attempts are left, the failure may pass, and the
 * grant outlives what the store asks for (`B-OBJ-10`, `B-OBJ-11`).
 */
const policy = (expiry: number): Schedule.Schedule<Retry, Failed> =>
  Schedule.recurs(attempts - 1).pipe(
    Schedule.intersect(Schedule.identity<Failed>()),
    Schedule.map(([number, failed]): Retry => ({ number, failed })),
    Schedule.whileInput((failed: Failed) => failed.error.retryable),
    Schedule.checkEffect((failed) => Effect.map(Clock.currentTimeMillis, (now) => now + patience(failed) < expiry)),
    Schedule.modifyDelayEffect(({ failed, number }) =>
      Effect.map(jitter(number), (delay) => Duration.millis(Math.max(delay, patience(failed))))
    )
  )

/** Runs an attempt, numbered from 1, again while that can help; an expired grant is refused before each. */
export const retrying = <A, R>(
  expiresAt: DateTime.Utc,
  attempt: (number: number) => Effect.Effect<A, Failed, R>
): Effect.Effect<A, TransferError, R> =>
  Effect.suspend(() => {
    const expiry = DateTime.toEpochMillis(expiresAt)
    let number = 0
    const next = Effect.flatMap(
      Clock.currentTimeMillis,
      (now): Effect.Effect<A, Failed, R> => now >= expiry ? Effect.fail(new Failed(expired())) : attempt(++number)
    ).pipe(
      Effect.tapError(({ error }) => Effect.logDebug(`Attempt ${number} of a transfer failed: ${error.message}`))
    )
    return next.pipe(Effect.retry(policy(expiry)), Effect.mapError(({ error }) => error))
  })

const seconds = /^\s*\d+\s*$/

/** Reads a `Retry-After`, seconds or a date, as milliseconds from now (RFC 9110, 10.2.3). */
export const retryAfter = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined
  const millis = seconds.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isFinite(millis) ? Math.max(0, millis) : undefined
}
