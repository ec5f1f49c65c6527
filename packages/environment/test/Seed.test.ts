import * as Environment from "@effect-agentenv/environment/Environment"
import * as Seed from "@effect-agentenv/environment/Seed"
import type { Reason, SeedError } from "@effect-agentenv/environment/SeedError"
import { type Content, SeedSource, SeedSourceError } from "@effect-agentenv/environment/SeedSource"
import type { Part } from "@effect-agentenv/protocol/Part"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import {
  Context,
  Deferred,
  Effect,
  Exit,
  FastCheck,
  Fiber,
  type Layer,
  Redacted,
  Schema,
  Stream,
  TestClock
} from "effect"
import * as FileSystem from "node:fs/promises"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { pathToFileURL } from "node:url"

const User = Schema.Struct({ id: Schema.Number, name: Schema.String })
const ada = { id: 1, name: "Ada" }

const base64 = (content: string | Uint8Array) => Buffer.from(content).toString("base64")
const json = (value: unknown) => JSON.stringify(value)
const dataPart = (data: Record<string, unknown>): Part => ({ kind: "data", data })
const textPart = (text: string): Part => ({ kind: "text", text })
const bytesPart = (content: string | Uint8Array, file: { name?: string; mimeType?: string } = {}): Part => ({
  kind: "file",
  file: { bytes: base64(content), ...file }
})
const uriPart = (uri: string, file: { name?: string; mimeType?: string } = {}): Part => ({
  kind: "file",
  file: { uri, ...file }
})

const folder = Effect.acquireRelease(
  Effect.promise(() => FileSystem.mkdtemp(Path.join(tmpdir(), "seed-test-"))),
  (path) => Effect.promise(() => FileSystem.rm(path, { recursive: true }))
)

const writeFile = (path: string, content: string | Uint8Array) =>
  Effect.as(Effect.promise(() => FileSystem.writeFile(path, content)), pathToFileURL(path).href)

const listen = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

const source = (content: Effect.Effect<Content, SeedSourceError>) =>
  Effect.provideService(SeedSource, { open: () => content })

const streaming = (size: number | undefined, ...chunks: ReadonlyArray<string>): Content => ({
  size,
  bytes: Stream.fromIterable(chunks.map((chunk) => Buffer.from(chunk)))
})

const loaded = <A, I>(schema: Schema.Schema<A, I>, parts: ReadonlyArray<Part>, options?: Seed.Options) => {
  const values: Array<A> = []
  return Seed.load(schema, (value) => Effect.sync(() => values.push(value)), options)(parts).pipe(Effect.as(values))
}

const refused = <A, I>(schema: Schema.Schema<A, I>, parts: ReadonlyArray<Part>, options?: Seed.Options) =>
  Effect.flip(loaded(schema, parts, options))

const openDescriptors = Effect.promise(() => FileSystem.readdir("/proc/self/fd")).pipe(
  Effect.flatMap(
    Effect.forEach((fd) => Effect.promise(() => FileSystem.readlink(`/proc/self/fd/${fd}`).catch(() => "")))
  )
)

const nameOf = (name: string) => Effect.map(refused(User, [bytesPart("{", { name })]), (error) => error.message)

const secret = "https://store.example/bucket/users.json?signature=s3cr3t"

