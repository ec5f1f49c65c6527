/**
 * An agent with two extensions of its own: one that counts words, and a notebook that its tasks share with whoever calls it.
 *
 * `npm start -w examples/custom-extensions` serves it on `A2A_HOST` and `A2A_PORT`.
 */
import { Agent, AgentServer, ExtensionError, TaskResult } from "@effect-agentenv/agent"
import { Extension, Operation } from "@effect-agentenv/protocol"
import { NodeRuntime } from "@effect/platform-node"
import { Context, Effect, Layer, Ref, Schema } from "effect"

// --- What the agent is -----------------------------------------------------------------------------------------------

/** One operation. */
export const WordCount = Extension.make("https://example.com/word-count/v1", {
  description: "Counts the words and characters of a text.",
  endpoint: "/ext/word-count/v1",
  operations: {
    count: Operation.post({
      request: Schema.Struct({ text: Schema.String }),
      response: Schema.Struct({ words: Schema.Int, characters: Schema.Int })
    })
  }
})

const Note = Schema.Struct({ id: Schema.Int, text: Schema.String })

type Note = typeof Note.Type

/** Two operations on one path, told apart by their verbs. */
export const Notes = Extension.make("https://example.com/notes/v1", {
  description: "Takes notes that the agent's tasks can read.",
  endpoint: "/ext/notes/v1",
  operations: {
    create: Operation.post({
      request: Schema.Struct({ text: Schema.NonEmptyTrimmedString }),
      response: Note
    }),
    list: Operation.get({ response: Schema.Struct({ notes: Schema.Array(Note) }) })
  }
})

export const Librarian = Agent.make("librarian", {
  description: "Looks words up in its notes.",
  version: "1.0.0",
  skills: [{ name: "Look up", description: "Finds the notes that have the words of a message.", tags: ["notes"] }],
  extensions: [WordCount, Notes]
})

// --- How it works ----------------------------------------------------------------------------------------------------

const mostNotes = 1000

/** What the extension writes and the tasks read. */
class Notebook extends Context.Tag("Notebook")<Notebook, {
  readonly add: (text: string) => Effect.Effect<Note, ExtensionError.ExtensionError>
  readonly all: Effect.Effect<ReadonlyArray<Note>>
}>() {}

const NotebookLive = Layer.effect(
  Notebook,
  Effect.map(Ref.make<ReadonlyArray<Note>>([]), (notes) => ({
    add: (text) =>
      Ref.modify(notes, (all): [Note | undefined, ReadonlyArray<Note>] => {
        if (all.length >= mostNotes) return [undefined, all]
        const note = { id: all.length + 1, text }
        return [note, [...all, note]]
      }).pipe(
        Effect.filterOrFail(
          (note) => note !== undefined,
          () => new ExtensionError.ExtensionError({ status: 409, message: "the notebook is full" })
        )
      ),
    all: Ref.get(notes)
  }))
)

const words = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

const WordCountLive = WordCount.toLayer(Effect.succeed({
  count: ({ text }) => Effect.succeed({ words: words(text).length, characters: Array.from(text).length })
}))

const NotesLive = Notes.toLayer(Effect.gen(function*() {
  const notebook = yield* Notebook
  return {
    create: ({ text }) => notebook.add(text),
    list: () => Effect.map(notebook.all, (notes) => ({ notes }))
  }
}))

const LibrarianTasks = Librarian.toLayer(Effect.gen(function*() {
  const notebook = yield* Notebook
  return ({ parts }) =>
    Effect.gen(function*() {
      const wanted = new Set(parts.flatMap((part) => part.kind === "text" ? words(part.text) : []))
      const found = (yield* notebook.all).filter(({ text }) => words(text).some((word) => wanted.has(word)))
      const answer = found.length === 0
        ? "There is nothing about that in my notes."
        : found.map(({ id, text }) => `${id}. ${text}`).join("\n")
      return TaskResult.text(answer).pipe(TaskResult.withStructuredOutput({ notes: found.map(({ id }) => id) }))
    })
}))

/** Leaving one of the three out does not compile where the agent is served. */
export const LibrarianLive = Layer.mergeAll(LibrarianTasks, WordCountLive, NotesLive).pipe(Layer.provide(NotebookLive))

if (process.argv[1] === import.meta.filename) {
  AgentServer.serve(Librarian).pipe(Layer.provide(LibrarianLive), Layer.launch, NodeRuntime.runMain)
}
