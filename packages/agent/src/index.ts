/**
 * A2A's JSON-RPC over the task engine, 0.3 and 1.0 on one endpoint, without HTTP.
 *
 * @since 0.1.0
 */
export * as A2a from "./A2a.ts"

/**
 * A2A's JSON-RPC over HTTP.
 *
 * @since 0.1.0
 */
export * as A2aHttp from "./A2aHttp.ts"

/**
 * An agent as data, and its implementation: one function from a task's request to its result.
 *
 * @since 0.1.0
 */
export * as Agent from "./Agent.ts"

/**
 * The card of an agent as it is at this moment.
 *
 * @since 0.1.0
 */
export * as AgentCard from "./AgentCard.ts"

/**
 * The configuration of an agent as a class: what the platform may set, under which names, and what holds when it did not.
 *
 * @since 0.1.0
 */
export * as AgentConfig from "./AgentConfig.ts"

/**
 * An agent on the wire: its card, A2A of both versions, its extensions, its staging store.
 *
 * @since 0.1.0
 */
export * as AgentServer from "./AgentServer.ts"

/**
 * The routes of an agent's card.
 *
 * @since 0.1.0
 */
export * as CardHttp from "./CardHttp.ts"

/**
 * The configuration that the platform set.
 *
 * @since 0.1.0
 */
export * as ConfigState from "./ConfigState.ts"

/**
 * The failure that an extension's handler chooses itself.
 *
 * @since 0.1.0
 */
export * as ExtensionError from "./ExtensionError.ts"

/**
 * The routes of an agent's extensions (contract 3).
 *
 * @since 0.1.0
 */
export * as ExtensionHttp from "./ExtensionHttp.ts"

/**
 * The extensions that an agent serves: who answers each operation, and what its card says of them.
 *
 * @since 0.1.0
 */
export * as ExtensionRegistry from "./ExtensionRegistry.ts"

/**
 * The MCP servers that the platform gave the agent.
 *
 * @since 0.1.0
 */
export * as McpServers from "./McpServers.ts"

/**
 * Python's regular expressions, searched for in texts within a budget of time.
 *
 * @since 0.1.0
 */
export * as RegexEngine from "./RegexEngine.ts"

/**
 * Why a pattern or a decision of a `RegexEngine` failed. None of these errors holds the text that was searched.
 *
 * @since 0.1.0
 */
export * as RegexError from "./RegexError.ts"

/**
 * What is wrong with an agent that types can't say.
 *
 * @since 0.1.0
 */
export * as RegistryError from "./RegistryError.ts"

/**
 * What a run leaves for the next run of its context.
 *
 * @since 0.1.0
 */
export * as Sessions from "./Sessions.ts"

/**
 * Skills that come as bundles: files behind grants, downloaded into a directory.
 *
 * @since 0.1.0
 */
export * as SkillBundle from "./SkillBundle.ts"

/**
 * The skills of an agent.
 *
 * @since 0.1.0
 */
export * as Skills from "./Skills.ts"

/**
 * @since 0.1.0
 */
export * as Staging from "./Staging.ts"

/**
 * @since 0.1.0
 */
export * as StagingError from "./StagingError.ts"

/**
 * @since 0.1.0
 */
export * as StagingHttp from "./StagingHttp.ts"

/**
 * What a run says while it runs: progress to whoever listens, and artifacts.
 *
 * @since 0.1.0
 */
export * as Task from "./Task.ts"

/**
 * The engine that runs tasks.
 *
 * @since 0.1.0
 */
export * as TaskEngine from "./TaskEngine.ts"

/**
 * Why the engine refuses what it is asked for.
 *
 * @since 0.1.0
 */
export * as TaskError from "./TaskError.ts"

/**
 * The failure that an agent declares for a task.
 *
 * @since 0.1.0
 */
export * as TaskFailure from "./TaskFailure.ts"

/**
 * What a run is given.
 *
 * @since 0.1.0
 */
export * as TaskRequest from "./TaskRequest.ts"

/**
 * What a run ends with.
 *
 * @since 0.1.0
 */
export * as TaskResult from "./TaskResult.ts"

/**
 * Where the journals of tasks are kept.
 *
 * @since 0.1.0
 */
export * as TaskStore from "./TaskStore.ts"

/**
 * What tasks did.
 *
 * @since 0.1.0
 */
export * as Trajectories from "./Trajectories.ts"

/**
 * How triggers decide: pure functions over a state that can be kept as JSON. `Triggers` adds the patterns' engine, a store and fairness.
 *
 * @since 0.1.0
 */
export * as TriggerEngine from "./TriggerEngine.ts"

/**
 * Where the triggers of an agent are kept, with what has become of them.
 *
 * @since 0.1.0
 */
export * as TriggerStore from "./TriggerStore.ts"

/**
 * The triggers of an agent: a platform registers them, and asks turn by turn what they make of a conversation (area TRIG of the contract).
 *
 * @since 0.1.0
 */
export * as Triggers from "./Triggers.ts"