describe("Seed.load", () => {
  it.scoped("reads data, text, inline bytes and file URLs alike, in order (B-ENV-5, P-ENV-5)", () =>
    Effect.gen(function*() {
      const uri = yield* writeFile(Path.join(yield* folder, "user.json"), json({ ...ada, id: 4 }))
      const values = yield* loaded(User, [
        dataPart({ ...ada, extra: true }),
        textPart(json({ ...ada, id: 2 })),
        bytesPart(json({ ...ada, id: 3 }), { name: "user.json", mimeType: "application/json" }),
        uriPart(uri, { name: "user.json", mimeType: "application/json" })
      ])
      expect(values).toEqual([ada, { ...ada, id: 2 }, { ...ada, id: 3 }, { ...ada, id: 4 }])
    }))

  it.scoped("downloads with no encoding asked for, the query left as it is and no trace told", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const url = yield* listen((request, response) => {
        const { "accept-encoding": encoding, b3, traceparent } = request.headers
        seen.push([request.method, request.url, encoding, traceparent, b3])
        response.end(json(ada))
      })
      const values = yield* loaded(User, [uriPart(`${url}/users.json?a=%20b+c&sig=x%2Fy==#top`)], { allowHttp: true })
        .pipe(Effect.withSpan("outer"))
      expect(values).toEqual([ada])
      expect(seen).toEqual([["GET", "/users.json?a=%20b+c&sig=x%2Fy==", "identity", undefined, undefined]])
    }))

  it.scoped("any JSON object arrives equal by each way", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const served = new Map<string, string>()
      const url = yield* listen((request, response) => response.end(served.get(request.url ?? "")))
      const objects = FastCheck.sample(FastCheck.dictionary(FastCheck.string(), FastCheck.jsonValue()), {
        numRuns: 40,
        seed: 7
      }).map((object) => JSON.parse(json(object)) as Record<string, unknown>)
      for (const [index, object] of objects.entries()) {
        served.set(`/${index}`, json(object))
        const uri = yield* writeFile(Path.join(directory, `${index}`), json(object))
        const parts = [
          dataPart(object),
          textPart(json(object)),
          bytesPart(json(object)),
          uriPart(uri),
          uriPart(`${url}/${index}`)
        ]
        expect(yield* loaded(Schema.Unknown, parts, { allowHttp: true })).toEqual(Array(5).fill(object))
      }
    }))

  it.effect.prop(
    "any JSON value arrives equal by text and by bytes",
    [FastCheck.jsonValue()],
    ([generated]) =>
      Effect.gen(function*() {
        const value = JSON.parse(json(generated)) as unknown
        expect(yield* loaded(Schema.Unknown, [textPart(json(value)), bytesPart(json(value))])).toEqual([value, value])
      })
  )

  it.effect("hands text as it is to a schema whose encoded side is text", () =>
    Effect.gen(function*() {
      const sql = "insert into users values (1)"
      const parts = [textPart(sql), bytesPart(sql, { name: "seed.sql", mimeType: "application/sql" })]
      expect(yield* loaded(Schema.String, parts)).toEqual([sql, sql])
      expect(yield* loaded(Schema.NonEmptyTrimmedString, parts)).toEqual([sql, sql])
      expect(yield* loaded(Schema.parseJson(User), [bytesPart(json(ada), { name: "a.json" })])).toEqual([ada])
      const error = yield* refused(Schema.String, [bytesPart(new Uint8Array([0xff]))])
      expect(error).toMatchObject({ reason: "not-text", message: "parts[0]: is not UTF-8 text" })
    }))

  it.effect("takes a byte order mark, line breaks in base64, and json by name where the type says otherwise", () =>
    Effect.gen(function*() {
      const wrapped: Part = { kind: "file", file: { bytes: base64(json(ada)).replaceAll(/(.{8})/g, "$1\r\n") } }
      const parts = [
        bytesPart(`\ufeff${json(ada)}`),
        wrapped,
        bytesPart(json(ada), { name: "A.JSON", mimeType: "text/html" }),
        bytesPart(json(ada), { mimeType: "application/vnd.users+json; charset=utf-8" })
      ]
      expect(yield* loaded(User, parts)).toEqual([ada, ada, ada, ada])
    }))

  it.effect("tells the handler which part a value came from", () =>
    Effect.gen(function*() {
      const seen: Array<Seed.PartInfo> = []
      yield* Seed.load(User, (_, part) => Effect.sync(() => seen.push(part)))([
        { kind: "data", data: ada, metadata: { origin: "a" } },
        bytesPart(json(ada), { name: "b.json", mimeType: "text/json" })
      ])
      expect(seen).toEqual([
        { part: 0, kind: "data", name: undefined, mimeType: undefined, metadata: { origin: "a" } },
        { part: 1, kind: "file", name: "b.json", mimeType: "text/json", metadata: undefined }
      ])
    }))

  it.effect("runs nothing when a later part is wrong", () =>
    Effect.gen(function*() {
      let runs = 0
      const add = Seed.load(User, () => Effect.sync(() => runs++))
      const error = yield* Effect.flip(add([dataPart(ada), textPart("{")]))
      expect([error.part, error.reason, runs]).toEqual([1, "not-json", 0])
    }))

  it.effect("fails with the handler's own failure, and stops there", () =>
    Effect.gen(function*() {
      class Full extends Schema.TaggedError<Full>()("Full", {}) {}
      const seen: Array<number> = []
      const add = Seed.load(User, ({ id }) => {
        seen.push(id)
        return id === 2 ? Effect.fail(new Full()) : Effect.void
      })
      expectTypeOf(add).returns.toEqualTypeOf<Effect.Effect<void, Full | SeedError>>()
      const error = yield* Effect.flip(add([1, 2, 3].map((id) => dataPart({ ...ada, id }))))
      expect(error).toEqual(new Full())
      expect(seen).toEqual([1, 2])
    }))

  it("is the `add` of an environment, which then needs nothing more", () => {
    const Users = Environment.make("users", { tools: [] })
    const live = Users.toLayer(Effect.succeed({ add: Seed.load(User, () => Effect.void) }))
    const files = Users.toLayer(Effect.succeed({ add: Seed.files(() => Effect.void) }))
    expectTypeOf<Layer.Layer.Context<typeof live>>().toEqualTypeOf<never>()
    expectTypeOf<Layer.Layer.Context<typeof files>>().toEqualTypeOf<never>()
  })

  it("needs what the schema and the handler need, and nothing else", () => {
    class Needed extends Context.Tag("Needed")<Needed, string>() {}
    const add = Seed.load(User, () => Needed)
    expectTypeOf(add).returns.toEqualTypeOf<Effect.Effect<void, SeedError, Needed>>()
    // @ts-expect-error: the value is a User
    Seed.load(User, (value: { readonly id: string }) => Effect.succeed(value))
  })
})

