import { Redaction } from "@effect-agentenv/transfers"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { listening } from "./listening.ts"

const signed = "https://user:pass@store.example:8443/bucket/key?X-Signature=s3cret"

describe("Redaction", () => {
  it("B-OBJ-16: a URL keeps its scheme and host, without the user, wherever it stands in a text", () => {
    expect(Redaction.text(`GET ${signed}, then "http://b.example/x" and ftp://c/d`)).toBe(
      "GET https://store.example:8443/<redacted> then \"http://b.example/<redacted>\" and ftp://c/d"
    )
    expect(Redaction.text("https://store.example?a=s3cret")).toBe("https://store.example/<redacted>")
    expect(Redaction.text("nothing to hide")).toBe("nothing to hide")
  })

  it.effect("B-OBJ-16, B-XFER-4: within the scope logs and traces show no URL, outside they do", () =>
    Effect.gen(function*() {
      const { layer, said, spans } = listening()
      const client = HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null)))
      )
      const talk = Effect.gen(function*() {
        yield* client.get("https://store.example/key?X-Signature=s3cret")
        yield* Effect.logInfo(signed, { url: signed, at: [new URL(signed)], error: new Error(signed) }).pipe(
          Effect.annotateLogs("url", signed)
        )
        yield* Effect.logError("failed", new Error(signed))
      })
      yield* Effect.provide(Redaction.scope(talk), layer)
      expect(said.length).toBe(2)
      expect(said.join()).toContain("store.example:8443/<redacted>")
      expect(said.join()).not.toMatch(/s3cret|pass/)
      expect(spans).toEqual([])
      yield* Effect.provide(talk, Layer.fresh(layer))
      expect(said.slice(2).join()).toContain("s3cret")
      expect(spans.length).toBe(1)
    }))
})
