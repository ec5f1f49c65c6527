import * as ExtensionClient from "@effect-agentenv/client/ExtensionClient"
import * as Extension from "@effect-agentenv/protocol/Extension"
import { SnapshotV1 } from "@effect-agentenv/protocol/extensions/SnapshotV1"
import * as Operation from "@effect-agentenv/protocol/Operation"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Either, Fiber, Option, Redacted, Schedule, Schema, TestClock } from "effect"
import { type Fake, fake, json, type Received, text } from "./support.ts"

const Bell = Extension.make("urn:agentenv:bell/v1", {
  operations: {
    ring: Operation.post({
      request: Schema.Struct({ times: Schema.Int, at: Schema.optional(Schema.DateFromString) }),
      response: Schema.Struct({ rung: Schema.NumberFromString }).annotations({
        parseOptions: { onExcessProperty: "error" }
      })
    }),
    look: Operation.get({
      request: Schema.Struct({
        n: Schema.NumberFromString,
        tags: Schema.optional(Schema.Array(Schema.String)),
        deep: Schema.optional(Schema.Boolean),
        near: Schema.optional(Schema.NullOr(Schema.String))
      }),
      response: Schema.Struct({ seen: Schema.Array(Schema.String) })
    }),
    mute: Operation.del({ name: "be-quiet" }),
    tune: Operation.put({
      variants: {
        note: Operation.variant(Schema.Struct({ note: Schema.String })),
        pitch: Operation.optionalVariant(Schema.Struct({ hertz: Schema.NumberFromString }))
      },
      response: Schema.String
    })
  },
  features: {
    echo: { start: Operation.post({ name: "start-echo" }), stop: Operation.post({ name: "stop-echo" }) },
    light: { on: Operation.post({ name: "light-on" }) }
  }
})

const Plain = Extension.make("urn:agentenv:bell/v1", { operations: { mute: Operation.del({ name: "be-quiet" }) } })

const methods = {
  ring: { method: "post", endpoint: "/ext/ring" },
  look: { method: "GET", endpoint: "/ext/look" },
  "be-quiet": { method: "DELETE" },
  tune: { method: "PUT" },
  "start-echo": { method: "POST" },
  "light-on": { method: "POST" }
}

const card = {
  name: "e",
  capabilities: {
    extensions: [
      { uri: "urn:agentenv:bell/v1", params: { endpoint: "/ext/bell", methods } },
      { uri: "urn:agentenv:bare/v1" }
    ]
  },
  children_environments: [{
    name: "child",
    capabilities: { extensions: [{ uri: "urn:x", params: { endpoint: "/child/x", methods: { go: {} } } }] }
  }]
}

const serving = (respond: (received: Received) => Effect.Effect<Response, { readonly code: string }>): Fake =>
  fake((received) => (received.url.endsWith("agent-env.json") ? Effect.succeed(json(card)) : respond(received)))

const on = (server: Fake, options: Partial<ExtensionClient.Options> = {}) =>
<A, E>(
  effect: Effect.Effect<A, E, ExtensionClient.Transport>
): Effect.Effect<A, E> =>
  Effect.provide(effect, ExtensionClient.layer({ baseUrl: "http://fake", ...options })).pipe(
    Effect.provide(server.layer)
  )

