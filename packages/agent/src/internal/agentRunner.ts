import type * as A2a from "@effect-agentenv/protocol/A2a"
import * as Correlation from "@effect-agentenv/server/Correlation"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Agent from "../Agent.ts"
import { ConfigState } from "../ConfigState.ts"
import { McpServers } from "../McpServers.ts"
import { Sessions } from "../Sessions.ts"
import { Skills } from "../Skills.ts"
import * as Task from "../Task.ts"
import type { Emit, Outcome, Runner, Start } from "../TaskEngine.ts"
import { TaskFailure } from "../TaskFailure.ts"
import type { McpServer, TaskRequest } from "../TaskRequest.ts"
import type { TaskResult } from "../TaskResult.ts"
import { Trajectories } from "../Trajectories.ts"
import * as implementations from "./implementation.ts"
import { inScope } from "./inScope.ts"
import * as json from "./json.ts"
import * as taskOutcome from "./taskOutcome.ts"

/** What a run is made of beside its agent. */
export type Services = ConfigState | McpServers | Skills | Sessions | Trajectories

const copiedServers = (
  servers: Readonly<Record<string, McpServer>>
): Readonly<Record<string, McpServer>> =>
  Object.fromEntries(
    Object.entries(servers).map(([name, { headers, url }]) => [
      name,
      { url, headers: headers === undefined ? undefined : Redacted.make({ ...Redacted.value(headers) }) }
    ])
  )

/** What the run says, copied and held against the wire; what the wire can't say is the author's defect. */
const addRunServices = (services: Map<string, unknown>, start: Start, emit: Emit, streaming: boolean): void => {
  const context: Task.Context["Type"] = {
    taskId: start.taskId,
    contextId: start.contextId,
    artifact: (artifact, { append, lastChunk, metadata }) =>
      Effect.suspend(() =>
        emit.artifact(taskOutcome.artifact(artifact), { append, lastChunk, ...taskOutcome.metadata(metadata) })
      )
  }
  services.set(Task.Context.key, context)
  // without it the type of `toLayer` refuses what needs it
  if (!streaming) return
  const progress: Task.Streaming["Type"] = {
    progress: (parts, options) =>
      Effect.suspend(() => emit.status(taskOutcome.nonEmptyParts(parts), taskOutcome.statusMetadata(options)))
  }
  services.set(Task.Streaming.key, progress)
}

/** The failure that the author declared, if any. */
const declared = (cause: Cause.Cause<unknown>): TaskFailure | undefined =>
  Chunk.toReadonlyArray(Cause.failures(cause)).find((failure) => failure instanceof TaskFailure)

/** A run that nobody canceled ended as if somebody had: it joined a fiber that was interrupted, or interrupted itself. */
class RunInterrupted extends Data.TaggedError("RunInterrupted")<{ readonly cause: Cause.Cause<never> }> {
  override get message(): string {
    return "the run was interrupted from within"
  }
}

/** A cancel never gets to the handler, since its fiber runs nothing more but finalizers. */
const unlessInterruptedFromWithin = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchAllCause(run, (cause) =>
    Cause.isInterruptedOnly(cause)
      ? Effect.die(new RunInterrupted({ cause: cause as Cause.Cause<never> }))
      : Effect.failCause(cause))

const told = <A>(start: Start, effect: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.annotateLogs(effect, { task_id: start.taskId, context_id: start.contextId })

/**
 * What the engine runs for an agent: it makes the request when the task's turn has come, runs the author's function, and turns its
 * exit into the words of the wire.
 */
export const make = (
  agent: Agent.Any,
  handlers: Agent.HandlersService
): Effect.Effect<Runner<unknown, unknown>, never, Services> =>
  Effect.gen(function*() {
    const config = yield* ConfigState
    const mcpServers = yield* McpServers
    const skills = yield* Skills
    const sessions = yield* Sessions
    const trajectories = yield* Trajectories
    const implementation = implementations.of(handlers)

    const prepare = (start: Start): Effect.Effect<TaskRequest<unknown>, json.NoJson> =>
      Effect.flatMap(trajectories.started(start.taskId), (trajectory) =>
        Effect.flatMap(config.current, (current) =>
          Effect.flatMap(mcpServers.current, (servers) =>
            // read now that whoever ran before in this context has ended (B-TASK-13)
            Effect.flatMap(sessions.get(start.contextId), (sessionRef) =>
              json.attempt(() =>
                Object.freeze({
                  taskId: start.taskId,
                  contextId: start.contextId,
                  parts: json.unsafeCopy(start.message.parts),
                  message: json.unsafeCopy(start.message),
                  history: json.unsafeCopy(start.history),
                  config: current,
                  mcpServers: copiedServers(servers),
                  skills: skills.installed().map((skill) => ({ ...skill })),
                  metadata: {
                    ...json.unsafeCopy<A2a.JsonObject>(start.message.metadata ?? {}),
                    ...(current.role === null ? undefined : { role: current.role })
                  },
                  sessionRef,
                  trajectory
                })
              )))))

    const keep = (start: Start, { outcome, sessionRef, trajectory }: taskOutcome.Settled): Effect.Effect<Outcome> => {
      // sealed before anybody can see that the task has ended (B-TRAJ-12)
      const sealed = Effect.suspend(() =>
        Effect.as(trajectories.settled(start.taskId, outcome.state, trajectory), outcome)
      )
      return sessionRef === undefined ? sealed : Effect.zipRight(sessions.set(start.contextId, sessionRef), sealed)
    }

    const crash = (start: Start, cause: Cause.Cause<unknown>): Effect.Effect<Outcome> =>
      Effect.zipRight(
        Effect.ignore(Effect.sandbox(trajectories.settled(start.taskId, "failed", undefined))),
        Effect.map(Correlation.reportEffect(cause), taskOutcome.unexpected)
      )

    const outcome = (start: Start, exit: Exit.Exit<unknown, unknown>): Effect.Effect<Outcome> => {
      if (Exit.isSuccess(exit)) {
        return Effect.suspend(() =>
          keep(start, taskOutcome.fromResult(exit.value))
        )
      }
      const failure = declared(exit.cause)
      if (failure !== undefined) {
        const beside = Cause.keepDefects(exit.cause)
        return Effect.zipRight(
          Option.isNone(beside)
            ? Effect.void
            : Effect.logWarning("A task failed as declared, and a defect came with it", beside.value),
          Effect.suspend(() => keep(start, taskOutcome.fromFailure(failure)))
        )
      }
      return Cause.isInterruptedOnly(exit.cause)
        ? Effect.as(
          trajectories.settled(start.taskId, "canceled", undefined),
          { state: "canceled" as const, parts: [] }
        )
        : crash(start, exit.cause)
    }

    return {
      submitted: (start) => trajectories.submitted(start.taskId, start.contextId),
      run: (start, emit) =>
        Effect.flatMap(prepare(start), (request) =>
          unlessInterruptedFromWithin(
            inScope(implementation.run(request), implementation.built, (services) =>
              addRunServices(services, start, emit, agent.streaming))
          )),
      settle: (start, exit) => {
        const settled = Effect.catchAllCause(outcome(start, exit), (cause) =>
          // what can't be mapped has failed as a run that dies has (B-TASK-8)
          told(start, crash(start, cause)))
        // of what went well there is nothing to tell, but perhaps of its record
        return Exit.isSuccess(exit) && (exit.value as TaskResult | undefined)?.trajectory === undefined
          ? settled
          : told(start, settled)
      }
    }
  })
