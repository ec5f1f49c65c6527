import * as SkillBundle from "@effect-agentenv/agent/SkillBundle"
import { ObjectStore } from "@effect-agentenv/testing"
import { TransferError, Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import * as FileSystem from "node:fs/promises"
import { tmpdir } from "node:os"
import * as Path from "node:path"

const Env = Layer.unwrapEffect(Effect.map(ObjectStore.ObjectStore, ({ ca }) => Transfers.layer({ ca }))).pipe(
  Layer.provideMerge(ObjectStore.layer)
)

const directory = Effect.acquireRelease(
  Effect.promise(() => FileSystem.mkdtemp(Path.join(tmpdir(), "skill-test-"))),
  (path) => Effect.promise(() => FileSystem.rm(path, { recursive: true, force: true }))
)

const read = (...path: ReadonlyArray<string>) => Effect.promise(() => FileSystem.readFile(Path.join(...path), "utf8"))

const list = (path: string) => Effect.promise(() => FileSystem.readdir(path, { recursive: true }))

const exists = (path: string) => Effect.promise(() => FileSystem.access(path).then(() => true, () => false))

const contents = { "SKILL.md": "# Glaze\n", "docs/a/deep.txt": "deep", "empty": "" }

const letters = Object.fromEntries(Array.from("abcdefgh", (name) => [name, name]))

/** A request for what lies in the store: each file may have up to `maxBytes` more than it has. */
const request = (files: Readonly<Record<string, string>>, options: { readonly maxTotalBytes?: number } = {}) =>
  Effect.gen(function*() {
    const store = yield* ObjectStore.ObjectStore
    const listed = yield* Effect.forEach(Object.entries(files), ([path, content], index) =>
      Effect.gen(function*() {
        yield* store.put(`bundle/${index}`, content)
        const object = yield* store.readObject(`bundle/${index}`, { maxBytes: Buffer.byteLength(content) + 1 })
        return { path, object }
      }))
    const sum = listed.reduce((sum, { object }) => sum + object.max_bytes, 0)
    return { name: "glaze", skill_bundle: { max_total_bytes: options.maxTotalBytes ?? sum, files: listed } }
  })

describe("SkillBundle.install", () => {
  it.scoped("B-SKILL-8: downloads the files into a directory of the skill's name, which stays when all goes well", () =>
    Effect.gen(function*() {
      const root = Path.join(yield* directory, "made", "for", "it")
      const installed = yield* Effect.scoped(SkillBundle.install(yield* request(contents), { root }))
      expect(installed).toEqual({
        directory: Path.join(root, "glaze"),
        files: Object.entries(contents).map(([path, content]) => ({ path, size_bytes: content.length }))
      })
      for (const [path, content] of Object.entries(contents)) expect(yield* read(root, "glaze", path)).toBe(content)
    }).pipe(Effect.provide(Env)))

  it.scoped("takes a temporary directory of its own without a root", () =>
    Effect.gen(function*() {
      const bundle = yield* request(contents)
      const first = yield* Effect.scoped(SkillBundle.install(bundle))
      const second = yield* Effect.scoped(SkillBundle.install(bundle))
      expect(first.directory).not.toBe(second.directory)
      for (const { directory } of [first, second]) {
        yield* Effect.addFinalizer(() =>
          Effect.promise(() => FileSystem.rm(Path.dirname(directory), { recursive: true, force: true }))
        )
        expect(Path.basename(directory)).toBe("glaze")
        expect(yield* read(directory, "SKILL.md")).toBe(contents["SKILL.md"])
      }
    }).pipe(Effect.provide(Env)))

  it.scoped("removes the directory again when the handler fails, dies or is interrupted", () =>
    Effect.gen(function*() {
      const root = yield* directory
      const bundle = yield* request(contents)
      const handler = (ends: Effect.Effect<never, string>) =>
        Effect.scoped(Effect.flatMap(SkillBundle.install(bundle, { root }), ({ directory }) =>
          Effect.zipRight(
            Effect.map(exists(Path.join(directory, "SKILL.md")), (there) => expect(there).toBe(true)),
            ends
          )))
      for (const ends of [Effect.fail("no clay"), Effect.die("broken"), Effect.interrupt]) {
        expect(Exit.isFailure(yield* Effect.exit(handler(ends)))).toBe(true)
        expect(yield* list(root)).toEqual([])
      }
    }).pipe(Effect.provide(Env)))

  it.scoped("leaves nothing in the temporary directory when the handler fails", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      yield* SkillBundle.install(yield* request(contents)).pipe(
        Effect.flatMap(({ directory }) => Effect.fail(seen.push(directory))),
        Effect.scoped,
        Effect.flip
      )
      expect(yield* exists(Path.dirname(seen[0]!))).toBe(false)
    }).pipe(Effect.provide(Env)))

  it.scoped("leaves nothing when a download fails, and asks for no more", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const root = yield* directory
      const bundle = yield* request({
        ...contents,
        ...Object.fromEntries(Array.from("abcdefgh", (name) => [name, name]))
      })
      yield* store.inject("early-403")
      const error = yield* Effect.flip(Effect.scoped(SkillBundle.install(bundle, { root })))
      expect(error).toBeInstanceOf(TransferError.TransferRejected)
      expect(yield* list(root)).toEqual([])
      expect((yield* store.requests).length).toBeLessThan(bundle.skill_bundle.files.length)
    }).pipe(Effect.provide(Env)))

  it.scoped("leaves nothing when its caller goes away in the middle of a download", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const root = yield* directory
      yield* store.inject("stall", 3)
      const fiber = yield* Effect.fork(Effect.scoped(SkillBundle.install(yield* request(contents), { root })))
      yield* store.arrived(3)
      expect(yield* exists(Path.join(root, "glaze"))).toBe(true)
      yield* Fiber.interrupt(fiber)
      expect(yield* list(root)).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("downloads four files at a time", () =>
    Effect.gen(function*() {
      const root = yield* directory
      const bundle = yield* request({ ...contents, ...letters })
      let running = 0
      let most = 0
      const download = Effect.acquireUseRelease(
        Effect.sync(() => {
          most = Math.max(most, running += 1)
        }),
        () => Effect.as(Effect.yieldNow(), { size_bytes: 1, sha256: "" }),
        () => Effect.sync(() => running -= 1)
      )
      yield* Effect.scoped(SkillBundle.install(bundle, { root })).pipe(
        Effect.provideService(Transfers.Transfers, {
          ...(yield* Transfers.Transfers),
          download: () => download
        })
      )
      expect(most).toBe(4)
    }).pipe(Effect.provide(Env)))

  it.scoped("a file of more bytes than it was granted for fails the installation", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const root = yield* directory
      const bundle = yield* request(contents)
      yield* store.put("bundle/0", "x".repeat(1000))
      const error = yield* Effect.flip(Effect.scoped(SkillBundle.install(bundle, { root })))
      expect(error).toBeInstanceOf(TransferError.TransferTooLarge)
      expect(yield* list(root)).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("B-SKILL-8: what a request of the wire can't say is refused here too, before any download", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const root = yield* directory
      const good = yield* request({ "SKILL.md": "#" })
      const [file] = good.skill_bundle.files
      const withPaths = (...paths: ReadonlyArray<string>) => ({
        ...good,
        skill_bundle: { max_total_bytes: 100, files: ["SKILL.md", ...paths].map((path) => ({ ...file!, path })) }
      })
      for (
        const bundle of [
          withPaths("../x"),
          withPaths("/etc/x"),
          withPaths("a//b"),
          withPaths("a/./b"),
          withPaths("a\\b"),
          withPaths("a\0b"),
          withPaths(""),
          withPaths("a", "a"),
          withPaths("a", "a/b"),
          { ...good, name: "../glaze" },
          { ...good, name: ".." },
          { ...good, name: "" },
          yield* request({ "docs/SKILL.md": "#" }),
          yield* request(contents, { maxTotalBytes: 3 })
        ]
      ) {
        const error = yield* Effect.flip(Effect.scoped(SkillBundle.install(bundle, { root })))
        expect(error._tag).toBe("InvalidTransfer")
      }
      expect(yield* list(root)).toEqual([])
      expect(yield* store.requests).toEqual([])
    }).pipe(Effect.provide(Env)))

  it.scoped("a directory that is there already is 409, and stays as it was", () =>
    Effect.gen(function*() {
      const root = yield* directory
      yield* Effect.promise(() => FileSystem.mkdir(Path.join(root, "glaze")))
      yield* Effect.promise(() => FileSystem.writeFile(Path.join(root, "glaze", "mine"), ""))
      const error = yield* Effect.flip(Effect.scoped(SkillBundle.install(yield* request(contents), { root })))
      expect(error).toMatchObject({ _tag: "ExtensionError", status: 409 })
      expect(yield* list(Path.join(root, "glaze"))).toEqual(["mine"])
    }).pipe(Effect.provide(Env)))

  it.scoped("a root that can't be made is a failure with the system's code alone", () =>
    Effect.gen(function*() {
      const file = Path.join(yield* directory, "file")
      yield* Effect.promise(() => FileSystem.writeFile(file, ""))
      for (const root of [file, Path.join(file, "below")]) {
        const error = yield* Effect.flip(Effect.scoped(SkillBundle.install(yield* request(contents), { root })))
        expect(error._tag).toBe("DirectoryError")
        expect(error.message).not.toContain(file)
      }
    }).pipe(Effect.provide(Env)))
})
