import * as Grant from "@effect-agentenv/protocol/Grant"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Redacted, Schema } from "effect"

const get = { kind: "http-get", url: "https://s.example/r?sig=canary-url", expires_at: "2099-04-05T06:07:08Z" }
const policy = {
  kind: "http-post-policy",
  url: "https://s.example/p?sig=canary-url",
  fields: { policy: "canary-field" },
  path_field: "key",
  file_field: "file",
  headers: { "x-token": "canary-header" }
}
const namespace = {
  root_path: "runs/kiln-7",
  expires_at: "2099-04-05T06:07:08Z",
  max_objects: 4,
  max_object_bytes: 1024,
  max_total_bytes: 2048,
  write: policy
}
const object = { media_type: "application/json", max_bytes: 10, read: get }

const reason = <A, I>(schema: Schema.Schema<A, I>, value: unknown) =>
  Effect.map(Effect.flip(Schema.decodeUnknown(schema)(value)), Grant.formatError)

const accepts = <A, I>(schema: Schema.Schema<A, I>, value: unknown) =>
  Effect.map(Effect.either(Schema.decodeUnknown(schema)(value)), (result) => result._tag === "Right")

const why = (expires_at: unknown) => reason(Grant.HttpGetGrant, { ...get, expires_at })

describe("Grant", () => {
  it.effect("keeps URL, headers and fields secret from the moment they are decoded (B-OBJ-1)", () =>
    Effect.gen(function*() {
      const grant = yield* Schema.decodeUnknown(Grant.WriteNamespaceGrant)(namespace)
      expect(JSON.stringify(grant)).not.toContain("canary")
      expect(Redacted.value(grant.write.url)).toBe(policy.url)
      expect(grant.write.headers && Redacted.value(grant.write.headers)).toEqual(policy.headers)
      expect(Redacted.value(grant.write.fields)).toEqual(policy.fields)
    }))

  it.effect("reads an expiry in UTC, however UTC is spelled (B-OBJ-1)", () =>
    Effect.gen(function*() {
      const expiry = Schema.decodeUnknown(Grant.Expiry)
      const spellings = [
        "2099-04-05T06:07:08Z",
        "2099-04-05T06:07:08+00:00",
        "2099-04-05T06:07:08-00:00",
        "2099-04-05t06:07:08z",
        "2099-04-05 06:07:08Z",
        "2099-04-05T06:07:08.000000Z"
      ]
      for (const spelling of spellings) {
        expect(DateTime.formatIso(yield* expiry(spelling))).toBe("2099-04-05T06:07:08.000Z")
      }
      expect(yield* Schema.encode(Grant.Expiry)(yield* expiry("2099-04-05T06:07:08+00:00"))).toBe(
        "2099-04-05T06:07:08Z"
      )
      expect(yield* Schema.encode(Grant.Expiry)(yield* expiry("2099-04-05T06:07:08.123456Z"))).toBe(
        "2099-04-05T06:07:08.123Z"
      )
    }))

  it.effect("says why an expiry is refused (B-OBJ-1)", () =>
    Effect.gen(function*() {
      expect(yield* why("2099-04-05T06:07:08")).toBe(
        "expires_at: must be an RFC 3339 timestamp in UTC: it has no time zone"
      )
      expect(yield* why("2099-04-05T06:07:08+01:00")).toBe(
        "expires_at: must be an RFC 3339 timestamp in UTC: it has another time zone"
      )
      const malformed = [
        "2099-04-05",
        "2099-02-30T06:07:08Z",
        "2099-13-01T06:07:08Z",
        "2099-04-05T24:00:00Z",
        "2099-04-05T06:07:60Z",
        " 2099-04-05T06:07:08Z",
        "20990405T060708Z",
        "soon"
      ]
      for (const value of malformed) expect(yield* why(value)).toBe("expires_at: must be an RFC 3339 timestamp in UTC")
      expect(yield* why(4_000_000_000)).toBe("expires_at: expected string")
      expect(yield* why(null)).toBe("expires_at: expected string")
    }))

  it.effect("wants an absolute https URL (B-OBJ-1)", () =>
    Effect.gen(function*() {
      for (const url of ["http://s", "//s/x", "s/x", "https://", "https:///x", "https:s/x", " https://s/x"]) {
        expect(yield* reason(Grant.HttpGetGrant, { ...get, url })).toBe("url: must be an absolute https URL")
      }
      for (const url of ["https://s", "HTTPS://s/x", "https://[::1]:8443/x"]) {
        expect(yield* accepts(Grant.HttpGetGrant, { ...get, url })).toBe(true)
      }
    }))

  it.effect("is closed at every depth (B-OBJ-1)", () =>
    Effect.gen(function*() {
      expect(yield* reason(Grant.HttpGetGrant, { ...get, extra: 1 })).toBe("extra: is unexpected")
      expect(yield* reason(Grant.ReadObject, { ...object, extra: 1 })).toBe("extra: is unexpected")
      expect(yield* reason(Grant.ReadObject, { ...object, read: { ...get, extra: 1 } })).toBe(
        "read.extra: is unexpected"
      )
      expect(
        yield* reason(Grant.WriteNamespaceGrant, { ...namespace, write: { ...policy, expires_at: get.expires_at } })
      )
        .toBe("write.expires_at: is unexpected")
      const nested = Schema.Struct({ object: Grant.ReadObject })
      const open = Schema.decodeUnknown(nested)({ object: { ...object, read: { ...get, extra: 1 } } }, {
        onExcessProperty: "ignore"
      })
      expect(Grant.formatError(yield* Effect.flip(open))).toBe("object.read.extra: is unexpected")
    }))

  it.effect("reads null headers, sizes and digests as absent", () =>
    Effect.gen(function*() {
      const grant = yield* Schema.decodeUnknown(Grant.HttpGetGrant)({ ...get, headers: null })
      expect(Object.keys(grant)).not.toContain("headers")
      const read = yield* Schema.decodeUnknown(Grant.ReadObject)({ ...object, size_bytes: null, sha256: null })
      expect(read.size_bytes).toBeUndefined()
    }))

  it.effect("takes the kind of grant that belongs there and no other (B-OBJ-2)", () =>
    Effect.gen(function*() {
      expect(yield* reason(Grant.ReadObject, { ...object, read: { ...get, kind: "http-put" } })).toBe(
        `read.kind: expected "http-get"`
      )
      const put = { ...get, kind: "http-put" }
      const why = yield* reason(Grant.WriteNamespaceGrant, { ...namespace, write: put })
      expect(why).toContain("write.")
      expect(yield* accepts(Grant.WriteObject, { media_type: "a/b", max_bytes: 1, write: put })).toBe(true)
      expect(yield* accepts(Grant.WriteObject, { media_type: "a/b", max_bytes: 1, write: get })).toBe(false)
    }))

  it.effect("checks digests, media types, sizes and paths (B-OBJ-1)", () =>
    Effect.gen(function*() {
      for (const sha256 of ["A".repeat(64), "a".repeat(63), ""]) {
        expect(yield* reason(Grant.ReadObject, { ...object, sha256 })).toMatch(/^sha256: must be 64/)
      }
      for (
        const media_type of ["*/*", "text/*", "json", "a/b/c", "a/", " a/b", "application/json; charset=utf-8", ""]
      ) {
        expect(yield* reason(Grant.ReadObject, { ...object, media_type })).toBe(
          "media_type: must be a concrete media type"
        )
      }
      for (const max_bytes of [0, -1]) {
        expect(yield* reason(Grant.ReadObject, { ...object, max_bytes })).toBe("max_bytes: must be a positive integer")
      }
      for (const max_bytes of [1.5, "1", true, null]) {
        expect(yield* reason(Grant.ReadObject, { ...object, max_bytes })).toMatch(/^max_bytes: expected /)
      }
      for (const root_path of ["", "/abs", "a/", "a//b", "./a", "a/../b", "a\\b", ".", ".."]) {
        expect(yield* reason(Grant.WriteNamespaceGrant, { ...namespace, root_path })).toBe(
          "root_path: must be a normalized relative POSIX path"
        )
      }
      expect(yield* reason(Grant.ReadObject, { ...object, size_bytes: 11 })).toBe(
        "size_bytes must not exceed max_bytes"
      )
      expect(yield* accepts(Grant.Uploaded, { size_bytes: 0 })).toBe(true)
      expect(yield* accepts(Grant.Uploaded, { size_bytes: -1 })).toBe(false)
    }))

  it.effect("never echoes a secret, whatever is wrong with it (B-OBJ-6, B-DOBJ-3)", () =>
    Effect.gen(function*() {
      const wrong = [
        { ...namespace, write: { ...policy, url: "http://s.example/?sig=canary-url" } },
        { ...namespace, write: { ...policy, url: { nested: "canary-url" } } },
        { ...namespace, write: { ...policy, url: ["canary-url"] } },
        { ...namespace, write: { ...policy, fields: { a: 1, b: "canary-field" } } },
        { ...namespace, write: { ...policy, fields: "canary-field" } },
        { ...namespace, write: { ...policy, headers: { a: ["canary-header"] } } },
        { ...namespace, write: { ...policy, headers: "canary-header" } },
        { ...namespace, write: { ...policy, extra: "canary-extra" } },
        { ...namespace, write: { ...policy, kind: "canary-kind" } },
        { ...namespace, write: "canary-write" },
        { ...namespace, root_path: "../canary-path" },
        { ...namespace, expires_at: "canary-time" },
        { ...namespace, max_objects: "canary-count" },
        "canary-all",
        ["canary-all"]
      ]
      for (const value of wrong) {
        const text = yield* reason(Grant.WriteNamespaceGrant, value)
        expect(text).not.toBe("")
        expect(text).not.toContain("canary")
      }
    }))

  it.effect("encodes to what it was decoded from", () =>
    Effect.gen(function*() {
      const grant = yield* Schema.decodeUnknown(Grant.WriteNamespaceGrant)(namespace)
      expect(yield* Schema.encode(Grant.WriteNamespaceGrant)(grant)).toEqual(namespace)
    }))
})
