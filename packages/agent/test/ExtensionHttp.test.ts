import { ExtensionError } from "@effect-agentenv/agent/ExtensionError"
import * as Extension from "@effect-agentenv/protocol/Extension"
import { AgentConfigV1 } from "@effect-agentenv/protocol/extensions/AgentConfigV1"
import { AttributionProbeV1 } from "@effect-agentenv/protocol/extensions/AttributionProbeV1"
import { McpConfigV1 } from "@effect-agentenv/protocol/extensions/McpConfigV1"
import { PeerAgentsV1 } from "@effect-agentenv/protocol/extensions/PeerAgentsV1"
import { SkillConfigV1 } from "@effect-agentenv/protocol/extensions/SkillConfigV1"
import { SnapshotV1 } from "@effect-agentenv/protocol/extensions/SnapshotV1"
import { TrajectoryV1 } from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import * as Operation from "@effect-agentenv/protocol/Operation"
import { InProcess, Route, Server } from "@effect-agentenv/server"
import { Loopback, TransferError } from "@effect-agentenv/transfers"
import { HttpServer } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Logger, LogLevel, Ref, Schema, Scope } from "effect"
import { type Desk, listening, loud, routes, type Send, sender, speak } from "./extensionSupport.ts"

const Text = Schema.Struct({ value: Schema.String })

const Echo = Extension.make("urn:kiln:echo/v1", {
  endpoint: "/ext/echo",
  operations: { say: Operation.post({ request: Text, response: Text }) }
})

const echoing = (
  say: (request: { readonly value: string }) => Effect.Effect<{ readonly value: string }, Error>
): Desk => ({
  extensions: [Echo],
  layers: [Echo.toLayer(Effect.succeed({ say }))]
})

const echo = echoing((request) => Effect.succeed(request))

/** A desk whose handlers answer what no compiler would let them. */
const careless = (extension: Extension.Any, implementation: object): Desk => ({
  extensions: [extension],
  layers: [
    Layer.succeed((extension as Extension.Extension<string>).handlers, {
      uri: extension.uri,
      implementation,
      context: Context.empty()
    }) as Layer.Layer<any>
  ]
})

/** What a handler fails with that it does not mean to tell anybody. */
class KilnError extends Error {
  readonly _tag = "KilnError"
}

const correlated = /^An unexpected framework error occurred\. Correlation ID: [0-9a-f]{32}$/

const read = { kind: "http-get", url: "https://s.example/r?sig=canary-url", expires_at: "2099-04-05T06:07:08Z" }
const put = { kind: "http-put", url: "https://s.example/w?sig=canary-url", expires_at: "2099-04-05T06:07:08Z" }
const readObject = { media_type: "application/octet-stream", max_bytes: 4096, read }
const writeObject = { media_type: "application/octet-stream", max_bytes: 4096, write: put }

const snapshot: Desk = {
  extensions: [SnapshotV1],
  layers: [SnapshotV1.toLayer(Effect.succeed({
    save: ({ context_id }) =>
      Effect.succeed(
        context_id === "wrong-response"
          ? { context_id, s3_prefix: "s3://canary" } as never
          : { context_id, objects: { trajectory: { size_bytes: 12 } } }
      ),
    load: ({ target_context_id }) => Effect.succeed({ context_id: target_context_id ?? "ctx-new" }),
    changelog: {
      enable: ({ roots }) => Effect.succeed({ roots: roots ?? [] }),
      apply: ({ increments }) => Effect.succeed({ count: increments.length })
    }
  }))]
}

const skills: Desk = {
  extensions: [SkillConfigV1],
  layers: [
    SkillConfigV1.toLayer(Effect.succeed({
      add: { inline: ({ name }) => Effect.succeed({ name }), bundle: ({ name }) => Effect.succeed({ name }) }
    }))
  ],
  defaults: { [SkillConfigV1.uri]: { list: () => Effect.succeed({ skills: {} }) } }
}

const bundle = {
  max_total_bytes: 4096,
  files: [{ path: "SKILL.md", object: readObject }]
}

