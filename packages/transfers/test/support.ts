import { ObjectStore } from "@effect-agentenv/testing"
import { type Progress, Source, Transfers } from "@effect-agentenv/transfers"
import { Chunk, Clock, Duration, Effect, Layer, Stream, TestClock } from "effect"
import { createHash } from "node:crypto"
import * as FileSystem from "node:fs/promises"
import { tmpdir } from "node:os"
import * as Path from "node:path"

export const transfersWith = (settings: Transfers.Settings = {}) =>
  Layer.unwrapEffect(
    Effect.map(ObjectStore.ObjectStore, ({ ca }) => Transfers.layer({ ca, ...settings }))
  ).pipe(Layer.provideMerge(ObjectStore.layer))

/** A store of its own, and transfers that trust it. */
export const Env = transfersWith()

export const directory = Effect.acquireRelease(
  Effect.promise(() => FileSystem.mkdtemp(Path.join(tmpdir(), "transfers-"))),
  (path) => Effect.promise(() => FileSystem.rm(path, { recursive: true, force: true }))
)

export const write = (path: string, content: string | Uint8Array) =>
  Effect.promise(() =>
    FileSystem.mkdir(Path.dirname(path), { recursive: true }).then(() => FileSystem.writeFile(path, content))
  )

export const read = (path: string) => Effect.promise(() => FileSystem.readFile(path, "utf8"))

export const list = (path: string) => Effect.promise(() => FileSystem.readdir(path))

export const sha256 = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex")

const tick = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/**
 * Runs an effect that talks over real sockets while the test's clock jumps to whatever is slept for, if that is no further than the
 * horizon: the pauses between attempts by default, and not the patience of those who watch a connection.
 */
export const advancing = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  horizon: Duration.DurationInput = "20 seconds"
): Effect.Effect<A, E, R> =>
  Effect.raceFirst(
    effect,
    Effect.forever(Effect.gen(function*() {
      yield* tick
      const now = yield* Clock.currentTimeMillis
      const next = Chunk.filter(yield* TestClock.sleeps(), (at) => at <= now + Duration.toMillis(horizon))
      if (Chunk.isNonEmpty(next)) yield* TestClock.setTime(Math.max(now, Math.min(...next)))
    }))
  )

export const countingStream = (text: string, opened: { count: number }) =>
  Source.stream(
    Stream.unwrap(Effect.sync(() => {
      opened.count += 1
      return Stream.make(text.slice(0, 3), text.slice(3)).pipe(Stream.encodeText)
    })),
    { size: text.length }
  )

export const progressOf = () => {
  const seen: Array<Progress.Progress> = []
  const onProgress: Progress.OnProgress = (progress) => Effect.sync(() => void seen.push(progress))
  return { seen, onProgress }
}
