import { Staging, StagingError } from "@effect-agentenv/agent"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Context, Deferred, Effect, Exit, FastCheck, Fiber, Layer, Option, Stream } from "effect"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import * as Path from "node:path"
import { bytes, filesBelow, id, open, read, temporaryDirectory } from "./support.ts"

const reason = <A, R>(effect: Effect.Effect<A, unknown, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    expect(error).toBeInstanceOf(StagingError.StagingError)
    const { reason, status } = error as StagingError.StagingError
    return `${status} ${reason}`
  })

const build = <E>(layer: Layer.Layer<Staging.Staging, E>, env: Record<string, string>) =>
  Effect.map(
    Layer.build(Layer.provide(layer, Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))))),
    (context) => Context.get(context, Staging.Staging)
  )

describe("a staging store", () => {
  it.scoped("answers a write with path, size, tag and hash, and replaces (B-STG-5)", () =>
    Effect.gen(function*() {
      const { staging } = yield* open(100)
      const first = yield* staging.put(`${id}/in/a`, bytes("clay"))
      expect(first).toEqual({
        path: `${id}/in/a`,
        size_bytes: 4,
        etag: expect.stringMatching(/^"[0-9a-f]+-4"$/),
        sha256: createHash("sha256").update("clay").digest("hex")
      })
      yield* staging.put(`${id}/in/a`, bytes("brick"))
      expect(yield* staging.list(id)).toEqual([{ path: "in/a", size_bytes: 5, etag: expect.any(String) }])
      const empty = yield* staging.put(`${id}/empty`, Stream.empty)
      expect([empty.size_bytes, yield* read((yield* staging.get(`${id}/empty`)).content)]).toEqual([0, ""])
    }))

  it.scoped("refuses content that is shorter or longer than its size says, and keeps nothing of it (B-STG-5)", () =>
    Effect.gen(function*() {
      const { directory, staging } = yield* open(10)
      expect(yield* reason(staging.put(`${id}/a`, bytes("clay"), { size: 5 }))).toBe("400 InvalidBody")
      expect(yield* reason(staging.put(`${id}/a`, bytes("clay"), { size: 3 }))).toBe("400 InvalidBody")
      expect(yield* filesBelow(directory)).toEqual([])
      expect((yield* staging.put(`${id}/a`, bytes("x".repeat(10)), { size: 10 })).size_bytes).toBe(10)
    }))

  it.scoped("opens what was there, whatever becomes of the name (B-STG-6, B-STG-14)", () =>
    Effect.gen(function*() {
      const { staging } = yield* open(1000)
      const { etag } = yield* staging.put(`${id}/a`, bytes("old"))
      const opened = yield* staging.get(`${id}/a`)
      yield* staging.put(`${id}/a`, bytes("newer"))
      yield* staging.clear(id)
      expect([opened.etag, opened.size_bytes, yield* read(opened.content)]).toEqual([etag, 3, "old"])
      expect(yield* reason(staging.get(`${id}/a`))).toBe("404 NotFound")
    }))

  it.scoped("shows nothing of a write before its end (B-STG-14)", () =>
    Effect.gen(function*() {
      const { staging } = yield* open(1000)
      yield* staging.put(`${id}/a`, bytes("old"))
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const content = Stream.concat(
        bytes("ne"),
        Stream.fromEffect(
          Effect.zipRight(Deferred.succeed(begun, undefined), Effect.as(Deferred.await(go), Buffer.from("w")))
        )
      )
      const writing = yield* Effect.fork(staging.put(`${id}/a`, content))
      yield* Deferred.await(begun)
      expect(yield* read((yield* staging.get(`${id}/a`)).content)).toBe("old")
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(writing)
      expect(yield* read((yield* staging.get(`${id}/a`)).content)).toBe("new")
    }))

  it.scoped("gives every write a tag of its own, at one and the same time too (B-STG-7)", () =>
    Effect.gen(function*() {
      const { directory, staging } = yield* open(1000)
      const written = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => staging.put(`${id}/a`, bytes("x")),
        { concurrency: 8 }
      )
      expect(new Set(written.map(({ etag }) => etag)).size).toBe(50)
      // also after a restart, whatever the clock says
      const [last] = yield* staging.list(id)
      const again = yield* open(1000, directory)
      expect((yield* again.staging.put(`${id}/a`, bytes("x"))).etag).not.toBe(last!.etag)
      const now = yield* again.staging.list(id)
      expect(written.map(({ etag }) => etag)).not.toContain(now[0]!.etag)
    }))

  it.scoped("lists relative to the prefix and sorted; nothing there is an empty list (B-STG-8)", () =>
    Effect.gen(function*() {
      const { staging } = yield* open(1000)
      for (const path of ["b/z", "b/a/c", "b.x", "a"]) yield* staging.put(`${id}/in/${path}`, bytes(path))
      const listed = yield* staging.list(`${id}/in`)
      expect(listed.map(({ path, size_bytes }) => [path, size_bytes])).toEqual([["a", 1], ["b.x", 3], ["b/a/c", 5], [
        "b/z",
        3
      ]])
      expect(yield* staging.list(`${id}/none`)).toEqual([])
      expect(yield* staging.list(`${id}/in/a`)).toEqual([])
    }))

  it.scoped("removes an object when the tag matches, and prunes the folders it leaves empty (B-STG-9)", () =>
    Effect.gen(function*() {
      const { directory, staging } = yield* open(1000)
      const { etag } = yield* staging.put(`${id}/x/y/a`, bytes("1"))
      expect(yield* reason(staging.remove(`${id}/x/y/a`, { ifMatch: "\"0-0\"" }))).toBe("412 Changed")
      expect(yield* reason(staging.remove(`${id}/x/y`))).toBe("404 NotFound")
      expect(yield* reason(staging.remove(`${id}/none`, { ifMatch: "\"0-0\"" }))).toBe("404 NotFound")
      yield* staging.remove(`${id}/x/y/a`, { ifMatch: etag })
      expect(existsSync(Path.join(directory, "objects", id))).toBe(false)
      expect(existsSync(Path.join(directory, "objects"))).toBe(true)
    }))

  it.scoped("clears a prefix at once and frees its room; clearing nothing is no failure (B-STG-9)", () =>
    Effect.gen(function*() {
      const { directory, staging } = yield* open(10)
      yield* staging.put(`${id}/in/a`, bytes("12345"))
      yield* staging.put(`${id}/in/b/c`, bytes("12345"))
      yield* staging.clear(`${id}/in`)
      yield* staging.clear(`${id}/in`)
      expect(yield* filesBelow(directory)).toEqual([])
      yield* staging.put(`${id}/a`, bytes("1234567890"))
      // a prefix that is an object has nothing below it
      yield* staging.clear(`${id}/a`)
      expect((yield* staging.list(id)).length).toBe(1)
    }))

  it.scoped("counts what is stored and what is under way, with and without a known size (B-STG-11)", () =>
    Effect.gen(function*() {
      const { directory, staging } = yield* open(10)
      yield* staging.put(`${id}/a`, bytes("123456"))
      expect(yield* reason(staging.put(`${id}/b`, bytes("12345"), { size: 5 }))).toBe("413 Full")
      expect(yield* reason(staging.put(`${id}/b`, bytes("12345")))).toBe("413 Full")
      // a replacement needs room beside the old copy
      expect(yield* reason(staging.put(`${id}/a`, bytes("12345"), { size: 5 }))).toBe("413 Full")
      yield* staging.put(`${id}/a`, bytes("1234"), { size: 4 })
      yield* staging.put(`${id}/b`, bytes("123456"))
      expect(yield* filesBelow(directory)).toEqual(["a", "b"])
      // room that is promised to one is not given to another, and comes back when the first fails
      yield* staging.remove(`${id}/b`)
      const begun = yield* Deferred.make<void>()
      const waiting = yield* Effect.fork(
        staging.put(
          `${id}/c`,
          Stream.drain(Stream.fromEffect(Deferred.succeed(begun, undefined))).pipe(Stream.concat(Stream.never)),
          { size: 6 }
        )
      )
      yield* Deferred.await(begun)
      expect(yield* reason(staging.put(`${id}/d`, bytes("1"), { size: 1 }))).toBe("413 Full")
      yield* Fiber.interrupt(waiting)
      yield* staging.put(`${id}/d`, bytes("123456"), { size: 6 })
      expect(yield* filesBelow(directory)).toEqual(["a", "d"])
    }))

  it.scoped("leaves nothing of content that fails, and passes its failure on (B-STG-11)", () =>
    Effect.gen(function*() {
      const { directory, staging } = yield* open(10)
      const broken = Stream.concat(bytes("12345"), Stream.fail("broken"))
      expect(yield* Effect.exit(staging.put(`${id}/a`, broken))).toEqual(Exit.fail("broken"))
      expect(yield* filesBelow(directory)).toEqual([])
      expect((yield* staging.put(`${id}/a`, bytes("1234567890"))).size_bytes).toBe(10)
    }))

  it.scoped("stores two uploads to one key one after the other, and counts one (B-STG-11, B-STG-14)", () =>
    Effect.gen(function*() {
      const { directory, staging } = yield* open(20)
      const both = yield* Effect.all([
        staging.put(`${id}/a`, bytes("1".repeat(10))),
        staging.put(`${id}/a`, bytes("2".repeat(10)))
      ], {
        concurrency: 2
      })
      const stored = yield* staging.get(`${id}/a`)
      const winner = both.find(({ etag }) => etag === stored.etag)!
      expect(createHash("sha256").update(yield* read(stored.content)).digest("hex")).toBe(winner.sha256)
      expect(yield* filesBelow(directory)).toEqual(["a"])
      yield* staging.put(`${id}/b`, bytes("1".repeat(10)))
    }))

  it.scoped("keeps objects and prefixes apart, and leaves no folder of an attempt (B-STG-12)", () =>
    Effect.gen(function*() {
      const { directory, staging } = yield* open(100)
      yield* staging.put(`${id}/a/b`, bytes("1"))
      expect(yield* reason(staging.put(`${id}/a`, bytes("1")))).toBe("409 Conflict")
      expect(yield* reason(staging.put(`${id}/a/b/c/d`, bytes("1")))).toBe("409 Conflict")
      // the one that became an object while the other was under way
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const late = Stream.fromEffect(
        Effect.zipRight(Deferred.succeed(begun, undefined), Effect.as(Deferred.await(go), Buffer.from("x")))
      )
      const writing = yield* Effect.fork(staging.put(`${id}/q/r/s`, late))
      yield* Deferred.await(begun)
      yield* staging.put(`${id}/q`, bytes("1"))
      yield* Deferred.succeed(go, undefined)
      expect(yield* reason(Fiber.join(writing))).toBe("409 Conflict")
      expect(yield* filesBelow(directory)).toEqual(["b", "q"])
    }))

  it.effect.prop(
    "keeps whatever path within its folder (B-STG-4)",
    [FastCheck.array(
      FastCheck.oneof(FastCheck.constantFrom("..", ".", "", "a", "%2e%2e", "\0", "\\", "ü", "~"), FastCheck.string()),
      { maxLength: 6 }
    )],
    ([segments]) =>
      Effect.scoped(Effect.gen(function*() {
        const { directory, staging } = yield* open(100)
        const path = [id, ...segments].join("/")
        const exit = yield* Effect.exit(staging.put(path, bytes("x")))
        const valid = path.split("/").every((segment) =>
          !["", ".", ".."].includes(segment) && !/[\\\0]|\p{Surrogate}/u.test(segment) &&
          Buffer.byteLength(segment) < 256
        )
        expect(Exit.isSuccess(exit)).toBe(valid)
        expect((yield* filesBelow(Path.join(directory, "objects"))).length).toBe(valid ? 1 : 0)
        if (valid) {
          expect((yield* staging.list(id)).map((object) => object.path)).toEqual(
            [segments.join("/")].filter((path) => path !== "")
          )
        }
      })),
    { fastCheck: { numRuns: 60 } }
  )

  it.scoped("keeps its own folders private and leaves the directory alone (B-STG-13)", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const root = Path.join(directory, "root")
      mkdirSync(root, { mode: 0o755 })
      mkdirSync(Path.join(root, "objects"), { mode: 0o755 })
      const { staging } = yield* open(100, root)
      yield* staging.put(`${id}/a/b`, bytes("x"))
      const mode = (path: string) => statSync(Path.join(root, path)).mode & 0o777
      expect([mode(""), mode("objects"), mode("incoming")]).toEqual([0o755, 0o700, 0o700])
      expect([mode(`objects/${id}/a`), mode(`objects/${id}/a/b`)]).toEqual([0o700, 0o600])
    }))

  it.scoped("counts what it finds and removes left-overs at its start (B-STG-14)", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      mkdirSync(Path.join(directory, "objects", id, "empty", "folder"), { recursive: true })
      mkdirSync(Path.join(directory, "incoming", "cleared"), { recursive: true })
      writeFileSync(Path.join(directory, "objects", id, "a"), "123456")
      writeFileSync(Path.join(directory, "incoming", "half"), "12345678901234567890")
      writeFileSync(Path.join(directory, "incoming", "cleared", "b"), "1234567890")
      const { staging } = yield* open(10, directory)
      expect(yield* filesBelow(directory)).toEqual(["a"])
      expect(yield* reason(staging.put(`${id}/b`, bytes("12345")))).toBe("413 Full")
      yield* staging.put(`${id}/empty`, bytes("1234"))
    }))

  it.scoped("tells of a directory that it cannot use when it is built", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = Path.join(directory, "file")
      writeFileSync(file, "")
      const error = yield* Effect.flip(Layer.build(Staging.layer({ directory: file })))
      expect(error).toEqual(new StagingError.StagingUnavailable({ directory: file, code: "EEXIST" }))
      expect(error.message).toContain(file)
    }))
})

