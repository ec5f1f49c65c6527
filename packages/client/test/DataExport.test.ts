import { DataExport } from "@effect-agentenv/client"
import { DataObjects, type Part } from "@effect-agentenv/protocol"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"

const inline: Part.Part = { kind: "data", data: { parcels: [] } }
const uploaded = DataObjects.uploadedPart("export/state.json", { name: "state.json", mimeType: "application/json" })

it.effect("puts what was uploaded in its part's place, and leaves the others", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.succeed(new TextEncoder().encode(path))
    expect(yield* DataExport.resolve([inline, uploaded], read)).toEqual([
      inline,
      { kind: "file", file: { bytes: btoa("export/state.json"), name: "state.json", mimeType: "application/json" } }
    ])
  }))

it.effect("fails on a marker that names no normalized path (B-DOBJ-5)", () =>
  Effect.gen(function*() {
    const escaping: Part.Part = { ...uploaded, metadata: { [DataObjects.URI]: { path: "../up" } } }
    const error = yield* Effect.flip(DataExport.resolve([escaping], () => Effect.die("not read")))
    expect(error._tag).toBe("InvalidDataObject")
  }))
