import { Staging, StagingError } from "@effect-agentenv/agent"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { mkdirSync, readdirSync } from "node:fs"
import type * as FsPromises from "node:fs/promises"
import * as Net from "node:net"
import * as Path from "node:path"
import { vi } from "vitest"
import { bytes, filesBelow, id, open, program, read, request, temporaryDirectory } from "./support.ts"

// A disk that is full at the bytes "disk full", after it has taken half of them.
vi.mock("node:fs/promises", async (original) => {
  const fs = await original<typeof FsPromises>()
  const patched: typeof fs.open = async (...args) => {
    const file = await fs.open(...args)
    const writev = file.writev.bind(file)
    const patchedWrite = async (buffers: ReadonlyArray<Uint8Array>) => {
      const all = Buffer.concat([...buffers])
      if (all.toString() === "full") throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" })
      if (all.toString() === "fail") throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" })
      return writev(all.toString() === "disk full" ? [all.subarray(0, 5)] : buffers)
    }
    // the store writes bytes alone
    file.writev = patchedWrite as typeof file.writev
    return file
  }
  return { ...fs, open: patched, default: { ...fs, open: patched } }
})

describe("a staging store", () => {
  for (const [text, reason, status] of [["disk full", "DiskFull", 507], ["fail", "Io", 500]] as const) {
    it.scoped(`answers ${status} when the disk ${reason === "Io" ? "fails" : "is full"}, and keeps what was (B-STG-12)`, () =>
      Effect.gen(function*() {
        const { directory, staging } = yield* open(100)
        yield* staging.put(`${id}/a`, bytes("old"))
        const error = yield* Effect.flip(staging.put(`${id}/a`, bytes(text)))
        expect([error.reason, error.status]).toEqual([reason, status])
        expect(error).toBeInstanceOf(StagingError.StagingError)
        expect(JSON.stringify(error)).not.toContain(id)
        expect(yield* filesBelow(directory)).toEqual(["a"])
        expect(yield* read((yield* staging.get(`${id}/a`)).content)).toBe("old")
        yield* staging.put(`${id}/b`, Stream.make(new Uint8Array(97)), { size: 97 })
      }))
  }
})

const until = (condition: () => boolean) =>
  Effect.promise(async () => {
    // oxlint-disable-next-line no-await-in-loop
    while (!condition()) await new Promise(setImmediate)
  })

describe("a staging server", () => {
  it.scoped("that is killed during a PUT leaves no object, and its left-overs do not count after (B-STG-11, B-STG-14)", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const env = { AGENTENV_STAGING_DIR: directory, AGENTENV_STAGING_MAX_BYTES: "100" }
      const first = yield* program(env)
      expect((yield* request(first.port, "PUT", `${id}/a`, { body: "old" })).status).toBe(201)
      const socket = Net.connect(first.port, "127.0.0.1")
      socket.on("error", () => {})
      socket.write(`PUT /ext/staging/${id}/a HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\n${"x".repeat(80)}`)
      yield* until(() => readdirSync(Path.join(directory, "incoming")).length === 1)
      yield* first.kill
      socket.destroy()
      expect(readdirSync(Path.join(directory, "incoming")).length).toBe(1)
      const second = yield* program(env)
      expect(readdirSync(Path.join(directory, "incoming"))).toEqual([])
      expect((yield* request(second.port, "GET", `${id}/a`)).body).toBe("old")
      expect((yield* request(second.port, "PUT", `${id}/b`, { body: "x".repeat(97) })).status).toBe(201)
      yield* second.end
    }))

  it.scoped("removes its own directory when it ends (B-STG-2)", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const TMPDIR = Path.join(directory, "tmp")
      mkdirSync(TMPDIR)
      const stores = () => readdirSync(TMPDIR).filter((name) => name.startsWith("agentenv-staging-"))
      const server = yield* program({ TMPDIR, AGENTENV_STAGING_DIR: "" })
      expect(stores()).toEqual([])
      expect((yield* request(server.port, "PUT", `${id}/a`, { body: "x" })).status).toBe(201)
      expect(stores().length).toBe(1)
      yield* server.end
      expect(stores()).toEqual([])
    }))
})

describe("StagingError", () => {
  it("has a status for every reason (B-STG-12)", () => {
    const error = (reason: StagingError.Reason) => new StagingError.StagingError({ reason, detail: "why" })
    expect([error("Full").status, error("DiskFull").status, error("Changed").status, error("Io").message])
      .toEqual([413, 507, 412, "why"])
    expect(Staging.endpoint).toBe("/ext/staging")
  })
})
