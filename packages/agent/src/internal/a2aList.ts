import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as A2aWire from "@effect-agentenv/protocol/A2aWire"
import * as Effect from "effect/Effect"
import type { TaskEngine } from "../TaskEngine.ts"
import type { TaskStoreError } from "../TaskStore.ts"

/** Where a page begins: after this task, which was the so-many-th. */
interface Cursor {
  readonly count: number
  readonly before: string | undefined
}

const writeToken = (count: number, before: string): string => Buffer.from(`${count}.${before}`).toString("base64url")

const readToken = (token: string | undefined): Cursor | undefined => {
  if (token === undefined) return { count: 0, before: undefined }
  const [, count, before] = /^(\d{1,9})\.(.+)$/s.exec(Buffer.from(token, "base64url").toString()) ?? []
  return before === undefined ? undefined : { count: Number(count), before }
}

const defaultPageSize = 50

/**
 * One page of the engine's tasks. Its total counts what is known: all tasks up to this page and one more when there is more, so that it
 * is exact on the last page and no page costs more than it shows.
 */
export const list = (
  engine: TaskEngine["Type"],
  params: A2aWire.ListParams
): Effect.Effect<A2aWire.Page, A2aWire.A2aWireError | TaskStoreError> =>
  Effect.suspend((): ReturnType<typeof list> => {
    const cursor = readToken(params.pageToken)
    if (cursor === undefined) {
      const issues = [{ path: "pageToken", message: "expected the nextPageToken of another page" }]
      return Effect.fail(new A2aWire.A2aWireError({ issues }))
    }
    const { contextId, historyLength, includeArtifacts, pageSize = defaultPageSize, since = -Infinity, state } = params
    const tasks: Array<A2a.Task> = []
    const page = (more: boolean): A2aWire.Page => {
      const count = cursor.count + tasks.length
      return {
        tasks: includeArtifacts === true ? tasks : tasks.map((task) => ({ ...task, artifacts: [] })),
        nextPageToken: more ? writeToken(count, tasks.at(-1)!.id) : "",
        pageSize,
        totalSize: more ? count + 1 : count
      }
    }
    const fill = (before: string | undefined): Effect.Effect<A2aWire.Page, TaskStoreError> =>
      Effect.flatMap(
        engine.list({ contextId, state, historyLength, before, limit: pageSize + 1 }),
        (found) => {
          for (const task of found) {
            if ((task.status.at ?? Infinity) < since) continue
            if (tasks.length === pageSize) return Effect.succeed(page(true))
            tasks.push(task)
          }
          return found.length <= pageSize ? Effect.succeed(page(false)) : fill(found.at(-1)!.id)
        }
      )
    return fill(cursor.before)
  })
