import { AgentClient, ExtensionClient } from "@effect-agentenv/client"
import { AgentTest } from "@effect-agentenv/testing"
import { HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Librarian, LibrarianLive, Notes, WordCount } from "../src/main.ts"

const Test = Layer.provide(AgentTest.layer(Librarian), LibrarianLive)

describe("the librarian", () => {
  it.effect("B-EX-3: counts words at /ext/word-count/v1", () =>
    Effect.gen(function*() {
      const { count } = yield* ExtensionClient.make(WordCount)
      expect(yield* count({ text: "One, two — drei!" })).toEqual({ words: 3, characters: 16 })
      expect(yield* count({ text: "" })).toEqual({ words: 0, characters: 0 })
    }).pipe(Effect.provide(Test)))

  it.effect("B-EX-3: takes and lists notes at /ext/notes/v1, by POST and GET", () =>
    Effect.gen(function*() {
      const http = yield* AgentTest.Wire
      const post = yield* http.execute(
        HttpClientRequest.post("/ext/notes/v1").pipe(HttpClientRequest.bodyUnsafeJson({ text: "Owls hunt at night." }))
      )
      expect(yield* post.json).toEqual({ id: 1, text: "Owls hunt at night." })
      const list = yield* http.get("/ext/notes/v1")
      expect(yield* list.json).toEqual({ notes: [{ id: 1, text: "Owls hunt at night." }] })

      const notes = yield* ExtensionClient.make(Notes)
      yield* notes.create({ text: "Bats too." })
      expect((yield* notes.list()).notes.map(({ id }) => id)).toEqual([1, 2])
      expect(yield* Effect.flip(notes.create({ text: " " }))).toMatchObject({ _tag: "InvalidRequest" })
      const blank = yield* http.execute(
        HttpClientRequest.post("/ext/notes/v1").pipe(HttpClientRequest.bodyUnsafeJson({ text: " " }))
      )
      expect(blank.status).toBe(400)
    }).pipe(Effect.provide(Test)))

  it.effect("B-EX-3: shows both on its card, notes as one entry with two methods", () =>
    Effect.gen(function*() {
      const agent = yield* AgentClient.AgentClient
      const { capabilities } = yield* agent.card
      expect(capabilities.extensions).toEqual(expect.arrayContaining([
        expect.objectContaining({
          uri: WordCount.uri,
          params: expect.objectContaining({ endpoint: "/ext/word-count/v1" })
        }),
        expect.objectContaining({
          uri: Notes.uri,
          params: expect.objectContaining({
            methods: expect.objectContaining({ create: expect.anything(), list: expect.anything() })
          })
        })
      ]))
    }).pipe(Effect.provide(Test)))

  it.effect("answers its tasks from the notes that the extension took", () =>
    Effect.gen(function*() {
      const agent = yield* AgentClient.AgentClient
      const notes = yield* ExtensionClient.make(Notes)
      yield* notes.create({ text: "Owls hunt at night." })
      const found = yield* agent.send("What do owls do?")
      expect(AgentClient.text(found)).toBe("1. Owls hunt at night.")
      expect(Option.getOrThrow(AgentClient.structuredOutput(found))).toEqual({ notes: [1] })
      expect(AgentClient.text(yield* agent.send("And cats?"))).toBe("There is nothing about that in my notes.")
    }).pipe(Effect.provide(Test)))
})