describe("Seed errors", () => {
  it.effect("name the part and say what is wrong with it, never its content", () =>
    Effect.gen(function*() {
      const secretive = bytesPart(json({ id: "hunter2", name: "x" }), { name: "users.json" })
      const cases: ReadonlyArray<readonly [Part, Reason, string]> = [
        [dataPart({ id: "hunter2", name: "x" }), "wrong-shape", "parts[1]: id: "],
        [secretive, "wrong-shape", "parts[1] (users.json): id: "],
        [textPart("hunter2"), "not-json", "parts[1]: is not JSON"],
        [bytesPart(new Uint8Array([0x22, 0xff, 0x22])), "not-json", "parts[1]: is not UTF-8 text"],
        [
          bytesPart("a,b", { name: "u.csv", mimeType: "text/csv" }),
          "not-json",
          "parts[1] (u.csv): is not JSON, by its"
        ],
        [{ kind: "file", file: { bytes: "hunter2!" } }, "not-base64", "parts[1]: its bytes are not base64"],
        [{ kind: "file", file: { bytes: "abc" } }, "not-base64", "parts[1]: its bytes are not base64"],
        [{ kind: "file", file: { bytes: "a===" } }, "not-base64", "parts[1]: its bytes are not base64"],
        [uriPart("/etc/hunter2"), "unsupported-uri", "parts[1]: its uri is no file or https URL"],
        [uriPart("http://hunter2/"), "unsupported-uri", "parts[1]: its uri is no file or https URL"],
        [uriPart("ftp://hunter2/"), "unsupported-uri", "parts[1]: its uri is no file or https URL"],
        [uriPart("file://hunter2/x"), "unsupported-uri", "parts[1]: is not a file of this machine"],
        [uriPart("file:///nowhere/hunter2"), "missing", "parts[1]: does not exist"],
        [uriPart("file:///nowhere/hunter2%00"), "unreadable", "parts[1]: could not be read"],
        [uriPart("file:///"), "unreadable", "parts[1]: "],
        [uriPart("file:///dev/zero"), "unreadable", "parts[1]: is not a regular file"]
      ]
      for (const [part, reason, message] of cases) {
        const error = yield* refused(User, [dataPart(ada), part])
        expect(error).toBeInstanceOf(Error)
        expect(error).toMatchObject({ _tag: "SeedError", part: 1, reason })
        expect(error.message.startsWith(message), error.message).toBe(true)
        expect(json(error) + String(error) + error.message).not.toContain("hunter2")
      }
    }))

  it.effect("show of a name no path, no query and no control characters", () =>
    Effect.gen(function*() {
      expect(yield* nameOf("/home/me/users.json")).toBe("parts[0] (users.json): is not JSON")
      expect(yield* nameOf("C:\\me\\users.json")).toBe("parts[0] (users.json): is not JSON")
      expect(yield* nameOf(secret)).toBe("parts[0] (users.json): is not JSON")
      expect(yield* nameOf("a\u0000\n\u202eb")).toBe("parts[0] (a b): is not JSON")
      expect(yield* nameOf("/")).toBe("parts[0]: is not JSON")
      expect(yield* nameOf("x".repeat(200))).toBe(`parts[0] (${"x".repeat(79)}…): is not JSON`)
    }))

  it.scoped("tell how a download was refused, without its URL", () =>
    Effect.gen(function*() {
      const url = yield* listen((request, response) => {
        const path = new URL(request.url ?? "", "http://x").pathname.slice(1)
        if (path === "truncated") {
          response.writeHead(200, { "content-length": "100" })
          response.write("{}", () => response.destroy())
        } else if (path === "gzip") response.writeHead(200, { "content-encoding": "gzip" }).end("x")
        else response.writeHead(Number(path), { location: "/200" }).end(json(ada))
      })
      const messages: Record<string, unknown> = {}
      for (const path of ["404", "403", "302", "206", "gzip", "truncated"]) {
        const error = yield* refused(User, [uriPart(`${url}/${path}?s3cr3t`)], { allowHttp: true })
        expect(json(error) + String(error)).not.toMatch(/s3cr3t|127\.0/)
        messages[path] = [error.reason, error.detail]
      }
      const error = yield* refused(User, [uriPart("http://127.0.0.1:1/")], { allowHttp: true })
      expect(error).toMatchObject({ reason: "download-failed", detail: "could not be downloaded (ECONNREFUSED)" })
      expect(messages).toEqual({
        404: ["missing", "was answered with HTTP 404"],
        403: ["download-failed", "was answered with HTTP 403"],
        302: ["download-failed", "was answered with a redirect (HTTP 302), which is not followed"],
        206: ["download-failed", "was answered with HTTP 206"],
        gzip: ["download-failed", "was answered compressed, which was not asked for"],
        truncated: ["download-failed", expect.stringMatching(/^was cut off while it was downloaded/)]
      })
    }))

  it.effect("say that content nested too deeply for a recursive schema is, instead of dying", () =>
    Effect.gen(function*() {
      interface Nested extends ReadonlyArray<Nested> {}
      const Nested: Schema.Schema<Nested> = Schema.suspend(() => Schema.Array(Nested))
      const error = yield* refused(Nested, [textPart("[".repeat(100_000) + "]".repeat(100_000))])
      expect(error).toMatchObject({ reason: "wrong-shape", detail: "is nested too deeply" })
    }))
})

