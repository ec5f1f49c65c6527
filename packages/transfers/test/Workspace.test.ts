import { ObjectStore } from "@effect-agentenv/testing"
import { Source, Transfers, Workspace } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, FastCheck, Stream } from "effect"
import { execFileSync } from "node:child_process"
import * as FileSystem from "node:fs/promises"
import { createServer, type Server } from "node:net"
import * as Path from "node:path"
import * as Tar from "tar-stream"
import { staysInside } from "../src/internal/archive.ts"
import { directory, Env, list, read, write } from "./support.ts"

const io = <A>(operation: () => Promise<A>) => Effect.promise(operation)

type Member = Tar.Headers & { readonly content?: string }

const archiveOf = (members: ReadonlyArray<Member>) =>
  Effect.map(
    io(async () => {
      const pack = Tar.pack()
      for (const { content, ...header } of members) pack.entry(header, content ?? "")
      pack.finalize()
      const chunks: Array<Buffer> = []
      for await (const chunk of pack) chunks.push(chunk)
      return Buffer.concat(chunks)
    }),
    Source.bytes
  )

const bytesOf = (source: Source.Source) =>
  Effect.scoped(Effect.flatMap(source.open, (chunks) =>
    io(async () => {
      const all: Array<Uint8Array> = []
      for await (const chunk of chunks) all.push(chunk)
      return Buffer.concat(all)
    })))

const refusal = (members: ReadonlyArray<Member>, options?: Workspace.UnpackOptions) =>
  Effect.gen(function*() {
    const root = yield* directory
    const archive = yield* archiveOf([{ name: "first.txt", content: "first" }, ...members])
    const result = yield* Effect.either(Workspace.unpack(archive, `${root}/in/side`, options))
    // Neither the first file nor anything beside the directory: an archive is checked before it is unpacked.
    expect(yield* list(root)).toEqual([])
    return Either.match(result, { onLeft: ({ code, message }) => [code, message], onRight: () => ["unpacked", ""] })
  })

