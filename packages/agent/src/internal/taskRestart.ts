import * as A2a from "@effect-agentenv/protocol/A2a"
import * as Effect from "effect/Effect"
import type { Entry, TaskStore, TaskStoreError } from "../TaskStore.ts"
import { type Fold, foldOf } from "./taskFold.ts"

/** Ends the tasks that were running when a former engine stopped; those that wait for their callers stay (B-TASK-17). */
export const failRestarted = (
  store: TaskStore["Type"],
  failure: (fold: Fold) => Entry
): Effect.Effect<void, TaskStoreError> => {
  const fail = (taskId: string): Effect.Effect<void, TaskStoreError> =>
    Effect.flatMap(store.read(taskId, 0), (journal) => {
      if (journal === undefined || journal.length === 0) return Effect.void
      const fold = foldOf(taskId, journal)
      if (A2a.isSettled(fold.state)) return Effect.void
      return Effect.matchEffect(store.append(taskId, fold.version, [failure(fold)]), {
        onSuccess: () => Effect.void,
        onFailure: (error) => error._tag === "VersionConflict" ? fail(taskId) : Effect.fail(error)
      })
    })
  return Effect.flatMap(
    store.unfinished,
    (taskIds) => Effect.forEach(taskIds, fail, { concurrency: 8, discard: true })
  )
}
