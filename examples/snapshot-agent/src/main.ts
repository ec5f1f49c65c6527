/**
 * An agent with files of its own that can be saved, given back, and followed change by change: the whole of the snapshot extension.
 *
 * `npm start -w examples/snapshot-agent` serves it on `A2A_HOST` and `A2A_PORT`. Its tasks are lines: `write PATH TEXT`, `remove PATH`,
 * `read PATH`, `list`, `history`.
 */
import { Agent, AgentServer, ExtensionError, TaskFailure, TaskResult } from "@effect-agentenv/agent"
import { Grant } from "@effect-agentenv/protocol"
import { type ReadObjects, SnapshotV1, type WriteObjects } from "@effect-agentenv/protocol/extensions/SnapshotV1"
import { NamespaceUploader, Source, Transfers, Workspace } from "@effect-agentenv/transfers"
import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Array as Arr, Context, Effect, Layer, Option, Order, Ref, Schema } from "effect"

// --- What the agent is -----------------------------------------------------------------------------------------------

export const Keeper = Agent.make("keeper", {
  description: "Keeps files, and everything that was said about them.",
  version: "1.0.0",
  skills: [{ name: "Keep files", description: "Writes, reads, removes and lists files.", tags: ["files"] }],
  extensions: [SnapshotV1]
})

// --- What it is made of ----------------------------------------------------------------------------------------------

const Turn = Schema.Struct({ prompt: Schema.String, answer: Schema.String })

/** What is saved as `trajectory`, in a form that nobody else reads: `calls` is how many tool calls the agent has made in its life. */
const Saved = Schema.parseJson(
  Schema.Struct({ contextId: Schema.String, calls: Schema.NonNegativeInt, turns: Schema.Array(Turn) })
)

/** What an increment says of one tool call, beside the files that it wrote. */
const Call = Schema.parseJson(
  Schema.Struct({ contextId: Schema.String, ...Turn.fields, removed: Schema.Array(Schema.String) })
)

interface State {
  readonly calls: number
  readonly conversations: ReadonlyMap<string, ReadonlyArray<typeof Turn.Type>>
  readonly changelog: Option.Option<NamespaceUploader.NamespaceUploader>
}

interface Change {
  readonly written: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
}

