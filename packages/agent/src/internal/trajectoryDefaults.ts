import type * as A2a from "@effect-agentenv/protocol/A2a"
import { isTerminal } from "@effect-agentenv/protocol/A2a"
import type {
  Configuration,
  ContextObjectsRequest,
  ContextPageRequest,
  ContextRequest,
  TaskObjectsRequest,
  TaskPageRequest,
  TaskRequest,
  WriteObjects
} from "@effect-agentenv/protocol/extensions/TrajectoryV1"
import * as Source from "@effect-agentenv/transfers/Source"
import { Transfers } from "@effect-agentenv/transfers/Transfers"
import * as Effect from "effect/Effect"
import type { ExtensionError } from "../ExtensionError.ts"
import { Trajectories } from "../Trajectories.ts"
import { encodeLenient, Written } from "./jsonText.ts"
import * as page from "./trajectoryPage.ts"

const inline = (text: string): Written => new Written(`{"trajectory":${text}}`)

/** What a task said and made, for want of a record of its own. */
const ofTask = (task: A2a.Task): string | undefined => {
  if (!isTerminal(task.status.state)) return undefined
  const last = task.status.message === undefined ? [] : [task.status.message]
  const text = encodeLenient([
    ...[...task.history, ...last].map((message) => ({ kind: "message", ...message })),
    ...task.artifacts.map((artifact) => ({ kind: "artifact", ...artifact }))
  ])
  return text.ok ? text.text : undefined
}

/** The handlers of `TrajectoryV1`: contexts and pages only where it is live. */
export const make = (
  configuration: Configuration,
  lookup: (taskId: string) => Effect.Effect<A2a.Task | undefined>
): Effect.Effect<unknown, never, Trajectories | Transfers> =>
  Effect.gen(function*() {
    const trajectories = yield* Trajectories
    const transfers = yield* Transfers

    const textOf = (taskId: string): Effect.Effect<string, ExtensionError> =>
      configuration.fallback === undefined
        ? trajectories.task(taskId)
        : Effect.catchAll(trajectories.task(taskId), (error) =>
          Effect.flatMap(lookup(taskId), (task) => {
            const text = error.status === 404 && task !== undefined ? ofTask(task) : undefined
            return text === undefined ? Effect.fail(error) : Effect.succeed(text)
          }))

    const upload = ({ trajectory }: WriteObjects, text: string) =>
      Effect.map(
        transfers.upload(trajectory, Source.bytes(text)),
        (uploaded) => ({ objects: { trajectory: uploaded } })
      )

    const ofTasks = {
      task: (request: TaskRequest) => Effect.map(textOf(request.task_id), inline),
      taskObjects: (request: TaskObjectsRequest) =>
        Effect.flatMap(textOf(request.task_id), (text) => upload(request.objects, text))
    }
    if (configuration.live !== true) return { get: ofTasks }
    return {
      get: {
        ...ofTasks,
        context: (request: ContextRequest) => Effect.map(trajectories.context(request.context_id), inline),
        contextObjects: (request: ContextObjectsRequest) =>
          Effect.flatMap(trajectories.context(request.context_id), (text) => upload(request.objects, text)),
        taskPage: ({ after, limit, task_id }: TaskPageRequest) =>
          Effect.map(trajectories.taskPage(task_id, after, limit ?? 1000), page.answerOf),
        contextPage: ({ after, context_id, limit }: ContextPageRequest) =>
          Effect.map(trajectories.contextPage(context_id, after, limit ?? 1000), page.answerOf)
      }
    }
  })