describe("typed calls", () => {
  it.effect("are encoded and decoded by the definition, at the endpoint and verb of the card (B-CLI-4, B-CLIENT-3)", () =>
    Effect.gen(function*() {
      const server = serving(() => Effect.succeed(json({ rung: "3", more: true })))
      const found = yield* on(server, { caller: { role: "judge" } })(
        Effect.flatMap(ExtensionClient.make(Bell), (bell) => bell.ring({ times: 3, at: new Date(0) }))
      )
      expect(found).toEqual({ rung: 3 })
      expect(server.log[1]).toMatchObject({
        method: "POST",
        url: "http://fake/ext/ring",
        body: { times: 3, at: "1970-01-01T00:00:00.000Z" },
        headers: { "agentenv-role": "judge", "content-type": "application/json" }
      })
    }))

  it.effect("read with GET send their request as the query string (B-CLI-5)", () =>
    Effect.gen(function*() {
      const server = serving(() => Effect.succeed(json({ seen: ["a"] })))
      const look = (request: Parameters<ExtensionClient.ExtensionClient<typeof Bell>["look"]>[0]) =>
        on(server)(Effect.flatMap(ExtensionClient.make(Bell), (bell) => bell.look(request)))
      expect(yield* look({ n: 3, tags: ["x y", "&"], deep: false, near: null })).toEqual({ seen: ["a"] })
      expect(server.log.at(-1)).toMatchObject({
        method: "GET",
        url: "http://fake/ext/look?n=3&tags=x+y&tags=%26&deep=false",
        body: undefined
      })
    }))

  it.effect("that take and answer nothing send and read any object", () =>
    Effect.gen(function*() {
      const server = serving(() => Effect.succeed(json({ status: "ok" })))
      expect(yield* on(server)(Effect.flatMap(ExtensionClient.make(Plain), (bell) => bell.mute()))).toBeUndefined()
      expect(server.log[1]).toMatchObject({ method: "DELETE", url: "http://fake/ext/bell", body: {} })
      const silent = serving(() => Effect.succeed(new Response(null, { status: 204 })))
      expect(yield* on(silent)(Effect.flatMap(ExtensionClient.make(Plain), (bell) => bell.mute()))).toBeUndefined()
    }))

  it.effect("with variants encode the one that was given", () =>
    Effect.gen(function*() {
      const server = serving(({ body }) => Effect.succeed(json(JSON.stringify(body))))
      const tuned = on(server)(Effect.flatMap(ExtensionClient.make(Bell), (bell) =>
        Effect.all([bell.tune({ note: "a" }), bell.tune({ hertz: 440 })])))
      expect(yield* tuned).toEqual(["{\"note\":\"a\"}", "{\"hertz\":\"440\"}"])
    }))

  it.effect("of features are there when the card has all of them", () =>
    Effect.gen(function*() {
      const server = serving(() => Effect.succeed(json({})))
      const bell = yield* on(server)(ExtensionClient.make(Bell))
      expect(Option.isNone(bell.echo)).toBe(true)
      expect(Option.isSome(bell.light)).toBe(true)
    }))

  it.effect("that don't encode or whose answer doesn't decode are typed errors without values", () =>
    Effect.gen(function*() {
      const server = serving(() => Effect.succeed(json({ rung: "canary" })))
      const ring = (times: number) =>
        Effect.flip(on(server)(Effect.flatMap(ExtensionClient.make(Bell), (bell) => bell.ring({ times }))))
      expect(yield* ring(1.5)).toMatchObject({ _tag: "InvalidRequest", operation: "ring" })
      expect(server.log.filter(({ url }) => url.endsWith("ring"))).toEqual([])
      const error = yield* ring(1)
      expect(error).toMatchObject({ _tag: "Unreadable", operation: "urn:agentenv:bell/v1 ring" })
      expect(error.message).not.toContain("canary")
    }))
})

describe("untyped calls", () => {
  it.effect("go to the first operation unless one is named (B-CLI-5)", () =>
    Effect.gen(function*() {
      const server = serving(({ body }) => Effect.succeed(json(body ?? null)))
      expect(yield* on(server)(ExtensionClient.invoke("urn:agentenv:bell/v1", { params: { times: 1 } }))).toEqual({
        times: 1
      })
      expect(server.log[1]?.url).toBe("http://fake/ext/ring")
      yield* on(server)(ExtensionClient.invoke("urn:agentenv:bell/v1", { method: "look", params: { a: { b: 1 } } }))
      expect(server.log[3]?.url).toBe("http://fake/ext/look?a=%7B%22b%22%3A1%7D")
    }))

  it.effect("reach a child's extensions when the child is named", () =>
    Effect.gen(function*() {
      const server = serving(() => Effect.succeed(json({ ok: true })))
      expect(yield* on(server, { child: "child" })(ExtensionClient.invoke("urn:x"))).toEqual({ ok: true })
      expect(server.log[1]).toMatchObject({ method: "POST", url: "http://fake/child/x" })
      expect(yield* Effect.flip(on(server)(ExtensionClient.invoke("urn:x")))).toMatchObject({ _tag: "NotAdvertised" })
      expect(yield* Effect.flip(on(server, { child: "other" })(ExtensionClient.invoke("urn:x")))).toMatchObject({
        _tag: "Unreadable",
        what: "the card"
      })
    }))
})