describe("requests", () => {
  it.scoped("B-HTTP-1: what is no JSON object is 400", () =>
    Effect.gen(function*() {
      const send = yield* speak(echo)
      const status = (body: string | Uint8Array) =>
        Effect.map(send("POST", "/ext/echo", body), (it) => [it.status, it.text])
      expect(yield* status("{")).toEqual([400, "the body is not JSON"])
      expect(yield* status("[]")).toEqual([400, "the body must be a JSON object"])
      expect(yield* status("null")).toEqual([400, "the body must be a JSON object"])
      expect(yield* status("\"canary\"")).toEqual([400, "the body must be a JSON object"])
      expect(yield* status(new Uint8Array([0x7b, 0xff, 0x7d]))).toEqual([400, "the body is not UTF-8"])
      expect(yield* status(`{"value":"\\ud800"}`)).toEqual([400, "the body holds half a surrogate pair"])
      expect(yield* status(`{"value":${"[".repeat(10_000)}${"]".repeat(10_000)}}`)).toEqual([
        400,
        "the body nests deeper than 512 levels"
      ])
    }))

  it.scoped("B-HTTP-1: an unknown field and a wrong type are 400", () =>
    Effect.gen(function*() {
      const send = yield* speak(echo)
      for (const body of [{ value: "x", extra: 1 }, { value: 7 }, {}, `{"value":"x","__proto__":{"a":1}}`]) {
        expect((yield* send("POST", "/ext/echo", body)).status).toBe(400)
      }
      expect((yield* send("POST", "/ext/echo", "")).status).toBe(400)
    }))

  it.scoped("B-HTTP-2: the body of a 400 lists what is wrong where, and no value", () =>
    Effect.gen(function*() {
      const send = yield* speak(snapshot)
      const answer = yield* send("POST", "/ext/snapshot", {
        context_id: { secret: "canary-a" },
        s3_prefix: "canary-b",
        objects: { trajectory: { ...writeObject, write: { ...put, url: "http://canary-c" } } }
      })
      expect(answer.status).toBe(400)
      expect(answer.type).toBe("text/plain; charset=utf-8")
      expect(answer.json).toEqual([
        { type: "extra_forbidden", loc: ["s3_prefix"], msg: "is unexpected" },
        { type: "value_error", loc: ["context_id"], msg: "expected string" },
        { type: "value_error", loc: ["objects", "trajectory", "write", "url"], msg: "must be an absolute https URL" }
      ])
      expect(answer.text).not.toContain("canary")
      expect((yield* send("POST", "/ext/snapshot", {})).json).toEqual([
        { type: "missing", loc: ["context_id"], msg: "is missing" },
        { type: "missing", loc: ["objects"], msg: "is missing" }
      ])
    }))

  it.scoped("B-HTTP-2: the list of a body that is all mistakes is bounded", () =>
    Effect.gen(function*() {
      const send = yield* speak(echo)
      const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, 1]))
      expect((yield* send("POST", "/ext/echo", fields)).json.length).toBe(100)
    }))

  it.scoped("B-HTTP-2: a place is a list of names and positions, whatever the names are", () =>
    Effect.gen(function*() {
      const Deep = Extension.make("urn:kiln:deep/v1", {
        endpoint: "/ext/deep",
        operations: {
          put: Operation.post({
            request: Schema.Struct({
              "a b": Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Int }))
            })
          })
        }
      })
      const send = yield* speak({
        extensions: [Deep],
        layers: [Deep.toLayer(Effect.succeed({ put: () => Effect.void }))]
      })
      expect((yield* send("POST", "/ext/deep", { "a b": [{}, { "x.y\"]": "canary", z: "canary" }] })).json).toEqual([
        { type: "value_error", loc: ["a b", 1, "x.y\"]"], msg: expect.not.stringContaining("canary") },
        { type: "value_error", loc: ["a b", 1, "z"], msg: expect.not.stringContaining("canary") }
      ])
    }))

  it.scoped("a body beyond the limit is 413", () =>
    Effect.gen(function*() {
      const send = yield* speak(echo, { maxBodyBytes: 20 })
      expect((yield* send("POST", "/ext/echo", { value: "1234567" })).status).toBe(200)
      expect(yield* send("POST", "/ext/echo", { value: "x".repeat(40) })).toMatchObject({
        status: 413,
        text: "the body is larger than 20 bytes"
      })
    }))

  it.scoped("B-HTTP-8: a wrong verb is 405", () =>
    Effect.gen(function*() {
      const send = yield* speak(snapshot)
      expect((yield* send("GET", "/ext/snapshot")).status).toBe(405)
      expect((yield* send("DELETE", "/ext/snapshot/changelog")).status).toBe(405)
      expect((yield* send("POST", "/ext/unknown", {})).status).toBe(404)
    }))

  it.scoped("B-HTTP-8, B-CFG-10: reading a configuration that is not read back is 405", () =>
    Effect.gen(function*() {
      const send = yield* speak({
        extensions: [AgentConfigV1],
        configContract: { supported: [] },
        defaults: { [AgentConfigV1.uri]: { set: () => Effect.succeed({ status: "updated" }) } }
      })
      expect((yield* send("GET", "/ext/agent-config")).status).toBe(405)
      expect((yield* send("POST", "/ext/agent-config", {})).text).toBe(`{"status":"updated"}`)
    }))

  it.scoped("B-HTTP-9: an operation that takes nothing takes {} or nothing, and no field or parameter", () =>
    Effect.gen(function*() {
      const send = yield* speak({
        extensions: [AttributionProbeV1],
        layers: [AttributionProbeV1.toLayer(Effect.succeed({
          probe: () => Effect.succeed({ last_seen_attribution: {}, last_seen_at_utc: null })
        }))]
      })
      for (const body of [undefined, "", {}]) {
        expect(yield* send("POST", "/ext/attribution-probe", body)).toMatchObject({
          status: 200,
          type: "application/json",
          text: `{"last_seen_attribution":{}}`
        })
      }
      expect(yield* send("POST", "/ext/attribution-probe", { project_id: "canary" })).toMatchObject({
        status: 400,
        json: [{ type: "extra_forbidden", loc: ["project_id"], msg: "is unexpected" }]
      })
      expect((yield* send("POST", "/ext/attribution-probe?a=canary", {})).status).toBe(400)
    }))

  it.scoped("B-HTTP-10: nobody is asked who they are", () =>
    Effect.gen(function*() {
      const send = yield* speak(echo)
      expect((yield* send("POST", "/ext/echo", { value: "x" })).status).toBe(200)
    }))

  it.scoped("GET takes its request from the query, as what its schema says", () =>
    Effect.gen(function*() {
      const Look = Extension.make("urn:kiln:look/v1", {
        endpoint: "/ext/look",
        operations: {
          look: Operation.get({
            request: Schema.Struct({
              shelf: Schema.String,
              count: Schema.optionalWith(Schema.Int, { default: () => 1 }),
              tags: Schema.optional(Schema.Array(Schema.String))
            }),
            response: Schema.Struct({
              shelf: Schema.String,
              count: Schema.Int,
              tags: Schema.optional(Schema.Array(Schema.String))
            })
          }),
          all: Operation.get({ path: "/ext/look/all" })
        }
      })
      const send = yield* speak({
        extensions: [Look],
        layers: [Look.toLayer(Effect.succeed({ look: (request) => Effect.succeed(request), all: () => Effect.void }))]
      })
      expect((yield* send("GET", "/ext/look?shelf=b2&count=3&tags=a&tags=b")).json).toEqual({
        shelf: "b2",
        count: 3,
        tags: ["a", "b"]
      })
      expect((yield* send("GET", "/ext/look?shelf=a%20b+c")).json).toEqual({ shelf: "a b c", count: 1 })
      expect((yield* send("GET", "/ext/look?shelf=b2&count=canary")).json).toEqual([
        { type: "value_error", loc: ["count"], msg: expect.any(String) }
      ])
      expect((yield* send("GET", "/ext/look?shelf=b2&more=1")).status).toBe(400)
      expect((yield* send("GET", "/ext/look")).status).toBe(400)
      expect((yield* send("GET", "/ext/look/all")).text).toBe("{}")
      expect((yield* send("GET", "/ext/look/all?__proto__=1")).status).toBe(400)
      expect(yield* send("HEAD", "/ext/look/all")).toMatchObject({ status: 200, text: "" })
    }))
})