describe("Seed limits", () => {
  it.scoped("refuse a part of more than maxBytes, of every kind, and take one of exactly that", () =>
    Effect.gen(function*() {
      const value = json("x".repeat(1022))
      const directory = yield* folder
      const sparse = Path.join(directory, "sparse")
      yield* writeFile(sparse, "")
      yield* Effect.promise(() => FileSystem.truncate(sparse, 10 * 1024 ** 3))
      const exact = [textPart(value), bytesPart(value), uriPart(yield* writeFile(Path.join(directory, "a"), value))]
      expect(yield* loaded(Schema.Unknown, exact, { maxBytes: 1024 })).toHaveLength(3)
      for (const part of exact) {
        const error = yield* refused(Schema.Unknown, [part], { maxBytes: 1023 })
        expect(error).toMatchObject({ reason: "too-large", message: "parts[0]: is larger than 1023 bytes" })
      }
      const error = yield* refused(Schema.Unknown, [uriPart(pathToFileURL(sparse).href, { name: "big.json" })])
      expect(error.message).toBe("parts[0] (big.json): is larger than 64 MiB")
    }))

  it.effect("hold before anything is read if the size is announced, and while reading if not", () =>
    Effect.gen(function*() {
      let pulled = 0
      const bytes = Stream.repeatEffect(Effect.sync(() => {
        pulled++
        return new Uint8Array(100)
      }))
      const add = refused(Schema.Unknown, [uriPart(secret)], { maxBytes: 1000 })
      const announced = yield* add.pipe(source(Effect.succeed({ size: 1001, bytes })))
      expect([announced.reason, pulled]).toEqual(["too-large", 0])
      const found = yield* add.pipe(source(Effect.succeed({ size: undefined, bytes })))
      expect([found.reason, pulled]).toEqual(["too-large", 11])
    }))

  it.effect("refuse content that is shorter or longer than announced", () =>
    Effect.gen(function*() {
      for (const size of [1, 3]) {
        const remote = yield* refused(Schema.Unknown, [uriPart(secret)]).pipe(
          source(Effect.succeed(streaming(size, "{", "}")))
        )
        expect(remote).toMatchObject({ reason: "download-failed", detail: "was cut off while it was downloaded" })
      }
      const local = yield* refused(Schema.Unknown, [uriPart("file:///x")]).pipe(
        source(Effect.succeed(streaming(3, "{}")))
      )
      expect(local).toMatchObject({ reason: "unreadable", detail: "changed while it was read" })
    }))

  it.effect("end a download that takes longer than its timeout, and no other reading", () =>
    Effect.gen(function*() {
      const hanging = source(Effect.succeed({ size: undefined, bytes: Stream.never }))
      const remote = yield* Effect.fork(refused(User, [uriPart(secret)]).pipe(hanging))
      const local = yield* Effect.fork(refused(User, [uriPart("file:///x")]).pipe(hanging))
      yield* TestClock.adjust("299 seconds")
      expect(yield* Fiber.poll(remote)).toMatchObject({ _tag: "None" })
      yield* TestClock.adjust("1 seconds")
      const error = yield* Fiber.join(remote)
      expect(error).toMatchObject({ reason: "download-failed", detail: "was not downloaded within 5m" })
      yield* TestClock.adjust("1 day")
      expect(yield* Fiber.poll(local)).toMatchObject({ _tag: "None" })
      yield* Fiber.interrupt(local)
    }))

  it.scoped("keep file URLs within the directories given, links followed", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const inside = Path.join(root, "in")
      yield* Effect.promise(() => FileSystem.mkdir(inside))
      yield* Effect.promise(() => FileSystem.mkdir(`${inside}side`))
      const good = yield* writeFile(Path.join(inside, "..a.json"), json(ada))
      const sibling = yield* writeFile(Path.join(`${inside}side`, "a.json"), json(ada))
      const outside = yield* writeFile(Path.join(root, "a.json"), json(ada))
      yield* Effect.promise(() => FileSystem.symlink(Path.join(root, "a.json"), Path.join(inside, "link")))
      yield* Effect.promise(() => FileSystem.symlink(inside, Path.join(root, "alias")))
      const options = { directories: [Path.join(root, "absent"), Path.join(root, "alias")] }
      expect(yield* loaded(User, [uriPart(good)], options)).toEqual([ada])
      const link = pathToFileURL(Path.join(inside, "link")).href
      const dots = `${pathToFileURL(inside).href}/%2e%2e/a.json`
      for (const uri of [outside, sibling, link, dots, pathToFileURL(inside).href]) {
        const error = yield* refused(User, [uriPart(uri)], options)
        expect(error.message).toBe("parts[0]: lies outside the directories that seeds may come from")
      }
      const error = yield* refused(User, [uriPart(good)], { directories: [] })
      expect(error.reason).toBe("unreadable")
    }))

  it.effect("report what was received, with the total where it is known", () =>
    Effect.gen(function*() {
      const seen: Array<Seed.Progress> = []
      const options = { onProgress: (progress: Seed.Progress) => Effect.sync(() => void seen.push(progress)) }
      yield* loaded(Schema.Unknown, [dataPart({}), textPart("[1]"), bytesPart("[12]")], options)
      yield* loaded(Schema.Unknown, [uriPart(secret)], options).pipe(
        source(Effect.succeed(streaming(4, "[1", "2]")))
      )
      yield* loaded(Schema.Unknown, [uriPart(secret)], options).pipe(
        source(Effect.succeed(streaming(undefined, "[]")))
      )
      expect(seen).toEqual([
        { part: 1, received: 3, total: 3 },
        { part: 2, received: 4, total: 4 },
        { part: 0, received: 2, total: 4 },
        { part: 0, received: 4, total: 4 },
        { part: 0, received: 2 }
      ])
    }))
})