describe("what isn't advertised (B-CLI-5, B-CLIENT-3)", () => {
  it.effect("fails before any request and names what is", () =>
    Effect.gen(function*() {
      const server = serving(() => Effect.succeed(json({})))
      const fails = (uri: string, method?: string) => Effect.flip(on(server)(ExtensionClient.invoke(uri, { method })))
      const unknown = yield* fails("urn:agentenv:horn/v1")
      expect(unknown).toMatchObject({
        _tag: "NotAdvertised",
        uri: "urn:agentenv:horn/v1",
        advertised: ["urn:agentenv:bell/v1", "urn:agentenv:bare/v1"]
      })
      expect((yield* fails("urn:agentenv:bell/v1", "smash")).message).toContain(
        "has no operation smash; it advertises: ring, look, be-quiet"
      )
      expect((yield* fails("urn:agentenv:bare/v1")).message).toContain("none")
      expect(server.log.every(({ url }) => url.endsWith("agent-env.json"))).toBe(true)
    }))
})

const refused = (response: () => Response) =>
  Effect.flip(on(serving(() => Effect.sync(response)))(ExtensionClient.invoke("urn:agentenv:bell/v1")))

describe("refusals", () => {
  it.effect("carry the fields of the error (B-CLIENT-1)", () =>
    Effect.gen(function*() {
      const error = { code: "broken", message: "It broke.", retryable: true, applied: "no", hint: "Mend it." }
      expect(yield* refused(() => json({ ok: false, error }, 409))).toMatchObject({
        _tag: "ExtensionCallError",
        uri: "urn:agentenv:bell/v1",
        operation: "ring",
        status: 409,
        code: "broken",
        detail: "It broke.",
        retryable: true,
        applied: "no",
        hint: "Mend it."
      })
    }))

  it.effect("without such an object say no more than the status (B-CLIENT-2)", () =>
    Effect.gen(function*() {
      for (const body of [() => text("<html>", 502), () => json({ detail: "x" }, 502), () => json([], 502)]) {
        expect(yield* refused(body)).toMatchObject({
          _tag: "ExtensionCallError",
          status: 502,
          code: undefined,
          detail: "Bad Gateway",
          retryable: false,
          applied: "unknown",
          hint: undefined
        })
      }
    }))

  it.effect("begin at 400: what is below has to be JSON (B-CLIENT-1)", () =>
    Effect.gen(function*() {
      expect(yield* refused(() => text("moved", 302))).toMatchObject({ _tag: "Unreadable" })
      expect(yield* refused(() => text("hello"))).toMatchObject({ _tag: "Unreadable", issues: "it is no JSON" })
    }))
})

describe("retry (B-ERR-8)", () => {
  /** A peer that fails a number of times, then rings; how often it was asked, and what became of the call. */
  const ringing = (failures: number, error: object, schedule?: Schedule.Schedule<unknown>) =>
    Effect.gen(function*() {
      let asked = 0
      const server = serving(() =>
        Effect.sync(() => ++asked <= failures ? json({ error }, 503) : json({ rung: `${asked}` }))
      )
      const ringing = yield* ExtensionClient.make(Bell).pipe(
        Effect.flatMap(({ ring }) => ExtensionClient.retry(schedule)(ring({ times: 1 }))),
        on(server),
        Effect.either,
        Effect.fork
      )
      yield* TestClock.adjust("1 minute")
      return { result: yield* Fiber.join(ringing), asked }
    })

  const busy = { code: "busy", message: "Not now.", retryable: true, applied: "no" }

  it.effect("repeats what is retryable and was not applied, five attempts in all", () =>
    Effect.gen(function*() {
      expect(yield* ringing(4, busy)).toEqual({ result: Either.right({ rung: 5 }), asked: 5 })
      const given = yield* ringing(9, busy)
      expect(given.asked).toBe(5)
      expect(Either.isLeft(given.result) && given.result.left).toMatchObject({ code: "busy", retryable: true })
    }))

  it.effect("repeats nothing else", () =>
    Effect.gen(function*() {
      for (
        const error of [
          { ...busy, retryable: false },
          { ...busy, applied: "yes" },
          { ...busy, applied: "unknown" },
          { code: "busy", message: "Not now.", retryable: true },
          {}
        ]
      ) {
        expect((yield* ringing(1, error)).asked).toBe(1)
      }
    }))

  it.effect("follows another schedule, which sees the failures", () =>
    Effect.gen(function*() {
      expect((yield* ringing(9, busy, Schedule.recurs(1))).asked).toBe(2)
    }))

  it.effect("leaves timeouts and requests that nobody answered alone", () =>
    Effect.gen(function*() {
      const silent = serving(() => Effect.never)
      const waiting = yield* Effect.fork(
        on(silent)(ExtensionClient.retry()(ExtensionClient.invoke("urn:agentenv:bell/v1"))).pipe(Effect.flip)
      )
      yield* TestClock.adjust("5 minutes")
      expect((yield* Fiber.join(waiting))._tag).toBe("Timeout")
      expect(silent.log).toHaveLength(2)
      expect(ExtensionClient.isRetryable(yield* Fiber.join(waiting))).toBe(false)
    }))

  it("keeps the types of the call", () => {
    const call = ExtensionClient.invoke("urn:agentenv:bell/v1")
    expectTypeOf(ExtensionClient.retry()(call)).toEqualTypeOf<typeof call>()
  })
})