describe("pack and unpack", () => {
  it.scoped("a directory comes back as it was, through a grant", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const transfers = yield* Transfers.Transfers
      const root = yield* directory
      const long = `${"deep/".repeat(40)}${"n".repeat(120)}.txt`
      yield* write(`${root}/from/run.sh`, "#!/bin/sh\n")
      yield* write(`${root}/from/${long}`, "long")
      yield* write(`${root}/from/ünï/empty`, "")
      yield* write(`${root}/from/big`, "b".repeat(1_000_001))
      yield* write(`${root}/from/skip/me`, "x")
      yield* io(async () => {
        await FileSystem.chmod(`${root}/from/run.sh`, 0o4755)
        await FileSystem.symlink("../big", `${root}/from/ünï/link`)
        await FileSystem.mkdir(`${root}/from/hollow`)
        await FileSystem.utimes(`${root}/from/big`, 1_000_000, 1_000_000)
      })
      const archive = yield* Workspace.pack(`${root}/from`, { exclude: (path) => path === "skip" })
      const uploaded = yield* transfers.upload(yield* store.writeObject("ws"), archive)
      expect(uploaded.size_bytes).toBe(yield* archive.size)
      yield* transfers.download(yield* store.readObject("ws"), `${root}/ws.tar`)
      const unpacked = yield* Workspace.unpack(Source.file(`${root}/ws.tar`), `${root}/to`)
      expect(unpacked.bytes).toBe(10 + 4 + 0 + 1_000_001)
      expect(yield* list(`${root}/to`)).toEqual(["big", "deep", "hollow", "run.sh", "ünï"])
      expect(yield* read(`${root}/to/${long}`)).toBe("long")
      expect((yield* read(`${root}/to/ünï/link`)).length).toBe(1_000_001)
      const [script, big] = yield* io(() =>
        Promise.all(["run.sh", "big"].map((name) => FileSystem.stat(`${root}/to/${name}`)))
      )
      expect((script?.mode ?? 0) & 0o7777).toBe(0o755)
      expect(big?.mtimeMs).toBe(1_000_000_000)
    }).pipe(Effect.provide(Env)))

  it.scoped("other tars read ours, and ours theirs, hard links too", () =>
    Effect.gen(function*() {
      const root = yield* directory
      yield* write(`${root}/from/a/one`, "1")
      yield* io(() => FileSystem.link(`${root}/from/a/one`, `${root}/from/two`))
      yield* io(async () => execFileSync("tar", ["-cf", `${root}/theirs.tar`, "-C", `${root}/from`, "."]))
      yield* Workspace.unpack(Source.file(`${root}/theirs.tar`), `${root}/to`)
      expect([yield* read(`${root}/to/a/one`), yield* read(`${root}/to/two`)]).toEqual(["1", "1"])
      const archive = yield* Workspace.pack(`${root}/to`)
      yield* write(`${root}/ours.tar`, yield* bytesOf(archive))
      const names = execFileSync("tar", ["-tf", `${root}/ours.tar`]).toString().trim().split("\n")
      expect(names).toEqual(["a/", "a/one", "two"])
    }))

  it.scoped("a file that changes its size after it was listed fails the upload", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const transfers = yield* Transfers.Transfers
      const root = yield* directory
      yield* write(`${root}/from/a`, "1234")
      const archive = yield* Workspace.pack(`${root}/from`)
      for (const content of ["12345", "123"]) {
        yield* write(`${root}/from/a`, content)
        const error = yield* Effect.flip(transfers.upload(yield* store.writeObject("ws"), archive))
        expect(error.message).toBe("The source changed while it was uploaded.")
      }
      expect(yield* store.keys).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("links out and sockets are refused when a directory is packed, a missing directory too", () =>
    Effect.gen(function*() {
      const root = yield* directory
      for (
        const [name, target] of [["absolute", "/etc/passwd"], ["up", "../../x"], ["through", "a/../../x"]] as const
      ) {
        yield* io(async () => {
          await FileSystem.mkdir(`${root}/${name}`)
          await FileSystem.symlink(target, `${root}/${name}/link`)
        })
        const error = yield* Effect.flip(Workspace.pack(`${root}/${name}`))
        expect(error.message).toBe("The archive is refused: \"link\" is a link that leads out.")
      }
      yield* io(() => FileSystem.mkdir(`${root}/sockets`))
      yield* Effect.acquireRelease(
        Effect.async<Server>((resume) => {
          const server = createServer().listen(`${root}/sockets/s`, () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
      )
      expect((yield* Effect.flip(Workspace.pack(`${root}/sockets`))).message).toBe(
        "The archive is refused: \"s\" is neither a file, a directory nor a link."
      )
      expect((yield* Effect.flip(Workspace.pack(`${root}/nowhere`))).message).toBe(
        "The directory can't be packed (ENOENT)."
      )
    }))
})

describe("archives without trust", () => {
  const escapes: ReadonlyArray<readonly [string, ReadonlyArray<Member>]> = [
    ["an absolute path", [{ name: "/etc/evil" }]],
    ["a parent", [{ name: "../evil" }]],
    ["a parent within", [{ name: "a/../../evil" }]],
    ["a backslash", [{ name: "a\\..\\evil" }]],
    ["an empty segment", [{ name: "a//b" }]],
    ["an absolute link", [{ name: "l", type: "symlink", linkname: "/etc" }]],
    ["a link up", [{ name: "a/l", type: "symlink", linkname: "../../x" }]],
    ["a link through another", [
      { name: "p/l", type: "symlink", linkname: ".." },
      { name: "m", type: "symlink", linkname: "p/l/../x" }
    ]],
    ["a hard link up", [{ name: "l", type: "link", linkname: "../x" }]],
    ["an absolute hard link", [{ name: "l", type: "link", linkname: "/etc/passwd" }]],
    ["a device", [{ name: "d", type: "block-device", devmajor: 8, devminor: 0 }]],
    ["a character device", [{ name: "d", type: "character-device", devmajor: 1, devminor: 3 }]],
    ["a pipe", [{ name: "f", type: "fifo" }]]
  ]

  for (const [what, members] of escapes) {
    it.scoped(`${what} is refused, and nothing is written`, () =>
      Effect.map(refusal(members), ([code]) => expect(code).toBe("invalid_transfer")))
  }

  it.scoped("nothing is written through a link, be it the archive's or one that was there", () =>
    Effect.gen(function*() {
      const root = yield* directory
      yield* write(`${root}/outside/kept`, "kept")
      const own = yield* archiveOf([
        { name: "d", type: "directory" },
        { name: "l", type: "symlink", linkname: "d" },
        { name: "l/evil", content: "evil" }
      ])
      expect((yield* Effect.flip(Workspace.unpack(own, `${root}/a`))).code).toBe("invalid_transfer")
      yield* io(async () => {
        await FileSystem.mkdir(`${root}/b`)
        await FileSystem.symlink("../outside", `${root}/b/l`)
        await FileSystem.symlink("../outside/kept", `${root}/b/file`)
      })
      const through = yield* archiveOf([{ name: "l/evil", content: "evil" }])
      expect((yield* Effect.flip(Workspace.unpack(through, `${root}/b`))).code).toBe("invalid_transfer")
      const replaced = yield* archiveOf([{ name: "file", content: "new" }])
      yield* Workspace.unpack(replaced, `${root}/b`)
      expect([yield* read(`${root}/b/file`), yield* read(`${root}/outside/kept`)]).toEqual(["new", "kept"])
      expect(yield* list(`${root}/outside`)).toEqual(["kept"])
    }))

  it.scoped("more bytes or entries than allowed are TransferTooLarge", () =>
    Effect.gen(function*() {
      expect(yield* refusal([{ name: "b", content: "123456" }], { maxBytes: 10 })).toEqual(
        ["transfer_too_large", "The archive holds more than 10 bytes."]
      )
      expect(yield* refusal([{ name: "b" }, { name: "c" }], { maxEntries: 2 })).toEqual(
        ["transfer_too_large", "The archive holds more than 2 entries."]
      )
    }))

  it.scoped("10 GB of zeros, as one file or as no archive at all, end early", () =>
    Effect.gen(function*() {
      const root = yield* directory
      const zeros = new Uint8Array(1024 * 1024)
      let read = 0
      const endless = Stream.repeatEffect(Effect.sync(() => {
        read += zeros.length
        return zeros
      })).pipe(Stream.take(10 * 1024))
      const size = 10 * 1024 ** 3
      const header = new Uint8Array(
        yield* io(async () => {
          const pack = Tar.pack()
          pack.entry({ name: "zeros", size })
          for await (const chunk of pack) return chunk
          return new Uint8Array()
        })
      )
      const limits = { maxBytes: 16 * 1024 * 1024, maxEntries: 10 }
      const bomb = Source.stream(Stream.concat(Stream.make(header), endless), { size })
      expect((yield* Effect.flip(Workspace.unpack(bomb, `${root}/a`, limits))).code).toBe("transfer_too_large")
      const nothing = Source.stream(endless, { size })
      expect((yield* Effect.flip(Workspace.unpack(nothing, `${root}/b`, limits))).code).toBe("transfer_too_large")
      expect(read).toBeLessThan(64 * 1024 * 1024)
      expect(yield* list(root)).toEqual([])
    }))

  it.scoped("an archive that breaks off or is none is InvalidTransfer", () =>
    Effect.gen(function*() {
      const root = yield* directory
      const whole = yield* bytesOf(yield* archiveOf([{ name: "a", content: "a".repeat(2000) }]))
      for (const broken of [whole.subarray(0, 1000), Buffer.from("no archive, only text ".repeat(50))]) {
        const error = yield* Effect.flip(Workspace.unpack(Source.bytes(broken), `${root}/to`))
        expect(error.code).toBe("invalid_transfer")
      }
      expect(yield* list(root)).toEqual([])
    }))

  it.prop(
    "a link that is let through leads inside, whatever its target",
    [FastCheck.array(FastCheck.constantFrom("a", "b", "..", ".", "", "c"), { maxLength: 8 })],
    ([segments]) => {
      const target = segments.join("/")
      const led = Path.posix.normalize(Path.posix.join("/root/x", target))
      if (staysInside("x/link", target)) {
        expect(led === "/root" || led.startsWith("/root/") || led === "/root/").toBe(true)
      } else if (!segments.includes("..") && target !== "" && !target.startsWith("/")) {
        expect(target).toBe("refused for no reason")
      }
    }
  )
})