describe("requests of several forms (B-REG-27)", () => {
  const trajectory = (live: boolean): Desk => ({
    extensions: [TrajectoryV1],
    defaults: {
      [TrajectoryV1.uri]: {
        get: Object.fromEntries(
          ["task", "taskObjects", ...live ? ["context", "contextObjects", "taskPage", "contextPage"] : []].map((
            name
          ) => [
            name,
            () => Effect.succeed({ trajectory: name })
          ])
        )
      }
    }
  })
  const asked = (send: Send, body: object) =>
    Effect.map(send("POST", "/ext/trajectory", body), ({ json, status }) => status === 200 ? json.trajectory : json)
  const objects = { trajectory: { ...writeObject, media_type: "application/json" } }

  it.scoped("B-REG-27: the form that fits has the handler that runs", () =>
    Effect.gen(function*() {
      const send = yield* speak(trajectory(true))
      expect(yield* asked(send, { task_id: "t" })).toBe("task")
      expect(yield* asked(send, { task_id: "t", objects })).toBe("taskObjects")
      expect(yield* asked(send, { task_id: "t", after: 0 })).toBe("taskPage")
      expect(yield* asked(send, { context_id: "c" })).toBe("context")
      expect(yield* asked(send, { context_id: "c", objects })).toBe("contextObjects")
      expect(yield* asked(send, { context_id: "c", after: 0, limit: 5 })).toBe("contextPage")
    }))

  it.scoped("B-REG-27: a field of none but forms that are not served is refused by its name", () =>
    Effect.gen(function*() {
      const send = yield* speak(trajectory(false))
      const msg = "belongs to a form of the request that this agent does not take"
      expect(yield* asked(send, { task_id: "t", after: 0, limit: 1 })).toEqual([
        { type: "extra_forbidden", loc: ["after"], msg },
        { type: "extra_forbidden", loc: ["limit"], msg }
      ])
      expect(yield* asked(send, { context_id: "c" })).toEqual([{ type: "extra_forbidden", loc: ["context_id"], msg }])
    }))

  it.scoped("B-REG-27: what every form requires is asked for first", () =>
    Effect.gen(function*() {
      const send = yield* speak(trajectory(false))
      expect(yield* asked(send, {})).toEqual([{ type: "missing", loc: ["task_id"], msg: "is missing" }])
      expect(yield* asked(send, { objects })).toEqual([{ type: "missing", loc: ["task_id"], msg: "is missing" }])
    }))

  it.scoped("B-REG-27: a form that was meant says what is wrong with it, else all do", () =>
    Effect.gen(function*() {
      const send = yield* speak(trajectory(true))
      expect(yield* asked(send, { task_id: "t", after: "canary" })).toEqual([
        { type: "value_error", loc: ["after"], msg: expect.not.stringContaining("canary") }
      ])
      expect(yield* asked(send, { task_id: "t", context_id: "c" })).toEqual(
        expect.arrayContaining([{ type: "extra_forbidden", loc: ["context_id"], msg: "is unexpected (as 'task')" }])
      )
    }))

  it.scoped("B-REG-27: a request that fits several forms is 400", () =>
    Effect.gen(function*() {
      const Twins = Extension.make("urn:kiln:twins/v1", {
        endpoint: "/ext/twins",
        operations: {
          call: Operation.post({
            variants: {
              one: Operation.variant(Text),
              two: Operation.variant(Schema.Struct({ value: Schema.String, more: Schema.optional(Schema.Int) }))
            }
          })
        }
      })
      const send = yield* speak({
        extensions: [Twins],
        layers: [Twins.toLayer(Effect.succeed({ call: { one: () => Effect.void, two: () => Effect.void } }))]
      })
      expect(yield* send("POST", "/ext/twins", { value: "canary" })).toMatchObject({
        status: 400,
        json: [{ type: "value_error", loc: [], msg: "fits several forms of the request" }]
      })
      expect((yield* send("POST", "/ext/twins", { value: "x", more: 1 })).text).toBe("{}")
    }))

  it.scoped("B-SKILL-2, B-SKILL-8: skills are inline or bundles, and neither both nor an older platform's", () =>
    Effect.gen(function*() {
      const send = yield* speak(skills)
      const add = (more: object) => send("POST", "/ext/skill-config", { name: "glaze", description: "d", ...more })
      expect((yield* add({ skill_md: "# Glaze" })).json).toEqual({ name: "glaze" })
      expect((yield* add({ skill_bundle: bundle })).json).toEqual({ name: "glaze" })
      for (const more of [{ skill_s3_url: "s3://b/k" }, {}, { skill_md: "x", skill_bundle: bundle }]) {
        expect((yield* add(more)).status).toBe(400)
      }
      expect((yield* add({ skill_bundle: { ...bundle, max_total_bytes: 1 } })).json).toEqual([
        {
          type: "value_error",
          loc: ["skill_bundle"],
          msg: "the max_bytes of the files must not sum up to more than max_total_bytes"
        }
      ])
      const named = yield* send("POST", "/ext/skill-config", { name: "../app", description: "d", skill_md: "x" })
      expect(named.json).toEqual([{
        type: "value_error",
        loc: ["name"],
        msg: expect.stringMatching(/^must be 1 to 128/)
      }])
    }))
})