describe("the transport", () => {
  it.effect("reads the card once, at the first call, and again after a failure", () =>
    Effect.gen(function*() {
      let cards = 0
      const server = fake(({ url }) =>
        Effect.sync(() => url.endsWith("agent-env.json") ? (++cards === 1 ? text("", 503) : json(card)) : json({}))
      )
      yield* on(server)(Effect.gen(function*() {
        const bell = yield* ExtensionClient.make(Plain)
        expect(cards).toBe(0)
        expect(yield* Effect.flip(bell.mute())).toMatchObject({ _tag: "BadStatus", status: 503 })
        yield* Effect.all([bell.mute(), bell.mute(), bell.mute()], { concurrency: "unbounded" })
        yield* bell.mute()
      }))
      expect(cards).toBe(2)
    }))

  it.effect("waits 30 s, unless it or the call says otherwise (B-CLIENT-4, V-16)", () =>
    Effect.gen(function*() {
      const server = serving(() => Effect.never)
      const after = (options: Partial<ExtensionClient.Options>, call: ExtensionClient.CallOptions) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(Effect.flip(
            on(server, options)(
              Effect.flatMap(ExtensionClient.make(Plain), (bell) => bell.mute(call))
            )
          ))
          yield* TestClock.adjust("1 hour")
          const error = yield* Fiber.join(fiber)
          return error._tag === "Timeout" ? Duration.toSeconds(error.after) : error
        })
      expect(yield* after({}, {})).toBe(30)
      expect(yield* after({ timeout: "40 seconds" }, {})).toBe(40)
      expect(yield* after({ timeout: "40 seconds" }, { timeout: "50 seconds" })).toBe(50)
    }))
})

const SnapshotEntry = {
  uri: SnapshotV1.uri,
  params: {
    endpoint: "/ext/snapshot",
    methods: { save: { method: "POST", request: { required: ["context_id", "objects"] } } }
  }
}

const agentCard = {
  name: "potter",
  capabilities: {
    extensions: [
      {
        uri: "urn:agentenv:bell/v1",
        params: {
          endpoint: "/ext/bell",
          methods: {
            ring: { method: "post", endpoint: "/ext/ring", request: { required: ["times"], optional: ["at"] } },
            look: { method: "GET", request: { required: ["n"] } },
            "be-quiet": { method: "DELETE" },
            tune: { method: "PUT", request: { required: ["note"] } },
            "light-on": { method: "POST" }
          }
        }
      },
      { uri: "urn:agentenv:old/v1", config: { endpoint: "/ext/old", methods: { go: { method: "POST" } } } },
      SnapshotEntry
    ]
  }
}

const agent = (respond: (received: Received) => Effect.Effect<Response, { readonly code: string }>): Fake =>
  fake((received) => received.url.includes("/.well-known/") ? Effect.succeed(json(agentCard)) : respond(received))

const onAgent = (server: Fake, options: Partial<ExtensionClient.AgentOptions> = {}) =>
<A, E>(
  effect: Effect.Effect<A, E, ExtensionClient.Transport>
): Effect.Effect<A, E> =>
  Effect.provide(effect, ExtensionClient.layerAgent({ baseUrl: "http://fake/a2a", ...options })).pipe(
    Effect.provide(server.layer)
  )

