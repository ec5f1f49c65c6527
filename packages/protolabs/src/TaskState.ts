/**
 * The states of A2A's tasks in both wires' spellings, by what protoLabs' hub makes of them.
 *
 * @since 0.1.0
 */

/**
 * A state's plain name, as A2A 0.3 and the hub's bus say it.
 *
 * @since 0.1.0
 * @category models
 */
export type TaskState =
  | "submitted"
  | "working"
  | "completed"
  | "failed"
  | "canceled"
  | "rejected"
  | "input-required"
  | "auth-required"
  | "unknown"

const known: ReadonlySet<string> = new Set<TaskState>([
  "submitted",
  "working",
  "completed",
  "failed",
  "canceled",
  "rejected",
  "input-required",
  "auth-required"
])

const prefix = "TASK_STATE_"

const isKnown = (name: string): name is TaskState => known.has(name)

/**
 * The plain name of a state of either wire, such as `TASK_STATE_INPUT_REQUIRED`; `unknown` for anything else.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (state: unknown): TaskState => {
  if (typeof state !== "string") return "unknown"
  const name = state.startsWith(prefix) ? state.slice(prefix.length).toLowerCase().replaceAll("_", "-") : state
  return isKnown(name) ? name : "unknown"
}

/**
 * Tells whether a task in this state is over.
 *
 * @since 0.1.0
 * @category guards
 */
export const isTerminal = (state: TaskState): boolean =>
  state === "completed" || state === "failed" || state === "canceled" || state === "rejected"

/**
 * Tells whether a task in this state went wrong; one that was canceled didn't.
 *
 * @since 0.1.0
 * @category guards
 */
export const isError = (state: TaskState): boolean => state === "failed" || state === "rejected"
