import { Environment, Export } from "@effect-agentenv/environment"
import { DataObjects } from "@effect-agentenv/protocol"
import { Transfers } from "@effect-agentenv/transfers"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { wire } from "./support.ts"

const Desk = Environment.make("desk")

const live = (options?: Export.Options) =>
  Desk.toLayer(Effect.succeed({
    get: Export.make(
      Effect.succeed([
        Export.json("export/state.json", { parcels: ["a"] }),
        Export.json("export/list.json", [1, 2]),
        Export.bytes("export/note.txt", "fragile")
      ]),
      options
    )
  }))

const grant = {
  root_path: "runs/7",
  expires_at: "2099-01-01T00:00:00Z",
  max_objects: 3,
  max_object_bytes: 100,
  max_total_bytes: 1000,
  write: {
    kind: "http-post-policy",
    url: "https://store.example/canary",
    fields: { policy: "canary" },
    path_field: "key",
    file_field: "file"
  }
}

/** A store that keeps what is uploaded in memory. */
const store = () => {
  const kept = new Map<string, string>()
  const layer = Layer.mock(Transfers.Transfers, {
    uploadForm: ({ path }, source) =>
      Effect.scoped(Effect.gen(function*() {
        const chunks = yield* source.open
        const text = yield* Stream.fromAsyncIterable(chunks, (error) => error).pipe(
          Stream.decodeText(),
          Stream.mkString,
          Effect.orDie
        )
        kept.set(path, text)
        return { size_bytes: text.length }
      }))
  })
  return { kept, layer }
}

describe("Export", () => {
  it.scoped("answers inline without a grant: objects as data, everything else as files (B-DOBJ-2)", () =>
    Effect.gen(function*() {
      const { card, rpc } = yield* wire(Desk)
      expect((yield* card).capabilities.extensions).toMatchObject([{ uri: DataObjects.URI }])
      expect((yield* rpc("data/get")).result.parts).toEqual([
        { kind: "data", data: { parcels: ["a"] } },
        { kind: "file", file: { bytes: btoa("[1,2]"), name: "list.json", mimeType: "application/json" } },
        { kind: "file", file: { bytes: btoa("fragile"), name: "note.txt", mimeType: "text/plain" } }
      ])
    }).pipe(Effect.provide(live().pipe(Layer.provide(store().layer)))))

  it.scoped("uploads with a grant, below its root, and answers the paths (B-DOBJ-5, B-DOBJ-6)", () => {
    const { kept, layer } = store()
    return Effect.gen(function*() {
      const { rpc } = yield* wire(Desk)
      const { parts } = (yield* rpc("data/get", { write_namespace: grant })).result
      expect(parts.map((part: any) => part.metadata[DataObjects.URI].path)).toEqual([
        "export/state.json",
        "export/list.json",
        "export/note.txt"
      ])
      expect(Array.from(kept)).toEqual([
        ["runs/7/export/state.json", "{\"parcels\":[\"a\"]}"],
        ["runs/7/export/list.json", "[1,2]"],
        ["runs/7/export/note.txt", "fragile"]
      ])
    }).pipe(Effect.provide(live().pipe(Layer.provide(layer))))
  })

  it.scoped("fails typed beyond the grant's limits or the inline limit, without the grant in the message", () => {
    const { layer } = store()
    return Effect.gen(function*() {
      const { rpc } = yield* wire(Desk)
      const { error } = yield* rpc("data/get", { write_namespace: { ...grant, max_objects: 2 } })
      expect(error).toMatchObject({ code: -32000, data: { code: "get_failed" } })
      expect(error.message).toContain("object limit")
      expect(JSON.stringify(error)).not.toContain("canary")
      expect((yield* rpc("data/get")).error.message).toContain("write_namespace")
    }).pipe(Effect.provide(live({ maxInlineBytes: 3 }).pipe(Layer.provide(layer))))
  })
})