describe("answers", () => {
  it.scoped("B-HTTP-3: what a handler did not mean to fail with is a 500 with a correlation id", () =>
    Effect.gen(function*() {
      const failures: ReadonlyArray<() => Effect.Effect<never, Error>> = [
        () => Effect.fail(new KilnError("kiln-private-detail")),
        () => Effect.die("kiln-private-detail"),
        () => {
          throw new RangeError("kiln-private-detail")
        },
        () => Effect.interrupt
      ]
      for (const failure of failures) {
        const send = yield* speak(echoing(failure))
        const answer = yield* send("POST", "/ext/echo", { value: "x" })
        expect([answer.status, answer.type]).toEqual([500, "text/plain; charset=utf-8"])
        expect(answer.text).toMatch(correlated)
      }
    }))

  it.scoped("B-HTTP-3: the id is logged with what went wrong", () =>
    Effect.gen(function*() {
      const { layer, lines } = listening()
      const failing = loud(echoing(() => Effect.fail(new KilnError("kiln-private-detail"))))
      const resolved = yield* Effect.provide(failing, layer)
      const { text } = yield* sender(InProcess.httpClient(resolved))("POST", "/ext/echo", { value: "x" })
      expect(lines).toEqual([expect.stringContaining(text.slice(-32))])
      expect(lines[0]).toContain("kiln-private-detail")
    }))

  it.scoped("B-HTTP-3: so is what blows up before a handler is reached", () =>
    Effect.gen(function*() {
      const Broken = Extension.make("urn:kiln:broken/v1", {
        endpoint: "/ext/broken",
        operations: {
          run: Operation.post({
            request: Schema.Struct({
              value: Schema.transform(Schema.String, Schema.String, {
                strict: true,
                decode: () => {
                  throw new KilnError("kiln-private-detail")
                },
                encode: (value) => value
              })
            })
          })
        }
      })
      const send = yield* speak({
        extensions: [Broken],
        layers: [Broken.toLayer(Effect.succeed({ run: () => Effect.void }))]
      })
      const answer = yield* send("POST", "/ext/broken", { value: "x" })
      expect(answer.status).toBe(500)
      expect(answer.text).toMatch(correlated)
    }))

  it.scoped("B-HTTP-4: a handler chooses its own status by an ExtensionError", () =>
    Effect.gen(function*() {
      const send = yield* speak(echoing(() => new ExtensionError({ status: 409, message: "already there" })))
      expect(yield* send("POST", "/ext/echo", { value: "x" })).toMatchObject({
        status: 409,
        type: "text/plain; charset=utf-8",
        text: "already there"
      })
    }))

  it.scoped("B-HTTP-5: an answer with a field too many or too few is a 500 that shows nothing of it", () =>
    Effect.gen(function*() {
      for (
        const answer of [
          { value: "x", headers: { token: "canary" } },
          { s3_prefix: "canary" },
          { value: 4711 },
          "canary",
          null,
          undefined,
          ["canary"]
        ]
      ) {
        const send = yield* speak(careless(Echo, { say: () => Effect.succeed(answer) }))
        const { status, text } = yield* send("POST", "/ext/echo", { value: "x" })
        expect([status, text]).toEqual([500, expect.stringMatching(correlated)])
      }
    }))

  it.scoped("B-HTTP-5, B-SNAP-6: an older agent's snapshot is a 500", () =>
    Effect.gen(function*() {
      const send = yield* speak(snapshot)
      const answer = yield* send("POST", "/ext/snapshot", {
        context_id: "wrong-response",
        objects: { trajectory: writeObject }
      })
      expect([answer.status, answer.text]).toEqual([500, expect.stringMatching(correlated)])
    }))

  it.scoped("B-HTTP-5: what JSON can't say is a 500 too, and so is a handler that returns no Effect", () =>
    Effect.gen(function*() {
      const Any = Extension.make("urn:kiln:any/v1", {
        endpoint: "/ext/any",
        operations: { run: Operation.post({ response: Schema.Struct({ value: Schema.Unknown }) }) }
      })
      const circular: Record<string, unknown> = {}
      circular["self"] = circular
      let deep: unknown = "canary"
      for (let i = 0; i < 20_000; i++) deep = [deep]
      for (
        const run of [
          () => Effect.succeed({ value: 10n }),
          () => Effect.succeed({ value: circular }),
          () => Effect.succeed({ value: deep }),
          () => ({ value: "canary" })
        ]
      ) {
        const send = yield* speak(careless(Any, { run }))
        const { status, text } = yield* send("POST", "/ext/any", {})
        expect([status, text]).toEqual([500, expect.stringMatching(correlated)])
      }
    }))

  it.scoped("B-HTTP-6: optional fields that are null or undefined are left out", () =>
    Effect.gen(function*() {
      const Tree: Schema.Schema<Tree, Tree> = Schema.Struct({
        name: Schema.String,
        note: Schema.optional(Schema.NullOr(Schema.String)),
        children: Schema.optional(Schema.Array(Schema.suspend(() => Tree)))
      })
      interface Tree {
        readonly name: string
        readonly note?: string | null | undefined
        readonly children?: ReadonlyArray<Tree> | undefined
      }
      const Shop = Extension.make("urn:kiln:shop/v1", {
        endpoint: "/ext/shop",
        operations: {
          look: Operation.post({
            response: Schema.Struct({
              tree: Tree,
              required: Schema.NullOr(Schema.String),
              byName: Schema.Record({ key: Schema.String, value: Schema.Struct({ at: Schema.optional(Schema.Null) }) }),
              open: Schema.optional(Schema.Unknown)
            })
          })
        }
      })
      const send = yield* speak({
        extensions: [Shop],
        layers: [Shop.toLayer(Effect.succeed({
          look: () =>
            Effect.succeed({
              tree: {
                name: "a",
                note: null,
                children: [{ name: "b", note: undefined }, {
                  name: "c",
                  note: "n",
                  children: [{ name: "d", note: null }]
                }]
              },
              required: null,
              byName: { x: { at: null }, __proto__x: {} },
              open: { kept: null }
            })
        }))]
      })
      expect((yield* send("POST", "/ext/shop")).json).toEqual({
        tree: { name: "a", children: [{ name: "b" }, { name: "c", note: "n", children: [{ name: "d" }] }] },
        required: null,
        byName: { x: {}, __proto__x: {} },
        open: { kept: null }
      })
    }))

  it.scoped("B-HTTP-7: a failed transfer has its own status and its code", () =>
    Effect.gen(function*() {
      for (
        const [error, status, code, retryable] of [
          [new TransferError.GrantExpired({ message: "over" }), 410, "grant_expired", false],
          [new TransferError.TransferTooLarge({ message: "over" }), 413, "transfer_too_large", false],
          [
            new TransferError.TransferUnavailable({ message: "over", retryable: true }),
            502,
            "transfer_unavailable",
            true
          ]
        ] as const
      ) {
        const send = yield* speak(echoing(() => error))
        expect(yield* send("POST", "/ext/echo", { value: "x" })).toMatchObject({
          status,
          type: "application/json",
          json: { error: { code, message: "over", retryable } }
        })
      }
    }))

  it.scoped("a handler that answers nothing answers {}", () =>
    Effect.gen(function*() {
      const Quiet = Extension.make("urn:kiln:quiet/v1", {
        endpoint: "/ext/quiet",
        operations: {
          run: Operation.post(),
          note: Operation.put({ response: Schema.Struct({ a: Schema.optional(Schema.Int) }) })
        }
      })
      const send = yield* speak({
        extensions: [Quiet],
        layers: [Quiet.toLayer(Effect.succeed({ run: () => Effect.void, note: () => Effect.succeed({}) }))]
      })
      expect((yield* send("POST", "/ext/quiet")).text).toBe("{}")
      expect((yield* send("PUT", "/ext/quiet")).text).toBe("{}")
    }))
})