describe("an agent's extensions", () => {
  const ring = (server: Fake) =>
    onAgent(server)(Effect.flip(Effect.flatMap(ExtensionClient.make(Bell), (bell) => bell.ring({ times: 1 }))))

  it.effect("are found by its card, which is read once, and called where it says (P-AG-4)", () =>
    Effect.gen(function*() {
      const server = agent(({ url }) =>
        Effect.succeed(url.endsWith("/ring") ? json({ rung: "3" }) : json({ seen: ["a"] }))
      )
      yield* onAgent(server)(Effect.gen(function*() {
        const bell = yield* ExtensionClient.make(Bell)
        expect(yield* bell.ring({ times: 3 })).toEqual({ rung: 3 })
        expect(yield* bell.look({ n: 1 })).toEqual({ seen: ["a"] })
        yield* ExtensionClient.invoke("urn:agentenv:old/v1")
        expect(Option.isSome(bell.light)).toBe(true)
        expect(Option.isNone(bell.echo)).toBe(true)
      }))
      expect(server.log.map(({ method, url }) => `${method} ${url}`)).toEqual([
        "GET http://fake/.well-known/agent-card.json",
        "POST http://fake/ext/ring",
        "GET http://fake/ext/bell?n=1",
        "POST http://fake/ext/old"
      ])
    }))

  it.effect("B-OBJ-17: a request that the card doesn't accept is a typed error and never sent", () =>
    Effect.gen(function*() {
      const server = agent(({ body }) => Effect.succeed(json(JSON.stringify(body))))
      const tune = (request: { readonly note: string } | { readonly hertz: number }) =>
        onAgent(server)(Effect.flatMap(ExtensionClient.make(Bell), (bell) => bell.tune(request)))
      expect(yield* tune({ note: "a" })).toBe("{\"note\":\"a\"}")
      const error = yield* Effect.flip(tune({ hertz: 440 }))
      expect(error).toMatchObject({ _tag: "NotAccepted", operation: "tune", fields: ["hertz"] })
      expect(error.message).not.toContain("440")
      const invoke = (params?: Readonly<Record<string, unknown>>) =>
        onAgent(server)(Effect.flip(ExtensionClient.invoke("urn:agentenv:bell/v1", { method: "ring", params })))
      expect(yield* invoke()).toMatchObject({ _tag: "NotAccepted", fields: [] })
      expect(yield* invoke({ times: 1, canary: 1 })).toMatchObject({ _tag: "NotAccepted" })
      expect(server.log.filter(({ method }) => method !== "GET")).toHaveLength(1)
    }))

  it.effect("that the card lacks are told as for environments", () =>
    Effect.gen(function*() {
      const server = agent(() => Effect.die("asked"))
      const fails = (uri: string, method?: string) =>
        onAgent(server)(Effect.flip(ExtensionClient.invoke(uri, { method })))
      expect(yield* fails("urn:none")).toMatchObject({ _tag: "NotAdvertised", uri: "urn:none" })
      expect(yield* fails("urn:agentenv:old/v1", "stop")).toMatchObject({ _tag: "NotAdvertised", advertised: ["go"] })
    }))

  it.effect("B-HTTP-1, B-HTTP-3: fail with the text that the agent says, and its correlation id", () =>
    Effect.gen(function*() {
      const id = "0123456789abcdef0123456789abcdef"
      const sentence = `An unexpected framework error occurred. Correlation ID: ${id}`
      const failed = yield* ring(agent(() => Effect.succeed(text(sentence, 500))))
      expect(failed).toMatchObject({ _tag: "ExtensionCallError", status: 500, detail: sentence, applied: "unknown" })
      expect(failed._tag === "ExtensionCallError" && failed.correlationId).toEqual(Option.some(id))
      const issues = "[{\"type\":\"extra\",\"loc\":[\"x\"],\"msg\":\"no\"}]"
      expect(yield* ring(agent(() => Effect.succeed(text(issues, 400))))).toMatchObject({ status: 400, detail: issues })
      expect(yield* ring(agent(() => Effect.succeed(text("x".repeat(5000), 400))))).toMatchObject({
        detail: "x".repeat(1000)
      })
      const page = () => new Response("<html>", { status: 502, headers: { "content-type": "text/html" } })
      expect(yield* ring(agent(() => Effect.sync(page)))).toMatchObject({ status: 502, detail: "Bad Gateway" })
    }))

  it.effect("B-HTTP-7: fail with the code of a transfer that failed", () =>
    Effect.gen(function*() {
      const error = { code: "transfer_unavailable", message: "The store is down.", retryable: true }
      const failed = yield* ring(agent(() => Effect.succeed(json({ error }, 503))))
      expect(failed).toMatchObject({ status: 503, code: error.code, detail: error.message, retryable: true })
      expect(failed._tag === "ExtensionCallError" && failed.transfer).toEqual(Option.some("transfer_unavailable"))
      const other = yield* ring(agent(() => Effect.succeed(json({ error: { code: "cold" } }, 409))))
      expect(other._tag === "ExtensionCallError" && Option.isNone(other.transfer)).toBe(true)
    }))

  it.effect("never tell the secrets of a request or of the headers, though the agent repeats them", () =>
    Effect.gen(function*() {
      const secrets = ["gr4nt-s3cret", "s1gned-h3ader", "t0ken-of-the-client"]
      const server = agent((received) =>
        Effect.succeed(text(`${JSON.stringify(received.body)} ${received.headers["authorization"]}`, 400))
      )
      const error = yield* onAgent(server, { headers: { authorization: Redacted.make(`Bearer ${secrets[2]}`) } })(
        Effect.flip(Effect.flatMap(ExtensionClient.make(SnapshotV1), (snapshot) =>
          snapshot.save({
            context_id: "c1",
            objects: {
              trajectory: {
                media_type: "application/octet-stream",
                max_bytes: 10,
                write: {
                  kind: "http-put",
                  url: Redacted.make(`https://store.example/o?sig=${secrets[0]}`),
                  expires_at: DateTime.unsafeMake(0),
                  headers: Redacted.make({ "x-amz-key": "s1gned-h3ader" })
                }
              }
            }
          })))
      )
      expect(error).toMatchObject({ _tag: "ExtensionCallError", status: 400, detail: expect.stringContaining("c1") })
      for (const secret of secrets) {
        expect(JSON.stringify(server.log)).toContain(secret)
        expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(secret)
      }
    }))

  it.effect("never tell the half of a secret that is left where a text was cut", () =>
    Effect.gen(function*() {
      const token = "t0ken-of-the-client"
      for (const length of [985, 992]) {
        const server = agent(({ headers }) => Effect.succeed(text("x".repeat(length) + headers["authorization"], 400)))
        const error = yield* onAgent(server, { headers: { authorization: Redacted.make(token) } })(
          Effect.flip(ExtensionClient.invoke("urn:agentenv:old/v1"))
        )
        expect(error._tag === "ExtensionCallError" && error.detail).toBe(`${"x".repeat(length)}<redacted>`)
      }
    }))

  it.effect("have 30 s, or what the layer or the call says", () =>
    Effect.gen(function*() {
      const server = agent(() => Effect.never)
      const calling = yield* Effect.fork(Effect.flip(onAgent(server)(ExtensionClient.invoke("urn:agentenv:old/v1"))))
      yield* TestClock.adjust("30 seconds")
      expect(yield* Fiber.join(calling)).toMatchObject({ _tag: "Timeout" })
    }))
})