describe("Seed.files", () => {
  it.scoped("puts every part on disk as it is, and removes the directory when the handler ends", () =>
    Effect.gen(function*() {
      const binary = new Uint8Array(200_000).map((_, index) => index % 251)
      const uri = yield* writeFile(Path.join(yield* folder, "b.bin"), binary)
      const seen: Array<Seed.SeedFile & { readonly content: Buffer }> = []
      const add = Seed.files((file) =>
        Effect.promise(() => FileSystem.readFile(file.path)).pipe(
          Effect.map((content) => seen.push({ ...file, content }))
        )
      )
      expectTypeOf(add).returns.toEqualTypeOf<Effect.Effect<void, SeedError>>()
      yield* add([
        bytesPart(binary, { name: "../../etc/logo.PNG", mimeType: "image/png" }),
        uriPart(uri),
        textPart("hé"),
        dataPart(ada)
      ])
      expect(seen.map(({ kind, mimeType, name, size }) => [kind, name, mimeType, size])).toEqual([
        ["file", "../../etc/logo.PNG", "image/png", 200_000],
        ["file", undefined, undefined, 200_000],
        ["text", "part.txt", "text/plain", 3],
        ["data", "part.json", "application/json", json(ada).length]
      ])
      expect(seen.map(({ path }) => Path.basename(path))).toEqual(["0.PNG", "1", "2.txt", "3.json"])
      expect(seen.map(({ content }) => content)).toEqual([
        Buffer.from(binary),
        Buffer.from(binary),
        Buffer.from("hé"),
        Buffer.from(json(ada))
      ])
      for (const { path } of seen) {
        expect(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(() => FileSystem.stat(Path.dirname(path)))))).toBe(
          true
        )
      }
    }))

  it.effect("runs nothing when a later part is wrong, and keeps the limit", () =>
    Effect.gen(function*() {
      let runs = 0
      const add = Seed.files(() => Effect.sync(() => runs++), { maxBytes: 4 })
      const error = yield* Effect.flip(add([textPart("1234"), dataPart(ada)]))
      expect([error.message, runs]).toEqual(["parts[1]: is larger than 4 bytes", 0])
    }))

  it.scoped("pulls a large file through chunk by chunk, never more than one held", () =>
    Effect.gen(function*() {
      const chunk = new Uint8Array(1024 ** 2)
      let held = 0
      let size = 0
      const bytes = Stream.unwrap(Effect.sync(() =>
        Stream.range(1, 32).pipe(
          Stream.rechunk(1),
          Stream.mapEffect(() => Effect.as(Effect.sync(() => held++), chunk))
        )
      ))
      const add = Seed.files((file) => Effect.sync(() => size = file.size), {
        onProgress: () =>
          Effect.sync(() => {
            held--
            expect(held).toBe(0)
          })
      })
      yield* add([uriPart(secret)]).pipe(source(Effect.succeed({ size: 32 * 1024 ** 2, bytes })))
      expect(size).toBe(32 * 1024 ** 2)
    }))
})