describe("the standard extensions", () => {
  it.scoped("B-SNAP-2 to B-SNAP-5: save, load, enable and apply", () =>
    Effect.gen(function*() {
      const send = yield* speak(snapshot)
      expect((yield* send("POST", "/ext/snapshot", { context_id: "ctx-7", objects: { trajectory: writeObject } })).text)
        .toBe(`{"context_id":"ctx-7","objects":{"trajectory":{"size_bytes":12}}}`)
      const objects = { trajectory: readObject }
      expect((yield* send("PUT", "/ext/snapshot", { objects, target_context_id: "ctx-8" })).json).toEqual({
        context_id: "ctx-8"
      })
      expect((yield* send("PUT", "/ext/snapshot", { objects })).json).toEqual({ context_id: "ctx-new" })
      const write_namespace = {
        root_path: "runs/kiln-7",
        expires_at: "2099-04-05T06:07:08Z",
        max_objects: 4,
        max_object_bytes: 1024,
        max_total_bytes: 2048,
        write: {
          kind: "http-post-policy",
          url: "https://s.example/p",
          fields: { policy: "zz" },
          path_field: "key",
          file_field: "file"
        }
      }
      expect((yield* send("POST", "/ext/snapshot/changelog", { write_namespace, roots: ["/workspace"] })).json).toEqual(
        {
          roots: ["/workspace"]
        }
      )
      const increments = (...sequences: ReadonlyArray<number>) => ({
        increments: sequences.map((sequence) => ({ sequence, object: readObject }))
      })
      expect((yield* send("PUT", "/ext/snapshot/changelog", increments(1, 4, 9))).text).toBe(`{"count":3}`)
      expect((yield* send("PUT", "/ext/snapshot/changelog", increments())).text).toBe(`{"count":0}`)
      expect((yield* send("PUT", "/ext/snapshot/changelog", increments(2, 1))).status).toBe(400)
      expect((yield* send("POST", "/ext/snapshot", { context_id: "c", s3_prefix: "s3://b/p" })).status).toBe(400)
    }))

  it.scoped("B-SNAP-8: an extra field in an answer is refused here, whoever would ignore it", () =>
    Effect.gen(function*() {
      const send = yield* speak(
        careless(SnapshotV1, {
          save: () => Effect.succeed({}),
          load: () => Effect.succeed({ context_id: "c", restored: true })
        })
      )
      expect((yield* send("PUT", "/ext/snapshot", { objects: { trajectory: readObject } })).status).toBe(500)
    }))

  it.scoped("B-PEER-1, B-PEER-2, B-PEER-3: peers are set, listed as they were sent, and cleared", () =>
    Effect.gen(function*() {
      const send = yield* speak({
        extensions: [PeerAgentsV1],
        layers: [
          PeerAgentsV1.toLayer(
            Effect.map(Ref.make<typeof PeerAgentsV1.operations.set.request.Type["peers"]>([]), (peers) => ({
              set: (request) => Effect.as(Ref.set(peers, request.peers), { status: "updated" as const }),
              list: () => Effect.map(Ref.get(peers), (peers) => ({ peers }))
            }))
          )
        ]
      })
      const set = (peers: ReadonlyArray<object>) => send("POST", "/ext/peer-agents", { peers })
      const list = Effect.map(send("GET", "/ext/peer-agents"), ({ text }) => text)
      const scout = { name: "scout", url: "https://scout.kiln.example" }
      expect((yield* set([scout])).text).toBe(`{"status":"updated"}`)
      expect(yield* list).toBe(JSON.stringify({ peers: [scout] }))
      expect((yield* set([{ ...scout, card: { name: "scout" }, description: null }])).status).toBe(200)
      expect(yield* list).toBe(JSON.stringify({ peers: [{ ...scout, card: { name: "scout" } }] }))
      expect((yield* set([])).status).toBe(200)
      expect(yield* list).toBe(`{"peers":[]}`)
      expect((yield* send("POST", "/ext/peer-agents", { peers: [], mode: "x" })).status).toBe(400)
    }))

  it.scoped("B-ATTR-2, B-ATTR-3: the probe answers what was seen, and nothing else", () =>
    Effect.gen(function*() {
      const seen = { last_seen_attribution: { task: "t-1" }, last_seen_at_utc: "2099-04-05T06:07:08Z" }
      const send = yield* speak(careless(AttributionProbeV1, { probe: () => Effect.succeed(seen) }))
      expect((yield* send("POST", "/ext/attribution-probe", {})).json).toEqual(seen)
      const leaky = yield* speak(
        careless(AttributionProbeV1, { probe: () => Effect.succeed({ ...seen, api_key: "canary" }) })
      )
      const answer = yield* leaky("POST", "/ext/attribution-probe", {})
      expect([answer.status, answer.text]).toEqual([500, expect.stringMatching(correlated)])
    }))

  it.scoped("B-ATTR-1: an agent without a probe has no such route", () =>
    Effect.gen(function*() {
      const send = yield* speak(echo)
      expect((yield* send("POST", "/ext/attribution-probe", {})).status).toBe(404)
    }))

  it.scoped("B-REG-15: an override calls what the library would, and may add to its answer", () =>
    Effect.gen(function*() {
      class Servers extends Context.Tag("Servers")<Servers, Ref.Ref<ReadonlyArray<string>>>() {}
      const library = {
        add: (url: string) => Effect.flatMap(Servers, Ref.update((all) => [...all, url])),
        list: Effect.map(
          Effect.flatMap(Servers, Ref.get),
          (all) => Object.fromEntries(all.map((url, index) => [`mcp_${index}`, { url, has_headers: false }]))
        )
      }
      const layer = McpConfigV1.toLayer(Effect.succeed({
        add: ({ url }) => Effect.as(library.add(url), { status: "added" as const, name: "n", url, tenant: "kiln" }),
        list: () => Effect.map(library.list, (mcp_servers) => ({ mcp_servers, tenant: "kiln" }))
      })).pipe(Layer.provide(Layer.effect(Servers, Ref.make<ReadonlyArray<string>>([]))))
      const send = yield* speak({
        extensions: [Extension.override(McpConfigV1)],
        layers: [layer],
        defaults: { [McpConfigV1.uri]: { add: () => Effect.die("unused"), list: () => Effect.die("unused") } }
      })
      expect((yield* send("POST", "/ext/mcp-config", { url: "https://t.example/mcp" })).json).toEqual({
        status: "added",
        name: "n",
        url: "https://t.example/mcp",
        tenant: "kiln"
      })
      expect((yield* send("GET", "/ext/mcp-config")).json).toEqual({
        mcp_servers: { mcp_0: { url: "https://t.example/mcp", has_headers: false } },
        tenant: "kiln"
      })
    }))
})