/** The agent's state: a directory and what was said. Whoever works with it has it for himself until he is done. */
class Desk extends Context.Tag("Desk")<Desk, {
  readonly files: string
  readonly state: Ref.Ref<State>
  readonly alone: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>() {}

const DeskLive = Layer.scoped(
  Desk,
  Effect.gen(function*() {
    const system = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const files = path.join(yield* system.makeTempDirectoryScoped({ prefix: "keeper-" }), "files")
    yield* system.makeDirectory(files)
    const state = yield* Ref.make<State>({ calls: 0, conversations: new Map(), changelog: Option.none() })
    return { files, state, alone: (yield* Effect.makeSemaphore(1)).withPermits(1) }
  })
)

const said = ({ conversations }: State, contextId: string) => conversations.get(contextId) ?? []

const saying = (contextId: string, turns: ReadonlyArray<typeof Turn.Type>) => (state: State): State => ({
  ...state,
  conversations: new Map([...state.conversations, [contextId, turns]])
})

// --- What its tasks do -----------------------------------------------------------------------------------------------

const refuse = (code: string, message: string) => new TaskFailure.TaskFailure({ code, message })

const nothing: Change = { written: [], removed: [] }

const isPath = Schema.is(Grant.RelativePath)

const pathIn = (files: string, relative: string) =>
  isPath(relative) && !relative.includes("\0")
    ? Effect.map(Path.Path, (path) => path.join(files, relative))
    : refuse("bad_path", "A path is relative and stays among the agent's files.")

const perform = (prompt: string, contextId: string) =>
  Effect.gen(function*() {
    const desk = yield* Desk
    const system = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const [, verb, name = "", text = ""] = /^(\S+)(?: (\S+)(?: (.*))?)?$/s.exec(prompt) ?? []
    const noFile = () => refuse("no_such_file", `There is no file '${name}'.`)
    switch (verb) {
      case "write": {
        const file = yield* pathIn(desk.files, name)
        yield* system.makeDirectory(path.dirname(file), { recursive: true })
        yield* system.writeFileString(file, text)
        return { answer: `wrote ${name}`, change: { written: [name], removed: [] } }
      }
      case "remove": {
        yield* Effect.mapError(system.remove(yield* pathIn(desk.files, name)), noFile)
        return { answer: `removed ${name}`, change: { written: [], removed: [name] } }
      }
      case "read":
        return {
          answer: yield* Effect.mapError(system.readFileString(yield* pathIn(desk.files, name)), noFile),
          change: nothing
        }
      case "list": {
        const entries = yield* system.readDirectory(desk.files, { recursive: true })
        return { answer: Arr.sort(entries, Order.string).join("\n"), change: nothing }
      }
      case "history": {
        const turns = said(yield* Ref.get(desk.state), contextId)
        return { answer: turns.map(({ prompt }) => prompt).join("\n"), change: nothing }
      }
      default:
        return yield* refuse("unknown_verb", "Say write, remove, read, list or history.")
    }
  })

/** One increment: what the call changed, as an archive of a directory that is gone again when it is uploaded. */
const record = (changelog: NamespaceUploader.NamespaceUploader, position: number, call: string, change: Change) =>
  Effect.scoped(Effect.gen(function*() {
    const desk = yield* Desk
    const system = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = yield* system.makeTempDirectoryScoped({ prefix: "keeper-call-" })
    yield* system.writeFileString(path.join(directory, "call.json"), call)
    for (const name of change.written) {
      const copy = path.join(directory, "files", name)
      yield* system.makeDirectory(path.dirname(copy), { recursive: true })
      yield* system.copyFile(path.join(desk.files, name), copy)
    }
    const archive = yield* Workspace.pack(directory)
    // six digits by the position among all tool calls, those that changed nothing included
    yield* changelog.upload(`${String(position).padStart(6, "0")}.tar`, archive)
  }))

const turn = (contextId: string) => (prompt: string) =>
  Effect.gen(function*() {
    const desk = yield* Desk
    const before = yield* Ref.get(desk.state)
    const { answer, change } = yield* perform(prompt, contextId)
    yield* Ref.update(desk.state, saying(contextId, [...said(before, contextId), { prompt, answer }]))
    yield* Ref.update(desk.state, (state) => ({ ...state, calls: before.calls + 1 }))
    if (Option.isSome(before.changelog) && change !== nothing) {
      const call = yield* Effect.orDie(Schema.encode(Call)({ contextId, prompt, answer, removed: change.removed }))
      yield* Effect.mapError(
        record(before.changelog.value, before.calls, call, change),
        () =>
          new TaskFailure.TaskFailure({
            code: "not_recorded",
            message: "The change was made, but it is missing in the changelog.",
            errorType: "infra_error"
          })
      )
    }
    return answer
  })

const Tasks = Keeper.toLayer(Effect.gen(function*() {
  const desk = yield* Desk
  return ({ contextId, parts }) => {
    const prompts = parts.flatMap((part) => part.kind === "text" ? part.text.split("\n") : [])
    return Effect.forEach(prompts.filter((prompt) => prompt !== ""), turn(contextId)).pipe(
      Effect.map((answers) => TaskResult.text(answers.join("\n"))),
      desk.alone
    )
  }
}))

// --- How it is saved and given back ----------------------------------------------------------------------------------

const save = (contextId: string, objects: WriteObjects) =>
  Effect.gen(function*() {
    const desk = yield* Desk
    const transfers = yield* Transfers.Transfers
    const state = yield* Ref.get(desk.state)
    const turns = state.conversations.get(contextId)
    if (turns === undefined) {
      return yield* new ExtensionError.ExtensionError({ status: 404, message: "context_id: there is no such context" })
    }
    const saved = yield* Schema.encode(Saved)({ contextId, calls: state.calls, turns })
    const trajectory = yield* transfers.upload(objects.trajectory, Source.bytes(saved))
    if (objects.workspace === undefined) return { context_id: contextId, objects: { trajectory } }
    const workspace = yield* transfers.upload(objects.workspace, yield* Workspace.pack(desk.files))
    return { context_id: contextId, objects: { trajectory, workspace } }
  })

const load = (objects: ReadObjects, target: string | undefined) =>
  Effect.gen(function*() {
    const desk = yield* Desk
    const transfers = yield* Transfers.Transfers
    const system = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = yield* system.makeTempDirectoryScoped({ directory: path.dirname(desk.files) })
    const file = path.join(directory, "trajectory")
    yield* transfers.download(objects.trajectory, file)
    const saved = yield* Schema.decode(Saved)(yield* system.readFileString(file))
    if (objects.workspace !== undefined) {
      const archive = path.join(directory, "workspace.tar")
      const files = path.join(directory, "files")
      yield* transfers.download(objects.workspace, archive)
      yield* Workspace.unpack(Source.file(archive), files)
      // all of it is here and sound: now the old files may go
      yield* system.remove(desk.files, { recursive: true })
      yield* system.rename(files, desk.files)
    }
    const contextId = target ?? saved.contextId
    yield* Ref.update(desk.state, saying(contextId, saved.turns))
    yield* Ref.update(desk.state, (state) => ({ ...state, calls: saved.calls }))
    return { context_id: contextId }
  })

/** Does once more what a call did, and answers what was said. */
const replay = (object: Grant.ReadObject) =>
  Effect.scoped(Effect.gen(function*() {
    const desk = yield* Desk
    const transfers = yield* Transfers.Transfers
    const system = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = yield* system.makeTempDirectoryScoped({ prefix: "keeper-call-" })
    const archive = path.join(directory, "increment.tar")
    const content = path.join(directory, "content")
    yield* transfers.download(object, archive)
    yield* Workspace.unpack(Source.file(archive), content)
    const call = yield* Schema.decode(Call)(yield* system.readFileString(path.join(content, "call.json")))
    for (const name of call.removed) yield* system.remove(yield* pathIn(desk.files, name), { force: true })
    const written = path.join(content, "files")
    if (yield* system.exists(written)) yield* system.copy(written, desk.files, { overwrite: true })
    return call
  }))

const SnapshotLive = SnapshotV1.toLayer(Effect.gen(function*() {
  const desk = yield* Desk
  return {
    save: ({ context_id, objects }) => desk.alone(save(context_id, objects)),
    load: ({ objects, target_context_id }) => desk.alone(load(objects, target_context_id)),
    changelog: {
      enable: ({ write_namespace }) =>
        NamespaceUploader.make(write_namespace).pipe(
          Effect.flatMap((changelog) =>
            Ref.update(desk.state, (state) => ({ ...state, changelog: Option.some(changelog) }))
          ),
          Effect.as({ roots: [desk.files] }),
          desk.alone
        ),
      apply: ({ increments, resume_conversation, target_context_id }) =>
        Effect.gen(function*() {
          const calls = yield* Effect.forEach(increments, ({ object }) => replay(object))
          const last = increments.at(-1)
          if (last !== undefined) yield* Ref.update(desk.state, (state) => ({ ...state, calls: last.sequence + 1 }))
          const contextId = target_context_id ?? calls.at(-1)?.contextId
          if (resume_conversation !== true || contextId === undefined) return { count: increments.length }
          const turns = calls.map(({ answer, prompt }) => ({ prompt, answer }))
          yield* Ref.update(desk.state, (state) => saying(contextId, [...said(state, contextId), ...turns])(state))
          return { count: increments.length, context_id: contextId }
        }).pipe(desk.alone)
    }
  }
}))

/** It moves objects by the `Transfers` in context. */
export const KeeperLive = Layer.merge(Tasks, SnapshotLive).pipe(
  Layer.provide(DeskLive),
  Layer.provide(NodeContext.layer)
)

if (process.argv[1] === import.meta.filename) {
  AgentServer.serve(Keeper).pipe(
    Layer.provide(KeeperLive),
    Layer.provide(Transfers.layer()),
    Layer.launch,
    NodeRuntime.runMain
  )
}