describe("Staging.layer without a directory", () => {
  it.scoped("makes a private one when first used, of its own, and removes it with the layer (B-STG-2)", () =>
    Effect.gen(function*() {
      const roots = yield* Effect.scoped(Effect.gen(function*() {
        const listeners = process.listenerCount("exit")
        const [one, two] = yield* Effect.all([
          Layer.build(Layer.fresh(Staging.layer())),
          Layer.build(Layer.fresh(Staging.layer()))
        ])
        expect(process.listenerCount("exit")).toBe(listeners)
        const [a, b] = [Context.get(one, Staging.Staging), Context.get(two, Staging.Staging)]
        expect(a.maxBytes).toBe(17179869184)
        yield* a.put(`${id}/a`, bytes("x"))
        expect(yield* b.list(id)).toEqual([])
        expect(process.listenerCount("exit")).toBe(listeners + 2)
        return listeners
      }))
      expect(process.listenerCount("exit")).toBe(roots)
    }))
})

describe("Staging.layerConfig", () => {
  const limits: ReadonlyArray<readonly [string | undefined, number]> = [
    [undefined, 17179869184],
    ["", 17179869184],
    ["  ", 17179869184],
    ["0", 0],
    [" 100 ", 100]
  ]
  for (const [text, limit] of limits) {
    it.scoped(`reads the limit ${JSON.stringify(text)} as ${limit} (B-STG-2)`, () =>
      Effect.gen(function*() {
        const env: Record<string, string> = text === undefined ? {} : { AGENTENV_STAGING_MAX_BYTES: text }
        expect((yield* build(Staging.layerConfig, { ...env, AGENTENV_STAGING_DIR: " " })).maxBytes).toBe(limit)
      }))
  }

  for (const text of ["-1", "many", "1.5", "99999999999999999999"]) {
    it.scoped(`refuses the limit ${text} with an error that names the variable (B-STG-2)`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(build(Staging.layerConfig, { AGENTENV_STAGING_MAX_BYTES: text }))
        expect(String(error)).toContain("AGENTENV_STAGING_MAX_BYTES")
      }))
  }

  it.scoped("stages in the directory of its variable (B-STG-2)", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const staging = yield* build(Staging.layerConfig, { AGENTENV_STAGING_DIR: directory })
      yield* staging.put(`${id}/a`, bytes("x"))
      expect(existsSync(Path.join(directory, "objects", id, "a"))).toBe(true)
    }))
})

describe("Staging.extension", () => {
  it.scoped("is the card's entry, and none for a store that is off (B-STG-1)", () =>
    Effect.gen(function*() {
      const { staging } = yield* open(100)
      expect(Staging.extension(staging)).toEqual(Option.some({
        uri: "urn:agentenv:staging/v1",
        description: expect.any(String),
        params: { endpoint: "/ext/staging", max_bytes: 100 }
      }))
      expect(Staging.extension((yield* open(0)).staging)).toEqual(Option.none())
    }))
})
