import * as DataObjects from "@effect-agentenv/protocol/DataObjects"
import type * as Part from "@effect-agentenv/protocol/Part"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"

const file = (marker: unknown): Part.FilePart => ({
  kind: "file",
  file: { uri: "u" },
  metadata: { [DataObjects.URI]: marker }
})

const bad = ["", "/a", "a/", "a//b", "./a", "a/..", "../a", "a\\b", ".", ".."]

describe("DataObjects", () => {
  it("builds the part that other implementations build (B-DOBJ-5)", () => {
    expect(DataObjects.uploadedPart("a/b.json")).toStrictEqual({
      kind: "file",
      file: { uri: "a/b.json" },
      metadata: { "urn:agentenv:data-objects/v1": { path: "a/b.json" } }
    })
    expect(DataObjects.uploadedPart("a/b.json", { name: "n", mimeType: "x/y" }).file).toStrictEqual({
      uri: "a/b.json",
      mimeType: "x/y",
      name: "n"
    })
  })

  it.each(bad)("builds no part for %j (B-DOBJ-5)", (path) => {
    expect(() => DataObjects.uploadedPart(path)).toThrow(DataObjects.InvalidDataObject)
  })

  it.effect("reads no path from other parts (B-DOBJ-5)", () =>
    Effect.gen(function*() {
      const marked = { metadata: { [DataObjects.URI]: { path: "a" } } }
      const parts: ReadonlyArray<Part.Part> = [
        { kind: "text", text: "t", ...marked },
        { kind: "data", data: {}, ...marked },
        { kind: "file", file: { uri: "u" } },
        { kind: "file", file: { uri: "u" }, metadata: {} },
        file(null)
      ]
      for (const part of parts) expect(yield* DataObjects.path(part)).toBeUndefined()
    }))

  it.effect("refuses a marker that is no object (B-DOBJ-5)", () =>
    Effect.gen(function*() {
      for (const marker of ["x", 1, [], true]) {
        expect((yield* Effect.flip(DataObjects.path(file(marker)))).reason).toBe("marker")
      }
    }))

  it.effect("refuses a path that is not normalized (B-DOBJ-5)", () =>
    Effect.gen(function*() {
      for (const path of [...bad, 1, null, undefined]) {
        expect((yield* Effect.flip(DataObjects.path(file({ path })))).reason).toBe("path")
      }
    }))

  const segment = FastCheck.string({ minLength: 1 }).filter((text) =>
    !/[\\/]/.test(text) && text !== "." && text !== ".."
  )

  it.effect.prop(
    "reads back the path of every part it builds (B-DOBJ-5)",
    [FastCheck.array(segment, { minLength: 1, maxLength: 4 })],
    ([segments]) =>
      Effect.gen(function*() {
        const path = segments.join("/")
        expect(yield* DataObjects.path(DataObjects.uploadedPart(path))).toBe(path)
      })
  )

  it("is advertised without parameters (B-DOBJ-1)", () => {
    expect(DataObjects.extension).toMatchObject({ uri: "urn:agentenv:data-objects/v1", params: null, required: null })
  })
})
