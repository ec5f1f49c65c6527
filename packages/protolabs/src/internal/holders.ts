import { isObject, type JsonObject, own } from "./json.ts"

/** Something that can carry an extension: a message, an artifact, a task, an event. @internal */
export interface Holder {
  readonly parts: ReadonlyArray<unknown>
  readonly partsPath: ReadonlyArray<string | number>
  readonly metadata: unknown
  readonly metadataPath: ReadonlyArray<string | number>
  /** Names the holder for as long as its task lives; `undefined` when it has no name. */
  readonly key: string | undefined
  /**
   * `once` is said once, `update` says something new each time, `state` repeats what may be known; `event` adds to what was said, and is
   * what a later state repeats.
   */
  readonly kind: "once" | "state" | "update" | "append" | "event"
  /** What it stands around: a value that is said there, and here again, is said once. */
  readonly around: ReadonlyArray<Holder>
}

type Path = ReadonlyArray<string | number>

const noParts: ReadonlyArray<unknown> = []
const none: ReadonlyArray<Holder> = []

const holder = (value: JsonObject, path: Path, key: string | undefined, kind: Holder["kind"]): Holder => ({
  parts: Array.isArray(value["parts"]) ? value["parts"] : noParts,
  partsPath: [...path, "parts"],
  metadata: value["metadata"],
  metadataPath: [...path, "metadata"],
  key,
  kind,
  around: none
})

const named = (kind: string, task: unknown, id: unknown): string | undefined =>
  typeof id === "string" && id !== "" ? JSON.stringify([kind, typeof task === "string" ? task : "", id]) : undefined

const message = (value: JsonObject, path: Path): Holder =>
  holder(value, path, named("message", undefined, value["messageId"]), "once")

const artifact = (value: JsonObject, path: Path, task: unknown, kind: Holder["kind"]): Holder =>
  holder(value, path, named("artifact", task, value["artifactId"]), kind)

const list = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : noParts

const ofTask = (task: JsonObject, path: Path, history: boolean): ReadonlyArray<Holder> => {
  const all: Array<Holder> = []
  if (history) {
    for (const [index, past] of list(task["history"]).entries()) {
      if (isObject(past)) all.push(message(past, [...path, "history", index]))
    }
  }
  const status = task["status"]
  if (isObject(status) && isObject(status["message"])) {
    const last = message(status["message"], [...path, "status", "message"])
    if (last.key === undefined || all.every(({ key }) => key !== last.key)) all.push(last)
  }
  for (const [index, made] of list(task["artifacts"]).entries()) {
    if (isObject(made)) all.push(artifact(made, [...path, "artifacts", index], task["id"], "state"))
  }
  return [...all, ownMetadata(task, path, named("task", undefined, task["id"]), "state", all)]
}

const ownMetadata = (
  value: JsonObject,
  path: Path,
  key: string | undefined,
  kind: Holder["kind"],
  around: ReadonlyArray<Holder>
): Holder => ({
  parts: noParts,
  partsPath: path,
  metadata: value["metadata"],
  metadataPath: [...path, "metadata"],
  key,
  kind,
  around
})

/** Parts without a message. */
const bare = (parts: ReadonlyArray<unknown>): Holder => ({
  parts,
  partsPath: [],
  metadata: undefined,
  metadataPath: [],
  key: undefined,
  kind: "update",
  around: none
})

/** The members of A2A 1.0's answers and stream responses. */
const envelopes = ["task", "message", "statusUpdate", "artifactUpdate"] as const

const opened = (source: JsonObject): readonly [JsonObject, Path] => {
  const payload = source["payload"]
  if (isObject(payload) && typeof payload["$case"] === "string" && isObject(payload["value"])) {
    return [payload["value"], ["payload", "value"]]
  }
  for (const name of envelopes) {
    const inner = own(source, name)
    if (isObject(inner)) return [inner, [name]]
  }
  return [source, []]
}

const isPart = (value: JsonObject): boolean =>
  !Array.isArray(value["parts"]) && (isObject(value["content"]) || Object.hasOwn(value, "data"))

/**
 * All that may carry an extension in a part, a list of parts, a message, an artifact, a task or an event of either wire. `history`
 * includes a task's earlier messages.
 *
 * @internal
 */
export const holders = (source: unknown, history: boolean): ReadonlyArray<Holder> => {
  if (Array.isArray(source)) return [bare(source)]
  if (!isObject(source)) return []
  const [value, path] = opened(source)
  if (isObject(value["artifact"])) {
    const kind = value["append"] === true ? "append" : "update"
    const made = [artifact(value["artifact"], [...path, "artifact"], value["taskId"], kind)]
    return [...made, ownMetadata(value, path, undefined, "update", made)]
  }
  if (isObject(value["status"])) {
    if (typeof value["taskId"] !== "string") return ofTask(value, path, history)
    const inner = value["status"]["message"]
    const said = isObject(inner) ? [message(inner, [...path, "status", "message"])] : none
    return [...said, ownMetadata(value, path, named("task", undefined, value["taskId"]), "event", said)]
  }
  if (isPart(value)) return [bare([value])]
  return [
    typeof value["artifactId"] === "string"
      ? artifact(value, path, value["taskId"], "state")
      : message(value, path)
  ]
}
