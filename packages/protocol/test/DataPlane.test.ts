import * as DataPlane from "@effect-agentenv/protocol/DataPlane"
import * as WireSchema from "@effect-agentenv/protocol/WireSchema"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"

const reset = Schema.decodeUnknown(DataPlane.ResetParams)
const add = Schema.decodeUnknown(DataPlane.AddParams)
const get = Schema.decodeUnknown(DataPlane.GetParams)

const grant = {
  root_path: "runs/kiln-7",
  expires_at: "2099-04-05T06:07:08Z",
  max_objects: 4,
  max_object_bytes: 1024,
  max_total_bytes: 2048,
  write: {
    kind: "http-post-policy",
    url: "https://kiln-store.example/p?sig=canary",
    fields: { policy: "canary" },
    path_field: "key",
    file_field: "file"
  }
}

describe("DataPlane", () => {
  it("names its methods in the order of the card, and what their failures are called (B-ENV-2, B-ENV-3)", () => {
    expect(DataPlane.METHODS).toEqual(["data/reset", "data/add", "data/get"])
    expect(DataPlane.METHODS.map((method) => DataPlane.ErrorCode[method])).toEqual([
      "reset_failed",
      "add_failed",
      "get_failed"
    ])
  })

  it.effect("takes an integer seed or none, and ignores what it doesn't know", () =>
    Effect.gen(function*() {
      expect(yield* reset({})).toEqual({})
      expect(yield* reset({ seed: null, mode: "hard" })).toStrictEqual({})
      expect(yield* reset({ seed: 0 })).toEqual({ seed: 0 })
      expect(WireSchema.formatIssues(yield* Effect.flip(reset({ seed: 1.5 })))).toMatch(/^seed: /)
      expect(WireSchema.formatIssues(yield* Effect.flip(reset({ seed: "7" })))).toMatch(/^seed: /)
    }))

  it.effect("wants a part at least (B-ENV-4)", () =>
    Effect.gen(function*() {
      expect(WireSchema.formatIssues(yield* Effect.flip(add({ parts: [] })))).toBe("parts[0]: is missing")
      expect(WireSchema.formatIssues(yield* Effect.flip(add({})))).toBe("parts: is missing")
      expect(WireSchema.formatIssues(yield* Effect.flip(add({ parts: [{ kind: "smoke" }] })))).toBe(
        `parts[0].kind: expected one of "text", "file", "data"`
      )
      expect((yield* add({ parts: [{ kind: "data", data: {} }] })).parts).toHaveLength(1)
    }))

  it.effect("reads a grant, and no grant from null (B-DOBJ-2, B-DOBJ-4)", () =>
    Effect.gen(function*() {
      expect(yield* get({})).toEqual({})
      expect(yield* get({ write_namespace: null })).toStrictEqual({})
      const params = yield* get({ write_namespace: grant })
      expect(params.write_namespace?.root_path).toBe("runs/kiln-7")
      expect(Redacted.isRedacted(params.write_namespace?.write.url)).toBe(true)
    }))

  it.effect("names the field of a bad grant and never its secrets (B-DOBJ-3)", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(get({ write_namespace: { ...grant, root_path: "../up" } }))
      expect(WireSchema.formatIssues(error)).toBe(
        "write_namespace.root_path: must be a normalized relative POSIX path"
      )
      const extra = yield* Effect.flip(
        get({ write_namespace: { ...grant, write: { ...grant.write, canary2: "canary" } } })
      )
      expect(WireSchema.formatIssues(extra)).toBe("write_namespace.write.canary2: is unexpected")
    }))

  it.effect("reads no parts as an answer of its own (B-ENV-4)", () =>
    Effect.gen(function*() {
      expect(yield* Schema.decodeUnknown(DataPlane.GetResult)({ parts: [] })).toEqual({ parts: [] })
    }))
})