describe("calls", () => {
  it.scoped("V-11: a client that leaves interrupts the handler", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      const send = yield* speak(echoing(() =>
        Effect.zipRight(Deferred.succeed(started, void 0), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(interrupted, void 0))
        )
      ))
      const call = yield* Effect.fork(send("POST", "/ext/echo", { value: "x" }))
      yield* Deferred.await(started)
      yield* Fiber.interruptFork(call)
      yield* Deferred.await(interrupted)
    }))

  it.effect("a handler that still runs when the server closes is interrupted and answered 503", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      const send = yield* Scope.extend(
        speak(echoing(() => Effect.zipRight(Deferred.succeed(started, void 0), Effect.never))),
        scope
      )
      const call = yield* Effect.fork(send("POST", "/ext/echo", { value: "x" }))
      yield* Deferred.await(started)
      yield* Scope.close(scope, Exit.void)
      expect(yield* Fiber.join(call)).toMatchObject({ status: 503, text: "the server is shutting down" })
      expect((yield* send("POST", "/ext/echo", { value: "x" })).status).toBe(503)
    }))

  it.scoped("each call has a scope of its own, closed before the answer", () =>
    Effect.gen(function*() {
      const order = yield* Ref.make<ReadonlyArray<string>>([])
      const note = (text: string) => Ref.update(order, (all) => [...all, text])
      const Scoped = Extension.make("urn:kiln:scoped/v1", {
        endpoint: "/ext/scoped",
        operations: { run: Operation.post() }
      })
      const send = yield* speak({
        extensions: [Scoped],
        layers: [Scoped.toLayer(Effect.succeed({
          run: () => Effect.acquireRelease(note("acquired"), () => note("released"))
        }))]
      })
      yield* send("POST", "/ext/scoped")
      yield* send("POST", "/ext/scoped")
      expect(yield* Ref.get(order)).toEqual(["acquired", "released", "acquired", "released"])
    }))

  it.scoped("a handler has what its own layer had, before what the server has", () =>
    Effect.gen(function*() {
      class Shelf extends Context.Tag("Shelf")<Shelf, string>() {}
      const Look = Extension.make("urn:kiln:look/v1", {
        endpoint: "/ext/look",
        operations: { look: Operation.get({ response: Text }) }
      })
      const layer = Look.toLayer(Effect.succeed({ look: () => Effect.map(Shelf, (value) => ({ value })) })).pipe(
        Layer.provide(Layer.succeed(Shelf, "the layer's"))
      )
      const resolved = yield* Effect.provideService(
        routes({ extensions: [Look], layers: [layer] }),
        Shelf,
        "the server's"
      )
      expect((yield* sender(InProcess.httpClient(resolved))("GET", "/ext/look")).json).toEqual({ value: "the layer's" })
    }))

  it.scoped("B-OBJ-18: a handler's transfers know the port of the request that is served", () =>
    Effect.gen(function*() {
      const Port = Extension.make("urn:kiln:port/v1", {
        endpoint: "/ext/port",
        operations: { read: Operation.get({ response: Schema.Struct({ port: Schema.NullOr(Schema.Int) }) }) }
      })
      const desk: Desk = {
        extensions: [Port],
        layers: [Port.toLayer(Effect.succeed({
          read: () => Effect.map(Loopback.ServingPort, (port) => ({ port: port ?? null }))
        }))]
      }
      const resolved = yield* routes(desk)
      const context = yield* Layer.build(
        Layer.provide(
          Server.serve(Route.layer(resolved), { port: 0, host: "127.0.0.1" }),
          Logger.minimumLogLevel(LogLevel.None)
        )
      )
      const { port } = Context.get(context, HttpServer.HttpServer).address as HttpServer.TcpAddress
      const answer = yield* Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}/ext/port`)).json())
      expect(answer).toEqual({ port })
      expect((yield* sender(InProcess.httpClient(resolved))("GET", "/ext/port")).json).toEqual({ port: null })
    }))

  it.scoped("decoded grants are secrets that neither answers nor the log show", () =>
    Effect.gen(function*() {
      const { layer, lines } = listening()
      const leaky = loud({
        extensions: [SnapshotV1],
        layers: [SnapshotV1.toLayer(Effect.succeed({
          save: (request) => Effect.die(request),
          load: (request) => Effect.fail(new KilnError(JSON.stringify(request)))
        }))]
      })
      const send = sender(InProcess.httpClient(yield* Effect.provide(leaky, layer)))
      const saved = yield* send("POST", "/ext/snapshot", { context_id: "c", objects: { trajectory: writeObject } })
      const loaded = yield* send("PUT", "/ext/snapshot", { objects: { trajectory: readObject } })
      expect([saved.status, loaded.status, lines.length]).toEqual([500, 500, 2])
      expect(`${saved.text} ${loaded.text} ${lines.join()}`).not.toContain("canary")
    }))
})
