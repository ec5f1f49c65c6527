import { ReadObject } from "@effect-agentenv/protocol/Grant"
import { ObjectStore } from "@effect-agentenv/testing"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { directory, list, read, write } from "./support.ts"

const program = fileURLToPath(new URL("./killed.program.ts", import.meta.url))

describe("kill -9", () => {
  it.scopedLive("B-OBJ-13: a download that is killed leaves the target as it was", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const root = yield* directory
      yield* write(`${root}/target`, "old")
      yield* store.put("large", new Uint8Array(64 * 1024 * 1024))
      const object = yield* store.readObject("large")
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn(process.execPath, ["--conditions=@effect-agentenv/source", "--import", "tsx", program], {
            env: {
              ...process.env,
              CA: store.ca,
              // @effect-diagnostics-next-line schemaSyncInEffect:off
              OBJECT: JSON.stringify(Schema.encodeSync(ReadObject)(object)),
              TARGET: `${root}/target`
            },
            stdio: ["ignore", "pipe", "inherit"]
          })
        ),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      // The program says so after the first MiB, and then waits.
      yield* Effect.promise(() => once(child.stdout, "data"))
      expect((yield* list(root)).length).toBe(2)
      child.kill("SIGKILL")
      yield* Effect.promise(() => once(child, "exit"))
      expect(yield* read(`${root}/target`)).toBe("old")
      expect((yield* list(root)).filter((name) => !/^\.target\.[0-9a-f]+\.part$/.test(name))).toEqual(["target"])
    }).pipe(Effect.provide(ObjectStore.layer)))
})
