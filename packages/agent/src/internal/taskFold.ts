import * as A2a from "@effect-agentenv/protocol/A2a"
import type { Start } from "../TaskEngine.ts"
import type { Entry } from "../TaskStore.ts"

interface Made {
  readonly head: A2a.Artifact
  /** Of its own as soon as a piece was appended; before that they are the head's. */
  parts: Array<A2a.Part> | undefined
  /** Of its own as soon as a piece with metadata was appended. */
  metadata: Map<string, unknown> | undefined
}

const add = (metadata: Map<string, unknown>, more: A2a.JsonObject): void => {
  for (const [key, value] of Object.entries(more)) metadata.set(key, value)
}

/** Loses no key named `__proto__`. */
const objectOf = (metadata: Map<string, unknown>): A2a.JsonObject => Object.fromEntries(metadata)

/**
 * What a journal comes to. An entry costs the same whatever came before it; what is read is copied when it is read, so that no later
 * entry shows in it.
 */
export class Fold {
  readonly taskId: string
  contextId = ""
  version = 0
  state: A2a.TaskState = "submitted"
  private at: number | undefined
  private message: A2a.Message | undefined
  private readonly history: Array<A2a.Message> = []
  private readonly artifacts = new Map<string, Made>()
  /** Made when there is some. */
  private metadata: Map<string, unknown> | undefined
  /** Where the message stands in the history that started the last run. */
  private turn = 0
  private turnMetadata: A2a.JsonObject | undefined

  constructor(taskId: string) {
    this.taskId = taskId
  }

  apply(entry: Entry): void {
    this.version++
    switch (entry._tag) {
      case "Created":
        this.contextId = entry.contextId
        this.begin(entry.message, entry.metadata)
        return
      case "Continued":
        this.enter("submitted", undefined, undefined)
        this.begin(entry.message, entry.metadata)
        return
      case "Status":
        this.enter(entry.state, entry.at, entry.message)
        if (entry.metadata !== undefined) add(this.metadata ??= new Map(), entry.metadata)
        return
      case "Artifact":
        this.make(entry.artifact, entry.append)
    }
  }

  has(artifactId: string): boolean {
    return this.artifacts.has(artifactId)
  }

  /** What the last run starts from. */
  start(): Start {
    const message = this.history[this.turn] ?? { messageId: "", role: "user", parts: [] }
    return {
      taskId: this.taskId,
      contextId: this.contextId,
      message,
      history: this.history.slice(0, this.turn),
      metadata: this.turnMetadata
    }
  }

  status(): A2a.TaskStatus {
    return statusOf(this.state, this.at, this.message)
  }

  task(historyLength: number | undefined): A2a.Task {
    const { contextId, history, metadata, taskId } = this
    return {
      id: taskId,
      contextId,
      status: this.status(),
      history: historyLength === undefined ? history.slice() : historyLength >= 1 ? history.slice(-historyLength) : [],
      artifacts: Array.from(this.artifacts.values(), artifactOf),
      ...(metadata === undefined || metadata.size === 0 ? undefined : { metadata: objectOf(metadata) })
    }
  }

  /** What listeners are told of an entry: nothing of a message, which is the caller's own. */
  event(entry: Entry): A2a.TaskEvent | undefined {
    if (entry._tag === "Created" || entry._tag === "Continued") return undefined
    const { contextId, taskId } = this
    const metadata = entry.metadata === undefined ? undefined : { metadata: entry.metadata }
    if (entry._tag === "Artifact") {
      const { append, artifact, lastChunk } = entry
      return { _tag: "ArtifactUpdate", taskId, contextId, artifact, append, lastChunk, ...metadata }
    }
    const status = statusOf(entry.state, entry.at, entry.message)
    return { _tag: "StatusUpdate", taskId, contextId, status, final: A2a.isSettled(entry.state), ...metadata }
  }

  private begin(message: A2a.Message, metadata: A2a.JsonObject | undefined): void {
    this.turn = this.history.length
    this.turnMetadata = metadata
    this.history.push(message)
  }

  private enter(state: A2a.TaskState, at: number | undefined, message: A2a.Message | undefined): void {
    // What was said in a state is history when the next one is entered.
    if (this.message !== undefined) this.history.push(this.message)
    this.state = state
    this.at = at
    this.message = message
  }

  private make(artifact: A2a.Artifact, append: boolean): void {
    const made = append ? this.artifacts.get(artifact.artifactId) : undefined
    if (made === undefined) {
      this.artifacts.set(artifact.artifactId, { head: artifact, parts: undefined, metadata: undefined })
      return
    }
    made.parts ??= made.head.parts.slice()
    for (const part of artifact.parts) made.parts.push(part)
    if (artifact.metadata === undefined) return
    made.metadata ??= new Map(Object.entries(made.head.metadata ?? {}))
    add(made.metadata, artifact.metadata)
  }
}

const artifactOf = ({ head, metadata, parts }: Made): A2a.Artifact =>
  parts === undefined
    ? head
    : { ...head, parts: parts.slice(), ...(metadata === undefined ? undefined : { metadata: objectOf(metadata) }) }

const statusOf = (
  state: A2a.TaskState,
  at: number | undefined,
  message: A2a.Message | undefined
): A2a.TaskStatus => ({
  state,
  ...(at === undefined ? undefined : { at }),
  ...(message === undefined ? undefined : { message })
})

/** The fold of a whole journal. */
export const foldOf = (taskId: string, journal: ReadonlyArray<Entry>): Fold => {
  const fold = new Fold(taskId)
  for (const entry of journal) fold.apply(entry)
  return fold
}