describe("Seed interruption", () => {
  it.scoped("closes the connection of a download", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const url = yield* listen((request, response) => {
        request.socket.on("close", () => Deferred.unsafeDone(closed, Effect.void))
        response.write("{")
      })
      const add = loaded(User, [uriPart(url)], {
        allowHttp: true,
        onProgress: () => Effect.asVoid(Deferred.succeed(started, undefined))
      })
      const fiber = yield* Effect.fork(add)
      yield* Deferred.await(started)
      expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
      yield* Deferred.await(closed)
    }))

  it.scoped("closes a connection that was not answered yet", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const url = yield* listen((request) => {
        request.socket.on("close", () => Deferred.unsafeDone(closed, Effect.void))
        Deferred.unsafeDone(asked, Effect.void)
      })
      const fiber = yield* Effect.fork(loaded(User, [uriPart(url)], { allowHttp: true }))
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed)
    }))

  it.scoped("closes the files that it reads and writes, and removes what it wrote", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const uri = yield* writeFile(Path.join(yield* folder, "interrupted.bin"), new Uint8Array(300_000))
      const add = Seed.files(() => Effect.void, {
        onProgress: () => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
      })
      const fiber = yield* Effect.fork(add([uriPart(uri)]))
      yield* Deferred.await(started)
      const during = yield* openDescriptors
      const written = during.find((path) => path.includes("agentenv-seed-"))
      expect(during.some((path) => path.endsWith("interrupted.bin"))).toBe(true)
      expect(written).toBeDefined()
      yield* Fiber.interrupt(fiber)
      const after = yield* openDescriptors
      expect(after.filter((path) => path === written || path.endsWith("interrupted.bin"))).toEqual([])
      const left = yield* Effect.exit(Effect.tryPromise(() => FileSystem.stat(Path.dirname(written ?? ""))))
      expect(Exit.isFailure(left)).toBe(true)
    }))
})

describe("SeedSource", () => {
  it.effect("may be replaced, and is given the URL redacted", () =>
    Effect.gen(function*() {
      const opened: Array<Redacted.Redacted<URL>> = []
      const values = yield* loaded(User, [uriPart(secret)]).pipe(
        Effect.provideService(SeedSource, {
          open: (location) => {
            opened.push(location)
            return Effect.succeed(streaming(undefined, json(ada)))
          }
        })
      )
      expect(values).toEqual([ada])
      expect(opened.map(Redacted.value).map(String)).toEqual([secret])
      expect(String(opened[0])).toBe("<redacted>")
    }))

  it.effect("answers with its own reasons, under the part's name", () =>
    Effect.gen(function*() {
      const error = yield* refused(User, [uriPart(secret, { name: "users.json" })]).pipe(
        source(Effect.fail(new SeedSourceError({ reason: "missing", detail: "is in no bucket" })))
      )
      expect(error.message).toBe("parts[0] (users.json): is in no bucket")
    }))
})