describe("types", () => {
  it("follow the definition", () => {
    type Client = ExtensionClient.ExtensionClient<typeof Bell>
    expectTypeOf<Client["mute"]>().toEqualTypeOf<
      (options?: ExtensionClient.CallOptions) => Effect.Effect<void, ExtensionClient.ExtensionClientError>
    >()
    expectTypeOf<Parameters<Client["ring"]>[0]["times"]>().toEqualTypeOf<number>()
    expectTypeOf<Client["tune"]>().parameter(0).toEqualTypeOf<
      { readonly note: string } | { readonly hertz: number }
    >()
    expectTypeOf<Client["light"]>().toExtend<Option.Option<{ readonly on: unknown }>>()
    expectTypeOf(ExtensionClient.make(Plain)).toEqualTypeOf<
      Effect.Effect<ExtensionClient.ExtensionClient<typeof Plain>, never, ExtensionClient.Transport>
    >()
    expectTypeOf<Effect.Effect.Error<ReturnType<typeof ExtensionClient.make<typeof Bell>>>>().toEqualTypeOf<
      ExtensionClient.ExtensionClientError
    >()
    const wrong = (bell: Client) => [
      // @ts-expect-error `times` is a number
      bell.ring({ times: "3" }),
      // @ts-expect-error a feature may be missing
      bell.light.on(),
      // @ts-expect-error there is no such operation
      bell.smash
    ]
    expectTypeOf(wrong).toBeFunction()
  })
})
